"""Before a run each system answers three inputs: a mistake leaves nothing behind, and nothing is asked twice."""

import pytest
from service import Reply, serving

from audit.cli import main
from audit.errors import AuditError
from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run
from audit.runner.studies import Later
from audit.store import open_store

pytest.importorskip("httpx", reason="pip install 'audit[http]'")


@pytest.fixture
def films(tmp_path, monkeypatch):
    """Twelve films in a file of the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was a good film.\n" for number in range(12)))
    return ["run", "--corpus", "films.csv", "--relations", "MR3.1", "--workers", "0", "--db", "films.db", "--systems"]


@pytest.mark.parametrize(
    ("reply", "more", "advice"),
    [
        (
            Reply({"error": "no such key"}, 401),
            'headers = { X-Key = "${ACME_KEY}" }',
            "check the environment variable ACME_KEY, which service.toml names",
        ),
        (Reply(b"<html>Welcome</html>"), "", "check the url of service.toml"),
        (Reply({"outputs": [{"label": "POS"}]}), "batch = 1", "name that label in labels of service.toml"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_leaves_no_database(
    films, tmp_path, monkeypatch, capsys, reply, more, advice
):
    monkeypatch.setenv("ACME_KEY", "sk-4711-secret")
    with serving(lambda body, number: reply) as server:
        server.file(tmp_path, more)
        assert main([*films, "vader,http:service.toml"]) == 2
        assert len(server.bodies) <= 1 + 3  # together, then alone where an answer was of no use
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("audit: system http:service.toml failed on each of the first 3 inputs with ")
    assert shown.err.count("\n") == 1
    assert advice in shown.err
    assert "4711" not in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["films.csv", "service.toml"]


def test_the_three_answers_are_outputs_of_the_run(films, tmp_path, capsys):
    with serving() as server:
        server.file(tmp_path)
        assert main([*films, "vader,http:service.toml", "--json"]) == 0
        first = server.bodies[0]["texts"]
        assert len(first) == 3
        assert len(server.texts) == len(set(server.texts)) == 24  # sources and follow-ups, each once
        assert '"executed": 48' in (shown := capsys.readouterr().out)
        assert '"stored": 0' in shown
        # The same again, and the same with a relation more, ask three stored inputs alone of these.
        assert main([*films, "vader,http:service.toml"]) == 0
        assert len(server.texts) == 24 + 3
        assert main([*films[:4], "MR3.1,MR2.1", *films[5:], "http:service.toml"]) == 0
        assert len(server.texts) == len(set(server.texts)) + 6 > 24 + 6


@pytest.mark.parametrize("workers", [InProcess, lambda: Processes(2)])
def test_a_system_of_ones_own_that_only_fails_is_refused_and_one_that_fails_at_times_is_not(
    tmp_path, monkeypatch, toy_corpus, workers
):
    monkeypatch.chdir(tmp_path)
    relations = [get_relation("sentiment", "MR3.1")]
    (tmp_path / "broken_one.py").write_text("def never(text):\n    return 'POS'\n")
    (tmp_path / "moody_one.py").write_text(
        "import hashlib\ndef at_times(text):\n    if hashlib.md5(text.encode()).digest()[0] % 2:\n"
        "        raise OSError('not now')\n    return 'positive'\n"
    )
    database = tmp_path / "x.db"
    later = Later(str(database))
    with workers() as executor:
        with pytest.raises(
            AuditError, match=r"system broken_one:never failed on each of the first 3 .* label 'POS' is"
        ):
            run(later, toy_corpus(), ["broken_one:never"], relations, executor)
        assert not database.exists()
        engine = open_store("sqlite://", create=True)
        said = []
        watcher = Watching(said)
        ran = run(engine, toy_corpus(), ["moody_one:at_times"], relations, executor, watcher=watcher)
    assert 0 < ran.counts.failed < ran.counts.executed
    assert not said or "of its first 3 inputs with 'OSError: not now'; the run goes on" in said[0]


class Watching:
    """Keeps what a run says."""

    def __init__(self, said):
        self.says = said.append

    def __getattr__(self, name):
        return lambda *values: None
