"""`audit search`: for each source, the strongest violation that can be found under a budget of calls to a system.

Goal, constraints and methods are those of TextAttack (Morris et al. 2020): candidates are what relations, one after the
other, make of a source, with several random choices of each. The strongest violation changes the smallest share of
words, then has the score that falls furthest; while there is none, the search goes on from the candidates whose score
fell furthest. It ends at the first level with a violation, since another relation changes more words.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine

from audit.corpora.base import Corpus
from audit.errors import AuditError
from audit.new_files import write_file
from audit.relations import Fixed, Outcome, Relation, Source, Verdict, compose
from audit.relations.base import Seen, Words, cut_verdict
from audit.relations.expect import same_interval
from audit.relations.validity import Fitted, broken
from audit.runner.budget import Budget
from audit.runner.chunk import raise_failed, source_of
from audit.runner.dispatch import Asker
from audit.runner.executors import Executor
from audit.runner.fitting import check_limits_used, fitted_to, fitting, loaded, refuse_misfits
from audit.runner.options import SearchOptions
from audit.runner.progress import Watcher
from audit.runner.studies import Later, Sampled, opened
from audit.runner.trials import first_answers
from audit.store import pieces
from audit.store.patient import Patient
from audit.tasks import Input, Output, Task, get_task, text_columns
from audit.text import Analysis
from audit.text.similarity import reference_words

if TYPE_CHECKING:
    import pandas as pd

TOGETHER = {"sentence": 250, "document": 25}  # Sources that are searched from side by side
SEARCHED = (
    "These violations were searched for, not drawn: how many there are says nothing of how often the system violates a "
    "relation, and no report counts them."
)


@dataclass(frozen=True)
class Violation:
    """A violation, or what may become one: which of the choices of each relation made it, the follow-ups with their
    outputs, the share of words that changed, and how far the score fell (`_fall`). `allowed` are the labels that are
    right about the follow-ups, as the relation carries them from gold, and `genuine` says whether an output is wrong by
    these; None: not known."""

    follow_ups: tuple[Input, ...]
    parts: tuple[Fixed, ...] = field(default=(), repr=False, compare=False)
    draws: tuple[int, ...] = ()
    outputs: tuple[Output, ...] = ()
    changed: float = 0.0
    fall: float = 0.0
    allowed: tuple[str, ...] | None = None
    genuine: bool | None = None
    note: Words = field(default=(), repr=False, compare=False)
    violated: bool = field(default=False, repr=False)

    @property
    def relation(self) -> str:
        return " | ".join(part.name for part in self.parts)

    def order(self, *first: float) -> tuple[Any, ...]:
        """The key by which candidates are sorted: never two alike, so that nothing hangs on chance."""
        return (*first, len(self.parts), [part.name for part in self.parts], self.draws)


@dataclass
class Searched:
    """The search from one source. `outcome`: violation, none, no_follow_up (no relation applies within the limits),
    error (the system has no output for it), or left (a limit of the whole search came before its end); empty while it
    goes on. `calls` are the distinct inputs that the system was asked about."""

    row: str
    source: Input
    gold: str | None
    output: Output | None = None
    outcome: str = ""
    violation: Violation | None = None
    asked: set[bytes] = field(default_factory=set, repr=False)
    beam: list[Violation] = field(default_factory=list, repr=False, compare=False)
    next: list[Violation] = field(default_factory=list, repr=False, compare=False)
    seen: set[tuple[bytes, ...]] = field(default_factory=set, repr=False, compare=False)

    @property
    def calls(self) -> int:
        return 0 if self.output is None else len(self.asked)

    def as_json(self) -> dict[str, Any]:
        """Return an entry of the document, and a line of a JSONL."""
        violation = self.violation
        follow_ups = zip(violation.follow_ups, violation.outputs, strict=True) if violation else ()
        entry: dict[str, Any] = {"row": self.row, "texts": self.source.texts, "languages": self.source.languages}
        entry |= {
            "gold": self.gold,
            "output": self.output and asdict(self.output),
            "outcome": self.outcome,
            "calls": self.calls,
        }
        entry["follow_ups"] = [{"texts": item.texts, "output": asdict(output)} for item, output in follow_ups]
        return entry | {name: getattr(violation, name, None) for name in _OF_VIOLATION}

    def wanted(self, budget: int) -> dict[bytes, Input]:
        """Return the inputs of the next candidates, as many as the budget allows; the others are dropped."""
        inputs: dict[bytes, Input] = {}
        for place, candidate in enumerate(self.next):
            new = {item.key: item for item in candidate.follow_ups if item.key not in self.asked}
            if len(self.asked) + len(new) > budget:
                self.next = self.next[:place]
                break
            inputs |= new
            self.asked |= new.keys()
        return inputs


_OF_VIOLATION = ("relation", "draws", "changed", "fall", "allowed", "genuine")
_SETTINGS = ("budget", "depth", "method", "width", "draws", "max_changed")
_OF_RESULT = ("task", "corpus", "seed", "system", "version", "relations", "executed", "stored", "failed")


@dataclass(frozen=True)
class SearchResult:
    """What a search found, source by source, in the order of their random numbers; `stopped` says which limit was
    reached. Compositions that expect nothing that could be checked were left out."""

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
    stopped: str | None = None

    @property
    def violated(self) -> list[Searched]:
        """The sources with a violation, the strongest first."""
        with_one = [(walk.violation.changed, -walk.violation.fall, walk) for walk in self.found if walk.violation]
        return [walk for *_, walk in sorted(with_one, key=lambda entry: entry[:2])]

    def as_json(self) -> dict[str, Any]:
        """Return what the command `audit search` has in JSON."""
        ended = [walk for walk in self.found if walk.outcome in ("violation", "none")]
        return {
            **{name: getattr(self, name) for name in _OF_RESULT},
            **{name: getattr(self.options, name) for name in _SETTINGS},
            "sources": len(self.found),
            "searched": len(ended),
            "violated": len(self.violated),
            "share": len(self.violated) / len(ended) if ended else None,
            "median_calls": median(walk.calls for walk in ended) if ended else None,
            "median_calls_to_violation": median(walk.calls for walk in self.violated) if self.violated else None,
            "left": sum(walk.outcome == "left" for walk in self.found),
            "note": SEARCHED,
            "found": [walk.as_json() for walk in self.found],
        }

    def frame(self) -> "pd.DataFrame":
        """A row for each source: row, text (and text_b), gold, label, score, outcome, calls, relation, and of the
        violation follow_up (and follow_up_b; the last where there are several), follow_up_label, follow_up_score,
        changed, fall, allowed (with | between labels), genuine."""
        import pandas as pd

        rows, texts = [], text_columns(get_task(self.task).texts)
        for walk in self.found:
            violation = walk.violation
            last, output = (
                (violation.follow_ups[-1].texts, violation.outputs[-1]) if violation else (("",) * len(texts), None)
            )
            rows.append(
                {"row": walk.row, **dict(zip(texts, walk.source.texts, strict=False)), "gold": walk.gold}
                | {**_said(walk.output, ""), "outcome": walk.outcome, "calls": walk.calls}
                | {"relation": violation and violation.relation}
                | {name.replace("text", "follow_up", 1): text or None for name, text in zip(texts, last, strict=False)}
                | {
                    **_said(output, "follow_up_"),
                    "changed": violation and violation.changed,
                    "fall": violation and violation.fall,
                }
                | {
                    "allowed": "|".join((violation and violation.allowed) or ()) or None,
                    "genuine": violation and violation.genuine,
                }
            )
        return pd.DataFrame(rows)

    def write(self, place: str | Path) -> None:
        """Write what was found: the rows of `frame` as CSV, or the entries of `as_json`, a line each with task and
        system, as JSONL, by the end of the file's name. Raises BadFile."""
        about = {"task": self.task, "system": f"{self.system}@{self.version}"}
        if Path(place).suffix == ".csv":
            write_file(place, self.frame().to_csv(index=False, lineterminator="\r\n"))
        else:
            lines = [json.dumps(about | walk.as_json(), ensure_ascii=False) for walk in self.found]
            write_file(place, "".join(f"{line}\n" for line in lines))


def _said(output: Output | None, prefix: str) -> dict[str, Any]:
    output = output or Output()
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


class _Search:
    """Searches with some relations of one task; `fitted` is what measures of limits learnt from the corpus."""

    def __init__(self, task: Task, relations: Sequence[Fixed], options: SearchOptions, fitted: Fitted) -> None:
        self.task, self.relations, self.options, self._fitted = task, relations, options, fitted
        self.compositions: dict[tuple[str, ...], Fixed | None] = {}

    def relation_of(self, parts: tuple[Fixed, ...]) -> Fixed | None:
        """Return the relation whose check is that of a candidate; None where these do not compose."""
        names = tuple(part.name for part in parts)
        if names not in self.compositions:
            with suppress(AuditError):
                self.compositions[names] = parts[0] if len(parts) == 1 else compose(*parts)
        return self.compositions.setdefault(names, None)

    def walk_all(self, asker: Asker, walks: Sequence[Searched]) -> None:
        """Search from some sources side by side, so that their inputs are asked for together."""
        (system,) = asker.systems
        outputs = asker.ask({system: {walk.source.key: walk.source for walk in walks}})[system]
        for walk in walks:
            walk.output = outputs.get(walk.source.key)
            if walk.output is None:
                walk.outcome = "left"
            elif walk.output.error or walk.output.absent:
                walk.outcome = "error"
        for depth in range(1, self.options.depth + 1):
            if not (going := [walk for walk in walks if not walk.outcome]):
                return
            self._expand(going)
            wanted = {key: item for walk in going for key, item in walk.wanted(self.options.budget).items()}
            outputs |= asker.ask({system: {key: item for key, item in wanted.items() if key not in outputs}})[system]
            for walk in going:
                if all(item.key in outputs for candidate in walk.next for item in candidate.follow_ups):
                    self._judge(walk, outputs, depth)
                else:
                    walk.outcome = "left"

    def _expand(self, walks: Sequence[Searched]) -> None:
        """Put into each walk what the relations make of its beam: of the best first, with the first choices first."""
        analyses = {id(state): source_of(state.follow_ups[0], "").analysis for walk in walks for state in walk.beam}
        if any(relation.grammar for relation in self.relations):
            Analysis.tag_all(list(analyses.values()))
        for walk in walks:
            walk.next = []
        for place, draw, relation in product(range(self.options.beam), range(self.options.draws), self.relations):
            pairs, sources = [], []
            for walk in walks:
                for before in walk.beam[place : place + 1]:
                    if len(before.follow_ups) == 1 and self.relation_of((*before.parts, relation)) is not None:
                        # The first draw makes the choices of `audit run`, as a composition has them.
                        again = [part.name for part in before.parts].count(relation.name)
                        seed = f"{self.options.seed}:{walk.row}" + (f"|{again}" if again else "")
                        seed += f"|draw {draw}" if draw else ""
                        pairs.append((walk, before))
                        sources.append(Source(before.follow_ups[0], analyses[id(before)], seed))
            try:
                groups = relation.make_groups(sources)
            except Exception as problem:
                raise_failed(relation.name, problem)
            for (walk, before), (follow_ups, note) in zip(pairs, groups, strict=True):
                changed = max((share_changed(walk.source, item) for item in follow_ups), default=0.0)
                parts, key = (*before.parts, relation), tuple(item.key for item in follow_ups)
                if key in ((), (walk.source.key,)) or key in walk.seen or changed > self.options.max_changed:
                    continue
                walk.seen.add(key)
                limits = [limit for part in parts for limit in part.limits]
                if broken(limits, walk.source, follow_ups, self._fitted) is None:
                    draws = (*before.draws, draw)
                    walk.next.append(Violation(tuple(follow_ups), parts, draws, changed=changed, note=note))

    def _judge(self, walk: Searched, outputs: Mapping[bytes, Output], depth: int) -> None:
        """Take the outputs of a walk's candidates: it ends, or goes on from the best."""
        tried = [attempt for candidate in walk.next if (attempt := self._tried(walk, candidate, outputs))]
        if violated := [attempt for attempt in tried if attempt.violated]:
            walk.outcome = "violation"
            walk.violation = self._with_truth(
                walk, min(violated, key=lambda attempt: attempt.order(attempt.changed, -attempt.fall))
            )
            return
        walk.beam = sorted(tried, key=lambda attempt: attempt.order(-attempt.fall, attempt.changed))[
            : self.options.beam
        ]
        if not walk.beam or depth == self.options.depth or len(walk.asked) >= self.options.budget:
            walk.outcome = "none" if walk.next or depth > 1 else "no_follow_up"

    def _tried(self, walk: Searched, candidate: Violation, by_key: Mapping[bytes, Output]) -> Violation | None:
        """Return a candidate with what the system says of it; None where it failed or has no output."""
        outputs = tuple(by_key[item.key] for item in candidate.follow_ups)
        relation = self.relation_of(candidate.parts)
        if relation is None or walk.output is None or any(output.error or output.absent for output in outputs):
            return None
        every = [walk.output, *outputs]
        try:
            verdict = cut_verdict(every) or relation.verdict(every, candidate.note)
        except Exception as problem:
            raise_failed(relation.name, problem)
        fall = _fall(relation, walk.output, outputs, verdict)
        return replace(candidate, outputs=outputs, fall=fall, violated=verdict.outcome is Outcome.VIOLATED)

    def _with_truth(self, walk: Searched, best: Violation) -> Violation:
        """Return a violation with the labels that are right by gold, and whether an output is wrong by them."""
        relation, output = self.relation_of(best.parts), walk.output
        if walk.gold is None or relation is None or output is None or self.task.question_kind != "input":
            return best
        gold = {walk.gold}
        allowed = relation.carry(gold, Seen(walk.source, output), Seen(best.follow_ups[-1], best.outputs[-1]))
        wrong = self.task.is_wrong(output, gold)
        wrong = wrong or any(self.task.is_wrong(one, allowed) for one in best.outputs if allowed is not None)
        genuine = wrong if wrong or allowed is not None else None
        return replace(best, allowed=tuple(sorted(allowed)) if allowed else None, genuine=genuine)


def _fall(relation: Fixed, source: Output, outputs: Sequence[Output], verdict: Verdict) -> float:
    """Return how far the system went from what is expected: the source's score less that of the expected label; of an
    unexpected label with its score their sum; of texts 1 less their similarity. The least where the check does not
    apply."""
    if verdict.outcome is Outcome.INAPPLICABLE:
        return -1.0
    if getattr(relation, "check", None) is same_interval:
        return abs(verdict.value or 0.0)
    if source.label is None:
        return 1.0 - verdict.value if verdict.value is not None else float(verdict.outcome is Outcome.VIOLATED)
    before, *scores = (1.0 if output.score is None else output.score for output in (source, *outputs))
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

    Inputs and outputs are stored, so that the same search again asks for nothing twice and finds the same. Raises
    AuditError before anything is stored for what cannot be searched, and UnknownName, NotInstalled as a run does.
    """
    watcher, budget = watcher or Watcher(), Budget(options)
    fixed = [relation for relation in relations if isinstance(relation, Fixed)]
    if other := next((relation for relation in relations if not isinstance(relation, Fixed)), None):
        raise AuditError(
            f"relation {other.name} cannot be searched: what it makes hangs on what a system says; leave it out"
        )
    systems = loaded([system], options.time_limit, corpus.task)
    if len(systems) > 1:
        raise AuditError(f"{system} means {len(systems)} systems: {', '.join(systems)}; search one at a time")
    (only,) = systems.values()
    refuse_misfits(corpus, systems, relations)
    budget.check(systems.values())
    sampled = Sampled(corpus, options.seed, options.limit)
    searching, walks_done = _Search(get_task(corpus.task), fixed, options, fitted_to(sampled, fixed)), []
    with Asker(executor, systems, corpus, options, watcher, budget) as asker:
        answered = first_answers(asker, sampled, database)
        asker.bind(Patient(opened(database), watcher.says), answered)
        asker.prepare()
        watcher.begin(len(sampled.sources))
        for block in pieces((row for _, row in sampled.sources), TOGETHER[corpus.unit]):
            walks = [
                Searched(row.key, row.input, row.gold, asked={row.input.key}, beam=[Violation((row.input,))])
                for row in block
            ]
            searching.walk_all(asker, walks)
            walks_done += walks
            watcher.finished(sum(walk.outcome != "left" for walk in walks))
    names, counts = [relation.name for relation in fixed], asker.counts
    calls, stopped = (counts.executed, counts.stored, counts.failed), budget.stopped() if budget.reached else None
    named = (corpus.task, corpus.name, options.seed, only.name, only.version, names)
    return SearchResult(*named, options, walks_done, *calls, stopped)


def searchable(corpus: Corpus, options: SearchOptions) -> list[Relation]:
    """Return the relations of a search: those that are named, or the default ones that can be searched."""
    chosen = fitting(corpus, options)
    if options.relations is None:
        chosen = [relation for relation in chosen if isinstance(relation, Fixed)]
    check_limits_used(options.valid, [relation.name for relation in chosen])
    return chosen
