import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.packs.english.negation import negate
from audit.text import Analysis


def negated(text):
    analysis = Analysis(text)
    new = negate(analysis.tokens)
    return None if new is None else analysis.replace(new)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The weather is bad.", "The weather is not bad."),
        ("It makes sense.", "It does not make sense."),
        ("The film works.", "The film does not work."),
        ("I liked it.", "I did not like it."),
        ("She really loves the film.", "She does not really love the film."),
        ("He can act.", "He cannot act."),
        ("It has been done.", "It has not been done."),
        ("It has its moments.", "It does not have its moments."),
        ("It's a good film.", "It's not a good film."),
        ("You'll see it.", "You will not see it."),
        ("has its share of arresting images.", "does not have its share of arresting images."),
        ("Both films work well.", None),
        ("THE FILM IS BAD.", "THE FILM IS NOT BAD."),
        ("This is certainly a good film.", "This is certainly not a good film."),
        ("The actors deliver the goods.", "The actors do not deliver the goods."),
    ],
)
def test_negations(text, other):
    assert negated(text) == other


@pytest.mark.parametrize(
    "text",
    [
        "It is not good.",
        "It never works.",
        "Nothing is good.",
        "Is it good?",
        "It is dull but the acting is good.",
        "It is also good.",
        "It is good. I like it.",
        "a witty, whimsical debut.",
        "If it is good, I like it.",
        "The film that I saw is good.",
        "He is.",
        '"The End" is good.',
        "I think it is good.",
        "Some of it is good.",
        "the film made by him",
        "It grabs you in the dark and shakes you.",
        "",
    ],
)
def test_what_is_uncertain_makes_nothing(text):
    assert negated(text) is None


@given(st.text(max_size=60))
def test_any_text_is_taken(text):
    assert negated(text) is None or isinstance(negated(text), str)
