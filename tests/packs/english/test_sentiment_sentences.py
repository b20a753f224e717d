"""MR1.1 to MR4.5: the study's own examples (tables 3 and 6) and others, the checks, what is carried, and the guard.

What they make of real text is pinned in `tests/golden`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.english import guard
from audit.packs.english.polarity import feelings
from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

SENTENCES = [
    f"MR{family}.{number}" for family, most in ((1, 4), (2, 2), (3, 2), (4, 5)) for number in range(1, most + 1)
]


def follow_ups_of(name, text, seed="1", **params):
    relation = configured(get_relation("sentiment", name), params)
    return [follow.text for follow in relation.follow_ups(Source(Input.of(text), Analysis(text), seed))]


def all_follow_ups(name, text):
    return {follow_up for seed in range(40) for follow_up in follow_ups_of(name, text, str(seed))}


def is_made(name, text, follow_up, **params):
    return any(follow_up in follow_ups_of(name, text, str(seed), **params) for seed in range(40))


@pytest.mark.parametrize(
    ("name", "source", "follow_up"),
    [
        ("MR1.1", "don't dismiss it because of its sources.", "do not dismiss it because of its sources."),
        ("MR1.2", "I want to buy a bike.", "I want to buy a bicycle."),
        ("MR1.3", "I made a film.", "I made some films."),
        ("MR1.4", "It's a great day.", "It's a great day!"),
        ("MR2.1", "The apple is sweet.", "The apple is very sweet."),
        ("MR2.2", "The weather is bad.", "The weather is not bad."),
        ("MR2.2", "Well made films are good.", "Well made films are not good."),
        ("MR3.1", "The dvd is a massive achievement.", "THE DVD IS A MASSIVE ACHIEVEMENT."),
        ("MR3.1", "THIS IS BAD.", "this is bad."),
        ("MR3.2", "The flower is beautiful.", "The FLOWER is BEAUTIFUL."),
        ("MR3.2", "The network seems overloaded, thats bad.", "The NETWORK seems OVERLOADED, thats BAD."),
        ("MR3.2", "Its main problem is that it's too jumbled.", "Its MAIN PROBLEM is that it's too JUMBLED."),
        ("MR4.1", "The storyline is as cliched as they come.", "The storyline was as cliched as they come."),
        ("MR4.2", "The film is wonderful and exciting.", "The film is exciting and wonderful."),
        ("MR4.2", "The film is different from the book.", "The book is different from the film."),
        ("MR4.3", "Although I like it, I will not buy it.", "I like it, but I will not buy it."),
        ("MR4.3", "There's a reason, but we'll never know it.", "Although there's a reason, we'll never know it."),
        ("MR4.4", "The car is faster than the bicycle.", "The bicycle is slower than the car."),
        ("MR4.5", "The car is faster than the bicycle.", "The bicycle is faster than the car."),
    ],
)  # fmt: skip
def test_examples_of_the_study(name, source, follow_up):
    assert is_made(name, source, follow_up)


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("MR1.1", "I can't say it won't work.", "I cannot say it will not work."),
        ("MR1.1", "isn't she lovely, and don't you think so?", "is she not lovely, and do you not think so?"),
        ("MR1.1", "it's been done before, and he's made a film.", "it has been done before, and he has made a film."),
        ("MR1.1", "I'd rather leave; he'd seen it; she'd go.", "I would rather leave; he had seen it; she would go."),
        ("MR1.1", "The man who is trying will not fail.", "The man who's trying won't fail."),
        ("MR1.1", "IT IS GOOD.", "IT'S GOOD."),
        ("MR1.2", "it pays an homage to them.", "it pays a tribute to them."),
        ("MR1.2", "THE MOVIE IS BAD.", "THE FILM IS BAD."),
        ("MR1.3", "This movie is a mess.", "These movies are a mess."),
        ("MR1.3", "The dog has raided the tissues.", "The dogs have raided the tissues."),
        ("MR2.2", "She really loves the film.", "She does not really love the film."),
        ("MR2.2", "The film that I saw is good.", "The film that I saw is not good."),
        ("MR2.2", "It takes great pictures.", "It does not take great pictures."),
        ("MR4.1", "It's a film that doesn't know it's bad.", "It was a film that didn't know it was bad."),
        ("MR4.1", "I didn't like it.", "I don't like it."),
        ("MR4.2", "It is a dark and honest film.", "It is an honest and dark film."),
        ("MR4.2", "It is either brilliant or stupid.", "It is either stupid or brilliant."),
        ("MR4.3", "The Senate is slow, but it keeps its word.", "Although the Senate is slow, it keeps its word."),
        ("MR4.3", "I liked it, although the end was bad.", "The end was bad, but I liked it."),
        ("MR4.4", "Making a fictional movie is easier than making one about real life.",  # the study's own example
         "Making one about real life is harder than making a fictional movie."),
        ("MR4.4", "You aren't smarter than me.", "I am not dumber than you."),
        ("MR4.5", "My phone is more reliable than this one.", "This one is more reliable than my phone."),
    ],
)  # fmt: skip
def test_form_and_language_of_follow_ups(name, text, new):
    assert is_made(name, text, new)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MR1.1", "Good film."),
        ("MR1.4", "Made in the U.S."),
        ("MR1.4", "It has two doors."),  # there must be a sentiment to strengthen
        ("MR2.1", "It was not very good, but not bad either."),
        ("MR2.2", "It was not very good, but not bad either."),
        ("MR3.1", "1999"),
        ("MR3.2", "BAD FILM."),
        ("MR3.2", "The router has four ports."),
        ("MR4.5", "The box is larger than the phone."),
    ],
)
def test_no_group(name, text):
    assert follow_ups_of(name, text) == []


def test_the_study_is_followed_where_it_is_asked_for():
    assert follow_ups_of("MR1.4", "It has two doors.", strict=False) == ["It has two doors!"]
    assert follow_ups_of("MR3.2", "The router has four ports.", strict=False) == ["The ROUTER has four PORTS."]


def test_choices_depend_on_the_seed_alone_and_at_most_two_nouns_are_replaced():
    text = "The movie has a screenplay by a murderer on a couch."
    made = all_follow_ups("MR1.2", text)
    assert len(made) > 1
    assert follow_ups_of("MR1.2", text, "a") == follow_ups_of("MR1.2", text, "a")
    for follow_up in made:
        assert 1 <= sum(a != b for a, b in zip(text.split(), follow_up.split(), strict=True)) <= 2
    assert len(all_follow_ups("MR4.2", "The plot is dull and silly, and the songs are loud and ugly.")) == 2


POSITIVE, WEAKER, NEGATIVE, NEUTRAL = (
    Output("positive", 0.9), Output("positive", 0.5), Output("negative", 0.9), Output("neutral", 0.9),
)  # fmt: skip
STRONGER = [(WEAKER, POSITIVE, "SATISFIED"), (POSITIVE, WEAKER, "VIOLATED"), (NEUTRAL, POSITIVE, "INAPPLICABLE")]
OTHER = [(POSITIVE, NEUTRAL, "SATISFIED"), (POSITIVE, WEAKER, "VIOLATED"), (NEUTRAL, NEGATIVE, "INAPPLICABLE")]
SAME = [(POSITIVE, WEAKER, "SATISFIED"), (NEUTRAL, WEAKER, "VIOLATED")]


@pytest.mark.parametrize(
    ("names", "kept", "verdicts"),
    [
        ("MR1.1 MR1.2 MR1.3 MR3.1 MR4.1 MR4.2 MR4.3", "positive neutral negative", SAME),
        ("MR1.4 MR3.2", "positive neutral negative", STRONGER),
        ("MR2.1", "positive negative", STRONGER),
        ("MR2.2 MR4.5", "", OTHER),
        ("MR4.4", "neutral", SAME),
    ],
)
def test_checks_and_what_is_carried(names, kept, verdicts):
    for name in names.split():
        relation = get_relation("sentiment", name)
        assert [label for label in ("positive", "neutral", "negative") if relation.carry({label})] == kept.split()
        for source, follow_up, outcome in verdicts:
            assert relation.check([source, follow_up]).outcome is Outcome[outcome]


WORDS = [
    "the",
    "a",
    "film",
    "it",
    "he",
    "is",
    "was",
    "n't",
    "'s",
    "good",
    ",",
    ".",
    "but",
    "and",
    "than",
    "better",
    "not",
    "'",
    "...",
    "won't",
    "I",
    "Will",
    "-",
]


@pytest.mark.slow
@given(
    st.text(max_size=80) | st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.integers(),
)
@settings(max_examples=80, deadline=None)
def test_any_text_is_taken(text, seed):
    for name in SENTENCES:
        for follow_up in follow_ups_of(name, text, str(seed)):
            assert follow_up not in ("", text)
            assert not name.startswith("MR3") or not text.isascii() or follow_up.upper() == text.upper()


def test_the_guard_refuses_what_the_parser_reads_otherwise():
    text = Analysis("The engineer who saw the dog lives.")
    assert not guard.reads_well(text, "The engineer who saw the dogs live.")
    assert guard.reads_well(text, "The engineer who saw the cat lives.")


def test_addresses_code_and_quotations_are_protected():
    text = Analysis('Use `best()` at www.best.com, "the best" @best, 5 GB.')
    kept = {text.tokens[index].text for index in guard.protected(text)}
    assert {"best", "5", "GB"} <= kept
    assert {"Use", "at"}.isdisjoint(kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The error handler logs each failure.", False),
        ("The app is a failure.", True),
        ("My app has an error.", True),
        ("Despite the harsh exchanges, China wants to mend relations.", False),
        ("Mr. Lee said that the plan is unfair.", False),
        ("The plan of Mr. Lee is unfair.", True),
        ("a harsh, unfair film", True),
    ],
)
def test_neither_a_topic_nor_what_others_say_is_the_writers_feeling(text, expected):
    assert bool(feelings(Analysis(text))) == expected
