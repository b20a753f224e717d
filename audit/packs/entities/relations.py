"""Relations of named entities: a name is replaced, mistyped or joined by others, or what is no name changes; the spans
move with the text, and nothing else about them does.

Source of the kinds: Wang et al., "TextFlint" (2021), section 3.2 and table 2b: ConcatSent, CrossCategory, EntTypos,
OOV, SwapLonger and SwapNamedEnt, and its universal transformations.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.relations import Outcome, Verdict
from audit.relations.base import Carry, Chained, Member, Rewriting, Rewritten, Seen, Source, Steps, Words, nothing
from audit.relations.registry import get_relation, register
from audit.resources import data_rows
from audit.tasks import Input, Output
from audit.tasks.entities import Span, moved, read_spans, write_spans
from audit.text import Analysis

# Names that replace others. Places and English persons are those of the relations of the other tasks.

_ONSETS, _VOWELS = ("B", "D", "Dr", "F", "G", "K", "L", "M", "N", "P", "R", "S", "T", "Tr", "V", "Z"), "aeiou"


@cache
def _names(language: str, kind: str) -> tuple[str, ...]:
    rows = data_rows("lexicons/entity_names.tsv", 3)
    return next((tuple(names.split(";")) for *of, names in rows if of == [language, kind]), ())


@cache
def _places() -> Mapping[str, tuple[str, ...]]:
    """Return place -> the places of its line in the table: countries of a part of the world, cities of a country."""
    lines = [tuple(names.split(";")) for _, names in data_rows("lexicons/places.tsv", 2)]
    return {name: line for line in lines for name in line}


@cache
def _persons() -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]]]:
    """Return first name -> m or f; and m, f and - (surnames) -> names that replace others."""
    rows = data_rows("lexicons/names.tsv", 3)
    genders = {name: gender for gender, _, names in rows if gender != "-" for name in names.split()}
    return genders, {gender: tuple(names.split()) for gender, use, names in rows if use == "new"}


Make = Callable[[str, str, str, str, random.Random], tuple[str, str] | None]
"""(kind, name, text before it, language, choices) -> the name that replaces it and its kind, or None where none would
read well."""


def _same_kind(kind: str, name: str, before: str, language: str, choices: random.Random) -> tuple[str, str] | None:
    if language == "zh":
        return _drawn(kind, _names("zh", kind), name, choices)
    if kind == "place":  # only one of the table: "the Netherlands" and "Lake Erie" need other words around them
        return _drawn(kind, _places().get(name, ()), name, choices)
    if kind != "person":
        return _drawn(kind, _names("en", kind) if re.fullmatch(r"[A-Z]\w+", name) else (), name, choices)
    words, (genders, new) = name.split(), _persons()
    if len(words) > 2 or not all(re.fullmatch(r"[A-Z][a-z]+", word) for word in words):
        return None
    gender = genders.get(words[0])
    if gender is None and len(words) == 2:
        return None
    pools = [new[gender]] if gender else [new["-"]]
    pools += [new["-"]] * (len(words) - 1)
    renamed = " ".join(choices.choice([other for other in pool if other not in words]) for pool in pools)
    return renamed, kind


def _other_kind(kind: str, name: str, before: str, language: str, choices: random.Random) -> tuple[str, str] | None:
    kinds = [other for other in ("person", "place", "organisation") if other != kind]
    other = choices.choice(kinds)
    if language == "zh":
        return _drawn(other, _names("zh", other), name, choices)
    pools = {"place": tuple(_places()), "organisation": _names("en", "organisation")}
    first, last = (choices.choice(_persons()[1][of]) for of in (choices.choice("mf"), "-"))
    return _drawn(other, pools.get(other, (f"{first} {last}",)), name, choices)


def _longer(kind: str, name: str, before: str, language: str, choices: random.Random) -> tuple[str, str] | None:
    """Return a longer name: of a person of the same gender, of a city or country where it is one."""
    of = kind
    if language != "zh" and kind == "person":
        of = _persons()[0].get(name.split()[0], "")
    if language != "zh" and kind == "place" and name not in _places():
        return None
    return _drawn(kind, [other for other in _names(language, f"longer {of}") if len(other) > len(name)], name, choices)


def _unknown(kind: str, name: str, before: str, language: str, choices: random.Random) -> tuple[str, str] | None:
    """Return a name that nobody has, of invented syllables, where a reader can tell of what: a person's in two words,
    or a place's behind "in" and the like."""
    words = name.split()
    told = len(words) == 2 if kind == "person" else re.search(r"\b(?:in|near|from)\s+$", before) and kind == "place"
    if language == "zh" or not told or not all(re.fullmatch(r"[A-Z][\w'.-]*", word) for word in words):
        return None
    syllables = [
        choices.choice(_ONSETS) + choices.choice(_VOWELS) + choices.choice(_ONSETS).lower() + choices.choice(_VOWELS)
        + choices.choice("lnrst")
        for _ in words
    ]  # fmt: skip
    return " ".join(syllables), kind


def _mistyped(kind: str, name: str, before: str, language: str, choices: random.Random) -> tuple[str, str] | None:
    """Return the name with two letters inside a word of it swapped."""
    places = [
        at
        for word in re.finditer(r"\b[A-Z][a-z]{4,}\b", name)
        for at in range(word.start() + 1, word.end() - 1)
        if name[at] != name[at + 1]
    ]
    if not places:
        return None
    at = choices.choice(places)
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :], kind


def _drawn(kind: str, pool: Sequence[str], name: str, choices: random.Random) -> tuple[str, str] | None:
    others = [other for other in pool if other != name]
    return (choices.choice(others), kind) if others else None


# A name is replaced: one of the gold answer's, else one that the system found.


@dataclass(frozen=True)
class _Replaced:
    """The steps of a relation that replaces one name."""

    make: Make

    def __call__(self, source: Source, choices: random.Random) -> Steps:
        (output,) = yield [Member("source", source.input)]
        text, language = source.input.text, source.input.languages[0]
        spans = list(read_spans(source.gold or str(output.label)) or ())
        choices.shuffle(spans)
        for span in spans:
            changed = self.make(span.kind, text[span.start : span.end], text[: span.start], language, choices)
            if changed is not None and (self.make is _mistyped or _stands_alone(span, spans, text)):
                break
        else:
            return None
        after = text[: span.start] + changed[0] + text[span.end :]
        (follow_up,) = yield [Member("follow_up", Input((after,), source.input.languages))]
        expected = _replaced(read_spans(str(output.label)) or (), text, after, span, changed[1])
        return _compared(expected, follow_up)


def _stands_alone(span: Span, spans: Sequence[Span], text: str) -> bool:
    """Return whether another name fits in the place of one: it is words alone, no article is before it ("the Senate",
    "a Liberal"), and no other name beside it ("Phoenix, Arizona")."""
    name = text[span.start : span.end]
    article = re.search(r"\b(?:the|an?)\s+$", text[: span.start], re.IGNORECASE)
    if article or not (name[0].isalnum() and name[-1].isalnum()):
        return False
    gaps = (text[min(span.end, other.end) : max(span.start, other.start)] for other in spans if other != span)
    return not any(re.fullmatch(r"[\s,/&-]{0,3}|'s ", gap) for gap in gaps)


def _compared(expected: Sequence[Span] | None, follow_up: Output) -> Verdict:
    if expected is None:
        return Verdict(Outcome.INAPPLICABLE, reason="what changed is a part of a name that the system found")
    return Verdict(Outcome.SATISFIED if write_spans(expected) == follow_up.label else Outcome.VIOLATED)


def _replaced(spans: Sequence[Span], before: str, after: str, changed: Span, kind: str) -> tuple[Span, ...] | None:
    """Return the spans after the name at `changed` became another one, of this kind; None where they cannot be told:
    a span cuts that name, or says that it is of a third kind."""
    grown = len(after) - len(before)
    result = []
    for span in spans:
        if (span.start, span.end) == changed[:2]:
            if span.kind != changed.kind and kind != changed.kind:
                return None
            result.append(Span(span.start, span.end + grown, kind if kind != changed.kind else span.kind))
        elif span.end <= changed.start:
            result.append(span)
        elif span.start >= changed.end:
            result.append(Span(span.start + grown, span.end + grown, span.kind))
        else:
            return None
    return tuple(result)


def _change(before: str, after: str, spans: Sequence[Span]) -> Span | None:
    """Return the span outside of which two texts are equal; None where there is none, or are several."""
    grown = len(after) - len(before)
    fits = [span for span in spans if before[: span.start] == after[: span.start] and span.end + grown > span.start
            and before[span.end :] == after[span.end + grown :]]  # fmt: skip
    return fits[0] if len(fits) == 1 else None


def _carries_replaced(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """What is right moves with the text, where the answer has the name that was replaced; else people are asked."""
    if source is None or follow_up is None:
        return None
    before, after, spans = source.input.text, follow_up.input.text, read_spans(answer) or ()
    changed = _change(before, after, spans)
    expected = None if changed is None else _replaced(spans, before, after, changed, changed.kind)
    return None if expected is None else frozenset({write_spans(expected)})


REPLACED: Mapping[str, tuple[str, Make, tuple[str, ...]]] = {
    "same-kind": ("becomes another one of the same kind", _same_kind, ("en", "zh")),
    "other-kind": ("becomes one of another kind", _other_kind, ("en", "zh")),
    "unknown-name": ("becomes an invented one", _unknown, ("en",)),
    "longer-name": ("becomes a longer one of the same kind", _longer, ("en", "zh")),
    "name-typos": ("has two letters swapped", _mistyped, ("en",)),
}
"""Relation -> what happens to a name, by which function, in which languages."""
for _name, (_words, _make, _languages) in REPLACED.items():
    register(
        Chained(
            task="entities",
            name=_name,
            family="another name",
            summary=f"A name (of gold, else one that the system found) {_words}; the spans move with the text.",
            unit="any",
            languages=_languages,
            # "Norway said": what surrounds a name may say more than the name, so people are asked.
            carry=nothing if _name == "other-kind" else Carry(_carries_replaced, reads=True),
            walk=_Replaced(_make),
            default=_name != "other-kind",
            keeps="every other name",
            may_break="what the text says, and for a reader who goes by the context the kind of the new name",
            question={
                "en": f"In text B one name of text A {_words}. Are all other names the same in both?",
                "zh": "文本B里有一个名称与文本A不同。其余的名称是否都一样？",
            },
        )
    )


# Names stay, and what is around them changes.


def spans_move(outputs: Sequence[Output], words: Words) -> Verdict:
    """The follow-up's spans are the source's where they are in the text now, and those of a sentence of ours behind it;
    inapplicable where one was changed beyond recognition."""
    ((before, after),) = words
    return _compared(_after(read_spans(str(outputs[0].label)) or (), before, after), outputs[1])


def _after(spans: Sequence[Span], before: str, after: str) -> tuple[Span, ...] | None:
    spans_after = moved(spans, before, after)
    added = next((sentence for sentence in _SENTENCES if after == f"{before} {sentence}"), "")
    behind = len(after) - len(added)
    ours = [Span(behind + start, behind + end, kind) for start, end, kind in _SENTENCES.get(added, ())]
    return None if spans_after is None else (*spans_after, *ours)


def _carries_moved(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """What is right moves with the text; people are asked where a span was changed beyond recognition."""
    if source is None or follow_up is None:
        return None
    spans = _after(read_spans(answer) or (), source.input.text, follow_up.input.text)
    return None if spans is None else frozenset({write_spans(spans)})


Change = Callable[[Analysis, random.Random], str | list[str] | None]


@dataclass(frozen=True)
class _Around:
    """Rewrites the text with a function, and tells the check both."""

    change: Change

    def __call__(self, texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
        changed = self.change(texts[0], choices)
        after = changed[0] if isinstance(changed, list) else changed
        return Rewritten((after,), ((texts[0].text, after),)) if after else None


def _closed(text: Analysis) -> bool:
    """Return whether another sentence may stand behind a text: it has an end, which is no initial."""
    return re.search(r"(?<!\b[A-Z])[.!?。！？][\"')”’]*$", text.text) is not None


def irrelevant_sentence(text: Analysis, choices: random.Random) -> str | None:
    """A sentence without names stands behind the text"""
    chinese = text.language == "zh"
    added = choices.choice(_PLAIN["zh" if chinese else "en"])
    return f"{text.text}{'' if chinese else ' '}{added}" if _closed(text) else None


def concatenated(text: Analysis, choices: random.Random) -> str | None:
    """A sentence with two names stands behind the text"""
    return f"{text.text} {choices.choice([*_SENTENCES])}" if _closed(text) else None


_PLAIN = {
    "en": (
        "It was an ordinary day, and nothing else happened.", "The weather was fine, with a little wind.",
        "There was nothing more to say about it.", "After that, everybody went home.",
    ),
    "zh": ("那天天气不错，有一点风。", "后来就没有发生别的事。", "大家随后都回家了。"),
}  # fmt: skip
_SENTENCES: Mapping[str, tuple[Span, ...]] = {
    "Susan Walker flew to Lisbon.": (Span(0, 12, "person"), Span(21, 27, "place")),
    "James Turner lives in Chicago.": (Span(0, 12, "person"), Span(22, 29, "place")),
    "Laura Bennett works for Siemens.": (Span(0, 13, "person"), Span(24, 31, "organisation")),
    "Toyota opened an office in Vienna.": (Span(0, 6, "organisation"), Span(27, 33, "place")),
}
ADDED: Mapping[str, tuple[Change, tuple[str, ...], str]] = {
    "irrelevant-sentence": (irrelevant_sentence, ("en", "zh"), "texts of one sentence by design, as headlines"),
    "concatenated": (concatenated, ("en",), "what the whole is about"),
}
"""Relation -> the function that adds a sentence, its languages, and what it may break."""
BORROWED: Mapping[str, tuple[str, str]] = {
    "upper-case": ("All letters are capitals", "names that are told by their capitals alone"),
    "final-mark": ("The last mark is left out, or put where there is none", "headings, which have none"),
    "punctuation-added": (
        "A dash, star or arrow, or a second stop, is added",
        "names that end with a mark",
    ),
    "typos": ("A letter of one word in ten is that of a key beside it", "names that nobody knows"),
    "adverbs": ('By the main verb stands "actually" or the like', "titles of works"),
    "opening-phrase": ("A phrase that says nothing stands before the text", "headings, and lists of names"),
    "wide-spaces": ("Two or three spaces stand between some words", "tables that are made of spaces"),
    "tense": ("Finite verbs change from the present to the past, or back", "titles that are sentences"),
}
"""Relation of other tasks in English, after which the spans are where the words are -> what it does, and may break."""


@dataclass(frozen=True)
class _Borrowed:
    """The change of a relation of other tasks."""

    name: str

    def __call__(self, text: Analysis, choices: random.Random) -> str | list[str] | None:
        change: Change = get_relation("classification", self.name).perturb  # type: ignore[attr-defined]
        return change(text, choices)


_AROUND: dict[str, tuple[Change, tuple[str, ...], str, str]] = {
    name: (change, languages, str(change.__doc__), may_break) for name, (change, languages, may_break) in ADDED.items()
}
_AROUND |= {name: (_Borrowed(name), ("en",), does, may_break) for name, (does, may_break) in BORROWED.items()}
for _name, (_rewrite, _languages, _does, _may_break) in _AROUND.items():
    register(
        Rewriting(
            task="entities",
            name=_name,
            family="other words around names",
            summary=f"{_does}; the spans move with the text.",
            unit="any",
            languages=_languages,
            carry=Carry(_carries_moved, reads=True),
            keeps="every name",
            may_break=_may_break,
            rewrite=_Around(_rewrite),
            texts=(0,),
            check=spans_move,
            question={
                "en": "Does text B have the names of text A, of the same kinds, and no others but those added?",
                "zh": "文本B里的名称（除新加的以外）是否与文本A里的相同，类别也相同？",
            },
        )
    )
