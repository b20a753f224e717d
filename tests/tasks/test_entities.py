"""Spans as answers: reading, laws of moving them, and what is wrong, by word and by name."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError, BadOutput
from audit.tasks import Output, get_task
from audit.tasks.entities import Span, f1, matches, moved, rates, read_spans, units, write_spans

WORDS = st.lists(st.sampled_from(["Ann", "saw", "Bob", "in", "Rome", ",", "new", "."]), min_size=1, max_size=12)
TASK = get_task("entities")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("5-9 place; 0-3 person", "0-3 person; 5-9 place"),
        ('[{"start": 0, "end": 3, "label": "B-PER"}, {"start": 4, "end": 9, "label": "DATE"}]', "0-3 person"),
        ('{"start_offset": 0, "end_offset": 3, "labels": ["NR"]}', "0-3 person"),
        ("0+3+PER+5+9+GPE", "0-3 person; 5-9 place"),  # a list of lists, as files of JSON are read
        ("0-3 place; 0-9 organisation; 20-25 person", "0-9 organisation; 20-25 person"),  # of nested spans the longest
        ('[[0, 3, "PER"], [5, 9, "GPE"]]', "0-3 person; 5-9 place"),
        ('[0,3,"PER"]+[5,9,"GPE"]', "0-3 person; 5-9 place"),  # a list of tuples, as frames have it
        ("none", "none"),
        ("3-3 person", None),
        ("Ann is a person", None),
        ("0-3 dog", None),
        ('{"start": 0}', None),
    ],
)
def test_answers_are_read_as_people_and_files_write_them(written: str, expected: str | None) -> None:
    assert TASK.read_label(written) == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("label", "said"),
    [("0-3 person", None), ("1-3 person", "cuts a word"), ("0-99 person", "99 is not in a text of 12"),
     ("3-7 person", "has a blank at its end")],
)  # fmt: skip
def test_spans_that_count_bytes_are_told(label: str, said: str | None) -> None:
    wrong = TASK.misfit(label, "Zoë saw Bob.")  # type: ignore[attr-defined]
    assert (wrong is None) if said is None else said in wrong


@pytest.mark.parametrize(
    ("value", "label"),
    [([(0, 3, "PER")], "0-3 person"), ([], "none"), ("0-3 person", "0-3 person"),
     ([{"start": 0, "end": 3, "label": "person"}], "0-3 person")],
)  # fmt: skip
def test_what_a_function_may_return(value: object, label: str) -> None:
    assert TASK.output_of(value, "Ann saw Bob.").label == label  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [None, 7, "Ann", [(0, 3)], [(0, 30, "person")], [(0, 3, "dog")], [(3, 3, "person")]])
def test_what_it_may_not(value: object) -> None:
    with pytest.raises(BadOutput):
        TASK.output_of(value, "Ann saw Bob.")  # type: ignore[attr-defined]


def test_schemes_have_other_kinds_and_an_f1() -> None:
    task = get_task("entities/drug,disease,f1=0.6")
    assert [*task.labels] == ["drug", "disease"]
    assert "0-3 drug" in task.labels
    assert "0-3 person" not in task.labels
    assert "0-3 drug; 2-5 drug" not in task.labels  # people's answers never overlap
    assert not task.is_wrong(Output("0-3 drug"), {"0-3 drug; 9-12 drug"})  # F1 is 2/3
    assert get_task("entities/drug").is_wrong(Output("0-3 drug"), {"0-3 drug; 9-12 drug"})
    for scheme in ("f1=2", "f1=x", "a;b", "a,none"):
        with pytest.raises(AuditError):
            get_task(f"entities/{scheme}")


@given(WORDS, WORDS, st.data())
def test_spans_move_with_what_is_put_before_and_behind(words: list[str], added: list[str], data: st.DataObject) -> None:
    text, front = " ".join(words), " ".join(added)
    at = data.draw(st.integers(0, len(words) - 1))
    start = len(" ".join(words[:at])) + (at > 0)
    span = Span(start, start + len(words[at]), "person")
    assert moved([span], text, text) == (span,)
    assert moved([span], text, text.upper()) == (span,)
    after = moved([span], text, f"{front} {text}")
    # Where the same words stand in front, the first of them may be taken for the text's; never others.
    assert after is None or f"{front} {text}"[after[0].start : after[0].end] == words[at]


def test_a_name_that_was_cut_is_not_found_again() -> None:
    name = (Span(0, 8, "person"),)
    assert moved(name, "Ann Berg left.", "left.") is None
    assert moved(name, "Ann Berg left.", "Anna Berg left.") == (Span(0, 9, "person"),)
    assert moved(name, "Ann Berg left.", "Ann van Berg left.") == (Span(0, 12, "person"),)


def test_rates_of_names_and_units_of_agreement() -> None:
    pairs = [("0-3 person; 9-14 place", "0-3 person"), ("none", "0-4 place"), ("none", "none")]
    found = rates(pairs)
    assert (found["all"]["precision"], found["all"]["recall"], found["all"]["f1"]) == (0.5, 0.5, 0.5)
    assert (found["person"]["f1"], found["place"]["f1"], found["place"]["names"]) == (1.0, 0.0, 1)
    assert f1(*matches("none", "none")) == 1.0
    answers = ["0-3 person", "0-3 place; 8-11 person"]
    assert units("Ann saw Bob.", answers, "name") == {(0, 3): ["person", "place"], (8, 11): ["none", "person"]}
    assert list(units("Ann saw Bob.", answers, "word").values()) == [
        ["person", "place"], ["none", "none"], ["none", "person"], ["none", "none"]
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9), st.sampled_from(["person", "place"])), max_size=6))
def test_what_is_written_is_read_again(places: list[tuple[int, int, str]]) -> None:
    spans = read_spans(write_spans(Span(start, start + length, kind) for start, length, kind in places))
    assert spans is not None
    assert read_spans(write_spans(spans)) == spans
    assert all(one.end <= other.start for one, other in pairwise(spans))
