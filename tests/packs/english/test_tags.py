import pytest

import audit
from audit.packs.english import parser
from audit.packs.english.tagging import correct, tag_words
from audit.relations import Source, get_relation
from audit.tasks import Input
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


def test_many_texts_at_once_have_the_tokens_that_each_has_alone():
    texts = ["It is good.", "", "The reviews that I have read don't say so!", " "]
    together = [Analysis(text) for text in texts]
    Analysis.tag_all(together)
    assert [analysis.tokens for analysis in together] == [Analysis(text).tokens for text in texts]
    assert together[1].tokens == ()


def test_without_a_model_textblob_tags_and_nothing_parses(monkeypatch):
    monkeypatch.setattr(parser, "model_name", lambda: None)
    text = Analysis("There's a reason, but we don't know it.")
    assert [token.tag for token in text.tokens[:4]] == ["EX", "VBZ", "DT", "NN"]
    assert parser.tree_of(text.tokens) is None
    relation = get_relation("sentiment", "MR4.3")
    assert relation.follow_ups(Source(Input.of(text.text), text)) == []
    assert "pip install" in str(relation.lacks("en"))
    assert get_relation("sentiment", "MR1.1").lacks("en") is None
    with pytest.raises(TypeError, match="no model of spaCy"):
        parser.version()


@pytest.mark.parametrize("progress", [True, False])
def test_a_run_says_which_relations_make_no_groups_without_a_model(monkeypatch, progress: bool):
    monkeypatch.setattr(parser, "model_name", lambda: None)
    with pytest.warns(UserWarning, match="relation MR4.3 makes no groups of texts in en: no model of spaCy"):
        audit.run(["It's long, but I like it."], ["vader"], ["MR1.1", "MR4.3"], progress=progress)
