"""How relations are written: one decorated function, and for each of its tasks what that task makes of it.

A function says how texts change; a `Use` says which of an input's texts do, what is expected of the outputs, and what
truth is kept. `EVERY` has the usual use of each task of audit for what keeps a text's meaning."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Literal, TypeVar

from audit.relations.base import Carry, Chained, Check, Joint, Plain, maps, nothing, unchanged, where_same
from audit.relations.expect import Mapped, SimilarText, Spread, equivalent, plain_words, same_interval
from audit.relations.registry import register
from audit.relations.validity import limit_of
from audit.tasks import TASKS, text_names
from audit.tasks.question_answering import normalised

FIRST, SECOND, BOTH = (0,), (1,), (0, 1)
"""Which texts of an input: the premise or the hypothesis, the context or the question, either text of a pair."""
SIMILAR = 0.7  # Similarity, 0 to 1, from which two summaries count as the same: about three words of ten may differ


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one task makes of a relation."""

    check: Check | None
    """What must hold between the outputs of source and follow-up. A threshold of it is a parameter of the relation."""
    expects: str = ""  # The same in words, for the end of the relation's summary: "the label stays"
    texts: tuple[int, ...] = FIRST
    changes: Literal["all", "one"] = "all"  # As of `Plain`
    question: str | Mapping[str, str] = ""  # As of `Relation`
    carry: Carry = unchanged
    unit: Literal["sentence", "document", "any"] = "any"
    default: bool | None = None  # Whether a run takes it that names no relations; None: where it carries an answer


EVERY: dict[str, Use] = {
    "classification": Use(check=equivalent, expects="the label stays"),
    "inference": Use(check=equivalent, expects="the label stays", texts=BOTH, changes="one"),
    "question-answering": Use(
        check=SimilarText(1.0, normalised), expects="the answer stays", texts=SECOND, carry=where_same(normalised)
    ),
    "sentiment": Use(check=equivalent, expects="the label stays", default=False),
    "similarity": Use(check=same_interval, expects="the interval stays", texts=BOTH),
    "summarization": Use(
        check=SimilarText(SIMILAR, plain_words),
        expects="the summary stays much the same",
        carry=where_same(plain_words),
    ),
}
"""Task -> the usual use. Of a question and its context the question changes: what changes in a context may be its
answer. Of sentiment a run takes the study's own relations, and these by name."""


def uses(*tasks: str, **changes: Any) -> dict[str, Use]:
    """Return the usual use of these tasks, with some fields otherwise. A task that has none needs at least `check`."""
    return {task: replace(EVERY[task], **changes) if task in EVERY else Use(**changes) for task in tasks}


def leading(answers: Mapping[str, tuple[str, ...]], expects: str, **changes: Any) -> Use:
    """Return the use of a task where these labels of a source lead to one of some of the follow-up, and answers too."""
    return Use(check=Mapped(tuple(answers.items())), expects=expects, carry=maps(answers), **changes)


Function = TypeVar("Function", bound=Callable[..., Any])


def relation(
    name: str,
    *,
    family: str,
    tasks: Mapping[str, Use] = EVERY,
    by: Literal["text", "sentence", "together", "input", "source"] = "text",
    **settings: Any,
) -> Callable[[Function], Function]:
    """Register the decorated function as a relation of each of these tasks, or of one `task`, under one name.

    `by` says what the function is given, beside a generator of its choices: `text`, the analysis of each text that the
    use names, by itself; `sentence`, each sentence of it, of which all change that it applies to; `together`, the
    analyses of these texts at once; `input`, those of all texts; `source`, the source, and it is a generator of steps
    (`Chained`). Of several texts it returns `Rewritten`. `settings` are fields of `Relation`; `kind`, a class of
    relations that asks a model or a program; `limits`, what follow-ups must keep, as in `"replaced<=0.4"`; and with
    `task` the `check`, `carry`, `unit` and `question` of its use, and a run that names no relations takes it.

    The first line of its docstring says what changes; the summary adds in which text of an input, and what its task
    expects. A second paragraph "Keeps ...; may break ...." says what stays and what may not. Raises AuditError where a
    task has a relation of this name."""
    common = settings
    own: dict[str, Any] = {"check": None, "default": True}
    if "task" in common:
        own |= {key: common.pop(key) for key in ("check", "carry", "unit", "question") if key in common}
        tasks = {common.pop("task"): Use(**own)}
    kind, default = common.pop("kind", Joint if by in ("together", "input") else Plain), common.pop("default", None)
    limits = tuple(limit for _, limit in map(limit_of, common.pop("limits", ())))

    def made(function: Any, task: str, use: Use) -> Any:
        told = " ".join((function.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0].split())
        kept = re.fullmatch(r"Keeps (?P<keeps>.+?); may break (?P<may_break>.+)\.", told)
        fields_ = common | {
            "task": task,
            "name": name,
            "family": family,
            "summary": _summary(function, task if by in ("text", "sentence") else "", use),
            "unit": use.unit,
            "carry": use.carry,
            "question": use.question,
            "params": {**_thresholds(use.check), **(common.get("params") or {})},
            "limits": limits,
            "counterpart": name if len(tasks) > 1 else "",
            "default": next((said for said in (use.default, default) if said is not None), use.carry != nothing),
            **(kept.groupdict() if kept else {}),
        }
        if by == "source":
            return Chained(walk=function, expects=use.check, **fields_)
        if by in ("together", "input"):
            texts = use.texts if by == "together" else None
            return kind(rewrite=function, check=use.check, texts=texts, **fields_)
        perturb = Spread(name, function) if by == "sentence" else function
        return kind(perturb=perturb, check=use.check, texts=use.texts, changes=use.changes, **fields_)

    def keep(function: Function) -> Function:
        for task, use in tasks.items():
            register(made(function, task, use))
        return function

    return keep


def _summary(function: Callable[..., object], task: str, use: Use) -> str:
    """Return what changes, in which part of an input where the words do not say so, and what is expected."""
    what = (function.__doc__ or "").strip().splitlines()[0]
    if not use.expects:
        return what
    names = text_names(TASKS.get(task)) if task in TASKS else ()
    parts = [name for place, name in enumerate(names) if place in use.texts]
    changes_once = use.changes == "one" and len(parts) > 1
    where = parts if changes_once or 0 < len(parts) < len(names) else []
    what = what.rstrip(".")
    told = any(re.search(rf"\b{name}\b(?! mark)", what, re.IGNORECASE) for name in (*where, "second text"))
    part = "" if told or not where else ", in the " + f" {'or' if changes_once else 'and'} the ".join(where)
    return f"{what}{part}; {use.expects}."


def _thresholds(check: Any) -> dict[str, object]:
    """Return the number that a check compares with, which is a parameter of its relation."""
    return {"threshold": check.threshold} if is_dataclass(check) and hasattr(check, "threshold") else {}
