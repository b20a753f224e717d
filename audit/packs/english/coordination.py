"""Words and phrases joined by "and" or "or" whose order may be changed without changing what is said.

Both conjuncts are of one kind, and what modifies binds to both or to neither: "a dark and funny film" yes, "funny and
proud of it" or "good songs and jokes" no.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.packs.english.emphasis import article
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, singular
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_JOINTS = words("and or")
# Quantities, times, words that point back, and last items that close a list.
_BARRED = words(
    "second third fourth general particular short other others same such own last next first few many more most "
    "less least nothing something anything everything full half overall much several various certain only whole "
    "entire very main kind sort lot lots bit couple number plenty all one ones rest way ways end ends so still thing "
    "things stuff etc etc. new worth due able likely everyone anyone someone everybody nobody none time times former "
    "latter both another theirs mine yours ours hers remainder part above below ever never later soon then now today tomorrow yesterday tonight "
    "subsequent eventually finally previous following ago since before after day days week weeks month months year "
    "years morning evening night noon midnight spring summer autumn fall winter monday tuesday wednesday thursday "
    "friday saturday sunday january february march april may june july august september october november december "
    "sons co company inc associates thus therefore hence consequently result results resulting whatever whatnot "
    "again too also n't not minutes seconds hours inches pounds feet cents dollars percent degrees"
)
_SHARED_DEGREES = words("very so too really quite pretty extremely incredibly both")
_ONE = words("a an this that another each every one")
_NEGATIVE = words("no neither any not n't never without hardly")
_MODIFIERS = words("amod compound nummod nmod advmod quantmod npadvmod poss det predet neg punct")
_PLACES = words("in on at for of with by about against without")
_EASE = words("easy simple quick hard difficult fun nice good great ready")
_STATES = words(
    "be have look sound feel seem smell taste cost weigh work need want love hate like enjoy know believe include "
    "contain offer provide lack deserve respect admire remain represent mean fit support"
)
# Verbs done to one object in no order: "written and directed by a child".
_UNORDERED = words(
    "write direct produce edit film shoot craft love enjoy hate respect admire like adore praise design perform act "
    "stage plan"
)
_NOMINAL = words("nsubj nsubjpass dobj pobj attr ROOT appos conj npadvmod compound nmod oprd dative")
_SLANTED = words("and or but nor than / & - ' \" ' ''")
_POINTING = words("PRP PRP$ WDT WP WRB CD EX FW LS SYM UH")
_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’&][^\W\d_]+)*|['’]s|(?:Mr|Mrs|Ms|Dr|Jr|Gen|Gov|Sen|Rep|St)\.|[aA,-]")
_FINITE = words("VBZ VBP VBD MD")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conjuncts as ranges of tokens: tokens[left:stop] and tokens[start:right]."""

    left: int
    stop: int
    start: int
    right: int


@lru_cache(maxsize=1)
def _fixed_pairs() -> frozenset[tuple[str, str]]:
    from audit.resources import data_file

    lines = data_file("lexicons/fixed_pairs.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return frozenset((singular(first) or first, singular(second) or second) for first, second in pairs)


def swappable(tokens: Sequence[Token]) -> list[Pair]:
    """Every coordination whose conjuncts may be swapped, from left to right; none where there is no parser.

    >>> len(swappable(Analysis("The film is wonderful and exciting.").tokens))
    1
    >>> swappable(Analysis("It is shot in black and white.").tokens)
    []
    """
    joints = [index for index, token in enumerate(tokens) if token.lower in _JOINTS]
    tree = tree_of(tokens) if joints else None
    return [pair for joint in joints if (pair := _pair(tree, joint)) is not None] if tree is not None else []


def swap(analysis: Analysis, pair: Pair) -> str:
    """The text with two conjuncts swapped; a/an and the capital of a first word are put right."""
    tokens, text = analysis.tokens, analysis.text
    begin, end = tokens[pair.left].start, tokens[pair.right - 1].end
    first = text[begin : tokens[pair.stop - 1].end]
    second = text[tokens[pair.start].start : end]
    joint = text[tokens[pair.stop - 1].end : tokens[pair.start].start]
    tree = tree_of(tokens)
    if tree is not None and tree.opens(pair.left) and first[0].isupper():
        second = second[0].upper() + second[1:]
        if tree.keeps_capital(pair.left) is False:
            first = first[0].lower() + first[1:]
    before = text[:begin]
    if pair.left and tokens[pair.left - 1].lower in ("a", "an"):
        before = before[: tokens[pair.left - 1].start] + article(tokens[pair.left - 1].text, second) + " "
    return before + second + joint + first + text[end:]


def _pair(tree: Parse, joint: int) -> Pair | None:
    word = tree.words[joint]
    first = tree.words[word.head]
    conjuncts = [child for child in tree.children(first.index) if child.relation == "conj" and child.index > joint]
    if word.relation != "cc" or first.index > joint or len(conjuncts) != 1:
        return None
    second = conjuncts[0]
    if not _alone(tree, first, second, word):
        return None
    left = [w for w in tree.under(first.index) if w.index < joint and w.relation not in ("preconj",)]
    right = tree.under(second.index)
    listed = first.relation == "conj"
    comma = tree.words[joint - 1].text == ","
    if listed:
        left = [w for w in left if w.index > _comma_before(tree, first)]
    if comma:
        left = left[:-1]
    if not left or left[-1].index != joint - 1 - comma or right[0].index != joint + 1:
        return None
    if any(side[-1].index - side[0].index != len(side) - 1 for side in (left, right)):
        return None
    if right[-1].text in (",", ".", ";", ":", "!", "?"):
        right = right[:-1]
    pair = _nouns(tree, first, second, left, right)
    pair = pair or _adjectives(tree, first, second, left, right) or _others(tree, first, second, left, right)
    if pair is None or comma and not listed:
        return None
    return pair if _reads_well(tree, pair) else None


def _comma_before(tree: Parse, word: Word) -> int:
    """Index of the comma that parts a word from the one before it in a list."""
    return max((w.index for w in tree.words[word.head : word.index] if w.text == ","), default=word.head)


def _alone(tree: Parse, first: Word, second: Word, joint: Word) -> bool:
    """Whether a coordination is no part of another one, but for a list with commas."""
    if tree.child(second.index, "cc", "conj") is not None:
        return False
    if sum(child.relation in ("cc", "conj") for child in tree.children(first.index)) > 2:
        return False
    above = first
    while above.relation == "conj":
        above = tree.words[above.head]
        if tree.child(above.index, "cc") is not None:
            return False
    return True


def _reads_well(tree: Parse, pair: Pair) -> bool:
    """Whether neither side points to the other or has a place in time, no pair of words is a fixed one, and what stands
    around goes with both orders."""
    first, second = tree.words[pair.left : pair.stop], tree.words[pair.start : pair.right]
    sides = (*first, *second)
    if any(word.lower in _BARRED or word.tag in _POINTING or not _WORD.fullmatch(word.text) for word in sides):
        return False
    opening = tree.opens(pair.left) and first[0].text[0].isupper()
    capitals = [word for word in sides[opening:] if word.text[0].isupper() and not word.tag.startswith("NNP")]
    if capitals and not all(word.text.isupper() for word in sides):
        return False
    ends = {(first[0].lower, second[0].lower), (first[-1].lower, second[-1].lower)}
    if any(_fixed(*end) for end in ends) or first[-1].lower == second[-1].lower:
        return False
    after = tree.words[pair.right] if pair.right < len(tree.words) else None
    if pair.left and tree.words[pair.left - 1].lower in _SLANTED:
        return False
    if after is not None and (after.lower in _SLANTED or after.tag in ("WDT", "WP", "VBN", "VBG", "POS")):
        return False
    return not opening or tree.keeps_capital(pair.left) is not None


@lru_cache(maxsize=4096)
def _fixed(first: str, second: str) -> bool:
    return (singular(first) or first, singular(second) or second) in _fixed_pairs()


def _span(left: Sequence[Word], right: Sequence[Word]) -> Pair:
    return Pair(left[0].index, left[-1].index + 1, right[0].index, right[-1].index + 1)


def _nouns(tree: Parse, first: Word, second: Word, left: list[Word], right: list[Word]) -> Pair | None:
    """ "humor and pathos", "the plot and the acting", "the acting and directing", "Tom Hanks and Meg Ryan"."""
    if not (first.tag.startswith("NN") and second.tag.startswith("NN")) or _top(tree, first).relation not in _NOMINAL:
        return None
    if first.tag.startswith("NNP") != second.tag.startswith("NNP") or _in_title(tree, left, right):
        return None
    one, other = _determiner(tree, first, left), _determiner(tree, second, right)
    begin = [w for w in left[len(one) :] if w.index < first.index]
    follow = [w for w in right[len(other) :] if w.index < second.index]
    behind, beyond = left[-1].index > first.index, right[-1].index > second.index
    if any(w.relation not in _MODIFIERS or w.tag in ("VBG", "RB") for w in (*begin, *follow)):
        return None
    if _has_compound(follow) and not (_has_compound(begin) and _has_compound(left)):
        return None  # "sweeping ethics and campaign finance reforms": both may be reforms
    if not _stands_free(tree, first, right[-1].index + 1):
        return None
    if one and other:
        same = one[-1].lower == other[-1].lower
        if not same and (_NEGATIVE | words("this these those that")) & {one[-1].lower, other[-1].lower}:
            return None
        return _span(left, right) if not beyond or behind else None
    if other and not one:
        return None
    if bool(begin) != bool(follow) or behind:
        return None
    if one:
        number = first.tag == second.tag or one[-1].lower not in _ONE
        if not number or (beyond and tree.words[second.index + 1].lower != "of") or (begin and beyond):
            return None
        end = right if not beyond else [w for w in right if w.index <= second.index]
        return _span(left[len(one) :], end)
    return _span(left, right) if not beyond else None


def _has_compound(side: Sequence[Word]) -> bool:
    return any(word.relation in ("compound", "nmod") and not word.tag.startswith("NNP") for word in side)


def _stands_free(tree: Parse, first: Word, end: int) -> bool:
    """Whether no verb or noun behind the second noun shows that it begins something else: "hold it to the nose and bid
    unpleasantness adieu"."""
    top = _top(tree, first)
    after = tree.words[end].tag if end < len(tree.words) else "."
    if top.relation in ("compound", "nmod"):
        return True
    while top.relation in ("pobj", "prep", "conj") and top.head != top.index:
        top = tree.words[top.head]
    if after in _FINITE:
        return top.relation in ("nsubj", "nsubjpass", "ROOT") and top.tag.startswith("NN")
    return not after.startswith(("NN", "JJ", "DT", "PRP", "VB"))


def _top(tree: Parse, word: Word) -> Word:
    """The first conjunct of a list."""
    while word.relation == "conj" and word.head < word.index:
        word = tree.words[word.head]
    return word


def _determiner(tree: Parse, noun: Word, side: Sequence[Word]) -> list[Word]:
    """The determiner or possessor that a noun phrase begins with."""
    child = next((w for w in tree.children(noun.index) if w.relation in ("det", "poss", "predet")), None)
    if child is None or side[0].index > child.index:
        return []
    inside = [w for w in side if w.index <= tree.under(child.index)[-1].index]
    return inside if inside[0] is side[0] else []


def _in_title(tree: Parse, left: list[Word], right: list[Word]) -> bool:
    """Whether capitals around a pair or on one of its sides make it a part of a longer name."""
    edges = [tree.words[index] for index in (left[0].index - 1, right[-1].index + 1) if 0 <= index < len(tree.words)]
    if any(w.text[0].isupper() and not tree.opens(w.index) and w.text != "I" for w in edges):
        return True
    return False


def _adjectives(tree: Parse, first: Word, second: Word, left: list[Word], right: list[Word]) -> Pair | None:
    """ "dark and funny" before a noun or behind a verb; "easy to use and light"."""
    kinds = {first.tag, second.tag}
    if not (kinds <= {"JJ", "VBN", "VBG"} and "JJ" in kinds or kinds in ({"JJR"}, {"JJS"})):
        return None
    top = _top(tree, first)
    if top.relation not in ("acomp", "amod", "oprd", "attr", "ROOT", "ccomp", "conj"):
        return None
    begin, follow = (
        [w for w in side if w.index < head.index] for head, side in ((first, left), (second, right))
    )
    behind, beyond = left[-1].index > first.index, right[-1].index > second.index
    if any(w.relation != "advmod" for w in (*begin, *follow)) and top.relation != "ROOT":
        return None
    if any(w.relation not in ("advmod", "npadvmod", "punct") for w in (*begin, *follow)):
        return None
    if beyond and not behind and (second.lower not in _EASE or first.lower in _EASE):
        return None
    if follow and not begin:
        return None
    if begin and not follow:
        if len(begin) > 1 or begin[0].lower not in _SHARED_DEGREES or behind or beyond:
            return None
        return _span(left[1:], right)
    return _span(left, right)


def _others(tree: Parse, first: Word, second: Word, left: list[Word], right: list[Word]) -> Pair | None:
    """ "slowly and carefully", "in cities and on farms", "written and directed by"."""
    if first.tag == second.tag == "RB" and len(left) == len(right) == 1:
        return _span(left, right) if first.lower.endswith("ly") and second.lower.endswith("ly") else None
    if first.tag == second.tag == "IN" and first.relation in ("prep", "agent") and {first.lower, second.lower} <= _PLACES:
        return _span(left, right) if len(left) > 1 and len(right) > 1 else None
    if first.tag != second.tag or first.tag not in ("VBN", "VB", "VBZ", "VBP", "VBD"):
        return None
    if left[-1] is first and right[0] is second:
        unordered = {base(first.lower), base(second.lower)} <= _UNORDERED
        state = first.tag == "VBN" and tree.child(first.index, "auxpass") is not None and len(right) == 1
        if unordered or state:
            return Pair(first.index, first.index + 1, second.index, second.index + 1)
    return None
