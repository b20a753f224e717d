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
_POINTING = words("PRP PRP$ WDT WP WRB CD EX FW LS SYM UH")
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
    plain = pair.right - pair.left == 3 and tokens[pair.first].tag == tokens[pair.second].tag == "JJ"
    return swapped if plain or reads_well(text, swapped, places, roles) else None


def _pair(tree: Parse, joint: Word) -> Pair | None:
    first = tree[joint.head]
    seconds = [word for word in tree.children(first.index) if word.relation == "conj" and word.index > joint.index]
    if joint.relation != "cc" or len(seconds) != 1:
        return None
    second, kind = seconds[0], _KINDS.get(first.tag, "")
    if not kind or (kind != _KINDS.get(second.tag) and {first.tag, second.tag} != {"JJ", "NNP"}):
        return None
    after, stop = tree.under(second.index), joint.index - (tree[joint.index - 1].text == ",")
    while after[-1].tag in (",", ".", ":"):
        after.pop()
    listed = first.relation == "conj"
    if (stop < joint.index and not listed) or (listed and tree.child(first.head, "cc") is not None):
        return None  # a comma ends a list, or a clause; "oil and gas and chemicals"
    right, starts = after[-1].index + 1, {"noun": _nouns, "name": _nouns, "VBZ": _states}.get(kind, _modifiers)
    spans = starts(tree, first, second, stop, right)
    if spans is None or spans[1] != joint.index + 1:
        return None
    pair = Pair(spans[0], stop, spans[1], right, first.index, second.index)
    return pair if _reads(tree, pair) else None


def _reads(tree: Parse, pair: Pair) -> bool:
    """Whether neither side points to the other or has a place in time, and no pair of words is a fixed one."""
    first, second = tree[pair.left : pair.stop], tree[pair.start : pair.right]
    sides = (*first, *second)
    if any(
        word.lower in _BARRED or word.tag in _POINTING or not word.text.replace("-", "").replace("'", "").isalpha()
        for word in sides
    ):
        return False
    ends = (first[0].lower, second[0].lower), (first[-1].lower, second[-1].lower)
    if first[-1].lower == second[-1].lower or any(tuple(map(_lemma, end)) in _fixed_pairs() for end in ends):
        return False
    opening = opens(tree, pair.left) and first[0].text[0].isupper()
    named = any(word.text[0].isupper() for word in sides[opening:])
    if named and (not (first[-1].text[0].isupper() and second[-1].text[0].isupper()) or _is_longer_name(tree, pair)):
        return False
    return not opening or keeps_capital(tree, pair.left) is not None


def _is_longer_name(tree: Parse, pair: Pair) -> bool:
    around = [tree[index] for index in (pair.left - 1, pair.right) if 0 <= index < len(tree)]
    shouted = tree[pair.first].text.isupper()
    return any(word.text[0].isupper() and not shouted and not opens(tree, word.index) for word in around)


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
    return begins[0][-1 - max(one, 0)].index, begins[1][0].index


def _modifiers(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """ "dark and funny" before a noun or behind a verb, "slowly and carefully"."""
    verbs = {first.tag, second.tag} & {"VBN", "VBG"} and not all(
        known_as(word.lower, "ADJ") for word in (first, second)
    )
    if (first.index + 1, second.index + 1) != (stop, right) or verbs:
        return None  # "fruitful and multiplying"
    before, after = (
        [word for word in _begin(tree, head) if word.index < head.index and word.relation == "advmod"]
        for head in (first, second)
    )
    if before and not after:  # said of both, or of the first alone
        return (first.index, second.index) if before[0].lower in _SHARED_DEGREES else None
    return None if after and not before else ((before or [first])[0].index, (after or [second])[0].index)


def _states(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """ "It is boring and lacks humour": two states of one subject, told in no order."""
    of_one = tree.subject(first.index) is not None and tree.subject(second.index) is None
    ends = right == len(tree) or tree[right].tag in (".", ",")
    return (
        (first.index, second.index) if of_one and ends and {base(first.lower), base(second.lower)} <= _STATES else None
    )
