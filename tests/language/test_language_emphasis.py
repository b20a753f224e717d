import pytest

from audit.errors import AuditError
from audit.packs.english import emphasis
from audit.packs.english.emphasis import article, gradable, places, starts_with_vowel_sound
from audit.text import Analysis


def emphasized(text):
    analysis = Analysis(text)
    return [analysis.tokens[place.index].text for place in places(analysis.tokens)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The apple is sweet.", ["sweet"]),
        ("a funny film with an awful ending", ["funny", "awful"]),
        ("I love this film.", ["love"]),
        ("It feels sad.", ["sad"]),
        ("Strange, dull.", ["Strange"]),
    ],
)
def test_places(text, words):
    assert emphasized(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "The apple is very sweet.",
        "The apple is not sweet.",
        "It isn't funny.",
        "as funny as it is sad",
        "too sad",
        "sweeter and the sweetest",
        "good enough",
        "the bad guy and a romantic comedy",
        "what a good film",
        "to be honest, no",
        "a feel-good film",
        "never a good idea",
        "it is how good",
        'the film "it is good"',
        "slow motion",
    ],
)
def test_no_place(text):
    assert emphasized(text) == []


def test_articles():
    assert article("a", "extremely") == "an"
    assert article("An", "very") == "A"
    assert article("A", "extremely") == "An"
    assert article("AN", "VERY") == "A"
    assert article("the", "extremely") == "the"
    assert [
        word for word in ("hour", "unique", "uninspired", "one", "apple", "18") if starts_with_vowel_sound(word)
    ] == [
        "hour",
        "uninspired",
        "apple",
        "18",
    ]


def test_the_list_of_adjectives():
    adjectives = gradable()
    assert len(adjectives) > 250
    assert adjectives["great"][0] == "truly"
    assert {degree for degree, _ in adjectives.values()} <= set(emphasis.ADVERBS)


def test_a_bad_line_is_named(tmp_path, monkeypatch):
    file = tmp_path / "gradable.tsv"
    file.write_text("very good\n", encoding="utf-8")
    monkeypatch.setattr(emphasis, "data_file", lambda name: file)
    gradable.cache_clear()
    with pytest.raises(AuditError, match="line 1"):
        gradable()
    gradable.cache_clear()
