"""Coordinations and conjunctions: what is turned round, and what is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.packs.english.clauses import switch
from audit.packs.english.coordination import swap, swappable
from audit.packs.english.emphasis import article
from audit.text import Analysis


def swapped(text: str) -> list[str]:
    analysis = Analysis(text)
    return [swap(analysis, pair) for pair in swappable(analysis.tokens)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The film is wonderful and exciting.", "The film is exciting and wonderful."),
        ("It is a dark and honest film.", "It is an honest and dark film."),
        ("It is an honest and dark film.", "It is a dark and honest film."),
        ("It is told slowly and carefully.", "It is told carefully and slowly."),
        ("It is full of humor and pathos.", "It is full of pathos and humor."),
        ("The plot and dialogue are great.", "The dialogue and plot are great."),
        ("I saw it with Tom Hanks and Meg Ryan.", "I saw it with Meg Ryan and Tom Hanks."),
        ("It is either brilliant or stupid.", "It is either stupid or brilliant."),
        ("It was written and directed by a child.", "It was directed and written by a child."),
        ("Funny and clever film.", "Clever and funny film."),
        ("Rallies and ribbons", "Ribbons and rallies"),
        ("extra knobs or gizmos", "extra gizmos or knobs"),
        ("Meandering and confusing.", "Confusing and meandering."),
        ("I like the plot, the songs and the jokes.", "I like the plot, the jokes and the songs."),
        ("American and Soviet officials met.", "Soviet and American officials met."),
        ("He likes the weight and size of the phone.", "He likes the size and weight of the phone."),
        ("It is light and easy to use.", "It is easy to use and light."),
        ("The player works well and is easy to use.", "The player is easy to use and works well."),
        ("The screen is bright and the sound is clear.", "The sound is clear and the screen is bright."),
        ("They fly between London and New York.", "They fly between New York and London."),
        ("I saw Kenya, Ghana and South Africa.", "I saw Kenya, South Africa and Ghana."),
        ("They are shown in cities and on farms.", "They are shown on farms and in cities."),
    ],
)
def test_swapped(text: str, expected: str) -> None:
    assert swapped(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "It is shot in black and white.",
        "It gets better and better.",
        "She is happy and proud of him.",
        "It is slow and boring scenes follow.",
        "I saw the film and the acting was bad.",
        "The beginning of the film and end of it.",
        "He came and went.",
        "I liked Beauty and the Beast.",
        "a man and his dog.",
        "this film and its message.",
        "not good and bad",
        "bait and switch.",
        "We need salt, trees and flowers from Spain.",  # the flowers alone may be from Spain
        "They have sweeping ethics and campaign finance reforms.",
        "They like the motorola and the sony phones.",
        "I like the Board of Standards and Appeals.",
        "He sold cars of all ages and walks of life.",
        "Return it for an exchange and hope for the best.",
        "Have fun and experiment like crazy.",
        "It was small and hard to turn.",
        "It was picked and ordered.",
        "Nokias have good sound and this is no exception.",
        "He spoke yesterday and today.",
        "I met Paul and Seymour Milstein.",
        "I like the Americas and Africa.",
        "They went to the Philippines and Brunei.",
        "He paid a $2,000 fine and two-week suspension was his.",
        "and",
        "",
    ],
)
def test_not_swapped(text: str) -> None:
    assert swapped(text) == []


_ADJECTIVES = ["funny", "honest", "dull", "odd", "sad", "clever", "ugly", "unique"]


@given(some.sampled_from(_ADJECTIVES), some.sampled_from(_ADJECTIVES))
@settings(max_examples=40, deadline=None)
def test_swapping_twice_gives_the_source(one: str, two: str) -> None:
    text = f"It is {article('a', one)} {one} and {two} film."
    made = swapped(text)
    if one == two:
        assert made == []
    for follow_up in made:
        assert text in swapped(follow_up)
        assert sorted(follow_up.replace(" an ", " a ").split()) == sorted(text.replace(" an ", " a ").split())


@pytest.mark.parametrize(
    ("but", "although"),
    [
        ("There's a reason, but we don't know it.", "Although there's a reason, we don't know it."),
        ("I like it, but I will not buy it.", "Although I like it, I will not buy it."),
        ("the film is long, but it keeps its pace.", "although the film is long, it keeps its pace."),
        ("The Senate is slow, but it keeps its word.", "Although the Senate is slow, it keeps its word."),
        ("The Symantec site works, but it is slow.", "Although the Symantec site works, it is slow."),
        ("American cars are big, but they are slow.", "Although American cars are big, they are slow."),
        ("IBM is big, but it is slow.", "Although IBM is big, it is slow."),
    ],
)
def test_but_and_although(but: str, although: str) -> None:
    assert switch(Analysis(but)) == although
    assert switch(Analysis(although)) == but


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Many states levy such a tax but none collect much.",
            "Although many states levy such a tax, none collect much.",
        ),
        ("Talkiness is a fault, but I liked it.", "Although talkiness is a fault, I liked it."),
        ("Collateral Damage is loud, but it is dull.", "Although Collateral Damage is loud, it is dull."),
        ("@anonymous I lost it, but I am fine.", "@anonymous Although I lost it, I am fine."),
        ("Ugh. I don't like it, but I have it.", "Ugh. Although I don't like it, I have it."),
        (
            "The plot is thin and the jokes are old, but I liked it.",
            "Although the plot is thin and the jokes are old, I liked it.",
        ),
        ("The key (a big one) is fine, but I lost it.", "Although the key (a big one) is fine, I lost it."),
    ],
)
def test_but_in_other_texts(text: str, expected: str) -> None:
    assert switch(Analysis(text)) == expected


def test_although_elsewhere() -> None:
    assert switch(Analysis("It was slow but I liked it.")) == "Although it was slow, I liked it."
    assert switch(Analysis("I liked it, although the end was bad.")) == "The end was bad, but I liked it."
    assert switch(Analysis("Even though I like it, it is long.")) == "I like it, but it is long."


@pytest.mark.parametrize(
    "text",
    [
        "It is long, but worth it.",
        "The film is long but good.",
        "The film is good, although it is long.",  # "It is long, but the film is good": it comes before its noun
        "It is not only long, but it is dull.",
        "I'm sorry, but it is bad.",
        "A sad but endearing man does it.",
        "Is it long, but is it good?",
        "But it is good.",
        "Although good, it is long.",
        "It is long, but it is good, but it is old.",
        "The Mother is long, but it keeps its pace.",  # "The Mother" is a title, "The Senate" is none: who can tell?
        "Skin Of Man gets a few laughs, but it is long.",
        "Ice Age won't drop your jaw, but it will make you smile.",
        "Naturally, he had a word to say, but he was silent.",
        "Perhaps it was a prank, but it was fine.",
        "It is not easy, but rather it is hard.",
        "It is no use if the camera has it, but you cannot find it.",
        "Scroll button - it is nice, but it sticks.",
        "Despite the news, it was quiet, but the price was high.",
        "If you want it, it is good, but it is slow.",
        "",
    ],
)
def test_not_switched(text: str) -> None:
    assert switch(Analysis(text)) is None
