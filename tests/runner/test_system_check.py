"""`audit check`: what a system says, how long it takes, what it costs; nothing is stored."""

import json

import pytest
from service import Reply, serving

from audit.cli import main
from audit.errors import AuditError
from audit.runner.system_check import check_system


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with two systems of a user's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checked_mine.py").write_text(
        "class Loud:\n    ready = False\n    def prepare(self): self.ready = True\n"
        "    def predict(self, texts): return ['POSITIVE' if self.ready else 'never' for _ in texts]\n"
        "def pair(pair): return 0.25\npair.tasks = ('similarity',)\n"
        "def broken(text): raise OSError('no model')\n"
        "def leaving(text):\n    import os\n    os._exit(7)\n"
    )
    return tmp_path


def test_a_service_is_shown_with_its_outputs_and_what_it_costs(here, capsys):
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")

    def answer(body, number):
        if number % 3 == 1:
            return Reply({"error": "too long"}, 413)
        return {"outputs": [{"label": "POS", "score": 0.5}]}

    with serving(answer, delay=0.05) as server:
        server.file(here, 'labels = { POS = "positive" }\nprice = { call = 0.5, currency = "EUR" }')
        command = ["check", "http:service.toml", "--text", "One.", "--text", "Two.", "--text", "Three."]
        assert main([*command, "--json"]) == 0
        assert [body["texts"] for body in server.bodies] == [["One."], ["Two."], ["Three."]]
        document = json.loads(capsys.readouterr().out)
        assert main(command) == 0
    first, second, third = document["answers"]
    assert (first["label"], first["score"]) == ("positive", 0.5)
    assert first["seconds"] >= 0.05
    assert (second["label"], second["error"]) == (None, 'Declined: HTTP 413: {"error": "too long"}')
    assert third["texts"] == ["Three."]
    assert (document["calls"], document["cost"], document["currency"]) == (3, 1.5, "EUR")
    assert (document["works"], document["version"], document["task"]) == (True, "1", "sentiment")
    shown = capsys.readouterr().out
    assert "calls: 3\ncost: 1.5\ncurrency: EUR" in shown


@pytest.mark.slow
def test_a_system_is_prepared_and_asked_about_texts_pairs_or_a_corpus(here):
    loud = check_system("checked_mine:Loud")
    assert [answer.label for answer in loud.answers] == ["positive"] * 3
    pair = check_system("checked_mine:pair", texts=["One.", "Two."], task="similarity")
    assert [(answer.texts, answer.score) for answer in pair.answers] == [(("One.", "Two."), 0.25)]
    with pytest.raises(AuditError, match="3 texts: an input of similarity has 2"):
        check_system("checked_mine:pair", texts=["One.", "Two.", "Three."])
    with pytest.raises(AuditError, match="does similarity, not sentiment"):
        check_system("checked_mine:pair", task="sentiment")
