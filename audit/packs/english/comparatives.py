"""Comparisons of two noun phrases: "[one] is [faster] than [two]", "[one] is [different] from [two]"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.packs.english.number import agree
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, known_as
from audit.resources import data_file
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_COPULAS = words("be seem look feel sound appear taste smell")
_TO_SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# "The book is worse than it" reads badly; a review that says "it" of its film may as well say "this".
_TO_OBJECT = {**{subject.lower(): obj for obj, subject in _TO_SUBJECT.items()}, "it": "this"}
_SINGULAR = words("he she it this that")
_PLURAL = words("we you they these those")
_NOUNLESS = words("first second third fourth original former latter previous")
_BARRED = words(
    "anything anyone anybody nothing nobody everything everyone everybody something someone none ones each every no "
    "any either neither few little opinion average usual normal expected before ever other others same such half part "
    "bit lot bunch deal way what expectations hell heck shit crap dirt gold ice second seconds minute minutes hour "
    "hours day days week weeks month months year years degree degrees dollars percent inch inches foot feet pounds "
    "miles"
)
_BOUND = words("its their own itself himself herself themselves")
_POINTING = words("it its he his him she her they their them")
# "Even better" says that both are good: turned round, it would say that both are bad.
_PRESUMING = words("even also too either again no")
_OPEN = words("should must ought would 'd could might may can")
_UNREAL = words("wish wishes wished hope hopes hoped doubt expect")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Token ranges of one comparison."""

    subject: range
    finite: int
    """Index of the word that agrees with the subject."""
    quality: range
    """Of the comparative: "faster", "more reliable", "different"."""
    object: range
    number: str
    """Grammatical number of the object: first (person), singular, plural."""
    is_statement: bool
    """Whether it is what the sentence states, not a reason or a condition in it."""


@cache
def antonyms() -> Mapping[str, str]:
    """Comparative -> comparative of its antonym, from data/lexicons/comparatives.tsv.

    >>> antonyms()["faster"]
    'slower'
    """
    table = {row[0]: row[1] for row in _rows()}
    return {opposite: word for word, opposite in table.items() if " " in opposite} | table


@cache
def judging() -> frozenset[str]:
    """The comparatives, and their antonyms, that call one side better: "faster", not "larger"."""
    return frozenset(word for row in _rows() if row[2:] for word in row[:2])


@cache
def _rows() -> list[list[str]]:
    lines = data_file("lexicons/comparatives.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def find(analysis: Analysis, joint: str = "than") -> Comparison | None:
    """The comparison of two noun phrases in this text, or None: there must be one, and nothing else in the text may
    stand or fall with which of the two is the subject.

    >>> find(Analysis("The car is faster than the bicycle.")) is None
    False
    >>> find(Analysis("It is better than I thought.")) is None
    True
    """
    if joint not in analysis.words or "?" in analysis.words or analysis.low.count(joint) > 1:
        return None
    tree = tree_of(analysis.tokens)
    if tree is None:
        return None
    than = tree.words[analysis.low.index(joint)]
    quality = tree.words[than.head]
    if quality.relation == "xcomp" and tree.under(quality.index)[0].lower == "to":
        quality = tree.words[quality.head]  # "easier to use than"
    verb, first = tree.words[quality.head], _comparative(tree, quality, joint)
    subject, other = tree.subject(verb.index), tree.child(than.index, "pobj", "pcomp")
    if than.relation != "prep" or first is None or subject is None or other is None:
        return None
    if base(verb.lower) not in _COPULAS and verb.text[0] not in "'’":
        return None
    if any(tree.words[at].relation in ("prep", "pobj", "punct") for at in range(quality.index, than.index)):
        return None  # "more relaxed around him than her"
    one, two = _phrase(analysis, tree, subject), _phrase(analysis, tree, other)
    if one is None or two is None:
        return None
    finite = min([verb.index, *(word.index for word in tree.children(verb.index) if word.relation == "aux")])
    if one.stop != finite or two.start != than.index + 1 or not tree.is_finite(verb.index):
        return None
    number = number_of(tree, other, two)
    if number_of(tree, subject, one) is None or number is None:
        return None
    if not _adverbs_only(tree, verb, quality, range(finite + 1, first)) or not _stands_alone(
        analysis, tree, verb, one, two
    ):
        return None
    if "it" in (subject.lower, other.lower) and (
        {"this", "that"} & analysis.words or any(word.tag[:2] in ("NN", "PR") for word in tree.words[: one.start])
    ):
        return None  # "it" is something named before, and "this" would be something else
    is_statement = verb.relation in ("ROOT", "ccomp", "conj")
    return Comparison(one, finite, range(first, than.index), two, number, is_statement)


def _comparative(tree: Parse, quality: Word, joint: str) -> int | None:
    """Index of the first word of a comparative: of "more" in "more reliable and cheap"."""
    if joint == "from":
        return quality.index if quality.lower == "different" else None
    if quality.relation not in ("acomp", "advmod", "oprd", "attr") or tree.child(quality.index, "det") is not None:
        return None
    first = tree.words[max(quality.index - 1, 0)]
    if first.lower in ("more", "less") and first.head == quality.index:
        return first.index if quality.tag in ("JJ", "VBN", "VBG") or quality.lower == "fun" else None
    known = quality.tag in ("JJR", "RBR") or quality.lower in antonyms()
    alone = tree.child(quality.index, "conj") is None
    return quality.index if known and alone and quality.lower not in ("more", "less") else None


def _phrase(analysis: Analysis, tree: Parse, head: Word) -> range | None:
    """The words of a noun phrase, without what is put in behind a comma; None where they are not in one piece."""
    low, inside = analysis.low, tree.under(head.index)
    start, stop = inside[0].index, inside[-1].index + 1
    if stop - start != len(inside):
        return None
    for index in range(start, stop):
        if not low[index][0].isalnum() and low[index][0] not in "'’&$%#" and not _is_glued(analysis, index):
            inner = {word.relation for word in tree.words[index:stop]}
            if low[index] == "(" and low[stop - 1] == ")":
                break
            if index <= head.index or inner & {"conj", "relcl", "appos", "acl"}:
                return None
            stop = index
            break
    while stop < len(low) and low[stop] == "+" and _is_glued(analysis, stop):
        stop += 1
    text = analysis.text[tree.words[start].start : tree.words[stop - 1].end]
    broken = any(mark in text for mark in ("  ", "\n", "''", " - ", "&amp"))
    return None if broken or low[stop - 1] in ("'s", "'", "-") else range(start, stop)


def _is_glued(analysis: Analysis, index: int) -> bool:
    """Whether a mark is written in one with the words around it, as in "4/2200" and "XP 2000+"."""
    tokens, text = analysis.tokens, analysis.text
    ends = tokens[index].end == len(text) or text[tokens[index].end] in " ,."
    return (
        tokens[index].text not in ',.;:!()"'
        and tokens[index - 1].end == tokens[index].start
        and (tokens[index].text == "+" or not ends)
    )


def number_of(tree: Parse, head: Word, phrase: range) -> str | None:
    """first, singular or plural; None for what is no noun phrase, or one that would not read well on the other side."""
    low = head.lower
    if head.tag.startswith("PRP") or head.tag == "DT":
        low = _TO_SUBJECT.get(low, low).lower()
        if len(phrase) > 1:
            return None  # "that of the other"
        return "first" if low == "i" else "singular" if low in _SINGULAR else "plural" if low in _PLURAL else None
    determiners = {
        word.lower for word in tree.children(head.index) if word.relation in ("det", "predet", "amod", "neg")
    }
    if low == "one" and determiners:
        return "singular"
    if low in ("most", "many", "some", "all"):
        of = tree.child(head.index, "prep")  # "most of the phones"
        several = of is not None and any(word.tag == "NNS" for word in tree.children(of.index))
        return "plural" if several else None
    if low in _BARRED or low == "one" or determiners & words("no each every few either neither same such own"):
        return None
    if head.tag == "VBG" and len(phrase) > 1 and head.index == phrase.start:
        return "singular"
    if low in _NOUNLESS:
        return "singular" if len(phrase) == 2 else None
    if head.tag == "CD" and determiners:
        return "plural" if low.isalpha() else "singular"  # "the other two", "the 6610"
    if not head.tag.startswith("NN") and (not determiners or known_as(low, "ADJ")):
        return None  # a name in small letters may have any tag
    joined = any(word.lower in ("and", "&") and word.relation == "cc" for word in tree.children(head.index))
    return "plural" if joined or head.tag in ("NNS", "NNPS") else "singular"


def _adverbs_only(tree: Parse, verb: Word, quality: Word, between: range) -> bool:
    """Whether what stands between verb and comparative says how much, or how surely: "is only slightly larger"."""
    allowed = {verb.index, *(word.index for word in tree.under(quality.index))}
    for word in tree.children(verb.index):
        if word.relation in ("advmod", "neg", "aux", "npadvmod"):
            allowed.update(inside.index for inside in tree.under(word.index))
    return all(index in allowed and tree.words[index].text[0] not in ",;:()-–" for index in between)


def _stands_alone(analysis: Analysis, tree: Parse, verb: Word, one: range, two: range) -> bool:
    """Whether nothing around the comparison hangs on its subject: a participle ("Cutting down on time, the first was
    faster"), a second verb, a pronoun."""
    low = analysis.low
    if not _POINTING.isdisjoint(low[two.stop :]) or not _BOUND.isdisjoint(low[two.start : two.stop]):
        return False
    if verb.relation in ("relcl", "acl", "pcomp") or not _UNREAL.isdisjoint(low[: one.start]):
        return False
    for word in tree.children(verb.index):
        if word.index in one or word.index in two:
            continue
        dependent = word.relation in ("conj", "advcl", "ccomp", "xcomp") and word.tag[:2] in ("VB", "JJ", "RB", "NN")
        if dependent and tree.subject(word.index) is None:
            return False
        if word.relation in ("prep", "npadvmod", "advcl") and word.index < one.start:
            return False
    before, after = tree.words[max(one.start - 1, 0) : one.start], low[two.stop : two.stop + 2]
    if any(word.text in "&@#" or word.tag[:2] in ("NN", "JJ", "DT", "CD", "PO") or word.tag == "VB" for word in before):
        return False  # the parser has cut the subject short
    if {"which", "who", "whose"} & {*after}:
        return False
    # Not "than others in the same range": the parser has cut the object short.
    return not after or not after[0][0].isalnum() or tree.words[two.stop].relation in ("cc", "mark", "advmod")


def rephrase(analysis: Analysis) -> str | None:
    """ "[one] is [c1] than [two]" as "[two] is [c2] than [one]" with the antonym c2, or None.

    >>> rephrase(Analysis("The car is only slightly faster than the bicycle."))
    'The bicycle is only slightly slower than the car.'
    >>> rephrase(Analysis("These films are more subtle than this book."))
    'This book is less subtle than these films.'
    """
    comparison = find(analysis)
    if comparison is None:
        return None
    before = analysis.low[comparison.finite : comparison.quality.start]
    word, rest = _quality(analysis, comparison)
    opposite = antonyms().get(word) or {"more": "less", "less": "more"}.get(word[:4], "") + word[4:]
    if opposite == word or opposite[0] == " " or not (_PRESUMING | _OPEN).isdisjoint(before):
        return None
    return _exchange(analysis, comparison, opposite + rest)


def exchange(analysis: Analysis, joint: str = "than") -> str | None:
    """The two phrases of a comparison exchanged, everything else kept, or None.

    >>> exchange(Analysis("The film is different from the book."), "from")
    'The book is different from the film.'
    """
    comparison = find(analysis, joint)
    return _exchange(analysis, comparison, "".join(_quality(analysis, comparison))) if comparison else None


def reverse(analysis: Analysis) -> str | None:
    """The two phrases of a comparison exchanged where that turns the judgement round: where the comparison is the
    statement of its sentence and calls one side better; else None.

    >>> reverse(Analysis("The car is faster than the bicycle."))
    'The bicycle is faster than the car.'
    >>> reverse(Analysis("The car is larger than the bicycle.")) is None
    True
    """
    comparison = find(analysis)
    if comparison is None or not comparison.is_statement or _quality(analysis, comparison)[0].lower() not in judging():
        return None
    return exchange(analysis)


def _quality(analysis: Analysis, comparison: Comparison) -> tuple[str, str]:
    """The comparative ("more reliable") and what follows it before "than" (" to use")."""
    tokens, quality, low = analysis.tokens, comparison.quality, analysis.low
    last = tokens[min(quality.start + (low[quality.start] in ("more", "less")), quality.stop - 1)].end
    return analysis.text[tokens[quality.start].start : last], analysis.text[last : tokens[quality.stop - 1].end]


def _keeps_capital(phrase: Sequence[Token]) -> bool:
    """Whether a phrase at the start of a sentence has its capital for itself: a name or a title."""
    first, rest = phrase[0], phrase[1:]
    if first.text == "I" or first.tag.startswith("NNP") or (len(first.text) > 1 and first.text.isupper()):
        return True
    return first.tag not in ("DT", "PRP$") and any(token.text[0].isupper() for token in rest)


def _exchange(analysis: Analysis, comparison: Comparison, quality: str) -> str | None:
    tokens, text = analysis.tokens, analysis.text
    one, two, finite = comparison.subject, comparison.object, tokens[comparison.finite]
    verb = agree(finite, comparison.number)
    if verb is None:
        return None
    first, second = (text[tokens[phrase.start].start : tokens[phrase.stop - 1].end] for phrase in (one, two))
    between = text[finite.end : tokens[comparison.quality.start].start]
    if verb == "am":
        between = between.replace("n't", " not", 1)
    capital = first[0].isupper() and (one.start == 0 or tokens[one.start - 1].text in '.!:("“')
    if capital and not _keeps_capital(tokens[one.start : one.stop]):
        first = first[0].lower() + first[1:]
    first, second = _TO_OBJECT.get(first.lower(), first), _TO_SUBJECT.get(second.lower(), second)
    if capital:
        second = second[0].upper() + second[1:]
    gap = text[tokens[one.stop - 1].end : finite.start] or " "
    link = text[tokens[comparison.quality.stop - 1].end : tokens[two.start].start]
    head, tail = text[: tokens[one.start].start], text[tokens[two.stop - 1].end :]
    return f"{head}{second}{gap}{verb}{between}{quality}{link}{first}{tail}"
