"""Shallow trees for what Apertium translates into: chunks of the words that it has tagged."""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.errors import AuditError, NotInstalled
from audit.keys import fingerprint
from audit.packs.translation import apertium
from audit.packs.translation.parsers import Parser
from audit.packs.translation.trees import leaf_spans
from audit.resources import data_file
from audit.text.tokens import words

if TYPE_CHECKING:
    from nltk import Tree

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


class Word(NamedTuple):
    """`text` as it stands in the text; `tag` is Apertium's part of speech, with the form of a verb that is not finite
    (`vblex.inf`) or the kind of a weak pronoun (`prn.pro`); `kind` is the name that grammars of chunks have for it."""

    text: str
    tag: str
    kind: str


def words_of(stream: str) -> list[Word]:
    """Return the words of a text in order, from what `audit.packs.translation.apertium.tag_texts` returns.

    A contraction stays one word (`del`: `pr+det`); of several words that Apertium takes for one, each has its tag.
    The full stop that is not the text's own is left out.

    >>> for word in words_of("^Del/de<pr>+el<det><def><m><sg>$ ^mar/mar<n><mf><sg>$^./.<sent>$[]"): print(*word)
    Del pr+det OFDET
    mar n N
    """
    read: list[Word] = []
    for piece in _PIECE.finditer(stream):
        if piece["surface"] is not None:
            tag = _read(piece["analysis"] or "")
            read += [Word(part, *tag) for part in _ESCAPED.sub(r"\1", piece["surface"]).split()]
        elif piece["word"] is not None:  # a sign, or letters that Apertium does not take for a word
            for text in re.findall(r"\w+|\W", _ESCAPED.sub(r"\1", piece["word"])):
                is_word = any(map(str.isalnum, text))
                read.append(Word(text, *(("unknown", "UNKNOWN") if is_word else ("mark", "MARK"))))
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
    """The parser `shallow`: noun, verb, prepositional, adverb and adjective phrases under one node `S`, no full parse.

    Words and their tags are those of Apertium's tagger for the language; phrases are found by our grammars with NLTK's
    chunker (Bird, Klein and Loper, Natural Language Processing with Python, 2009, section 7.2).
    """

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


def _phrase_tree(chunk: Any, words: Sequence[Word], top: bool = True) -> "Tree":
    """Return the chunker's tree with the words and their tags, and only phrases.

    Verbs that belong together are of the phrase around them, and a phrase that is all of another of its name is that
    one.
    """
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
