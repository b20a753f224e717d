"""What the parts of the English pack make of short texts, a part at a time."""

import re

from audit.packs.english import (
    corpora,
    emphasis,
    guard,
    meaning,
    names,
    noise,
    pairs,
    parser,
    perturbations,
    polarity,
    relations,
    replacing,
    restructuring,
    systems,
    tagging,
)
from audit.packs.english.parser import tree_of
from audit.tasks import Output
from audit.text import Analysis


def test_corpora():
    assert (corpora.has_letter("* * *"), corpora.has_letter("10 times"), corpora.has_letter("好")) == (
        False,
        True,
        True,
    )
    assert corpora.mend("a bit\x85 \x96 it´s") == "a bit... – it's"
    assert corpora.paragraphs("Good.<br /><br />It <i>works</i>.") == "Good.\n\nIt works."
    assert (
        corpora.restore_spacing("\" i do n't know , \" he said ( twice ) . . . it's hard- boiled !")
        == "\"i don't know,\" he said (twice)... it's hard-boiled!"
    )
    assert corpora.is_reserved("A  film.") == corpora.is_reserved("a film")
    assert corpora.sentences(
        "( (S (NP (PRP It) ) (VP (VBD was) (RB n't) (NP (-NONE- *-1) ) ) (. .) ) )", ".START It  wasn't."
    ) == ["It wasn't."]


def test_emphasis():
    assert [place.index for place in emphasis.places(Analysis("The apple is sweet."))] == [3]
    assert emphasis.places(Analysis("It looked cool, but it broke.")) == []
    assert emphasis.in_capitals(Analysis("The flower's leaves are beautiful, @rose.")) == {
        1: "FLOWER",
        2: "'S",
        3: "LEAVES",
        5: "BEAUTIFUL",
    }
    analysis = Analysis("I saw ''Toxic Parents''.")
    assert not (emphasis.praise_or_blame(analysis, emphasis.in_capitals(analysis)))
    assert emphasis.negate(Analysis("It makes good coffee.")) == "It does not make good coffee."
    assert emphasis.negate(Analysis("It makes coffee.")) is None, emphasis.negate(
        Analysis("It makes coffee."), strict=False
    ) == (True, "It does not make coffee.")


def test_guard():
    assert [match.group() for match in guard.outside(re.compile("[a-z]+"), "see <br> (https://a.b) now")] == [
        "see",
        "now",
    ]
    assert sorted(guard.protected(Analysis('See www.example.com, the "best" one.'))) == [1, 2, 3, 4, 5, 6, 9]
    assert [sentence.text for sentence in guard.passages(Analysis('He said "No. Never." Then he left.')).sentences] == [
        'He said "No. Never."',
        "Then he left.",
    ]
    assert (guard.article("A", "extremely"), guard.article("an", "very"), guard.article("the", "end")) == (
        "An",
        "a",
        "the",
    )
    assert guard.put(Analysis("I saw a dog.").tokens, {3: "animal"}) == {3: "animal", 2: "an"}
    assert [guard.opens_sentence(Analysis("@rose Great work. Thanks").tokens, index) for index in (2, 3, 5)] == [
        True,
        False,
        True,
    ]
    texts = "The film is long.", "American films are long.", "Paper Moon is long."
    assert [guard.keeps_capital(tree_of(Analysis(text).tokens), 0) for text in texts] == [False, True, None]
    assert [
        guard.is_statement(Analysis(text))
        for text in ("It is long.", "A long film.", "But it is long.", "I go, he said.")
    ] == [True, False, False, False]
    assert (guard.inside_sentence(Analysis("The film is long.")), guard.inside_sentence(Analysis("I like it."))) == (
        "the film is long.",
        "I like it.",
    )
    assert (
        guard.sound(tree_of(Analysis("It is good.").tokens)),
        guard.sound(tree_of(Analysis("Don't be late.").tokens)),
    ) == (True, False)
    assert guard.places_of(Analysis("It makes a film.").tokens, {1: "does not makes", 2: ""}) == [
        0,
        None,
        None,
        1,
        3,
        4,
    ]


def test_meaning():
    assert meaning.opposites(Analysis("The door is open.")) == {3: "closed"}


def test_names():
    assert names.renamed([Analysis("An Ohio bank left Ohio.")], {"Ohio": "Texas"}).texts == (
        "A Texas bank left Texas.",
    )
    assert names.names_of("f")[:2] == ("Susan", "Sarah")
    assert names.persons_in(Analysis("Mr. Lee met Alice Smith.")) == [
        names.Person(first="", last="Lee", gender="m"),
        names.Person(first="Alice", last="Smith", gender="f"),
    ]


def test_noise():
    assert (
        noise.wrong_share({"share": 2.0})
        == "share is 2; it is the share of the words that change, above 0 and at most 1"
    )


def test_pairs():
    assert (pairs.deniable(Analysis("The man is here.")), pairs.deniable(Analysis("A man is here."))) == (True, False)
    assert pairs.framed("It is true that", Analysis("The man is here.")) == "It is true that the man is here."


def test_parser():
    assert parser.names_in(Analysis("Alice Smith flew to Oslo.")) == ((0, 2, "PERSON"), (4, 5, "GPE"))


def test_perturbations():
    assert sorted(perturbations.content_stems("The bakeries closed at six.")) == ["bakeri", "clos", "six"]
    assert perturbations.appended(Analysis("It is long"), "That is all.") == "It is long. That is all."
    assert (
        perturbations.sentences_about("people")["Tom Hanks"]
        == "Tom Hanks is an American actor who was born in California in 1956."
    )


def test_polarity():
    assert polarity.lexicon()["enjoyed"] == {"VB": 1, "JJ": 1}
    assert polarity.polar_words(Analysis("The sound is great, but the manual is not helpful.")) == {3: 1, 10: -1}
    assert (
        polarity.feelings(Analysis("The error handler logs each failure.")),
        polarity.feelings(Analysis("It is a failure.")),
    ) == ({}, {3: -1})
    assert (polarity.leaning(Analysis("It is a masterpiece.")), polarity.leaning(Analysis("It is long."))) == (1, 0)
    assert (
        polarity.tells_a_view("It is a dull film."),
        polarity.tells_a_view("The licensee shall pay the fee."),
        polarity.tells_a_view("We left."),
    ) == (True, False, True)


def test_relations():
    assert (
        relations.wrong_sentences({"sentences": 1}, "positive")[:44] == "sentences is 1; the study adds at least 2, a"
    )
    assert (
        relations.wrong_sentences({"sentences": ["It works."]}, "positive")
        == "sentences has 1 different text; at least 2 are needed"
    )


def test_replacing():
    text = Analysis("isn't it a film you can't miss?")
    assert text.replace(replacing.expand(text)) == "is it not a film you cannot miss?"
    text = Analysis("It is a film that does not work, bad as it is.")
    assert text.replace(replacing.contract(text)) == "It's a film that doesn't work, bad as it is."
    assert replacing.replacements(Analysis("I want to buy a bike.")) == {"bike": {5: "bicycle"}}
    assert [replacing.agree(Analysis(text).tokens[1], "plural") for text in ("It is", "It works", "It went")] == [
        "are",
        "work",
        "went",
    ]
    text = Analysis("The scenes are dull.")
    assert [text.replace(change) for change in replacing.changes(text)] == ["The scene is dull."]


def test_restructuring():
    assert (
        restructuring.change_tense(Analysis("The story isn't new, but they tell it well."))
        == "The story wasn't new, but they told it well."
    )
    assert restructuring.change_tense(Analysis("It is now on DVD.")) is None
    assert (
        restructuring._lemma("saw", "VBD"),
        restructuring._lemma("tells", "VBZ"),
        restructuring._lemma("table's", "VBZ"),
    ) == ("see", "tell", None)
    assert len(restructuring.swappable(Analysis("The film is wonderful and exciting."))) == 1
    assert restructuring.swappable(Analysis("It is shot in black and white.")) == []
    text = Analysis("It is a dark and honest film.")
    assert restructuring.swap(text, restructuring.swappable(text)[0]) == "It is an honest and dark film."
    assert (
        restructuring.switch(Analysis("There's a reason, but we don't know it."))
        == "Although there's a reason, we don't know it."
    )
    assert (
        restructuring.switch(Analysis("Although I like it, I will not buy it.")) == "I like it, but I will not buy it."
    )
    assert restructuring.find(Analysis("The car is faster than the bicycle.")) is not None
    assert restructuring.find(Analysis("It is better than I thought.")) is None
    assert (
        restructuring.rephrase(Analysis("The car is only slightly faster than the bicycle."))
        == "The bicycle is only slightly slower than the car."
    )
    assert (
        restructuring.rephrase(Analysis("These films are more subtle than this book."))
        == "This book is less subtle than these films."
    )
    assert (
        restructuring.exchange(Analysis("The film is different from the book."), "from")
        == "The book is different from the film."
    )
    assert (
        restructuring.reverse(Analysis("The car is faster than the bicycle.")) == "The bicycle is faster than the car."
    )
    assert restructuring.reverse(Analysis("The car is larger than the bicycle.")) is None


def test_systems():
    assert systems.polar(-0.5, 0.05) == Output(label="negative", score=0.5, text=None, error=None)
    assert (systems.stem("repairs"), systems.stem("repaired"), systems.stem("is"), systems.stem("carried")) == (
        "repair",
        "repair",
        "is",
        "carr",
    )
    assert (
        systems.kind_of("How many were there?"),
        systems.kind_of("On which day was it?"),
        systems.kind_of("What did she take?"),
    ) == ("number", "time", "thing")
    assert (
        systems.nearest(
            "In 1931 the hall was opened, and in 2004 the roof was replaced.", "When was the roof replaced?"
        )
        == "2004"
    )


def test_tagging():
    assert (tagging.known_as("offers", "VERB"), tagging.known_as("kiwi", "VERB", "ADJ")) == (True, False)
    assert (tagging.base("makes"), tagging.base("went"), tagging.base("kiwi")) == ("make", "go", None)
    assert tagging.split_words("It isn't 3 o'clock.") == ["It", "is", "n't", "3", "o'clock", "."]
