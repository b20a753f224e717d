"""The task translation: its inputs have a target language, its outputs may be absent, its answers grade pairs."""

import pytest

from audit.errors import BadOutput
from audit.tasks import Input, Output, get_task

TASK = get_task("translation")


def test_the_target_is_part_of_what_an_input_is():
    spanish = Input.of("It rains.", target="es")
    assert (spanish.target, spanish.output_language) == ("es", "es")
    assert spanish.key != Input.of("It rains.", target="fr").key != Input.of("It rains.").key
    assert Input.of("It rains.").target is None
    assert Input.of("a", "b").target is None


def test_an_output_is_a_text_or_absent():
    assert TASK.checked(Output(text=" Llueve. ")) == Output(text="Llueve.")
    assert TASK.checked(Output()).absent
    for empty in (Output(text=" "), Output(label="x")):
        with pytest.raises(BadOutput, match="empty"):
            TASK.checked(empty)


@pytest.mark.parametrize("answer", TASK.labels)
def test_the_first_three_answers_are_right_and_the_others_major_errors(answer):
    assert TASK.is_wrong(Output(text="x"), {answer}) == (TASK.labels.index(answer) > 2)
    assert not TASK.is_wrong(Output(text="x"), {answer, "minor_error"})
