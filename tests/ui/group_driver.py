"""The small database of `app_driver` with groups asked about, and finding a question about one."""

from pathlib import Path

from app_driver import Prepared, prepare
from sqlalchemy import select

from audit.judging.judgements import judge
from audit.judging.queue import Shown, next_question
from audit.judging.samples import draw_validity
from audit.sampling.validity import ValidityRequest
from audit.store import table_of, tables


def prepare_groups(path: Path) -> Prepared:
    """As `prepare`, with all groups asked about."""
    prepared = prepare(path)
    draw_validity(prepared.engine, ValidityRequest(20, annotators=2, asks="groups"))
    return prepared


def to_group(prepared: Prepared, account: int) -> Shown:
    """Answer questions about texts until one about a group is next for this account; returns it."""
    while True:
        shown = next_question(prepared.engine, account)
        assert shown is not None
        if shown.kind == "group":
            return shown
        judge(prepared.engine, account, shown.id, "neutral")


def names(prepared: Prepared) -> set[str]:
    """What an annotator must never be sent: names of systems and relations."""
    with prepared.engine.connect() as connection:
        return {
            str(name)
            for model in (tables.System, tables.Relation)
            for name in connection.execute(select(table_of(model).c.name)).scalars()
        }
