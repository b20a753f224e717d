import pytest

from audit.packs.english.tagging import correct, tag_words
from audit.text import Analysis
from audit.text.tools import spans


def tags(text):
    return {token.text: token.tag for token in Analysis(text).tokens}


@pytest.mark.parametrize(
    ("text", "word", "mark"),
    [
        ("a film that deals with love", "deals", "VBZ"),
        ("The film works.", "works", "VBZ"),
        ("it's good", "'s", "VBZ"),
        ("the film's look", "'s", "POS"),
        ("I like it.", "like", "VBP"),
        ("THE FILM IS BAD.", "BAD", "JJ"),
        ("he wants to reward them", "reward", "VB"),
        ("we need it", "need", "VBP"),
        ("it has taken the prize", "taken", "VBN"),
        ("take a look at it", "look", "NN"),
    ],
)
def test_corrected_tags(text, word, mark):
    assert tags(text)[word] == mark


def test_one_tag_for_each_word():
    words = ["I", "can", "n't", "say", "it", "'s", "--", "or", "is", "n't", "--", "good", "."]
    assert len(tag_words(words)) == len(words)
    assert tag_words([]) == []
    assert correct([], []) == []


def test_tokens_are_where_they_say():
    text = "It's a so-so film; I can't say more... (U.S. version)"
    for token in Analysis(text).tokens:
        assert text[token.start : token.end] == token.text


def test_abbreviations_end_no_sentence():
    assert spans("Mr. Smith is good. I like him!", "en") == ((0, 18), (19, 30))


def test_what_a_text_holds_is_asked_in_lower_case_with_straight_apostrophes():
    text = Analysis("It isn’t It.")
    assert text.low == ("it", "is", "n't", "it", ".")
    assert text.words == {"it", "is", "n't", "."}
    assert [token.lower for token in text.tokens] == ["it", "is", "n’t", "it", "."]
