"""English summaries by sumy: three sentences as they stand in the text, the same in every process."""

import pytest

from audit.systems import get_system
from audit.tasks import Input, get_task

NAMES = ["sumy-lexrank-en", "sumy-lsa-en", "sumy-luhn-en"]
NEWS = (
    "The school board announced on Monday that holidays will begin a week early. Mr. Hall, who chairs the board, said "
    "that the heating of two schools had failed. Many parents think that the holidays are too long. Some teachers "
    "welcome the decision. The heating was last repaired in 2009. The city will pay for new heating in both schools. "
    "A parent asked who would look after the children. The board asks parents to be patient."
)
"""Eight sentences (written for this test)."""


def summary(name, text):
    (output,) = get_system(name).run([Input.of(text)])
    return output.text


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_is_three_sentences_of_the_text_in_their_order(name):
    from audit.text import Analysis

    chosen = [sentence.text for sentence in Analysis(summary(name, NEWS)).sentences]
    places = [NEWS.index(sentence) for sentence in chosen]
    assert len(chosen) == 3
    assert places == sorted(places)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["One sentence.", " two words ", "A. B. C.", "...", "x" * 300, "A b.\n\nC D E.\n\nF g."]
)
def test_a_text_too_short_to_choose_from_is_its_own_summary(name, text):
    assert summary(name, text) == text.strip()
    (output,) = get_system(name).run([Input.of(text)])
    assert get_task("summarization").checked(output) == output
