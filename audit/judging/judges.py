"""Asking judges that are models, and storing what they say as it arrives. What a judge answers is no vote: it goes into
a table of its own. Repeating a command asks what is left, and again what ended in an error."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, Refused
from audit.false_satisfaction.cells import read_cells
from audit.false_satisfaction.judged import group_opinions, last_answers, opinions_of
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.questions import question_ids
from audit.false_satisfaction.resolution import drawn_groups
from audit.judging.asking import make_questions
from audit.judging.options import JudgeRequest as JudgeRequest
from audit.judging.queue import show
from audit.judging.words import guideline_of
from audit.keys import canonical
from audit.messages import with_commas
from audit.relations.asking import text_names
from audit.sampling.samples import terms_of
from audit.store import insert_new, rows_among, table_of, tables, writing
from audit.store.outcomes import insert_one
from audit.systems.judge import VARIANTS, Answered, Asked, Judge, Part, same_model, variant_of
from audit.tasks import base_of, get_task, wording_of
from audit.tasks.questions import BROKEN, HOLDS, UNSURE, Subject

HOPELESS = 20  # Questions one after the other without an answer, after which a judge is asked no more
_NAMES = {"summarization": "Summary", "translation": "Translation", "question-answering": "Answer"}
"""What an output is called that is judged with its text, where the task does not say."""


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
    questions_made: int = 0


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
    """Ask a judge what it has not answered yet, and store each answer as it comes. Raises Refused for a judge that is a
    system under test, AuditError where nothing was drawn, and where a judge answers nothing any more."""
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
    session = _Session(engine, judge, done, request.max_calls, watch or (lambda done, total: None))
    with engine.connect() as connection:
        drawn = _drawn_questions(connection, studies)
        failed = {row.question_id for row in last_answers(connection, judge_id) if row.answer is None} - set(drawn)
    session.ask(drawn, [0, *sorted(map(VARIANTS.index, set(request.variants)))])
    session.ask(sorted(failed))
    tried: set[int] = set()
    # Everything: what the satisfied groups need that are to have a value of the proxy, sources first, until none waits.
    while request.everything and (request.max_calls is None or done.asked < request.max_calls):
        with writing(engine) as connection:
            opinions, wanted = opinions_of(connection, judge_id), set[Subject]()
            for population in (read_population(connection, study) for study in studies):
                for relation in population.relations:
                    wanted |= group_opinions(connection, population, relation, opinions)[1]
            ordered = sorted(wanted, key=lambda about: (*about[:2], about[2] or ""))
            new_questions, number = make_questions(connection, ordered)
        done.questions_made += number
        # What ended in an error was asked about: it is asked again once, and not in this loop.
        if not (remaining := sorted(set(new_questions.values()) - tried)):
            break
        tried.update(remaining)
        session.ask(remaining)
    return done


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
    about_texts = {stored[subject] for subject in subjects & stored.keys()}
    return sorted(about_texts.union(connection.execute(about_groups).scalars()))


_Open = tuple[int, int, int]  # A question that a judge is to be asked, in which way, and which attempt that is


@dataclass
class _Session:
    """A judge that is asked: many questions at once, each answer stored as it comes."""

    engine: Engine
    judge: Judge
    done: AskedOf
    most: int | None
    watch: Callable[[int, int], object]
    total: int = 0
    silent: int = 0  # Questions one after the other without an answer

    def ask(self, questions: Sequence[int], variants: Sequence[int] = (0,)) -> None:
        """Ask these in all ways in which they are not answered yet, as many as may be. Raises AuditError where none is
        answered any more."""
        columns = table_of(tables.JudgeAnswer).c
        query = select(columns.question_id, columns.variant, columns.attempt, columns.answer)
        query = query.where(columns.judge_id == self.done.judge).order_by(columns.attempt)
        with self.engine.connect() as connection:
            rows = rows_among(connection, query, columns.question_id, list(questions))
            last = {(id, variant): (attempt, answer) for id, variant, attempt, answer in rows}
        states = {(id, variant): last.get((id, variant), (0, None)) for id in questions for variant in variants}
        pending = [(*key, attempt + 1) for key, (attempt, answer) in states.items() if answer is None]
        now = pending if self.most is None else pending[: max(self.most - self.done.asked, 0)]
        self.done.left += len(pending) - len(now)
        self.total += len(now)
        if now:
            asyncio.run(self._ask(self._questions(now)))

    async def _ask(self, questions: Iterator[tuple[_Open, Asked]]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.judge.concurrency):
                    group.create_task(self._work(questions))
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None
        finally:
            await self.judge.close_async()

    async def _work(self, questions: Iterator[tuple[_Open, Asked]]) -> None:
        for pending, prompt in questions:
            self._store(pending, await self.judge.answer(prompt))
            if self.silent >= HOPELESS:
                raise AuditError(
                    f"the judge gave no answer to {HOPELESS} questions one after the other, and is asked no more; "
                    f"what came is stored. Last: {self.done.last_error or ''}"
                )
            await asyncio.sleep(0)  # an interrupt is noticed here, also where a function never waits

    def _store(self, pending: _Open, answered: Answered) -> None:
        done, label = self.done, answered.label
        error = None if label is not None else answered.error or "no answer"
        row: dict[str, Any] = dict(zip(("question_id", "variant", "attempt"), pending, strict=True))
        row |= {"judge_id": done.judge, "answer": label, "error": error, "text": answered.text}
        with writing(self.engine) as connection:
            insert_new(connection, tables.JudgeAnswer, [row | {"decided_at": tables.now()}])
        done.asked += 1
        done.errors += label is None
        done.unsure += label == UNSURE
        done.answered += label not in (None, UNSURE)
        done.last_error = error or done.last_error
        # What it wrote is an answer of the machine, if none that can be used; only silence is hopeless.
        self.silent = self.silent + 1 if label is None and answered.text is None else 0
        self.watch(done.asked, self.total)

    def _questions(self, pending: Sequence[_Open]) -> Iterator[tuple[_Open, Asked]]:
        """What is asked, read from the database one by one; ways that a question does not have are left out."""
        for open_question in pending:
            with self.engine.connect() as connection:
                shown = asked_of(connection, open_question[0])
            if (prompt := variant_of(shown, open_question[1])) is not None:
                yield open_question, prompt
            else:
                self.total -= 1


def asked_of(connection: Connection, question_id: int) -> Asked:
    """A question as a judge is asked it: what people are shown, in English."""
    shown = show(connection, question_id)
    guideline = guideline_of(shown.task, shown.kind).text.replace("{labels}", ", ".join(shown.labels))
    question, labels, group = shown.question, shown.labels, shown.group
    if group is not None:
        names: Sequence[str] = text_names([member.role for member in group.members], len(shown.texts))
        about = [("\n".join(member.input.texts), member.input.languages[0]) for member in group.members]
        question = f"{question} ({HOLDS}: yes; {BROKEN}: no)"
    else:
        words = wording_of(get_task(shown.task), "en")
        numbered = [f"Text {number}" for number in range(1, len(shown.texts) + 1)]
        names = words.texts if len(words.texts) == len(shown.texts) else numbered if len(numbered) > 1 else ["Text"]
        about = list(zip(shown.texts, shown.languages, strict=False))
        if shown.output is not None:
            names = [*names, words.output or _NAMES.get(base_of(shown.task), "Output")]
            about.append((shown.output, shown.languages[-1]))
    parts = tuple(Part(name, *text) for name, text in zip(names, about, strict=True))
    relation = f"{group.relation}: {group.summary}".rstrip(": ") if group else ""
    task = base_of(shown.task)
    return Asked(task, shown.kind, question, labels, shown.texts, parts, shown.output, relation, guideline)
