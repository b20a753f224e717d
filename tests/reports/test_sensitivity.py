"""What a report would say if gold had the label that it lacks, against the same counted by hand."""

import pytest

import audit
from audit.reports.first_page import lenient_text
from audit.reports.words import Say

TWO = ["positive"] * 6 + ["negative"] * 4


def says(text):
    return text.split()[0].lower()


def never(text):
    return "positive"


def judged_by_gold(gold):
    """The report of ten texts whose first word is what the first system says, four times neutral."""
    said = ["neutral"] * 4 + ["positive"] * 4 + ["negative"] * 2
    texts = [(f"{word} film number {at}.", gold[at]) for at, word in enumerate(said)]
    with audit.run(texts, [says, never], ["MR3.1"], store=None, progress=False) as study:
        return study.sample(share=1.0).answer_with_gold().report("gold").document


@pytest.mark.slow
def test_outputs_that_gold_never_says():
    # `says` is wrong on 4 neutral ones and on 2 that it calls positive; `never` on the 4 negative ones.
    lacking = judged_by_gold(TWO)
    entry = lacking["sensitivity"]
    assert entry["labels"] == ["neutral"]
    assert entry["fs_rate"] == pytest.approx(10 / 20) == lacking["overall"]["fs_rate"]["value"]
    assert entry["fs_rate_right"] == pytest.approx(6 / 20)
    assert lenient_text(lacking, Say()).startswith("Gold never says neutral")
    whole = judged_by_gold(["neutral"] * 2 + TWO[2:])
    assert (whole["sensitivity"], lenient_text(whole, Say())) == (None, "")
