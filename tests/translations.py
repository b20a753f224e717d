"""A small run of translations whose every count is known, for tests of any room: chains imported from a file.

Four English texts, of which `there` makes Spanish and `back` makes English again. The relation `R` is a round trip
(source, and the Spanish as a link); `P` goes by French (source, the same text into French, and the French as a link).
Of the system `one` all groups are satisfied; `two` has no French, so that its groups under `P` are inapplicable.
Neither relation is registered, so that none carries answers.
"""

import json

from sqlalchemy import Engine, select

from audit.judging.samples import ask_next, draw_validity
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import open_store, table_of, tables

TEXTS = (
    "The committee postponed the vote.",
    "It rained all night.",
    "<b>The bridge</b> & the river.",
    "A long report on the same bridge, with many details. " * 12,
)
SPANISH = (
    "El comité aplazó la votación.",
    "Llovió toda la noche.",
    "<b>El puente</b> & el río.",
    "Un largo informe sobre el mismo puente, con muchos detalles. " * 12,
)
FRENCH = (
    "Le comité a reporté le vote.",
    "Il a plu toute la nuit.",
    "<b>Le pont</b> & la rivière.",
    "Un long rapport sur le même pont, avec beaucoup de détails. " * 12,
)


def there(number: int) -> str:
    """What both systems say of a text in Spanish."""
    return SPANISH[number].strip()


def back(number: int, system: str) -> str:
    """And of their Spanish in English: system `two` in other words."""
    return TEXTS[number].strip() if system == "one" else f"{TEXTS[number].strip()} So it was."


def rows(relations: str = "RP") -> list[dict]:
    """The run, as `audit import-run` reads it."""
    records = []
    for number, text in enumerate(TEXTS):
        for system in ("one", "two"):
            base = {
                "task": "translation", "language": "en", "target_language": "es", "system": system, "source": text,
                "id": str(number),
            }  # fmt: skip
            link = {"text": there(number), "language": "es", "target_language": "en", "role": "link"}
            outputs = [there(number), back(number, system)]
            records.append(base | {"relation": "R", "follow_ups": [link], "outputs": outputs, "verdict": "satisfied"})
            has = system == "one"
            french = FRENCH[number].strip() if has else None
            by_french = [{"text": text, "target_language": "fr"}]
            by_french += [{"text": french, "language": "fr", "role": "link"}] if has else []
            records.append(
                base
                | {"relation": "P", "follow_ups": by_french, "verdict": "satisfied" if has else "inapplicable"}
                | {"outputs": [there(number), french, there(number)][: 2 + has]}
            )
    return [record for record in records if record["relation"] in relations]


def study(folder, relations: str = "RP", where: str | None = None, groups: int = 0, **audits: float) -> Engine:
    """A database with the run, every satisfied group drawn, and the questions open; `audits` as of `Audits`, and of so
    many `groups` of each relation people are asked whether it holds.

    It is `translations.db` in the folder, or `where` that says.
    """
    path = folder / "translations.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows(relations)), encoding="utf-8")
    engine = open_store(where or str(folder / "translations.db"), create=True)
    import_run(engine, path)
    ask_next(engine, SampleOptions(share=1.0, **audits))
    if groups:
        draw_validity(engine, ValidityRequest(groups, annotators=2, asks="groups"))
    return engine


def questions(engine: Engine) -> list[dict]:
    """Every question with its source's texts and languages, in the order of their ids."""
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    query = select(question, input_table.c.texts, input_table.c.languages).join(
        input_table, input_table.c.id == question.c.input_id
    )
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(query.order_by(question.c.id)).mappings()]
