"""Words and phrases joined by "and" or "or" whose order may be changed without changing what is said.

Both conjuncts are of one kind, and what modifies binds to both or to neither: "a dark and funny film" yes, "funny and
proud of it" or "good songs and jokes" no.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.packs.english.capitals import keeps_capital, opens
from audit.packs.english.emphasis import article
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, known_as, singular
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
_EASE = words("easy simple hard difficult fun impossible")
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
_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’&][^\W\d_]+)*|['’]s|(?:Mr|Mrs|Ms|Dr|Jr|Gen|Gov|Sen|Rep|St)\.|[aA,]")
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
    return frozenset((_lemma(first), _lemma(second)) for first, second in pairs)


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
    if tree is not None and opens(tree, pair.left) and first[0].isupper():
        second = second[0].upper() + second[1:]
        if keeps_capital(tree, pair.left) is False:
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
    opening = opens(tree, pair.left) and first[0].text[0].isupper()
    if any(word.text[0].isupper() for word in sides[opening:]) and not _are_names(tree, pair):
        return False
    ends = {(first[0].lower, second[0].lower), (first[-1].lower, second[-1].lower)}
    if any(_fixed(*end) for end in ends) or first[-1].lower == second[-1].lower:
        return False
    after = tree.words[pair.right] if pair.right < len(tree.words) else None
    if pair.left and tree.words[pair.left - 1].lower in _SLANTED:
        return False
    if after is not None and (after.lower in _SLANTED or after.tag in ("WDT", "WP", "VBN", "VBG", "POS")):
        return False
    return not opening or keeps_capital(tree, pair.left) is not None


def _are_names(tree: Parse, pair: Pair) -> bool:
    """Whether words with capitals are names for themselves: no parts of a title, no words that happen to have one."""
    edges = [tree.words[index] for index in (pair.left - 1, pair.right) if 0 <= index < len(tree.words)]
    if any(word.text[0].isupper() and word.text != "I" and not opens(tree, word.index) for word in edges):
        return False
    sides = (*tree.words[pair.left : pair.stop], *tree.words[pair.start : pair.right])
    common = [word for word in sides if word.text[0].isupper() and not word.tag.startswith("NNP")]
    return not common or all(word.text[0].isupper() for word in sides)


@lru_cache(maxsize=4096)
def _fixed(first: str, second: str) -> bool:
    return (_lemma(first), _lemma(second)) in _fixed_pairs()


def _lemma(word: str) -> str:
    return singular(word) or base(word) or word


def _span(left: Sequence[Word], right: Sequence[Word]) -> Pair:
    return Pair(left[0].index, left[-1].index + 1, right[0].index, right[-1].index + 1)


def _nouns(tree: Parse, first: Word, second: Word, left: list[Word], right: list[Word]) -> Pair | None:
    """ "humor and pathos", "the plot and the acting", "the acting and directing", "Tom Hanks and Meg Ryan"."""
    if not (first.tag.startswith("NN") and second.tag.startswith("NN")) or _top(tree, first).relation not in _NOMINAL:
        return None
    if first.tag.startswith("NNP") != second.tag.startswith("NNP"):
        return None
    one, other = _determiner(tree, first, left), _determiner(tree, second, right)
    begin = [w for w in left[len(one) :] if w.index < first.index]
    follow = [w for w in right[len(other) :] if w.index < second.index]
    behind, beyond = left[-1].index > first.index, right[-1].index > second.index
    if any(w.relation not in _MODIFIERS or w.tag in ("VBG", "RB") for w in (*begin, *follow)):
        return None
    if _has_compound(follow) and not (_has_compound(begin) and _has_compound(left)):
        return None  # "sweeping ethics and campaign finance reforms": both may be reforms
    if not _stands_free(tree, first, left[0].index - 1, right[-1].index + 1):
        return None
    if one and other:
        same = one[-1].lower == other[-1].lower
        if not same and (_NEGATIVE | words("this these those that")) & {one[-1].lower, other[-1].lower}:
            return None
        return _span(left, right) if beyond == behind else None
    if other and not one:
        return None
    if bool(begin) != bool(follow) or behind:
        return None
    if begin and (first.tag != second.tag or _has_compound(follow) and not _has_compound(_before(tree, first))):
        return None  # "shutter priority and manual modes", "palm, palm kernel or coconut oil"
    if begin and one and first.tag.startswith("NNP"):
        return None  # "the British Fauna and Flora Society"
    if one:
        number = first.tag == second.tag or one[-1].lower not in _ONE
        if not number or (beyond and tree.words[second.index + 1].lower != "of") or (begin and beyond):
            return None
        end = right if not beyond else [w for w in right if w.index <= second.index]
        return _span(left[len(one) :], end)
    return _span(left, right) if not beyond else None


def _has_compound(side: Sequence[Word]) -> bool:
    return any(word.relation in ("compound", "nmod") and not word.tag.startswith("NNP") for word in side)


def _before(tree: Parse, word: Word) -> list[Word]:
    """What stands left of the head in the conjunct before this one in a list; its own where there is none."""
    head = tree.words[word.head] if word.relation == "conj" else word
    return [child for child in tree.children(head.index) if child.index < head.index]


def _stands_free(tree: Parse, first: Word, before: int, end: int) -> bool:
    """Whether no verb or noun behind the second noun shows that it begins something else: "hold it to the nose and bid
    unpleasantness adieu"."""
    top = _top(tree, first)
    after = tree.words[end].tag if end < len(tree.words) else "."
    if top.relation in ("compound", "nmod"):
        return True
    while top.relation in ("pobj", "prep", "conj") and top.head != top.index:
        top = tree.words[top.head]
    if after in _FINITE:
        if before >= 0 and tree.words[before].tag.startswith("VB"):  # "I saw the film and the acting was bad"
            return False
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


def _adjectives(tree: Parse, first: Word, second: Word, left: list[Word], right: list[Word]) -> Pair | None:
    """ "dark and funny" before a noun or behind a verb; "easy to use and light"."""
    kinds = {first.tag, second.tag}
    if kinds == {"JJ", "NNP"} and len(left) == len(right) == 1 and first.relation in ("amod", "compound", "nmod"):
        return _span(left, right)  # "American and Soviet officials"
    if not (kinds <= {"JJ", "VBN", "VBG"} and "JJ" in kinds or kinds in ({"JJR"}, {"JJS"})):
        return None
    if kinds != {"JJ"} and not all(known_as(word.lower, "ADJ") for word in (first, second)):
        return None  # "fruitful and multiplied"
    top = _top(tree, first)
    if top.relation not in ("acomp", "amod", "oprd", "attr", "ROOT", "ccomp", "conj"):
        return None
    if top.relation == "amod" and left[0].index and tree.words[left[0].index - 1].tag.startswith("VB"):
        if tree.words[top.head].relation.startswith("nsubj"):  # "It is slow and boring scenes follow"
            return None
    begin, follow = (
        [w for w in side if w.index < head.index] for head, side in ((first, left), (second, right))
    )
    behind, beyond = left[-1].index > first.index, right[-1].index > second.index
    if any(w.relation != "advmod" for w in (*begin, *follow)) and top.relation != "ROOT":
        return None
    if any(w.relation not in ("advmod", "npadvmod", "punct") for w in (*begin, *follow)):
        return None
    if beyond and not behind and (second.lower not in _EASE or tree.child(second.index, "xcomp", "advcl") is None):
        return None
    if top.relation != "amod" and right[-1].index + 1 < len(tree.words):
        if tree.words[right[-1].index + 1].tag.startswith("NN"):
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
