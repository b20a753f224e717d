"""How judging goes in this database: what managers may set, its defaults, and what is allowed."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Select, select

from audit.annotation.accounts import require_manager
from audit.annotation.logbook import note
from audit.errors import AuditError
from audit.store import table_of, tables, upsert


@dataclass(frozen=True)
class JudgingSettings:
    """The settings; where nothing was set, these defaults hold. Raises AuditError for a value that is not allowed."""

    pass_mark: float = 0.0
    """Share of the training questions that somebody must get right before judging; 0: nobody is trained."""
    gold_share: float = 0.0
    """Share of the questions somebody is asked that are hidden ones with a known answer."""
    repeat_share: float = 0.0
    """Share that are questions the same person has answered before."""
    repeat_after: int = 20
    """Answers that lie at least between a question and its repeat."""
    fastest: float = 1.0
    """Seconds from question to answer below which an answer counts as too fast to have been read."""

    def __post_init__(self) -> None:
        for name, most in (("pass_mark", 1.0), ("gold_share", 0.5), ("repeat_share", 0.5)):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= most:
                raise AuditError(f"{name} {value!r}: must be a number from 0 to {most}")
        if not _is_number(self.repeat_after) or self.repeat_after != int(self.repeat_after) or self.repeat_after < 1:
            raise AuditError(f"repeat_after {self.repeat_after!r}: must be a whole number from 1")
        if not _is_number(self.fastest) or not 0 <= self.fastest <= 60:
            raise AuditError(f"fastest {self.fastest!r}: must be a number of seconds from 0 to 60")


_NAMES = frozenset(field.name for field in fields(JudgingSettings))


def settings_of(connection: Connection) -> JudgingSettings:
    """The settings of a database."""
    return JudgingSettings(**{name: value for name, value in connection.execute(_stored()) if name in _NAMES})


def change_settings(engine: Engine, by: int | None, values: Mapping[str, Any]) -> JudgingSettings:
    """Change some settings and say so in the log; returns all of them.

    `by` is the account of a manager, or None for whoever has the database itself. Raises NotAllowed for another role,
    AuditError for a setting that there is not or a value that is not allowed; nothing is changed then.
    """
    with engine.begin() as connection:
        require_manager(connection, by)
        if strange := sorted(set(values) - _NAMES):
            raise AuditError(f"there is no setting {strange[0]!r}; there are {', '.join(sorted(_NAMES))}")
        before = asdict(settings_of(connection))
        after = JudgingSettings(**before | dict(values))
        changed = {name: value for name, value in asdict(after).items() if value != before[name]}
        upsert(connection, tables.Setting, [{"name": name, "value": value} for name, value in changed.items()])
        for name, value in changed.items():
            note(connection, by, "setting", name=name, before=before[name], after=value)
    return after


@cache
def _stored() -> Select[Any]:
    """Made once: every claim asks."""
    table = table_of(tables.Setting)
    return select(table.c.name, table.c.value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
