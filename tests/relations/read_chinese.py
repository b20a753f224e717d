"""Print random source and follow-up pairs of a Chinese relation, for reading. Not a test: a script.

    python tests/relations/read_chinese.py MR1.3 sentences.txt titles.txt --n 50 --seed 3

A file has one text a line; the pairs come from all files alike. Where a pair is long, only what is around a change is
printed. The last lines say which share of the texts that were tried made a group, by file.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.errors import AuditError
from audit.relations import Source, get_relation
from audit.relations.base import Rewriting
from audit.tasks import Input
from audit.text import Analysis

AROUND = 28
"""Characters that are printed on either side of a change."""
TASKS = {"1": "similarity", "2": "summarization", "3": "classification"}


def shown(old: str, new: str) -> str:
    """The source with its changes as {old|new}, without what is far from any of them.

    >>> shown("他去了法国。", "他去了德国。")
    '他去了{法|德}国。'
    """
    from difflib import SequenceMatcher

    parts: list[str] = []
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for number, (kind, start, end, other, last) in enumerate(changes):
        piece = old[start:end]
        if kind != "equal":
            parts.append(f"{{{piece}|{new[other:last]}}}")
        elif len(piece) > 2 * AROUND + 3:
            left, right = piece[:AROUND] if number else "", piece[-AROUND:] if number < len(changes) - 1 else ""
            parts.append(f"{left}...{right}")
        else:
            parts.append(piece)
    return "".join(parts)


def pairs(relation: Rewriting, file: Path, seed: int, pool: int) -> tuple[list[tuple[str, str, object]], int]:
    """(source, follow-up, words) of `pool` random lines of a file where they make a group, and how many were tried."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    chosen = random.Random(f"{file.name} {relation.name} {seed}").sample(lines, min(pool, len(lines)))
    result = []
    for line in chosen:
        source = Source(Input((line,), ("zh",)), Analysis(line, "zh"), f"{seed} {line}")
        follow_ups, words = relation.make_group(source)
        result += [(line, follow_up.text, words) for follow_up in follow_ups]
    return result, len(chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("relation")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--n", type=int, default=50, help="pairs to print")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool", type=int, default=2000, help="lines to try per file")
    options = parser.parse_args(arguments)
    try:
        relation = get_relation(TASKS[options.relation[-1]], options.relation)
        if not isinstance(relation, Rewriting):
            raise AuditError(f"{relation.name} does not rewrite texts; read it with read_followups.py")
        number = 0
        for place, file in enumerate(options.files):
            groups, tried = pairs(relation, file, options.seed, options.pool)
            wanted = options.n // len(options.files) + (place < options.n % len(options.files))
            for old, new, words in groups[:wanted]:
                number += 1
                print(f"{number:3} {words}\n    {shown(old, new)}")
            print(f"== {relation.name} {file.name}: {len(groups)}/{tried} texts make a group")
    except (AuditError, OSError, KeyError) as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
