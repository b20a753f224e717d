"""The search for the strongest violation: what it finds, within its budget, and going on after it was stopped."""

import json
import random

import pytest
from service import serving

import audit
from audit import registry
from audit.cli import main

pytestmark = pytest.mark.usefixtures("asked_once")

NAMES = ["x", "y", "z", "long"]


@pytest.fixture(scope="module", autouse=True)
def relations():
    """Relations that add a word, one that adds six, and one that adds a letter by chance."""
    with registry.relations.restored():
        for name in "xyz":
            audit.relation(name, check=audit.equivalent, preserves="label")(word(name))
        audit.relation("long", check=audit.equivalent, preserves="label")(word("a b c d e f"))
        audit.relation("letter", check=audit.equivalent, preserves=["positive"])(letter)
        audit.relation("other", check=audit.different)(word("other"))
        yield


def word(added):
    def append(text):
        """A word is added; the label stays."""
        return f"{text} {added}"

    append.__name__ = f"append_{added.split()[0]}"
    return append


def letter(text, choices: random.Random):
    """A letter is added; the label stays."""
    return f"{text} {choices.choice('abcdefghij')}"


def flipping(*ends, scores=None):
    """Positive, unless a text has these words at its end; scores by word that was added."""

    def answer(text):
        answer.asked.append(text)
        if text.endswith(ends):
            return "negative", 0.8
        return "positive", 0.9 - sum((scores or {}).get(word, 0) for word in text.split())

    answer.asked, answer.version, answer.deterministic = [], "1", True
    return answer


def search(system, *texts, names=NAMES, **request):
    corpus = [(text, "positive") for text in texts or ["It is a film"]]
    return audit.search(
        corpus, {"flipping": system}, names, progress=False, **{"budget": 50, "store": "sqlite://", **request}
    )


def test_the_first_level_with_a_violation_ends_the_search_and_the_fewest_words_win():
    system = flipping(" z", " f")
    (found,) = search(system).found
    assert (found.outcome, found.violation.relation, found.violation.changed) == ("violation", "z", 0.2)
    assert found.violation.fall == pytest.approx(0.9 + 0.8)
    assert found.calls == 5  # the source and what four relations make of it
    assert (found.violation.allowed, found.violation.genuine) == (("positive",), True)


def test_compositions_are_tried_where_no_relation_alone_is_violated():
    system = flipping(" x y", scores={"x": 0.3})
    (found,) = search(system).found
    assert found.violation.relation == "x | y"
    assert found.violation.follow_ups[0].text == "It is a film x y"
    with audit.run(["It is a film"], {"flipping": system}, ["x|y"], store="sqlite://", progress=False) as study:
        assert "1 relation, 1 system; 0 groups satisfied" in repr(study)  # the same follow-up
    assert search(flipping(" x y", scores={"x": 0.3}), depth=1).found[0].outcome == "none"


def test_a_search_goes_on_from_what_is_stored_and_finds_the_same(tmp_path):
    texts = [f"Film {number} is good" for number in range(4)]
    system, store = flipping(" x y", scores={"x": 0.3}), tmp_path / "s.db"
    first = search(system, *texts, limit=2, store=store)
    again = search(system, *texts, store=store)
    assert len(system.asked) == len(set(system.asked))
    assert again.stored == first.executed
    undisturbed = search(flipping(" x y", scores={"x": 0.3}), *texts)
    assert again.found == undisturbed.found


def test_by_the_command_line_with_a_limit_of_requests(tmp_path, monkeypatch, capsys):
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text("text,gold\n" + "".join(f"Film {n} was fine.,positive\n" for n in range(6)))
    command = ["search", "--corpus", "films.csv", "--systems", "http:service.toml", "--relations", "x,y,MR3.1|x"]
    command += ["--budget", "6", "--db", "s.db", "--workers", "0", "--json"]
    with serving() as server:
        server.file(tmp_path, "batch = 1")
        assert main([*command, "--max-calls", "9"]) == 3
        document = json.loads(capsys.readouterr().out)
        assert len(server.bodies) == 9
        assert document["left"] > 0
        assert main([*command, "--out", "f.jsonl"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert len(server.texts) == len(set(server.texts))
        assert document["left"] == 0
    lines = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    about = {name: lines[0][name] for name in ("task", "system")}
    assert lines == [about | entry for entry in document["found"]]
    assert main([*command[:-1], "--out", "f.csv"]) == 0
    shown = capsys.readouterr().out
    assert "searched for, not drawn" in shown
    assert (tmp_path / "f.csv").read_text().startswith("row,text,gold,label,score,outcome")
    assert main([*command, "--out", "f.xlsx"]) == 2
