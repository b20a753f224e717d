"""How alike two texts are: the scores of the machine translation studies, and those against a reference translation.

Scores of a pair are 0 to 1, 1 for two texts that are the same, unless their functions say otherwise. The recorded
sheets of the MCMT study (Pesu et al., 2017), 3,752 pairs, are met within 1e-9 by the three scores of `consistency`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from audit.errors import NotInstalled
from audit.text.tokens import words

UNSPACED = words("zh ja th lo km my")
"""Languages whose writing has no blanks between words: their characters stand for words."""
_STEMMERS = dict(
    pair.split(":")
    for pair in words(
        "ar:arabic da:danish de:german es:spanish fi:finnish fr:french hu:hungarian it:italian nl:dutch no:norwegian "
        "pt:portuguese ro:romanian ru:russian sv:swedish"
    )
)


def levenshtein_similarity(a: str, b: str, *, swaps: bool = True) -> float:
    """Return 1 - edits / (characters of both texts): MCMT's Levenshtein score. Two empty texts: 1.

    Edits insert, delete or replace a character, or swap two neighbours (optimal string alignment: Boytsov, ACM Journal
    of Experimental Algorithmics 16, 2011). The study's text names no swap, but its sheets count it as one: without
    (`swaps=False`, Levenshtein's own distance) 98.6 % of its recorded values are met. Divided by both lengths, two
    texts of one length that share nothing still score 0.5.

    >>> levenshtein_similarity("the cat", "the act"), levenshtein_similarity("the cat", "the act", swaps=False)
    (0.9285714285714286, 0.8571428571428572)
    """
    from rapidfuzz.distance import OSA, Levenshtein

    both = len(a) + len(b)
    return 1 - (OSA if swaps else Levenshtein).distance(a, b) / both if both else 1.0


def normalised_similarity(a: str, b: str) -> float:
    """Return 1 - 2 edits / (characters of both texts): formula 4 of the MGMT study, with Levenshtein's own distance.

    The study gives its range as 0 to 1. It is -1 to 1: below 0 where edits are more than the mean of both lengths.

    >>> normalised_similarity("the cat", "the hat"), normalised_similarity("no", "perhaps")
    (0.8571428571428572, -0.5555555555555556)
    """
    return 2 * levenshtein_similarity(a, b, swaps=False) - 1


def cosine(a: str, b: str) -> float:
    r"""Return the cosine of the counts of `\w+` tokens, capitals kept: MCMT's cosine score.

    A run of Chinese or Japanese characters between two marks is one token, so translations into these languages score
    low wherever they differ at all. Two texts without a token score 1 where they are the same; one without: 0.

    >>> cosine("the cat sat", "the cat lay")
    0.6666666666666666
    """
    counts, others = (Counter(re.findall(r"\w+", text)) for text in (a, b))
    if not counts or not others:
        return float(a == b)
    if counts == others:
        return 1.0  # exactly, whatever a square root makes of it
    lengths = sum(n * n for n in counts.values()) * sum(n * n for n in others.values())
    return sum(n * others[token] for token, n in counts.items()) / math.sqrt(lengths)


def bleu(a: str, b: str) -> float:
    """Return sentence BLEU of `b` with `a` as its only reference: MCMT's BLEU score.

    NLTK's `sentence_bleu` on words between blanks, one to four words with equal weights, the brevity penalty, and 1
    added to both sides of every precision (Lin and Och, COLING 2004; NLTK's `method2` before it left single words
    alone: today's meets 39.7 % of the recorded values). MCMT takes the direct translation as `a`, the one over a pivot
    as `b`; the order matters. No word in common: 0. Texts of fewer than four words score below 1 even against
    themselves. Two texts without a word: 1. One without: 0.

    >>> bleu("the cat sat on the mat", "the cat sat on a mat"), bleu("yes", "yes")
    (0.6434588841607617, 0.5946035575013605)
    """

    def one_added(precisions: Sequence[Any], **_: object) -> list[float]:
        return [(precision.numerator + 1) / (precision.denominator + 1) for precision in precisions]

    return _bleu(a.split(), b.split(), one_added)


def consistency(a: str, b: str) -> float:
    """Return MCMT's S: the mean of `levenshtein_similarity`, `bleu` and `cosine` of a direct and an indirect
    translation."""
    return (levenshtein_similarity(a, b) + bleu(a, b) + cosine(a, b)) / 3


def word_error_rate(reference: str, hypothesis: str, language: str = "") -> float:
    """Return the words to insert, delete or replace in `hypothesis`, divided by the words of `reference`: 0 is best, no
    upper end. A reference without words counts as one word. Source: Niessen et al., LREC 2000.

    >>> word_error_rate("the cat sat", "the cat sat down")
    0.3333333333333333
    """
    from rapidfuzz.distance import Levenshtein

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    return Levenshtein.distance(wanted, said) / max(1, len(wanted))


def reference_bleu(reference: str, hypothesis: str, language: str = "") -> float:
    """Return sentence BLEU against a reference translation: `bleu` with the words of `reference_words`, of which single
    ones are not smoothed (NLTK's `method2` of today)."""
    from nltk.translate.bleu_score import SmoothingFunction

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    return _bleu(wanted, said, SmoothingFunction().method2)


def meteor(reference: str, hypothesis: str, language: str = "en", *, synonyms: bool = True) -> float:
    """Return METEOR by NLTK: words of `hypothesis` that are those of `reference`, or their stems or synonyms, and their
    order. Source: Lavie and Agarwal, WMT 2007.

    English has Porter's stems and WordNet's synonyms, fourteen more languages Snowball's stems, all others the same
    words only, in lower case. NLTK looks for synonyms of stems, so it misses those of words like "feline". Two texts
    without a word: 1. Raises NotInstalled where `language` is English and WordNet is absent; without `synonyms` it is
    METEOR with the modules "exact" and "stem": say so where you report it.

    >>> round(meteor("el gato duerme en casa", "los gatos duermen en casa", "es"), 3)
    0.794
    """
    from nltk.translate.meteor_score import single_meteor_score

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    if not wanted or not said:
        return float(wanted == said)
    source: Any = wordnet() if language == "en" and synonyms else _Nothing()
    return float(single_meteor_score(wanted, said, stemmer=_stemmer(language), wordnet=source))


def word_overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """Return how alike two texts are by the words that both have in the same order: ROUGE-L with beta 1 (Lin, "ROUGE: a
    package for automatic evaluation of summaries", ACL workshop 2004, section 3.1). Two texts without a word: 1.

    >>> word_overlap("the cat sat".split(), "the cat lay down".split())
    0.5714285714285714
    """
    from rapidfuzz.distance import LCSseq

    both = len(a) + len(b)
    return 2 * LCSseq.similarity(a, b) / both if both else 1.0


def reference_words(text: str, language: str = "") -> list[str]:
    """Return the words between blanks, or every character but blanks in a language without them.

    >>> reference_words("我 喜欢", "zh"), reference_words("I like it.")
    (['我', '喜', '欢'], ['I', 'like', 'it.'])
    """
    return list("".join(text.split())) if language in UNSPACED else text.split()


@cache
def wordnet() -> Any:
    """NLTK's WordNet reader. Raises NotInstalled, with the line that gets it, where its data is absent."""
    from nltk.corpus import wordnet as reader

    try:
        reader.ensure_loaded()
    except (LookupError, OSError) as problem:
        raise NotInstalled(
            "METEOR of English needs WordNet; run: python -m nltk.downloader wordnet, or let NLTK_DATA name a "
            "directory that has corpora/wordnet, or leave synonyms out"
        ) from problem
    return reader


def _bleu(reference: Sequence[str], hypothesis: Sequence[str], smoothing: Callable[..., Any]) -> float:
    from nltk.translate.bleu_score import sentence_bleu

    if not reference or not hypothesis:
        return float(list(reference) == list(hypothesis))
    return float(sentence_bleu([reference], hypothesis, smoothing_function=smoothing))


class _Nothing:
    """In place of WordNet, whose words are English, and of a stemmer."""

    def synsets(self, word: str) -> list[Any]:
        return []

    def stem(self, word: str) -> str:
        return word


@cache
def _stemmer(language: str) -> Any:
    from nltk.stem import PorterStemmer, SnowballStemmer

    if language == "en":
        return PorterStemmer()
    return SnowballStemmer(_STEMMERS[language]) if language in _STEMMERS else _Nothing()
