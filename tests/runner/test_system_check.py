"""`audit check`: what a system says, how long it takes, what it costs; nothing is stored."""

import json

import pytest
from service import Reply, serving

from audit.cli import main
from audit.errors import AuditError
from audit.runner.system_check import check_system

OWN = """
class Loud:
    ready = False
    def prepare(self): self.ready = True
    def predict(self, texts): return ['POSITIVE' if self.ready else 'never' for _ in texts]

def pair(pair): return 0.25
pair.tasks = ('similarity',)
"""


def test_a_service_is_shown_with_what_it_said_and_what_it_costs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")
    monkeypatch.chdir(tmp_path)

    def answer(body, number):
        return Reply({"error": "too long"}, 413) if number % 3 == 1 else {"outputs": [{"label": "POS", "score": 0.5}]}

    with serving(answer, delay=0.05) as server:
        server.file(tmp_path, 'labels = { POS = "positive" }\nprice = { call = 0.5, currency = "EUR" }')
        command = ["check", "http:service.toml", "--text", "One.", "--text", "Two.", "--text", "Three."]
        assert main([*command, "--json"]) == 0
        assert [body["texts"] for body in server.bodies] == [["One."], ["Two."], ["Three."]]
        document = json.loads(capsys.readouterr().out)
        assert main(command) == 0
    first, second, third = document["answers"]
    assert (first["said"], first["label"], first["score"], first["seconds"] >= 0.05) == (["POS"], "positive", 0.5, True)
    assert (second["label"], second["error"]) == (None, 'Declined: HTTP 413: {"error": "too long"}')
    assert third["texts"] == ["Three."]
    assert (document["calls"], document["cost"], document["currency"]) == (3, 1.5, "EUR")
    assert (document["works"], document["version"], document["task"]) == (True, "1", "sentiment")
    assert "calls: 3\ncost: 1.5\ncurrency: EUR" in capsys.readouterr().out


def test_a_system_is_prepared_and_asked_about_texts_or_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checked_mine.py").write_text(OWN)
    loud = check_system("checked_mine:Loud")
    assert [(answer.label, answer.said) for answer in loud.answers] == [("positive", ("POSITIVE",))] * 3
    pair = check_system("checked_mine:pair", texts=["One.", "Two."], task="similarity")
    assert [(answer.texts, answer.score) for answer in pair.answers] == [(("One.", "Two."), 0.25)]
    with pytest.raises(AuditError, match="3 texts: an input of similarity has 2"):
        check_system("checked_mine:pair", texts=["One.", "Two.", "Three."])
    with pytest.raises(AuditError, match="does similarity, not sentiment"):
        check_system("checked_mine:pair", task="sentiment")
