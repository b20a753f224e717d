"""Slice functions: what texts say, numbers cut into classes, and functions of users that go wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.corpora.base import Row
from audit.corpora.slices import cut, divide, find_slicing, sliced
from audit.tasks import Input


def row(text, language="en", **more):
    return Row(text, Input.of(text, language=language), **more)


def slices_of(spec, *texts, language="en"):
    names, _ = divide(find_slicing(spec), [row(text, language) for text in texts])
    return [None if name is None else str(name) for name in names]


@pytest.mark.parametrize(
    ("spec", "language", "yes", "no"),
    [
        ("negation", "en", ["It isn't good.", "Never again", "No."], ["Know it.", "Another note"]),
        ("negation", "zh", ["我不喜欢。", "没有意思", "别去"], ["不过很好。", "特别好", "非常好", "未来可期", "错过"]),
        ("question", "en", ["Good?", "Why is it so long", "Did he leave"], ["What a film.", "It is good."]),
        ("question", "zh", ["好吗", "为什么", "你去哪里？"], ["很好。", "哪怕下雨"]),
        ("phrase:not|never", "en", ["Not so.", "never!"], ["Nothing", "knot"]),
        ("phrase:电影", "zh", ["这部电影好"], ["这本书好"]),
    ],
)
def test_what_texts_say(spec, language, yes, no):
    assert slices_of(spec, *yes, *no, language=language) == ["yes"] * len(yes) + ["no"] * len(no)


def test_gender_is_named_by_pronouns_kin_and_titles():
    texts = ["She left.", "Mr. Lee", "My uncle and his wife", "I miss it", "Miss Lee"]
    assert slices_of("gender", *texts) == ["female", "male", "both", "none named", "female"]
    texts = ["她走了", "其他人", "他走了", "爸爸妈妈", "他们"]
    assert slices_of("gender", *texts, language="zh") == ["female", "none named", "male", "both", "none named"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-50, 50), st.floats(-1e6, 1e6)), max_size=40), st.integers(1, 6))
def test_equal_numbers_are_in_one_class_and_classes_are_in_order(values, parts):
    names, order = cut(values, parts)
    assert [name is None for name in names] == [value is None for value in values]
    assert len(order) <= parts
    assert len(set(order)) == len(order)
    pairs = sorted((value, order.index(name)) for value, name in zip(values, names, strict=True) if name is not None)
    assert [place for _, place in pairs] == sorted(place for _, place in pairs)
    assert len({(value, place) for value, place in pairs}) == len({value for value, _ in pairs})


def test_functions_say_names_truths_or_numbers():
    rows = [row("a"), row("bb", cluster="x"), row("ccc", attributes={"n": "1"})]
    assert divide(find_slicing(lambda one: one.input.text > "b"), rows)[0] == ["no", "yes", "yes"]
    assert divide(find_slicing(lambda one: len(one.input.text)), rows)[1] == ["1", "2", "3"]
    assert divide(find_slicing(lambda one: one.cluster), rows)[0] == [None, "x", None]
    assert divide(find_slicing("n"), rows)[0] == [None, None, "1"]
    halves = sliced(parts=2, whole=True)(lambda every: [len(one.input.text) for one in every])
    assert divide(find_slicing(halves), rows)[1] == ["1", "2–3"]
