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
from audit.text.tokens import words

if TYPE_CHECKING:
    from nltk import Tree


# Which words make a noun, verb, prepositional or adverb phrase: our grammars of chunks, in NLTK's notation.
#
# Kinds of words are those of `shallow_words`. A rule names the words and chunks, in angle brackets, that become a
# chunk.
# Chunks whose names are not those of phrases are on the way only: `GROUP` (verbs that belong together) becomes part of
# its verb phrase, `OFP` (a phrase with *of*, *de*) and `RELP` (*in which*) prepositional phrases.
#
# A phrase with *of* belongs to the noun phrase before it, every other one to the verb before it, and a verb phrase goes
# on to the next verb, mark or conjunction: where a parser would weigh, these always do. What is joined by *and* is one
# phrase only for adjectives.

_ADJECTIVES = "(<ADJ|ADJP>*<CC><ADJ|ADJP>)?<ADJ|ADJP"
"""Before a noun, with what else may stand there behind it."""
_PHRASES = r"""
  OFP: {<OF><NP>}
       {<OFDET><NP>}
  NP: {<NP><OFP>+}
  PP: {<PR|TO|PRDET>+<OF>?<NP>}
      {<PR|OF>+<GROUP>}
      {<PRPRN>}
  RELP: {<PR|PRDET|OF|OFDET><REL>+}
  VP: {<GROUP><NP|PP|OFP|ADVP|ADJP|ADJ>*}
"""

ROMANCE = (
    r"""
  ADJP: {<PREADV>+<ADJ|PART>}
        {<ADV><ADJ>}
  NP: {<PREDET>?<DET>*<NUM>*$ADJECTIVES>*<N|NAME|UNKNOWN>+<ADJ|ADJP|PART|NAME|UNKNOWN|NUM>*(<CC><ADJ|ADJP>)?}
      {<PREDET>?<DET|NUM>+<ADJ|ADJP|PART>+}
      {<PREDET>?<DET>*<NUM>}
      {<PREDET>?<PRN>}
  GROUP: {<NOT>*<WEAK>*<V>(<NOT|ADV>*<PART|INF|GER>)*<NOT>?}
         {<NOT>*<WEAK>*<INF|GER><PART>*}
         {<PART>}
  ADVP: {<PREADV|ADV|NOT>+}
"""
    + _PHRASES
)

ENGLISH = (
    r"""
  ADJP: {<PREADV>+<ADJ|PART>}
        {<ADV><ADJ>}
  NP: {<PREDET>?<DET|NUM>+$ADJECTIVES|PART|GER|NUM>*<N|NAME|UNKNOWN>+<NUM>?}
      {<NUM>*<ADJ|ADJP>*<N|NAME|UNKNOWN>+<NUM>?}
      {<DET|NUM>+<ADJ|ADJP>*}
      {<PREDET>?<PRN|WEAK>}
  NP: {<NP><GEN><NP>}
  GROUP: {<ADV|NOT>*<V>(<ADV|NOT>*<TO>?<PART|INF|GER>)*}
         {<NOT>*<TO>?<ADV>?<INF>(<ADV>*<PART|GER>)*}
         {<GER><PART>*}
         {<PART>}
  ADVP: {<PREADV|ADV|NOT>+}
"""
    + _PHRASES
)

GRAMMARS = {
    language: grammar.replace("$ADJECTIVES", _ADJECTIVES)
    for language, grammar in (("en", ENGLISH), ("es", ROMANCE), ("ca", ROMANCE), ("fr", ROMANCE))
}
"""Language -> its grammar of chunks."""


# Words of a text as Apertium's tagger leaves them: how the text has them, their tag, and their class for chunking.


class Word(NamedTuple):
    """`text` as it stands in the text; `tag` is Apertium's part of speech, with the form of a verb that is not finite
    (`vblex.inf`) or the kind of a weak pronoun (`prn.pro`); `kind` is the name that grammars of chunks have for it."""

    text: str
    tag: str
    kind: str


_NEGATIONS = words("no not ne pas non never nunca mai jamais n't")
_FORMS = {"inf": "INF", "ger": "GER", "pprs": "GER", "ppres": "GER", "pp": "PART"}
_KINDS = dict(
    pair.split(":")
    for pair in words(
        "n:N np:NAME adj:ADJ det:DET detnt:DET predet:PREDET num:NUM adv:ADV preadv:PREADV pr:PR prn:PRN cnjcoo:CC "
        "cnjsub:CS cnjadv:CS rel:REL gen:GEN apos:GEN sent:SENT cm:CM ij:IJ"
    )
)
_PIECE = re.compile(
    r"\^(?P<surface>(?:[^\\$/]|\\.)*)(?:/(?P<analysis>(?:[^\\$]|\\.)*))?\$"
    r"|(?P<wordblank>\[\[.*?\]\])"
    r"|\[(?P<blank>(?:[^]\\]|\\.)*)\]"
    r"|(?P<word>(?:\\.|[^^\\[\s])+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PART = re.compile(r"((?:[^\\<+]|\\.)*)<([^>]+)>((?:<[^>]*>)*)")


def words_of(stream: str) -> list[Word]:
    """Return the words of a text in order, from what `audit.packs.translation.apertium.tag_texts` returns.

    A contraction stays one word (`del`: `pr+det`); of several words that Apertium takes for one, each has its tag.
    The full stop that is not the text's own is left out.

    >>> for word in words_of("^Del/de<pr>+el<det><def><m><sg>$ ^mar/mar<n><mf><sg>$^./.<sent>$[]"): print(*word)
    Del pr+det OFDET
    mar n N
    """
    found: list[Word] = []
    for piece in _PIECE.finditer(stream):
        if piece["surface"] is not None:
            read = _read(piece["analysis"] or "")
            found += [Word(part, *read) for part in _ESCAPED.sub(r"\1", piece["surface"]).split()]
        elif piece["word"] is not None:  # a sign, or letters that Apertium does not take for a word
            for text in re.findall(r"\w+|\W", _ESCAPED.sub(r"\1", piece["word"])):
                found.append(
                    Word(text, "unknown", "UNKNOWN") if any(map(str.isalnum, text)) else Word(text, "mark", "MARK")
                )
        elif piece["blank"] == "" and found:
            last = found.pop()
            if rest := last.text.removesuffix("."):
                found.append(last._replace(text=rest))
    return found


def _read(analysis: str) -> tuple[str, str]:
    """Return tag and kind of an analysis such as `dar<vblex><inf>+lo<prn><enc>`."""
    parts = [(lemma, first, re.findall(r"<([^>]*)>", rest)) for lemma, first, rest in _PART.findall(analysis)]
    if analysis.startswith("*") or not parts:
        return "unknown", "UNKNOWN"
    lemma, first, rest = _ESCAPED.sub(r"\1", parts[0][0]).lower(), *parts[0][1:]
    if first == "pr" and len(parts) > 1:
        kinds = {"prn": "PRPRN", "rel": "REL"}
        return f"pr+{parts[1][1]}", kinds.get(parts[1][1], "OFDET" if lemma in ("de", "of") else "PRDET")
    if parts[-1][1] == "det" and any(tag == "pr" for _, tag, _ in parts):
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


RULES = "1"
"""Version of the treatment of the tagger's words; part of the parser's version, as the grammars are."""
_NAMES = {"GROUP": "VP", "OFP": "PP", "RELP": "PP"}
_PREFERRED = ("spa-cat", "cat-spa", "fra-cat", "eng-cat")
"""Modes whose taggers are taken before all others: they have constraint grammars, too, and know the most words."""


class Shallow(Parser):
    """The parser `shallow`: noun, verb, prepositional, adverb and adjective phrases under one node `S`, no full parse.

    Words and their tags (`n`, `vblex.inf`: Apertium's) are those of Apertium's analyser and tagger for the language, of
    the mode that `_modes` takes; phrases are found by our grammars of chunks with NLTK's chunker (Bird, Klein and
    Loper, Natural Language Processing with Python, 2009, section 7.2). All sentences of a text are under its one `S`.
    """

    name, languages = "shallow", tuple(sorted(GRAMMARS))

    @property
    def version(self) -> str:
        if needed := self.needs():
            raise NotInstalled(f"the parser shallow cannot run here; {needed}")
        modes = _modes()
        grammars = fingerprint([RULES, *(grammar for _, grammar in sorted(GRAMMARS.items()))])
        names = " ".join(mode.name for mode in modes.values())
        return f"apertium {apertium.engine_version()} {names} data {apertium.fingerprint(modes.values())}, {grammars}"

    def needs(self) -> str | None:
        return apertium.needs() or (
            None if _modes() else f"no mode of Apertium tags {', '.join(self.languages)}; install apertium-spa-cat"
        )

    def trees(self, texts: Sequence[str], language: str) -> "list[Tree | None]":
        if needed := self.needs():
            raise NotInstalled(f"the parser shallow cannot run here; {needed}")
        if language not in _modes():
            raise NotInstalled(f"no installed mode of Apertium tags texts in {language!r}; install a pair that has it")
        chunker = _chunker(language)
        tagged = apertium.tag_texts(_modes()[language], texts)
        return [_tree(chunker, stream, text) for stream, text in zip(tagged, texts, strict=True)]


def _modes() -> dict[str, apertium.Mode]:
    """Return language -> the mode whose tagger is taken: one that we know to be good, else the first by name."""
    by_language: dict[str, apertium.Mode] = {}
    modes = [mode for mode in apertium.installed_modes() if mode.source in GRAMMARS and not mode.variant]
    for mode in sorted(modes, key=lambda mode: (mode.name not in _PREFERRED, mode.name)):
        if mode.source not in by_language and apertium.has_tagger(mode):
            by_language[mode.source] = mode
    return dict(sorted(by_language.items()))


@cache
def _chunker(language: str) -> Any:
    from nltk import RegexpParser

    return RegexpParser(GRAMMARS[language], root_label="S", loop=2)


def _tree(chunker: Any, tagged: str | AuditError, text: str) -> "Tree | None":
    found = words_of(tagged) if isinstance(tagged, str) else []
    spans = leaf_spans(text, [word.text for word in found])
    if not found or spans is None:
        return None
    own = [word._replace(text=text[start:end]) for word, (start, end) in zip(found, spans, strict=True)]
    return _phrase_tree(chunker.parse([(place, word.kind) for place, word in enumerate(own)]), own)


def _phrase_tree(chunk: Any, words: Sequence[Word], top: bool = True) -> "Tree":
    """Return the chunker's tree with the words and their tags, and only phrases.

    Verbs that belong together are of the phrase around them, and a phrase that is all of another of its name is that
    one.
    """
    from nltk import Tree

    label, children = _NAMES.get(chunk.label(), chunk.label()), []
    for child in chunk:
        if isinstance(child, tuple):
            children.append(Tree(words[child[0]].tag, [words[child[0]].text]))
            continue
        subtree = _phrase_tree(child, words, top=False)
        same = not top and subtree.label() == label and (child.label() == "GROUP" or len(chunk) == 1)
        children += list(subtree) if same else [subtree]
    return Tree(label, children)
