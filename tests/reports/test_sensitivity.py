"""What a report would say if gold had the label that it lacks, against the same counted by hand."""

import pandas as pd
import pytest

from audit.corpora import get_corpus
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.reports.first_page import lenient_text
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store

TWO = ["positive"] * 6 + ["negative"] * 4
SYSTEM = """
def says(text):
    return text.split()[0].lower()

def never(text):
    return "positive"
"""


@pytest.fixture
def report(tmp_path, monkeypatch):
    """`report(gold)`: ten texts whose first word is what the first system says, four times neutral."""

    def judged_by_gold(gold):
        (tmp_path / "mine_says.py").write_text(SYSTEM, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        said = ["neutral"] * 4 + ["positive"] * 4 + ["negative"] * 2
        texts = [f"{word} film number {at}." for at, word in enumerate(said)]
        pd.DataFrame({"text": texts, "gold": gold}).to_csv(tmp_path / "films.csv", index=False)
        engine = open_store(str(tmp_path / "a.db"), create=True)
        corpus, relation = get_corpus(str(tmp_path / "films.csv")), get_relation("sentiment", "MR3.1")
        run(engine, corpus, ["mine_says:says", "mine_says:never"], [relation], InProcess())
        ask_next(engine, SampleOptions(share=1.0))
        answer_with_gold(engine)
        return study_report(engine, "gold")

    return judged_by_gold


@pytest.mark.slow
def test_outputs_that_gold_never_says(report):
    # `says` is wrong on 4 neutral ones and on 2 that it calls positive; `never` on the 4 negative ones.
    lacking = report(TWO)
    entry = lacking["sensitivity"]
    assert entry["labels"] == ["neutral"]
    assert entry["fs_rate"] == pytest.approx(10 / 20) == lacking["overall"]["fs_rate"]["value"]
    assert entry["fs_rate_right"] == pytest.approx(6 / 20)
    assert lenient_text(lacking, Say()).startswith("Gold never says neutral")
    whole = report(["neutral"] * 2 + TWO[2:])
    assert (whole["sensitivity"], lenient_text(whole, Say())) == (None, "")
