"""Comparisons of two noun phrases: "[one] is [faster] than [two]", "[one] is [different] from [two]"."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from audit.packs.english.capitals import keeps_capital
from audit.packs.english.guard import number_of, protected
from audit.packs.english.number import agree
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import words

_COPULAS = words("be seem look feel sound appear taste smell")
_TO_SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# "The book is worse than it" reads badly; a review that says "it" of its film may as well say "this".
_TO_OBJECT = {**{subject.lower(): obj for obj, subject in _TO_SUBJECT.items()}, "it": "this"}
_BARRED = words(
    "anything anyone anybody nothing nobody everything everyone everybody something someone none ones each every no "
    "any either neither few little opinion average usual normal expected before ever other others same such half part "
    "bit lot lots deal way what expectations hell shit crap ice own its their itself himself herself themselves "
    "second seconds minute minutes hour hours day days week weeks month months year years degrees dollars percent "
    "inches feet pounds miles"
)
_POINTING = words("it its he his him she her they them their")
# "Even better" says that both are good: turned round, it would say that both are bad. A wish is no statement.
_PRESUMING = words("even also too either again no should must ought would 'd could might may can")
_UNREAL = words("wish wishes wished hope hopes hoped doubt expect if")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Token ranges of one comparison, the heads of its two sides, and the word that agrees with the subject."""

    one: range
    two: range
    quality: range
    """Of the comparative: "faster", "more reliable", "different"."""
    subject: Word
    object: Word
    finite: Word
    verb: Word


@cache
def antonyms() -> Mapping[str, str]:
    """Comparative -> comparative of its antonym, from data/lexicons/comparatives.tsv.

    >>> antonyms()["faster"]
    'slower'
    """
    table = {row[0]: row[1] for row in data_rows("lexicons/comparatives.tsv")}
    return {opposite: word for word, opposite in table.items() if " " in opposite} | table


@cache
def judging() -> frozenset[str]:
    """The comparatives, and their antonyms, that call one side better: "faster", not "larger"."""
    return frozenset(word for row in data_rows("lexicons/comparatives.tsv") if row[2:] for word in row[:2])


def find(text: Analysis, joint: str = "than") -> Comparison | None:
    """The comparison of two noun phrases in this text, or None: there must be one, in a clause of its own, and nothing
    else in the text may stand or fall with which of the two is the subject.

    >>> find(Analysis("The car is faster than the bicycle.")) is None
    False
    >>> find(Analysis("It is better than I thought.")) is None
    True
    """
    tree = tree_of(text.tokens) if text.low.count(joint) == 1 and "?" not in text.words else None
    if tree is None or text.words & _UNREAL:
        return None
    than = tree[text.low.index(joint)]
    verb = tree[tree[than.head].head]
    subject, other, first = tree.subject(verb.index), tree.child(than.index, "pobj", "pcomp"), _comparative(tree, than)
    finite = tree.tensed(verb.index)
    if subject is None or other is None or first is None or finite is None:
        return None
    one, two = (_phrase(tree, head) for head in (subject, other))
    copula = base(verb.lower) in _COPULAS or verb.text[0] in "'’"
    if one is None or two is None or (one.stop, two.start) != (finite.index, than.index + 1) or not copula:
        return None
    between = {*range(finite.index + 1, first)} - {verb.index} - {word.index for word in tree.under(than.head)}
    degrees = all(tree[at].relation in ("advmod", "neg", "aux", "npadvmod") for at in between)
    if not degrees or _POINTING & {*text.low[two.stop :]} or not protected(text).isdisjoint([*one, *two]):
        return None
    found = Comparison(one, two, range(first, than.index), subject, other, finite, verb)
    return found if _stands_alone(tree, found) else None


def _comparative(tree: Parse, than: Word) -> int | None:
    """Index of the first word of a comparative right before "than": of "more" in "more reliable"."""
    quality, before = tree[than.head], tree[max(than.head - 1, 0)]
    if than.relation != "prep" or than.index != quality.index + 1 or tree.child(quality.index, "det", "conj"):
        return None
    if than.lower == "from":
        return quality.index if quality.lower == "different" else None
    if before.lower in ("more", "less") and before.head == quality.index:
        return before.index if quality.tag in ("JJ", "VBN", "VBG") or quality.lower == "fun" else None
    known = quality.tag in ("JJR", "RBR") and quality.lower not in ("more", "less")
    return quality.index if known or quality.lower in antonyms() else None


def _phrase(tree: Parse, head: Word) -> range | None:
    """The words of a noun phrase that may stand on either side of a comparison."""
    inside = tree.under(head.index)
    low = {word.lower for word in inside}
    if inside[-1].index - inside[0].index + 1 != len(inside) or low & {*',;:()"“”-'} or low & _BARRED:
        return None
    if head.tag[:3] == "PRP" or head.tag == "DT":
        fits = len(inside) == 1
    else:
        fits = head.tag[:2] == "NN" or tree.child(head.index, "det", "poss", "amod") is not None or head.tag == "VBG"
    return range(inside[0].index, inside[-1].index + 1) if fits else None


def _stands_alone(tree: Parse, found: Comparison) -> bool:
    """Whether the comparison is a clause that begins with its subject and ends with its object, and no other clause
    hangs on it: what a parser has cut short goes on behind it."""
    before = tree[found.one.start - 1] if found.one.start else None
    after = tree[found.two.stop] if found.two.stop < len(tree) else None
    begins = before is None or before.relation in ("cc", "mark") or before.text[-1] in '.!:,;("“'
    ends = after is None or not after.text[0].isalnum() or after.relation in ("cc", "mark", "advmod")
    if found.verb.relation in ("relcl", "acl", "pcomp") or not (begins and ends):
        return False
    for word in tree.children(found.verb.index):
        if word.relation in ("prep", "npadvmod", "advcl", "ccomp") and word.index < found.one.start:
            return False  # "Cutting down on time, the first was faster"
        shared = word.relation in ("conj", "advcl", "ccomp", "xcomp") and tree.subject(word.index) is None
        if shared and word.index > found.two.stop:
            return False
    return True


def rephrase(text: Analysis) -> str | None:
    """ "[one] is [c1] than [two]" as "[two] is [c2] than [one]" with the antonym c2, or None.

    >>> rephrase(Analysis("The car is only slightly faster than the bicycle."))
    'The bicycle is only slightly slower than the car.'
    >>> rephrase(Analysis("These films are more subtle than this book."))
    'This book is less subtle than these films.'
    """
    found = find(text)
    if found is None or not _PRESUMING.isdisjoint(text.low[found.finite.index : found.quality.start]):
        return None
    word = _quality(text, found)
    opposite = antonyms().get(word) or {"more": "less", "less": "more"}.get(word[:4], "") + word[4:]
    return None if opposite == word or opposite[0] == " " else _exchanged(text, found, opposite)


def exchange(text: Analysis, joint: str = "than") -> str | None:
    """The two phrases of a comparison exchanged, everything else kept, or None.

    >>> exchange(Analysis("The film is different from the book."), "from")
    'The book is different from the film.'
    """
    found = find(text, joint)
    return _exchanged(text, found, _quality(text, found)) if found else None


def reverse(text: Analysis) -> str | None:
    """The two phrases of a comparison exchanged where that turns the judgement round: where the comparison is the
    statement of its sentence and calls one side better; else None.

    >>> reverse(Analysis("The car is faster than the bicycle."))
    'The bicycle is faster than the car.'
    >>> reverse(Analysis("The car is larger than the bicycle.")) is None
    True
    """
    found = find(text)
    states = found is not None and found.verb.relation in ("ROOT", "ccomp", "conj")
    judges = found is not None and _quality(text, found).lower() in judging()
    return _exchanged(text, found, _quality(text, found)) if found and states and judges else None


def _quality(text: Analysis, found: Comparison) -> str:
    return text.text[text.tokens[found.quality.start].start : text.tokens[found.quality.stop - 1].end]


def _exchanged(text: Analysis, found: Comparison, quality: str) -> str | None:
    tree, one, two = tree_of(text.tokens), found.one, found.two
    number = None if tree is None else number_of(tree, found.object)
    number = {"me": "first", "us": "plural", "them": "plural"}.get(found.object.lower, number or "singular")
    verb = agree(found.finite, number)
    if tree is None or verb is None:
        return None
    first, second = (text.text[tree[side.start].start : tree[side.stop - 1].end] for side in (one, two))
    between = text.text[found.finite.end : tree[found.quality.start].start]
    if verb == "am":
        between = between.replace("n't", " not", 1)
    capital = first[0].isupper() and (one.start == 0 or tree[one.start - 1].text in '.!:("“')
    if capital and not keeps_capital(tree, one.start):
        first = first[0].lower() + first[1:]
    first, second = _TO_OBJECT.get(first.lower(), first), _TO_SUBJECT.get(second.lower(), second)
    second = second[0].upper() + second[1:] if capital else second
    link = text.text[tree[found.quality.stop - 1].end : tree[two.start].start]
    gap = text.text[tree[one.stop - 1].end : found.finite.start] or " "
    tail = text.text[tree[two.stop - 1].end :]
    return f"{text.text[: tree[one.start].start]}{second}{gap}{verb}{between}{quality}{link}{first}{tail}"
