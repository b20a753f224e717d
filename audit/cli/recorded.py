"""`audit recorded`: what a file of recorded translations holds, and what is wrong in it."""

import argparse
from typing import TYPE_CHECKING, Any

from audit.cli.options import add_json, answer, reads

if TYPE_CHECKING:
    from audit.corpora.recordings import Recording


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("recorded", help="what recorded translations there are in a file or folder")
    parser.add_argument("path", type=reads, metavar="PATH", help="a CSV, or a folder of them")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.corpora.recordings import read_recording

    recording = read_recording(arguments.path)
    document = described(recording)
    answer(arguments.json, document, _lines(recording, document))


def described(recording: "Recording") -> dict[str, Any]:
    """The answer of `--json`: systems with their pairs of languages, originals, problems."""
    return {
        "path": recording.path,
        "files": recording.files,
        "rows": recording.rows,
        "originals": len({(ask.source_language, ask.key) for ask in recording.originals}),
        "systems": [
            {
                "system": system,
                "version": recording.versions[system],
                "translations": len(recording.outputs[system]),
                "pairs": [
                    {"source_language": source, "target_language": target, "translations": count}
                    for (source, target), count in recording.pairs(system).items()
                ],
            }
            for system in recording.systems
        ],
        "problems": [
            {"problem": one.kind, "rows": one.rows, "first": one.first, "says": one.text}
            for one in recording.problems.values()
        ],
    }


def _lines(recording: "Recording", document: dict[str, Any]) -> list[str]:
    from audit.cli.listings import table

    rows = [
        {"system": one["system"], **{name.replace("_language", ""): value for name, value in pair.items()}}
        for one in document["systems"]
        for pair in one["pairs"]
    ]
    return [
        f"{recording.path}: {recording.rows:,} rows in {len(recording.files)} files, "
        f"{document['originals']:,} original texts",
        *table(rows),
        *(f"{one.text}, the first in {one.first}" for one in recording.problems.values()),
    ]
