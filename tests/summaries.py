"""A small study of summaries whose every count is known, for tests of any room: an imported run of three systems.

Four texts of two sentences. `lead` and `first` both say the first sentence, so they share their questions; `last` says
the second one. The relation `R` puts 乙 for 甲 in the follow-up and carries answers; all outputs correspond but those
of `last` for text 4, which makes that group violated.
"""

import json
from collections.abc import Iterator

from sqlalchemy import Engine, select

from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import Shown, next_question
from audit.judging.samples import ask_next
from audit.relations import registry
from audit.relations.base import Rewriting, unchanged
from audit.relations.expect import same_text, substitute
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables

TEXTS = tuple(f"甲赢了第{number}场比赛。天气很好。" for number in range(1, 5))


def swap(texts, choices):
    """One name for another."""
    return substitute(texts, {"甲": "乙"})


def relation(name: str = "R", task: str = "summarization") -> Rewriting:
    """A relation between summaries that carries every answer."""
    return Rewriting(
        task=task,
        name=name,
        family="toys",
        summary="One name for another.",
        unit="any",
        carry=unchanged,
        languages=("zh",),
        rewrite=swap,
        check=same_text,
    )


def registered() -> Iterator[None]:
    """The relation `R` is registered until the test ends; for fixtures."""
    with registry.RELATIONS.restored():
        registry.register(relation())
        yield


def said(system: str, text: str) -> str:
    """What a system says of a text."""
    first, second, _ = text.split("。")
    return f"{second if system == 'last' else first}。"


def rows() -> list[dict]:
    """The run, as `audit import-run` reads it."""
    records = []
    for number, text in enumerate(TEXTS, 1):
        other = text.replace("甲", "乙")
        for system in ("lead", "first", "last"):
            outputs = [said(system, text), said(system, other)]
            violated = system == "last" and number == 4
            if violated:
                outputs[1] = "别的。"
            records.append(
                {
                    "task": "summarization", "language": "zh", "relation": "R", "system": system, "source": text,
                    "follow_ups": [other], "outputs": [{"text": output} for output in outputs], "id": str(number),
                    "verdict": "violated" if violated else "satisfied",
                }
            )  # fmt: skip
    return records


def study(folder, **audits: float) -> Engine:
    """A database with the run, every satisfied group drawn, and the questions open; `audits` as of `Audits`."""
    path = folder / "summaries.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows()), encoding="utf-8")
    engine = open_store(str(folder / "summaries.db"), create=True)
    import_run(engine, path)
    ask_next(engine, SampleOptions(share=1.0, **audits))
    return engine


def people(engine: Engine) -> tuple[int, int, int]:
    """Two annotators and an adjudicator."""
    roles = {"anna": "annotator", "ben": "annotator", "ada": "adjudicator"}
    anna, ben, ada = (add_account(engine, name, role, "long enough").id for name, role in roles.items())
    return anna, ben, ada


def grade(shown: Shown) -> str:
    """The right grade: the first sentence is the point of a text."""
    return "good" if shown.output and "赢了" in shown.output else "misses_point"


def judge_all(engine: Engine, *accounts: int, of=grade) -> int:
    """These people answer every question there is for them; how many answers that were."""
    number = 0
    for account in accounts:
        while (shown := next_question(engine, account)) is not None:
            judge(engine, account, shown.id, of(shown))
            number += 1
    return number


def questions(engine: Engine) -> list[dict]:
    """Every question with its source's text, in the order of their ids."""
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    query = (
        select(question, input_table.c.texts)
        .join(input_table, input_table.c.id == question.c.input_id)
        .order_by(question.c.id)
    )
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]
