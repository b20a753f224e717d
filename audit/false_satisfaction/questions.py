"""Which questions are worth asking: those that a drawn group waits for, the best ranks first; audits after them.

Questions about inputs settle whether satisfactions are false; questions about groups, whether relations hold in them.
Both have their group's rank as priority, so that the two kinds of answer reach equally far down each cell's list.
Within a rank those come first for which most drawn (group, system) pairs wait: they settle most.

Audits of follow-ups stand behind everything that groups wait for. They settle nothing, so who stops early has lost no
estimate; and a follow-up that comes right after its source would be answered from memory of it, which hides the very
error that is to be measured: behind the queue, the source is long ago. Ratings of texts come last.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, and_, case, exists, func, or_, select, true

from audit.false_satisfaction.resolution import (
    ALLOWED,
    CARRIED,
    Answers,
    Drawn,
    KnownAnswer,
    State,
    Whose,
    carried_to,
    drawn_groups,
    known_answers,
    settle_group,
)
from audit.keys import uniform
from audit.relations import COUNTED, Outcome
from audit.sampling.samples import Terms, terms_of
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import (
    answer,
    draw,
    group,
    input_table,
    member,
    output,
    progress,
    question,
    relation,
    source,
    study,
    system,
    validity_draw,
    validity_study,
    verdict,
)
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, SCALES, Subject, group_question_key, kind_of, question_key

BEHIND = 1_000_000_000
"""Added to the rank of an audit, whose question no group waits for: its priority. Ranks stay below it."""
_PLACES = 100_000_000
"""Places of the random order of ratings: as many as fit behind audits into a number of 31 bits."""


@dataclass(frozen=True)
class Wanted:
    """A question that people are to be asked, and how: the row of `question` as it should be.

    `input_id` of a question about a group is its source's; `priority` the best rank of a drawn group that waits for it,
    `waits` how many drawn (group, system) pairs do; `annotators` how many people answer it, `study_id` the study in
    whose words, `source_input_id` the source of which the input is a version, `output` the text that is asked about
    together with the input.
    """

    task: str
    kind: str
    key: bytes
    input_id: int
    priority: int
    waits: int = 1
    annotators: int = 2
    study_id: int | None = None
    source_input_id: int | None = None
    output: str | None = None
    group_id: int | None = None

    @classmethod
    def about(
        cls, task: str, input_id: int, input_key: bytes, output: str | None, priority: int, **terms: Any
    ) -> "Wanted":
        """Return the question about an input, or about an input and an output."""
        kind = kind_of(output)
        key = question_key(task, kind, input_key, output)
        return cls(task, kind, key, input_id, priority, output=output, **terms)


# Whether a relation holds in a group of a validity study. A question about a group is one question whatever study or
# system the group belongs to, so groups and questions meet by content.

Content = tuple[int, tuple[tuple[str, int], ...]]
"""(relation, ((role, input) of each counted member)); ids are of the database, where each content has one."""


def contents(connection: Connection, group_ids: Collection[int]) -> dict[int, Content]:
    """The content of each of these groups, by id."""
    query = (
        select(group.c.id, group.c.relation_id, member.c.role, member.c.input_id)
        .join(member, member.c.group_id == group.c.id)
        .where(member.c.role.in_(COUNTED))
        .order_by(group.c.id, member.c.step)
    )
    result: dict[int, Content] = {}
    for id, relation_id, role, input_id in rows_among(connection, query, group.c.id, sorted(group_ids)):
        _, members = result.get(id, (relation_id, ()))
        result[id] = relation_id, (*members, (role, input_id))
    return result


def source_input(content: Content) -> int:
    """The input of the source of a group with this content (its id)."""
    return next(input_id for role, input_id in content[1] if role == "source")


def group_answers(
    connection: Connection, whose: Whose = "both", questions: Collection[int] | None = None
) -> dict[Content, KnownAnswer]:
    """The answer that counts about each group that was judged, of the origins asked for; of all, or of `questions`."""
    query = select(question.c.group_id, answer.c.origin, answer.c.allowed)
    query = query.join(answer, answer.c.question_id == question.c.id)
    query = query.where(question.c.kind == "group", answer.c.origin.in_(ALLOWED[whose]))
    if questions is not None:
        query = query.where(question.c.id.in_(list(questions)))
    first_last = sorted(connection.execute(query), key=lambda row: ORIGINS.index(row.origin), reverse=True)
    content_of = contents(connection, {row.group_id for row in first_last})
    return {content_of[row.group_id]: KnownAnswer(frozenset(row.allowed), row.origin) for row in first_last}


def wanted_groups(connection: Connection, relation_id: int | None = None) -> list[Wanted]:
    """The questions that validity studies ask about groups (of one relation, or of all) and nobody has settled."""
    columns = (validity_draw.c.study_id, validity_draw.c.rank, validity_draw.c.group_id)
    query = select(*columns, validity_study.c.annotators, validity_study.c.first)
    query = query.join(validity_study, validity_study.c.study_id == validity_draw.c.study_id)
    query = query.where(validity_study.c.ended_at.is_(None), validity_study.c.asks != "texts")
    if relation_id is not None:
        query = query.where(validity_draw.c.relation_id == relation_id)
    drawn = connection.execute(query).all()
    content_of = contents(connection, {row.group_id for row in drawn})
    answers = group_answers(connection) if drawn else {}
    asking: dict[Content, list[Any]] = {}
    for row in drawn:
        if content_of[row.group_id] not in answers:
            asking.setdefault(content_of[row.group_id], []).append(row)
    keys = _input_keys(connection, {input_id for _, members in asking for _, input_id in members})
    relations = {row.id: row for row in connection.execute(select(relation))} if asking else {}
    wanted = []
    for (id, members), rows in asking.items():
        of, roles = relations[id], [(role, keys[input_id]) for role, input_id in members]
        first = min(rows, key=lambda row: (row.rank, row.group_id))
        rank = first.rank - (BEHIND if any(row.first for row in rows) else 0)
        about = source_input((id, members))
        terms = (rank, len(rows), max(row.annotators for row in rows), min(row.study_id for row in rows), about)
        key = group_question_key(of.task, of.name, of.version, of.params, roles)
        wanted.append(Wanted(of.task, "group", key, about, *terms, group_id=first.group_id))
    return wanted


def attributed_groups(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Which relation or systems each question about a group serves: columns item (its id, text) and value."""
    named = relation if by == "relation" else system
    query = select(question.c.id, named.c.name).where(question.c.kind == "group").distinct()
    if by == "relation":
        query = query.join(group, group.c.id == question.c.group_id).join(named, named.c.id == group.c.relation_id)
    else:
        query = query.join(verdict, verdict.c.group_id == question.c.group_id)
        query = query.join(named, named.c.id == verdict.c.system_id)
        query = query.where(verdict.c.outcome.in_((int(Outcome.SATISFIED), int(Outcome.VIOLATED))))
    with engine.connect() as connection:
        rows = sorted((str(id), str(name)) for id, name in connection.execute(query))
    return pd.DataFrame(rows, columns=["item", "value"])


def _input_keys(connection: Connection, inputs: Collection[int]) -> dict[int, bytes]:
    columns = select(input_table.c.id, input_table.c.key)
    return {id: bytes(key) for id, key in rows_among(connection, columns, input_table.c.id, sorted(inputs))}


# Audits: follow-ups of some drawn groups are asked about although an answer is carried to them. While one waits or is
# disputed the carried answer stands.


def is_audited(drawn: Drawn, terms: Mapping[int, Terms]) -> bool:
    """Whether the follow-ups of a drawn group's source are audited: a random share of the sources."""
    share = terms[drawn.sample_id].follow_ups if drawn.sample_id in terms else 0.0
    return share > 0 and uniform("audited follow-ups", drawn.group_id // LIMIT**2) < share


@dataclass(frozen=True, slots=True)
class Carried:
    """A follow-up of a group that has an answer of its own beside the carried one; `wrong`: they share no label."""

    group_id: int
    source: int
    follow_up: int
    wrong: bool


def audited_carries(groups: Iterable[Drawn], answers: Answers, terms: Mapping[int, Terms]) -> list[Carried]:
    """What the audit found of follow-ups that are answered, in groups that are audited: a random part of the sources,
    so that what other groups ask about is not favoured."""
    audited: list[Carried] = []
    for drawn in groups:
        of = drawn.source
        if of is None or not is_audited(drawn, terms) or settle_group(drawn, answers).state is State.WAITING:
            continue
        for step in drawn.steps:
            carried, own = carried_to(drawn, step, answers), answers.get(drawn.subject(step))
            if carried is not None and own is not None:
                wrong = own.allowed.isdisjoint(carried.allowed)
                audited.append(Carried(drawn.group_id, of.input_id, step.input_id, wrong))
    return audited


def wanted_questions(connection: Connection) -> dict[bytes, Wanted]:
    """Return every question that people are to be asked now, by key."""
    wanted = wanted_about(connection) | wanted_ratings(connection)
    return wanted | {group.key: group for group in wanted_groups(connection)}


def wanted_about(connection: Connection, group_ids: Collection[int] | None = None) -> dict[bytes, Wanted]:
    """Return the questions about texts and outputs that drawn groups (these, or all) wait for, and their audits."""
    samples = terms_of(connection)
    groups: Iterable[Drawn] = drawn_groups(connection, samples, group_ids)
    around: set[int] | None = None
    if group_ids is not None:
        # Around one question only the answers of its groups are read: this is done after every judgement.
        groups = list(groups)
        around = {step.input_id for drawn in groups for step in drawn.steps}
    answers = known_answers(connection, inputs=around)
    waiting: dict[Subject, list[Drawn]] = {}
    audits: dict[Subject, list[Drawn]] = {}
    # The first study, and there the source of the best-ranked group, settled or not: in whose words a text is asked
    # about, and what it is a version of, stays while answers come in.
    places: dict[Subject, tuple[int, int, int, int | None]] = {}
    for drawn in groups:
        settled = settle_group(drawn, answers)
        of = None if drawn.source is None else drawn.source.input_id
        place = (samples[drawn.sample_id].study, drawn.rank, drawn.group_id, of)
        for step in drawn.steps:
            subject = drawn.subject(step)
            places[subject] = min(place, places.get(subject, place))
        for subject in settled.waits_for:
            waiting.setdefault(subject, []).append(drawn)
        # A follow-up is audited once every member has an answer, so that its own leaves no member open.
        if all(settled.origins) and is_audited(drawn, samples):
            for step, origin in zip(drawn.steps, settled.origins, strict=True):
                if origin.startswith(CARRIED):
                    audits.setdefault(drawn.subject(step), []).append(drawn)
    keys = _input_keys(connection, {input_id for _, input_id, _ in (*waiting, *audits)})
    wanted: dict[bytes, Wanted] = {}
    for subjects, least in ((audits, BEHIND), (waiting, 0)):  # what is waited for is no audit
        for subject, asking in subjects.items():
            task, input_id, said = subject
            terms = [samples[drawn.sample_id] for drawn in asking]
            entry = Wanted.about(
                task, input_id, keys[input_id], said, least + min(drawn.rank for drawn in asking),
                waits=len({(drawn.group_id, drawn.system_id) for drawn in asking}),
                annotators=max(of.annotators for of in terms),
                study_id=places[subject][0], source_input_id=places[subject][-1],
            )  # fmt: skip
            wanted[entry.key] = entry
    return wanted


# Ratings: each drawn pair of a validity study asks for both scales of its source and its follow-up, mixed and blind. A
# text is asked about once; nothing says which of the two it is, and the order follows a hash of the texts.


def drawn_members(connection: Connection, studies: Collection[int] | None = None) -> list[dict[str, Any]]:
    """Return the texts of drawn pairs: study_id, relation_id, rank, group_id, role (source, follow_up) and input_id; of
    all studies with a validity study, ended ones included, or of these."""
    names = ("study_id", "relation_id", "rank", "group_id")
    query = select(validity_draw).order_by(*(validity_draw.c[name] for name in names[:3]))
    if studies is not None:
        query = query.where(validity_draw.c.study_id.in_(studies))
    drawn = connection.execute(query).all()
    members = select(member.c.group_id, member.c.step, member.c.role, member.c.input_id)
    inputs: dict[tuple[int, Any], int] = {}
    for row in rows_among(connection, members, member.c.group_id, sorted({row.group_id for row in drawn})):
        inputs[row.group_id, row.step] = row.input_id
        if row.role == "source":
            inputs.setdefault((row.group_id, "source"), row.input_id)
    return [
        {name: getattr(row, name) for name in names} | {"role": role, "input_id": inputs[row.group_id, step]}
        for row in drawn
        for role, step in (("source", "source"), ("follow_up", row.step))
    ]


def wanted_ratings(connection: Connection) -> dict[bytes, Wanted]:
    """Return the questions on scales that validity studies ask now, by key."""
    open_studies = select(validity_study, study.c.task).join(study, study.c.id == validity_study.c.study_id)
    open_studies = open_studies.where(validity_study.c.ended_at.is_(None), validity_study.c.asks != "groups")
    terms_of_study = {row.study_id: row for row in connection.execute(open_studies)}
    drawn = drawn_members(connection, sorted(terms_of_study)) if terms_of_study else []
    keys = _input_keys(connection, {row["input_id"] for row in drawn})
    wanted: dict[bytes, Wanted] = {}
    for row in drawn:
        terms, input_key = terms_of_study[row["study_id"]], keys[row["input_id"]]
        place = int(uniform("rating", input_key.hex()) * _PLACES)
        priority = place - 2 * _PLACES if terms.first else 2 * BEHIND + place
        for kind in SCALES:
            key = question_key(terms.task, kind, input_key)
            entry = wanted.get(key) or Wanted(terms.task, kind, key, row["input_id"], priority, 0, terms.annotators)
            wanted[key] = replace(
                entry,
                priority=min(entry.priority, priority),
                waits=entry.waits + 1,
                annotators=max(entry.annotators, terms.annotators),
            )
    return wanted


# How long the queue is, and how it differs from what it should be.


@dataclass(frozen=True)
class OpenQuestions:
    """How many questions are open: without an answer, and a drawn group waits for one; about `texts` (or an output with
    its text), and about `groups`.

    Flagged and disputed ones are among them, hidden repeats and control questions are not. `audits` are open too, but
    no group waits for them: they only check what relations carry.
    """

    texts: int
    groups: int
    audits: int

    @property
    def open(self) -> int:
        """What pages and reports call open."""
        return self.texts + self.groups


def count_open(connection: Connection, among: ColumnElement[bool] | None = None) -> OpenQuestions:
    """Count the open questions of the whole database, or those that meet a condition on the table question."""
    is_group, is_audit = question.c.kind == "group", question.c.priority >= BEHIND
    counts = (~is_audit & ~is_group, ~is_audit & is_group, is_audit)
    query = select(*(func.coalesce(func.sum(case((part, 1), else_=0)), 0) for part in counts))
    query = query.where(question.c.priority.is_not(None), question.c.kind.not_in(SCALES))
    return OpenQuestions(*map(int, connection.execute(query if among is None else query.where(among)).one()))


class QueueLength(NamedTuple):
    """Questions in the queue: those that drawn groups wait for, and those that only audit what relations carry."""

    waiting: int
    audits: int


def queue_length(engine: Engine) -> QueueLength:
    """Count the questions in the queue now, of all samples."""
    with engine.connect() as connection:
        counted = count_open(connection)
    return QueueLength(counted.open, counted.audits)


class Difference(NamedTuple):
    """How the queues differ from what they should be: ids of questions that are wanted and not in their place, or in
    the queue though nobody wants them (`idle`), and how many were never made."""

    misplaced: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()
    absent: int = 0


def queue_difference(connection: Connection) -> Difference:
    """Compare the queue with what all samples and answers make of it; writes nothing."""
    wanted = wanted_questions(connection)
    misplaced, idle = [], []
    columns = (question.c.id, question.c.key, question.c.priority, question.c.waits)
    for id, key, *place in connection.execute(select(*columns).order_by(question.c.id)):
        expected = wanted.pop(bytes(key), None)
        if expected is not None and [expected.priority, expected.waits] != place:
            misplaced.append(id)
        elif expected is None and place[0] is not None:
            idle.append(id)
    return Difference(tuple(misplaced), tuple(idle), len(wanted))


def question_ids(connection: Connection, task: str, input_ids: Iterable[int]) -> dict[Subject, int]:
    """Return the questions about these inputs, or about one of them and an output, by what they ask about."""
    query = select(question.c.input_id, question.c.output, question.c.id)
    query = query.where(question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
    rows = rows_among(connection, query, question.c.input_id, input_ids)
    return {(task, input_id, said): id for input_id, said, id in rows}


def groups_with(connection: Connection, inputs: Iterable[int]) -> set[int]:
    """Groups of drawn sources that have one of these inputs."""
    query = select(member.c.group_id).join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
    return {row.group_id for row in rows_among(connection, query, member.c.input_id, inputs)}


def asked_by(connection: Connection, studies: Collection[int]) -> ColumnElement[bool]:
    """Condition on the table question: it is about a text, an output or a group of these studies (ids)."""
    if not connection.execute(select(study.c.id).where(study.c.id.not_in(studies)).limit(1)).first():
        return true()
    of_group = group.alias()
    systems = select(progress.c.system_id).where(progress.c.study_id.in_(studies))
    has_text = exists().where(member.c.input_id == question.c.input_id)
    has_text = has_text.where(group.c.id == member.c.group_id, group.c.study_id.in_(studies))
    has_output = exists().where(
        output.c.input_id == question.c.input_id, output.c.system_id.in_(systems), output.c.text == question.c.output
    )
    has_group = exists().where(
        of_group.c.id == question.c.group_id, group.c.relation_id == of_group.c.relation_id,
        group.c.source_id == source.c.id,
        source.c.input_id == question.c.input_id, source.c.study_id.in_(studies),
    )  # fmt: skip
    return or_(
        and_(question.c.kind == "group", has_group),
        and_(question.c.kind == "pair", has_text, has_output),
        and_(question.c.kind.not_in(["group", "pair"]), has_text),
    )
