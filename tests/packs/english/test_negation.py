import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.packs.english import parser
from audit.packs.english.negation import negate
from audit.text import Analysis


def negated(text, strict=False):
    return negate(Analysis(text), strict)


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
        ("He loved it.", "He did not love it."),
        (
            "A clever script and skilled actors bring new energy.",
            "A clever script and skilled actors do not bring new energy.",
        ),
        ("it spawned an instant cliche", "it did not spawn an instant cliche"),
        ("The film that I saw is good.", "The film that I saw is not good."),
        ("The features are clearly displayed.", "The features are not clearly displayed."),
        ("It certainly works.", "It certainly does not work."),
        ("There are many problems.", "There are not many problems."),
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
        "It nicely serves as an examination.",
        "Nothing is good.",
        "Is it good?",
        "It is dull but the acting is good.",
        "It is also good.",
        "It is good. I like it.",
        "a witty, whimsical debut.",
        "If it is good, I like it.",
        "He is.",
        '"The End" is good.',
        "I think it is good.",
        "Some of it is good.",
        "the film made by him",
        "It grabs you in the dark and shakes you.",
        "The features are clearly displayed and easily fathomed.",
        "A lot of the reviews I have read talk about IPODS.",  # a parser without the verb, "talk"
        "Missing from the box are the cables.",
        "Boy was I wrong.",
        "@anonymous when does it come out",
        "It is small and light, which is nice.",
        "How times have changed.",
        "There are problems.",
        "Nokia makes a great phone, that's clear.",
        "''Gone'' has become a word.",
        "Of course you do!",
        "@anonymous shattered!",
        "The screen is bright, easy to see in the daylight, with nice colors.",
        "",
    ],
)
def test_what_is_uncertain_makes_nothing(text):
    assert negated(text) is None


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The sound is great.", "The sound is not great."),
        ("It takes great pictures.", "It does not take great pictures."),
        ("I highly recommend this phone.", "I do not highly recommend this phone."),
        ("You will be very disappointed with this product.", "You will not be very disappointed with this product."),
        ("I bought it.", None),  # as neutral as before
        ("I am returning the broken one.", None),  # it stays broken
        ("The great phone has a camera.", None),
        ("@anonymous I love that movie!!! #films", "@anonymous I do not love that movie!!! #films"),
        ("Cigar smell is disgusting! Gross!", None),
        ("You look amazing. Well done!", None),
        ("It was a great phone, made by awful people.", None),
        ("It may be great.", None),
        ("It uses the ugly font.", None),
        ("I would recommend it.", "I would not recommend it."),
        ("It would be great.", None),
        ("Wow, that is gorgeous!", "Wow, that is not gorgeous!"),
        ("Yes, I recommend it.", None),
        ("It has the best sound.", "It does not have the best sound."),
        ("He reports on a scandal.", None),
        ("New York offers art, dance and danger.", None),
        ("It became the nucleus of a great collection.", None),
        ("It is full of great ideas.", "It is not full of great ideas."),
    ],
)
def test_strict_denies_all_praise_and_blame(text, other):
    assert negated(text, strict=True) == other


def test_there_must_be_a_parser(monkeypatch):
    monkeypatch.setattr(parser, "model_name", lambda: None)
    assert negated("The weather is bad.") is None


@given(st.text(max_size=60))
def test_any_text_is_taken(text):
    assert negated(text) is None or isinstance(negated(text), str)
