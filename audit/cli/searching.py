"""The search for violations of one system."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any, Literal

from audit.cli.console import Reply, chatter_to_stderr, say, table
from audit.cli.options import (
    DATABASE,
    INSPECT,
    NONE,
    Database,
    Names,
    Workers,
    chosen,
    command,
    decimal,
    language_code,
    listed,
    open_database,
    text,
    whole_number,
    written_to,
)
from audit.cli.running import parameters, reading_of
from audit.errors import AuditError

SHOWN = 10
"""Violations that the command lists,"""
LONGEST = 80
"""and characters that it shows of a text."""


@command(
    "search",
    INSPECT,
    "the strongest violation of one system, source by source",
    "audit search --corpus reviews.csv --systems vader --relations MR1.1,MR1.4,MR3.1 --budget 30 --db search.db",
    "audit search --corpus pairs.csv --task inference --systems mine:classify --budget 50 --method beam --out f.jsonl",
)
def search(
    corpus: Annotated[str, text("as of audit run", "NAME|FILE")],
    systems: Annotated[Names, listed("the one to search, as of audit run", "NAME")],
    budget: Annotated[int, whole_number("inputs that the system is asked about for each source, at most", "CALLS")],
    relations: Annotated[
        Names | None, listed("to combine, as of audit relations (default: the task's default ones)", "MR1.1,typos,...")
    ] = None,
    depth: Annotated[int, whole_number("relations one after the other, at most", "N")] = 2,
    method: Annotated[
        Literal["greedy", "beam"], chosen("go on from the best candidate, greedy, or from several, beam")
    ] = "greedy",
    width: Annotated[int, whole_number("with --method beam: candidates to go on from", "N")] = 4,
    draws: Annotated[int, whole_number("random choices of each relation that are tried", "N")] = 3,
    max_changed: Annotated[float, decimal("share of words that may change, at most", "0.3")] = 1.0,
    limit: Annotated[int | None, whole_number("the N sources with the smallest random numbers", "N")] = None,
    seed: Annotated[int, whole_number("of those random numbers and of the relations' choices", "S")] = 0,
    db: Database = DATABASE,
    task: Annotated[str | None, text("as of audit run", "TASK")] = None,
    unit: Annotated[Literal["sentence", "document"] | None, chosen("what a row of your file is")] = None,
    language: Annotated[str | None, language_code("of your file, where it has no such column", "LANGUAGE")] = None,
    columns: Annotated[Names, listed("of your file, ours=theirs", "text=review,...")] = NONE,
    labels: Annotated[Names, listed("of your file: its gold label=ours", "pos=positive,...")] = NONE,
    changes: Annotated[list[str], text("a parameter of a relation", "MR6.1.sentences=5", "--set")] = NONE,
    valid: Annotated[list[str], text("a limit on candidates, as of audit run; repeatable", '"replaced<=0.4"')] = NONE,
    workers: Workers = None,
    max_calls: Annotated[
        int | None, whole_number("stop before more requests than this go to other machines, over all sources", "N")
    ] = None,
    max_cost: Annotated[
        float | None, decimal("stop before more is spent than this, by the price in the system's file", "X")
    ] = None,
    out: Annotated[
        str | None, written_to("what was found, as CSV, or as JSONL (which audit export --search reads)", "FILE")
    ] = None,
) -> Reply:
    """Tries relations, and relations on top of each other, on each source until the system violates one, with as few
    words changed as can be. What is found was searched for, not drawn: no rate comes from it. Outputs are stored; the
    same search again goes on and asks for nothing twice.
    """
    from audit.corpora import get_corpus
    from audit.new_files import kind_of_rows
    from audit.relations import Fixed
    from audit.relations.registry import with_lines
    from audit.runner.budget import Budget
    from audit.runner.executors import executor_of
    from audit.runner.progress import Bar
    from audit.runner.run import check_limits_used, fitting
    from audit.runner.search import SearchRequest
    from audit.runner.search import search as search_corpus
    from audit.store.engine import file_of

    if len(systems) != 1:
        raise AuditError(f"--systems {','.join(systems)}: search one system at a time")
    if out is not None:
        kind_of_rows(out)
    source = get_corpus(corpus, task, unit, language, reading_of(columns, labels))
    chosen_relations = fitting(source, relations, None, with_lines(source.task, parameters(changes)), valid)
    if relations is None:
        chosen_relations = [relation for relation in chosen_relations if isinstance(relation, Fixed)]
    check_limits_used(valid, [relation.name for relation in chosen_relations])
    file = file_of(db)
    with chatter_to_stderr(), executor_of(workers) as executor, Bar(source.name, say=say) as bar:
        result = search_corpus(
            lambda: open_database(db, create=True),
            source,
            systems[0],
            chosen_relations,
            executor,
            SearchRequest(budget=budget, depth=depth, method=method, width=width, draws=draws, max_changed=max_changed),
            seed=seed,
            limit=limit,
            watcher=bar,
            first=file is not None and not file.exists(),
            budget=Budget(max_calls, max_cost),
        )
    if out is not None:
        result.write(out)
    return Reply(result.as_json(), lines_of(result), 3 if result.stopped else 0)


def lines_of(result: Any) -> list[str]:
    """How many sources have a violation, the strongest, and that no rate comes from this."""
    from audit.messages import counted

    document = result.as_json()
    lines = [
        f"{result.system} on {result.corpus}: a violation of {document['violated']:,} of "
        f"{counted(document['searched'], 'source')} that were searched to the end"
        + (f", after {document['median_calls_to_violation']:g} inputs (median)." if result.violated else "."),
        f"{counted(result.executed, 'input')} executed, {counted(result.stored, 'output')} stored already.",
    ]
    for outcome, said in (("no_follow_up", "no relation applies to"), ("error", "the system has no output for")):
        if number := sum(one.outcome == outcome for one in result.found):
            lines.append(f"{said[0].upper()}{said[1:]} {counted(number, 'source')}.")
    if result.not_composed:
        lines.append(f"Left out, since nothing that can be checked follows: {', '.join(result.not_composed)}.")
    rows = [
        {
            "relation": one.violation.relation,
            "changed": f"{one.violation.changed:.0%}",
            "fall": f"{one.violation.fall:+.2f}",
            "calls": one.calls,
            "row": one.row,
            "output": f"{_short(label_of(one.output))} → {_short(label_of(one.violation.outputs[-1]))}",
            "change": _short(change(one.source.texts, one.violation.follow_ups[-1].texts)),
        }
        for one in result.violated[:SHOWN]
    ]
    if len(result.violated) > SHOWN:
        lines.append(
            f"The {SHOWN} strongest of {len(result.violated):,} follow; `--out FILE.csv` or .jsonl writes them all."
        )
    lines += table(rows) if rows else []
    if result.stopped:
        lines.append(
            f"{result.stopped}; {counted(document['left'], 'source')} left; the same search again goes on from there."
        )
    return [*lines, document["note"]]


def label_of(output: Any) -> str:
    """What a system said: a label or a text."""
    return str(output.label or output.text)


def change(before: Sequence[str], after: Sequence[str]) -> str:
    """What became of texts, in words.

    >>> change(["It is a good film."], ["It is a goof film. Really."])
    'good → goof; → Really.'
    """
    changes = []
    for old, new in zip(before, after, strict=True):
        words = old.split(), new.split()
        for kind, first, last, start, end in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            if kind != "equal":
                changes.append(f"{' '.join(words[0][first:last])} → {' '.join(words[1][start:end])}".strip())
    return "; ".join(changes)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
