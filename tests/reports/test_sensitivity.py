"""What a report would say if gold had the label that it lacks, against the same counted by hand."""

import pandas as pd
import pytest

from audit.annotation.gold import answer_with_gold
from audit.corpora import get_corpus
from audit.false_satisfaction import settling
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.questions import refresh
from audit.relations import get_relation
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.reports.words import notes_of, sensitivity_text
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import Size, draw_all
from audit.store import open_store
from audit.ui.language import sentence_in

SYSTEM = """
def says(text):
    return text.split()[0].lower()

def never(text):
    return "positive"
"""


def texts(path, gold):
    """Ten texts whose first word is what the first system says: 4 of them neutral, of the others 2 wrong."""
    said = ["neutral"] * 4 + ["positive"] * 4 + ["negative"] * 2
    frame = pd.DataFrame({"text": [f"{word} film number {at}." for at, word in enumerate(said)], "gold": gold})
    frame.to_csv(path, index=False)


@pytest.fixture
def report(tmp_path, monkeypatch):
    def made(gold):
        (tmp_path / "mine_says.py").write_text(SYSTEM, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        texts(tmp_path / "films.csv", gold)
        engine = open_store(str(tmp_path / "a.db"), create=True)
        corpus, relation = get_corpus(str(tmp_path / "films.csv")), get_relation("sentiment", "MR3.1")
        with InProcess() as executor:
            run(engine, corpus, ["mine_says:says", "mine_says:never"], [relation], executor)
        draw_all(engine, Size(share=1.0))
        refresh(engine)
        answer_with_gold(engine)
        return engine, study_report(engine, "gold")

    return made


TWO = ["positive"] * 6 + ["negative"] * 4


def test_outputs_that_gold_never_says(report):
    # `says` is wrong on 4 neutral ones and on 2 that it calls positive; `never` on the 4 negative ones.
    engine, found = report(TWO)
    entry = found["sensitivity"]
    assert (entry["labels"], entry["share"]) == (["neutral"], pytest.approx(4 / 10))
    assert entry["fs_rate"] == pytest.approx(10 / 20) == found["overall"]["fs_rate"]
    assert entry["fs_rate_right"] == pytest.approx(6 / 20)
    assert entry["fs_rate_left_out"] == pytest.approx(6 / 16)
    rates = {one["system"].split(":")[-1]: [one["fs_rate"], one["fs_rate_right"]] for one in entry["systems"]}
    assert rates == {"says": pytest.approx([0.6, 0.2]), "never": pytest.approx([0.4, 0.4])}
    # `says` would be best, with .8 instead of .4.
    assert (entry["best_changes_estimated"], entry["best_changes_estimated_right"]) == (0, 0)
    assert found["relations"][0]["best_genuine"] == ["mine_says:never"]
    assert count(engine, "gold").cells["false"].sum() == 10  # nothing was changed


def test_every_form_says_it_in_both_languages(report):
    _, found = report(TWO)
    (note,) = [one for one in notes_of(found) if "gold never says" in one]
    assert note == sensitivity_text(found["sensitivity"])
    assert "40.0\N{NO-BREAK SPACE}% of the false satisfactions have an output that gold never says (neutral)" in note
    assert "gold never says (neutral)" in " ".join(to_terminal(found).split())
    assert "算作正确" in sentence_in("zh", note)


def test_gold_that_says_every_label_needs_no_such_line(report):
    _, found = report(["neutral"] * 2 + TWO[2:])
    assert found["sensitivity"] is None
    assert not any("gold never says" in one for one in notes_of(found))


def test_drawn_groups_are_read_once(report, monkeypatch):
    """A database of 10^5 groups, all judged, spent nearly half of a report on reading and settling them again."""
    engine, _ = report(TWO)
    made, real = [], settling.Drawn

    def counting(*arguments, **named):
        made.append(real(*arguments, **named))
        return made[-1]

    with monkeypatch.context() as patched:
        patched.setattr(settling, "Drawn", counting)
        assert study_report(engine, "gold")["sensitivity"] is not None
    assert len(made) == len(count(engine).drawn)
