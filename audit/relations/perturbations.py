"""Perturbations: changes of a text that are written once and are relations of several tasks.

A perturbation is a function of a text's analysis and a generator, as of any plain relation. `perturbation` registers it
for each of its tasks; a `Use` says what that task makes of it: which of an input's texts change, what is expected of
the outputs, and what truth is kept. `EVERY` has the usual use of each task of audit for what keeps a text's meaning.
One that has to see all texts of an input at once (a sentence that must not answer the question) is written with
`joint_perturbation`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

from audit.relations.base import (
    Carry,
    Check,
    CheckParams,
    Joint,
    Perturb,
    Plain,
    Rewrite,
    nothing,
    unchanged,
    where_same,
)
from audit.relations.expect import SimilarText, Spread, equivalent, plain_words, same_interval
from audit.relations.registry import register
from audit.relations.validity import limits_of_all
from audit.tasks import TASKS, text_names
from audit.tasks.question_answering import normalised

FIRST, SECOND, BOTH = (0,), (1,), (0, 1)
"""Which texts of an input: the premise or the hypothesis, the context or the question, either text of a pair."""
SIMILAR = 0.7
"""Similarity, 0 to 1, from which two summaries count as the same: about three words of ten may differ."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one task makes of a perturbation."""

    check: Check
    """What must hold between the outputs of source and follow-up. The threshold of a check that has one is a parameter
    of the relation."""
    expects: str
    """The same in words, for the end of the relation's summary: "the label stays"."""
    texts: tuple[int, ...] = FIRST
    changes: Literal["all", "one"] = "all"
    """As of `Plain`."""
    question: str | Mapping[str, str] = ""
    """As of `Relation`: what people are asked about a group, where it is not what follows from the check."""
    carry: Carry = unchanged
    unit: Literal["sentence", "document", "any"] = "any"
    default: bool | None = None
    """Whether a run takes it that names no relations; None: where it carries an answer."""


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
    """The usual use of these tasks, with some fields otherwise. A task that has none needs at least `check` and
    `expects`.

    >>> uses("inference", texts=SECOND)["inference"].texts
    (1,)
    >>> list(EVERY | uses("mood", check=equivalent, expects="the mood stays"))[-1]
    'mood'
    """
    return {task: replace(EVERY[task], **changes) if task in EVERY else Use(**changes) for task in tasks}


def perturbation(
    name: str,
    *,
    family: str,
    tasks: Mapping[str, Use] = EVERY,
    by: Literal["text", "sentence"] = "text",
    languages: tuple[str, ...] = ("en",),
    version: str = "1",
    params: Mapping[str, object] | None = None,
    check_params: CheckParams | None = None,
    needs: tuple[str, ...] = (),
    grammar: bool = False,
    default: bool | None = None,
    kind: type[Plain] = Plain,
    limits: Sequence[str] = (),
) -> Callable[[Perturb], Perturb]:
    """Register the decorated function of a text as a relation of each of these tasks, under one name.

    The first line of its docstring says what changes; each relation's summary adds in which text of an input, where
    that is not each of them and the line does not say so, and what its task expects. A second paragraph of the form
    "Keeps ...; may break ...." says what stays and what may not, for whoever chooses (`kept_and_broken`). `by` says
    what the function is given: a whole text, or, in a text of several, each sentence, of which all change that it
    applies to. `default` is that of each use which says nothing. `kind` is the class of the relations: one that asks a
    model or a program names it in its version. `limits` are what follow-ups must keep, as in `"replaced<=0.4"`. Raises
    AuditError where a task has a relation of this name.
    """

    def keep(perturb: Perturb) -> Perturb:
        keeps, may_break = kept_and_broken(perturb)
        for task, use in tasks.items():
            register(
                kind(
                    task=task,
                    name=name,
                    family=family,
                    summary=_summary(perturb, use, _where(task, use)),
                    unit=use.unit,
                    perturb=Spread(name, perturb) if by == "sentence" else perturb,
                    check=use.check,
                    carry=use.carry,
                    texts=use.texts,
                    changes=use.changes,
                    languages=languages,
                    version=version,
                    params={**_thresholds(use.check), **(params or {})},
                    check_params=check_params,
                    needs=needs,
                    grammar=grammar,
                    counterpart=name if len(tasks) > 1 else "",
                    default=_is_default(use, default),
                    keeps=keeps,
                    may_break=may_break,
                    question=use.question,
                    limits=limits_of_all(limits),
                )
            )
        return perturb

    return keep


def joint_perturbation(
    name: str,
    *,
    family: str,
    tasks: Mapping[str, Use],
    languages: tuple[str, ...] = ("en",),
    version: str = "1",
    needs: tuple[str, ...] = (),
    grammar: bool = False,
    default: bool | None = None,
) -> Callable[[Rewrite], Rewrite]:
    """As `perturbation`, for a function of the analyses of all texts of an input and a generator.

    It returns `Rewritten` texts, as many as there were, or None; which ones change is its own affair, so a use's
    `texts` and `changes` say nothing here.
    """

    def keep(rewrite: Rewrite) -> Rewrite:
        keeps, may_break = kept_and_broken(rewrite)
        for task, use in tasks.items():
            register(
                Joint(
                    task=task,
                    name=name,
                    family=family,
                    summary=_summary(rewrite, use),
                    unit=use.unit,
                    rewrite=rewrite,
                    check=use.check,
                    carry=use.carry,
                    languages=languages,
                    version=version,
                    params=_thresholds(use.check),
                    needs=needs,
                    grammar=grammar,
                    counterpart=name if len(tasks) > 1 else "",
                    default=_is_default(use, default),
                    keeps=keeps,
                    may_break=may_break,
                    question=use.question,
                )
            )
        return rewrite

    return keep


def _is_default(use: Use, default: bool | None) -> bool:
    """What the use says, else the perturbation, else whether an answer is carried."""
    said = use.default if use.default is not None else default
    return said if said is not None else use.carry != nothing


def _summary(function: Callable[..., object], use: Use, where: Sequence[str] = ()) -> str:
    """What changes, in which part of an input where that is not all of it and the words do not say so, and what is
    expected. `where` are the names of the part, joined by "or" or "and"."""
    what = (function.__doc__ or "").strip().splitlines()[0].rstrip(".")
    told = any(re.search(rf"\b{name}\b(?! mark)", what, re.IGNORECASE) for name in (*where[1:], "second text"))
    part = "" if told or not where else ", in the " + f" {where[0]} the ".join(where[1:])
    return f"{what}{part}; {use.expects}."


_KEEPS = re.compile(r"Keeps (?P<keeps>.+?); may break (?P<may_break>.+)\.")


def kept_and_broken(function: Callable[..., object]) -> tuple[str, str]:
    """What stays of a text that a perturbation changes, and what may break: the second paragraph of its docstring, of
    the form "Keeps ...; may break ....". Both empty where that says something else.

    >>> from audit.packs.english.style import title_case
    >>> kept_and_broken(title_case)
    ('what is said', 'labels of style, and which words are names')
    """
    _, *paragraphs = (function.__doc__ or "").split("\n\n")
    said = _KEEPS.fullmatch(" ".join(paragraphs[0].split())) if paragraphs else None
    return (said["keeps"], said["may_break"]) if said else ("", "")


def _where(task: str, use: Use) -> tuple[str, ...]:
    """How the names of the texts that change are joined, "or" for one of them, and the names as the task has them;
    empty where all change, or the task names none."""
    names = text_names(TASKS.get(task)) if task in TASKS else ()
    parts = [name for place, name in enumerate(names) if place in use.texts]
    one = use.changes == "one" and len(parts) > 1
    return ("or" if one else "and", *parts) if one or 0 < len(parts) < len(names) else ()


def _thresholds(check: Any) -> dict[str, object]:
    """The numbers that a check compares with, which are parameters of its relation."""
    names = [field.name for field in fields(check) if field.name == "threshold"] if is_dataclass(check) else []
    return {name: getattr(check, name) for name in names}
