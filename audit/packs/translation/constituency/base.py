"""What a constituency parser is, which ones there are, and where a tree's words stand in the text."""

from __future__ import annotations

import random
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from audit.errors import AuditError, UnknownName
from audit.packs.english.vocabulary import BRACKETS, ESCAPED
from audit.packs.translation.function_words import is_negation
from audit.resources import Makers, made
from audit.text.languages import entries
from audit.text.tokens import Token, words
from audit.text.tools import LANGUAGES, spans, tag

if TYPE_CHECKING:
    from nltk import Tree


DEFAULT = ("link-grammar", "shallow")
"""The parsers to use where none is named: programs of Debian that need no model."""
REMEMBERED = 4096
"""Trees that a parser keeps: the relations of a study parse the same texts, one after the other."""


class Parser(Protocol):
    """Finds the constituency tree of sentences. The same text has the same tree as long as `version` is the same."""

    name: str
    """As it is registered, with its model: `hanlp:MODEL`."""
    shallow: bool
    """Whether its trees are flat chunks (noun phrases and the like under one node), no full parse."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it parses. May raise BadFile for a model that does not say."""
        ...

    @property
    def version(self) -> str:
        """Names everything that trees depend on: program, model, rules. Part of the signature of relations.

        Raises NotInstalled where the parser is absent."""
        ...

    def needs(self) -> str | None:
        """What is missing before it can parse, with the line that installs it; None: nothing."""
        ...

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, in order; None where there is none.

        A leaf is a word of the text; above it stands its part of speech. Trees are shared: copy one before changing
        it. Raises NotInstalled where the parser is absent and UnknownName for a language that it does not parse, but
        nothing for the sake of a single text.
        """
        ...


def get_parser(spec: str) -> Parser:
    """The parser of this name, made once in a process: `link-grammar`, `shallow`, `hanlp:MODEL` or `benepar:MODEL`.
    It remembers the last trees that it found.

    Making it reads no model: `needs` says what is missing, and `parse` loads. Raises UnknownName.
    """
    return _made(spec.strip())


def parser_of(language: str, spec: str = "") -> Parser | None:
    """The first parser of a list such as `benepar:benepar_en3,shallow` that parses the language; None: none does.

    A parser of the list may be kept to one language: `en=benepar:benepar_en3`. An empty list is `DEFAULT`.
    Raises UnknownName for a parser that is not known, AuditError for an entry without one.

    >>> parser_of("en").name, parser_of("xx")
    ('link-grammar', None)
    """
    for for_language, parser in _listed(spec):
        if for_language in ("", language) and language in parser.languages:
            return parser
    return None


def parsers_in(spec: str = "") -> list[Parser]:
    """The parsers of such a list, each once: whose trees something may depend on. Raises as `parser_of` does.

    >>> [parser.name for parser in parsers_in("en=link-grammar")]
    ['link-grammar']
    """
    return list({parser.name: parser for _, parser in _listed(spec)}.values())


def _listed(spec: str) -> Iterator[tuple[str, Parser]]:
    """The entries of a list of parsers: the language that one is kept to, or an empty string, and the parser."""
    for for_language, name in entries(spec or ",".join(one for one in DEFAULT if one in PARSERS), "parser"):
        yield for_language, get_parser(name)


class _Remembering:
    """A parser with the last trees that it found: a text is parsed once, however many relations ask."""

    def __init__(self, parser: Parser):
        self._parser = parser
        self._trees: OrderedDict[tuple[str, str], Tree | None] = OrderedDict()
        self.name = parser.name
        self.shallow = parser.shallow

    @property
    def languages(self) -> tuple[str, ...]:
        return self._parser.languages

    @property
    def version(self) -> str:
        return self._parser.version

    def needs(self) -> str | None:
        return self._parser.needs()

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        if language not in self.languages:
            raise UnknownName(f"language of the parser {self.name}", language, list(self.languages))
        trees: dict[str, Tree | None] = {}
        for text in dict.fromkeys(texts):
            if (language, text) in self._trees:
                self._trees.move_to_end((language, text))
                trees[text] = self._trees[language, text]
        unseen = [text for text in dict.fromkeys(texts) if text not in trees]
        # A blank text has no words; no parser is asked about it.
        not_blank = [text for text in unseen if text.strip()]
        trees |= dict.fromkeys(unseen)
        trees |= zip(not_blank, self._parser.parse(not_blank, language) if not_blank else [], strict=True)
        for text in unseen:
            self._trees[language, text] = trees[text]
        while len(self._trees) > REMEMBERED:
            self._trees.popitem(last=False)
        return [trees[text] for text in texts]


@cache
def _made(spec: str) -> Parser:
    return _Remembering(made("parser", spec, PARSERS))


PARSERS: Makers = {
    "hanlp": ("audit.packs.translation.constituency.hanlp_parser:HanlpParser", "MODEL"),
    "link-grammar": ("audit.packs.translation.constituency.link_grammar:LinkGrammar", ""),
    "benepar": ("audit.packs.translation.constituency.benepar_parser:BeneparParser", "MODEL"),
    "shallow": ("audit.packs.translation.constituency.shallow:Shallow", ""),
}


def leaf_spans(text: str, tree: Tree) -> list[tuple[int, int]] | None:
    """Where the leaves stand in the text, (start, end) each; None where one cannot be found.

    Parsers change case and write brackets and quotation marks in their own way; a mark that no leaf stands for is
    passed over, a word never.

    >>> from nltk import Tree
    >>> leaf_spans("It (really) is.", Tree.fromstring("(S (_ it) (_ -LRB-) (_ really) (_ -RRB-) (_ is) (_ .))"))
    [(0, 2), (3, 4), (4, 10), (10, 11), (12, 14), (14, 15)]
    """
    return spans_of(text, [(leaf, ESCAPED[leaf]) if leaf in ESCAPED else (leaf,) for leaf in tree.leaves()])


def spans_of(text: str, words: Iterable[Sequence[str]]) -> list[tuple[int, int]] | None:
    """As `leaf_spans`, for words that each have several spellings; the first one that fits is taken."""
    spans = []
    at = 0
    for forms in words:
        span = _found(text, at, forms)
        if span is None:
            return None
        spans.append(span)
        at = span[1]
    return None if any(sign.isalnum() for sign in text[at:]) else spans


def _found(text: str, at: int, forms: Sequence[str]) -> tuple[int, int] | None:
    """The first place at or after this one where a form stands, with nothing but marks and white space before it."""
    while at < len(text):
        for form in forms:
            if form and text[at : at + len(form)].casefold() == form.casefold():
                return at, at + len(form)
        if text[at].isalnum():
            return None
        at += 1
    return None


# How alike the structures of two sentences are: by the paths of labels from the root of a tree to its words.

Path = tuple[str, ...]


def label_paths(tree: Tree) -> frozenset[Path]:
    """The labels from the root down to the part of speech of each word, without the words: a path that several words
    share is there once. A tree without words has none.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))")
    >>> for path in sorted(label_paths(tree)): print(*path)
    S NP DT
    S NP NN
    S VP NP DT
    S VP NP NN
    S VP VBZ
    """
    paths: set[Path] = set()
    waiting: list[tuple[Tree, Path]] = [(tree, (tree.label(),))]
    while waiting:
        node, path = waiting.pop()
        for child in node:
            if hasattr(child, "label"):
                waiting.append((child, (*path, child.label())))
            else:
                paths.add(path)
    return frozenset(paths)


def structure_similarity(tree: Tree, other: Tree) -> float:
    """From 0 (no path in common) to 1 (the same paths), whichever tree comes first (MGMT, formulas 5 to 7).

    1 - (lost + added) / 2, where `lost` is the share of the paths of `tree` that `other` has not, and `added` the share
    of the paths of `other` that `tree` has not. Two trees without words are alike; one with and one without are not.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (NN fish)) (VP (VBP swim)))")
    >>> other = Tree.fromstring("(S (NP (JJ big) (NN fish)) (VP (VBP swim) (ADVP (RB fast))))")
    >>> structure_similarity(tree, other)    # nothing of 2 is lost, 2 of 4 are added
    0.75
    """
    first, second = label_paths(tree), label_paths(other)
    if not first or not second:
        return float(first == second)
    lost = len(first - second) / len(first)
    added = len(second - first) / len(second)
    return 1 - (lost + added) / 2


# What part of speech a tag names, whatever set of tags a parser has.

KINDS = ("noun", "name", "verb", "adjective", "adverb", "other")
"""Parts of speech. Pronouns, numerals, auxiliaries and all closed classes are `other`."""

_UNIVERSAL = {
    "noun": words("NOUN"),
    "name": words("PROPN"),
    "verb": words("VERB"),
    "adjective": words("ADJ"),
    "adverb": words("ADV"),
}
_PENN = {
    "noun": words("NN NNS"),
    "name": words("NNP NNPS"),
    "verb": words("VB VBD VBG VBN VBP VBZ"),
    "adjective": words("JJ JJR JJS"),
    "adverb": words("RB RBR RBS"),
}
_APERTIUM = {
    "noun": words("n"),
    "name": words("np"),
    "verb": words("vblex"),
    "adjective": words("adj"),
    "adverb": words("adv preadv"),
}
_CHINESE_TREEBANK = {
    "noun": words("NN NT"),
    "name": words("NR"),
    "verb": words("VV"),
    "adjective": words("JJ VA"),
    "adverb": words("AD"),
}
# The People's Daily's tags: audit.packs.chinese.taggers.
_PEOPLES_DAILY = {
    "noun": words("n Ng t Tg s vn an"),
    "name": words("nr ns nt nz nx"),
    "verb": words("v vd Vg"),
    "adjective": words("a ad Ag b z"),
    "adverb": words("d Dg"),
}


def _by_tag(*tag_sets: dict[str, frozenset[str]]) -> dict[str, str]:
    return {tag: kind for tag_set in tag_sets for kind, tags in tag_set.items() for tag in tags}


_OTHERS = _by_tag(_UNIVERSAL, _PENN, _APERTIUM)
_CHINESE = _by_tag(_UNIVERSAL, _CHINESE_TREEBANK, _PEOPLES_DAILY)


def kind_of(tag: str, language: str) -> str:
    """One of `KINDS`. Read are Penn's and universal tags, Apertium's (the first part of `adj.f.sg`), and for Chinese
    those of the Chinese Treebank and the People's Daily.

    >>> kind_of("NNS", "en"), kind_of("DT", "en"), kind_of("adj.f.sg", "es"), kind_of("NN", "zh")
    ('noun', 'other', 'adjective', 'noun')
    """
    if language == "zh":
        return _CHINESE.get(tag, "other")
    return _OTHERS.get(tag.partition(".")[0], "other")


def tags_of(tree: Tree, kinds: Collection[str], language: str) -> frozenset[str]:
    """The tags of a tree's words that name one of these kinds.

    >>> from nltk import Tree
    >>> sorted(tags_of(Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP bark)))"), ("noun", "verb"), "en"))
    ['NNS', 'VBP']
    """
    return frozenset(tag for _, tag in tree.pos() if kind_of(tag, language) in kinds)


# DeepSelect (MGMT, algorithm 1): the word or phrase of a sentence that is replaced, one of the deepest in its tree.
#
# What stands deep in a tree belongs to little else, so that another word there should change the structure of nothing
# else.

PHRASES = ("NP", "VP", "PP", "ADVP")
"""Noun, verb, prepositional and adverb phrases: those of MGMT's relation at the level of phrases."""
_PARTICIPLES = words("VBN VBG")


def deep_select(tree: Tree, wanted: Collection[str], k: int, choices: random.Random) -> int | None:
    """The index of a leaf: one at random of the `k` deepest whose part of speech is wanted; None: there is none.

    `wanted`: tags (`tags_of` makes them of nouns, verbs and so on). Of leaves at one depth the first in the text come
    first. Raises AuditError for k below 1.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP like) (NP (NP (NNS bones)) (PP (IN of) (NP (NNS cows))))))")
    >>> tree.leaves()[deep_select(tree, {"NNS"}, 1, random.Random(0))]
    'cows'
    """
    _check(k)
    places = tree.treepositions("leaves")
    fitting = [index for index, place in enumerate(places) if _label(tree, place[:-1]) in wanted]
    candidates = sorted(fitting, key=lambda index: -len(places[index]))[:k]
    return choices.choice(candidates) if candidates else None


def deep_phrase(
    tree: Tree,
    labels: Collection[str],
    k: int,
    choices: random.Random,
    having: Callable[[Sequence[int]], object] | None = None,
) -> tuple[str, tuple[int, ...]] | None:
    """A phrase with one of these labels, one at random of the `k` deepest: its label and the indices of its leaves.

    `labels`: as `PHRASES`; what a treebank adds to a label (NP-SBJ) is not looked at. `having`: phrases count
    only where this is true of the indices of their leaves, as where there are modifiers in them. Of phrases at one
    depth the first in the text come first. None: there is no such phrase. Raises AuditError for k below 1.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN sea)) (VP (VBZ is) (ADJP (RB very) (JJ deep))))")
    >>> deep_phrase(tree, PHRASES, 2, random.Random(0), having=lambda leaves: modifiers(tree, leaves, "en"))
    ('VP', (2, 3, 4))
    """
    _check(k)
    phrases: list[tuple[int, str, tuple[int, ...]]] = []
    leaves = 0
    for place in tree.treepositions("preorder"):
        if not hasattr(tree[place], "label"):
            leaves += 1
            continue
        label = base_label(tree[place].label())
        size = len(tree[place].leaves())
        # A tag may be written as a phrase is: what stands over a single word alone is that word's tag.
        if label in labels and size and tree[place].height() > 2:
            phrases.append((len(place), label, tuple(range(leaves, leaves + size))))
    deepest = sorted(phrases, key=lambda phrase: -phrase[0])
    candidates = [phrase for phrase in deepest if having is None or having(phrase[2])][:k]
    if not candidates:
        return None
    _, label, indices = choices.choice(candidates)
    return label, indices


def modifiers(tree: Tree, leaves: Sequence[int], language: str) -> tuple[int, ...]:
    """Those of the leaves (by index) that modify another word: adjectives and adverbs by their tag (`kind_of`), and in
    English participles before a noun in a noun phrase (the *broken* window).

    None are determiners, numerals and nouns before nouns; adverbs that negate; an adjective that is itself what a noun
    phrase is about (the *rich*). Chinese has no adjectives of its own: verbs of state (VA, VH) are taken for such.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(NP (NP (DT the) (RB very) (JJ old) (NN man)) (PP (IN of) (NP (DT the) (NN sea))))")
    >>> modifiers(tree, range(7), "en")
    (1, 2)
    """
    indices = []
    texts, places = tree.leaves(), tree.treepositions("leaves")
    for index in leaves:
        place = places[index]
        tag = _label(tree, place[:-1])
        kind = kind_of(tag, language)
        if is_negation(texts[index], language) or not any(sign.isalpha() for sign in texts[index]):
            continue
        if (
            kind == "adverb"
            or (kind == "adjective" and not _is_head(tree, place, language))
            or (language == "en" and tag in _PARTICIPLES and _before_noun(tree, place))
        ):
            indices.append(index)
    return tuple(indices)


def base_label(label: str) -> str:
    """A label without what a treebank adds to it: grammatical function, number of a trace.

    >>> [base_label(label) for label in ("NP-SBJ-1", "NP=2", "-LRB-", "PRP$")]
    ['NP', 'NP', '-LRB-', 'PRP$']
    """
    if label.startswith("-"):
        return label
    for sign in "-=|":
        label = label.partition(sign)[0]
    return label


def _is_head(tree: Tree, place: tuple[int, ...], language: str) -> bool:
    """Whether the word stands in a noun phrase that has no noun of its own."""
    phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) != "NP":
        return False
    others = [child for at, child in enumerate(phrase) if at != within]
    return not any(kind_of(tag, language) in ("noun", "name") for child in others for tag in _tags(child))


def _before_noun(tree: Tree, place: tuple[int, ...]) -> bool:
    """Whether a noun follows the word in its own noun phrase; of an adjective phrase, in the phrase around it."""
    phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) == "ADJP" and len(place) > 2:
        place = place[:-1]
        phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) not in ("NP", "NX", "NAC"):
        return False
    return any(kind_of(tag, "en") in ("noun", "name") for child in phrase[within + 1 :] for tag in _tags(child)[:1])


def _phrase(tree: Tree, place: tuple[int, ...]) -> tuple[Tree, int]:
    """The node above a word's tag, and which of its children the tag is; above the root is the root."""
    return (tree[place[:-2]], place[-2]) if len(place) > 1 else (tree, 0)


def _tags(node: Tree | str) -> list[str]:
    return [] if isinstance(node, str) else [tag for _, tag in node.pos()]


def _label(tree: Tree, place: tuple[int, ...]) -> str:
    return str(tree[place].label())


def _check(k: int) -> None:
    if k < 1:
        raise AuditError(f"k is {k}; at least 1 candidate is needed")


# What of a text a parser is given at once, and how a treebank would write its words.

_OPENING, _CLOSING = frozenset('"“‘«「『'), frozenset('"”»」』')
_NAMED = {sign: name for name, sign in BRACKETS.items()}
# An article that lost its vowel is a word of its own in the treebanks of Romance languages: l'homme.
_WORD = re.compile(r"[^\W\d_]{1,3}['’](?=\w)|\w+(?:[-.,]\w+)*|[^\w\s]")


def sentences_of(text: str, language: str) -> list[list[Token]]:
    """The words of each sentence, by the language's tagger; without tags where it has none.

    >>> [[token.text for token in sentence] for sentence in sentences_of("L'homme dort. Il rêve.", "fr")]
    [["L'", 'homme', 'dort', '.'], ['Il', 'rêve', '.']]
    """
    if language in LANGUAGES:
        tokens = tag(text, language)
    else:
        tokens = tuple(Token(match.group(), "_", *match.span()) for match in _WORD.finditer(text))
    sentences = [[token for token in tokens if start <= token.start < end] for start, end in spans(text, language)]
    return [sentence for sentence in sentences if sentence]


def treebank_words(tokens: Sequence[Token], language: str) -> list[str]:
    """The words as treebanks write them: brackets and quotation marks by their names in Penn's, Chinese in simplified
    characters.

    >>> treebank_words(sentences_of('He said "(yes)".', "en")[0], "en")
    ['He', 'said', '``', '-LRB-', 'yes', '-RRB-', "''", '.']
    """
    if language == "zh":
        from audit.packs.chinese.taggers import simplified

        return [simplified(token.text) for token in tokens]
    words = []
    opened = False
    for token in tokens:
        word = _NAMED.get(token.text, token.text).replace("’", "'")
        if token.text in _OPENING | _CLOSING:
            opened = token.text in _OPENING and not (token.text in _CLOSING and opened)
            word = "``" if opened else "''"
        words.append(word)
    return words
