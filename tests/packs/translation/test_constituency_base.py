"""Parsers by name, what they remember, and where a tree's words stand in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from audit.errors import UnknownName
from audit.packs.translation.constituency import base, get_parser, leaf_spans, parser_of


class FlatFake:
    """A parser for tests: all words right under S."""

    def __init__(self, languages=("en", "es")):
        self.name = "fake"
        self.version = "fake 1"
        self.languages = languages
        self.shallow = True
        self.asked = []

    def needs(self):
        return None

    def parse(self, texts, language):
        self.asked.append(list(texts))
        return [None if "?" in text else Tree("S", [Tree("X", [word]) for word in text.split()]) for text in texts]


@pytest.fixture
def fake(monkeypatch):
    parser = FlatFake()
    monkeypatch.setitem(base.PARSERS, "fake", (lambda: parser, ""))
    base._made.cache_clear()
    yield parser
    base._made.cache_clear()


def test_a_text_is_parsed_once(fake):
    parser = get_parser("fake")
    first = parser.parse(["a b", "c?", " ", "a b"], "en")
    assert fake.asked == [["a b", "c?"]]
    assert [tree and tree.leaves() for tree in first] == [["a", "b"], None, None, ["a", "b"]]
    assert parser.parse(["c?", "d", "a b"], "en")[2] is first[0]
    assert fake.asked[1:] == [["d"]]
    assert parser.parse(["d"], "es")[0].leaves() == ["d"]
    assert fake.asked[2:] == [["d"]]
    assert get_parser(" fake ") is parser
    assert (parser.name, parser.version, parser.shallow, parser.needs()) == ("fake", "fake 1", True, None)


def test_a_language_that_a_parser_does_not_parse(fake):
    with pytest.raises(UnknownName, match="unknown language of the parser fake 'zh'; known are: en, es"):
        get_parser("fake").parse(["a"], "zh")


@pytest.mark.parametrize("spec", ["nobody", "hanlp", "hanlp:", "link-grammar:en", ""])
def test_unknown_parsers(spec):
    with pytest.raises(UnknownName, match=r"unknown parser .*hanlp:MODEL.*link-grammar"):
        get_parser(spec)


def test_the_first_of_a_list_that_parses_the_language(fake):
    assert parser_of("es", "link-grammar,fake").name == "fake"
    assert parser_of("en", "link-grammar,fake").name == "link-grammar"
    assert parser_of("en", "es=fake, link-grammar").name == "link-grammar"
    assert parser_of("es", "es=fake,link-grammar").name == "fake"
    assert parser_of("zh", "fake,link-grammar") is None
    assert parser_of("es", "en=fake") is None
    assert parser_of("en", "benepar:models/benepar_en3").name == "benepar:models/benepar_en3"


def leaves(*words):
    return Tree("S", [Tree("X", [word]) for word in words])


def test_leaves_are_found_where_they_stand():
    text = 'He said: "It’s (not) 3 %".'
    spans = leaf_spans(text, leaves("he", "said", ":", "``", "it", "’s", "-LRB-", "not", "-RRB-", "3", "%", "''", "."))
    assert [text[a:b] for a, b in spans] == ["He", "said", ":", '"', "It", "’s", "(", "not", ")", "3", "%", '"', "."]


def test_marks_may_be_missing_words_may_not():
    assert leaf_spans("Well, yes!", leaves("well", "yes")) == [(0, 4), (6, 9)]
    assert leaf_spans("Well, no, yes!", leaves("well", "yes")) is None
    assert leaf_spans("Well, yes", leaves("well")) is None
    assert leaf_spans("Well", leaves("well", "yes")) is None
    assert leaf_spans("", leaves("a")) is None


@given(st.lists(st.text("abß1,.ü(", min_size=1, max_size=4), max_size=8), st.sampled_from([" ", "  ", "\n"]))
def test_spans_of_any_words(words, between):
    text = between.join(words)
    spans = leaf_spans(text, leaves(*words))
    assert [text[a:b] for a, b in spans] == words
