"""The options of runs and searches: said once for the library, the command line, plans and requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

from audit.errors import AuditError
from audit.files import parse_json
from audit.options import Options, Told, listed

if TYPE_CHECKING:
    from pathlib import Path

    from audit.corpora import Corpus, Reading

MOST_WORKERS = 256
MOST_REPEATS = 1_000  # Calls on one input, at most
TIME_LIMIT = 300.0  # Seconds that a system may take to be loaded, to be prepared, and for a batch; most take two


def pairs_of(value: Any) -> Any:
    """Return what NAME=VALUE pairs say; a mapping as it is. Raises AuditError for another form, and for a name twice.

    >>> pairs_of(["text=review", "gold=stars"])
    {'text': 'review', 'gold': 'stars'}
    """
    if not isinstance(value, list):
        return {} if value is None else value
    values: dict[str, str] = {}
    for pair in value:
        name, equals, own = (part.strip() for part in str(pair).partition("="))
        if not name or not equals or name in values:
            raise AuditError(f"{pair!r}: expected NAME=VALUE, each name once, several with commas between them")
        values[name] = own
    return values


def parameters_of(value: Any) -> Any:
    """Return parameters by relation: a mapping as it is, or what texts `RELATION.NAME=VALUE` say. Raises AuditError.

    >>> parameters_of(["MR6.1.sentences=5"])
    {'MR6.1': {'sentences': 5}}
    """
    if not isinstance(value, list):
        return {} if value is None else value
    values: dict[str, dict[str, object]] = {}
    for setting in value:
        target, _, own = setting.partition("=")
        relation, _, name = target.rpartition(".")
        if not (relation and name and own):
            form = "expected RELATION.NAME=VALUE, for example MR6.1.sentences=5"
            raise AuditError(f"parameters {setting!r}: {form}", parameter="parameters")
        try:
            values.setdefault(relation, {})[name] = parse_json(own)
        except ValueError:
            values.setdefault(relation, {})[name] = own
    return values


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(Options):
    task: Annotated[
        str | None, Told("the task (default: the corpus's; sentiment for a file, translation with targets)", "TASK")
    ] = None
    unit: Annotated[
        Literal["sentence", "document"] | None,
        Told("what a row of your file is, sentence or document (default: found out)"),
    ] = None
    language: Annotated[str | None, Told("of your file, where it has no such column", "LANGUAGE")] = None
    columns: Annotated[
        Mapping[str, str],
        Told(
            "of your file, ours=theirs: text, text_b, gold, id, language, cluster",
            "text=review,...",
            commas=True,
            read=pairs_of,
        ),
    ] = field(default_factory=dict)
    labels: Annotated[
        Mapping[str, str],
        Told(
            "of your file: its gold label=ours; meh= says that meh is no gold",
            "pos=positive,1=positive",
            commas=True,
            read=pairs_of,
        ),
    ] = field(default_factory=dict)

    targets: Annotated[
        Sequence[str],
        Told("of a translation: the languages to translate the corpus into", "es,fr", commas=True, read=listed),
    ] = ()

    @property
    def reading(self) -> "Reading":
        from audit.corpora import Reading

        return Reading(self.columns, self.labels)

    def corpus(self, name: "str | Path") -> "Corpus":
        """Return a corpus, or the one in a file. Raises what `audit.corpora.get_corpus` raises."""
        from audit.corpora import get_corpus
        from audit.corpora.recordings import check_codes
        from audit.tasks import get_task

        task = self.task or ("translation" if self.targets else None)
        if task is not None:
            get_task(task)
        if self.targets:
            if task != "translation":
                raise AuditError(
                    f"targets {','.join(self.targets)}: they are of task translation, not {task}; leave them out",
                    parameter=("targets", "task"),
                )
            check_codes(self.targets)
            name = f"{name}@{','.join(self.targets)}"
        return get_corpus(name, task, self.unit, self.language, self.reading)


@dataclass(frozen=True, kw_only=True)
class CommonOptions(Options):
    relations: Annotated[
        Sequence[str] | None,
        Told(
            "relations of audit relations, all, or family:NAME (default: the task's default ones that fit the corpus)",
            "MR1.1,...",
            commas=True,
            read=listed,
            positional=True,
        ),
    ] = None
    limit: Annotated[
        int | None, Ge(1), Told("the N sources with the smallest random numbers: a larger limit keeps them all", "N")
    ] = None
    seed: Annotated[int, Told("of those random numbers and of the relations' choices", "S")] = 0
    parameters: Annotated[
        Mapping[str, Mapping[str, Any]],
        Told(
            "a parameter of a relation: a number, true or false, or a file of lines; may be given several times",
            "MR6.1.sentences=5",
            "--set",
            read=parameters_of,
        ),
    ] = field(default_factory=dict)
    valid: Annotated[
        Sequence[str],
        Told(
            "a limit on follow-ups, [RELATION:]MEASURE<=NUMBER; groups beyond it are kept as rejected; repeatable",
            '"replaced<=0.4"',
        ),
    ] = ()
    workers: Annotated[
        int | None, Ge(0), Le(MOST_WORKERS), Told("processes (default: one per core; 0: this process)", "N")
    ] = None
    time_limit: Annotated[
        float, Gt(0), Told("seconds that a system may take for a batch of inputs, and for one alone", "SECONDS")
    ] = TIME_LIMIT
    max_calls: Annotated[
        int | None, Ge(1), Told("stop before more requests than this go to other machines, all systems together", "N")
    ] = None
    max_cost: Annotated[
        float | None, Gt(0), Told("stop before more is spent than this, by the prices in the systems' files", "X")
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(CommonOptions):
    document_share: Annotated[
        float | None,
        Gt(0),
        Le(1),
        Told("on documents, run sentence relations too, each on this share of the sentences it applies to", "0.5"),
    ] = None
    dask: Annotated[
        str | None,
        Told(
            "the scheduler of a Dask cluster whose workers do the work; what is stored is the same", "tcp://HOST:PORT"
        ),
    ] = None
    retry_errors: Annotated[bool, Told("execute again, once, the inputs that failed")] = False
    repeats: Annotated[
        int,
        Ge(1),
        Le(MOST_REPEATS),
        Told("ask each system each input N times: how often does it contradict itself?", "N"),
    ] = 1


@dataclass(frozen=True, kw_only=True)
class SearchOptions(CommonOptions):
    budget: Annotated[
        int,
        Ge(2),
        Told("inputs that the system is asked about for each source, at most, the source itself among them", "CALLS"),
    ] = 50
    depth: Annotated[int, Ge(1), Told("relations one after the other, at most", "N")] = 2
    method: Annotated[
        Literal["greedy", "beam"], Told("go on from the best candidate, greedy, or from several, beam")
    ] = "greedy"
    width: Annotated[int, Ge(1), Told("with method beam: candidates to go on from", "N")] = 4
    draws: Annotated[int, Ge(1), Told("random choices of each relation that are tried", "N")] = 3
    max_changed: Annotated[float, Gt(0), Le(1), Told("share of words that may change, at most", "0.3")] = 1.0

    @property
    def beam(self) -> int:
        return self.width if self.method == "beam" else 1


ONCE = RunOptions()  # A run of a task's default relations on a whole corpus
