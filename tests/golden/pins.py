"""What differs from the pins: `python tests/golden/pins.py [NAME ...]`, and with `--update` they are written anew.

A pin is a number, an order, a follow-up or a row as it was when it was last said to be right. A change on purpose
updates it in a commit of its own that says why. Without names all pins are compared but the slow ones (`--slow`).
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audited import SLOW, WORLDS, Absent, Pinned, digest, exported_rows, groups_of, relations_of, sources_of, version_of
from texts import MOST

FOLDER = Path(__file__).parent / "pins"
LANGUAGES = {"follow-ups-en": "en", "follow-ups-zh": "zh"}
ROWS = "rows"
NAMES = (*WORLDS, ROWS, *LANGUAGES)
QUICK = 16
"""Texts whose follow-ups the default tests compare, of all registers."""


# Worlds and rows: a name and what is known of it a line.


def pinned(name: str) -> Pinned:
    """A pinned world, or the pinned rows; empty where there is no pin."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def now(name: str) -> Pinned:
    """The same as audit has it now. Raises Absent."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = (WORLDS | {ROWS: exported_rows})[name](Path(folder))
    return json.loads(json.dumps(made))


def write(name: str, content: Pinned) -> None:
    """Pin it."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(content[key], ensure_ascii=False)}" for key in sorted(content))
    (FOLDER / f"{name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """A line for each value that is another one, gone, or new."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            where = f"{place}: {key}" if place else key
            if key not in after:
                yield f"{where}: gone, was {json.dumps(before[key], ensure_ascii=False)}"
            elif key not in before:
                yield f"{where}: new, {json.dumps(after[key], ensure_ascii=False)}"
            else:
                yield from differences(before[key], after[key], where)
    elif before != after:
        yield f"{place}: was {json.dumps(before, ensure_ascii=False)}, is {json.dumps(after, ensure_ascii=False)}"


# Follow-ups: a relation a line; in it of each text `.` (no group), or a hash of its members and the verdict's letter.

NONE = "."


Pins = dict[str, tuple[str, list[str]]]
"""By relation, its version with those of the tools that it asks, and what is pinned of each text."""


def pinned_follow_ups(name: str) -> Pins:
    """What is pinned of a language; empty where nothing is."""
    path = FOLDER / f"{name}.txt"
    rows = (line.split("\t") for line in (path.read_text(encoding="utf-8").splitlines() if path.exists() else []))
    return {relation: (version, re.findall(r"\.|[0-9a-f]{5}[a-z]", marks)) for relation, version, _, marks in rows}


def write_follow_ups(name: str, pins: Pins) -> None:
    """Pin them, with the number of texts that a relation applies to."""
    lines = (
        f"{relation}\t{version}\t{sum(mark != NONE for mark in marks)}\t{''.join(marks)}\n"
        for relation, (version, marks) in sorted(pins.items())
    )
    (FOLDER / f"{name}.txt").write_text("".join(lines), encoding="utf-8")


@dataclass
class Compared:
    """The follow-ups of a relation beside their pins."""

    relation: str
    state: str = "there"
    """`there`, `new` (without a pin), `gone` (without a relation), or why it cannot be told here."""
    version: str = ""
    marks: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)
    """What differs, with the text and what is made of it now."""

    def lines(self, most: int) -> str:
        counts = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        left = [f"  ... and {len(self.changed) - most} more"] if len(self.changed) > most else []
        return "\n".join([f"{self.relation}: {counts if self.changed else self.state}", *self.changed[:most], *left])


def compare_follow_ups(name: str, number: int = MOST, only: str = "") -> Iterator[Compared]:
    """Each relation of a language, or those whose names hold `only`, on the first texts."""
    language, pins = LANGUAGES[name], pinned_follow_ups(name)
    relations = relations_of(language)
    for key in sorted(pins.keys() | relations.keys()):
        if only not in key:
            continue
        compared = Compared(key, "gone" if key not in relations else "there" if key in pins else "new")
        if compared.state != "gone":
            try:
                _compare(compared, relations[key], language, number, *pins.get(key, ("", [])))
            except Absent as reason:
                compared = Compared(key, f"not compared: {reason}")
        yield compared


def _compare(
    compared: Compared, relation: Any, language: str, number: int, before_version: str, pins: list[str]
) -> None:
    compared.version = version_of(relation, language)
    tools, tools_before = (version.partition("; ")[2] for version in (compared.version, before_version))
    if pins and tools != tools_before:
        compared.state, pins = f"not compared: pinned with {tools_before or 'no tool'}, here is {tools or 'none'}", []
    sources = sources_of(relation.task, language, number)
    groups = groups_of(relation, list(sources.values()))
    for place, ((name, source), group) in enumerate(zip(sources.items(), groups, strict=True)):
        mark = NONE if group is None else digest(group[0], 5) + group[1][0]
        compared.marks.append(mark)
        if place >= len(pins):
            continue
        before = pins[place]
        if mark == before:
            what = "identical" if mark != NONE else "without"
        elif NONE in (mark, before):
            what = "applies no longer" if mark == NONE else "applies newly"
        else:
            what = "another verdict" if mark[:-1] == before[:-1] else "another follow-up"
        compared.counts[what] += 1
        if mark != before:
            members = [] if group is None else [*group[0], ("verdict", group[1])]
            said = [("source", " ‖ ".join(source.input.texts)), *members]
            compared.changed.append("\n".join([f"  {name}: {what}", *(f"      {role}: {text}" for role, text in said)]))


# The command


def main(arguments: list[str] | None = None) -> int:
    """Print what differs; 1 where anything does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all that are quick")
    parser.add_argument("--update", action="store_true", help="write the pins as they are now")
    parser.add_argument("--slow", action="store_true", help="those that take minutes, too")
    parser.add_argument("--texts", type=int, default=MOST, help=f"of how many texts follow-ups are compared ({MOST})")
    parser.add_argument("--relation", default="", help="follow-ups of relations whose `task name` holds this")
    parser.add_argument(
        "--most", type=int, default=5, help="differences shown of a relation (5), and ten times as many of a world"
    )
    chosen = parser.parse_args(arguments)
    if unknown := sorted(set(chosen.names) - set(NAMES)):
        parser.error(f"there is no pin {unknown[0]}; there are {', '.join(NAMES)}")
    if chosen.update and (chosen.texts != MOST or chosen.relation):
        parser.error("--update takes all texts and relations; leave --texts and --relation out")
    names = chosen.names or [name for name in NAMES if chosen.slow or name not in SLOW]
    differ = 0
    for name in names:
        began = time.perf_counter()
        print(f"{name} ...", flush=True)
        try:
            number = (_follow_ups if name in LANGUAGES else _world)(name, chosen)
        except Absent as reason:
            print(f"  skipped: {reason}")
            continue
        differ += number
        print(f"{name}: {number or 'nothing'} differs ({time.perf_counter() - began:.0f} s)", flush=True)
    return 1 if differ and not chosen.update else 0


def _world(name: str, chosen: argparse.Namespace) -> int:
    is_now = now(name)
    lines = list(differences(pinned(name), is_now))
    print("".join(f"  {line}\n" for line in lines[: 10 * chosen.most]), end="")
    if chosen.update:
        write(name, is_now)
    return len(lines)


def _follow_ups(name: str, chosen: argparse.Namespace) -> int:
    pins, totals, made, differ = pinned_follow_ups(name), Counter[str](), {}, 0
    for compared in compare_follow_ups(name, chosen.texts, chosen.relation):
        totals.update(compared.counts)
        differ += len(compared.changed) + (compared.state in ("new", "gone"))
        if compared.changed or compared.state != "there":
            print(compared.lines(chosen.most), flush=True)
        if compared.marks:
            made[compared.relation] = (compared.version, compared.marks)
        elif compared.state != "gone" and compared.relation in pins:  # it is absent here, and its pin stays
            made[compared.relation] = pins[compared.relation]
    print(f"{name}: {dict(totals)}")
    if chosen.update:
        write_follow_ups(name, made)
    return differ


if __name__ == "__main__":
    sys.exit(main())
