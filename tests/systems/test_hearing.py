"""What a system said, word for word: heard by whoever listens, by nobody else, and without secrets."""

import pytest
from service import Reply, serving

from audit.systems import get_system
from audit.systems.hearing import hearing
from audit.tasks import Input


def test_a_service_is_heard_before_its_labels_are_ours(tmp_path, monkeypatch):
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")
    monkeypatch.setenv("ACME_KEY", "sk-4711-secret")
    reply = Reply({"outputs": [{"label": "POS"}, {"label": "sk-4711-secret"}]})
    more = 'headers = { X-Key = "${ACME_KEY}" }\nlabels = { POS = "positive" }'
    with serving(lambda body, number: reply) as server, hearing() as heard:
        outputs = get_system(server.file(tmp_path, more)).run([Input.of("A film."), Input.of("A good film.")])
    assert outputs[0].label == "positive"
    assert heard == ["POS", "${ACME_KEY}"]


def test_a_function_is_heard_as_it_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heard_mine.py").write_text("def f(text):\n    return 'Positive', 0.5\n")
    with hearing() as heard:
        (output,) = get_system("heard_mine:f").run([Input.of("A film.")])
    assert (heard, output.label) == ([("Positive", 0.5)], "positive")
