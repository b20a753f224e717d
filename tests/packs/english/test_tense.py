"""Tense: what is changed, and what is refused because a reading is not sure."""

import pytest

from audit.packs.english import parser
from audit.packs.english.tense import change_tense
from audit.text import Analysis


@pytest.mark.parametrize(
    ("present", "past"),
    [
        ("The story isn't new, but they tell it well.", "The story wasn't new, but they told it well."),
        ("It is so dark that you can't see it.", "It was so dark that you couldn't see it."),
        ("The actors give good performances.", "The actors gave good performances."),
        ("There is nothing new here.", "There was nothing new here."),
    ],
)
def test_both_ways(present: str, past: str) -> None:
    assert change_tense(Analysis(present)) == past
    assert change_tense(Analysis(past)) == present


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's a film that doesn't know where it's going.", "It was a film that didn't know where it was going."),
        ("It's been a long year.", "It had been a long year."),
        ("I'm bored and they're tired.", "I was bored and they were tired."),
        ("You'll love it because she's great.", "You'd love it because she was great."),
        ("I wasn't bored.", "I am not bored."),
        ("I didn't like it.", "I don't like it."),
        ("She didn't like it.", "She doesn't like it."),
        ("The storyline is as cliched as they come.", "The storyline was as cliched as they come."),
        ("A film made for children is not always a film made by them.", None),
        ("It won't win any prize, but it is fun.", "It wouldn't win any prize, but it was fun."),
        ("What Lies Beneath is a thriller.", "What Lies Beneath was a thriller."),
        ("I thought it would be good.", "I think it will be good."),
        ("a film that never loses its touch.", "a film that never lost its touch."),
        ("Is it good? It is.", "Was it good? It was."),
        ("It takes two weeks.", "It took two weeks."),
        ("The boss and the clerk were late.", "The boss and the clerk are late."),
        ("The price of the tickets seemed high.", "The price of the tickets seems high."),
        ("They saw that she found it.", "They see that she finds it."),
        ("I LOVE IT!", "I LOVED IT!"),
        ("@anonymous It's easy when you like what you do.", "@anonymous It was easy when you liked what you did."),
    ],
)
def test_contractions_and_fragments(text: str, expected: str | None) -> None:
    changed = change_tense(Analysis(text))
    if expected is None:
        assert changed is None or " make" not in changed
    else:
        assert changed == expected


@pytest.mark.parametrize(
    "text",
    [
        "It was bad, and it is long.",  # mixed tenses
        "It is now on DVD.",
        "I saw it last night.",
        "I rented it.",  # an event told by the speaker: "I rent it" says something else
        "Avoid it at all costs.",
        "Don't see it.",
        "It might be good.",
        "It should be longer.",
        "What a film!",
        "Let's see.",
        'He says "it is good".',
        "You could see the strings.",  # past or condition
        "They put it on.",  # put is both
        "It will please you.",
        "The overweight get fat more because their bodies burned calories.",
        "It lasted about 1 1/2 weeks.",
        "It worked for two hours.",
        "They bought it in 1999.",
        "Don't be drained by the thought of it.",
        "Mystery solved.",
        "Often the things people treasure have no value.",
        "It obstructs the view through the viewfinder but not views through the screen.",
        "Going to make her a cup of tea when she gets home",
        "Fires will send carbon dioxide back to the atmosphere and rekindle fears.",
        "Some 40 percent thought it was good.",
        "That act of omission perpetuates discrimination and jeopardizes competitiveness.",
        "Next thursday it is supposed to be low.",
        "here ya go: it is good.",
        "He said that it is good.",
        "the film's not bad, and it is long.",
        "",
    ],
)
def test_refused(text: str) -> None:
    assert change_tense(Analysis(text)) is None


def test_there_must_be_a_parser(monkeypatch) -> None:
    monkeypatch.setattr(parser, "model_name", lambda: None)
    assert change_tense(Analysis("There is nothing new here.")) is None
