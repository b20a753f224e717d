"""Parsers of constituents: spaCy's subtrees for English, chunks where Apertium tags, HanLP's and benepar's models."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile, NotInstalled, UnknownName, first_line
from audit.files import parse_json
from audit.keys import fingerprint
from audit.resources import Makers, made
from audit.systems.base import package_version
from audit.systems.model_files import one_thread
from audit.text.languages import entries
from audit.text.tokens import Token, words
from audit.text.tools import LANGUAGES, spans, tag, tools_of

if TYPE_CHECKING:
    from nltk import Tree

    from audit.packs.english.parser import Parse, Word

DEFAULT = "spacy,shallow"
"""The parsers to use where none is named: they need no model but spaCy's small one."""
PARSERS: Makers = {
    "spacy": ("audit.packs.translation.parsers:SpacyParser", ""),
    "shallow": ("audit.packs.translation.chunks:Shallow", ""),
    "hanlp": ("audit.packs.translation.parsers:HanlpParser", "MODEL"),
    "benepar": ("audit.packs.translation.parsers:BeneparParser", "MODEL"),
}
_REMEMBERED = 4096


class Parser:
    """Finds the constituency tree of texts: a leaf is a word of the text, above it stands its part of speech.

    A text has the same tree as long as `version` is the same; it is part of the signature of relations.
    """

    name: str
    languages: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return what names program, model and rules. Raises NotInstalled."""
        raise NotImplementedError

    def needs(self) -> str | None:
        """Return what is missing before it can parse, with the line that installs it; None: nothing."""
        return None

    def trees(self, texts: Sequence[str], language: str) -> "Sequence[Tree | None]":
        """Return one tree for each text, None where there is none; nothing is raised for the sake of a single text."""
        raise NotImplementedError

    def parse(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        """Return `trees`, each found once: the relations of a study parse the same texts, one after the other."""
        if language not in self.languages:
            raise UnknownName(f"language of the parser {self.name}", language, list(self.languages))
        fresh = [text for text in dict.fromkeys(texts) if text.strip() and (language, text) not in self._kept]
        if len(self._kept) > _REMEMBERED:
            self._kept.clear()
            fresh = [text for text in dict.fromkeys(texts) if text.strip()]
        found = zip(fresh, self.trees(fresh, language) if fresh else (), strict=True)
        self._kept.update({(language, text): tree for text, tree in found})
        return [self._kept.get((language, text)) for text in texts]

    @cached_property
    def _kept(self) -> "dict[tuple[str, str], Tree | None]":
        return {}


@cache
def get_parser(spec: str) -> Parser:
    """Return the parser of a name, made once in a process; its model is loaded when it parses. Raises UnknownName."""
    parser: Parser = made("parser", spec.strip(), PARSERS)
    return parser


def parsers_in(spec: str = "", language: str = "") -> list[Parser]:
    """Return the parsers of a list such as `en=benepar:benepar_en3,shallow`, or those of them that parse a language.

    An entry may be kept to one language. An empty list is `DEFAULT`. Raises UnknownName for a parser that is not known,
    AuditError for an entry without one.

    >>> [parser.name for parser in parsers_in("", "en")], parsers_in("", "xx")
    (['spacy', 'shallow'], [])
    """
    named = [(kept_to, get_parser(name)) for kept_to, name in entries(spec or DEFAULT, "parser")]
    return [
        parser
        for kept_to, parser in named
        if not language or (kept_to in ("", language) and language in parser.languages)
    ]


# English: subtrees of spaCy's dependencies.

_PHRASES = {
    tag: label
    for label, tags in {"NP": "NN PR EX WP", "VP": "VB MD", "PP": "IN TO", "ADJP": "JJ", "ADVP": "RB WR"}.items()
    for tag in words(tags)
}
"""By the beginning of the tag of its head."""
_INSIDE = words(
    "det amod compound nummod poss case aux auxpass neg punct cc mark prt predet quantmod preconj nmod intj dep"
)
"""Relations of words that stand in the phrase of their head, and make none by themselves."""


class SpacyParser(Parser):
    """English by the parser of the English pack: a word with all that depends on it is a phrase, named by its tag.

    A verb with a subject is a clause (S) of what stands up to the subject, and a verb phrase.
    """

    name, languages = "spacy", ("en",)

    @property
    def version(self) -> str:
        from audit.packs.english import parser

        return f"{parser.version()}, subtrees 1"

    def needs(self) -> str | None:
        from audit.packs.english import parser

        try:
            parser.version()
        except NotInstalled as problem:
            return str(problem)
        return None

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        from nltk import Tree

        from audit.packs.english.parser import tree_of

        tag_all = tools_of("en").tag_all
        parses = [tree_of(tokens) for tokens in (tag_all(texts) if tag_all else [tag(text, "en") for text in texts])]
        return [parse and Tree("TOP", [_constituent(parse, root) for root in parse.roots()]) for parse in parses]


def _constituent(parse: "Parse", word: "Word") -> "Tree":
    from nltk import Tree

    own = Tree(word.tag, [word.text])
    below = list(parse.children(word.index))
    head = parse[word.head]
    modifies_no_verb = word.relation == "advmod" and head.tag[:2] not in ("VB", "MD")
    if not below and (word.relation in _INSIDE or modifies_no_verb):
        return own
    parts = [(child.index, _constituent(parse, child)) for child in below]
    before = [part for part in parts if part[0] < word.index]
    label = _PHRASES.get(word.tag[:2], "X")
    places = [place for place, (index, _) in enumerate(before) if parse[index].relation[1:5] == "subj"]
    split = places[-1] + 1 if places and label == "VP" else 0
    inner = sorted([*before[split:], (word.index, own), *(part for part in parts if part[0] > word.index)], key=_index)
    phrase = Tree(label, [tree for _, tree in inner])
    return Tree("S", [*(tree for _, tree in before[:split]), phrase]) if split else phrase


def _index(part: "tuple[int, Tree]") -> int:
    return part[0]


# Models: of sentences that the project's taggers have split into words.

_MOST_WORDS = 100
"""Words of a sentence, at most: time and memory grow with the cube."""
_WORD = re.compile(r"[^\W\d_]{1,3}['’](?=\w)|\w+(?:[-.,]\w+)*|[^\w\s]")
"""An article that lost its vowel is a word of its own in the treebanks of Romance languages: l'homme."""


def sentences_of(text: str, language: str) -> list[list[Token]]:
    """Return the words of each sentence, by the language's tagger; with the tag `_` where it has none.

    >>> [[token.text for token in sentence] for sentence in sentences_of("L'homme dort. Il rêve.", "fr")]
    [["L'", 'homme', 'dort', '.'], ['Il', 'rêve', '.']]
    """
    tokens: Sequence[Token] = (
        tag(text, language)
        if language in LANGUAGES
        else [Token(match.group(), "_", *match.span()) for match in _WORD.finditer(text)]
    )
    sentences = [[token for token in tokens if start <= token.start < end] for start, end in spans(text, language)]
    return [sentence for sentence in sentences if sentence]


class _ModelParser(Parser):
    """A parser by a trained model. Raises NotInstalled where it is absent, BadFile where it is damaged."""

    spec: str
    """The name of the model, or where it is."""

    @property
    def version(self) -> str:
        if needed := self.needs():
            raise NotInstalled(f"the parser {self.name} cannot run here; {needed}")
        return f"{self.names()}, rules 2"

    def names(self) -> str:
        """Return what names package and model."""
        raise NotImplementedError

    def load(self) -> Callable[[list[list[Token]]], Any]:
        """Return what finds the trees of sentences; the tag `_` or UNK says that the model finds none."""
        raise NotImplementedError

    @cached_property
    def model(self) -> Callable[[list[list[Token]]], Any]:
        """The model, loaded once."""
        return self.load()

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        from nltk import Tree

        by_text = [sentences_of(text, language) for text in texts]
        parsed = iter(self._all([sentence for sentences in by_text for sentence in sentences]))
        found: list[Tree | None] = []
        for sentences in by_text:
            parts = [_with_words(next(parsed), sentence) for sentence in sentences]
            complete = bool(parts) and all(parts)
            found.append(Tree("TOP", [child for part in parts for child in part or ()]) if complete else None)
        return found

    def _all(self, sentences: list[list[Token]]) -> "Iterator[Tree | None]":
        short = [sentence for sentence in sentences if len(sentence) <= _MOST_WORDS]
        one_thread()
        try:
            trees: list[Any] = list(self.model(short)) if short else []
        except (NotInstalled, BadFile):
            raise
        except Exception as problem:  # whatever a model makes of a strange word must not stop the other sentences
            if self._alone([Token("1", "CD", 0, 1)]) is None:
                raise BadFile(f"{self.name}: the model parses no sentence at all ({first_line(problem)})") from problem
            trees = [self._alone(sentence) for sentence in short]
        parsed = iter(trees)
        return (next(parsed) if len(sentence) <= _MOST_WORDS else None for sentence in sentences)

    def _alone(self, sentence: list[Token]) -> Any:
        try:
            return next(iter(self.model([sentence])))
        except Exception:
            return None


def _with_words(tree: Any, tokens: Sequence[Token]) -> "list[Tree] | None":
    """Return the subtrees below the root with the text's own words, and the tagger's tags where the model has none."""
    if tree is None or len(tree.leaves()) != len(tokens):
        return None
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        if tree[place[:-1]].label() in ("_", "UNK"):
            tree[place[:-1]].set_label(token.tag)
        tree[place] = token.text
    return list(tree) if tree.label() in ("TOP", "ROOT", "") else [tree]


class HanlpParser(_ModelParser):
    """A constituency parser, or a model of several tasks, by `hanlp.load`: a directory, or a name that it downloads."""

    def __init__(self, model: str):
        self.spec, self.name, folder = model, f"hanlp:{model}", Path(model)
        self.languages = ("en",) if model.startswith(("EN_", "PTB")) else ("zh",)
        if not folder.is_dir():
            return
        try:
            labels = set(parse_json((folder / "vocabs.json").read_text(encoding="utf-8"))["chart"]["idx_to_token"])
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BadFile(f"{folder}: this is no constituency parser of HanLP ({first_line(problem)})") from problem
        self.languages = ("zh",) if {"IP", "CP"} & labels else ("en",)  # clauses of the Chinese Treebank alone

    def names(self) -> str:
        from audit.packs.chinese.taggers import model_version

        return model_version(self.spec)

    def needs(self) -> str | None:
        from audit.packs.chinese.taggers import MISSING

        if find_spec("hanlp") is None or find_spec("torch") is None:
            return MISSING
        is_path = "/" in self.spec or "." in self.spec
        return f"there is no directory {self.spec!r}" if is_path and not Path(self.spec).is_dir() else None

    def load(self) -> Callable[[list[list[Token]]], Any]:
        from audit.packs.chinese.taggers import load, simplified

        component = load(self.spec)
        tasks = list(getattr(component, "tasks", ()))
        con = next((task for task in tasks if task.startswith("con")), None)
        if con is None and (tasks or type(component).__name__ != "CRFConstituencyParser"):
            raise BadFile(f"HanLP's model {self.spec!r} finds no constituents; name a constituency parser")
        pos = next((task for task in ("pos/ctb", "pos", *tasks) if task in tasks and "pos" in task), None)
        skipped = [task for task in tasks if task.startswith("tok")]
        write = simplified if self.languages == ("zh",) else str

        def parse(sentences: list[list[Token]]) -> Any:
            said = [[write(token.text) for token in sentence] for sentence in sentences]
            if con is None:
                return component(said)
            return component(said, tasks=[task for task in (pos, con) if task], skip_tasks=skipped)[con]

        return parse


_BENEPAR = re.compile(r"(?:.*[/\\])?benepar_([a-z]{2})[^/\\]*")


class BeneparParser(_ModelParser):
    """The Berkeley neural parser (Kitaev et al. 2019), a model's name such as benepar_en3, or a path that ends so."""

    def __init__(self, model: str):
        match = _BENEPAR.fullmatch(model)
        if not match:
            raise BadFile(f"{model}: the name of a model of benepar is benepar_ and a language, as in benepar_en3")
        self.spec, self.name, self.languages = model, f"benepar:{model}", (match.group(1),)

    def names(self) -> str:
        path = Path(self.spec)
        files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
        digest = fingerprint(file.read_bytes().hex() for file in files if file.is_file())
        return f"benepar {package_version('benepar')}, model {path.name} {digest if files else ''}".strip()

    def needs(self) -> str | None:
        return None if find_spec("benepar") else "this needs the package benepar; run: pip install benepar"

    def load(self) -> Callable[[list[list[Token]]], Any]:
        if needed := self.needs():
            raise NotInstalled(f"the parser {self.name} cannot run here; {needed}")
        import benepar

        try:
            parser = benepar.Parser(self.spec)
        except LookupError as problem:
            raise NotInstalled(
                f"benepar's model {self.spec!r} is not there; run: python -c \"import benepar; "
                f"benepar.download('{self.spec}')\", or name the file or directory that holds it"
            ) from problem

        def parse(sentences: list[list[Token]]) -> Any:
            said = [[token.text for token in sentence] for sentence in sentences]
            return parser.parse_sents([benepar.InputSentence(words=each) for each in said])

        return parse
