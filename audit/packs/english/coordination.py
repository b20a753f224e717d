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
from audit.packs.english.vocabulary import FINITE
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_JOINTS = words("and or")
# Quantities, times, words that point back, and last items that close a list.
_BARRED = words(
    "second third fourth other others same such own last next first few many more most less least nothing something "
    "anything everything half overall much several certain only very kind sort lot lots bit couple number plenty all "
    "one ones rest end ends so still thing stuff etc etc. worth due able likely everyone anyone someone everybody "
    "nobody none time times former latter both another theirs mine yours ours hers remainder part above below ever "
    "never later soon then now today tomorrow yesterday tonight subsequent eventually finally previous following ago "
    "since before after day days week weeks month months year years morning evening night noon midnight spring summer "
    "autumn fall winter monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december sons co company inc associates thus therefore hence "
    "consequently result results resulting whatever whatnot again too also n't not seconds inches pounds feet cents "
    "dollars percent degrees rep sen gov gen corp dept"
)
# Adverbs before two adjectives that are said of both.
_SHARED_DEGREES = words("very so too really quite pretty extremely incredibly both")
# Determiners that want a singular noun, and those that may not be said of the other noun too.
_SINGLE = words("a an this that another each every one")
_UNSHARED = words("no neither any all some this these those that")
# Prepositions whose phrases come in any order; adjectives that what they are for follows ("easy to use").
_PLACES = words("in on at for of with by about against without")
_EASE = words("easy simple hard difficult fun impossible")
# Verbs done to one object in no order: "written and directed by a child".
_UNORDERED = words(
    "write direct produce edit film shoot craft love enjoy hate respect admire like adore praise design perform act "
    "stage plan"
)
# Verbs that tell a state in the present, and in the past, where others tell events in their order.
_STATES = words(
    "be have look sound feel seem smell taste cost weigh work need want love hate like enjoy know believe include "
    "contain offer provide lack deserve respect admire remain represent mean fit support come play take make run"
)
_SEEMING = words("be have look sound feel seem smell taste cost")
_SLANTED = words("and or but nor than / & - ' \" ' ''")
_POINTING = words("PRP PRP$ WDT WP WRB CD EX FW LS SYM UH")
_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*|['’]s|(?:Mr|Mrs|Ms|Dr|Jr|Gen|Gov|Sen|Rep|St)\.|[aAI,]")
# What may follow two nouns and be said of both, and tags of what before them may be said of the first alone.
_LOOSE = words("in on at during throughout because when while if although though since where before after by like")
_BINDING = words("JJ JJR JJS RBR RBS NN NNS CD POS DT PRP$")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conjuncts as ranges of tokens: tokens[left:stop] and tokens[start:right]."""

    left: int
    stop: int
    start: int
    right: int


@dataclass(frozen=True, slots=True)
class _Conjunct:
    """The head of one conjunct and its words in order, without those of other conjuncts."""

    head: Word
    words: list[Word]

    @property
    def goes_on(self) -> bool:
        """Whether anything stands behind the head."""
        return self.words[-1].index > self.head.index

    def before(self, start: int = 0) -> list[Word]:
        """The words from the given place in it to the head."""
        return [word for word in self.words[start:] if word.index < self.head.index]

    def span(self, other: "_Conjunct", start: int = 0) -> Pair:
        """This one, from the given place in it, and another one."""
        first, second = self.words[start:], other.words
        return Pair(first[0].index, first[-1].index + 1, second[0].index, second[-1].index + 1)


@lru_cache(maxsize=1)
def _fixed_pairs() -> frozenset[tuple[str, str]]:
    from audit.resources import data_file

    lines = data_file("lexicons/fixed_pairs.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return frozenset((_lemma(first), _lemma(second)) for first, second in pairs)


def swappable(tokens: Sequence[Token]) -> list[Pair]:
    """Every coordination whose conjuncts may be swapped, from left to right.

    >>> len(swappable(Analysis("The film is wonderful and exciting.").tokens))
    1
    >>> swappable(Analysis("It is shot in black and white.").tokens)
    []
    """
    joints = [index for index, token in enumerate(tokens) if token.lower in _JOINTS]
    tree = tree_of(tokens) if joints else None
    return [pair for joint in joints if (pair := _pair(tree, joint)) is not None] if tree is not None else []


def swap(analysis: Analysis, pair: Pair) -> str:
    """The text with two conjuncts swapped; a/an and the capital of a first word are put right.

    >>> text = Analysis("It is a dark and honest film.")
    >>> swap(text, swappable(text.tokens)[0])
    'It is an honest and dark film.'
    """
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
    head = tree.words[word.head]
    conjuncts = [child for child in tree.children(head.index) if child.relation == "conj" and child.index > joint]
    if (
        word.relation != "cc"
        or not (word.text.islower() or word.text.isupper())
        or head.index > joint
        or len(conjuncts) != 1
        or not _alone(tree, head, conjuncts[0])
    ):
        return None
    first = [w for w in tree.under(head.index) if w.index < joint and w.relation != "preconj"]
    second = tree.under(conjuncts[0].index)
    listed, comma = head.relation == "conj", tree.words[joint - 1].text == ","
    if listed:
        commas = [w.index for w in tree.words[head.head : head.index] if w.text == ","]
        first = [w for w in first if w.index > max(commas, default=head.head)]
    first = first[: len(first) - comma]
    if not first or first[-1].index != joint - 1 - comma or second[0].index != joint + 1:
        return None
    if any(side[-1].index - side[0].index != len(side) - 1 for side in (first, second)):
        return None
    second = second[: len(second) - (second[-1].tag in (",", ".", ":"))]
    sides = _Conjunct(head, first), _Conjunct(conjuncts[0], second)
    pair = _states(tree, *sides)
    if pair is None and (listed or not comma):
        pair = _nouns(tree, *sides) or _adjectives(tree, *sides) or _others(tree, *sides)
    return pair if pair is not None and _reads_well(tree, pair) else None


def _alone(tree: Parse, first: Word, second: Word) -> bool:
    """Whether a coordination is no part of another one, but for a list with commas."""
    if tree.child(second.index, "cc", "conj") is not None:
        return False
    if sum(child.relation in ("cc", "conj") for child in tree.children(first.index)) > 2:
        return False
    while first.relation == "conj":
        first = tree.words[first.head]
        if tree.child(first.index, "cc") is not None:
            return False
    return True


def _reads_well(tree: Parse, pair: Pair) -> bool:
    """Whether neither side points to the other or has a place in time, no pair of words is a fixed one, and what stands
    around goes with both orders."""
    first, second = tree.words[pair.left : pair.stop], tree.words[pair.start : pair.right]
    sides = (*first, *second)
    if any(word.lower in _BARRED or _points(word) or not _WORD.fullmatch(word.text) for word in sides):
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
    if after is not None and (after.lower in _SLANTED or after.tag in ("WDT", "WP", "POS")):
        return False
    return not opening or keeps_capital(tree, pair.left) is not None


def _points(word: Word) -> bool:
    return word.tag in _POINTING and (word.tag != "PRP" or word.relation != "nsubj")


def _are_names(tree: Parse, pair: Pair) -> bool:
    """Whether words with capitals are names for themselves: no parts of a title, no words that happen to have one."""
    edges = [tree.words[index] for index in (pair.left - 1, pair.right) if 0 <= index < len(tree.words)]
    if any(word.text[0].isupper() and word.text != "I" and not opens(tree, word.index) for word in edges):
        return False
    if pair.left > 1 and edges[0].lower in ("of", "for", "on", "the") and tree.words[pair.left - 2].text[0].isupper():
        return opens(tree, pair.left - 2)  # "the Board of Standards and Appeals"
    sides = (*tree.words[pair.left : pair.stop], *tree.words[pair.start : pair.right])
    common = [word for word in sides if word.text[0].isupper() and not word.tag.startswith("NNP")]
    return not common or all(word.text[0].isupper() for word in sides)


@lru_cache(maxsize=4096)
def _fixed(first: str, second: str) -> bool:
    return (_lemma(first), _lemma(second)) in _fixed_pairs()


def _lemma(word: str) -> str:
    return singular(word) or base(word) or word


def _nouns(tree: Parse, first: _Conjunct, second: _Conjunct) -> Pair | None:
    """ "humor and pathos", "the plot and the acting", "the acting and directing", "Tom Hanks and Meg Ryan"."""
    if not (first.head.tag.startswith("NN") and second.head.tag.startswith("NN")):
        return None
    one, other = (_determiner(tree, side) for side in (first, second))
    begin, follow = first.before(len(one)), second.before(len(other))
    if any(word.tag in ("VBG", "RB", "DT", "PRP$") for word in (*begin, *follow)):
        return None
    if any(word.tag in (*FINITE, "VB") for word in (*first.words, *second.words)):
        return None
    if not _stands_free(tree, first, second, shared=bool(one) and not other):
        return None
    if _has_compound(follow) and not (_has_compound(begin) or _is_fenced(tree, first)):
        return None  # "sweeping ethics and campaign finance reforms": both may be reforms
    if other:
        return _two_phrases(tree, first, second, one, other)
    return _one_phrase(tree, first, second, one)


def _two_phrases(
    tree: Parse, first: _Conjunct, second: _Conjunct, one: Sequence[Word], other: Sequence[Word]
) -> Pair | None:
    """ "the plot and the acting", "Congress and the White House"."""
    goes_on = second.goes_on or _is_continued(tree, first, second)
    if not one:
        named = first.head.tag == second.head.tag == "NNP" and first.head.relation != "conj"
        return first.span(second) if named and not (first.goes_on or goes_on) else None
    determiners = {one[-1].lower, other[-1].lower}
    if (len(determiners) == 2 and determiners & _UNSHARED) or first.goes_on != goes_on:
        return None
    follow = second.before(len(other))
    if follow and follow[-1].relation == "compound" and second.head.tag.endswith("S") and not first.before(len(one)):
        return None  # "the Samsung and the Sony phones"
    return first.span(second)


def _one_phrase(tree: Parse, first: _Conjunct, second: _Conjunct, determiner: Sequence[Word]) -> Pair | None:
    """ "humor and pathos", "the acting and directing", "extra knobs or gizmos"."""
    same, named = first.head.tag == second.head.tag, first.head.tag.startswith("NNP")
    begin, follow = first.before(len(determiner)), second.before()
    lower, joint = [word.lower for word in determiner[-1:]], tree.words[first.words[-1].index + 1].lower
    if first.goes_on or (named != second.head.tag.startswith("NNP") and not determiner):
        return None
    if second.goes_on or _is_continued(tree, first, second):  # "the look and feel of the phone"
        of = tree.words[second.head.index + 1].lower == "of"
        if not of or begin or follow or lower != ["the"] or joint != "and":
            return None
    elif (not determiner or lower[0] in _SINGLE) and not _is_bare(tree, first, second, bool(determiner)):
        return None
    if not determiner and _is_fenced(tree, first):
        return first.span(second)
    if len(begin) == 1 and not follow:
        return first.span(second, 1) if begin[0].tag == "JJ" and joint == "or" and same and not determiner else None
    if begin and not (same and follow and (not _has_compound(follow) or _has_compound(_neighbor(tree, first)))):
        return None  # "shutter priority and manual modes", "palm, palm kernel or coconut oil"
    if follow and not begin:
        return None
    if determiner and (
        _has_compound(follow) or (begin and first.head.tag != "NNS") or (named and (not same or _differ(first, second)))
    ):
        return None  # "the British Fauna and Flora Society", "the trial and appellate bench", "the Americas and Africa"
    if determiner and not same and (lower[0] in _SINGLE or known_as(second.head.lower, "VERB")):
        return None  # "a camera and lenses", "do the dishes and vacuum"
    return first.span(_Conjunct(second.head, [*follow, second.head]), len(determiner))


def _differ(first: _Conjunct, second: _Conjunct) -> bool:
    """Whether one of two names alone may have the article: "the Philippines and Brunei"."""
    return first.head.lower.endswith("s") != second.head.lower.endswith("s")


def _is_fenced(tree: Parse, first: _Conjunct) -> bool:
    """Whether the word before a coordination, or a list of names, says where its first conjunct begins."""
    start = first.words[0].index
    listed = first.head.relation == "conj" and first.head.tag == tree.words[first.head.head].tag == "NNP"
    return listed or (start > 0 and tree.words[start - 1].lower in ("between", "both", "either"))


def _is_continued(tree: Parse, first: _Conjunct, second: _Conjunct) -> bool:
    """Whether what stands behind both nouns hangs on one of them."""
    behind, heads = tree.words[second.words[-1].index + 1 :], (first.head.index, second.head.index)
    if not behind or behind[0].text == ",":
        return False
    return any(word.head in heads and word.relation in ("prep", "relcl", "acl", "appos") for word in behind)


def _is_bare(tree: Parse, first: _Conjunct, second: _Conjunct, determined: bool) -> bool:
    """Whether nothing around two nouns may bind to the nearer one alone, or make it a verb: "have fun and experiment
    like crazy"."""
    start, stop = first.words[0].index, second.words[-1].index + 1
    before = tree.words[start - 1].tag if start and not determined else ""
    after = tree.words[stop : stop + 1]
    loose = _LOOSE - {"in"} if second.head.tag == "NNP" else _LOOSE  # "Seattle and Suffolk County in New York"
    if before in _BINDING or any(word.tag in ("IN", "TO") and word.lower not in loose for word in after):
        return False
    verb = before in ("VB", "VBP") and known_as(second.head.lower, "VERB")
    return not verb or all(word.tag in (".", ",", ":") for word in after)


def _determiner(tree: Parse, side: _Conjunct) -> list[Word]:
    """The determiner or possessor that a noun phrase begins with."""
    child = tree.child(side.head.index, "det", "poss", "predet")
    inside = tree.under(child.index) if child is not None else []
    return inside if inside and inside[0] is side.words[0] and inside[-1].index < side.head.index else []


def _has_compound(words: Sequence[Word]) -> bool:
    return any(word.relation in ("compound", "nmod") and not word.tag.startswith("NNP") for word in words)


def _neighbor(tree: Parse, side: _Conjunct) -> list[Word]:
    """The words of the conjunct before this one in a list; its own where there is none."""
    head = tree.words[side.head.head] if side.head.relation == "conj" else side.head
    return list(tree.children(head.index))


def _stands_free(tree: Parse, first: _Conjunct, second: _Conjunct, shared: bool) -> bool:
    """Whether no verb or noun behind the second noun shows that it begins something else: "hold it to the nose and bid
    unpleasantness adieu"."""
    top, start, stop = _top(tree, first.head), first.words[0].index, second.words[-1].index + 1
    after = next((word.tag for word in tree.words[stop:] if word.tag != "RB"), ".")
    if top.relation in ("compound", "nmod"):  # but "weep with envy and apartment dwellers bawl"
        determiner = tree.child(top.head, "det", "poss")
        return determiner is not None and determiner.index < start and len(first.words) == len(second.words) == 1
    while top.relation in ("pobj", "prep", "conj") and top.head != top.index:
        top = tree.words[top.head]
    if after not in FINITE:
        return not after.startswith(("NN", "JJ", "DT", "PRP", "VB"))
    if start and not shared and (tree.words[start - 1].tag.startswith("VB") or tree.words[start - 1].lower == "for"):
        return False  # "I saw the film and the acting was bad"
    return top.relation in ("nsubj", "nsubjpass", "ROOT") and top.tag.startswith("NN")


def _top(tree: Parse, word: Word) -> Word:
    """The first conjunct of a list."""
    while word.relation == "conj" and word.head < word.index:
        word = tree.words[word.head]
    return word


def _adjectives(tree: Parse, first: _Conjunct, second: _Conjunct) -> Pair | None:
    """ "dark and funny" before a noun or behind a verb; "light and easy to use"."""
    kinds, top = {first.head.tag, second.head.tag}, _top(tree, first.head)
    if kinds == {"JJ", "NNP"} and all(len(side.words) == 1 and side.head.text[0].isupper() for side in (first, second)):
        return first.span(second) if top.relation != "acomp" else None  # "American and Soviet officials"
    if not (kinds <= {"JJ", "VBN", "VBG"} or kinds in ({"JJR"}, {"JJS"})):
        return None
    first = _Conjunct(first.head, first.words[_modified_from(first) :])
    start, stop = first.words[0].index, second.words[-1].index + 1
    states = kinds == {"JJ"} or (kinds == {"VBN"} and top.relation == "amod") or len(tree.words) - stop + start < 2
    if not states and not all(known_as(side.head.lower, "ADJ") for side in (first, second)):
        return None  # "fruitful and multiplied"
    if top.relation == "amod":
        if start and tree.words[start - 1].tag == "CD":
            return None  # "$2,000 fine and two-week suspension"
        if start and tree.words[start - 1].tag.startswith("VB") and tree.words[top.head].relation.startswith("nsubj"):
            return None  # "It is slow and boring scenes follow"
    elif stop < len(tree.words) and tree.words[stop].tag in ("NN", "NNS", "TO"):
        return None  # "small and hard | to turn"
    elif start and tree.words[start - 1].tag == "DT":
        return None
    begin, follow = first.before(), second.before()
    if any(word.relation != "advmod" for word in (*begin, *follow)):
        return None
    easy = second.head.lower in _EASE and tree.child(second.head.index, "xcomp", "advcl") is not None
    if second.goes_on and not (first.goes_on or easy):
        return None
    if bool(begin) == bool(follow):
        return first.span(second)
    if follow or first.goes_on or second.goes_on or begin[0].lower not in _SHARED_DEGREES or len(begin) > 1:
        return None
    return first.span(second, 1)


def _modified_from(side: _Conjunct) -> int:
    """Where the adverbs before an adjective begin in its conjunct: its subject may stand before them."""
    before = side.before()
    while before and before[-1].relation == "advmod":
        before.pop()
    return len(before) if not before or before[-1].relation != "det" else 0


def _states(tree: Parse, first: _Conjunct, second: _Conjunct) -> Pair | None:
    """ "it works well and is easy to use", "the screen is bright and the sound is clear"."""
    heads = first.head, second.head
    subject, own = (tree.subject(head.index) for head in heads)
    if subject is None or subject.index > first.head.index or not all(_is_state(head) for head in heads):
        return None
    if (own is not None and own.tag == "DT") or (second.words[-1].lower == "well" and second.words[-2].lower == "as"):
        return None  # "this is no exception", "they like it as well"
    inside = tree.under(subject.index)
    if inside[0].index > first.words[0].index:
        return None
    if own is not None:
        same = subject.lower == own.lower or "PRP" not in (subject.tag, own.tag)
        return first.span(second) if same and inside[0] is first.words[0] and own.index < second.head.index else None
    predicate = [word for word in first.words if word.index > inside[-1].index]
    if (
        not predicate
        or predicate[0] is not first.head
        or second.words[0] is not second.head
        or heads[0].tag != heads[1].tag
    ):
        return None
    return _Conjunct(first.head, predicate).span(second)


def _is_state(verb: Word) -> bool:
    return base(verb.lower) in (_SEEMING if verb.tag == "VBD" else _STATES) and verb.text[0].isalpha()


def _others(tree: Parse, first: _Conjunct, second: _Conjunct) -> Pair | None:
    """ "slowly and carefully", "in cities and on farms", "written and directed by"."""
    heads, single = (first.head, second.head), len(first.words) == len(second.words) == 1
    if all(head.tag == "RB" and head.lower.endswith("ly") for head in heads):
        return first.span(second) if single else None
    if all(head.tag == "IN" and head.lower in _PLACES for head in heads):
        return first.span(second) if first.goes_on and second.goes_on else None
    if heads[0].tag != heads[1].tag or heads[0].tag not in ("VBN", "VB", "VBZ", "VBP", "VBD"):
        return None
    if first.goes_on or second.words[0] is not second.head:
        return None
    if not {base(head.lower) for head in heads} <= _UNORDERED:
        return None
    return Pair(heads[0].index, heads[0].index + 1, heads[1].index, heads[1].index + 1)
