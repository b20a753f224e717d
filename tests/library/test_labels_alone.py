"""A system that returns labels alone, and is always right: relations that compare scores do not apply to it."""

import pytest

import audit

THINGS = ("acting", "music", "camera", "story", "ending", "sound")
GOLD = {f"The {thing} is {word}.": "positive" for thing in THINGS for word in ("good", "great")}
GOLD |= {f"The {thing} is bad.": "negative" for thing in THINGS}
GOLD |= {f"Nobody can say that the {thing} is great.": "negative" for thing in THINGS}  # vader: positive


def right(text: str) -> str:
    return "negative" if "bad" in text.lower() or "nobody" in text.lower() else "positive"


@pytest.mark.slow
def test_a_system_without_scores_is_not_hurt_by_relations_that_compare_them():
    study = audit.run(list(GOLD.items()), ["vader", right], ["MR1.4", "MR3.1"], progress=False)
    report = study.sample(len(GOLD)).answer_with_gold().report()
    (name,) = {cell.system for cell in report.cells} - {"vader"}
    cells = {(cell.relation, cell.system): cell for cell in report.cells}
    counts = {(cell["relation"], cell["system"]): cell for cell in report.document["cells"]}
    unscored = counts["MR1.4", name]
    assert unscored["groups"] == unscored["inapplicable"] > 0
    assert unscored["fs_rate"]["reason"] is not None
    assert cells["MR3.1", name].sr_genuine.value == 1
    assert cells["MR3.1", "vader"].sr_genuine.value < 1
    # By MR3.1 alone, the one relation that applies to both.
    assert [one.system for one in report.decision.accuracy.systems] == [name, "vader"]
    assert list(report.decision.systems) == [name]
