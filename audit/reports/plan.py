"""`audit plan`: how many questions each design needs, before the work and from what is known so far."""

import shlex
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Required, TypedDict, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, and_, case, select

from audit.annotation.questions import Subject, asks_pairs
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted, count
from audit.false_satisfaction.resolution import (
    KnownAnswer,
    State,
    Whose,
    carry_of,
    drawn_groups,
    known_answers,
    settle_group,
)
from audit.keys import digest
from audit.messages import message
from audit.relations import COUNTED, Outcome
from audit.sampling.designs import ALL, GOLD, INFORMATIVE, Numbers, check_domain
from audit.sampling.draw import cell_lists
from audit.statistics.planning import (
    GAP,
    GUESS,
    Contest,
    Goal,
    Need,
    Standing,
    contest,
    cost,
    distinct_questions,
    sizes_for_half_width,
    sizes_to_decide,
    standing,
)
from audit.store import Checked, integers, snapshot, table_of, tables
from audit.store.bulk import LIMIT, group_ids

# What `audit plan` needs of a database, as arrays: beginnings of lists, questions, contests of systems.

_ROWS = 50_000
"""Rows of a query that are in memory as Python objects at one time."""


@dataclass(frozen=True)
class Match:
    """The contest of a relation's systems (ids), over the groups that apply to two of them or more, in the drawn order.

    `source` (groups,), `groups` and `satisfied` (groups, systems) are ids and verdicts, `code`
    is equal where outputs are identical; `y` (groups, systems) is 1
    where a satisfaction is genuine, 0 where it is false or violated, NaN where that is not known.
    """

    study: int
    relation: int
    systems: tuple[int, ...]
    contest: Contest
    source: np.ndarray
    groups: np.ndarray
    satisfied: np.ndarray
    code: np.ndarray
    y: np.ndarray


def matches(
    connection: Connection, counted: Counted, states: Mapping[tuple[int, int], float], seeds: Mapping[int, int]
) -> Iterator[Match]:
    """The contest under every relation with two systems or more, by study and relation (ids).

    `states` has 1 or 0 by (group, system) for what is settled; `seeds` by study those of the random numbers.
    """
    numbers = {study: Numbers.of_study(connection, study, seed) for study, seed in seeds.items()}
    for study, relation, checked in _applicable_groups(counted.checks):
        systems = [int(system) for system in checked["system_id"].unique()]
        if len(systems) < 2:
            continue
        checked = checked.merge(output_codes(connection, study, relation), on=["group_id", "system_id"])
        number = numbers[study].of(checked["source"].to_numpy())
        checked = checked.assign(number=number, y=_outcomes(checked, states)).sort_values(
            ["number", "source"], kind="stable"
        )
        table = {name: checked.pivot(index=["number", "source"], columns="system_id", values=name)[systems]
                 for name in ("satisfied", "code", "y", "group_id")}  # fmt: skip
        applies = table["satisfied"].notna()
        common = applies.sum(axis=1) > 1
        satisfied, code, y, ids = (
            frame[common].fillna(0 if name != "y" else np.nan).to_numpy() for name, frame in table.items()
        )
        source = common.index.get_level_values("source")[common].to_numpy()
        satisfied = satisfied.astype(bool)
        yield Match(
            study,
            relation,
            tuple(systems),
            contest(satisfied, code, applies[common].to_numpy()),
            source,
            ids.astype(np.int64),
            satisfied,
            code,
            y.astype(float),
        )


def _applicable_groups(checks: Checked) -> Iterator[tuple[int, int, pd.DataFrame]]:
    """The satisfied and violated groups by study and relation: columns group_id, system_id, source, satisfied."""
    code = checks.study * LIMIT + checks.relation
    for pair in np.unique(code).tolist():
        rows = np.flatnonzero(code == pair)
        outcome, groups = checks.outcome[rows], checks.groups(rows)
        applies = (outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED)
        column, row = np.nonzero(applies.T)
        columns = {
            "group_id": groups[row, column],
            "system_id": np.array(checks.systems, np.int64)[column],
            "source": checks.source[rows[row]],
            "satisfied": outcome[row, column] == Outcome.SATISFIED,
        }
        yield pair // LIMIT, pair % LIMIT, pd.DataFrame(columns)


def _outcomes(checked: pd.DataFrame, states: Mapping[tuple[int, int], float]) -> np.ndarray:
    """y of every checked group: 0 if it is violated, its state (1 or 0) if it is settled, else NaN."""
    keys = zip(checked["group_id"], checked["system_id"], checked["satisfied"], strict=True)
    return np.array(
        [states.get((group, system), np.nan) if satisfied else 0.0 for group, system, satisfied in keys], float
    )


def seeds_of(counted: Counted, designs: Collection[str]) -> dict[int, int]:
    """By study, the seed of its sample of one of these designs, or else the study's."""
    seeds = {int(str(study["id"])): int(str(study["seed"])) for study in counted.studies}
    drawn = [sample for sample in counted.samples if sample["design"] in designs]
    return seeds | {int(str(sample["study_id"])): int(str(sample["seed"])) for sample in drawn}


def beginnings(connection: Connection, counted: Counted, lengths: np.ndarray) -> pd.DataFrame:
    """The first satisfied groups of every cell under the design `shared`: columns cell, rank (from 1), group_id.

    A cell is named by its place in `counted.cells`; `lengths` (cells,) says how many groups of each there are at most.
    """
    place = {tuple(cell): at for at, cell in enumerate(counted.keys[CELL].to_numpy().tolist())}
    parts = [pd.DataFrame({name: np.empty(0, np.int64) for name in ("cell", "rank", "group_id")})]
    for study, seed in seeds_of(counted, ["shared"]).items():
        for ranked in cell_lists(connection, counted.checks.of(study), study, seed):
            cell = place[study, int(ranked["relation_id"].iloc[0]), int(ranked["system_id"].iloc[0])]
            first = ranked.iloc[: int(lengths[cell])]
            parts.append(first[["rank", "group_id"]].assign(cell=cell))
    return pd.concat(parts, ignore_index=True)


def questions(connection: Connection, counted: Counted) -> pd.DataFrame:
    """Columns group_id, system_id, question, ordered by group: what must be asked to settle a group, at most.

    A question about an input has the input's id, and the system 0: every system needs it. One about an output has a
    negative number (`question_number`), and a row for each system that satisfies the group.
    """
    relation = table_of(tables.Relation)
    rows = [tuple(row) for row in connection.execute(select(relation.c.id, relation.c.task, relation.c.name))]
    propagating = [int(id) for id, task, name in rows if carry_of(str(task), str(name)).preserves_truth]
    pairs = [int(id) for id, task, _ in rows if asks_pairs(str(task))]
    if not len(counted.checks.source):
        return pd.DataFrame({name: np.empty(0, np.int64) for name in ("group_id", "system_id", "question")})
    about_inputs = ~np.isin(np.unique(counted.checks.relation), pairs)
    parts = [_input_questions(connection, counted, propagating, pairs)] if about_inputs.any() else []
    if not about_inputs.all():
        parts.append(_output_questions(connection, counted, propagating, pairs))
    return pd.concat(parts, ignore_index=True).sort_values("group_id", kind="stable", ignore_index=True)


def _input_questions(
    connection: Connection, counted: Counted, propagating: list[int], pairs: list[int]
) -> pd.DataFrame:
    member, sources = table_of(tables.Member), counted.checks.source
    query = (
        select(member.c.group_id, member.c.input_id, case((member.c.role == "source", 1), else_=0))
        .where(
            member.c.group_id.between(*group_ids(sources.min(), sources.max())),
            member.c.role.in_(COUNTED),
        )
        .order_by(member.c.group_id)
    )
    members = integers(connection, query)
    relation = members[:, 0] // LIMIT % LIMIT
    needed = ((members[:, 2] == 1) | ~np.isin(relation, propagating)) & ~np.isin(relation, pairs)
    return pd.DataFrame({"group_id": members[needed, 0], "system_id": 0, "question": members[needed, 1]})


def _output_questions(
    connection: Connection, counted: Counted, propagating: list[int], pairs: list[int]
) -> pd.DataFrame:
    member, output, verdict = (table_of(model) for model in (tables.Member, tables.Output, tables.Verdict))
    sources = counted.checks.source
    query = (
        select(member.c.group_id, output.c.system_id, member.c.input_id, output.c.text, member.c.role)
        .join(verdict, verdict.c.group_id == member.c.group_id)
        .join(output, and_(output.c.system_id == verdict.c.system_id, output.c.input_id == member.c.input_id))
        .where(
            member.c.group_id.between(*group_ids(sources.min(), sources.max())),
            member.c.role.in_(COUNTED),
            verdict.c.outcome == int(Outcome.SATISFIED),
            output.c.text.is_not(None),
            output.c.error.is_(None),
        )
    )
    parts = [np.empty((0, 3), np.int64)]
    for batch in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        rows = []
        for group, system, input_id, text, role in batch:
            relation = int(group) // LIMIT % LIMIT
            if relation in pairs and (role == "source" or relation not in propagating):
                rows.append((group, system, question_number(input_id, text)))
        parts.append(np.array(rows, np.int64).reshape(-1, 3))
    return pd.DataFrame(np.concatenate(parts), columns=["group_id", "system_id", "question"])


def question_number(input_id: int, output: str | None) -> int:
    """The number of a question in a plan: the input's id, or a negative one for an input with an output.

    >>> question_number(7, None), question_number(7, "A summary.") < 0
    (7, True)
    """
    if output is None:
        return input_id
    return -1 - (int.from_bytes(digest(str(input_id), output)[:8], "big") >> 2)


def questions_of(group_questions: pd.DataFrame, groups: np.ndarray, systems: np.ndarray) -> set[int]:
    """The numbers of the questions that settle each of these groups for the system beside it.

    `group_questions` is what `questions` returns.

    >>> rows = pd.DataFrame({"group_id": [1, 1, 4, 4], "system_id": [0, 0, 2, 3], "question": [7, 8, -9, -10]})
    >>> questions_of(rows, np.array([1, 4]), np.array([2, 2])) == {7, 8, -9}
    True
    >>> questions_of(rows, np.array([2, 4]), np.array([3, 3]))
    {-10}
    """
    group, question = group_questions["group_id"].to_numpy(), group_questions["question"].to_numpy()
    first, number = np.searchsorted(group, groups), np.searchsorted(group, groups, "right")
    number -= first
    places = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
    owner = group_questions["system_id"].to_numpy()[places]
    return set(question[places[(owner == 0) | (owner == np.repeat(systems, number))]].tolist())


def questions_in(group_questions: pd.DataFrame, lists: pd.DataFrame, systems: np.ndarray) -> pd.DataFrame:
    """The lists of `beginnings` with a row for each question of each group: columns cell, rank, group_id, question.

    `systems` (cells,) are the ids of the cells' systems.
    """
    rows = lists.merge(group_questions, on="group_id")
    owner = rows["system_id"].to_numpy()
    return rows.loc[(owner == 0) | (owner == systems[rows["cell"].to_numpy(int)])].drop(columns="system_id")


def output_codes(connection: Connection, study: int, relation_id: int) -> pd.DataFrame:
    """Columns group_id, system_id, code: equal codes for identical outputs on identical inputs of all members."""
    group, member, output = table_of(tables.Group), table_of(tables.Member), table_of(tables.Output)
    verdict = table_of(tables.Verdict)
    query = (
        select(
            group.c.id,
            verdict.c.system_id,
            member.c.step,
            member.c.input_id,
            output.c.attempt,
            output.c.label,
            output.c.text,
        )
        .join(verdict, verdict.c.group_id == group.c.id)
        .join(member, and_(member.c.group_id == group.c.id, member.c.role.in_(COUNTED)))
        .join(output, and_(output.c.system_id == verdict.c.system_id, output.c.input_id == member.c.input_id))
        .where(group.c.study_id == study, group.c.relation_id == relation_id)
    )
    codes: dict[tuple[str | None, str | None], int] = {}
    parts = [np.empty((0, 6), np.int64)]
    for batch in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        rows = [(*row[:5], codes.setdefault((row[5], row[6]), len(codes))) for row in batch]
        parts.append(np.array(rows, np.int64))
    key = ["group_id", "system_id", "step"]
    rows = pd.DataFrame(np.concatenate(parts), columns=[*key, "input_id", "attempt", "said"])
    rows = rows.sort_values([*key, "attempt"], kind="stable").drop_duplicates(key, keep="last")
    rows["code"] = pd.util.hash_pandas_object(rows[["step", "input_id", "said"]], index=False)
    return rows.groupby(["group_id", "system_id"], sort=False)["code"].sum().reset_index()


SHARING = ("shared", INFORMATIVE)
"""Designs that share a source's random number among relations and systems."""
ANNOTATORS = 2
"""People per question if no sample says otherwise; the default of `audit sample`."""
WIDE = {"shared": "enough whatever the rates are"}
"""What a design's number of questions promises, by design."""
_RIGHT = "enough to be right in each relation with about that probability, however close systems are"
DECIDED = {
    "shared": _RIGHT,
    "always-valid": "right in each relation with at least that probability, however often one looks; the number is "
    "enough at the differences expected: judge, plan again, and stop where a relation is decided",
}
"""The same for decisions."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """What is to be planned: that every cell's interval has `half_width`, or that every relation's contest is decided.

    `delta` is the difference of SR_g that does not count in a decision, `guess` the R_FS that decisions expect of cells
    without a judgement. `pace` is in seconds an answer, `price_per_hour` in any currency; `annotators` per question is
    that of the samples drawn, else 2. `database` is named in the commands that draw what a design needs. `domain`
    (`audit.sampling.designs`) says which sources count and are drawn from; None: those of each study's sample. Raises
    AuditError without a goal and for impossible costs, UnknownName for a domain.
    """

    half_width: float | None = None
    decide: Goal | None = None
    delta: float = 0.02
    confidence: float = 0.95
    guess: float = GUESS
    pace: float | None = None
    price_per_hour: float | None = None
    annotators: int | None = None
    study: int | None = None
    whose: Whose = "both"
    database: str | None = None
    domain: str | None = None

    def __post_init__(self) -> None:
        # Impossible arguments are refused here, not after minutes of reading.
        if self.domain is not None:
            check_domain(self.domain)
        if self.decide is None and self.half_width is None:
            raise AuditError(message("report_setting.no_goal"))
        if not 0 <= self.guess <= 1:
            raise AuditError(f"a guessed rate of {self.guess:g} is impossible; it is 0 to 1, for example 0.3")
        cost(0, 1 if self.annotators is None else self.annotators, self.pace, self.price_per_hour)


class DesignNeed(TypedDict):
    """What a design needs in all: questions, what they cost, what its number promises, and the command that draws."""

    design: str
    questions: int
    questions_worst: int
    answered: int
    to_go: int
    answers: int
    hours: float | None
    price: float | None
    promise: str
    draw: str | None


class CellNeed(TypedDict):
    """The judged groups that a cell needs for its interval."""

    study: int
    task: str
    relation: str
    system: str
    satisfied: int
    judged: int
    false: int
    needed: int


class SystemDifference(TypedDict):
    """SR_g of `system` minus that of `other`, as far as groups are judged."""

    system: str
    other: str
    difference: float
    low: float
    high: float


class ContestEntry(TypedDict, total=False):
    """What is known of one relation's contest of systems; only where a decision is planned."""

    common: int
    informative: int
    judged: int
    decided: bool
    risk: float | None
    order: list[str]
    differences: list[SystemDifference]


class RelationNeed(ContestEntry):
    """Questions to go and groups to draw under one relation, by design."""

    study: Required[int]
    task: Required[str]
    relation: Required[str]
    to_go: Required[dict[str, int]]
    groups: Required[dict[str, int]]


class PlanDocument(TypedDict):
    """The document of the command `audit plan`."""

    goal: str
    half_width: float | None
    delta: float | None
    confidence: float
    guess: float
    domain: str | None
    annotators: int
    pace: float | None
    price_per_hour: float | None
    designs: list[DesignNeed]
    cells: list[CellNeed]
    relations: list[RelationNeed]
    notes: list[str]


@dataclass(frozen=True)
class _Basis:
    """What a plan is made from: the counts, the questions of all groups, and those that are answered."""

    connection: Connection
    counted: Counted
    questions: pd.DataFrame
    answers: Mapping[Subject, KnownAnswer]

    @cached_property
    def answered(self) -> np.ndarray:
        """The numbers of the answered questions, ascending."""
        numbers = {question_number(input_id, output) for _, input_id, output in self.answers}
        return np.array(sorted(numbers), np.int64)


def plan(database: Engine | Connection, request: PlanRequest) -> PlanDocument:
    """What each design needs for the goal of a request.

    Raises AuditError where nothing was run or the domain has no satisfied groups, and what the statistics raise for
    impossible numbers.
    """
    decide = request.decide
    with snapshot(database) as connection:
        counted = count(connection, request.whose, request.study, domain=request.domain)
        study_seeds = {int(str(row["id"])): int(str(row["seed"])) for row in counted.studies}
        if request.domain is not None:
            counted = _with_free_seeds(connection, counted, request.domain)
        basis = _Basis(connection, counted, questions(connection, counted), known_answers(connection, request.whose))
        cells: list[CellNeed] = []
        if decide is not None:
            needs, relations = _for_decisions(basis, request, decide)
        elif request.half_width is not None:
            needs, cells, relations = _for_width(basis, request, request.half_width)
    people = request.annotators
    if people is None:
        people = max((int(str(sample["annotators"])) for sample in counted.samples), default=ANNOTATORS)
    designs: list[DesignNeed] = []
    for need in needs:
        work = cost(need.to_go, people, request.pace, request.price_per_hour)
        designs.append(
            {
                "design": need.design,
                "questions": need.questions,
                "questions_worst": need.questions_worst,
                "answered": need.answered,
                "to_go": need.to_go,
                "answers": work.answers,
                "hours": work.hours,
                "price": work.price,
                "promise": (WIDE if decide is None else DECIDED)[need.design],
                "draw": _command(counted, study_seeds, relations, need.design, people, request),
            }
        )
    return {
        "goal": "half-width" if decide is None else decide,
        "half_width": request.half_width if decide is None else None,
        "delta": None if decide is None else request.delta,
        "confidence": request.confidence,
        "guess": request.guess,
        "domain": request.domain,
        "annotators": people,
        "pace": request.pace,
        "price_per_hour": request.price_per_hour,
        "designs": designs,
        "cells": cells,
        "relations": relations,
        "notes": _notes(counted, request),
    }


def lines(document: PlanDocument) -> list[str]:
    """The plan for people: a line a design, the fewest questions to go first, and the command that draws for it.

    >>> lines({"goal": "order", "delta": 0.02, "half_width": None, "confidence": 0.95, "designs": [], "notes": []})
    ['For the order of systems in every relation, differences up to 0.02 aside, at 95 % confidence:']
    """
    goal = {
        "half-width": f"For intervals of at most +- {document['half_width']} in every cell",
        "winner": f"For the best system of every relation, differences up to {document['delta']} aside",
        "order": f"For the order of systems in every relation, differences up to {document['delta']} aside",
    }[document["goal"]]
    result = [f"{goal}, at {100 * document['confidence']:g} % confidence:"]
    for design in sorted(document["designs"], key=lambda need: need["to_go"]):
        text = f"  {design['design']:12} {design['to_go']:>9,} questions to go ({design['answered']:,} of "
        text += f"{design['questions']:,} are answered; at worst {design['questions_worst']:,})"
        if design["hours"] is not None:
            text += f", {design['hours']:,.1f} hours"
        if design["price"] is not None:
            text += f", price {design['price']:,.2f}"
        result.append(f"{text}:")
        result += textwrap.wrap(f"{design['promise']}.", 100, initial_indent="    ", subsequent_indent="    ")
        result += [f"    {design['draw']}"] if design["draw"] else []
    return result + [f"Note: {note}" for note in document["notes"]]


def _with_free_seeds(connection: Connection, counted: Counted, domain: str) -> Counted:
    """The counts with a new seed for studies whose seed belongs to a sample of another domain."""
    table = table_of(tables.Sample)
    rows = connection.execute(select(table.c.study_id, table.c.seed).where(table.c.domain != domain))
    taken = {(int(study), int(seed)) for study, seed in rows}

    def free(study: int, seed: int) -> int:
        while (study, seed) in taken:
            seed += 1
        return seed

    studies = [row | {"seed": free(int(str(row["id"])), int(str(row["seed"])))} for row in counted.studies]
    return replace(counted, studies=studies)


def _command(
    counted: Counted,
    study_seeds: Mapping[int, int],
    relations: Sequence[RelationNeed],
    design: str,
    people: int,
    request: PlanRequest,
) -> str | None:
    """The command that draws what a design needs, study by study; None where it needs nothing.

    `study_seeds` are the seeds of the studies themselves.
    """
    commands = []
    by = "shared" if request.decide is None else INFORMATIVE
    for study, seed in seeds_of(counted, (by,) if by != INFORMATIVE else SHARING).items():
        needed = [
            (relation["relation"], relation["groups"][design]) for relation in relations if relation["study"] == study
        ]
        sizes = {name: max(size for other, size in needed if other == name) for name, size in needed if size}
        if not sizes:
            continue
        words = ["audit", "sample", *(["--db", request.database] if request.database else [])]
        words += ["--study", str(study)] if len(study_seeds) > 1 else []
        words += ["--design", by, "--per-relation"]
        one_size = len(set(sizes.values())) == 1 and len(sizes) == len(needed)
        words.append(str(*set(sizes.values())) if one_size else ",".join(f"{k}={n}" for k, n in sizes.items()))
        words += ["--domain", request.domain] if request.domain not in (None, ALL) else []
        words += ["--seed", str(seed)] if seed != study_seeds[study] else []
        words += ["--annotators", str(people)] if people != ANNOTATORS else []
        commands.append(shlex.join(words))
    return " && ".join(commands) or None


def _notes(counted: Counted, request: PlanRequest) -> list[str]:
    cells = counted.cells[counted.cells["satisfied"] > 0]
    blind = int((cells["judged"] == 0).sum())
    notes: list[str] = [message("note.plan_gold_only")] if request.domain == GOLD else []
    if blind and request.decide is not None:
        notes.append(message("note.plan_guess_decide", count=blind, whole=len(cells), rate=request.guess, gap=GAP))
    notes.append(message("note.plan_follow_ups"))
    return notes


def _for_width(
    basis: _Basis, request: PlanRequest, half_width: float
) -> tuple[list[Need], list[CellNeed], list[RelationNeed]]:
    """What the design `shared` needs, how many groups each cell needs, and the questions that each relation needs."""
    counted = basis.counted
    cells = counted.cells.reset_index(drop=True)
    # Groups judged only to compare systems say nothing about a cell's rate, so such a cell starts from 0.
    cells.loc[cells["false"].isna(), ["judged", "false"]] = 0
    # The number is fixed before anything is known of the rate: the worst is 1/2.
    satisfied = cells["satisfied"].to_numpy(int)
    fixed = sizes_for_half_width(0.5, satisfied, half_width, request.confidence)
    needed = np.maximum(fixed, cells["judged"].to_numpy(int))
    # Every cell of a relation is drawn to the size of the cell that needs most.
    relation = cells.groupby(["study", "task", "relation"], sort=False).ngroup()
    sizes = pd.Series(needed).groupby(relation).transform("max").clip(upper=satisfied).to_numpy(int)
    systems = counted.keys["system_id"].to_numpy(np.int64)
    listed = questions_in(basis.questions, beginnings(basis.connection, counted, sizes), systems)
    number, done = distinct_questions(listed, sizes, basis.answered)
    rows = cells[["study", "task", "relation", "system", "satisfied", "judged", "false"]].to_dict("records")
    relations: list[RelationNeed] = []
    for (study, task, name), relation_cells in cells.groupby(["study", "task", "relation"], sort=False):
        of_relation = listed[listed["cell"].isin(relation_cells.index)]
        distinct, known = distinct_questions(of_relation, sizes, basis.answered)
        to_go, groups = {"shared": distinct - known}, {"shared": int(sizes[relation_cells.index].max())}
        relations.append({"study": study, "task": task, "relation": name, "to_go": to_go, "groups": groups})
    of_cells = [cast(CellNeed, row | {"needed": int(n)}) for row, n in zip(rows, needed, strict=True)]
    return [Need("shared", number, number, done)], of_cells, relations


def _states(
    connection: Connection, counted: Counted, answers: Mapping[Subject, KnownAnswer]
) -> dict[tuple[int, int], float]:
    """(group, system) -> 1 (genuinely satisfied) or 0 (false satisfaction), of drawn groups that are settled."""
    samples = [int(str(sample["id"])) for sample in counted.samples]
    states = {}
    for drawn in drawn_groups(connection, samples) if samples else ():
        state = settle_group(drawn, answers).state
        if state is not State.WAITING:
            states[drawn.group_id, drawn.system_id] = float(state is State.TRUE)
    return states


def _for_decisions(basis: _Basis, request: PlanRequest, goal: Goal) -> tuple[list[Need], list[RelationNeed]]:
    """The needs of all designs, and what each relation needs and is known of its contest."""
    connection, counted, delta, confidence = basis.connection, basis.counted, request.delta, request.confidence
    states = _states(connection, counted, basis.answers)
    by_design: dict[str, tuple[set[int], set[int]]] = {name: (set(), set()) for name in ("shared", "always-valid")}
    entries: list[RelationNeed] = []
    answered = set(basis.answered.tolist())
    relation, system = table_of(tables.Relation), table_of(tables.System)
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name))
    relations = {int(id): (str(task), str(name)) for id, task, name in rows}
    names = {int(id): str(name) for id, name in connection.execute(select(system.c.id, system.c.name))}
    for match in matches(connection, counted, states, seeds_of(counted, SHARING)):
        values = [_settled_differences(match.y, match.contest, pair) for pair in range(len(match.contest.pairs))]
        at = standing(match.contest, values, goal, delta, confidence)
        judged = [len(value) for value in values]
        to_go, groups = {}, {}
        for design, sizes in sizes_to_decide(match.contest, at, judged, goal, delta, confidence, request.guess).items():
            needed = [_first_questions(match, first, basis.questions) for first in sizes]
            for collected, numbers in zip(by_design[design], needed, strict=True):
                collected |= numbers
            to_go[design], groups[design] = len(needed[0] - answered), sizes[0]
        task, name = relations[match.relation]
        entries.append(
            {
                "study": match.study,
                "task": task,
                "relation": name,
                **_contest_entry(match, names, values, at),
                "to_go": to_go,
                "groups": groups,
            }
        )
    needs = [
        Need(design, len(expected), max(len(worst), len(expected)), len(expected & answered))
        for design, (expected, worst) in by_design.items()
    ]
    return needs, entries


def _settled_differences(y: np.ndarray, contest: Contest, pair: int) -> np.ndarray:
    """Differences of a pair over its informative groups, up to the first one that is not settled."""
    i, j = contest.pairs[pair]
    difference = y[contest.groups[pair], i] - y[contest.groups[pair], j]
    unknown = np.isnan(difference)
    settled: np.ndarray = difference[: int(np.argmax(unknown))] if unknown.any() else difference
    return settled


def _first_questions(match: Match, first: int, group_questions: pd.DataFrame) -> set[int]:
    """Questions about the first informative groups of a contest, for the systems that are satisfied."""
    drawn = np.isin(np.arange(match.contest.common), _informative_groups(match.contest)[:first])
    row, column = np.nonzero(match.satisfied & drawn[:, None])
    return questions_of(group_questions, match.groups[row, column], np.array(match.systems)[column])


def _informative_groups(contest: Contest) -> np.ndarray:
    return np.unique(np.concatenate(contest.groups))


def _contest_entry(
    match: Match, system_names: Mapping[int, str], values: Sequence[np.ndarray], at: Standing
) -> ContestEntry:
    """What is known of one relation's contest; of systems with the same name their ids tell which one is meant."""
    contest, names = match.contest, [system_names[system] for system in match.systems]
    if len(set(names)) < len(names):
        names = [f"{name}#{system}" for name, system in zip(names, match.systems, strict=True)]
    any_judged = at.decided or any(len(pair_values) for pair_values in values)
    judged = [rows[: len(pair_values)] for rows, pair_values in zip(contest.groups, values, strict=True)]
    differences: list[SystemDifference] = [
        {
            "system": names[i],
            "other": names[j],
            "difference": float(at.difference[i, j]),
            "low": float(at.low[i, j]),
            "high": float(at.high[i, j]),
        }
        for i, j in combinations(at.order, 2)
    ]
    return {
        "common": contest.common,
        "informative": len(_informative_groups(contest)),
        "judged": len(np.unique(np.concatenate(judged))),
        "decided": bool(at.decided),
        "risk": float(at.risk) if any_judged else None,
        "order": [names[i] for i in at.order] if any_judged else [],
        "differences": differences if any_judged else [],
    }
