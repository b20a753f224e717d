"""`audit known add|pick|list|remove`: questions whose answers are known, for training and hidden among the others."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, answer, language, numbers, reads, tell, whole

PURPOSE = "training (answered before judging, with feedback) or gold (hidden among the others)"


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("known", help="questions with known answers: for training, and hidden ones")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="add|pick|list|remove", parser_class=type(parser)
    )
    new = actions.add_parser("add", help="make texts of a file, or settled questions, known")
    new.add_argument(
        "file", nargs="?", type=reads, metavar="FILE", help="a CSV: text,answer and perhaps language,explanation"
    )
    new.add_argument("--questions", type=numbers, metavar="1,2", help="settled questions of the database instead")
    new.add_argument(
        "--explanation", default="", metavar="TEXT", help="of --questions: read after an answer in training"
    )
    new.add_argument("--purpose", required=True, metavar="NAME", help=PURPOSE)
    new.add_argument("--task", default="sentiment", metavar="NAME", help="of the file (default: sentiment)")
    new.add_argument("--language", type=language, default="en", metavar="CODE", help="of rows without one (en)")
    add_database(new)
    add_json(new)
    new.set_defaults(run=_add)
    pick = actions.add_parser("pick", help="make questions known that cost no sample anything, evenly by label")
    pick.add_argument("--purpose", required=True, metavar="NAME", help=PURPOSE)
    pick.add_argument("--count", type=whole, default=20, metavar="N", help="how many at most (default: 20)")
    pick.add_argument("--seed", type=whole, default=0, metavar="S", help="which of a label (default: 0)")
    add_database(pick)
    add_json(pick)
    pick.set_defaults(run=_pick)
    there = actions.add_parser("list", help="what is known")
    add_database(there)
    add_json(there)
    there.set_defaults(run=_list)
    gone = actions.add_parser("remove", help="make questions known no longer; what was judged stays")
    which = gone.add_mutually_exclusive_group(required=True)
    which.add_argument("--questions", type=numbers, metavar="1,2", help="numbers that `audit known list` shows")
    which.add_argument("--all", action="store_true", help="all of them")
    add_database(gone)
    gone.set_defaults(run=_remove)


def _add(arguments: argparse.Namespace) -> None:
    from audit.annotation.control_questions import add_known, add_settled_questions, read_known
    from audit.errors import AuditError
    from audit.store import open_store

    if (arguments.file is None) == (arguments.questions is None):
        raise AuditError("name a file of texts, or questions of the database with --questions; one of the two")
    engine = open_store(arguments.db)
    if arguments.file is None:
        added = add_settled_questions(engine, arguments.purpose, arguments.questions, arguments.explanation)
    else:
        items = read_known(arguments.file, arguments.task, arguments.language)
        added = add_known(engine, arguments.purpose, items, task=arguments.task)
    lines = [f"{added.added:,} questions became known, {added.changed:,} that were known changed.", _next(arguments)]
    answer(arguments.json, {"purpose": arguments.purpose, "added": added.added, "changed": added.changed}, lines)


def _pick(arguments: argparse.Namespace) -> None:
    from audit.annotation.control_questions import pick_known
    from audit.store import open_store

    picked = pick_known(open_store(arguments.db), arguments.purpose, arguments.count, arguments.seed)
    by_label = ", ".join(f"{number:,} {label}" for label, number in (picked.labels or {}).items())
    lines = [f"{picked.added:,} of {picked.candidates:,} questions outside all samples became known: {by_label}."]
    if picked.added < arguments.count:
        lines.append(f"{arguments.count:,} were asked for; there are no more.")
    answer(arguments.json, {"purpose": arguments.purpose, **asdict(picked)}, [*lines, _next(arguments)])


def _next(arguments: argparse.Namespace) -> str:
    name = "pass_mark=0.8" if arguments.purpose == "training" else "gold_share=0.05"
    return f"Next, where it is not done: audit settings --set {name} --db {arguments.db}"


def _list(arguments: argparse.Namespace) -> None:
    from audit.annotation.control_questions import known_questions
    from audit.cli.listings import table
    from audit.store import open_store

    rows = [
        {
            "question": one.id,
            "purpose": one.purpose,
            "task": one.task,
            "kind": one.kind,
            "answer": list(one.allowed),
            "judged": one.judged,
            "languages": list(one.languages),
            "text": one.texts[0],
            "more_texts": list(one.texts[1:]),
            "output": one.output,
            "explanation": one.explanation,
        }
        for one in known_questions(open_store(arguments.db))
    ]
    hidden = {"task", "explanation"} | {name for name in ("more_texts", "output") if not any(row[name] for row in rows)}
    shown = [{name: _short(one) for name, one in row.items() if name not in hidden} for row in rows]
    answer(arguments.json, rows, table(shown))


def _short(value: object) -> object:
    return " ".join(value.split())[:60] if isinstance(value, str) else value


def _remove(arguments: argparse.Namespace) -> None:
    from audit.annotation.control_questions import remove_known
    from audit.store import open_store

    number = remove_known(open_store(arguments.db), None if arguments.all else arguments.questions)
    tell(f"{number:,} questions are known no longer; what was judged of them stays.")
