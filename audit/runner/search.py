"""`audit search`: for each source, the strongest violation that can be found under a budget of calls to a system.

After TextAttack's goal functions, constraints and search methods (Morris et al., EMNLP 2020 demonstrations): candidates
are what relations, one after the other, make of a source, with several random choices of each. The goal is a violation.
Among violations the strongest is the one that changes the smallest share of words, then the one whose score falls
furthest; while there is none, the search goes on from the candidates whose score fell furthest: the score of the
expected label, or how alike two texts are. It goes level by level and ends at the first level with a violation, since
another relation changes more words.

What is found was searched for, not drawn: no rate comes from it, and nothing of it but inputs and outputs is stored.
These make a search that was broken off go on where it stopped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine

from audit.corpora.base import Corpus, Row
from audit.errors import AuditError
from audit.new_files import write_rows
from audit.relations import Fixed, Outcome, Relation, Source, Verdict, compose
from audit.relations.base import Seen, Words, cut_verdict
from audit.relations.expect import same_interval
from audit.relations.validity import Fitted, broken
from audit.runner.budget import Budget
from audit.runner.chunk import raise_failed, source_of
from audit.runner.dispatch import Counts, Dispatcher
from audit.runner.executors import Executor
from audit.runner.fitting import check_limits_used, fitting, refuse_misfits
from audit.runner.options import SearchOptions
from audit.runner.progress import Watcher
from audit.runner.run import fitted_to
from audit.runner.studies import CHUNK, Later, Sampled, opened
from audit.runner.system_runner import SystemRunner, bind_systems, loaded
from audit.store import pieces
from audit.store.patient import Patient
from audit.tasks import Input, Output, Task, get_task, text_columns
from audit.text import Analysis
from audit.text.similarity import reference_words

if TYPE_CHECKING:
    import pandas as pd

SEARCHED = (
    "These violations were searched for, not drawn: how many there are says nothing of how often the system violates a "
    "relation, and no report counts them."
)
Ask = Callable[[dict[bytes, Input]], dict[bytes, Output]]
"""What returns the output of each input; those are absent that a limit of the whole search did not allow."""
_OF_VIOLATION = ("relation", "draws", "changed", "fall", "allowed", "genuine")
_SETTINGS = ("budget", "depth", "method", "width", "draws", "max_changed")


@dataclass(frozen=True)
class Violation:
    """A violation: the relation, or composition, which of the choices of each part made it, the follow-ups with their
    outputs, the share of words that changed, and how far the score fell.

    `fall` is the source's score less that of the expected label; of an unexpected label with its score it is their
    sum; of texts it is 1 less their similarity. `allowed` are the labels that are right about the follow-ups, as the
    relation carries them from gold, and `genuine` says whether an output is wrong by these; None: not known.
    """

    relation: str
    draws: tuple[int, ...]
    follow_ups: tuple[Input, ...]
    outputs: tuple[Output, ...]
    changed: float
    fall: float
    allowed: tuple[str, ...] | None = None
    genuine: bool | None = None


@dataclass(frozen=True)
class Searched:
    """What was found for one source. `outcome`: violation, none, no_follow_up (no relation applies within the limits),
    error (the system has no output for it), or left (a limit of the whole search came before its end).
    `calls` are the distinct inputs that the system was asked about."""

    row: str
    source: Input
    gold: str | None
    output: Output | None
    outcome: str
    calls: int
    violation: Violation | None = None

    def as_json(self) -> dict[str, Any]:
        """Return an entry of the document, and a line of a JSONL."""
        found = self.violation
        follow_ups = zip(found.follow_ups, found.outputs, strict=True) if found else ()
        return {
            "row": self.row,
            "texts": self.source.texts,
            "languages": self.source.languages,
            "gold": self.gold,
            "output": self.output and asdict(self.output),
            "outcome": self.outcome,
            "calls": self.calls,
            "follow_ups": [{"texts": item.texts, "output": asdict(output)} for item, output in follow_ups],
            **{name: getattr(found, name, None) for name in _OF_VIOLATION},
        }


@dataclass(frozen=True)
class SearchResult:
    """What a search found, source by source, in the order of their random numbers."""

    task: str
    corpus: str
    seed: int
    system: str
    version: str
    relations: list[str]
    options: SearchOptions
    found: list[Searched]
    executed: int
    stored: int
    failed: int
    not_composed: list[str]
    """Which of the relations' compositions expect nothing that could be checked, and were left out."""
    stopped: str | None = None  # Which limit was reached; None: none

    @property
    def violated(self) -> list[Searched]:
        """The sources with a violation, the strongest first."""
        pairs = [(one.violation.changed, -one.violation.fall, one) for one in self.found if one.violation]
        return [one for *_, one in sorted(pairs, key=lambda pair: pair[:2])]

    def as_json(self) -> dict[str, Any]:
        """Return what the command `audit search` has in JSON."""
        ended = [one for one in self.found if one.outcome in ("violation", "none")]
        own = ("task", "corpus", "seed", "system", "version", "relations", "executed", "stored", "failed")
        return {
            **{name: getattr(self, name) for name in (*own, "not_composed")},
            **{name: getattr(self.options, name) for name in _SETTINGS},
            "sources": len(self.found),
            "searched": len(ended),
            "violated": len(self.violated),
            "share": len(self.violated) / len(ended) if ended else None,
            "median_calls": median(one.calls for one in ended) if ended else None,
            "median_calls_to_violation": median(one.calls for one in self.violated) if self.violated else None,
            "left": sum(one.outcome == "left" for one in self.found),
            "note": SEARCHED,
            "found": [one.as_json() for one in self.found],
        }

    def frame(self) -> "pd.DataFrame":
        """A row for each source: row, text (and text_b), gold, label, score, outcome, calls, relation, and of the
        violation follow_up (and follow_up_b; the last where there are several), follow_up_label, follow_up_score,
        changed, fall, allowed (with | between labels), genuine."""
        import pandas as pd

        names = [name.removeprefix("text") for name in text_columns(get_task(self.task).texts)]
        rows = []
        for one in self.found:
            found, row = one.violation, one.as_json()
            last, output = (found.follow_ups[-1], found.outputs[-1]) if found else (None, Output())
            rows.append(
                {"row": one.row}
                | {f"text{name}": one.source.texts[at] for at, name in enumerate(names)}
                | {"gold": one.gold, **_said(one.output or Output(), "")}
                | {name: row[name] for name in ("outcome", "calls", "relation")}
                | {f"follow_up{name}": last.texts[at] if last else None for at, name in enumerate(names)}
                | _said(output, "follow_up_")
                | {name: row[name] for name in ("changed", "fall")}
                | {"allowed": "|".join(row["allowed"] or ()) or None, "genuine": row["genuine"]}
            )
        return pd.DataFrame(rows)

    def write(self, place: str | Path) -> None:
        """Write what was found: the rows of `frame` as CSV, or the entries of `as_json`, a line each with task and
        system, as JSONL, by the end of the file's name. Raises AuditError for another, BadFile."""
        about = {"task": self.task, "system": f"{self.system}@{self.version}"}
        write_rows(place, self.frame, (about | one.as_json() for one in self.found))


def _said(output: Output, prefix: str) -> dict[str, object]:
    return {f"{prefix}label": output.label if output.text is None else output.text, f"{prefix}score": output.score}


def share_changed(source: Input, follow_up: Input) -> float:
    """The share of words that were replaced, added or left out, 0 to 1: edits by words, to the longer text's words.

    >>> share_changed(Input.of("It is a good film"), Input.of("It is a goof film"))
    0.2
    """
    from rapidfuzz.distance import Levenshtein

    edits = words = 0
    for before, after, language in zip(source.texts, follow_up.texts, source.languages, strict=False):
        old, new = reference_words(before, language), reference_words(after, language)
        edits += Levenshtein.distance(old, new)
        words += max(len(old), len(new))
    return edits / words if words else 0.0


# Candidates of one source.


@dataclass(frozen=True)
class _Candidate:
    """Inputs that relations, one after the other, made of a source; the source itself has no relation. Once the system
    has answered them: its outputs, the verdict, and how far its score fell."""

    source: Source  # Of the first of the inputs: what the next relation is given
    inputs: tuple[Input, ...]
    relations: tuple[Fixed, ...] = ()
    draws: tuple[int, ...] = ()
    note: Words = ()
    changed: float = 0.0
    outputs: tuple[Output, ...] = ()
    verdict: Verdict | None = None
    fall: float = 0.0

    def order(self, *first: float) -> tuple[Any, ...]:
        """Return the key by which candidates are sorted; never two alike, so that nothing hangs on chance."""
        return (*first, len(self.relations), [relation.name for relation in self.relations], self.draws)


@dataclass
class _Walk:
    """The search from one source."""

    row: Row
    root: _Candidate
    beam: list[_Candidate]
    asked: set[bytes]
    seen: set[tuple[bytes, ...]]
    next: list[_Candidate] = field(default_factory=list)
    output: Output | None = None
    best: _Candidate | None = None
    tried: int = 0  # Candidates so far
    outcome: str = ""  # Empty: it goes on

    def wanted(self, budget: int) -> dict[bytes, Input]:
        """Return the inputs of the next candidates, as many as the budget allows; the others are dropped."""
        inputs: dict[bytes, Input] = {}
        for place, candidate in enumerate(self.next):
            new = {item.key: item for item in candidate.inputs if item.key not in self.asked}
            if len(self.asked) + len(new) > budget:
                self.next = self.next[:place]
                break
            inputs |= new
            self.asked |= new.keys()
        return inputs


class _Searching:
    """Searches with some relations of one task."""

    def __init__(self, task: Task, relations: Sequence[Fixed], options: SearchOptions, fitted: Fitted) -> None:
        """`fitted` is what the measures of the relations' limits have learnt from the corpus."""
        self.task, self.relations, self.options, self._fitted = task, relations, options, fitted
        self._compositions: dict[tuple[str, ...], Fixed | None] = {}

    @property
    def not_composed(self) -> list[str]:
        """The compositions that were wanted and cannot be made."""
        return [" | ".join(names) for names, relation in self._compositions.items() if relation is None]

    def begin(self, row: Row) -> _Walk:
        """Return the search from a source, which the system has not answered yet."""
        root = _Candidate(source_of(row.input, f"{self.options.seed}:{row.key}"), (row.input,))
        return _Walk(row, root, [root], {row.input.key}, {(row.input.key,)})

    def relation_of(self, relations: tuple[Fixed, ...]) -> Fixed | None:
        """Return the relation whose check is that of a candidate; None where these do not compose."""
        if len(relations) == 1:
            return relations[0]
        names = tuple(relation.name for relation in relations)
        if names not in self._compositions:
            try:
                self._compositions[names] = compose(*relations)
            except AuditError:
                self._compositions[names] = None
        return self._compositions[names]

    def expand(self, walks: Sequence[_Walk]) -> None:
        """Put into each walk what the relations make of its beam: of the best first, with the first choices first."""
        if any(relation.grammar for relation in self.relations):
            Analysis.tag_all([candidate.source.analysis for walk in walks for candidate in walk.beam])
        for walk in walks:
            walk.next = []
        for place, draw, relation in product(range(self.options.beam), range(self.options.draws), self.relations):
            pairs = [
                (walk, before)
                for walk in walks
                for before in walk.beam[place : place + 1]
                if len(before.inputs) == 1 and self.relation_of((*before.relations, relation)) is not None
            ]
            sources = [before.source.with_seed(_seed(walk, before, relation, draw)) for walk, before in pairs]
            try:
                groups = relation.make_groups(sources)
            except Exception as problem:
                raise_failed(relation.name, problem)
            for (walk, before), (follow_ups, note) in zip(pairs, groups, strict=True):
                made = replace(before, relations=(*before.relations, relation), draws=(*before.draws, draw), note=note)
                self._add(walk, made, follow_ups)

    def _add(self, walk: _Walk, made: _Candidate, follow_ups: Sequence[Input]) -> None:
        key = tuple(item.key for item in follow_ups)
        changed = max((share_changed(walk.row.input, item) for item in follow_ups), default=0.0)
        if not follow_ups or key in walk.seen or changed > self.options.max_changed:
            return
        walk.seen.add(key)
        limits = [limit for part in made.relations for limit in part.limits]
        if broken(limits, walk.row.input, follow_ups, self._fitted) is None:
            source = source_of(follow_ups[0], walk.root.source.seed)
            walk.next.append(replace(made, source=source, inputs=tuple(follow_ups), changed=changed))

    def judge(self, walk: _Walk, outputs: Mapping[bytes, Output], depth: int) -> None:
        """Take the outputs of a walk's candidates: it ends, or goes on from the best."""
        tried = [one for candidate in walk.next if (one := self._tried(walk, candidate, outputs))]
        walk.tried += len(walk.next)
        violated = [one for one in tried if one.verdict and one.verdict.outcome is Outcome.VIOLATED]
        if violated:
            walk.best = min(violated, key=lambda one: one.order(one.changed, -one.fall))
            walk.outcome = "violation"
            return
        walk.beam = sorted(tried, key=lambda one: one.order(-one.fall, one.changed))[: self.options.beam]
        if not walk.beam or depth == self.options.depth or len(walk.asked) >= self.options.budget:
            walk.outcome = "none" if walk.tried else "no_follow_up"

    def _tried(self, walk: _Walk, candidate: _Candidate, by_key: Mapping[bytes, Output]) -> _Candidate | None:
        """Return a candidate with what the system says of it; None where it failed or has no output."""
        outputs = tuple(by_key[item.key] for item in candidate.inputs)
        relation = self.relation_of(candidate.relations)
        if relation is None or walk.output is None or any(output.error or output.absent for output in outputs):
            return None
        try:
            every = [walk.output, *outputs]
            verdict = cut_verdict(every) or relation.verdict(every, candidate.note)
        except Exception as problem:
            raise_failed(relation.name, problem)
        return replace(candidate, outputs=outputs, verdict=verdict, fall=_fall(relation, walk.output, outputs, verdict))

    def found(self, walk: _Walk) -> Searched:
        """Return what the search from a source came to."""
        row, output = walk.row, walk.output
        violation = self._violation(row, output, walk.best) if walk.best and output else None
        calls = 0 if output is None else len(walk.asked)
        return Searched(row.key, row.input, row.gold, output, walk.outcome, calls, violation)

    def _violation(self, row: Row, output: Output, best: _Candidate) -> Violation:
        relation, allowed, genuine = self.relation_of(best.relations), None, None
        if row.gold is not None and relation is not None and self.task.question_kind == "input":
            allowed = relation.carry({row.gold}, Seen(row.input, output), Seen(best.inputs[-1], best.outputs[-1]))
            wrong = self.task.is_wrong(output, {row.gold})
            wrong = wrong or any(self.task.is_wrong(one, allowed) for one in best.outputs if allowed is not None)
            genuine = wrong if wrong or allowed is not None else None
        name, right = " | ".join(part.name for part in best.relations), tuple(sorted(allowed)) if allowed else None
        return Violation(name, best.draws, best.inputs, best.outputs, best.changed, best.fall, right, genuine)


def _seed(walk: _Walk, before: _Candidate, relation: Fixed, draw: int) -> str:
    """Of a relation's choices: those of `audit run` for the first draw, as a composition has them."""
    again = [one.name for one in before.relations].count(relation.name)
    return walk.root.source.seed + (f"|{again}" if again else "") + (f"|draw {draw}" if draw else "")


def _fall(relation: Fixed, source: Output, outputs: Sequence[Output], verdict: Verdict) -> float:
    """How far the system went from what is expected: see `Violation`. The least where the check does not apply."""
    if verdict.outcome is Outcome.INAPPLICABLE:
        return -1.0
    if getattr(relation, "check", None) is same_interval:
        return abs(verdict.value or 0.0)
    if source.label is None:
        return 1.0 - verdict.value if verdict.value is not None else float(verdict.outcome is Outcome.VIOLATED)
    before = 1.0 if source.score is None else source.score
    scores = [1.0 if output.score is None else output.score for output in outputs]
    # A violation with a value is one by scores: the label is the one that was expected.
    unexpected = verdict.outcome is Outcome.VIOLATED and verdict.value is None
    return before + max(scores) if unexpected else before - min(scores)


def search(
    database: Engine | Later,
    corpus: Corpus,
    system: str,
    relations: Sequence[Relation],
    executor: Executor,
    options: SearchOptions,
    watcher: Watcher | None = None,
) -> SearchResult:
    """Search a corpus' first sources for violations of a system; arguments as of `audit.runner.run.run`.

    Inputs and outputs are stored, so that the same search again asks for nothing twice and finds the same. Where a
    limit of the whole search is reached, what is left says so (`stopped`). Raises AuditError before anything is stored
    for what cannot be searched, and UnknownName, NotInstalled as a run does.
    """
    watcher, budget = watcher or Watcher(), Budget(options)
    fixed = [relation for relation in relations if isinstance(relation, Fixed)]
    if other := next((relation for relation in relations if not isinstance(relation, Fixed)), None):
        raise AuditError(
            f"relation {other.name} cannot be searched: what it makes hangs on what a system says; leave it out"
        )
    systems = loaded([system], options.time_limit)
    if len(systems) > 1:
        raise AuditError(f"{system} means {len(systems)} systems: {', '.join(systems)}; search one at a time")
    (one,) = systems.values()
    refuse_misfits(corpus, systems, relations)
    budget.check(systems.values())
    sampled = Sampled(corpus, options.seed, options.limit)
    searching = _Searching(get_task(corpus.task), fixed, options, fitted_to(sampled, fixed))
    with SystemRunner(executor, systems, options, watcher, budget) as runner:
        found, counts = _found(searching, sampled, database, runner)
    return SearchResult(
        corpus.task, corpus.name, options.seed, one.name, one.version, [relation.name for relation in fixed], options,
        found, counts.executed, counts.stored, counts.failed, searching.not_composed,
        budget.stopped() if budget.reached else None,
    )  # fmt: skip


def searchable(corpus: Corpus, options: SearchOptions) -> list[Relation]:
    """Return the relations of a search: those that are named, or the default ones that can be searched."""
    chosen = fitting(corpus, options)
    if options.relations is None:
        chosen = [relation for relation in chosen if isinstance(relation, Fixed)]
    check_limits_used(options.valid, [relation.name for relation in chosen])
    return chosen


def _found(
    searching: "_Searching", sampled: Sampled, database: Engine | Later, runner: SystemRunner
) -> tuple[list[Searched], Counts]:
    """Search from all sources, some side by side."""
    corpus, watcher = sampled.corpus, runner.watcher
    answered = runner.first_answers(sampled, database)
    patient = Patient(opened(database), watcher.says)
    systems = patient.write(lambda connection: bind_systems(connection, corpus, runner, answered))
    runner.prepare()
    dispatcher = Dispatcher(runner, systems, patient, corpus.task, corpus.unit)
    dispatcher.counts.executed = sum(map(len, answered.values()))
    (system,), rows, found = systems, [row for _, row in sampled.sources], list[Searched]()
    watcher.begin(len(rows))
    for block in pieces(rows, CHUNK[corpus.unit]):
        walks = [searching.begin(row) for row in block]
        _walk_all(searching, lambda inputs: dispatcher.ask({system: inputs})[system], walks)
        found += map(searching.found, walks)
        watcher.finished(sum(walk.outcome != "left" for walk in walks))
    return found, dispatcher.counts


def _walk_all(searching: _Searching, ask: Ask, walks: Sequence[_Walk]) -> None:
    """Search from some sources side by side, so that their inputs are asked for together."""
    outputs = ask({walk.row.input.key: walk.row.input for walk in walks} if searching.relations else {})
    for walk in walks:
        walk.output = outputs.get(walk.row.input.key)
        if not searching.relations:
            walk.outcome = "no_follow_up"
        elif walk.output is None:
            walk.outcome = "left"
        elif walk.output.error or walk.output.absent:
            walk.outcome = "error"
    for depth in range(1, searching.options.depth + 1):
        going = [walk for walk in walks if not walk.outcome]
        if not going:
            return
        searching.expand(going)
        wanted = {key: item for walk in going for key, item in walk.wanted(searching.options.budget).items()}
        outputs |= ask({key: item for key, item in wanted.items() if key not in outputs})
        for walk in going:
            if all(item.key in outputs for candidate in walk.next for item in candidate.inputs):
                searching.judge(walk, outputs, depth)
            else:
                walk.outcome = "left"
