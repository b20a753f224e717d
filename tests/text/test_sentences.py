"""Where sentences end: cases by name, texts marked by hand, and what holds for any text."""

import csv
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.resources import data_file
from audit.text.sentences import spans

CASES = {
    "negations": "It plays everything, but it can't.|Unfortunately I bought it.|He said he'd.|They left.",
    "acronyms": "It failed again to pay off a U.N. delinquency account.|Then it left.",
    "an acronym before a name": "Congress urged H.U.D. Secretary Samuel Pierce to act.|He did not.",
    "an acronym at the end": "She works in the U.S.|She likes it.|The U.S. Senate met.",
    "initials": "It was the opening of I. M. Pei's building.|You and I.|They left.|J. R. R. Tolkien wrote it.",
    "an initial that is a word": "Edward I. Koch is here.|So did I.|Then he left.",
    "months, titles, hours": "On Oct. 1 Gov. Cuomo left at 5 p.m.|The talks failed.|Sen. Smith and Pres. Obama met.",
    "firms": "Acme Inc. said no.|It closed at Acme Inc.|The end.",
    "a state": "He moved to New York, N.Y. 10001.|He stayed.|They met in Birmingham, Ala.|The Japanese came.",
    "words that are states, too": "i feel ill.|great phone.|wash it in the wash.|fine.",
    "lower case behind a bracket": "There was one (one that I expected!) when unloading.|It went.",
    "a question that is a subject": "''What happened?'' is a question.|\"Do you?\" he asked.|\"Yes!\" she said.",
    "numbers of a list": "1. The price.|2. The size.|It gave me headaches;  1. the price  2. the size.",
    "a mark by itself": "What a day! !|I like it.",
    "numbers": "It was 3.5.|He is No. 1.|No.|It isn't.|It takes disks.|3 months of use.",
    "closing marks behind a space": "She said ''stop. ''|Then she left.",
    "dots": "Wait... what?|Well...|I see.|It is ... good.",
    "dots without capitals": "the sound is wonderful...|my only gripe is this.|it is ... good.",
    "spaced tokens": "the film is . . . well , good .|mr . deeds likes it .",
    "Latin": "They like cats, e.g. tigers, i.e. big ones, etc. and so on.|cf. this.",
    "no capitals, no spaces": "it is great!!!!|i love it!!!|why not?|One.|Two three.",
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_end(name):
    expected = CASES[name].split("|")
    text = " ".join(expected)
    assert [text[start:end] for start, end in spans(text)] == expected


MARKED = {"newspaper": (246, 246, 246), "products": (221, 220, 220), "films": (89, 86, 85), "tweets": (110, 109, 109)}
"""Of each register the ends found, the ends marked, and the ends found that are marked."""


def marked_texts():
    """(register, text, ends marked, ends that may be) of the texts marked by hand."""
    with data_file("boundaries/english.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text, ends = "", {"‖": set(), "¦": set()}
            for character in row["text"]:
                if character in ends:
                    ends[character].add(len(text))
                else:
                    text += character
            yield row["register"], text, ends["‖"], ends["¦"]


def test_boundaries_marked_by_hand_are_found():
    found, marked, both = Counter(), Counter(), Counter()
    for register, text, ends, optional in marked_texts():
        ours = {end for _, end in spans(text) if end < len(text.rstrip())} - optional
        found[register] += len(ours)
        marked[register] += len(ends)
        both[register] += len(ours & ends)
    assert {register: (found[register], marked[register], both[register]) for register in found} == MARKED


@given(st.text(st.sampled_from("aB.?! ('\")\n1"), max_size=60))
def test_nothing_but_white_space_is_left_out(text):
    cut = spans(text)
    assert all(start < end for start, end in cut)
    assert [character for start, end in cut for character in text[start:end] if not character.isspace()] == [
        character for character in text if not character.isspace()
    ]
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(cut))
