"""`audit run`: make metamorphic groups, execute the systems, check, store."""

import argparse
from collections.abc import Sequence
from functools import cache
from typing import Any

from audit.cli.executing import add_executor, executor_of, time_limit_of
from audit.cli.options import add_database, add_json, answer, chatter_to_stderr, fraction, language, names, whole


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("run", help="make and check metamorphic groups; the same command again goes on")
    add_database(parser)
    parser.add_argument("--task", default="sentiment", help="what the systems do (default: sentiment)")
    parser.add_argument(
        "--corpus",
        required=True,
        action="append",
        metavar="NAME|FILE",
        help="see `audit corpora`; or a CSV or JSONL, or as in paws-x:FILE, recorded:PATH; may be given several times",
    )
    parser.add_argument(
        "--systems",
        required=True,
        type=names,
        metavar="A,B",
        help="of `audit systems`, module:name, http:FILE.toml, recorded:PATH, seq2seq:MODEL",
    )
    parser.add_argument("--relations", type=names, metavar="MR1.1,...", help="default: all that fit the corpus")
    parser.add_argument("--limit", type=whole, metavar="N", help="only the N sources with the smallest random numbers")
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="of the random numbers (default: 0)")
    parser.add_argument("--unit", choices=("sentence", "document"), help="what a row of your file is")
    parser.add_argument("--language", type=language, help="of your file where it has no such column (default: en)")
    parser.add_argument(
        "--targets", type=names, default=[], metavar="es,fr", help="languages to translate into, for --task translation"
    )
    parser.add_argument(
        "--document-share",
        type=fraction,
        metavar="0.5",
        help="on documents, run sentence relations too, each perturbing this share of the sentences it applies to",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="MR6.1.sentences=5",
        help="a parameter of a relation; may be given several times",
    )
    add_executor(parser)
    parser.add_argument("--retry-errors", action="store_true", help="execute again, once, the inputs that failed")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.cli.progress import Bar
    from audit.corpora import get_corpus
    from audit.runner.run import fitting_all
    from audit.runner.run import run as run_study
    from audit.store import open_store
    from audit.store.engine import file_of
    from audit.tasks import get_task

    get_task(arguments.task)
    wanted = dict.fromkeys(toward(name, arguments.task, arguments.targets) for name in arguments.corpus)
    corpora = [get_corpus(name, arguments.task, arguments.unit, arguments.language) for name in wanted]
    chosen = fitting_all(corpora, arguments.relations, arguments.document_share, parameters(arguments.set))
    limit = time_limit_of(arguments)
    opened = cache(lambda: open_store(arguments.db, create=True))  # once, and only when the first run has been checked
    file = file_of(arguments.db)
    ran = []
    with chatter_to_stderr(), executor_of(arguments.workers, arguments.executor, arguments.dask_address) as executor:
        for corpus, relations in zip(corpora, chosen, strict=True):
            bar = Bar(corpus.name)
            try:
                ran.append(
                    run_study(
                        opened,
                        corpus,
                        arguments.systems,
                        relations,
                        executor,
                        seed=arguments.seed,
                        limit=arguments.limit,
                        watcher=bar,
                        retry_errors=arguments.retry_errors,
                        time_limit=limit,
                        first=file is not None and not file.exists(),
                    )
                )
            finally:
                bar.close()
    documents = [one.as_json() for one in ran]
    lines = [line for one, corpus in zip(ran, corpora, strict=True) for line in [*one.lines(), *of_gold(corpus)]]
    next_step = f"Next: audit sample --db {arguments.db} --per-relation 60"
    answer(arguments.json, documents if len(documents) > 1 else documents[0], [*lines, next_step])


def of_gold(corpus: Any) -> list[str]:
    """How many rows of a user's file have gold, and which of its columns are kept and not looked at otherwise."""
    from audit.corpora.files import FileCorpus

    if not isinstance(corpus, FileCorpus):
        return []
    rows, columns = list(corpus.rows()), dict.fromkeys(name for row in corpus.rows() for name in row.attributes)
    labelled = sum(row.gold is not None for row in rows)
    lines = [f"{labelled:,} of {len(rows):,} rows have a gold label."]
    if columns:
        lines.append(f"Columns kept as attributes, and not taken for gold: {', '.join(columns)}.")
    if 0 < labelled < len(rows):
        lines.append("To work with gold alone, draw with `audit sample --domain gold`.")
    return lines


def toward(corpus: str, task: str, targets: Sequence[str]) -> str:
    """The name of a corpus with the languages to translate it into. Raises AuditError for a task that has none.

    >>> toward("rotten-tomatoes", "translation", ["es", "fr"])
    'rotten-tomatoes@es,fr'
    """
    from audit.corpora.recordings import check_codes
    from audit.errors import AuditError

    if not targets:
        return corpus
    if task != "translation":
        raise AuditError(f"--targets {','.join(targets)} is for --task translation, not {task}; leave it out")
    check_codes(targets)
    return f"{corpus}@{','.join(targets)}"


def parameters(settings: Sequence[str]) -> dict[str, dict[str, object]]:
    """Parameters by relation, from `RELATION.NAME=VALUE`. Raises AuditError for another form.

    >>> parameters(["MR6.1.sentences=5"])
    {'MR6.1': {'sentences': 5}}
    """
    from audit.errors import AuditError
    from audit.files import Excessive, parse_json

    found: dict[str, dict[str, object]] = {}
    for setting in settings:
        target, equals, value = setting.partition("=")
        relation, dot, name = target.rpartition(".")
        if not (equals and dot and relation and name and value):
            raise AuditError(f"--set {setting!r}: expected RELATION.NAME=VALUE, for example MR6.1.sentences=5")
        try:
            found.setdefault(relation, {})[name] = parse_json(value)
        except Excessive as problem:
            raise AuditError(f"--set {target}={value[:40]}: {problem}") from None
        except ValueError:
            found.setdefault(relation, {})[name] = value
    return found
