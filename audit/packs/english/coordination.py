"""Words and phrases joined by "and" or "or" whose order may be changed without changing what is said.

Only coordinations whose two sides have the same shape are taken, and only where what stands before and after binds
to both sides or to neither: "a dark and funny film" yes, "very dark and funny" or "happy and proud of it" no.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.packs.english.emphasis import article
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_QUANTITY = words(
    "second third fourth general particular short other others same such own last next first few many more most "
    "less least full half overall much several various certain only whole entire very main kind sort lot lots bit "
    "couple number plenty all everything nothing something anything one ones rest way ways end so still thing "
    "things stuff etc new worth due able likely everyone anyone someone everybody nobody none time times"
)
_COPULAS = words(
    "is are was were be been being 's 're 'm am seem seems seemed look looks looked feel feels felt sound sounds "
    "sounded become becomes became stay remain remains remained find found both either neither"
)
_LOOSE = words("during because when while throughout but although though if before after")
_DEGREES = words(
    "very really so too quite rather pretty somewhat truly also always just still extremely incredibly totally "
    "completely utterly both fairly terribly genuinely"
)
_PEOPLE = words("rich poor young old dead living beautiful damned brave famous bold gifted bad ugly good")
_CLOSERS = frozenset([".", "!", "?", ";", ":", ",", ")", "...", "--", ""])
_ADJECTIVES = words("JJ VBN VBG")
_NOUNS = words("NN NNS")
_DETERMINERS = words("the a an no some this these that those its his her their")
_SHARED_OBJECT = words(
    "write written wrote direct directed produce produced edited filmed shot crafted love loved loves enjoy "
    "enjoyed enjoys hate hated respect respected admire admired like liked adore adored praised designed "
    "performed acted staged planned"
)
_JOINTS = words("and or")
_IRREVERSIBLE = words("come go sit stand try wait stop get turn run be do have")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides of a coordination as token ranges: tokens[left:middle] and tokens[middle + 1:right]."""

    left: int
    middle: int
    right: int


@lru_cache(maxsize=1)
def _fixed_pairs() -> frozenset[tuple[str, str]]:
    from audit.resources import data_file

    lines = data_file("lexicons/fixed_pairs.tsv").read_text(encoding="utf-8").splitlines()
    return frozenset(
        (first, second) for line in lines if not line.startswith("#") for first, second in [line.split("\t")]
    )


def swappable(tokens: Sequence[Token]) -> list[Pair]:
    """Every coordination of one sentence whose sides may be swapped, from left to right.

    >>> len(swappable(Analysis("The film is wonderful and exciting.").tokens))
    1
    >>> swappable(Analysis("It is shot in black and white.").tokens)
    []
    """
    joints = [index for index, token in enumerate(tokens) if token.lower in _JOINTS]
    return [pair for index in joints if (pair := _pair(tokens, index)) is not None]


def swap(analysis: Analysis, pair: Pair) -> str:
    """The text with the two sides of a coordination swapped; a/an and the capital of a first word are put right."""
    tokens, text = analysis.tokens, analysis.text
    first = text[tokens[pair.left].start : tokens[pair.middle - 1].end]
    second = text[tokens[pair.middle + 1].start : tokens[pair.right - 1].end]
    joint = text[tokens[pair.middle - 1].end : tokens[pair.middle + 1].start]
    start, end = tokens[pair.left].start, tokens[pair.right - 1].end
    if pair.left == 0 and first[0].isupper() and not second[0].isupper():
        second, first = second[0].upper() + second[1:], first[0].lower() + first[1:]
    before = text[:start]
    if pair.left and tokens[pair.left - 1].lower in ("a", "an"):
        before = before[: tokens[pair.left - 1].start] + article(tokens[pair.left - 1].text, second) + " "
    return before + second + joint + first + text[end:]


def _pair(tokens: Sequence[Token], middle: int) -> Pair | None:
    if not 0 < middle < len(tokens) - 1:
        return None
    first, second = tokens[middle - 1].lower, tokens[middle + 1].lower
    if first == second or (first, second) in _fixed_pairs() or {first, second} & _QUANTITY:
        return None
    if "-" in (first[-1:], second[-1:]) or not (first[0].isalpha() and second[0].isalpha()):
        return None
    pair = _adjectives(tokens, middle) or _adverbs(tokens, middle) or _noun_phrases(tokens, middle)
    pair = pair or _verbs(tokens, middle)
    if pair is None or _is_nested(tokens, pair):
        return None
    sides = [tokens[index].lower for index in range(pair.left, pair.right) if index != middle]
    return None if _QUANTITY.intersection(sides) or any(len(side) == 1 and side != "a" for side in sides) else pair


def _is_nested(tokens: Sequence[Token], pair: Pair) -> bool:
    """Whether the coordination is a part of a longer list, whose sides cannot be told."""
    before, after = _low(tokens, pair.left - 1), _low(tokens, pair.right)
    return before in ("and", "or", "/", "&", "-", "not", "n't", "nor") or after in (
        "and",
        "or",
        "/",
        "&",
        "-",
        "than",
        "but",
    )


def _low(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if 0 <= index < len(tokens) else ""


def _tag(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].tag if 0 <= index < len(tokens) else ""


def _adjectives(tokens: Sequence[Token], middle: int) -> Pair | None:
    """ "dark and funny" before a noun, or after a form of be; also "richly drawn and deeply felt"."""
    right = middle + 2
    adverbs = _tag(tokens, middle - 2) == "RB" and _tag(tokens, middle + 1) == "RB"
    if adverbs:
        right = middle + 3
        if not (_low(tokens, middle + 1).endswith("ly") and _low(tokens, middle - 2).endswith("ly")) or right > len(
            tokens
        ):
            return None
    left = middle - 1 - adverbs
    first, second = tokens[middle - 1], tokens[right - 1]
    plain = _adjective_like(first) and _adjective_like(second) and "JJ" in (first.tag, second.tag)
    if not plain and not (first.tag == second.tag and first.tag in ("JJR", "JJS")):
        return None
    if (first.text[0].isupper() or second.text[0].isupper()) and left > 0:
        return None
    before, mark, after = _low(tokens, left - 1), _tag(tokens, left - 1), _tag(tokens, right)
    if _low(tokens, right) in _CLOSERS | _LOOSE and _predicative(tokens, left):
        return Pair(left, middle, right)
    if before == "the" and {first.lower, second.lower} & _PEOPLE:
        return None
    attributive = before in _DETERMINERS or mark in ("IN", "VBZ", "VBD", "VBP", "VBG", "VB") or left == 0
    both = first.tag == second.tag == "JJ" or adverbs
    if attributive and before not in _COPULAS and after in ("NN", "NNS") and both:
        return Pair(left, middle, right)
    return None


def _predicative(tokens: Sequence[Token], left: int) -> bool:
    """Whether adjectives that start here follow a form of be, maybe by a word of degree or within a list."""
    before = _low(tokens, left - 1)
    if before in _DEGREES and _low(tokens, left - 2) in _COPULAS - {"find", "found"}:
        return True
    if before == "," and _tag(tokens, left - 2) == "JJ" and _low(tokens, left - 3) in _COPULAS | {","}:
        return True
    return before in _COPULAS


def _adjective_like(token: Token) -> bool:
    if token.tag in ("JJ", "JJR", "JJS"):
        return True
    return token.tag in _ADJECTIVES and token.lower.endswith(("ed", "ing"))


def _adverbs(tokens: Sequence[Token], middle: int) -> Pair | None:
    """ "quickly and quietly"."""
    first, second = tokens[middle - 1], tokens[middle + 1]
    if not (first.tag == second.tag == "RB" and first.lower.endswith("ly") and second.lower.endswith("ly")):
        return None
    if first.lower in ("only", "really", "truly", "simply", "early", "likely") or second.lower in (
        "only",
        "really",
        "simply",
    ):
        return None
    if _tag(tokens, middle - 2).startswith("RB") or (middle > 1 and _low(tokens, middle - 2) in (",", "so")):
        return None
    after = _tag(tokens, middle + 2)
    if _low(tokens, middle + 2) in _CLOSERS - {","} or after in ("VBN", "JJ", "VBD", "VBZ", "VB"):
        return Pair(middle - 1, middle, middle + 2)
    return None


def _noun_phrases(tokens: Sequence[Token], middle: int) -> Pair | None:
    """ "humor and pathos", "the plot and the acting", "great songs and bad jokes", "Tom Hanks and Meg Ryan"."""
    names = _names(tokens, middle)
    if names is not None:
        return names
    if _tag(tokens, middle - 1) not in _NOUNS:
        return None
    left = _phrase_start(tokens, middle)
    right = _phrase_end(tokens, middle)
    if right is None or left == middle:
        return None
    first, second = tokens[left:middle], tokens[middle + 1 : right]
    if len(first) == 2 and len(second) == 1 and first[0].tag in ("DT", "PRP$"):
        return _under_one_determiner(tokens, Pair(left + 1, middle, right))
    if _shape(first) != _shape(second) or any(
        token.text[0].isupper() for token in (*first[bool(left == 0) :], *second)
    ):
        return None
    if (first[0].lower in _DETERMINERS) != (second[0].lower in _DETERMINERS):
        return None
    owners = {"its", "his", "her", "their", "this", "that", "these", "those"}
    if first[0].lower != second[0].lower and {first[0].lower, second[0].lower} & owners:
        return None
    if not _free_before(tokens, left, first) or not _free_after(tokens, left, right):
        return None
    return Pair(left, middle, right)


def _under_one_determiner(tokens: Sequence[Token], pair: Pair) -> Pair | None:
    """ "the acting and directing": the determiner stays where it is."""
    first, second = tokens[pair.left], tokens[pair.middle + 1]
    if (
        first.text[0].isupper()
        or second.text[0].isupper()
        or len({first.tag, second.tag}) > (tokens[pair.left - 1].lower not in ("a", "an")) + 1
    ):
        return None
    after, mark = _low(tokens, pair.right), _tag(tokens, pair.right)
    if mark in ("VBP", "MD", "VBD", "VBZ") and after != "'s":
        return pair if pair.left == 1 else None
    if tokens[pair.middle].lower == "or":
        return pair if after in _CLOSERS else None  # "blur the background or sketch in a setting"
    return pair if after in _CLOSERS | {"in", "during", "throughout"} else None


def _names(tokens: Sequence[Token], middle: int) -> Pair | None:
    """Two full names of persons: both of two capitalised words."""
    if middle < 2 or middle + 2 >= len(tokens):
        return None
    sides = (*tokens[middle - 2 : middle], *tokens[middle + 1 : middle + 3])
    if not all(token.tag == "NNP" and token.text[0].isupper() and token.text[1:].islower() for token in sides):
        return None
    outside = (_tag(tokens, middle - 3), _tag(tokens, middle + 3))
    capital = any(0 <= at < len(tokens) and tokens[at].text[0].isupper() for at in (middle - 3, middle + 3))
    if (
        capital
        or set(outside) & {"NN", "NNS", "NNP", "POS", "JJ", "DT"}
        or _low(tokens, middle - 3) in ("'s", "the", "(")
    ):
        return None
    return Pair(middle - 2, middle, middle + 3) if _low(tokens, middle + 3) not in ("'s", "'") else None


def _phrase_start(tokens: Sequence[Token], middle: int) -> int:
    start = middle - 1
    while start > 0 and _tag(tokens, start - 1) in ("JJ", "NN", "NNS"):
        start -= 1
    if start > 0 and _low(tokens, start - 1) in _DETERMINERS and _tag(tokens, start - 1) in ("DT", "PRP$"):
        start -= 1
    return start


def _phrase_end(tokens: Sequence[Token], middle: int) -> int | None:
    end = middle + 1
    if _low(tokens, end) in _DETERMINERS:
        end += 1
    while end < len(tokens) and _tag(tokens, end) == "JJ":
        end += 1
    first = end
    while end < len(tokens) and _tag(tokens, end) in _NOUNS:
        end += 1
    return end if end > first else None


def _shape(side: Sequence[Token]) -> tuple[str, ...]:
    """Tags of one side, with determiners counted alike and number ignored where there is no determiner."""
    marks = ["DT" if token.tag in ("DT", "PRP$") else token.tag for token in side]
    return tuple("NN" if mark in _NOUNS and marks[0] != "DT" else mark for mark in marks)


def _free_before(tokens: Sequence[Token], left: int, side: Sequence[Token]) -> bool:
    """Whether what stands before the first side binds to both sides."""
    before, mark = _low(tokens, left - 1), _tag(tokens, left - 1)
    determined = side[0].lower in _DETERMINERS
    if left == 0 or before in ("between", "both", "either", "neither", ":", "("):
        return True
    if not determined and len(side) == 1 and mark in ("JJ", "VBG", "VBN", "CD", "POS", "NNP", "JJR", "JJS", "RB"):
        return False
    if before == "," and not determined and len(side) == 1:
        return _tag(tokens, left - 2) in _NOUNS and _tag(tokens, left - 3) in (",", "IN", "VB", "VBZ", "VBD", "VBG")
    if mark == "IN" and before != "that":
        if determined or before == "of":
            holds = _tag(tokens, left - 2) in _NOUNS or _low(tokens, left - 2) == "full"
            return not determined and holds and len(side) == 1
        return True
    if mark == "VB" and _tag(tokens, left - 2) in ("JJ", "DT", "NN"):
        return False  # a noun, not a verb
    return mark in ("VB", "VBZ", "VBD", "VBP", "VBG", "VBN") and before not in _COPULAS


def _free_after(tokens: Sequence[Token], left: int, right: int) -> bool:
    """Whether what stands after the second side binds to both sides or to neither."""
    after, mark = _low(tokens, right), _tag(tokens, right)
    if right >= len(tokens) or after in (".", "!", "?", ";", ")"):
        return True
    if after == "," and _tag(tokens, left - 1) == "IN":
        return True
    if mark in ("VBP", "MD", "VBD", "VBZ"):
        return left == 0 and mark != "VBZ" and after not in ("'s", "is", "was", "has")
    return after in ("in", "during", "throughout", "because", "when", "while") and left > 0


def _verbs(tokens: Sequence[Token], middle: int) -> Pair | None:
    """ "laughed and cried", "written and directed by"."""
    first, second = tokens[middle - 1], tokens[middle + 1]
    if first.tag != second.tag or first.tag not in ("VB", "VBD", "VBN", "VBP", "VBZ"):
        return None
    if {first.lower, second.lower} & (_IRREVERSIBLE | _COPULAS) or _tag(tokens, middle - 2).startswith("RB"):
        return None
    shared = first.lower in _SHARED_OBJECT and second.lower in _SHARED_OBJECT
    if shared and (
        _low(tokens, middle + 2) in ("by", "the", "this", "it", "a") or _low(tokens, middle + 2) in _CLOSERS
    ):
        return Pair(middle - 1, middle, middle + 2)
    both_state = first.tag == "VBN" and _low(tokens, middle - 2) in _COPULAS
    if both_state and _low(tokens, middle + 2) in _CLOSERS - {","}:
        return Pair(middle - 1, middle, middle + 2)
    return None
