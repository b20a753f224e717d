"""What drawn groups lose when answers go stale: how far estimates fall back before people have answered again."""

from dataclasses import dataclass

from sqlalchemy import Engine, select

from audit.annotation.accounts import require_manager
from audit.annotation.answers import ORIGINS
from audit.annotation.questions import Asked
from audit.annotation.staleness import Stale
from audit.false_satisfaction.settling import Known, State, drawn_groups, known_answers, settle_group
from audit.store import pieces, table_of, tables


@dataclass(frozen=True)
class Losing:
    """Drawn (group, system) pairs, each once, and questions about groups."""

    settled: int
    """Pairs that are settled now, of those that have a text whose answer goes or changes."""
    waiting: int
    """Of these, such as would wait for answers."""
    turned: int
    """Of these, such as would be false instead of true, or true instead of false."""
    holds: int
    """Groups of which it would not be known any more whether the relation holds in them."""


def losing(engine: Engine, stale: Stale, by: int | None = None) -> Losing:
    """Settle what `stale` touches as it is now, and as it would be without these answers; writes nothing.

    Raises NotAllowed unless the account `by` is a manager's (None: whoever has the database itself).
    """
    question, member = table_of(tables.Question), table_of(tables.Member)
    with engine.connect() as connection:
        require_manager(connection, by)
        told: dict[Asked, Known | None] = {}
        holds = 0
        for piece in pieces(sorted(stale.changed)):
            query = select(*(question.c[name] for name in ("id", "task", "kind", "input_id", "output")))
            for id, task, kind, given, output in connection.execute(query.where(question.c.id.in_(piece))):
                left = stale.changed[id]
                if kind == "group":
                    holds += not left
                else:
                    origin = next((one for one in ORIGINS if one in left), None)
                    told[task, int(given), output] = None if origin is None else Known(frozenset(left[origin]), origin)
        touched: set[int] = set()
        for piece in pieces(sorted({given for _, given, _ in told})):
            query = select(member.c.group_id).where(member.c.input_id.in_(piece), member.c.role != "probe")
            touched |= {int(row[0]) for row in connection.execute(query)}
        before = known_answers(connection)
        after = {key: one for key, one in before.items() if key not in told}
        after |= {key: one for key, one in told.items() if one is not None}
        states: dict[tuple[int, int], tuple[State, State]] = {}
        for drawn in drawn_groups(connection, None, touched):
            if not any(drawn.asked(step) in told for step in drawn.steps):
                continue  # it has the text, and another output for it
            now = settle_group(drawn, before).state
            if now is not State.WAITING:
                states[drawn.group_id, drawn.system_id] = (now, settle_group(drawn, after).state)
    waiting = sum(then is State.WAITING for _, then in states.values())
    turned = sum(then not in (State.WAITING, now) for now, then in states.values())
    return Losing(len(states), waiting, turned, holds)
