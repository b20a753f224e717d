"""The search for violations of one system."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, say, table
from audit.cli.options import (
    DATABASE,
    INSPECT,
    Database,
    Names,
    command,
    listed,
    text,
    written_to,
)
from audit.errors import AuditError
from audit.runner.options import CorpusOptions, SearchOptions

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
    db: Database = DATABASE,
    out: Annotated[
        str | None, written_to("what was found, as CSV, or as JSONL (which audit export --search reads)", "FILE")
    ] = None,
    read: CorpusOptions = CorpusOptions(),
    options: SearchOptions = SearchOptions(),
) -> Reply:
    """Tries relations, and relations on top of each other, on each source until the system violates one, with as few
    words changed as can be. What is found was searched for, not drawn: no rate comes from it. Outputs are stored; run
    the same command again to resume, and nothing is asked for twice.
    """
    from audit.new_files import kind_of_rows
    from audit.relations.registry import with_lines
    from audit.runner.executors import executor_of
    from audit.runner.progress import Bar
    from audit.runner.search import search as search_corpus
    from audit.runner.search import searchable
    from audit.runner.studies import Later

    if len(systems) != 1:
        raise AuditError(f"--systems {','.join(systems)}: search one system at a time")
    if out is not None:
        kind_of_rows(out)
    source = read.corpus(corpus)
    options = replace(options, parameters=with_lines(source.task, options.parameters))
    relations = searchable(source, options)
    with chatter_to_stderr(), executor_of(options) as executor, Bar(source.name, say=say) as bar:
        result = search_corpus(Later(db), source, systems[0], relations, executor, options, bar)
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
