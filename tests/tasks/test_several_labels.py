"""Classification in which a text may have several labels: sets of labels as labels, written in any order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError, BadOutput
from audit.tasks import Output, base_of, get_task, label_reader
from audit.tasks.classification import Classification

MANY = "classification/refund+late+rude"
TASK = get_task(MANY)


def test_every_set_of_the_labels_is_a_label():
    assert TASK.labels == (
        "none", "refund", "late", "rude", "refund+late", "refund+rude", "late+rude", "refund+late+rude",
    )  # fmt: skip
    assert base_of(MANY) == "classification"
    assert len(get_task("classification/" + "+".join("abcdefgh")).labels) == 256


@given(st.sets(st.sampled_from(("refund", "late", "rude"))).flatmap(lambda labels: st.permutations(sorted(labels))))
def test_order_and_case_do_not_count(labels):
    joined = TASK.together([label.upper() for label in labels])
    assert joined in TASK.labels
    assert joined == label_reader(TASK)("+".join(f" {label.title()} " for label in labels) or "NONE")
    assert TASK.checked(Output(" + ".join(labels) or "none")).label == joined
    assert TASK.is_wrong(Output(joined), {joined}) is False


@pytest.mark.parametrize("written", ["gone", "refund+", "refund+gone", "none+late", ""])
def test_what_is_no_set_of_the_labels_is_refused(written):
    assert label_reader(TASK)(written) is None
    with pytest.raises(BadOutput, match="is neither none nor some of refund, late, rude"):
        TASK.checked(Output(written))


@pytest.mark.parametrize("scheme", ["a+", "a+A", "a+none", "a+unsure", "+".join("abcdefghi")])
def test_a_scheme_has_two_to_eight_labels(scheme):
    with pytest.raises(AuditError, match="several of 2 to 8 different ones"):
        Classification(scheme)
