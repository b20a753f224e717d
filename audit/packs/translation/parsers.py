"""Constituency trees: spaCy's subtrees for English, models of HanLP and benepar, and chunks of what Apertium tags."""

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.errors import AuditError, BadFile, NotInstalled, UnknownName
from audit.keys import fingerprint
from audit.packs.translation import apertium
from audit.packs.translation.trees import leaf_spans
from audit.resources import data_file
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
    """A parser by a trained model, loaded once. Raises NotInstalled where it is absent, BadFile where it is damaged."""

    model: Model

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
        if all(len(sentence) <= _MOST_WORDS for sentence in sentences):
            try:
                told = [[token.text for token in sentence] for sentence in sentences]
                return list(self.model(told, language)) if told else []
            except (NotInstalled, BadFile):
                raise
            except Exception:  # whatever a model makes of a strange word must not stop the other sentences
                pass
        alone = len(sentences) == 1
        return [None] if alone else [tree for sentence in sentences for tree in self._parsed([sentence], language)]


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

    @cached_property
    def model(self) -> Model:  # type: ignore[override]
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

    @cached_property
    def model(self) -> Model:  # type: ignore[override]
        import benepar

        try:
            parser = benepar.Parser(self.spec)
        except LookupError as problem:
            download = f"python -c \"import benepar; benepar.download('{self.spec}')\""
            raise NotInstalled(
                f"benepar's model {self.spec!r} is absent; run {download}, or name the directory that holds it"
            ) from problem
        return lambda sentences, _: parser.parse_sents([benepar.InputSentence(words=each) for each in sentences])


# What Apertium translates into: chunks of the words that it has tagged, by NLTK's chunker (Bird, Klein and Loper,
# Natural Language Processing with Python, 2009, section 7.2).

GRAMMARS = {"ca": "romance", "en": "english", "es": "romance", "fr": "romance"}
"""Language -> its grammar of chunks, of NLTK's notation, in data/grammars; README.md there says how to read them."""
RULES = "1"
"""Version of the treatment of the tagger's words; part of the parser's version, as the grammars are."""
_PREFERRED = ("spa-cat", "cat-spa", "fra-cat", "eng-cat")
"""Modes whose taggers are taken before all others: they have constraint grammars, too, and know the most words."""
_NEGATIONS = words("no not ne pas non never nunca mai jamais n't")
_FORMS = {"inf": "INF", "ger": "GER", "pprs": "GER", "ppres": "GER", "pp": "PART"}
_KINDS = dict(pair.split(":") for pair in words(
    "n:N np:NAME adj:ADJ det:DET detnt:DET predet:PREDET num:NUM adv:ADV preadv:PREADV pr:PR prn:PRN cnjcoo:CC "
    "cnjsub:CS cnjadv:CS rel:REL gen:GEN apos:GEN sent:SENT cm:CM ij:IJ"
))  # fmt: skip
_PIECE = re.compile(
    r"\^(?P<surface>(?:[^\\$/]|\\.)*)(?:/(?P<analysis>(?:[^\\$]|\\.)*))?\$"
    r"|(?P<wordblank>\[\[.*?\]\])"
    r"|\[(?P<blank>(?:[^]\\]|\\.)*)\]"
    r"|(?P<word>(?:\\.|[^^\\[\s])+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PART = re.compile(r"((?:[^\\<+]|\\.)*)<([^>]+)>((?:<[^>]*>)*)")


class Tagged(NamedTuple):
    """`text` as it stands in the text; `tag` is Apertium's part of speech, with the form of a verb that is not finite
    (`vblex.inf`) or the kind of a weak pronoun (`prn.pro`); `kind` is the name that grammars of chunks have for it."""

    text: str
    tag: str
    kind: str


def words_of(stream: str) -> list[Tagged]:
    """Return the words of a text in order, from what `audit.packs.translation.apertium.tag_texts` returns.

    A contraction stays one word (`del`: `pr+det`); of several words that Apertium takes for one, each has its tag.
    The full stop that is not the text's own is left out.

    >>> for word in words_of("^Del/de<pr>+el<det><def><m><sg>$ ^mar/mar<n><mf><sg>$^./.<sent>$[]"): print(*word)
    Del pr+det OFDET
    mar n N
    """
    read: list[Tagged] = []
    for piece in _PIECE.finditer(stream):
        if piece["surface"] is not None:
            tag = _read(piece["analysis"] or "")
            read += [Tagged(part, *tag) for part in _ESCAPED.sub(r"\1", piece["surface"]).split()]
        elif piece["word"] is not None:  # a sign, or letters that Apertium does not take for a word
            for text in re.findall(r"\w+|\W", _ESCAPED.sub(r"\1", piece["word"])):
                is_word = any(map(str.isalnum, text))
                read.append(Tagged(text, *(("unknown", "UNKNOWN") if is_word else ("mark", "MARK"))))
        elif piece["blank"] == "" and read:
            last = read.pop()
            if rest := last.text.removesuffix("."):
                read.append(last._replace(text=rest))
    return read


def _read(analysis: str) -> tuple[str, str]:
    """Return tag and kind of an analysis such as `dar<vblex><inf>+lo<prn><enc>`."""
    parts = [(lemma, tag, re.findall(r"<([^>]*)>", rest)) for lemma, tag, rest in _PART.findall(analysis)]
    if analysis.startswith("*") or not parts:
        return "unknown", "UNKNOWN"
    (lemma, first, rest), tags = parts[0], [tag for _, tag, _ in parts]
    lemma = _ESCAPED.sub(r"\1", lemma).lower()
    if first == "pr" and len(parts) > 1:
        kinds = {"prn": "PRPRN", "rel": "REL"}
        return f"pr+{tags[1]}", kinds.get(tags[1], "OFDET" if lemma in ("de", "of") else "PRDET")
    if tags[-1] == "det" and "pr" in tags:
        return "pr+det", "PRDET"
    if first.startswith("vb") or first == "vaux":
        form = next((tag for tag in rest if tag in _FORMS), None)
        return (f"{first}.{form}", _FORMS[form]) if form else (first, "V")
    if first == "prn" and rest[:1] in (["pro"], ["enc"]):
        return "prn.pro", "WEAK"
    if first == "prn" and rest[:1] in (["rel"], ["itg"]):
        return "prn.rel", "REL"
    if lemma in _NEGATIONS and first in ("adv", "preadv"):
        return first, "NOT"
    if first == "pr" and lemma in ("de", "of", "to"):
        return first, "TO" if lemma == "to" else "OF"
    return first, _KINDS.get(first, "MARK")


class Shallow(Parser):
    """The parser `shallow`: noun, verb, prepositional, adverb and adjective phrases under one node `S`, no full parse,
    of the words and tags of Apertium's tagger for the language."""

    name, languages = "shallow", tuple(GRAMMARS)

    @property
    def version(self) -> str:
        if needed := apertium.needs():
            raise NotInstalled(needed)
        if not (modes := _modes()):
            raise NotInstalled(f"no mode of Apertium tags {', '.join(self.languages)}; install apertium-spa-cat")
        rules = fingerprint([RULES, *(_grammar(language) for language in GRAMMARS)])
        names = " ".join(mode.name for mode in modes.values())
        return f"apertium {apertium.engine_version()} {names} data {apertium.fingerprint(modes.values())}, {rules}"

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        if (mode := _modes().get(language)) is None:
            raise NotInstalled(
                f"no installed mode of Apertium tags texts in {language!r}; {apertium.needs(['spa-cat'])}"
            )
        return [_tree(language, *read) for read in zip(apertium.tag_texts(mode, texts), texts, strict=True)]


def _modes() -> dict[str, apertium.Mode]:
    """Return language -> the mode whose tagger is taken: one that we know to be good, else the first by name."""
    modes = [mode for mode in apertium.installed_modes() if mode.source in GRAMMARS]
    by_language: dict[str, apertium.Mode] = {}
    for mode in sorted(modes, key=lambda mode: (mode.name not in _PREFERRED, mode.name)):
        if mode.source not in by_language and apertium.tagger_place(apertium.stages(mode.file)) is not None:
            by_language[mode.source] = mode
    return dict(sorted(by_language.items()))


def _grammar(language: str) -> str:
    return data_file(f"grammars/chunks_{GRAMMARS[language]}.txt").read_text(encoding="utf-8")


@cache
def _chunker(language: str) -> Any:
    from nltk import RegexpParser

    return RegexpParser(_grammar(language), root_label="S", loop=2)


def _tree(language: str, tagged: str | AuditError, text: str) -> "Tree | None":
    read = words_of(tagged) if isinstance(tagged, str) else []
    spans = leaf_spans(text, [word.text for word in read])
    if not read or spans is None:
        return None
    own = [word._replace(text=text[start:end]) for word, (start, end) in zip(read, spans, strict=True)]
    return _phrase_tree(_chunker(language).parse([(place, word.kind) for place, word in enumerate(own)]), own)


def _phrase_tree(chunk: Any, words: Sequence[Tagged], top: bool = True) -> "Tree":
    """Return the chunker's tree with the words and their tags, and only phrases: verbs that belong together are of the
    phrase around them, and a phrase that is all of another of its name is that one."""
    from nltk import Tree

    names = {"GROUP": "VP", "OFP": "PP", "RELP": "PP"}
    label, children = names.get(chunk.label(), chunk.label()), []
    for child in chunk:
        if isinstance(child, tuple):
            children.append(Tree(words[child[0]].tag, [words[child[0]].text]))
            continue
        subtree = _phrase_tree(child, words, top=False)
        same = not top and subtree.label() == label and (child.label() == "GROUP" or len(chunk) == 1)
        children += list(subtree) if same else [subtree]
    return Tree(label, children)
