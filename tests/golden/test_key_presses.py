"""Any keys in any order, on a database by the functions that the app calls, and on a model of plain Python that says
what is stored, what counts, and who is asked what next. The database is opened anew now and then: nothing may be gone.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from question_world import add_people, asked, rows

from audit.errors import Refused
from audit.judging.adjudications import adjudicate, disputes, flagged_ids, send_back
from audit.judging.control_questions import KnownText, add_known
from audit.judging.judgements import UNDOS, flag, judge, skip, undo
from audit.judging.queue import next_question, queue_of
from audit.judging.settings import change_settings
from audit.judging.staleness import mark_stale
from audit.judging.words import set_words
from audit.store import open_store, tables
from audit.tasks import Input

QUESTIONS, WANTED = range(1, 6), 2
"""Numbers of the questions, in the order in which they are asked; each wants two people."""
CONTROL = range(6, 9)
"""Questions whose answer is known: they come between the others, and never count."""
PEOPLE = ("ann", "bob", "cy")
LABELS = ("positive", "negative", "unsure")  # people choose among few, so that they agree
HISTORY = {"judgement": tables.Judgement, "aside": tables.Aside, "adjudication": tables.Adjudication}


@dataclass
class Given:
    who: str
    question: int
    label: str
    counts: bool = True


@dataclass
class Model:
    """What people did, and what follows from it."""

    given: list[Given] = field(default_factory=list)
    screen: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in PEOPLE})
    flags: set[tuple[str, int]] = field(default_factory=set)
    allowed: dict[int, str] = field(default_factory=dict)  # what an adjudicator decided
    undone: Counter[str] = field(default_factory=Counter)  # withdrawn in a row
    rows: Counter[str] = field(default_factory=Counter)  # of each table of the history: no row ever goes

    def counted(self, who: str) -> list[Given]:
        return [one for one in self.given if one.counts and one.who == who]

    def votes(self, question: int) -> list[str]:
        return [one.label for one in self.given if one.counts and one.question == question in QUESTIONS]

    def answers(self) -> dict[tuple[int, str], str]:
        settled = {(question, "adjudicated"): label for question, label in self.allowed.items()}
        for question in QUESTIONS:
            votes = self.votes(question)
            if len(votes) >= WANTED and len(set(votes)) == 1 and votes[0] != "unsure":
                settled[question, "people"] = votes[0]
        return settled

    def disputed(self) -> set[int]:
        settled = {question for question, _ in self.answers()}
        return {question for question in QUESTIONS if len(self.votes(question)) >= WANTED} - settled

    def is_open(self, who: str, question: int) -> bool:
        """Whether somebody may still answer a question, now or when others have left it."""
        answered = any(one.question == question for one in self.counted(who))
        done = question in self.allowed or len(self.votes(question)) >= WANTED
        return question in QUESTIONS and not done and not answered and (who, question) not in self.flags

    def next(self, who: str) -> tuple[int | None, bool]:
        """The question that comes next, and whether a control question may come in its place."""
        held = self.screen.get(who)
        if held in CONTROL or (held is not None and self.is_open(who, held)):
            return held, False
        looking = Counter(question for other, question in self.screen.items() if other != who)
        free = [
            question
            for question in QUESTIONS
            if self.is_open(who, question) and len(self.votes(question)) + looking[question] < WANTED
        ]
        later = [question for question in self.skipped[who] if question in free]
        first = [question for question in free if question not in later]
        return (first[0], True) if first else (later[0], False) if later else (None, False)


class KeyPresses(RuleBasedStateMachine):
    fresh: Callable[[], Path]

    def __init__(self) -> None:
        super().__init__()
        self.path = self.fresh()
        self.engine = open_store(str(self.path))
        self.ids = {row["name"]: row["id"] for row in rows(self.engine, tables.Annotator)}
        self.model = Model()

    def teardown(self) -> None:
        self.engine.dispose()

    @rule(who=st.sampled_from(PEOPLE))
    def look(self, who: str) -> None:
        expected, may_hide = self.model.next(who)
        shown = next_question(self.engine, self.ids[who])
        number = None if shown is None else shown.id
        if may_hide and number in CONTROL:
            had = [one.question for one in self.model.given if one.who == who]
            assert number not in [*had, *self.model.skipped[who]]
        else:
            assert number == expected
        self.model.screen.pop(who, None)
        if number is not None:
            self.model.screen[who] = number

    @rule(who=st.sampled_from(PEOPLE), labels=st.lists(st.sampled_from(LABELS), min_size=1, max_size=4))
    def answer(self, who: str, labels: list[str]) -> None:
        for label in labels:
            if who not in self.model.screen:
                self.look(who)
            if (question := self.model.screen.pop(who, None)) is None:
                return
            id = judge(self.engine, self.ids[who], question, label, comment="Because.")
            self.model.given.append(Given(who, question, label))
            self.model.rows["judgement"] += 1
            self.model.undone[who] = 0
            assert id == self.model.rows["judgement"]
            with pytest.raises(Refused):  # the same key twice: the second press does nothing
                judge(self.engine, self.ids[who], question, label)
            assert id == judge(self.engine, self.ids[who], question, label, comment="Because.", repeatable=True)

    @precondition(lambda self: self.model.screen)
    @rule(data=st.data(), for_help=st.booleans())
    def put_aside(self, data: st.DataObject, for_help: bool) -> None:
        who, question = self._at_work(data)
        if for_help:
            flag(self.engine, self.ids[who], question, "Which one?")
            self.model.flags.add((who, question))
        else:
            skip(self.engine, self.ids[who], question)
        # A control question that was put aside in either way never comes again.
        if not for_help or question in CONTROL:
            later = [other for other in self.model.skipped[who] if other != question]
            self.model.skipped[who] = [*later, question]
        self.model.screen.pop(who)
        self.model.rows["aside"] += 1

    @precondition(lambda self: self.model.given)
    @rule(who=st.sampled_from(PEOPLE))
    def take_back(self, who: str) -> None:
        last = next(reversed(self.model.counted(who)), None)
        if last is not None and (
            self.model.undone[who] == UNDOS or (last.question in QUESTIONS and last.question in self.model.allowed)
        ):
            with pytest.raises(Refused):
                undo(self.engine, self.ids[who])
            return
        assert undo(self.engine, self.ids[who]) == (None if last is None else last.question)
        self.model.screen.pop(who, None)
        if last is not None:
            last.counts = False
            self.model.screen[who] = last.question
            self.model.undone[who] += 1
            self.model.rows["judgement"] += 1

    @precondition(lambda self: self.model.disputed() or self.model.flags)
    @rule(data=st.data(), label=st.sampled_from(LABELS[:2]))
    def decide(self, data: st.DataObject, label: str) -> None:
        waiting = self.model.disputed() | {question for _, question in self.model.flags}
        question = data.draw(st.sampled_from(sorted(waiting)))
        adjudicate(self.engine, self.ids["ada"], question, [label], "So it is.")
        self.model.allowed[question] = label
        self.model.flags = {one for one in self.model.flags if one[1] != question}
        self.model.rows["adjudication"] += 1

    @precondition(lambda self: self.model.flags)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        question = data.draw(st.sampled_from(sorted(question for _, question in self.model.flags)))
        send_back(self.engine, self.ids["ada"], question, "Decide yourself.")
        self.model.flags = {one for one in self.model.flags if one[1] != question}
        self.model.rows["aside"] += 1

    @precondition(lambda self: len(self.model.given) > 5)
    @rule()
    def let_go_stale(self) -> None:
        stale = [one for one in self.model.given if one.counts and one.question in QUESTIONS]
        words = {"question": f"What is it, after {sum(self.model.rows.values())} rows?"}
        set_words(self.engine, "sentiment", "toy", words, change=True)
        with nullcontext() if stale or self.model.allowed else pytest.raises(Refused):
            mark_stale(self.engine, self.ids["mia"], "sentiment", "input", 99, "Another guideline.")
        for one in stale:
            one.counts = False
        self.model.rows["judgement"] += len(stale)
        self.model.rows["adjudication"] += len(self.model.allowed)
        self.model.allowed = {}

    @precondition(lambda self: len(self.model.given) > 2)
    @rule()
    def restart(self) -> None:
        self.engine.dispose()
        self.engine = open_store(str(self.path))

    @invariant()
    def what_is_stored_is_what_was_done(self) -> None:
        stored = {name: rows(self.engine, model) for name, model in HISTORY.items()}
        assert Counter({name: len(of_table) for name, of_table in stored.items()}) == self.model.rows
        superseded = {row["supersedes"] for row in stored["judgement"]}
        counted = {
            (row["annotator_id"], row["question_id"], row["answer"])
            for row in stored["judgement"]
            if row["answer"] != "withdrawn" and row["id"] not in superseded
        }
        assert counted == {(self.ids[one.who], one.question, one.label) for one in self.model.given if one.counts}
        passes = {(row["question_id"] in CONTROL, row["round"]) for row in stored["judgement"]}
        assert passes <= {(False, 1), (True, 3)}
        answers = {(row["question_id"], row["origin"]): row["allowed"] for row in rows(self.engine, tables.Answer)}
        assert answers == {key: [label] for key, label in self.model.answers().items()}

    @invariant()
    def everybody_sees_what_waits_for_them(self) -> None:
        assert set(disputes(self.engine, self.ids["ada"])) == self.model.disputed()
        assert set(flagged_ids(self.engine, self.ids["ada"])) == {question for _, question in self.model.flags}
        for who in PEOPLE:
            queue = queue_of(self.engine, self.ids[who])
            still = sum(self.model.is_open(who, question) for question in QUESTIONS)
            assert (queue.mine, queue.left_for_me) == (len(self.model.counted(who)), still)

    def _at_work(self, data: st.DataObject) -> tuple[str, int]:
        return data.draw(st.sampled_from(sorted(self.model.screen.items())))


@pytest.fixture
def fresh(tmp_path, monkeypatch) -> Callable[[], Path]:
    """Makes a copy of a database with the questions, the people and the control questions."""
    start, moments = datetime(2026, 3, 2, 9, tzinfo=UTC), iter(range(10**9))
    # Every moment is another one, and none is on the next day, when what was skipped comes again.
    monkeypatch.setattr(tables, "now", lambda: start + timedelta(microseconds=next(moments)))
    engine = asked(tmp_path / "audit.db", [f"Film {number} was fine." for number in QUESTIONS])
    add_people(engine, dict.fromkeys(PEOPLE, "annotator") | {"ada": "adjudicator", "mia": "manager"})
    add_known(engine, "gold", [KnownText(Input.of(f"Book {number} is dull."), ("negative",)) for number in CONTROL])
    change_settings(engine, None, {"gold_share": 0.3})
    engine.dispose()

    def copy() -> Path:
        return Path(shutil.copy(tmp_path / "audit.db", Path(tempfile.mkdtemp(dir=tmp_path)) / "audit.db"))

    return copy


@pytest.mark.parametrize(("examples", "steps"), [(20, 20), pytest.param(40, 30, marks=pytest.mark.slow)])
def test_keys_in_any_order(fresh, examples, steps):
    machine = type("Pressed", (KeyPresses,), {"fresh": staticmethod(fresh)})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=steps))
