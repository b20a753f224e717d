"""Words and phrases joined by "and" or "or" whose order may be changed without changing what is said.

Both are of one kind, and what modifies binds to both or to neither: "a dark and funny film" yes, "funny and proud of
it" or "good songs and jokes" no.
"""

from dataclasses import dataclass
from functools import cache

from audit.packs.english.capitals import keeps_capital, opens
from audit.packs.english.emphasis import article
from audit.packs.english.guard import protected, reads_well
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, known_as, singular
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import words

_KINDS = {
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("NNP", "NNPS"), "name"),
    **dict.fromkeys(("JJ", "VBN", "VBG"), "adjective"),
    **{tag: tag for tag in ("RB", "JJR", "JJS", "VBZ")},
}
_STATES = words("be have look sound feel seem cost work need want love hate like lack contain offer deserve remain")
# What has a place in time or in a list, or points to the other side.
_BARRED = words(
    "second third fourth other others same such own last next first few many more most less least half much several "
    "certain only very kind sort lot lots bit couple number plenty all one ones rest end ends so still thing stuff etc "
    "etc. worth due able likely time times former latter both another part above below ever never later soon then now "
    "today tomorrow yesterday tonight eventually finally previous following ago since before after day days week weeks "
    "month months year years morning evening night spring summer autumn fall winter monday tuesday wednesday thursday "
    "friday saturday sunday january february march april may june july august september october november december sons "
    "co company inc associates thus therefore hence consequently result results again too also not n't percent "
    "anything everything nothing something anyone everyone someone everybody nobody none"
)
_SHARED_DEGREES = words("very so too really quite pretty extremely incredibly both")
"""Adverbs before two adjectives that are said of both."""
_SINGLE = words("a an this that another each every one")
_UNSHARED = words("no neither any all some this these those that")
_SLANTED = words("and or but nor than / & - ' \" ''")
_POINTING = words("PRP PRP$ WDT WP WRB CD EX FW LS SYM UH")
_BINDING = ("JJ", "RBR", "RBS", "NN", "CD", "POS", "VBG", "VBN")
_GOING_ON = words("IN TO JJ NN NNS NNP NNPS WDT WP WRB POS HYPH CD RP")
"""Tags of what behind two nouns may hang on the nearer one alone."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conjuncts as ranges of tokens, tokens[left:stop] and tokens[start:right], and the heads of both."""

    left: int
    stop: int
    start: int
    right: int
    first: int
    second: int


@cache
def _fixed_pairs() -> frozenset[tuple[str, str]]:
    return frozenset((_lemma(first), _lemma(second)) for first, second in data_rows("lexicons/fixed_pairs.tsv"))


def _lemma(word: str) -> str:
    return singular(word) or base(word) or word


def swappable(text: Analysis) -> list[Pair]:
    """Every coordination whose conjuncts may be swapped, from left to right.

    >>> len(swappable(Analysis("The film is wonderful and exciting.")))
    1
    >>> swappable(Analysis("It is shot in black and white."))
    []
    """
    tree = tree_of(text.tokens) if {"and", "or"} & text.words else None
    pairs = [_pair(tree, word) for word in tree if word.lower in ("and", "or")] if tree is not None else []
    return [pair for pair in pairs if pair and protected(text).isdisjoint(range(pair.left, pair.right))]


def swap(text: Analysis, pair: Pair) -> str | None:
    """The text with two conjuncts swapped, a/an and the capital of a first word put right; None where the parser would
    see something else in it.

    >>> text = Analysis("It is a dark and honest film.")
    >>> swap(text, swappable(text)[0])
    'It is an honest and dark film.'
    """
    tokens, tree = text.tokens, tree_of(text.tokens)
    begin, end = tokens[pair.left].start, tokens[pair.right - 1].end
    first = text.text[begin : tokens[pair.stop - 1].end]
    second = text.text[tokens[pair.start].start : end]
    joint = text.text[tokens[pair.stop - 1].end : tokens[pair.start].start]
    if tree is not None and opens(tree, pair.left) and first[0].isupper():
        second = second[0].upper() + second[1:]
        if keeps_capital(tree, pair.left) is False:
            first = first[0].lower() + first[1:]
    before = text.text[:begin]
    if pair.left and tokens[pair.left - 1].lower in ("a", "an"):
        before = before[: tokens[pair.left - 1].start] + article(tokens[pair.left - 1].text, second) + " "
    swapped = before + second + joint + first + text.text[end:]
    sides = *range(pair.left, pair.stop), *range(pair.start, pair.right)
    roles = {index: index for index in sides} | {pair.first: pair.second, pair.second: pair.first}
    places = [
        *range(pair.left),
        *range(pair.start, pair.right),
        *range(pair.stop, pair.start),
        *range(pair.left, pair.stop),
        *range(pair.right, len(tokens)),
    ]
    return swapped if reads_well(text, swapped, places, roles) else None


def _pair(tree: Parse, joint: Word) -> Pair | None:
    first = tree[joint.head]
    seconds = [word for word in tree.children(first.index) if word.relation == "conj" and word.index > joint.index]
    if joint.relation != "cc" or joint.text.istitle() or first.index > joint.index or len(seconds) != 1:
        return None
    second = seconds[0]
    kind = _KINDS.get(first.tag, "")
    same = kind and (kind == _KINDS.get(second.tag) or {first.tag, second.tag} == {"JJ", "NNP"})
    if not same or not _alone(tree, first, second):
        return None
    after, stop = tree.under(second.index), joint.index - (tree[joint.index - 1].text == ",")
    while after[-1].tag in (",", ".", ":"):
        after.pop()
    start, right = joint.index + 1, after[-1].index + 1
    if stop < joint.index and first.relation != "conj":
        return None
    if (after[0].index, right - start) != (start, len(after)):
        return None
    spans_of = {"noun": _nouns, "name": _nouns, "VBZ": _states}.get(kind, _modifiers)
    spans = spans_of(tree, first, second, stop, right)
    if spans is None:
        return None
    pair = Pair(spans[0], stop, spans[1], right, first.index, second.index)
    return pair if _reads(tree, pair) else None


def _alone(tree: Parse, first: Word, second: Word) -> bool:
    """Whether a coordination is no part of another one, but for the end of a list with commas."""
    if tree.child(second.index, "cc", "conj") is not None:
        return False
    while first.relation == "conj":
        first = tree[first.head]
        if tree.child(first.index, "cc") is not None:
            return False
    return True


def _reads(tree: Parse, pair: Pair) -> bool:
    """Whether neither side points to the other or has a place in time, and no pair of words is a fixed one."""
    first, second = tree[pair.left : pair.stop], tree[pair.start : pair.right]
    sides = (*first, *second)
    if not (first and second) or any(
        word.lower in _BARRED or word.tag in _POINTING or not word.text.replace("-", "").replace("'", "").isalpha()
        for word in sides
    ):
        return False
    ends = (first[0].lower, second[0].lower), (first[-1].lower, second[-1].lower)
    if first[-1].lower == second[-1].lower or any(tuple(map(_lemma, end)) in _fixed_pairs() for end in ends):
        return False
    around = [tree[index] for index in (pair.left - 1, pair.right) if 0 <= index < len(tree)]
    if any(word.lower in _SLANTED for word in around):
        return False
    opening = opens(tree, pair.left)
    named = any(word.text[0].isupper() for word in sides[opening:]) and not tree[pair.first].text.isupper()
    if named and any(word.text[0].isupper() and not opens(tree, word.index) for word in around):
        return False  # a part of a longer name
    if named and {word.text[0].isupper() for word in (first[-1], second[-1])} != {True}:
        return False
    return not opening or not first[0].text[0].isupper() or keeps_capital(tree, pair.left) is not None


def _begin(tree: Parse, word: Word) -> list[Word]:
    """The word and what stands before it in its own phrase."""
    return [below for below in tree.under(word.index) if below.index <= word.index]


def _nouns(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """ "humor and pathos", "the plot and the acting", "the acting and directing", "Tom Hanks and Meg Ryan": where the
    first and the second begin."""
    begins, after = [_begin(tree, word) for word in (first, second)], tree[right] if right < len(tree) else None
    if (first.index + 1, second.index + 1) != (stop, right) or (after is not None and after.tag in _GOING_ON):
        return None  # "keeps me out of the home and hospital with my family"
    if first.relation == "conj":
        begins[0] = [word for word in begins[0] if word.index > first.head and word.tag not in (",", "CC")]
    determiners = [tree.child(word.index, "det", "poss", "predet") for word in (first, second)]
    one, other = (len(begin) - 1 - (det is not None) for begin, det in zip(begins, determiners, strict=True))
    if any(word.tag in ("RB", "IN", ",", "CC") or word.relation == "relcl" for begin in begins for word in begin):
        return None
    if (one > 0) != (other > 0) and (one > 0 or determiners[1] is None):
        return None  # "good songs and jokes"
    if determiners[1] is not None:
        low = {det.lower for det in determiners if det is not None}
        same = determiners[0] is not None and not (len(low) == 2 and low & _UNSHARED)
        return (begins[0][0].index, begins[1][0].index) if same else None
    if determiners[0] is not None and (
        one > 0 or determiners[0].lower in _SINGLE or first.tag != second.tag or first.tag[:3] == "NNP"
    ):
        return None  # "a camera and lenses", "the Americas and Africa"
    left = begins[0][-1 - max(one, 0)].index
    before = tree[left - 1] if left else None
    if before is not None and determiners[0] is None and (before.tag.startswith(_BINDING) or before.tag == "PRP$"):
        return None
    hidden = before is not None and before.tag in ("VB", "VBP", "TO") and known_as(second.lower, "VERB")
    return None if hidden and after is not None and after.tag not in (".", ",") else (left, begins[1][0].index)


def _modifiers(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """ "dark and funny" before a noun or behind a verb, "slowly and carefully"."""
    if (first.index + 1, second.index + 1) != (stop, right):
        return None
    participles = {first.tag, second.tag} & {"VBN", "VBG"}
    if participles and not all(known_as(word.lower, "ADJ") or word.tag == "VBN" for word in (first, second)):
        return None  # "fruitful and multiplying"
    top = first
    while top.relation == "conj":
        top = tree[top.head]
    if participles and top.relation not in ("amod", "acomp", "conj", "oprd"):
        return None
    if first.tag == "RB" and not (first.lower.endswith("ly") and second.lower.endswith("ly")):
        return None
    adverbs = [
        [word for word in _begin(tree, head) if word.index < head.index and word.relation == "advmod"]
        for head in (first, second)
    ]
    if any(len(side) > 1 for side in adverbs) or (adverbs[1] and not adverbs[0]):
        return None
    if adverbs[0] and not adverbs[1]:
        return (first.index, second.index) if adverbs[0][0].lower in _SHARED_DEGREES else None
    before, after = tree[first.index - 1] if first.index else None, tree[right] if right < len(tree) else None
    if top.relation == "amod":
        if before is not None and before.tag == "CD":
            return None  # "$2,000 fine and two-week suspension"
    elif after is not None and after.tag in ("NN", "NNS", "TO", "IN"):
        return None  # "small and hard | to turn"
    elif before is not None and before.tag == "DT":
        return None
    begins = [adverbs[at][0].index if adverbs[at] else head.index for at, head in enumerate((first, second))]
    return begins[0], begins[1]


def _states(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """ "It is boring and lacks humour": two states of one subject, told in no order."""
    subject = tree.subject(first.index)
    if subject is None or tree.subject(second.index) is not None or not {base(first.lower), base(second.lower)} <= _STATES:
        return None
    ends = right == len(tree) or tree[right].tag in (".", ",")
    begins = tree.under(second.index)[0] is second and tree.under(subject.index)[-1].index == first.index - 1
    return (first.index, second.index) if begins and ends else None
