"""Summaries of English texts by the package sumy: LexRank, latent semantic analysis and Luhn."""

from functools import cache, partial

from audit.systems.surface import Sumy
from audit.systems.trained import tokens
from audit.text import Analysis


class Splitter:
    """Sentences and words as audit splits them; sumy's own needs NLTK's punkt.

    >>> Splitter().to_sentences("It rains. Mr. Smith is out.")
    ('It rains.', 'Mr. Smith is out.')
    """

    def to_sentences(self, paragraph: str) -> tuple[str, ...]:
        return tuple(" ".join(paragraph[start:end].split()) for start, end in Analysis(paragraph).spans)

    def to_words(self, sentence: str) -> tuple[str, ...]:
        return tuple(tokens(sentence))


class EnglishSumy(Sumy):
    """The systems `sumy-lexrank-en`, `sumy-lsa-en` and `sumy-luhn-en`: whole sentences with a space between them,
    rated by words without sumy's stop words; a word's forms are different words."""

    languages: tuple[str, ...] = ("en",)
    stop_words = "english"
    joint = " "

    def __init__(self, algorithm: str, sentences: int = 3):
        super().__init__(algorithm, f"sumy-{algorithm}-en", sentences)

    @staticmethod
    @cache
    def tokenizer() -> Splitter:
        return Splitter()


lexrank = partial(EnglishSumy, "lexrank")
lsa = partial(EnglishSumy, "lsa")
luhn = partial(EnglishSumy, "luhn")
