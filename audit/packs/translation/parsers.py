"""Constituents: spaCy's subtrees for English, and HanLP's and benepar's models; `chunks.py` has what Apertium tags."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile, NotInstalled, UnknownName
from audit.systems.base import package_version
from audit.systems.models import fingerprint_of, one_thread
from audit.text.tokens import Token, words
from audit.text.tools import LANGUAGES, spans, tag, tools_of

if TYPE_CHECKING:
    from nltk import Tree

    from audit.packs.english.parser import Parse, Word

_REMEMBERED = 4096


class Parser:
    """Finds the constituency tree of texts: a leaf is a word of the text, above it stands its part of speech."""

    name: str
    languages: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return what names program, model and rules: part of the signature of relations. Raises NotInstalled."""
        raise NotImplementedError

    def needs(self) -> str | None:
        """Return what is missing before it can parse, with the line that installs it; None: nothing."""
        return self._missing

    @cached_property
    def _missing(self) -> str | None:
        try:
            return None if self.version else ""
        except NotInstalled as problem:
            return str(problem)

    def trees(self, texts: Sequence[str], language: str) -> "Sequence[Tree | None]":
        """Return one tree for each text, None where there is none; no single text raises."""
        raise NotImplementedError

    def parse(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        """Return `trees`, each found once: the relations of a study parse the same texts, one after the other."""
        if language not in self.languages:
            raise UnknownName(f"language of the parser {self.name}", language, list(self.languages))
        if len(self._kept) > _REMEMBERED:
            self._kept.clear()
        fresh = [text for text in dict.fromkeys(texts) if text.strip() and (language, text) not in self._kept]
        for text, tree in zip(fresh, self.trees(fresh, language) if fresh else (), strict=True):
            self._kept[language, text] = tree
        return [self._kept.get((language, text)) for text in texts]

    @cached_property
    def _kept(self) -> "dict[tuple[str, str], Tree | None]":
        return {}


# English: subtrees of spaCy's dependencies.

_PHRASES = {"NN": "NP", "PR": "NP", "EX": "NP", "WP": "NP", "VB": "VP", "MD": "VP", "IN": "PP", "TO": "PP"}
_PHRASES |= {"JJ": "ADJP", "RB": "ADVP", "WR": "ADVP"}
"""Phrases by the beginning of the tag of their heads."""
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

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        from nltk import Tree

        from audit.packs.english.parser import tree_of

        tag_all = tools_of("en").tag_all
        parses = [tree_of(tokens) for tokens in (tag_all(texts) if tag_all else [tag(text, "en") for text in texts])]
        return [parse and Tree("TOP", [_constituent(parse, root) for root in parse.roots()]) for parse in parses]


def _constituent(parse: "Parse", word: "Word") -> "Tree":
    from nltk import Tree

    own, below = Tree(word.tag, [word.text]), list(parse.children(word.index))
    modifies_no_verb = word.relation == "advmod" and parse[word.head].tag[:2] not in ("VB", "MD")
    if not below and (word.relation in _INSIDE or modifies_no_verb):
        return own
    parts = {child.index: _constituent(parse, child) for child in below} | {word.index: own}
    order, label = sorted(parts), _PHRASES.get(word.tag[:2], "X")
    subjects = [at for at in order if at < word.index and parse[at].relation[1:5] == "subj"]
    if label != "VP" or not subjects:
        return Tree(label, [parts[at] for at in order])
    predicate = Tree(label, [parts[at] for at in order if at > subjects[-1]])
    return Tree("S", [*(parts[at] for at in order if at <= subjects[-1]), predicate])


# Models: of sentences that the project's taggers have split into words.

_MOST_WORDS = 100
"""Words of a sentence, at most: time and memory grow with the cube."""
_WORD = re.compile(r"[^\W\d_]{1,3}['’](?=\w)|\w+(?:[-.,]\w+)*|[^\w\s]")
"""An article that lost its vowel is a word of its own in the treebanks of Romance languages: l'homme."""
Model = Callable[[list[list[str]], str], Any]
"""What finds the trees of sentences in a language; the tag `_` or UNK says that it finds none."""


def sentences_of(text: str, language: str) -> list[list[Token]]:
    """Return the words of each sentence, by the language's tagger; with the tag `_` where it has none.

    >>> [[token.text for token in sentence] for sentence in sentences_of("L'homme dort. Il rêve.", "fr")]
    [["L'", 'homme', 'dort', '.'], ['Il', 'rêve', '.']]
    """
    plain = [Token(match.group(), "_", *match.span()) for match in _WORD.finditer(text)]
    tokens: Sequence[Token] = tag(text, language) if language in LANGUAGES else plain
    sentences = [[token for token in tokens if start <= token.start < end] for start, end in spans(text, language)]
    return [sentence for sentence in sentences if sentence]


class _ModelParser(Parser):
    """A parser by a trained model. Raises NotInstalled where it is absent, BadFile where it is damaged."""

    def load(self) -> Model:
        """Return the model."""
        raise NotImplementedError

    @cached_property
    def model(self) -> Model:
        """The model, loaded once."""
        return self.load()

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        from nltk import Tree

        one_thread()
        by_text = [sentences_of(text, language) for text in texts]
        parsed = iter(self._parsed([sentence for sentences in by_text for sentence in sentences], language))
        trees: list[Tree | None] = []
        for sentences in by_text:
            parts = [_with_words(next(parsed), sentence) for sentence in sentences]
            whole = bool(parts) and all(parts)
            trees.append(Tree("TOP", [child for part in parts for child in part or ()]) if whole else None)
        return trees

    def _parsed(self, sentences: list[list[Token]], language: str) -> list[Any]:
        """Return the trees; None of a long sentence, and of one that the model fails at."""
        model, told = self.model, [[token.text for token in sentence] for sentence in sentences]
        if len(told) == 1 and len(told[0]) > _MOST_WORDS:
            return [None]
        if all(len(each) <= _MOST_WORDS for each in told):
            try:
                return list(model(told, language)) if told else []
            except Exception:  # whatever a model makes of a strange word must not stop the other sentences
                if len(told) == 1:
                    return [None]
        return [tree for sentence in sentences for tree in self._parsed([sentence], language)]


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
    """A constituency parser, or a model of several tasks, by `hanlp.load`: a directory, or a name that it downloads.

    A name says its language; a directory is taken for Chinese, or as in `en=hanlp:DIRECTORY`.
    """

    def __init__(self, model: str):
        self.spec, self.name = model, f"hanlp:{model}"
        is_english = model.startswith(("EN_", "PTB"))
        self.languages = ("zh", "en") if Path(model).is_dir() else ("en",) if is_english else ("zh",)

    @property
    def version(self) -> str:
        from audit.packs.chinese.taggers import MISSING, model_version

        if find_spec("hanlp") is None or find_spec("torch") is None:
            raise NotInstalled(MISSING)
        if ("/" in self.spec or "." in self.spec) and not Path(self.spec).is_dir():
            raise NotInstalled(f"there is no directory {self.spec!r}")
        return f"{model_version(self.spec)}, rules 2"

    def load(self) -> Model:
        from audit.packs.chinese.taggers import load, simplified

        component = load(self.spec)
        tasks = list(getattr(component, "tasks", ()))
        constituents = next((task for task in tasks if task.startswith("con")), None)
        if constituents is None and (tasks or type(component).__name__ != "CRFConstituencyParser"):
            raise BadFile(f"HanLP's model {self.spec!r} finds no constituents; name a constituency parser")
        tagging = [task for task in ("pos/ctb", *tasks) if task in tasks and "pos" in task][:1]
        skipped = [task for task in tasks if task.startswith("tok")]

        def parse(sentences: list[list[str]], language: str) -> Any:
            write = simplified if language == "zh" else str
            told = [[write(word) for word in sentence] for sentence in sentences]
            if constituents is None:
                return component(told)
            return component(told, tasks=[*tagging, constituents], skip_tasks=skipped)[constituents]

        return parse


class BeneparParser(_ModelParser):
    """The Berkeley neural parser (Kitaev et al. 2019), a model's name such as benepar_en3, or a path that ends so."""

    def __init__(self, model: str):
        match = re.fullmatch(r"benepar_([a-z]{2}).*", Path(model).name)
        if not match:
            raise BadFile(f"{model}: the name of a model of benepar is benepar_ and a language, as in benepar_en3")
        self.spec, self.name, self.languages = model, f"benepar:{model}", (match[1],)

    @property
    def version(self) -> str:
        if find_spec("benepar") is None:
            raise NotInstalled("this needs the package benepar; run: pip install benepar")
        path = Path(self.spec)
        digest = f" {fingerprint_of(path)}" if path.is_dir() else ""
        return f"benepar {package_version('benepar')}, model {path.name}{digest}, rules 2"

    def load(self) -> Model:
        import benepar

        try:
            parser = benepar.Parser(self.spec)
        except LookupError as problem:
            download = f"python -c \"import benepar; benepar.download('{self.spec}')\""
            raise NotInstalled(
                f"benepar's model {self.spec!r} is absent; run {download}, or name the directory that holds it"
            ) from problem
        return lambda sentences, _: parser.parse_sents([benepar.InputSentence(words=each) for each in sentences])
