import pytest

from audit.errors import AuditError
from audit.packs.english import emphasis, parser
from audit.packs.english.emphasis import article, gradable, places, starts_with_vowel_sound
from audit.text import Analysis


def emphasized(text, strict=True):
    analysis = Analysis(text)
    return [analysis.tokens[place.index].text for place in places(analysis, strict)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The apple is sweet.", ["sweet"]),
        ("a boring film with an awful ending", ["boring", "awful"]),
        ("I love this film.", ["love"]),
        ("It feels sad.", ["sad"]),
        ("Stupid, dull.", ["Stupid", "dull"]),
        ("The case came late. Awful service.", ["Awful"]),
        ("It takes great pictures because the lens is superb.", ["great", "superb"]),
        ("I think the sound is great.", ["great"]),
        ("The sound is great, so you can sell it.", ["great"]),
        ("I would recommend this phone.", ["recommend"]),
        ("I bought it because it looks great.", ["great"]),
        ("A nice, helpful and friendly man.", ["nice", "helpful", "friendly"]),
        # Chances that a reader saw and the relation missed.
        ("this camera is ideal.", ["ideal"]),
        ("He heard the bad news.", ["bad"]),
        ("It was a welcome change.", ["welcome"]),
    ],
)
def test_places(text, words):
    assert emphasized(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "The apple is very sweet.",
        "The apple is not sweet.",
        "It isn't nice.",
        "as nice as it is sad",
        "too sad",
        "sweeter and the sweetest",
        "good enough",
        "the bad guy and a good deal",
        "what a good film",
        "to be honest, no",
        "a feel-good film",
        "never a good idea",
        "it is how good",
        'the film "it is good"',
        "slow motion",
        "Happy birthday!",
        "Is it good?",
        "I hope that it is good.",
        "I need a good camera.",
        "It would be nice if it worked.",
        "If you have a good camera, stay.",
        "Sweet!",
        "The company is appealing the decision.",
        "Be nice.",
        "I'd love to go.",
        "I would recommend against it.",
        "They say that it is awful.",
        "The board has recommended it.",
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_no_place(text, strict):
    assert emphasized(text, strict) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It looked cool but didn't really ring a bell.", []),
        ("Although it is nice, it is useless.", ["useless"]),
        ("The menu is good, but the sound is awful.", ["awful"]),
        ("The menu is good. However, the sound is awful.", ["awful"]),
        ("Despite the great sound, it is awful.", ["awful"]),
        ("It is good, yet nobody likes it.", []),
        ("Great sound, awful menu.", []),
    ],
)
def test_only_the_side_that_decides(text, words):
    assert emphasized(text) == words


@pytest.mark.parametrize("text", ["It is a romantic story.", "The town is old.", "The film is violent."])
def test_strict_leaves_what_neither_praises_nor_blames(text):
    assert emphasized(text) == []
    assert len(emphasized(text, strict=False)) == 1


@pytest.mark.parametrize(
    "text", ["It is likely.", "That is clear.", "The menu is simple.", "An artistic collaboration."]
)
def test_words_without_a_sentiment_are_never_emphasized(text):
    assert emphasized(text, strict=False) == []


def test_fixed_pairs():
    assert emphasized("It has an emotional impact.", strict=False) == []


def test_no_places_without_trees(monkeypatch):
    monkeypatch.setattr(parser, "model_name", lambda: None)
    assert emphasized("The apple is sweet.") == []


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
    assert adjectives["hated"] == ("really", "verb")
    assert {degree for degree, _ in adjectives.values()} <= set(emphasis.ADVERBS)


def test_a_bad_line_is_named(tmp_path, monkeypatch):
    file = tmp_path / "gradable.tsv"
    file.write_text("very good\n", encoding="utf-8")
    monkeypatch.setattr(emphasis, "data_file", lambda name: file)
    gradable.cache_clear()
    with pytest.raises(AuditError, match="line 1"):
        gradable()
    gradable.cache_clear()
