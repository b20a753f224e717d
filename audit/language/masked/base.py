"""Who proposes words: the protocol, and proposers by name.

A proposer's name is `ngram`, which counted the film reviews of a package that is always there, `ngram:FILE`, which
counts the user's text, or `fill-mask:MODEL`: a masked language model, by its directory or its name on Hugging Face.
A new kind is one module and one line in `PROPOSERS`.

Source of the idea: the multi-granularity study (MGMT, section 3.3.2) masks words of a sentence and takes what BERT
finds most probable there.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

from audit.errors import UnknownName
from audit.language.per_language import entries

DEFAULT = "ngram"
"""What proposes where nobody named a proposer: n-grams of film reviews."""
ANY = ("*",)
"""Languages of a proposer that is asked about any."""

Masked = tuple[tuple[str, ...], int]
"""The words of a sentence, punctuation among them, and the place (from 0) of the one to be replaced."""


class Proposer(Protocol):
    """Finds the word that stands best in the place of another one.

    The same question has the same answer for ever, as long as `version` is the same.
    """

    name: str
    languages: tuple[str, ...]
    """Codes of languages, or `ANY`."""

    @property
    def version(self) -> str:
        """Names the text or the model, in a few words. Raises NotInstalled or BadFile where it cannot be had."""
        ...

    def needs(self) -> str | None:
        """None when it can be asked now, else the line that installs what is missing."""
        ...

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        """For each sentence the most probable word for its place that is another one than the present word, one whole
        word, letters only, and of the same part of speech where that is cheap to tell; None where there is none.

        Raises NotInstalled or BadFile as `version` does.
        """
        ...


@cache
def get_proposer(spec: str) -> Proposer:
    """The proposer of this name, made once in a process. Loads nothing yet.

    Raises UnknownName for another kind of proposer, or one that lacks what has to stand behind the colon.

    >>> get_proposer("ngram").languages
    ('en',)
    """
    kind, colon, model = spec.partition(":")
    if kind not in PROPOSERS or (colon and not model) or (kind in _WITH_MODEL and not model):
        raise UnknownName("proposer", spec, ["ngram", "ngram:FILE", *(f"{one}:MODEL" for one in _WITH_MODEL)])
    return PROPOSERS[kind](model)


def proposer_of(language: str, spec: str = "") -> Proposer | None:
    """The first proposer of a list such as `ngram,fill-mask:MODEL` that knows the language; None: none does.

    A proposer of the list may be kept to one language: `es=ngram:spanish.txt`. An empty list is `DEFAULT`. Raises as
    `get_proposer` does, and AuditError for an entry without one.

    >>> proposer_of("en", "es=ngram:spanish.txt,ngram").name
    'ngram(film reviews)'
    >>> proposer_of("fi", "ngram") is None
    True
    """
    for for_language, proposer in _listed(spec):
        if for_language in ("", language) and (proposer.languages == ANY or language in proposer.languages):
            return proposer
    return None


def proposers_in(spec: str = "") -> list[Proposer]:
    """The proposers of such a list, each once: whose words something may depend on. Raises as `proposer_of` does.

    >>> [proposer.name for proposer in proposers_in("en=ngram")]
    ['ngram(film reviews)']
    """
    return list(dict.fromkeys(proposer for _, proposer in _listed(spec)))


def _listed(spec: str) -> list[tuple[str, Proposer]]:
    return [(for_language, get_proposer(name)) for for_language, name in entries(spec or DEFAULT, "proposer")]


def _ngram(file: str) -> Proposer:
    from audit.language.masked.ngram import NgramProposer
    from audit.language.masked.running_text import FilmReviews, OwnText

    return NgramProposer(OwnText(file) if file else FilmReviews())


def _fill_mask(model: str) -> Proposer:
    from audit.language.masked.fill_mask import FillMask

    return FillMask(model)


PROPOSERS: dict[str, Callable[[str], Proposer]] = {"ngram": _ngram, "fill-mask": _fill_mask}
_WITH_MODEL = frozenset({"fill-mask"})
