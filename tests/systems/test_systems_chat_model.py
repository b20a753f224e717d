"""A real language model, made here, behind a chat endpoint on this machine: its labels and probabilities arrive, and so
does what it babbles."""

import pytest

pytest.importorskip("transformers", reason="pip install 'audit[transformers]'")
pytest.importorskip("httpx", reason="pip install 'audit[http]'")

from chatting import chat_file
from service import serving
from sqlalchemy import select
from tiny_chat import TinyChat, probabilities

from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import open_store, table_of, tables
from audit.systems import get_system
from audit.tasks import Input, get_task

MOODS = {
    "the film is good": "positive",
    "the film is bad": "negative",
    "a lovely book": "positive",
    "a dull book": "negative",
    "it rains today": "neutral",
    "the man is": "very very",
}
MORE = 'structured = "text"\nlogprobs = true\nmax_tokens = 8\n'


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    return TinyChat(tmp_path_factory.mktemp("chat"), MOODS)


@pytest.mark.slow
def test_its_labels_and_probabilities_arrive(chat, tmp_path):
    with serving(chat.answer) as server:
        system = get_system(chat_file(server, tmp_path, MORE))
        outputs = system.run([Input.of(text) for text in MOODS])
        again = system.run([Input.of(text) for text in reversed(MOODS)])
    assert outputs == again[::-1]
    for (text, answer), output in zip(MOODS.items(), outputs, strict=True):
        if answer in get_task("sentiment").labels:
            assert output.label == answer
            assert output.score == pytest.approx(probabilities(chat, text)(answer), abs=1e-4)
            assert output.score > 0.9
        else:
            assert output.error.startswith("the answer is none of positive, neutral, negative")
            assert output.text == "very very"


@pytest.mark.slow
def test_a_run_with_it(chat, tmp_path):
    """What it babbles about texts that it does not know is stored beside errors, and is no output."""
    from small_corpus import SmallCorpus

    texts = [*MOODS, "people walk in rome and paris", "who eats the bread?"]
    corpus = SmallCorpus("moods", texts, [None] * len(texts), first=1)
    engine = open_store("sqlite://", create=True)
    with serving(chat.answer) as server, InProcess() as executor:
        spec = chat_file(server, tmp_path, MORE)
        ran = run(engine, corpus, [spec], [get_relation("sentiment", "MR3.1")], executor)
        asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(asked) == len(set(asked))  # nothing is paid for twice
    output, input_table = table_of(tables.Output), table_of(tables.Input)
    query = select(input_table.c.texts, output).join(output, output.c.input_id == input_table.c.id)
    with engine.connect() as connection:
        rows = {row.texts[0]: row for row in connection.execute(query)}
    assert set(rows) == set(asked)
    assert rows["a dull book"].label == "negative"
    assert (rows["the man is"].text, rows["the man is"].label) == ("very very", None)
    failed = [row for row in rows.values() if row.error]
    assert ran.counts.failed == len(failed)
    assert all(row.text is not None and row.label is None for row in failed)
    assert all(row.text is None for row in rows.values() if not row.error)
