"""Roll-ups, and texts that come in documents, hold in simulated worlds: short runs."""

import pytest
from rollup_coverage import document_coverage, roll_up_coverage


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [
        (20, 1000, 60, 0.02, 1.0, "copies"),  # .695 while clean cells counted as independent
        (20, 20000, 200, 0.005, 0.9, "copies"),  # .628
        (20, 1000, 60, 0.02, 0.0, "copies"),  # .90
        (20, 1000, 3, 0.3, 1.0, 0.5),  # .735
    ],
)
def test_roll_ups_hold_where_few_groups_are_false_or_judged(world):
    assert roll_up_coverage(*world, redraws=80)[0] >= 0.9  # .93 but for the noise of 80 redraws


@pytest.mark.slow
@pytest.mark.parametrize("world", [(100, 10, 0.3, 0.3, 0), (20, 30, 0.2, 0.3, 0), (20, 30, 0.2, 0.3, 60)])
def test_texts_to_come_of_documents_are_covered(world):
    # R_FS of a cell held in .698, .558 and .871 while sentences of a document counted as independent.
    assert (document_coverage(*world, redraws=80) >= 0.88).all()
