import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.packs.english.number import changes, countables
from audit.packs.english.tagging import base, forms, is_form, known_as, plural, singular
from audit.text import Analysis


def changed(text):
    analysis = Analysis(text)
    return [analysis.replace(change) for change in changes(analysis.tokens)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I made a film.", "I made some films."),
        ("this film is dull.", "these films are dull."),
        ("The scenes are dull.", "The scene is dull."),
        ("The actor gives his best.", None),  # "his" may be the actor's
        ("The actors give everything.", "The actor gives everything."),
        ("The character isn't complex.", "The characters aren't complex."),
        (
            "I saw an amazing performance that dwarfs the rest.",
            "I saw some amazing performances that dwarf the rest.",
        ),
        ("I love this movie.", "I love these movies."),
        ("It has some very funny sequences.", "It has a very funny sequence."),
        ("My favorite episode is in the last season.", "My favorite episodes are in the last season."),
        ("This movie is a mess.", "These movies are a mess."),
        ("The scenes begin and end.", "The scene begins and ends."),
        # What a reader saw and nothing was made of.
        ("this thing is trash", "these things are trash"),
        ("It's a very intuitive program.", "They are very intuitive programs."),
        ("That was not a simple task.", None),
        ("Those are bad games.", "That is a bad game."),
        ("Now this player is an awesome player.", "Now these players are awesome players."),
        ("There is a problem.", "There are some problems."),
        ("I have some good friends who love me and send gifts.", "I have a good friend who loves me and sends gifts."),
        ("I can live without a camera.", "I can live without any cameras."),
        ("The dog has raided the tissues.", "The dogs have raided the tissues."),
    ],
)
def test_noun_verb_and_determiner_agree(text, other):
    if other is None:
        assert changed(text) == []
    else:
        assert other in changed(text)


@pytest.mark.parametrize(
    "text",
    [
        "The film is great.",  # "the film" is the one that is reviewed
        "These films are the ones.",
        "This movie must have been the worst movie.",
        "It is one of the scenes that they cut.",
        "The scene has its charm.",
        "The characters know what they want.",
        "Is this film good?",
        "the plot and the scenes are dull.",
        "He saw a film-within-a-film.",
        'I liked "these movies" a lot.',
        "It never had a problem.",
        "I'm glad I have the extra memory.",  # no countable noun
        "The games are decent, but you only get 2.",
        "But it was a problem.",  # what was said before
        "It's a sure bet that he knows.",
        "The problem is that they stop.",
        "Press the buttons, such as play.",
        "You can use the scene modes.",
        "Keep your eyes off the road.",
        "In a way I have a lot of time.",
        "Have a safe trip.",
        "The camera has a shoe that takes a flash.",
        "It has the annoying habit of asking you.",
        "She runs a store in the Bronx that sells hats and has a sale.",
        "They are elected by the voters.",
        "The man was Charles Wick.",
        "It is a reading of this clause that is wrong.",
        "The buyers included Davis and the Sun.",
        "He gave in, but not without a protest.",
        "(America loves a bargain.)",
        "Every bid to buy out a company must be registered.",
        "The driver, a student of law, worried all the way.",
        "Those are reasons enough.",
    ],
)
def test_what_cannot_be_mended_makes_nothing(text):
    assert changed(text) == []


def test_every_countable_noun_has_two_numbers():
    plurals, singulars = countables()
    assert len(plurals) > 120
    assert all(singulars[form] == noun for noun, form in plurals.items())


def test_inflection():
    assert plural("story") == "stories"
    assert plural("child") == "children"
    assert singular("women") == "woman"
    assert singular("series") is None
    assert base("went") == "go"
    assert base("are") == "be"
    assert base("kiwi") is None
    assert "gone" in forms("go", "VBN")
    assert is_form("seen", "VBN")
    assert not is_form("saw", "VBN")
    assert known_as("offers", "VERB")
    assert not known_as("kiwi", "VERB")


@given(st.text(max_size=60))
def test_any_text_is_taken(text):
    assert isinstance(changed(text), list)
