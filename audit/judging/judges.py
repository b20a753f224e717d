"""Asking judges that are models: which questions, in which ways, and storing what they say as it arrives.

What a judge answers is no vote: it goes into a table of its own, and no answer, queue or screen of people hangs on it.
Repeating a command asks what is left, and again what ended in an error.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, Refused
from audit.false_satisfaction.cells import read_cells
from audit.false_satisfaction.judged import group_opinions, last_answers, opinions_of
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.questions import question_ids
from audit.false_satisfaction.resolution import drawn_groups
from audit.judging.asking import make_questions
from audit.judging.queue import Shown, show
from audit.judging.words import guideline_of
from audit.keys import canonical
from audit.messages import with_commas
from audit.relations.asking import text_names
from audit.sampling.samples import terms_of
from audit.store import insert_new, rows_among, table_of, tables, writing
from audit.store.outcomes import insert_one
from audit.systems.judge import VARIANTS, Answered, Asked, Judge, Part, same_model, variant_of
from audit.tasks import base_of, get_task, wording_of
from audit.tasks.questions import BROKEN, HOLDS, Subject

FLUSH = 0.5
"""Seconds after which what a judge has answered is stored; what waits longer than that is stored as it comes."""
HOPELESS = 20
"""Questions one after the other without an answer, after which a judge is asked no more."""
_LOOKED_UP = 200
"""Questions that are read from the database at once."""
_NAMES = {"summarization": "Summary", "translation": "Translation", "question-answering": "Answer"}
"""What an output is called that is judged with its text, where the task does not say."""


@dataclass(frozen=True)
class JudgeRequest:
    """What a judge is asked: the questions of what was drawn, as people are asked (`variants` 0) or in other ways, too.

    `everything`: all satisfied groups, so that it is a proxy of every cell. `most` is how many questions are asked at
    most. `allow_own`: also a judge that is a system under test.
    """

    variants: tuple[int, ...] = (0,)
    everything: bool = False
    study: int | None = None
    most: int | None = None
    allow_own: bool = False


@dataclass
class AskedOf:
    """What came of asking a judge: how many questions were asked, answered, unsure or ended in an error, and how many
    are left; `own` are the systems under test that it is. `last_error` is what the last one says."""

    judge: int
    name: str
    own: tuple[str, ...]
    asked: int = 0
    answered: int = 0
    unsure: int = 0
    errors: int = 0
    left: int = 0
    last_error: str | None = None
    questions_made: int = field(default=0)


def own_systems(
    connection: Connection, name: str, version: str, settings: Mapping[str, Any], studies: Sequence[int] | None = None
) -> tuple[str, ...]:
    """The systems under test (of these studies; None: of all) that a judge is, by name."""
    system, progress = table_of(tables.System), table_of(tables.Progress)
    query = select(system.c.name, system.c.version, system.c.settings).order_by(system.c.id)
    if studies is not None:
        ran = select(progress.c.system_id).where(progress.c.study_id.in_(list(studies)))
        query = query.where(system.c.id.in_(ran))
    rows = [(row.name, row.version, json.loads(row.settings)) for row in connection.execute(query)]
    return tuple(dict.fromkeys(row[0] for row in rows if same_model((name, version, settings), row)))


def ask_judge(
    engine: Engine, judge: Judge, request: JudgeRequest, watch: Callable[[int, int], object] | None = None
) -> AskedOf:
    """Ask a judge what it has not answered yet, and store each answer as it comes.

    `watch(done, total)` is told how far it is. Raises Refused for a judge that is a system under test (unless that is
    allowed), AuditError where nothing was drawn, and, once all that came is stored, where a judge answers nothing.
    """
    if request.most is not None and request.most < 1:
        raise AuditError(f"max_calls {request.most}: must be at least 1", parameter="max_calls")
    with engine.connect() as connection:
        studies = [row["id"] for row in read_cells(connection, request.study)[0]]
        if not request.everything and not set(studies) & set(terms_of(connection)):
            raise AuditError(
                "nothing is drawn yet, so there are no questions; draw a sample first with `audit sample`, or ask "
                "about everything"
            )
        own = own_systems(connection, judge.name, judge.version, judge.settings)
    if own and not request.allow_own:
        raise Refused(
            f"the judge {judge.name!r} is the same model as the system under test {with_commas(own)}, and would "
            "be asked whether its own outputs are right; choose another one, or allow it with allow_own",
            parameter="allow_own",
        )
    settings = canonical(dict(judge.settings))
    row = {"name": judge.name, "version": judge.version, "settings": settings, "created_at": tables.now()}
    with writing(engine) as connection:
        judge_id, _ = insert_one(connection, tables.Judge, row, "name", "version", "settings")
    done = AskedOf(judge_id, judge.name, own)
    session = _Session(engine, judge, done, request.most, watch)
    with engine.connect() as connection:
        drawn = _drawn_questions(connection, studies)
        failed = {row.question_id for row in last_answers(connection, judge_id) if row.answer is None} - set(drawn)
    session.ask(_pending(engine, judge_id, drawn, request.variants))
    session.ask(_pending(engine, judge_id, sorted(failed), (0,)))
    if request.everything:
        _ask_everything(engine, session, studies)
    return done


def _ask_everything(engine: Engine, session: "_Session", studies: Sequence[int]) -> None:
    """Ask what the satisfied groups need that are to have a value of the proxy, sources first, until none waits."""
    judge_id = session.done.judge
    tried: set[int] = set()
    while True:
        with writing(engine) as connection:
            wanted = _wanted(connection, judge_id, studies)
            made, number = make_questions(
                connection, sorted(wanted, key=lambda subject: (*subject[:2], subject[2] or ""))
            )
            session.done.questions_made += number
        # What ended in an error was asked about: it is asked again once, and not in this loop.
        remaining = sorted(set(made.values()) - tried)
        if not remaining:
            break
        tried.update(remaining)
        session.ask(_pending(engine, judge_id, remaining, (0,)))
        if session.exhausted:
            break


def _wanted(connection: Connection, judge_id: int, studies: Sequence[int]) -> set[Subject]:
    """What a judge is to be asked so that it has an opinion of all satisfied groups of these studies."""
    opinions = opinions_of(connection, judge_id)
    wanted: set[Subject] = set()
    for study in studies:
        population = read_population(connection, study)
        for relation in population.relations:
            wanted |= group_opinions(connection, population, relation, opinions)[1]
    return wanted


def _drawn_questions(connection: Connection, ids: Sequence[int]) -> list[int]:
    """The questions that people are or were asked about the drawn groups of these studies, and about these groups."""
    question, pairs = table_of(tables.Question), table_of(tables.ValidityDraw)
    inputs: dict[str, set[int]] = {}
    subjects = {drawn.subject(step) for drawn in drawn_groups(connection, ids) for step in drawn.steps}
    for task, input_id, _ in subjects:
        inputs.setdefault(task, set()).add(input_id)
    stored = {subject: id for task in inputs for subject, id in question_ids(connection, task, inputs[task]).items()}
    drawn = select(pairs.c.group_id).where(pairs.c.study_id.in_(list(ids)))
    about_groups = select(question.c.id).where(question.c.kind == "group", question.c.group_id.in_(drawn))
    return sorted(
        {*(stored[subject] for subject in subjects & stored.keys()), *connection.execute(about_groups).scalars()}
    )


class _Open(NamedTuple):
    """A question that a judge is to be asked in some way, and which attempt that is."""

    question: int
    variant: int
    attempt: int


def _pending(engine: Engine, judge_id: int, questions: Sequence[int], variants: Sequence[int]) -> list[_Open]:
    """What of these is not answered yet; the questions in the order given, each in all ways."""
    given = table_of(tables.JudgeAnswer).c
    query = select(given.question_id, given.variant, given.attempt, given.answer).where(given.judge_id == judge_id)
    answered: set[tuple[int, int]] = set()
    attempts: Counter[tuple[int, int]] = Counter()
    with engine.connect() as connection:
        for id, variant, attempt, answer in rows_among(connection, query, given.question_id, list(questions)):
            attempts[id, variant] = max(attempts[id, variant], attempt)
            if answer is not None:
                answered.add((id, variant))
    asked = ((id, variant) for id in questions for variant in variants)
    return [_Open(*key, attempts[key] + 1) for key in asked if key not in answered]


class _Session:
    """A judge that is asked: many questions at once, each answer stored soon after it came."""

    def __init__(
        self,
        engine: Engine,
        judge: Judge,
        done: AskedOf,
        most: int | None,
        watch: Callable[[int, int], object] | None,
    ):
        self._engine, self._judge, self.done, self._most = engine, judge, done, most
        self._watch = watch or (lambda done, total: None)
        self._rows: list[dict[str, Any]] = []
        self._flushed = monotonic()
        self._total = 0
        self._without_answer = 0

    @property
    def exhausted(self) -> bool:
        """Whether as many questions were asked as may be."""
        return self._most is not None and self.done.asked >= self._most

    def ask(self, pending: Sequence[_Open]) -> None:
        """Ask these, as many as may be. Raises AuditError where none is answered any more."""
        left = len(pending) if self._most is None else max(self._most - self.done.asked, 0)
        self.done.left += max(len(pending) - left, 0)
        self._total += min(len(pending), left)
        if pending and left:
            asyncio.run(self._ask(self._questions(pending[:left])))

    async def _ask(self, questions: Iterator[tuple[_Open, Asked]]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._judge.concurrency):
                    group.create_task(self._work(questions))
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None
        finally:
            self._flush()
            await self._judge.close_async()

    async def _work(self, questions: Iterator[tuple[_Open, Asked]]) -> None:
        for pending, asked in questions:
            self._note(pending, await self._judge.answer(asked))
            if monotonic() - self._flushed > FLUSH:
                self._flush()
            if self._without_answer >= HOPELESS:
                raise AuditError(
                    f"the judge gave no answer to {HOPELESS} questions one after the other, and is asked no more; "
                    f"what came is stored. Last: {self.done.last_error or ''}"
                )
            await asyncio.sleep(0)  # an interrupt is noticed here, also where a function never waits

    def _note(self, pending: _Open, answered: Answered) -> None:
        done = self.done
        done.asked += 1
        if answered.label is None:
            done.errors += 1
            done.last_error = answered.error
        elif answered.label == "unsure":
            done.unsure += 1
        else:
            done.answered += 1
        # What it wrote is an answer of the machine, if none that can be used; only silence is hopeless.
        silent = answered.label is None and answered.text is None
        self._without_answer = self._without_answer + 1 if silent else 0
        self._rows.append(
            {
                "question_id": pending.question,
                "judge_id": done.judge,
                "variant": pending.variant,
                "attempt": pending.attempt,
                "answer": answered.label,
                "error": None if answered.label is not None else answered.error or "no answer",
                "text": answered.text,
                "decided_at": tables.now(),
            }
        )
        self._watch(done.asked, self._total)

    def _flush(self) -> None:
        if self._rows:
            with writing(self._engine) as connection:
                insert_new(connection, tables.JudgeAnswer, self._rows)
            self._rows = []
        self._flushed = monotonic()

    def _questions(self, pending: Sequence[_Open]) -> Iterator[tuple[_Open, Asked]]:
        """What is asked, read from the database piece by piece; ways that a question does not have are left out."""
        remaining = iter(pending)
        while piece := list(islice(remaining, _LOOKED_UP)):
            with self._engine.connect() as connection:
                shown = {id: asked_of(connection, id) for id in dict.fromkeys(one.question for one in piece)}
            for one in piece:
                if (asked := variant_of(shown[one.question], one.variant)) is not None:
                    yield one, asked
                else:
                    self._total -= 1


def asked_of(connection: Connection, question_id: int) -> Asked:
    """A question as a judge is asked it: what people are shown, in English."""
    shown = show(connection, question_id)
    guideline = guideline_of(shown.task, shown.kind).text.replace("{labels}", ", ".join(shown.labels))
    return Asked(
        base_of(shown.task),
        shown.kind,
        shown.question if shown.group is None else f"{shown.question} ({HOLDS}: yes; {BROKEN}: no)",
        shown.labels,
        shown.texts,
        _parts(shown),
        shown.output,
        f"{shown.group.relation}: {shown.group.summary}".rstrip(": ") if shown.group else "",
        guideline,
    )


def _parts(shown: Shown) -> tuple[Part, ...]:
    if shown.group is not None:
        members = shown.group.members
        names = text_names([member.role for member in members], len(shown.texts))
        return tuple(
            Part(name, "\n".join(member.input.texts), member.input.languages[0])
            for name, member in zip(names, members, strict=True)
        )
    words = wording_of(get_task(shown.task), "en")
    names_of = words.texts if len(words.texts) == len(shown.texts) else ()
    several = [f"Text {number}" for number in range(1, len(shown.texts) + 1)] if len(shown.texts) > 1 else ["Text"]
    parts = [
        Part(name, text, language)
        for name, text, language in zip(names_of or several, shown.texts, shown.languages, strict=False)
    ]
    if shown.output is not None:
        name = words.output or _NAMES.get(base_of(shown.task), "Output")
        parts.append(Part(name, shown.output, shown.languages[-1]))
    return tuple(parts)


def variants_named(names: Sequence[str]) -> tuple[int, ...]:
    """The numbers of ways of asking by name, beside 0, as people are asked. Raises AuditError for another name."""
    for name in names:
        if name not in VARIANTS[1:]:
            raise AuditError(
                f"{name!r} is no other way of asking; allowed are {with_commas(VARIANTS[1:])}", parameter="variants"
            )
    return (0, *sorted({VARIANTS.index(name) for name in names}))
