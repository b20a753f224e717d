"""Words of a text as Apertium's tagger leaves them: how the text has them, their tag, and their class for chunking."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from audit.language.wordsets import words


class Word(NamedTuple):
    """`text` as it stands in the text; `tag` is Apertium's part of speech, with the form of a verb that is not finite
    (`vblex.inf`) or the kind of a weak pronoun (`prn.pro`); `kind` is the name that grammars of chunks have for it."""

    text: str
    tag: str
    kind: str


_NEGATIONS = words("no not ne pas non never nunca mai jamais n't")
_OF = words("de of")
_FORMS = {"inf": "INF", "ger": "GER", "pprs": "GER", "ppres": "GER", "pp": "PART"}
_WEAK = words("pro enc")
_RELATIVE = words("rel itg")
_KINDS = {
    "n": "N",
    "np": "NAME",
    "adj": "ADJ",
    "det": "DET",
    "detnt": "DET",
    "predet": "PREDET",
    "num": "NUM",
    "adv": "ADV",
    "preadv": "PREADV",
    "pr": "PR",
    "prn": "PRN",
    "cnjcoo": "CC",
    "cnjsub": "CS",
    "cnjadv": "CS",
    "rel": "REL",
    "gen": "GEN",
    "apos": "GEN",
    "sent": "SENT",
    "cm": "CM",
    "ij": "IJ",
}
_PIECE = re.compile(
    r"\^(?P<unit>(?:[^\\$]|\\.)*)\$"
    r"|(?P<wordblank>\[\[.*?\]\])"
    r"|\[(?P<blank>(?:[^]\\]|\\.)*)\]"
    r"|(?P<word>(?:\\.|[^^\\[\s])+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"\w+|\W")
_ANALYSIS = re.compile(r"(?:[^\\<+]|\\.)*(?:<[^>]*>)*")
_TAG = re.compile(r"<([^>]*)>")


def words_of(stream: str) -> list[Word]:
    """The words of a text in order, from what `audit.language.apertium.tagged` returns.

    A contraction stays one word (`del`: `pr+det`); of several words that Apertium takes for one, each has its tag.
    The full stop that is not the text's own is left out.

    >>> for word in words_of("^Del/de<pr>+el<det><def><m><sg>$ ^mar/mar<n><mf><sg>$^./.<sent>$[]"): print(*word)
    Del pr+det OFDET
    mar n N
    """
    found: list[Word] = []
    for piece in _PIECE.finditer(stream):
        if piece["unit"] is not None:
            surface, _, analysis = _cut(piece["unit"])
            tag, kind = _read(analysis)
            found += [Word(part, tag, kind) for part in _ESCAPED.sub(r"\1", surface).split()]
        elif piece["word"] is not None:
            found += map(_unread, _BARE.findall(_ESCAPED.sub(r"\1", piece["word"])))
        elif piece["blank"] == "" and found:
            last = found.pop()
            if rest := last.text.removesuffix("."):
                found.append(last._replace(text=rest))
    return found


def _cut(unit: str) -> tuple[str, str, str]:
    """Surface, slash, analysis: the first slash that is not escaped."""
    at = 0
    while at < len(unit) and unit[at] != "/":
        at += 2 if unit[at] == "\\" else 1
    return unit[:at], unit[at : at + 1], unit[at + 1 :]


def _unread(text: str) -> Word:
    """What is no word to Apertium: signs, and letters that none of its words has."""
    known = any(one.isalnum() for one in text)
    return Word(text, "unknown", "UNKNOWN") if known else Word(text, "mark", "MARK")


def _read(analysis: str) -> tuple[str, str]:
    """Tag and kind of an analysis such as `dar<vblex><inf>+lo<prn><enc>`."""
    parts = list(_parts(analysis))
    if analysis.startswith("*") or not parts:
        return "unknown", "UNKNOWN"
    lemma, tags = parts[0]
    first = tags[0]
    if first == "pr" and len(parts) > 1:
        second = parts[1][1][0]
        if second == "prn":
            return "pr+prn", "PRPRN"
        if second == "rel":
            return "pr+rel", "REL"
        return f"pr+{second}", "OFDET" if lemma in _OF else "PRDET"
    if parts[-1][1][0] == "det" and any(one[1][0] == "pr" for one in parts):
        return "pr+det", "PRDET"
    if first.startswith("vb") or first == "vaux":
        form = next((tag for tag in tags if tag in _FORMS), None)
        return (f"{first}.{form}", _FORMS[form]) if form else (first, "V")
    if first == "prn" and tags[1:2]:
        if tags[1] in _WEAK:
            return "prn.pro", "WEAK"
        if tags[1] in _RELATIVE:
            return "prn.rel", "REL"
    if lemma in _NEGATIONS and first in ("adv", "preadv"):
        return first, "NOT"
    if first == "pr" and lemma in _OF:
        return first, "OF"
    if first == "pr" and lemma == "to":
        return first, "TO"
    return first, _KINDS.get(first, "MARK")


def _parts(analysis: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Lemma (lower case) and tags of each part that has tags."""
    for part in _ANALYSIS.findall(analysis):
        tags = _TAG.findall(part)
        if tags and tags[0]:
            yield _ESCAPED.sub(r"\1", part[: part.index("<")]).lower(), tags
