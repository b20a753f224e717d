"""Asking the same input several times: each call is made once, kept, and shared by whatever is made of the calls."""

import pytest
from interrupting import Interrupting
from service import serving
from sqlalchemy import select

from audit.errors import AuditError
from audit.relations import get_relation
from audit.relations.registry import configured
from audit.reports.study import study_report
from audit.runner.executors import InProcess, Processes
from audit.runner.repeats import Repeats
from audit.runner.run import AllFailed, run
from audit.store import open_store, table_of, tables
from audit.tasks import Output
from audit.tasks.repeated import majority

pytestmark = pytest.mark.usefixtures("asked_once")

MOODY = '''
import fcntl

LABELS = ("positive", "neutral", "negative")


def asked(system, text):
    """Log a call; which call on this text it is, from 0, whatever process makes it."""
    with open({log!r}, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = sum(line == system + "\\t" + text + "\\n" for line in file)
        file.write(system + "\\t" + text + "\\n")
    return number


def moody(text):
    return LABELS[asked("moody", text) % 3], 0.5


def steady(text):
    asked("steady", text)
    return ("positive" if len(text) % 2 else "negative"), 0.75


def second_thoughts(text):
    return ("neutral" if asked("second_thoughts", text) == 0 else "negative"), 0.5


def fragile(text):
    number = asked("fragile", text)
    if number == 1:
        raise RuntimeError("busy")
    return "positive", 0.5


def out_of_order(text):
    if asked("out_of_order", text) < 2:
        raise RuntimeError("out of order")
    return "positive", 0.5


class Sure:
    name, tasks, deterministic = "sure", ("sentiment",), True

    def predict(self, texts):
        return ["positive" for text in texts if asked("sure", text) >= 0]
'''


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks, of a few batches each."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    monkeypatch.setattr("audit.runner.repeats.SHARE", 20)
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.chunk.{name}", 10)


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


@pytest.fixture
def moody(own, tmp_path):
    """Adds systems that answer by how often they were asked; `moody("steady")` are specs, `moody.asked(...)` counts."""
    log = tmp_path / "asked.log"
    log.write_text("")
    module = f"moods_{own.module}"
    (tmp_path / f"{module}.py").write_text(MOODY.format(log=str(log)), encoding="utf-8")

    class Moody:
        def __call__(self, *names):
            return [f"{module}:{name}" for name in names]

        def asked(self, name):
            texts = [line.split("\t")[1] for line in log.read_text().splitlines() if line.split("\t")[0] == name]
            return [texts.count(text) for text in dict.fromkeys(texts)]

    return Moody()


def rows(engine, model):
    table = table_of(model)
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(table)).mappings()]


def outputs(engine):
    """What counts: (settings of the system, input) -> label or error."""
    settings = {row["id"]: row["settings"] for row in rows(engine, tables.System)}
    return {(settings[row["system_id"]], row["input_id"]): row["label"] for row in rows(engine, tables.Output)}


def calls(engine):
    """Input -> labels by the number of the call."""
    by_input = {}
    for row in sorted(rows(engine, tables.Repeat), key=lambda row: (row["input_id"], row["number"])):
        by_input.setdefault(row["input_id"], []).append(row["label"] or "ERROR")
    return by_input


def test_each_input_is_asked_as_often_as_asked_for_and_the_first_call_counts(moody, toy_corpus, toy_relations, engine):
    ran = run(engine, toy_corpus(), moody("moody"), toy_relations[:2], InProcess(), repeats=Repeats(3))
    asked = moody.asked("moody")
    assert set(asked) == {3}
    assert (ran.counts.executed, ran.counts.repeated) == (3 * len(asked), 2 * len(asked))
    assert "asked again" in " ".join(ran.lines())
    assert set(map(tuple, calls(engine).values())) == {("positive", "neutral", "negative")}
    assert set(outputs(engine)) == {("{}", input) for input in calls(engine)}
    assert set(outputs(engine).values()) == {"positive"}

    again = run(engine, toy_corpus(), moody("moody"), toy_relations[:2], InProcess(), repeats=Repeats(3))
    assert (again.counts.executed, moody.asked("moody")) == (0, asked)
    more = run(engine, toy_corpus(), moody("moody"), toy_relations[:2], InProcess(), repeats=Repeats(5))
    assert more.counts.executed == more.counts.repeated == 2 * len(asked)
    assert set(map(len, calls(engine).values())) == {5}


def test_a_run_without_repeats_keeps_none_and_its_answers_are_first_calls(moody, toy_corpus, toy_relations, engine):
    once = run(engine, toy_corpus(), moody("moody"), toy_relations[:1], InProcess())
    assert (rows(engine, tables.Repeat), once.counts.repeated) == ([], 0)
    before = outputs(engine)
    more = run(engine, toy_corpus(), moody("moody"), toy_relations[:1], InProcess(), repeats=Repeats(2))
    assert more.counts.executed == once.counts.executed  # one more of each
    assert outputs(engine) == before
    assert {made[0] for made in calls(engine).values()} == {"positive"}


def test_the_majority_is_a_system_of_its_own_made_of_the_same_calls(moody, toy_corpus, toy_relations, engine):
    corpus, spec = toy_corpus(), moody("second_thoughts")
    run(engine, corpus, spec, toy_relations, InProcess(), repeats=Repeats(3))
    asked = moody.asked("second_thoughts")
    most = run(engine, corpus, spec, toy_relations[:2], InProcess(), repeats=Repeats(3, "majority"))
    assert (most.counts.executed, moody.asked("second_thoughts")) == (0, asked)
    settings = {settings for settings, _ in outputs(engine)}
    assert settings == {"{}", '{"repeats":3,"take":"majority"}'}
    assert {label for (system, _), label in outputs(engine).items() if system == "{}"} == {"neutral"}
    assert {label for (system, _), label in outputs(engine).items() if system != "{}"} == {"negative"}
    again = run(engine, corpus, spec, toy_relations[:2], InProcess(), repeats=Repeats(3, "majority"))
    assert (again.counts.executed, again.counts.checks) == (0, 0)


def test_a_majority_made_first_leaves_first_calls_for_later(moody, toy_corpus, toy_relations, engine):
    corpus, spec = toy_corpus(), moody("second_thoughts")
    # T3 looks at what counts on the way: a follow-up that says what the majority said.
    run(engine, corpus, spec, toy_relations, InProcess(), repeats=Repeats(3, "majority"))
    assert set(moody.asked("second_thoughts")) == {3}
    asked = len(moody.asked("second_thoughts"))
    texts = [row["texts"][0] for row in rows(engine, tables.Input)]
    assert any(text.endswith("negative negative") for text in texts)
    first = run(engine, corpus, spec, toy_relations[:2], InProcess())
    assert (first.counts.executed, len(moody.asked("second_thoughts"))) == (0, asked)
    assert {label for (system, _), label in outputs(engine).items() if system == "{}"} == {"neutral"}
    assert run(engine, corpus, spec, toy_relations[:2], InProcess(), repeats=Repeats(3)).counts.executed == 0


@pytest.mark.parametrize("take", ["first", "majority"])
@pytest.mark.parametrize("batches", [1, 4, 7, 12])
def test_a_run_that_is_broken_off_asks_nothing_twice(moody, toy_corpus, toy_relations, tmp_path, take, batches):
    made = []
    for name, breaks in (("whole", False), ("broken", True)):
        engine = open_store(f"sqlite:///{tmp_path / name}.db", create=True)
        repeats, spec = Repeats(3, take), moody("steady")
        if breaks:
            asked = sum(moody.asked("steady"))
            with pytest.raises(KeyboardInterrupt):
                run(engine, toy_corpus(), spec, toy_relations, Interrupting(batches), repeats=repeats)
            run(engine, toy_corpus(), spec, toy_relations, InProcess(), repeats=repeats)
            assert sum(moody.asked("steady")) == 2 * asked  # the undisturbed run's, and as many
        else:
            run(engine, toy_corpus(), spec, toy_relations, InProcess(), repeats=repeats)
        texts = {row["id"]: row["texts"][0] for row in rows(engine, tables.Input)}
        made.append(
            [
                sorted((texts[row["input_id"]], row[key], row["label"], row["score"]) for row in rows(engine, model))
                for model, key in ((tables.Repeat, "number"), (tables.Output, "attempt"))
            ]
        )
        engine.dispose()
    assert made[0] == made[1]


@pytest.mark.slow
def test_processes_make_the_same(moody, toy_corpus, tmp_path):
    relations = [configured(get_relation("sentiment", "MR1.4"), {"strict": False})]
    for take in ("first", "majority"):
        engine = open_store(f"sqlite:///{tmp_path / take}.db", create=True)
        with Processes(2) as executor:
            run(engine, toy_corpus(), moody("steady"), relations, executor, repeats=Repeats(3, take))
        assert len(calls(engine)) > 28
        assert set(map(len, calls(engine).values())) == {3}
        assert all(len(set(labels)) == 1 for labels in calls(engine).values())
        engine.dispose()
    assert set(moody.asked("steady")) == {6}


def test_calls_that_fail_are_kept_and_made_again_only_where_that_is_asked_for(moody, toy_corpus, toy_relations, engine):
    ran = run(engine, toy_corpus(), moody("fragile"), toy_relations[:1], InProcess(), repeats=Repeats(3))
    inputs = len(calls(engine))
    # A call of several texts that fails is made again, text by text: the second time each is asked is lost in that.
    failed = sum(labels.count("ERROR") for labels in calls(engine).values())
    assert ran.counts.failed == failed
    assert set(outputs(engine).values()) == {"positive"}
    assert (
        run(engine, toy_corpus(), moody("fragile"), toy_relations[:1], InProcess(), repeats=Repeats(3)).counts.executed
        == 0
    )
    again = run(
        engine, toy_corpus(), moody("fragile"), toy_relations[:1], InProcess(), repeats=Repeats(3), retry_errors=True
    )
    assert again.counts.executed == failed
    after = calls(engine)
    assert len(after) == inputs
    assert all(sum(label != "ERROR" for label in labels) == 3 for labels in after.values())
    assert sum(labels.count("ERROR") for labels in after.values()) == failed  # they stay


@pytest.mark.parametrize("take", ["first", "majority"])
def test_a_first_call_that_failed_is_made_again_where_that_is_asked_for(moody, toy_corpus, toy_relations, engine, take):
    """Every input fails at first: alone in its batch it is asked once, with others twice."""
    spec, repeats = moody("out_of_order"), Repeats(2, take)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audit.runner.executors.batch.CALL", {"sentence": 1})
        patch.setattr("audit.runner.coordinator.CALL", {"sentence": 1})
        patch.setattr("audit.runner.preflight.FIRST", 0)  # which would refuse it
        with pytest.raises(AllFailed):
            run(engine, toy_corpus(), spec, toy_relations[:1], InProcess(), repeats=Repeats(1))
    assert set(outputs(engine).values()) == {None}
    asked = sum(moody.asked("out_of_order"))
    run(engine, toy_corpus(), spec, toy_relations[:1], InProcess(), repeats=repeats, retry_errors=True)
    again = run(engine, toy_corpus(), spec, toy_relations[:1], InProcess(), repeats=repeats, retry_errors=True)
    assert sum(moody.asked("out_of_order")) > asked
    made = calls(engine)
    assert all(sum(label != "ERROR" for label in labels) == 2 for labels in made.values())
    settings = "{}" if take == "first" else '{"repeats":2,"take":"majority"}'
    last = {row["input_id"]: row for row in sorted(rows(engine, tables.Output), key=lambda row: row["attempt"])}
    assert {label for (system, _), label in outputs(engine).items() if system == settings} == {"positive"}
    assert again.counts.failed == 0
    assert len(last) == len(made)
    once_more = run(engine, toy_corpus(), spec, toy_relations[:1], InProcess(), repeats=repeats, retry_errors=True)
    assert once_more.counts.executed == 0


def test_on_postgres(moody, toy_corpus, toy_relations, postgres_url):
    engine = open_store(postgres_url, create=True)
    for take in ("first", "majority"):
        run(engine, toy_corpus(), moody("moody"), toy_relations, InProcess(), repeats=Repeats(3, take))
    ran = run(engine, toy_corpus(), moody("moody"), toy_relations, InProcess(), repeats=Repeats(4), retry_errors=True)
    assert ran.counts.repeated > 0
    assert set(map(len, calls(engine).values())) <= {3, 4}
    assert study_report(engine)["repeats"][0]["systems"][0]["share"] == 1
    engine.dispose()


def test_a_system_that_says_it_is_deterministic_is_asked_once(moody, toy_corpus, toy_relations, engine):
    for take in ("first", "majority"):
        run(engine, toy_corpus(), moody("Sure"), toy_relations[:1], InProcess(), repeats=Repeats(3, take))
        assert set(moody.asked("sure")) == {1}
    assert rows(engine, tables.Repeat) == []
    assert len(rows(engine, tables.System)) == 1


@pytest.mark.parametrize("take", ["first", "majority"])
def test_a_service_gets_each_repeat_in_a_request_of_its_own(toy_corpus, toy_relations, engine, tmp_path, take):
    """Services keep no promise for the same text twice in one request; many requests are under way at once."""
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")

    def answer(body, number):
        # Threads answer side by side: which call it is on a text is counted under the server's lock.
        with server.lock:
            calls = [asked.setdefault(text, []).append(number) or len(asked[text]) for text in body["texts"]]
        return {"outputs": [{"label": "neutral" if call == 2 else "positive", "score": 0.5} for call in calls]}

    asked = {}
    with serving(answer) as server, InProcess() as executor:
        spec = server.file(tmp_path, "batch = 3\nconcurrency = 4")
        ran = run(engine, toy_corpus(), [spec], toy_relations, executor, repeats=Repeats(3, take))
        assert ran.counts.failed == 0
        assert all(len(body["texts"]) == len(set(body["texts"])) for body in server.bodies)
        assert set(map(len, asked.values())) == {3}
        before = len(server.bodies)
        assert run(engine, toy_corpus(), [spec], toy_relations, executor, repeats=Repeats(3, take)).counts.executed == 0
        assert len(server.bodies) == before
    assert {tuple(sorted(labels)) for labels in calls(engine).values()} == {("neutral", "positive", "positive")}
    if take == "majority":
        assert set(outputs(engine).values()) == {"positive"}


@pytest.mark.parametrize(
    ("number", "take", "parameter"),
    [(0, "first", "repeats"), (1001, "first", "repeats"), (3, "last", "take"), (1, "majority", "repeats")],
)
def test_what_cannot_be_is_refused_before_anything_is_stored(moody, toy_corpus, toy_relations, number, take, parameter):
    opened = []
    with pytest.raises(AuditError) as refused:
        run(opened.append, toy_corpus(), moody("steady"), toy_relations, InProcess(), repeats=Repeats(number, take))
    assert parameter in refused.value.parameters
    assert opened == []


def test_majorities_of_texts_scores_and_errors():
    assert majority("question-answering", [Output(text=text) for text in ("Rome", "The Paris", "paris.")]) == Output(
        text="The Paris"
    )
    assert majority("translation", [Output(text="a  b"), Output(text="c"), Output(text="a b")]).text == "a  b"
    assert majority("translation", [Output(text="a"), Output(text="b")]).text == "a"
    assert majority("similarity", [Output("weak", score) for score in (0.9, 0.1, 0.3, 0.2)]).score == 0.2
    assert majority("sentiment", [Output(error="one"), Output(error="two")]).error == "one"
    assert majority("sentiment", [Output("neutral", 0.1), *[Output("positive", 0.7)] * 3]).score == 0.7
