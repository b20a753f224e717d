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
    """Return 1 - edits / (characters of both texts), MCMT's Levenshtein score; two empty texts: 1. An edit inserts,
    deletes or replaces a character, or swaps two neighbours (optimal string alignment), as the study's sheets do,
    though its text names no swap: without (`swaps=False`) 98.6 % of its recorded values are met."""
    from rapidfuzz.distance import OSA, Levenshtein

    both = len(a) + len(b)
    return 1 - (OSA if swaps else Levenshtein).distance(a, b) / both if both else 1.0


def normalised_similarity(a: str, b: str) -> float:
    """Return 1 - 2 edits / (characters of both texts): formula 4 of the MGMT study, with Levenshtein's own distance. It
    is -1 to 1 (the study says 0 to 1): below 0 where edits are more than the mean of both lengths."""
    return 2 * levenshtein_similarity(a, b, swaps=False) - 1


def cosine(a: str, b: str) -> float:
    r"""Return the cosine of the counts of `\w+` tokens, capitals kept: MCMT's cosine score. A run of Chinese characters
    is one token. Two texts without a token score 1 where they are the same; one without: 0."""
    counts, others = (Counter(re.findall(r"\w+", text)) for text in (a, b))
    if not counts or not others:
        return float(a == b)
    if counts == others:
        return 1.0  # exactly, whatever a square root makes of it
    lengths = sum(n * n for n in counts.values()) * sum(n * n for n in others.values())
    return sum(n * others[token] for token, n in counts.items()) / math.sqrt(lengths)


def bleu(a: str, b: str) -> float:
    """Return sentence BLEU of `b` with `a` as its only reference: MCMT's BLEU score, whose `a` is the direct
    translation.

    Words between blanks, one to four with equal weights, the brevity penalty, and 1 added to both sides of every
    precision (Lin and Och, COLING 2004; NLTK's `method2` before it left single words alone: today's meets 39.7 % of the
    recorded values). Texts of fewer than four words score below 1 even against themselves. Two texts without a word: 1.
    One: 0."""

    def one_added(precisions: Sequence[Any], **_: object) -> list[float]:
        return [(precision.numerator + 1) / (precision.denominator + 1) for precision in precisions]

    return _bleu(a.split(), b.split(), one_added)


def consistency(a: str, b: str) -> float:
    """Return MCMT's S, the mean of `levenshtein_similarity`, `bleu` and `cosine` of direct and indirect translation."""
    return (levenshtein_similarity(a, b) + bleu(a, b) + cosine(a, b)) / 3


def word_error_rate(reference: str, hypothesis: str, language: str = "") -> float:
    """Return the words to insert, delete or replace in `hypothesis`, of those of `reference`, which counts as one word
    where it has none: 0 is best, no upper end (Niessen et al., LREC 2000)."""
    from rapidfuzz.distance import Levenshtein

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    return Levenshtein.distance(wanted, said) / max(1, len(wanted))


def reference_bleu(reference: str, hypothesis: str, language: str = "") -> float:
    """Return `bleu` with the words of `reference_words`, of which single ones are not smoothed (NLTK's `method2`)."""
    from nltk.translate.bleu_score import SmoothingFunction

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    return _bleu(wanted, said, SmoothingFunction().method2)


def meteor(reference: str, hypothesis: str, language: str = "en", *, synonyms: bool = True) -> float:
    """Return METEOR by NLTK (Lavie and Agarwal, WMT 2007): English has Porter's stems and WordNet's synonyms,
    fourteen more languages Snowball's stems, all others the same words only. Two texts without a word: 1. Raises
    NotInstalled where `language` is English and WordNet is absent; without `synonyms` it is METEOR with "exact" and
    "stem": say so."""
    from nltk.translate.meteor_score import single_meteor_score

    wanted, said = reference_words(reference, language), reference_words(hypothesis, language)
    if not wanted or not said:
        return float(wanted == said)
    source: Any = wordnet() if language == "en" and synonyms else _Nothing()
    return float(single_meteor_score(wanted, said, stemmer=_stemmer(language), wordnet=source))


def word_overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """Return how alike two texts are by the words that both have in the same order: ROUGE-L with beta 1 (Lin, ACL
    workshop 2004, section 3.1). Two texts without a word: 1."""
    from rapidfuzz.distance import LCSseq

    both = len(a) + len(b)
    return 2 * LCSseq.similarity(a, b) / both if both else 1.0


def reference_words(text: str, language: str = "") -> list[str]:
    """Return the words between blanks, or every character but blanks in a language without them."""
    return list("".join(text.split())) if language in UNSPACED else text.split()


@cache
def wordnet() -> Any:
    """Return NLTK's WordNet reader. Raises NotInstalled, with the line that gets it, where its data is absent."""
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
