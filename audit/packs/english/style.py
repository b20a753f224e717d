"""Perturbations of how an English text is put: capitals, marks, spelling, the manner of a chat or of speech, and words
and sentences around it that say nothing.

What they keep is what is said; labels of register (formal, shouted, spoken) they break. docs/reference/relations.md
lists them by task.
"""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import ANYWHERE, TOOLS, WRITING, ends, ends_abbreviated
from audit.packs.english.vocabulary import BE_FINITE, QUOTES
from audit.relations.base import Rewritten
from audit.relations.perturbations import EVERY, joint_perturbation, perturbation, uses
from audit.resources import data_file
from audit.text import Analysis
from audit.text.tokens import words

_MANNER = "another manner"
_AROUND = "words around the text"
_STATED = uses("classification", "inference", "sentiment", "similarity", "summarization")
"""Not of questions."""

# Capitals and marks.

_PLAIN = re.compile(r"(?<![\w'’@#/.&-])[a-z][a-z'’]*(?![\w@/&]|\.\w)")
"""Words in small letters that are no part of an address or of a word with a hyphen."""


@perturbation("title-case", family=WRITING, tasks=ANYWHERE)
def title_case(text: Analysis, choices: random.Random) -> str | None:
    """Every word begins with a capital.

    Keeps what is said; may break labels of style, and which words are names.

    >>> title_case(Analysis("It isn't a good film."), random.Random(0))
    "It Isn't A Good Film."
    """
    return _PLAIN.sub(lambda match: match.group()[0].upper() + match.group()[1:], text.text)


@perturbation("punctuation-added", family=WRITING, tasks=ANYWHERE)
def punctuation_added(text: Analysis, choices: random.Random) -> str | None:
    """Marks that say nothing are added: a dash, star or arrow before the text, or a second full stop behind it.

    Keeps every word; may break labels of form and tone: a star makes a list item, an arrow a quotation, two full stops
    a voice that trails off.

    No exclamation mark: it is MR1.4 of sentiment.

    >>> punctuation_added(Analysis("It is good."), random.Random(1))
    '* It is good.'
    """
    body = text.text.strip()
    if not body[:1].isalnum():
        return None
    kinds = [f"{mark} {body}" for mark in "-*>"]
    if body[-1] in ".?" and body[-2:-1].isalnum() and not ends_abbreviated(body):
        kinds += [body + body[-1]] * 3
    return choices.choice(kinds)


# Spelling.


_RESPELT = "spelling"
_ASKED = uses("question-answering")


@joint_perturbation(
    _RESPELT, family=WRITING, tasks={task: use for task, use in EVERY.items() if task not in _ASKED}, version="2"
)
def spelling(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """British spellings become American, or, where there are none, American ones British: "colour", "color".

    Keeps what is said; may break labels of where a text or its writer comes from, and the spelling of somebody who is
    quoted.

    The words are those of `data/lexicons/spellings.tsv` that mean the same in both; of two texts, both change alike.
    Names stay.

    >>> spelling([Analysis("The colour is grey."), Analysis("It's a color.")], random.Random(0)).texts
    ('The color is gray.', "It's a color.")
    """
    for table in _spellings():
        new = tuple(_respelt(text.text, table) for text in texts)
        if new != tuple(text.text for text in texts):
            return Rewritten(new)
    return None


@perturbation(_RESPELT, family=WRITING, tasks=_ASKED, version="2")
def question_spelling(text: Analysis, choices: random.Random) -> str | None:
    """British spellings become American, or, where there are none, American ones British: "colour", "color".

    Keeps what is asked; may break an answer that is looked up by the question's very words, since the context keeps its
    spelling.

    >>> question_spelling(Analysis("Who liked the color?"), random.Random(0))
    'Who liked the colour?'
    """
    spelt = spelling([text], choices)
    return spelt.texts[0] if spelt else None


def _respelt(text: str, table: Mapping[str, str]) -> str:
    return _PLAIN.sub(lambda match: table.get(match.group(), match.group()), text)


@cache
def _spellings() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """British to American, and back."""
    american: dict[str, str] = {}
    for line in data_file("lexicons/spellings.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            first, second, *endings = line.split()
            for ending in ("", *endings):
                american[_with(first, ending)] = _with(second, ending)
    return american, {second: first for first, second in american.items()}


def _with(stem: str, ending: str) -> str:
    """An ending that begins with a vowel takes the place of a silent e: "realise", "realising"."""
    return (stem[:-1] if stem[-1] == "e" and ending[:1] in ("e", "i", "a") else stem) + ending


# The manner of a chat, and of speech.

_SHORT: Mapping[str, str] = {
    "by the way": "btw",
    "to be honest": "tbh",
    "in my opinion": "imo",
    "as far as i know": "afaik",
    "as soon as possible": "asap",
    "i don't know": "idk",
    "are you": "r u",
    "you are": "ur",
    "your": "ur",
    "you": "u",
    "because": "cuz",
    "please": "pls",
    "thanks": "thx",
    "thank you": "thx",
    "people": "ppl",
    "tomorrow": "tmrw",
    "tonight": "2nite",
    "before": "b4",
    "without": "w/o",
    "with": "w/",
    "though": "tho",
    "although": "altho",
    "through": "thru",
    "probably": "prob",
    "something": "smth",
    "about": "abt",
    "really": "rly",
    "between": "btwn",
    "and": "&",
    "minutes": "mins",
    "message": "msg",
    "favorite": "fave",
}
_CHAT = re.compile(
    r"(?<![\w'’@#/&-])(?:" + "|".join(sorted(_SHORT, key=len, reverse=True)) + r")(?![\w'’@/&-])", re.IGNORECASE
)


@perturbation("social-media", family=_MANNER, tasks=EVERY)
def social_media(text: Analysis, choices: random.Random) -> str | None:
    """Common words are written as in chats ("u", "cuz", "w/o"), in small letters and without the last full stop.

    Keeps what is said; may break labels of register and of the writer's age, and short words that stand for two ("ur":
    "your", "you are").

    Words with a capital inside a sentence stay: they may be names. Nothing is added that praises or blames ("lol",
    faces).

    >>> social_media(Analysis("Thanks for the film, I like it because you do."), random.Random(0))
    'thx for the film, I like it cuz u do'
    """

    def shortened(match: re.Match[str]) -> str:
        words = match.group()
        stranded = words.lower() in ("with", "and") and not re.match(r" \w", match.string[match.end() :])
        inside = any(letter.isupper() for letter in words[1:]) or (words[0].isupper() and match.start() > 0)
        return words if inside or stranded else _SHORT[words.lower()]

    body = text.text.strip()
    if body.isupper() or not QUOTES.isdisjoint(body.replace("'", "").replace("’", "")):
        return None
    new = _CHAT.sub(shortened, body)
    if new == body:
        return None
    if new[-1:] == "." and not ends_abbreviated(new) and new[-2:-1].isalnum():
        new = new[:-1]
    return new


_HANDLES = words("sam_k lena77 jo_reads the_mike tomtom_b annika_w dave_ok rita_o")


@perturbation("mention-and-link", family=_MANNER, tasks=EVERY)
def mention_and_link(text: Analysis, choices: random.Random) -> str | None:
    """Somebody is addressed before the text and a link stands behind it, as in posts.

    Keeps every sentence of the text; may break whom it speaks to, and labels of source or of advertising, to which
    links belong.

    The name and the link are invented and say nothing.

    >>> mention_and_link(Analysis("I like it."), random.Random(0))
    '@the_mike I like it. https://example.org/p/876'
    """
    body = text.text.strip()
    if not ends(body) or body[0] == "@" or "http" in body:
        return None
    return f"@{choices.choice(sorted(_HANDLES))} {body} https://example.org/p/{choices.randrange(100, 999)}"


# Words and sentences around a text, or in it, that say nothing.

_NEUTRAL = ("actually", "in fact", "indeed")


@perturbation("adverbs", family=_AROUND, tasks=_STATED, needs=TOOLS, grammar=True)
def adverbs(text: Analysis, choices: random.Random) -> str | None:
    """By the main verb of one sentence stands "actually", "in fact" or "indeed".

    Keeps what is true; may break tone: "actually" hints that somebody thought otherwise, "indeed" that somebody agrees.

    Only in a statement without negation, question or other adverb there.

    >>> adverbs(Analysis("The film opens in May."), random.Random(0))
    'The film actually opens in May.'
    """
    tree = tree_of(text.tokens)
    if tree is None:
        return None
    places = [place for root in tree.roots() if (place := _adverb_place(tree, root)) is not None]
    if not places:
        return None
    at, behind = choices.choice(places)
    word = tree.words[at]
    adverb = choices.choice(_NEUTRAL if behind and word.head == word.index else _NEUTRAL[:1])
    adverb = adverb.upper() if text.text.isupper() else adverb
    return text.replace({at: f"{word.text} {adverb}" if behind else f"{adverb} {word.text}"})


_SAID = words(
    "also always never often really still even just already actually indeed not n't only all both so too if unless "
    "let me got"
)


def _adverb_place(tree: Parse, root: Word) -> tuple[int, bool] | None:
    """The word by whose side an adverb reads well, and whether it stands behind it; None: none does."""
    tensed, subject = tree.tensed(root.index), tree.subject(root.index)
    if (
        root.tag[:2] != "VB"
        or tensed is None
        or subject is None
        or subject.index > tensed.index
        or subject.tag[:1] == "W"
        or (tensed.tag == "MD" and tensed.low not in ("will", "'ll"))
    ):
        return None
    under = tree.under(root.index)
    if not _SAID.isdisjoint(word.low for word in under) or any(word.text in '?"“”;:' for word in under):
        return None
    before = tree.words[tensed.index - 1]
    if not before.text[-1].isalnum() or before.tag in ("RB", "CC", "IN", "WRB", "WP", "WDT"):
        return None
    after = tree.words[tensed.index + 1] if tensed.index + 1 < len(tree.words) else None
    if after is None or not after.text[0].isalnum() or after.tag in ("RB", "RBR", "RBS", "TO", "PRP", "WRB", "WP"):
        return None
    if tensed is not root or tensed.low in BE_FINITE | {"'s", "'re", "'m"}:
        return (tensed.index, True) if tensed.low not in ("do", "does", "did", "'d") else None
    return (tensed.index, False) if tensed.tag in ("VBZ", "VBD") else None
