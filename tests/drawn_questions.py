"""Questions that stand in the queue as they do at work: a drawn group waits for each."""

from collections.abc import Sequence

from sqlalchemy import Engine, func, select

from audit.judging.unit import rebuild
from audit.keys import uniform
from audit.relations import Outcome
from audit.store import group_id, input_ids, insert_new, table_of, tables
from audit.tasks import Input


def draw_each(
    engine: Engine,
    inputs: Sequence[Input],
    annotators: int = 2,
    *,
    task: str = "sentiment",
    outputs: Sequence[str] | None = None,
) -> None:
    """Draw a group of nothing but each of these, in this order, after those that are drawn; `outputs` are texts.

    All are of one study of the task, one relation that carries nothing and one system.
    """
    moment = tables.now()
    study = {"key": task.encode(), "task": task, "corpus": "toy", "fingerprint": "", "unit": "sentence", "seed": 0}
    study |= {"has_gold": False, "chunk": 250, "created_at": moment}
    texts = outputs or [None] * len(inputs)
    with engine.begin() as connection:
        ids = input_ids(connection, list(inputs))
        insert_new(connection, tables.Study, [study])
        insert_new(connection, tables.Relation, [{"task": task, "name": "toy", "version": "1"}])
        insert_new(connection, tables.System, [{"name": "toy", "version": "1"}])
        of_task = table_of(tables.Study).c.task == task
        study_id = connection.execute(select(table_of(tables.Study).c.id).where(of_task)).scalar_one()
        relation = table_of(tables.Relation)
        relation_id = connection.execute(select(relation.c.id).where(relation.c.task == task)).scalar_one()
        system_id = connection.execute(select(table_of(tables.System).c.id)).scalar_one()
        insert_new(connection, tables.Sample, [{"study_id": study_id, "annotators": annotators, "options": {}, "drawn_at": moment}])
        sample = table_of(tables.Sample)
        connection.execute(sample.update().where(sample.c.study_id == study_id).values(annotators=annotators))
        insert_new(connection, tables.Round, [{"study_id": study_id, "number": 1, "contests": [], "drawn_at": moment}])
        draw, source = table_of(tables.Draw), table_of(tables.Source)
        before = connection.execute(select(func.count()).where(draw.c.study_id == study_id)).scalar_one()
        for rank, (item, text) in enumerate(zip(inputs, texts, strict=True), before + 1):
            row = {"study_id": study_id, "row": str(rank), "input_id": ids[item.key], "u": uniform(0, str(rank))}
            source_id = connection.execute(source.insert(), row | {"attributes": {}}).inserted_primary_key[0]
            group = group_id(source_id, relation_id, system_id)
            cell = {"relation_id": relation_id, "system_id": system_id}
            attempt = {"attempt": 1, "label": "none"}
            rows = {
                tables.Group: {"id": group, "study_id": study_id, "source_id": source_id} | cell,
                tables.Member: {"group_id": group, "step": 0, "input_id": ids[item.key], "role": "source"},
                tables.Output: attempt | {"input_id": ids[item.key], "system_id": system_id, "text": text},
                tables.Verdict: {"group_id": group, "system_id": system_id, "outcome": int(Outcome.SATISFIED)},
                tables.Draw: {
                    "study_id": study_id,
                    "round": 1,
                    "source_id": source_id,
                    "relation_id": relation_id,
                    "rank": rank,
                    "q": 1.0,
                },
            }
            for model, row_of_model in rows.items():
                insert_new(connection, model, [row_of_model])
    rebuild(engine)
