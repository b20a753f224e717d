"""Trying a system by itself: a few inputs, what it said of them, how long it took, what it costs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from audit.corpora.base import Corpus
from audit.errors import AuditError, NotInstalled
from audit.runner.batch import Batch, Identity, ready
from audit.runner.budget import Sending, meter_of
from audit.runner.executors import InProcess, Lost, Processes, outcome
from audit.runner.options import TIME_LIMIT
from audit.runner.studies import Sampled
from audit.runner.system_runner import FIRST, advice, loaded
from audit.systems import get_system, is_own
from audit.systems.base import HasPairs, System
from audit.systems.foreign import contained, hearing, shown
from audit.tasks import Input, Task, get_task, matches

TEXTS = {
    "en": (
        "The story is warm and the actors are wonderful.",
        "The plot is boring, and the ending makes no sense.",
        "It was shown on Tuesday in the large hall.",
    ),
    "zh": ("这个故事很温暖，演员也很出色。", "情节无聊，结局也说不通。", "周二在大厅里放映。"),
}  # What a system is asked where nobody says what, by language


@dataclass(frozen=True)
class CheckedInput:
    """An input, what the system said of it, word for word as far as that is known, and what is stored of that."""

    texts: tuple[str, ...]
    languages: tuple[str, ...]
    said: tuple[str, ...] = ()
    label: str | None = None
    score: float | None = None
    text: str | None = None
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class SystemCheck:
    """A system as it is, and what it answered. `needs` is what is missing, where it could not be asked."""

    system: str
    version: str
    settings: dict[str, object]
    task: str
    needs: str | None
    answers: tuple[CheckedInput, ...] = ()
    calls: int | None = None  # Requests to another machine; None for a system on this one
    cost: float | None = None
    currency: str | None = None
    advice: str | None = None  # What to change, where every input failed

    @property
    def works(self) -> bool:
        """Whether it answered at least one input."""
        return any(answer.error is None for answer in self.answers)

    def as_json(self) -> dict[str, Any]:
        """As the command `audit check` has it in JSON."""
        return asdict(self) | {"works": self.works}


def check_system(
    spec: str,
    *,
    texts: Sequence[str] = (),
    corpus: Corpus | None = None,
    task: str | None = None,
    limit: float = TIME_LIMIT,
    apart: bool = True,
) -> SystemCheck:
    """Ask a system for the outputs of some texts, or of the first sources of a corpus; nothing is stored.

    Without either it is asked for three texts of ours. For a task on pairs every two texts are one input. `limit` is
    the seconds that a system of the user's own may take; with `apart` it is asked in a process of its own. Raises
    AuditError for what cannot be asked.
    """
    systems = loaded([spec], limit, task or (corpus.task if corpus else None))
    if len(systems) > 1:
        raise AuditError(f"{spec} means {len(systems)} systems: {', '.join(systems)}; name one of them")
    ((spec, system),) = systems.items()
    chosen = task or (corpus.task if corpus else system.tasks[0])
    if not any(matches(chosen, one) for one in system.tasks):
        raise AuditError(f"system {spec} does {', '.join(system.tasks)}, not {chosen}", parameter="task")
    described = SystemCheck(system.name, system.version, dict(system.settings), chosen, system.needs())
    if described.needs:
        return described
    if texts and corpus is not None:
        raise AuditError("texts and a corpus exclude each other; give one of them", parameter=("text", "corpus"))
    if corpus is not None:
        inputs = [row.input for _, row in Sampled(corpus, 0, FIRST).sources]
    else:
        inputs = _inputs_of(system, get_task(chosen), texts)
    job = _Asked(spec, chosen, tuple(inputs), limit)
    with Processes(1) if apart and is_own(spec) else InProcess() as executor:
        answers = outcome(job, executor.submit(job))
    if isinstance(answers, Lost):
        answers = [CheckedInput(item.texts, item.languages, error=answers.reason) for item in inputs]
    if all(answer.error for answer in answers):
        described = replace(described, advice=advice(system, answers[0].error))
    if meter := meter_of(system):
        sending, price = sum((meter.of([item]) for item in inputs), Sending()), meter.price
        described = replace(described, calls=sending.calls)
        if price:
            described = replace(described, cost=sending.cost, currency=price.currency)
    return replace(described, answers=tuple(answers))


def _inputs_of(system: System, task: Task, texts: Sequence[str]) -> list[Input]:
    """Return these texts, or ours, as inputs in languages that the system reads."""
    source, target = next((code for code in system.languages if code in TEXTS), "en"), None
    if task.name == "translation":
        others = (code for code in system.languages if code not in (source, "*"))
        pairs = [(pair.source, pair.target) for pair in system.pairs()] if isinstance(system, HasPairs) else []
        pairs = pairs or [(source, next(others, "es" if source == "en" else "en"))]
        source, target = next((pair for pair in pairs if pair[0] == source), pairs[0])
    if not texts and source not in TEXTS:
        raise AuditError(
            f"there are no texts in {source} for {system.name} here; give some with text", parameter="text"
        )
    if not texts:  # a pair is a text with itself and with the next one
        ours = TEXTS[source]
        texts = ours if task.texts == 1 else [text for at in range(FIRST) for text in (ours[at], ours[at - at % 2])]
    if len(texts) % task.texts:
        raise AuditError(f"{len(texts)} texts: an input of {task.name} has {task.texts}", parameter="text")
    starts = range(0, len(texts), task.texts)
    return [Input.of(*texts[at : at + task.texts], language=source, target=target) for at in starts]


@dataclass(frozen=True)
class _Asked:
    """The job of asking a system for some inputs, each alone."""

    spec: str
    task: str
    inputs: tuple[Input, ...]
    limit: float | None = None

    def work(self) -> list[CheckedInput]:
        with contained():
            ready(self.spec, identity := Identity.of(get_system(self.spec, None, self.task)), self.task)
        answers = []
        for item in self.inputs:
            with hearing() as heard:
                returned = Batch(self.spec, self.task, (item,), identity=identity).work()
            said = tuple(value if isinstance(value, str) else shown(value) for value in heard)
            label, score, text, error, _ = returned.rows[0]
            answers.append(CheckedInput(item.texts, item.languages, said, label, score, text, error, returned.seconds))
        return answers


def refuse_absent(check: SystemCheck) -> None:
    """Raise NotInstalled where the system lacks something, AuditError where it answered nothing."""
    if check.needs:
        raise NotInstalled(f"system {check.system} cannot run here; {check.needs}")
    if not check.works:
        number = len(check.answers)
        raise AuditError(
            f"system {check.system} failed on {'the input' if number == 1 else f'each of the {number} inputs'} with "
            f"{str(check.answers[0].error)!r}; {check.advice}"
        )
