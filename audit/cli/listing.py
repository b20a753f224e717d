"""What there is to run: tasks, relations, systems and corpora; and what a system says of a few texts."""

from collections.abc import Sequence
from typing import Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, one_by_one, table
from audit.cli.options import DATA, command
from audit.errors import AuditError, UnknownName
from audit.keys import canonical
from audit.options import Told
from audit.runner.options import TIME_LIMIT, CorpusOptions

OfTask = Annotated[str | None, Told("only for this task", "TASK")]


def _check_task(task: str | None) -> None:
    from audit.tasks import get_task

    if task is not None:
        get_task(task)


@command("tasks", DATA, "audit tasks")
def tasks() -> Reply:
    """The tasks there are, with their labels.

    `texts` is how many texts an input has; `asks` whether people are asked about an input, or about an output beside
    it. Classification has your own labels: `classification/refund,late`, or with `+` where a text may have several."""
    from audit.tasks import TASKS

    rows = [
        {"task": task.name, "texts": task.texts, "asks": task.question_kind, "labels": list(task.labels)}
        for task in TASKS.values()
    ]
    return Reply(rows, table([row | {"labels": row["labels"] or f"yours: {row['task']}/A,B"} for row in rows]))


@command("relations", DATA, "audit relations --task sentiment --language en", "audit relations typos --task sentiment")
def relations(
    name: Annotated[str | None, Told("this one alone, with all that is known of it", "NAME", argument=True)] = None,
    task: OfTask = None,
    language: Annotated[str | None, Told("only those that read this language", "CODE")] = None,
) -> Reply:
    """The relations there are.

    `carries`: of which answers about a source it is known what is right of the follow-ups; `default`: that a run takes
    it which names no relations. What stands in brackets can be changed with `audit run --set`."""
    from audit.relations import all_relations
    from audit.relations.registry import find_relation
    from audit.tasks import TASKS

    _check_task(task)
    shown_relations = all_relations(task)
    if name is not None:
        shown_relations = [
            candidate for of in ([task] if task else sorted(TASKS)) if (candidate := find_relation(of, name))
        ]
        if not shown_relations:
            raise UnknownName("relation", name, sorted({relation.name for relation in all_relations(task)}))
    shown_relations = [candidate for candidate in shown_relations if language is None or candidate.speaks(language)]
    if not shown_relations:
        raise AuditError(f"no relation reads {language!r}; leave it out to see them all", parameter="language")
    rows = [_row_of(relation) for relation in shown_relations]
    if name is not None:
        return Reply(rows, one_by_one(rows))
    shown = [dict(row) for row in rows]
    for row, relation in zip(shown, shown_relations, strict=True):
        if settings := ", ".join(f"{name}={canonical(value)}" for name, value in relation.params.items()):
            row["summary"] += f" ({settings})"
    return Reply(rows, table(shown, "relation", "task", "family", "unit", "languages", "default", "carries", "summary"))


def _row_of(relation: Any) -> dict[str, Any]:
    from audit.tasks import get_task

    carry = relation.carry
    own = {name: getattr(relation, name) for name in ("task", "family", "unit", "languages", "default")}
    own |= {"preserves_truth": carry.preserves_truth, "carries": carry.reach(get_task(relation.task).labels)}
    own |= {name: getattr(relation, name) for name in ("summary", "keeps", "may_break")}
    return {"relation": relation.name} | own | {"languages": list(relation.languages)}


@command("systems", DATA, "audit systems", "audit systems --pairs")
def systems(task: OfTask = None, pairs: Annotated[bool, Told("pairs of languages of translators")] = False) -> Reply:
    """The systems there are.

    `needs` is the line that installs what is missing. Below stand the ways to name one of your own."""
    from audit.systems import listing, pair_listing, ways

    _check_task(task)
    rows = pair_listing(task) if pairs else listing(task)
    return Reply(rows, table(rows) if pairs else [*table(rows), "", f"or one of your own: {', '.join(ways())}"])


@command("corpora", DATA, "audit corpora")
def corpora(task: OfTask = None) -> Reply:
    """The corpora there are.

    `size` counts rows. `task` is the task with its label scheme, where it has one. Below stand the ways to name a file
    of yours."""
    from audit.corpora import listing
    from audit.registry import corpora

    _check_task(task)
    rows, files = listing(task), [f"{entry.name}:{entry.argument}" for entry in corpora.entries() if entry.argument]
    return Reply(rows, [*table(rows), "", f"or a file of yours: a table (CSV ...), {', '.join(sorted(files))}"])


@command("check", DATA, "audit check vader", "audit check http:service.toml --corpus rotten-tomatoes --json")
def check(
    system: Annotated[str, Told("as in audit run --systems", "SYSTEM", argument=True)],
    texts: Annotated[Sequence[str], Told("to ask about; of a task on pairs every two are one", "TEXT", "--text")] = (),
    corpus: Annotated[str | None, Told("ask about its first three sources instead", "NAME|FILE")] = None,
    time_limit: Annotated[float, Told("that it may take to load, and for an input", "SECONDS")] = TIME_LIMIT,
    read: CorpusOptions = CorpusOptions(),
) -> Reply:
    """Ask a system a few inputs: what it says, how long, what cost.

    Nothing is stored. Where it answers none, the exit status is 2."""
    from audit.runner.trials import check_system, refuse_absent

    _check_task(read.task)
    source = read.corpus(corpus) if corpus else None
    with chatter_to_stderr():
        check = check_system(system, texts=texts, corpus=source, task=read.task, limit=time_limit)
    refuse_absent(check)
    document = check.as_json()
    about = {name: value for name, value in document.items() if name != "answers"}
    shown = [{**answer, "languages": None} for answer in document["answers"]]
    return Reply(document, [*table(shown), "", *one_by_one([about])])
