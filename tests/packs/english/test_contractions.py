import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.english import parser
from audit.packs.english.contractions import contract, expand, may_change
from audit.text import Analysis

PARTS = ["it's", "they", "can't", "isn't", "the", "film", "'", "’s", "don't", "let's", ".", "?", "you"]


def expanded(text):
    analysis = Analysis(text)
    return analysis.replace(expand(analysis.tokens))


def contracted(text):
    analysis = Analysis(text)
    return analysis.replace(contract(analysis.tokens))


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("They're not real, sympathetic, or believable.", "They are not real, sympathetic, or believable."),
        ("I can't say it won't work.", "I cannot say it will not work."),
        ("Isn't it great?", "Is it not great?"),
        ("isn't she lovely, and don't you think so?", "is she not lovely, and do you not think so?"),
        ("IT'S A FILM YOU CAN'T MISS.", "IT IS A FILM YOU CANNOT MISS."),
        ("It’s good and they’ve seen it.", "It is good and they have seen it."),
        ("it's been done before, and he's made a film.", "it has been done before, and he has made a film."),
        ("it's supposed to be funny.", "it is supposed to be funny."),
        ("I'd rather leave; he'd seen it; she'd go.", "I would rather leave; he had seen it; she would go."),
        ("the film's not bad.", "the film is not bad."),
        ("everyone's talking of it.", "everyone is talking of it."),
        ("you should've seen it, i'm sure.", "you should have seen it, i am sure."),
        ("I'm gonna see it.", "I am going to see it."),
    ],
)
def test_full_forms(text, full):
    assert expanded(text) == full


@pytest.mark.parametrize(
    "text",
    [
        "the film's strength lies elsewhere.",  # a possessive
        "wilde's wit ain't dead.",  # "ain't" has several full forms
        "let's face it.",
        "get 'em.",
        "it belongs in the so-bad-it's-good camp.",
        "Isn't the film great?",  # "not" would have to move behind the subject
        "there's lots of blood.",
        "It was high-tech for it's time.",  # a misspelt possessive
        "he'd come.",  # had come or would come
        "what's he got?",
        "O. Henry's The Gift of the Magi is short.",
        "Katzenberg's The Prince of Egypt",
        "i see what everyone's problem is",
    ],
)
@pytest.mark.parametrize("with_trees", [True, False])
def test_what_is_uncertain_stays(monkeypatch, text, with_trees):
    if not with_trees:
        monkeypatch.setattr(parser, "model_name", lambda: None)
    assert expanded(text) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("It is a film that does not work.", "It's a film that doesn't work."),
        ("I have seen it and I will see it again.", "I've seen it and I'll see it again."),
        ("You cannot miss it.", "You can't miss it."),
        ("The man who is trying will not fail.", "The man who's trying won't fail."),
        ("IT IS GOOD.", "IT'S GOOD."),
    ],
)
def test_contractions(text, short):
    assert contracted(text) == short


@pytest.mark.parametrize(
    "text",
    [
        "It is as good as it is.",  # the last one ends its clause
        "You wonder how good it is to see them.",
        "What makes it is the acting.",
        "The film is not only dull.",
        "I have a dream.",
        "It is, however, long.",
        "I would have.",
        "I am not sure what it is.",
    ],
)
def test_nothing_is_contracted_at_the_end_of_a_clause_or_after_a_gap(text):
    assert " it's" not in contracted(text)[2:]
    assert "isn't only" not in contracted(text)
    assert "I've a" not in contracted(text)
    assert "It's," not in contracted(text)
    assert "I'd" not in contracted(text)
    assert "it's." not in contracted(text)


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_nothing_but_contractions_changes(parts):
    text = " ".join(parts)
    full = expanded(text)
    assert len(full) >= len(text)
    assert may_change(text) or text == full == contracted(text)
    for word in ("it", "they", "the", "film", "you"):
        assert full.split().count(word) >= parts.count(word)


@given(st.text(max_size=60))
def test_any_text_is_taken(text):
    assert isinstance(expanded(text), str)
    assert isinstance(contracted(text), str)


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(["It", "she", "is", "Will", "not", "cannot", "has", "been", "who", "film", ",", "-", "’"]),
        max_size=8,
    )
)
def test_only_texts_that_may_change_need_to_be_tagged(parts):
    for text in (" ".join(parts), "".join(parts)):
        assert may_change(text) or text == contracted(text) == expanded(text)
