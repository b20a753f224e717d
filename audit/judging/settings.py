"""How judging goes in this database: what managers may set, its defaults, and what is allowed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Select, func, or_, select

from audit.errors import AuditError
from audit.judging.accounts import note, writing_as_manager
from audit.messages import Message, message
from audit.store import tables, upsert
from audit.store.core import judgement, setting


class Bounds(NamedTuple):
    """The numbers that a setting may have, both ends included.

    >>> str(Bounds(1, 10_000, "settings.whole").sentence), Bounds(0, 60).has(1e30)
    ('a whole number from 1 to 10000', False)
    """

    least: float
    most: float
    words: str = "settings.number"

    @property
    def sentence(self) -> Message:
        """What is allowed, in words."""
        return message(self.words, least=self.least, most=self.most)

    def has(self, value: object) -> bool:
        """Return whether a value is one of them."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.least <= value <= self.most and not (self.words == "settings.whole" and value != int(value))


EXEMPT_UP_TO = "training/exempt up to"
"""The row of `setting` with the last judgement that there was when training was switched on: whoever gave one of those
before is exempt."""
BOUNDS = {
    "pass_mark": Bounds(0, 1.0),
    "gold_share": Bounds(0, 0.5),
    "repeat_share": Bounds(0, 0.5),
    "repeat_after": Bounds(1, 10_000, "settings.whole"),
    "fastest": Bounds(0, 60, "settings.seconds"),
}  # What each setting may be


@dataclass(frozen=True)
class JudgingSettings:
    """The settings; where nothing was set, these defaults hold. Raises AuditError for a value that is not allowed."""

    pass_mark: float = 0.0
    """Share of the training questions that somebody must get right before judging; 0: nobody is trained."""
    gold_share: float = 0.0  # Share of the questions somebody is asked that are hidden ones with a known answer
    repeat_share: float = 0.0  # Share that are questions the same person has answered before
    repeat_after: int = 20  # Answers that lie at least between a question and its repeat
    fastest: float = 1.0  # Seconds from question to answer below which an answer counts as too fast to have been read

    def __post_init__(self) -> None:
        for name, bounds in BOUNDS.items():
            if not bounds.has(value := getattr(self, name)):
                raise AuditError(message("settings.out_of_bounds", name=name, value=value, allowed=bounds.sentence))

    @property
    def hides(self) -> bool:
        """Whether hidden questions come between the others."""
        return bool(self.gold_share or self.repeat_share)


def settings_of(connection: Connection) -> JudgingSettings:
    """Return the settings of a database."""
    return JudgingSettings(**{row.name: row.value for row in connection.execute(_stored())})


def change_settings(engine: Engine, by: int | None, values: Mapping[str, Any]) -> JudgingSettings:
    """Change some settings and say so in the log; returns all of them. `by` is a manager's account, or None: the owner
    of the database. Where this switches training on, whoever has judged before need not pass it. Raises AuditError for
    an unknown setting or a value that is not allowed."""
    with writing_as_manager(engine, by) as connection:
        return set_settings(connection, by, values)


def set_settings(connection: Connection, by: int | None, values: Mapping[str, Any]) -> JudgingSettings:
    """`change_settings` as a part of a transaction that has asked for the role."""
    if unknown := sorted(set(values) - set(BOUNDS)):
        raise AuditError(message("settings.unknown", name=unknown[0], names=sorted(BOUNDS)))
    before = asdict(settings_of(connection))
    after = JudgingSettings(**before | dict(values))
    changed = {name: value for name, value in asdict(after).items() if value != before[name]}
    rows: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in changed.items()]
    if after.pass_mark and not before["pass_mark"]:
        last = connection.execute(select(func.coalesce(func.max(judgement.c.id), 0))).scalar_one()
        rows.append({"name": EXEMPT_UP_TO, "value": last})
    upsert(connection, tables.Setting, rows)
    for name, value in changed.items():
        note(connection, by, "setting", name=name, before=before[name], after=value)
    return after


@cache
def _stored() -> Select[Any]:
    # By name: the table has words of tasks and texts of corpora, too.
    return select(setting.c.name, setting.c.value).where(or_(*(setting.c.name == name for name in BOUNDS)))
