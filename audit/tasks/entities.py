"""Named entities: a system marks the names in a text, each with its kind; people mark them, too.

An answer is a text, so that everything that stores, counts and compares answers works as it is: spans in the order of
the text, as `0-12 person; 17-22 place`, or `none`. Offsets count characters from 0 to behind the last one; of spans
that overlap the longest stays, the first of equals. `EntityTask.kind_of` alone says what a kind is that corpora and
systems call otherwise (PER, GPE, NR); kinds that a task does not have (DATE, MISC) are left out."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from audit.errors import AuditError, BadOutput
from audit.tasks.base import Output, checked_score

NONE = "none"
KINDS = ("person", "place", "organisation")  # The kinds of the task without a scheme
WORDS: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "person": "person per people pers persons nr 人名",
        "place": "place loc location gpe fac facility city country geo geo-loc ns 地名",
        "organisation": "organisation organization org corporation company group institution nt 机构名",
        "": "misc miscellaneous other date time percent money quantity ordinal cardinal number event language law norp "
        "product work_of_art creative-work work title url email phonenumber phone_number price commercial_item "
        "consumer_good unknown skill ip address persontype datetime",
    }.items()
    for word in words.split()
}  # What corpora, models and services call a kind -> ours; empty: a kind that is known, and none of ours


class Span(NamedTuple):
    """The characters of a name, from `start` to before `end`, and its kind."""

    start: int
    end: int
    kind: str


@lru_cache(maxsize=65536)
def read_spans(written: str) -> tuple[Span, ...] | None:
    """Return the spans of an answer, sorted and without overlaps; None for what is no answer. Also reads lists of
    (start, end, kind) and JSON objects as files have them.

    >>> read_spans("17-22 place; 0-12 person"), read_spans("Obama")
    ((Span(start=0, end=12, kind='person'), Span(start=17, end=22, kind='place')), None)
    """
    written = written.strip()
    if written.casefold() in (NONE, "", "[]"):
        return ()
    try:
        if "{" in written:
            return flat(map(_span, map(json.loads, re.findall(r"\{[^{}]*\}", written))))
    except (ValueError, BadOutput):
        return None
    if lists := re.findall(r'\[(\d+), ?(\d+), ?"([^"]+)"\]', written):  # JSON's lists, one or several
        return flat(map(_span, lists))
    by_plus = re.fullmatch(r"\d+\+\d+\+[^+;]+(?:\+\d+\+\d+\+[^+;]+)*", written)
    parts = re.findall(r"(\d+)\+(\d+)\+([^+]+)" if by_plus else r"(?:^|;)\s*(\d+)-(\d+) ([^;]*[^;\s])", written)
    return flat(map(_span, parts)) if by_plus or len(parts) == written.count(";") + 1 else None


def _span(part: Any) -> Span:
    """Return a span of (start, end, kind), or of an object as spaCy, doccano and Label Studio write it. Raises
    BadOutput."""
    try:
        if isinstance(part, Mapping):
            start, end = (part.get(name, part.get(f"{name}_offset")) for name in ("start", "end"))
            kind = part.get("label") or part.get("kind") or part.get("entity") or part["labels"]
            kind = kind[0] if isinstance(kind, list) else kind
        else:
            start, end, kind = part
        return Span(int(start), int(end), str(kind).strip())
    except (TypeError, ValueError, KeyError):
        raise BadOutput(f"{part!r:.80} is no span; write (start, end, kind)") from None


def flat(spans: Iterable[Span]) -> tuple[Span, ...] | None:
    """Return the spans in order, of those that overlap the longest; None where one is empty."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
        if not 0 <= span.start < span.end:
            return None
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return tuple(sorted(kept))


def write_spans(spans: Iterable[Span]) -> str:
    """Return the answer that these spans are: `0-12 person`."""
    return "; ".join(f"{start}-{end} {kind}" for start, end, kind in spans) or NONE


class SpanLabels(tuple[str, ...]):
    """The kinds of a task; what it contains are all answers that can be made of them."""

    def __contains__(self, answer: object) -> bool:
        spans = read_spans(answer) if isinstance(answer, str) else None
        return spans is not None and write_spans(spans) == answer and {span.kind for span in spans} <= {*self}


@dataclass(frozen=True)
class EntityTask:
    """The task `entities`; with a scheme the kinds are others, and by `entities/drug,disease,f1=0.8` an output is wrong
    when its F1 against the answer is below .8, by default when it differs."""

    scheme: str = ""
    question: str = "Which names are in this text, and what are they names of?"
    texts: int = 1
    question_kind: Literal["input", "pair"] = "input"
    examples = ("0-12 person; 17-22 place", NONE)

    @property
    def name(self) -> str:
        return f"entities/{self.scheme}" if self.scheme else "entities"

    @cached_property
    def least(self) -> float:
        """The F1 from which an output is right."""
        try:
            (least,) = [float(part[3:]) for part in self.scheme.split(",") if part.startswith("f1=")] or [1.0]
        except ValueError:
            least = 0.0
        if not 0 < least <= 1:
            raise AuditError(f"{self.scheme!r}: f1 must be a number above 0 and at most 1, as in entities/f1=0.8")
        return least

    @cached_property
    def labels(self) -> SpanLabels:
        kinds = [part.strip() for part in self.scheme.split(",") if part and not part.startswith("f1=")]
        if any(not kind or re.search(r"[;|+]", kind) or kind in (NONE, "unsure") for kind in kinds):
            advice = "write them with commas, as in entities/drug,disease"
            raise AuditError(f"{self.scheme!r} is no list of kinds; {advice}")
        return SpanLabels(dict.fromkeys(kinds) or KINDS)

    def with_scheme(self, scheme: str) -> "EntityTask":
        """Return the task with other kinds, or another F1. Raises AuditError for a scheme that says neither."""
        task = EntityTask(scheme)
        _ = task.least, task.labels
        return task

    def kind_of(self, word: str) -> str | None:
        """Return the task's kind of a word for it; empty: one that the task does not have; None: an unknown one."""
        bare = re.sub(r"^[BIESLU]-", "", word.strip()).casefold()
        own = next((kind for kind in self.labels if kind.casefold() == bare), None)
        of_word = WORDS.get(bare)
        return own or (of_word if of_word is None or of_word in iter(self.labels) else "")

    def read_label(self, written: str) -> str | None:
        """Return the answer that a file, a system or a person wrote; None for what is none."""
        spans = read_spans(written)
        kinds = [self.kind_of(span.kind) for span in spans or ()]
        if spans is None or None in kinds:
            return None
        return write_spans(span._replace(kind=kind) for span, kind in zip(spans, kinds, strict=True) if kind)

    def misfit(self, label: str, text: str) -> str | None:
        """Return why an answer cannot be about a text, as when its offsets count bytes; None where it can."""
        for start, end, _ in read_spans(label) or ():
            if end > len(text) or text[start:end] != text[start:end].strip():
                what = f"is not in a text of {len(text)} characters" if end > len(text) else "has a blank at its end"
            elif any(0 < at < len(text) and _LETTERS.fullmatch(text[at - 1 : at + 1]) for at in (start, end)):
                what = f"cuts a word ({text[max(0, start - 8) : end + 8]!r})"
            else:
                continue
            return f"the span {start}-{end} {what}; offsets count characters from 0, not bytes"
        return None

    def output_of(self, value: object, text: str) -> Output:
        """Return the output that a user's function returned: spans as tuples or objects, or an answer. Raises
        BadOutput."""
        written = value if isinstance(value, str) else None
        if written is None and isinstance(value, Iterable) and (spans := flat(map(_span, value))) is not None:
            written = write_spans(spans)
        if written is None:
            raise BadOutput(f"{value!r:.80} is no list of spans; return (start, end, kind) for each name, or []")
        output = self.checked(Output(written))
        if wrong := self.misfit(str(output.label), text):
            raise BadOutput(wrong)
        return output

    def checked(self, output: Output) -> Output:
        """Return the spans with the task's kinds. Raises BadOutput for what are none."""
        label = None if output.label is None else self.read_label(output.label)
        if label is None:
            kinds = ", ".join(self.labels)
            raise BadOutput(f"{output.label!r:.80} are no spans of {kinds}; write {self.examples[0]!r} or {NONE!r}")
        return Output(label, checked_score(output.score), details=output.details)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Return whether the spans differ from each answer; with an F1 in the scheme, by more than that."""
        if output.label in allowed:
            return False
        return all(f1(*matches(str(output.label), answer)) < self.least for answer in allowed)

    def said(self, label: str, text: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return an answer as people read it, with their names of kinds: Obama (person), Paris (place)."""
        spans = read_spans(label) or ()
        return ", ".join(f"{text[at:end]} ({names.get(kind, kind)})" for at, end, kind in spans) or label


_LETTERS = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{2}")


def matches(output: str, answer: str) -> tuple[int, int, int]:
    """Return how many spans of an output are right, how many it has, and how many the answer has."""
    marked, right = ({*(read_spans(label) or ())} for label in (output, answer))
    return len(marked & right), len(marked), len(right)


def f1(right: int, marked: int, there: int) -> float:
    """Return the harmonic mean of precision and recall; 1 where there is nothing to find and nothing was found."""
    return 2 * right / (marked + there) if marked + there else 1.0


# Where spans are in a text that was changed.

TOKENS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")


def moved(spans: Sequence[Span], before: str, after: str) -> tuple[Span, ...] | None:
    """Return the spans where they are in the text after a change; None where one was cut, or cannot be found again.
    Words are aligned by their edit distance, whatever their case. What stands newly beside a span is no part of it."""
    old, new = ([match.span() for match in TOKENS.finditer(text)] for text in (before, after))
    words = [[text[start:end].casefold() for start, end in places] for text, places in ((before, old), (after, new))]
    blocks = _blocks(Levenshtein.opcodes(*words))
    starts, ends = ({place[side]: index for index, place in enumerate(old)} for side in (0, 1))
    result = []
    for start, end, kind in spans:
        if start not in starts or end not in ends:
            return None
        left, right = _across(blocks, starts[start], ends[end] + 1) or (0, 0)
        if left >= right:
            return None
        result.append(Span(new[left][0], new[right - 1][1], kind))
    apart = all(span.end <= other.start for span, other in pairwise(result))
    return tuple(result) if apart else None


_Block = tuple[bool, int, int, int, int]  # The same words? Then from and to before, and after


def _blocks(operations: Iterable[Any]) -> list[_Block]:
    """Return what stayed and what changed; changes that touch are one."""
    blocks: list[_Block] = []
    for name, first, behind, left, right in operations:
        same = name == "equal"
        if blocks and not same and not blocks[-1][0]:
            blocks[-1] = (False, blocks[-1][1], behind, blocks[-1][3], right)
        else:
            blocks.append((same, first, behind, left, right))
    return blocks


def _across(blocks: Sequence[_Block], first: int, behind: int) -> tuple[int, int] | None:
    """Return which words after the change those from `first` to before `behind` are."""
    lefts, rights = list[int](), list[int]()
    for same, start, stop, left, right in blocks:
        inside = max(start, first), min(stop, behind)
        if start == stop:  # new words alone
            if first < start < behind:
                lefts, rights = [*lefts, left], [*rights, right]
        elif inside[0] < inside[1]:
            whole = inside == (start, stop)
            if not whole and not same and stop - start != right - left:
                return None
            lefts.append(left if whole else left + inside[0] - start)
            rights.append(right if whole else left + inside[1] - start)
    return (min(lefts), max(rights)) if lefts else None


# Agreement of people, and of systems with them, by words and by names.


def units(text: str, answers: Sequence[str], by: Literal["word", "name"]) -> dict[tuple[int, int], list[str]]:
    """Return what each of several answers about a text says of each word of it, or of each span that any of them has: a
    kind, or `none`. Agreement on names is agreement on these.

    >>> units("Ann saw Bob.", ["0-3 person", "none"], "name")
    {(0, 3): ['person', 'none']}
    """
    said = [read_spans(answer) or () for answer in answers]
    if by == "name":
        places = sorted({(span.start, span.end) for spans in said for span in spans})
        kinds = [{(span.start, span.end): span.kind for span in spans} for spans in said]
    else:
        places = [match.span() for match in TOKENS.finditer(text)]
        kinds = [
            {place: span.kind for span in spans for place in places if span.start <= place[0] and place[1] <= span.end}
            for spans in said
        ]
    return {place: [of.get(place, NONE) for of in kinds] for place in places}


def rates(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Return precision, recall, F1, and how many names there are, of (output, answer) pairs: by kind, and over
    `all`."""
    counts: dict[str, Counter[str]] = {}
    for output, answer in pairs:
        marked, right = ({*(read_spans(label) or ())} for label in (output, answer))
        for what, spans in (("found", marked), ("there", right), ("right", marked & right)):
            for kind in (kind for span in spans for kind in ("all", span.kind)):
                counts.setdefault(kind, Counter())[what] += 1
    return {
        kind: {
            "precision": of["right"] / of["found"] if of["found"] else 0.0,
            "recall": of["right"] / of["there"] if of["there"] else 0.0,
            "f1": f1(of["right"], of["found"], of["there"]),
            "names": of["there"],
        }
        for kind, of in counts.items()
    }
