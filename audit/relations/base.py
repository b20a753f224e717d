"""The one shape of all metamorphic relations.

A relation is a generator over one source: it yields the members it wants executed, is sent their outputs, any number of
times, and returns its verdict, or None where it makes no group. Most perturb the source once and check the outputs
(`Fixed`): they change texts one by one (`Plain`), or several together (`Joint`; `Rewriting` where the check has to know
which words were replaced). Those that look at the system's own outputs on the way write the generator themselves
(`Chained`). Outputs are stored by (system, input), so replaying a generator costs nothing and gives the same group."""

import random
from collections.abc import Callable, Generator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Literal, cast

from audit.errors import AuditError
from audit.keys import Late
from audit.relations.validity import Limit, measure_named
from audit.tasks import Input, Output
from audit.text import Analysis
from audit.text.tools import tools_of, version_of

# What an answer about the source says about a follow-up, without asking anybody. Classes and functions with a name, not
# lambdas: relations are sent to workers by pickle.


@dataclass(frozen=True, slots=True)
class Seen:
    """A member with its output, for rules that must look at the texts or outputs."""

    input: Input
    output: Output


Rule = Callable[[str, Seen | None, Seen | None], frozenset[str] | None]
"""(answer about the source, source, follow-up) -> allowed answers about the follow-up; None: ask."""


@dataclass(frozen=True)
class Carry:
    """A rule that carries answers from the source to each follow-up. `preserves_truth`: every answer, unchanged;
    `reads`: the rule looks at the members, for which it is else given None."""

    rule: Rule
    preserves_truth: bool = False
    reads: bool = False

    def __call__(
        self, allowed: Set[str], source: Seen | None = None, follow_up: Seen | None = None
    ) -> frozenset[str] | None:
        """Return allowed answers about the follow-up when the source's right answer is one of `allowed`; None: ask."""
        results = [self.rule(answer, source, follow_up) for answer in allowed]
        return None if None in results else frozenset().union(*(result or () for result in results)) or None

    def reach(self, labels: Sequence[str]) -> Literal["everything", "partly", "nothing"]:
        """Return of which answers about a source it is known what is right of its follow-ups; `labels` of the task."""
        if self.preserves_truth or self == nothing:
            return "everything" if self.preserves_truth else "nothing"
        carried = [not self.reads and self({label}) is not None for label in labels]
        return "everything" if carried and all(carried) else "partly"


@dataclass(frozen=True, slots=True)
class _Table:
    """A rule that looks at the answer alone: what is allowed by answer, and of any other one (`same`: itself)."""

    answers: tuple[tuple[str, frozenset[str]], ...] = ()
    others: frozenset[str] | Literal["same"] | None = None

    def __call__(self, answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
        allowed = dict(self.answers).get(answer, self.others)
        return frozenset({answer}) if allowed == "same" else allowed


@dataclass(frozen=True, slots=True)
class _SameText:
    normalise: Callable[[str], str]

    def __call__(self, answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
        texts = [None if seen is None else seen.output.text for seen in (source, follow_up)]
        same = None not in texts and len({self.normalise(str(text)) for text in texts}) == 1
        return frozenset({answer}) if same else None


unchanged = Carry(_Table(others="same"), preserves_truth=True)  # The follow-up means what the source means

nothing = Carry(_Table())  # The answer about the source says nothing about the follow-up


def maps(answers: Mapping[str, Sequence[str]]) -> Carry:
    """Return a carry: these answers about the source say that one of some is right about the follow-up."""
    return Carry(_Table(tuple((answer, frozenset(allowed)) for answer, allowed in sorted(answers.items()))))


def stays(*answers: str) -> Carry:
    """Return a carry of these answers alone, unchanged."""
    return maps({answer: [answer] for answer in answers})


def always(answer: str) -> Carry:
    """Return a carry: whatever is right about the source, this is right about the follow-up."""
    return Carry(_Table(others=frozenset({answer})))


def where_same(normalise: Callable[[str], str]) -> Carry:
    """Return a carry for outputs that are judged one by one: what people say of the source's output holds for the
    follow-up's where both are the same text once normalised. The relation must keep meaning."""
    return Carry(_SameText(normalise), reads=True)


def declared(carries: str | Sequence[str] | Mapping[str, Sequence[str]]) -> Carry:
    """Return the carry that a file declares: `everything`, `nothing`, labels that stay, or, by label, those that are
    then right of the follow-up. Raises AuditError for another word."""
    if not isinstance(carries, str):
        return maps(carries) if isinstance(carries, Mapping) else stays(*carries)
    if carries not in ("everything", "nothing"):
        raise AuditError(f"carries is {carries[:40]!r}; it is everything, nothing, or a list of labels")
    return unchanged if carries == "everything" else nothing


Role = Literal["source", "follow_up", "link", "probe"]
ANY = ("*",)  # Languages of a relation, or a system, that takes texts in every language
COUNTED: tuple[Role, ...] = ("source", "follow_up", "link")  # Their outputs make a satisfaction false


class Outcome(IntEnum):
    """What one check of one group for one system found; stored as the number."""

    SATISFIED = 0
    VIOLATED = 1
    INAPPLICABLE = 2
    ERROR = 3
    REJECTED = 4  # A follow-up breaks a limit: the system was not asked about it


NO_SCORE = "it needs a score, and the system returns none"
CUT = "the system reads the same of every member: the rest is cut off"
SYSTEM_REASONS: Mapping[str, str] = {NO_SCORE: "no_score", CUT: "cut"}
"""Reasons why a group is inapplicable that lie with the system, not its texts -> code: run and report count them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome, the value that was compared (or None for labels), and why, where that is not plain."""

    outcome: Outcome
    value: float | None = None
    reason: str | None = None


def cut_verdict(outputs: Sequence[Output]) -> Verdict | None:
    """Return the verdict on a group whose members (`outputs` of those that count) were the same to the system, since
    the rest of the texts was cut off; None where they were not."""
    details = [output.details or {} for output in outputs]
    if not any(detail.get("cut") for detail in details) or len(outputs) < 2:
        return None
    reads = {detail.get("read") for detail in details}
    return Verdict(Outcome.INAPPLICABLE, reason=CUT) if len(reads) == 1 and None not in reads else None


@dataclass(frozen=True, slots=True)
class Member:
    """One input of a group and the part it plays."""

    role: Role
    input: Input


@dataclass(frozen=True)
class Source:
    """A source as relations see it: its input, the analysis of its first text, study seed and row key, and the right
    label (None where the corpus has none, and for `Fixed` relations)."""

    input: Input
    analysis: Analysis
    seed: str = ""
    gold: str | None = None

    @cached_property
    def analyses(self) -> tuple[Analysis, ...]:
        """One analysis per text of the input, in order."""
        others = zip(self.input.texts[1:], self.input.languages[1 : len(self.input.texts)], strict=True)
        return (self.analysis, *(Analysis(text, language) for text, language in others))

    def choices(self, relation: str) -> random.Random:
        """Return the generator of a relation's choices: its own draws, the same from the start each time."""
        return cast(random.Random, Late(self.seed, relation))


Steps = Generator[list[Member], list[Output], Verdict | bool | None]
Check = Callable[[Sequence[Output]], "Verdict | bool"]
"""Outputs of the source and the follow-ups, none an error, in order -> verdict, or whether the relation is
satisfied."""
Perturb = Callable[[Analysis, random.Random], "str | list[str] | None"]
"""Text -> follow-up text(s); None: none would read well."""
Words = tuple[tuple[str, str], ...]  # Pairs (old, new): what was replaced by what to make a follow-up


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The texts of a follow-up, as many as the source has, and the words that were replaced in them."""

    texts: tuple[str, ...]
    words: Words = ()


Rewrite = Callable[[Sequence[Analysis], random.Random], "Rewritten | None"]  # As `Perturb`, of all texts of a source
WordsCheck = Callable[[Sequence[Output], Words], "Verdict | bool"]  # As `Check`, with the words that were replaced


def verdict_of(relation: str, said: object) -> Verdict:
    """Return the verdict that a relation's check returned, which may also say True or False. Raises AuditError."""
    if isinstance(said, Verdict):
        return said
    if type(said).__name__ not in ("bool_", "bool"):  # numpy's own bool is none of Python's
        raise AuditError(f"check of relation {relation!r} returned {said!r:.60}; expected a truth value or a Verdict")
    return Verdict(Outcome.SATISFIED if said else Outcome.VIOLATED)


@dataclass(frozen=True, kw_only=True)
class Relation:
    """What every relation has; `Plain`, `Joint`, `Rewriting` and `Chained` are the ways to write one."""

    task: str
    name: str
    family: str
    summary: str
    unit: Literal["sentence", "document", "any"]  # The unit of its sources; `any`: both
    carry: Carry
    languages: tuple[str, ...] = ("en",)  # Of its texts; `ANY` alone: every language
    version: str = "1"
    params: Mapping[str, object] = field(default_factory=dict)
    accepts: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    """Types of a parameter's values where that of its default is not the only one; a list may be a file's lines."""
    check_params: Callable[[Mapping[str, object]], str | None] | None = None
    """Says what is wrong with all parameters, or None."""
    counterpart: str = ""  # The name of the same relation of several tasks
    needs: tuple[str, ...] = ()  # Modules of an extra without which it makes no groups; a run that lacks one is refused
    grammar: bool = False  # Whether it reads more of a text than its characters: what its language's own tagger finds
    default: bool = True  # Whether a run takes it that names no relations
    keeps: str = ""  # What stays of a text that it changes: "every word"
    may_break: str = ""  # What may be another thing in a follow-up though nobody meant it: "labels of style"
    question: str | Mapping[str, str] = ""
    """What people are asked about a group, where *yes* means that the relation holds; by the code of a language, or in
    one for all. Empty: what follows from its check (`audit.relations.asking`)."""
    limits: tuple[Limit, ...] = ()  # What a follow-up must keep (`limited` sets them)

    def __or__(self, other: object) -> "Relation":
        """Return the composition: the other changes what this one made. Raises AuditError as `compose` does."""
        from audit.relations.composition import compose

        return compose(self, other) if isinstance(other, Relation) else NotImplemented

    @property
    def per_system(self) -> bool:
        """Whether the group depends on the system's outputs, or is the same for every system."""
        return True

    @property
    def full_version(self) -> str:
        """The version, with those of what it asks: another tagger finds other words. Raises as `asks` does."""
        measures = [measure_named(limit.measure) for limit in self.limits]
        of_measures = [f"{measure.name} {measure.version}" for measure in measures if measure.version != "1"]
        return "; ".join([self.version, *self.asks(), *of_measures])

    def asks(self) -> Sequence[str]:
        """Return the versions of what follow-ups and verdicts depend on, as its tagger. Raises NotInstalled and the
        like."""
        tagger = self.params.get("tagger")
        if tagger is not None:
            return [version_of(str(tagger))]
        return [tools_of(language).version() for language in self.languages] if self.grammar else []

    def reads(self, source: Source) -> bool:
        """Return whether all texts of a source are in languages of this relation."""
        languages = source.input.languages  # mostly one and one: there are millions
        return languages == self.languages or self.languages == ANY or set(languages) <= set(self.languages)

    def lacks(self, language: str) -> str | None:
        """Return why sources in a language make no groups here, what is missing; None where nothing is."""
        return None

    def speaks(self, language: str) -> bool:
        """Return whether the relation is for sources in this language."""
        return self.languages == ANY or language in self.languages

    def steps(self, source: Source) -> Steps:
        """Yield members, be sent their outputs, return the verdict, or None where there is no group."""
        raise TypeError(f"{type(self).__name__} must define steps")


@dataclass(frozen=True, kw_only=True)
class Fixed(Relation):
    """A relation whose groups are the same for every system: follow-ups and a note, which is what the check has to know
    of how they were made. It is never stored: making the group again gives the same one."""

    check: Any = None  # A `Check`; a dataclass is given the parameters that are its fields

    @property
    def per_system(self) -> bool:
        return False

    def make_group(self, source: Source) -> "tuple[list[Input], Words]":
        """Return the follow-ups of one source, none where the relation makes no group; and the note."""
        raise TypeError(f"{type(self).__name__} must define make_group")

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        """Check the outputs of source and follow-ups, in order; none of them is an error."""
        return verdict_of(self.name, self.check(outputs))

    def make_groups(self, sources: Sequence[Source]) -> "list[tuple[list[Input], Words]]":
        """Return `make_group` of several sources; a relation that asks a model does so for many at once here."""
        return [self.make_group(source) for source in sources]

    def verdicts(self, groups: "Sequence[tuple[Sequence[Output], Words]]") -> list[Verdict]:
        """Return `verdict` of several groups, for the same reason."""
        return [self.verdict(outputs, note) for outputs, note in groups]

    def follow_ups(self, source: Source) -> list[Input]:
        """Return the follow-ups of one source; empty where the relation makes no group."""
        return self.make_group(source)[0]

    def steps(self, source: Source) -> Steps:
        follow_ups, note = self.make_group(source)
        if not follow_ups:
            return None
        members = [Member("source", source.input), *(Member("follow_up", follow_up) for follow_up in follow_ups)]
        return self.verdict((yield members), note)


@dataclass(frozen=True, kw_only=True)
class Plain(Fixed):
    """A relation that perturbs texts of a source, each by itself, and whose check needs nothing but the outputs."""

    perturb: Perturb
    texts: tuple[int, ...] = (0,)  # Which texts of an input are perturbed, of those that it has
    changes: Literal["all", "one"] = "all"  # Each of these texts that it applies to, or one drawn at random

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        if not self.reads(source):
            return [], ()
        choices, old = source.choices(self.name), source.input.texts
        changed: dict[int, list[str]] = {}
        for place in self.texts:
            if place < len(old):
                follow_ups = self.perturb(source.analysis if place == 0 else source.analyses[place], choices) or []
                texts = [follow_ups] if isinstance(follow_ups, str) else follow_ups
                changed |= {place: texts} if texts and old[place] not in texts else {}
        if self.changes == "one" and len(changed) > 1:
            place = choices.choice(list(changed))
            changed = {place: changed[place]}
        if len({len(texts) for texts in changed.values()}) > 1:
            raise AuditError(f"relation {self.name!r} makes different numbers of follow-ups of the texts of an input")
        rows = [dict(zip(changed, texts, strict=True)) for texts in zip(*changed.values(), strict=True)]
        new = [tuple([row.get(place, text) for place, text in enumerate(old)]) for row in rows]
        return [Input(texts, source.input.languages) for texts in new], ()


@dataclass(frozen=True, kw_only=True)
class Joint(Fixed):
    """A relation that rewrites texts of a source together, and whose check needs nothing but the outputs."""

    rewrite: Rewrite
    texts: tuple[int, ...] | None = None  # Which texts of an input are handed over, of those that it has; None: all

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        if not self.reads(source):
            return [], ()
        old = source.input.texts
        places = [place for place in range(len(old)) if self.texts is None or place in self.texts]
        rewritten = self.rewrite([source.analyses[place] for place in places], source.choices(self.name))
        if rewritten is None:
            return [], ()
        new = dict(zip(places, rewritten.texts, strict=True))
        texts = tuple(new.get(place, text) for place, text in enumerate(old))
        return ([], ()) if texts == old else ([Input(texts, source.input.languages)], rewritten.words)


@dataclass(frozen=True, kw_only=True)
class Rewriting(Joint):
    """A relation that rewrites texts together, and whose check (`WordsCheck`) is given the words that it replaced."""

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return verdict_of(self.name, self.check(outputs, note))


@dataclass(frozen=True, kw_only=True)
class Chained(Relation):
    """A relation whose group depends on the system's outputs: `walk` is the generator."""

    walk: Callable[[Source, random.Random], Steps]
    expects: Check | None = None  # What its verdict is made by: what people are asked follows from it

    def steps(self, source: Source) -> Steps:
        if not self.reads(source):
            return None
        said = yield from self.walk(source, source.choices(self.name))
        return None if said is None else verdict_of(self.name, said)
