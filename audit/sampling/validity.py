"""The validity study: pairs of a source and a follow-up that people rate for plausibility and grammaticality.

Of each relation a simple random sample of sources with a checked group (one that some system satisfies or violates),
by the sources' permanent random numbers: relations share sources as far as they can, and a text is rated once for all
that have it. Of several groups of a source (systems may have their own), and of several follow-ups of a group, one is
drawn at random. Drawing more goes on down the same list.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, delete, select

from audit.errors import AuditError, UnknownName
from audit.keys import uniform, uniforms
from audit.relations import Outcome, name_order
from audit.sampling.options import ValidityRequest as ValidityRequest
from audit.store import Checked, checked, insert_new, need_study, rows_among, tables
from audit.store.core import member, relation, source, validity_draw, validity_study
from audit.store.core import study as study_table

_AT_ONCE = 500
"""Sources that are looked at together on the way down a list."""


@dataclass(frozen=True)
class DrawnPairs:
    """The pairs of one relation of a study: how many there are in the sample now, how many of them are new, and of how
    many sources with a checked group they are drawn."""

    study: int
    relation: str
    pairs: int
    added: int
    sources: int


def draw_pairs(connection: Connection, request: ValidityRequest, study: int | None = None) -> list[DrawnPairs]:
    """Draw the first pairs of each relation of one study, or of all that have checked groups with follow-ups.

    What was drawn stays; people may be more than before. A step of `audit.judging.validity`, which asks about what is
    drawn. Raises AuditError for a study that is not there or has no such group, and for another seed than the pairs of
    a study were drawn with; UnknownName for a relation that was never run; writes nothing then.
    """
    if study is not None:
        need_study(connection, study)
    names = dict(connection.execute(select(relation.c.id, relation.c.name)).all())
    if unknown := [name for name in request.relations if name not in names.values()]:
        raise UnknownName("relation", unknown[0], sorted(set(names.values()), key=name_order))
    wanted = {id for id, name in names.items() if not request.relations or name in request.relations}
    studies = connection.execute(select(study_table.c.id, study_table.c.seed).order_by(study_table.c.id)).all()
    drawn: list[DrawnPairs] = []
    for id, seed in studies:
        if study in (None, id):
            drawn += _draw_study(connection, request, int(id), int(seed), wanted)
    if not drawn:
        if study is None:
            raise AuditError("no study has a checked group with a follow-up, so nothing to draw; run `audit run` first")
        raise AuditError(f"study {study} has no checked group with a follow-up under these relations; finish its run")
    order = {id: at for at, (id, _) in enumerate(studies)}
    return sorted(drawn, key=lambda pairs: (order[pairs.study], name_order(pairs.relation)))


def _draw_study(
    connection: Connection, request: ValidityRequest, study: int, seed: int, relations: Collection[int]
) -> list[DrawnPairs]:
    about, draw = validity_study, validity_draw
    stored = connection.execute(select(about).where(about.c.study_id == study)).mappings().first()
    seed = request.seed if request.seed is not None else int(stored["seed"]) if stored else seed
    if stored is not None and stored["seed"] != seed:
        raise AuditError(
            f"the pairs of study {study} were drawn with the seed {stored['seed']}; leave the seed {seed} out, and the "
            "draw goes on",
            parameter="seed",
        )
    checks = checked(connection, [study])
    rows_of = select(source.c.id, source.c.row).where(source.c.study_id == study).order_by(source.c.id)
    key_of = dict(connection.execute(rows_of).all())
    ids, numbers = [*key_of], np.fromiter(uniforms(key_of.values(), seed), float, len(key_of))
    names = dict(connection.execute(select(relation.c.id, relation.c.name)).all())
    query = select(draw.c.relation_id, draw.c.group_id, draw.c.step).where(draw.c.study_id == study)
    drawn_before: dict[int, list[tuple[int, int]]] = {}
    for relation_id, group, step in connection.execute(query.order_by(draw.c.relation_id, draw.c.rank)):
        drawn_before.setdefault(int(relation_id), []).append((int(group), int(step)))
    drawn: list[DrawnPairs] = []
    for relation_id in sorted(set(np.unique(checks.relation).tolist()) & set(relations)):
        rows = np.flatnonzero((checks.relation == relation_id) & _was_checked(checks.outcome).any(axis=1))
        places = np.searchsorted(ids, checks.source[rows])
        rows = rows[np.lexsort((places, numbers[places]))]
        old = drawn_before.get(relation_id, [])
        pairs = _beginning(connection, checks, rows, seed, request.per_relation, old)
        # What is no candidate any more (its verdicts are gone) stays at its place, before the others.
        chosen = [pair for pair in old if pair not in pairs] + pairs
        if not chosen:
            continue
        connection.execute(delete(draw).where(draw.c.study_id == study, draw.c.relation_id == relation_id))
        drawn_rows = [
            {"study_id": study, "relation_id": relation_id, "rank": rank, "group_id": group, "step": step}
            for rank, (group, step) in enumerate(chosen, start=1)
        ]
        insert_new(connection, tables.ValidityDraw, drawn_rows)
        drawn.append(DrawnPairs(study, names[relation_id], len(chosen), len(chosen) - len(old), len(rows)))
    if drawn:
        people = max(request.annotators, int(stored["annotators"]) if stored else 0)
        values = {
            "seed": seed,
            "annotators": people,
            "asks": request.asks if not stored or stored["asks"] == request.asks else "both",
            "first": request.first,
            "drawn_at": tables.now(),
            "ended_at": None,
        }
        insert_new(connection, tables.ValidityStudy, [{"study_id": study} | values])
        connection.execute(about.update().where(about.c.study_id == study).values(**values))
    return drawn


def _was_checked(outcome: np.ndarray) -> np.ndarray:
    return np.asarray((outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED))


def _beginning(
    connection: Connection, checks: Checked, rows: np.ndarray, seed: int, number: int, old: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The first `number` pairs (group, step of a follow-up) of these rows of `checks`, or as many more as hold all the
    old ones. A row whose group has no follow-up gives none."""
    missing = set(old)
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        groups = [
            _one_of(np.unique(its[_was_checked(outcome)]).tolist(), "group", seed, int(source))
            for its, outcome, source in zip(checks.groups(part), checks.outcome[part], checks.source[part], strict=True)
        ]
        query = select(member.c.group_id, member.c.step).where(member.c.role == "follow_up")
        steps: dict[int, list[int]] = {}
        for row in rows_among(connection, query, member.c.group_id, groups):
            steps.setdefault(int(row.group_id), []).append(int(row.step))
        for group in groups:
            if len(pairs) >= number and not missing:
                return pairs
            if group in steps:
                pairs.append((group, _one_of(sorted(steps[group]), "step", seed, group)))
                missing.discard(pairs[-1])
    last = max((at for at, pair in enumerate(pairs, start=1) if pair in set(old)), default=0)
    return pairs[: max(number, last)]


def _one_of(options: list[int], what: str, seed: int, of: int) -> int:
    """One of these at random, always the same."""
    return options[int(uniform(f"validity {what}", seed, of) * len(options))] if len(options) > 1 else options[0]


def end_pairs(connection: Connection, studies: Iterable[int] | None = None) -> int:
    """Ask nobody about the pairs of these studies (None: of all) any more; returns for how many that is new. Ratings
    and draws stay, and drawing again goes on."""
    ended = validity_study.update().where(validity_study.c.ended_at.is_(None)).values(ended_at=tables.now())
    if studies is not None:
        ended = ended.where(validity_study.c.study_id.in_(list(studies)))
    return int(connection.execute(ended).rowcount)
