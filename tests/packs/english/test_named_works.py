"""What a text names is explained, or another film is named."""

import random

from audit.packs.english import named_works
from audit.packs.english.polarity import polar_words
from audit.text import Analysis


def made(perturb, text):
    return perturb(Analysis(text), random.Random(0))


def test_the_facts_name_their_subject_and_praise_and_blame_nothing():
    for kind in ("people", "films"):
        for name, sentence in named_works.sentences_about(kind).items():
            assert name.removeprefix("The ") in sentence
            own = sentence.replace(name, "it")
            assert not polar_words(Analysis(own)), sentence


def test_names_are_read_as_they_are_spelt_or_all_small():
    assert made(named_works.person_summary_added, "i like tom hanks.").startswith("i like tom hanks. tom hanks is an ")
    assert made(named_works.person_summary_added, "I like tom hanks.") is None
    assert made(named_works.film_summary_added, "He ran amok.") is None


def test_a_sequel_or_a_franchise_is_no_film_to_exchange():
    assert made(named_works.other_film, "I saw The Matrix II.") is None
    assert made(named_works.other_film, "I saw James Bond.") is None
    assert made(named_works.other_film, "I saw The Matrix and Pulp Fiction.") is None
    assert made(named_works.other_film, "I saw The Matrix.") not in (None, "I saw The Matrix.")
    assert made(named_works.other_film, "Al Pacino in The Godfather") is None
    assert made(named_works.other_film, "It looks like The Matrix effects.") is None
