"""One unit of work for an answer: whoever is killed in the middle leaves all of it or nothing, with the queue."""

import json
import os
import shutil
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest_rows import row
from contents import content
from sqlalchemy import Engine, event

from audit.errors import Refused
from audit.exchange.doctor import CHECKS
from audit.false_satisfaction.questions import queue_difference, queue_length
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import flag, judge, undo
from audit.judging.labels import Labels, answer_with_gold, import_labels
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.settings import change_settings
from audit.judging.staleness import mark_stale
from audit.judging.words import set_words, words_of
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store

KILLED = 9
FILMS = [
    row(f"text {n}", f"TEXT {n}", ["positive", "positive"], relation="MR3.1", system=system, id=str(n), gold="positive")
    for n in range(3)
    for system in "ab"
]
"""Groups whose relation carries every answer of the source to its follow-up, which audits ask about all the same."""
ROLES = {"ann": "annotator", "bob": "annotator", "ada": "adjudicator", "mia": "manager"}


class World(NamedTuple):
    """A database with questions that drawn groups wait for, and people."""

    engine: Engine
    who: dict[str, int]

    def answer(self, name: str, label: str) -> int:
        """Somebody answers the next question; its id."""
        id = self.ask(name)
        judge(self.engine, self.who[name], id, label)
        return id

    def ask(self, name: str) -> int:
        """Somebody is given the next question; its id."""
        shown = next_question(self.engine, self.who[name])
        assert shown is not None
        return shown.id

    def both(self, first: str, second: str) -> int:
        """Two people answer the same question with these labels; its id."""
        ids = {self.answer("ann", first), self.answer("bob", second)}
        assert len(ids) == 1
        return ids.pop()


def quick(where: str) -> Engine:
    """The engine of a database whose files need not outlive the machine: no test here pulls the plug."""
    engine = open_store(where)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        engine.dispose()  # its connections are made anew
    return engine


def drawn(where: str, tmp_path: Path, films=FILMS) -> World:
    """Every group of the films drawn; all that can be audited is."""
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(film) for film in films), encoding="utf-8")
    open_store(where, create=True).dispose()
    engine = quick(where)
    import_run(engine, path)
    ask_next(engine, SampleOptions(2, follow_ups=1.0))
    return World(engine, {name: add_account(engine, name, role, "long enough").id for name, role in ROLES.items()})


# What somebody does, each a function that prepares a world and returns one call: (engine, account ids) -> anything.
Call = Callable[[Engine, dict[str, int]], object]


def first_vote(world: World) -> Call:
    id = world.ask("ann")
    return lambda engine, who: judge(engine, who["ann"], id, "positive")


def last_vote(world: World) -> Call:
    world.answer("ann", "positive")
    id = world.ask("bob")
    return lambda engine, who: judge(engine, who["bob"], id, "positive")


def undoing(world: World) -> Call:
    world.both("positive", "positive")
    return lambda engine, who: undo(engine, who["bob"])


def adjudicating(world: World) -> Call:
    id = world.both("positive", "negative")
    return lambda engine, who: adjudicate(engine, who["ada"], id, ["positive"], "", "slip")


def gold(world: World) -> Call:
    return lambda engine, who: answer_with_gold(engine)


def labels(world: World) -> Call:
    same = {"where": "line", "label": "positive"}
    entries = [same | {"annotator": name, "text": f"text {n}"} for n in range(3) for name in ("x", "y")]
    return lambda engine, who: import_labels(engine, Labels(Path("labels.csv"), entries, {}))


def stale(world: World) -> Call:
    world.both("positive", "positive")
    with world.engine.connect() as connection:
        ((task, corpus),) = words_of(connection).studies.values()
    set_words(world.engine, task, corpus, {"question": "Is it praise?"}, change=True)
    return lambda engine, who: mark_stale(engine, who["mia"], "sentiment", "input", 99, "another guideline")


def drawing_more(world: World) -> Call:
    world.both("positive", "positive")
    return lambda engine, who: ask_next(engine, SampleOptions(3, follow_ups=1.0))


def flagging(world: World) -> Call:
    id = world.ask("ann")
    return lambda engine, who: flag(engine, who["ann"], id, "odd")


WRITERS = [first_vote, last_vote, undoing, adjudicating, gold, labels, stale, drawing_more, flagging]


def killed_after(where: str, call: Call, who: dict[str, int], moment: int) -> bool:
    """Do this in a process that is gone for good after so many statements, or right before its commit; whether it was
    gone before the call had come to its end."""
    child = os.fork()
    if not child:
        try:
            engine, passed = quick(where), [0]

            def one_more(*_):
                passed[0] += 1
                if passed[0] == moment:
                    os._exit(KILLED)

            event.listen(engine, "after_cursor_execute", one_more)
            event.listen(engine, "commit", one_more)
            call(engine, who)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:  # nothing of the test's own may go on in here
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, KILLED)
    return ended == KILLED


def sound(engine: Engine) -> dict[str, str]:
    """What the doctor finds fault with."""
    with engine.connect() as connection:
        return {name: "; ".join(faults) for name, (look, _) in CHECKS.items() if (faults := look(connection))}


def drain(world: World, *names: str) -> None:
    """These people answer what there is for them."""
    for name in names:
        while (shown := next_question(world.engine, world.who[name])) is not None:
            judge(world.engine, world.who[name], shown.id, shown.labels[0])


@pytest.mark.parametrize(
    "prepare",
    [WRITERS[0], *(pytest.param(prepare, marks=pytest.mark.slow) for prepare in WRITERS[1:])],
    ids=lambda function: function.__name__,
)
def test_who_is_killed_leaves_all_or_nothing(where, tmp_path, prepare):
    world = drawn(where, tmp_path)
    call = prepare(world)
    before = content(world.engine)
    assert sound(world.engine) == {}
    moment = 1
    world.engine.dispose()  # a child does not use what its parent has open
    if "://" not in where:  # statements that were compiled once are so for every child
        shutil.copy(where, rehearsed := str(tmp_path / "rehearsed.db"))
        call(quick(rehearsed), world.who)
    while killed_after(where, call, world.who, moment):
        assert content(world.engine) == before, f"killed after statement {moment}"
        moment += 1
    assert moment > 3
    after = content(world.engine)
    assert after != before
    assert sound(world.engine) == {}
    # What follows is right, too: people are asked until nothing is left, and the doctor finds nothing on the way.
    change_settings(world.engine, None, {"pass_mark": 0.0})
    drain(world, "ann", "bob", "ann")
    assert sound(world.engine) == {}


@pytest.mark.slow
def test_people_who_judge_at_once_leave_the_queue_that_their_answers_want(where, tmp_path):
    """Groups of a relation that carries nothing share follow-ups, so every answer touches others' questions."""
    films = [
        row(f"text {n}", [f"same {n % 3}", f"other {n % 2}"], ["positive"] * 3, relation="X", system=system, id=str(n))
        for n in range(12)
        for system in "ab"
    ]
    world = drawn(where, tmp_path, films)
    ask_next(world.engine, SampleOptions(12, follow_ups=1.0))
    names = {f"p{n}": add_account(world.engine, f"p{n}", "annotator", None).id for n in range(6)}
    failed: list[Exception] = []

    def work(account: int) -> None:
        number = 0
        try:
            while (shown := next_question(world.engine, account)) is not None:
                judge(world.engine, account, shown.id, shown.labels[0])
                number += 1
                if number % 5 == 0:
                    undo(world.engine, account)
        except Refused:
            pass  # undone ten times, or seen by somebody: nothing that two at once could do wrong
        except Exception as problem:  # a deadlock above all; told by the assertion below
            failed.append(problem)

    threads = [threading.Thread(target=work, args=(id,)) for id in names.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with world.engine.connect() as connection:
        assert queue_difference(connection) == type(queue_difference(connection))()
    drain(world, "ann", "bob", "ann")
    assert queue_length(world.engine) == (0, 0)
    assert sound(world.engine) == {}
