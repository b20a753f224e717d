"""`audit run` on several corpora at once, and the options that say how a run is done."""

import json

import pytest

from audit.cli import main


@pytest.fixture
def files(tmp_path):
    sentences, documents = tmp_path / "sentences.csv", tmp_path / "documents.csv"
    sentences.write_text("text\n" + "".join(f"Film {number} was not good.\n" for number in range(6)))
    text = "It is film {0}. It's good and bad. I liked it. The end was dull. He can not act."
    documents.write_text("text\n" + "".join(f"{text.format(number)}\n" for number in range(4)))
    return str(sentences), str(documents)


def ran(capsys, *options, workers="0"):
    assert main(["run", *options, "--systems", "vader", "--workers", workers, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_each_corpus_is_a_study_with_the_relations_that_fit_it(files, tmp_path, capsys):
    sentences, documents = files
    both = ["--db", str(tmp_path / "a.db"), "--corpus", sentences, "--corpus", documents]
    found = ran(capsys, *both, "--relations", "MR1.4,MR5.1,MR5.2")
    assert [(one["sources"], one["relations"]) for one in found] == [(6, ["MR1.4"]), (4, ["MR5.1", "MR5.2"])]
    assert all(one["checks"] > 0 == one["left"] for one in found)
    again = ran(capsys, *both, "--relations", "MR1.4,MR5.1,MR5.2")
    assert [one["checks"] for one in again] == [0, 0]
    everything = ran(capsys, *both)
    assert {name[:3] for name in everything[0]["relations"]} == {"MR1", "MR2", "MR3", "MR4"}
    assert {name[:3] for name in everything[1]["relations"]} == {"MR5", "MR6", "MR7"}
    # A document share is for the documents among them.
    spread = ran(capsys, *both, "--relations", "MR1.4,MR5.1", "--document-share", "0.5")
    assert [one["relations"] for one in spread] == [["MR1.4"], ["MR1.4", "MR5.1"]]
