"""The report as plain text for a terminal: no colours, at most 100 columns."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from audit.messages import ENGLISH, phrase
from audit.reports import words
from audit.reports.build import Report, cells_of
from audit.reports.document import RelationResultEntry, ViolationTable
from audit.reports.first_page import HEADLINES, summary_lines
from audit.reports.judges import label_tables, own_line, part_lines
from audit.reports.tables import aligned, cut_to, headed, left, right, wide
from audit.reports.words import UNKNOWN, field_text

WIDTH = 100
NARROWEST = 70


@dataclass(frozen=True)
class Column:
    """A column of a table of cells, which has its heading in `[short]`, and whether it may go where room is short.

    One of `counts` or a `rare` one is shown only where some cell has a value.
    """

    code: str
    counts: bool = False
    optional: bool = False
    rare: bool = False

    def text(self, cell: Mapping[str, Any], language: str) -> str:
        """The field of one cell; a dash for no inapplicable or rejected groups."""
        none = self.code in ("inapplicable", "rejected") and not cell.get(self.code)
        return UNKNOWN if none else field_text(cell, self.code, language)


COLUMNS = (
    Column("groups", counts=True, optional=True),
    Column("satisfied", counts=True, optional=True),
    Column("judged", counts=True),
    Column("false", counts=True),
    Column("waiting", counts=True, optional=True),
    Column("inapplicable", counts=True),
    Column("rejected", counts=True),
    Column("sr_observed"),
    Column("fs_rate"),
    Column("sr_genuine"),
)


SHORT = {
    "take": "counts",
    "contradicted": "differing",
    "share_differ": "differ",
    "disagreement": "disagree",
    "vr_first": "VR_1",
    "vr_mean": "VR_m",
    "vr_by_chance": "VR_r",
    "always_violated": "always",
    "waiting": "waits",
    "inapplicable": "n/a",
    "rejected": "rej.",
    "sr_observed": "SR_o",
    "fs_rate": "R_FS",
    "sr_genuine": "SR_g",
    "clusters": "n",
    "inside": "in",
    "outside": "out",
    "difference": "diff.",
    "vr_observed": "VR_o",
    "vr_genuine": "VR_g",
    "one_minus_vr_o": "1 - VR_o",
    "one_minus_vr_g": "1 - VR_g",
}
"""Headings of columns, where they are not what the column is called."""


def first_lines(report: Report, width: int | None = None) -> str:
    """Return what a report begins with: which system to use, how sure that is, what is false, and what to do next.

    A sentence a line, in lines of at most `width` columns.
    """
    text = _Text(report, max(width or WIDTH, NARROWEST))
    rest = ["All tables, notes and the signature: the same command with --full."] if report["cells"] else []
    return "\n".join(text.wrapped([*summary_lines(report, ENGLISH), *rest]))


def to_terminal(report: Report, width: int | None = None) -> str:
    """Return the whole report as text: the first lines, a table per relation, totals, notes, and the signature last.

    `width` is the number of columns to stay within (default 100, at least 70): names that do not fit are cut, counts
    that do not fit are left out. The signature stays on one line, however long, so that it can be copied.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> print(to_terminal(build_report(pd.DataFrame([]), {"audit": "0.1.0"})))
    0 cells: nothing was checked yet.
    <BLANKLINE>
    signature audit:0.1.0
    """
    return _Text(report, max(width or WIDTH, NARROWEST)).whole()


class _Text:
    """A report on its way to text of a width."""

    def __init__(self, report: Report, width: int):
        self.report, self.width, self.language = report, width, ENGLISH
        self.say = partial(phrase, ENGLISH)

    def whole(self) -> str:
        report, language = self.report, self.language
        sections = (
            [words.dispute_line(report, language)],
            words.preference_lines(report, language),
            words.plan_lines(report, language),
        )
        tables = (
            self.relations, self.roll_ups, self.violations, self.slices, self.worst, self.accuracy, self.repeats,
            self.causes, self.judges,
        )  # fmt: skip
        blocks = ["\n".join(self.wrapped(summary_lines(report, language)))]
        blocks += [block for table in tables for block in table()]
        blocks += ["\n".join(lines) for section in sections if (lines := self.wrapped(section, ""))]
        sentences = [
            *(f"{number} {rest}" for number, rest in words.headlines(report, language)[HEADLINES:]),
            *(f"Note: {note}" for note in words.notes_of(report, language)),
            *([self.legend()] if report["cells"] else []),
        ]
        blocks += ["\n".join(self.wrapped(sentences))] if sentences else []
        blocks.append(f"signature {words.signature_line(report['signature'])}")
        return "\n\n".join(blocks)

    def wrapped(self, sentences: Iterable[str], further: str = "  ", less: int = 0) -> list[str]:
        """Lines of at most the width; `further` begins those after a sentence's first, `less` is room to leave."""
        return [line for sentence in sentences for line in wrap(sentence, self.width - less, further)]

    def fitting_columns(self) -> tuple[list[Column], list[int], int]:
        """The columns that there is room for, their widths, and the width of systems' names."""
        cells, language = self.report["cells"], self.language
        # Totals that are rates only have no counts: a column of dashes would say nothing.
        columns = [
            column
            for column in COLUMNS
            if not (column.counts or column.rare) or any(column.text(cell, language) != UNKNOWN for cell in cells)
        ]
        widest = max((wide(cell["system"]) for cell in cells), default=0)
        while True:
            widths = [
                max(wide(text) for text in (self.short(column.code), *(column.text(cell, language) for cell in cells)))
                for column in columns
            ]
            room = self.width - 2 - sum(widths) - 2 * len(columns)
            # Counts go first, from the left; then rates, from the right.
            droppable = [column for column in columns if column.optional and column.counts]
            droppable += [column for column in reversed(columns) if column.optional and not column.counts]
            if room >= min(max(widest, wide(self.short("system"))), 16) or not droppable:
                return columns, widths, max(min(widest, room), wide(self.short("system")))
            columns.remove(droppable[0])

    def short(self, code: str) -> str:
        return SHORT.get(code, code)

    def relations(self) -> list[str]:
        """One block for each relation, all with the same columns."""
        columns, widths, names = self.fitting_columns()
        blocks, above = [], None
        for relation in self.report["relations"]:
            lines = []
            place = words.place(self.report, relation, self.language)
            if place != above:
                above = place
                lines += headed(place)
            summary = words.summary_of(self.report, relation, self.language)
            lines.append(cut_to(f"{relation['relation']}  {summary}" if summary else relation["relation"], self.width))
            rows = [(self.short("system"), [self.short(column.code) for column in columns])]
            rows += [
                (cell["system"], [column.text(cell, self.language) for column in columns])
                for cell in cells_of(self.report, relation["task"], relation["study"], relation["relation"])
            ]
            for system, texts in rows:
                row = "  ".join(right(text, size) for text, size in zip(texts, widths, strict=True))
                lines.append(f"  {left(cut_to(system, names), names)}  {row}".rstrip())
            blocks.append("\n".join([*lines, *self.orders(relation)]))
        return blocks

    def orders(self, relation: RelationResultEntry) -> list[str]:
        """The best system and the order, before and after, with what changed in words."""
        best, change = words.best_text(relation, self.language), words.change_text(relation, self.language)
        evident = words.change_code(relation) in ("unknown", "looks", "sure")
        ranking = words.ranking_text(relation["ranking"], self.language)
        observed, genuine = (words.order_text(relation, when) for when in ("observed", "genuine"))
        sentences = [
            self.say("order.was_is", before=observed, after=genuine) if relation["order_changes"] else "",
            self.say("order.sure", ranking=ranking) if ranking else "",
            words.common_text(relation, self.language),
            words.carry_text(relation, self.language),
        ]
        first = self.say("best.best" if evident else "best.best_change", best=best, change=change)
        lines = [*self.wrapped([first], "", 2), *self.wrapped(filter(None, sentences), less=2)]
        return [f"  {line}" for line in lines]

    def roll_ups(self) -> list[str]:
        """One table of all roll-ups that have an observed rate."""
        rows = [row[:-1] for row in words.rollup_rows(self.report, self.language) if row[2] != UNKNOWN]
        if not rows:
            return []
        heads = [self.short(code) for code in ("by", "name", "sr_observed", "fs_rate", "sr_genuine")]
        return ["\n".join([*headed("All together"), *aligned(heads, rows, 2, self.width)])]

    def violations(self) -> list[str]:
        """A block a table of violation rates; systems that do not fit beside each other stand below."""
        blocks = [
            self.violation_table(table)
            for table in self.report["violations"]
            if any(rates["vr_observed"] is not None for row in table["rows"] for rates in row["rates"])
        ]
        if blocks:
            blocks[-1] += "\n" + "\n".join(self.wrapped([words.rates_key(self.report, self.language)], ""))
        return blocks

    def violation_table(self, table: ViolationTable) -> str:
        """Rows of relations, families and totals; as many systems side by side as fit."""
        lines = headed(words.title_of(self.report, table, "violations.title", self.language))
        names = [words.row_name(row, self.language) for row in table["rows"]]
        first = min(max(map(wide, names)), max(self.width // 3, 12))
        columns = [
            [cut_to(system, 22), *(words.rates_text(row["rates"][at], self.language) for row in table["rows"])]
            for at, system in enumerate(table["systems"])
        ]
        while columns:
            fitting = 1
            sizes = [max(map(wide, column)) for column in columns]
            while fitting < len(columns) and 2 + first + sum(2 + size for size in sizes[: fitting + 1]) <= self.width:
                fitting += 1
            above = None
            for line, head in enumerate(["", *names]):
                kind = table["rows"][line - 1]["by"] if line else None
                if kind is not None and above is not None and kind != above and kind != "estimated":
                    lines.append("")
                above = kind
                cells = "  ".join(
                    right(column[line], size) for column, size in zip(columns[:fitting], sizes[:fitting], strict=True)
                )
                lines.append(f"  {left(cut_to(head, first), first)}  {cells}".rstrip())
            columns = columns[fitting:]
            if columns:
                lines.append("")
        return "\n".join(lines)

    def slices(self) -> list[str]:
        """A table of rates for each way to divide the sources, with who is best where."""
        blocks = []
        for entry in self.report.get("slices") or []:
            by = words.property_name(entry["by"], self.language)
            lines = headed(words.title_of(self.report, entry, "slices.title", self.language, property=by))
            if not entry["reason"]:
                lines += self.table(words.SLICE_COLUMNS, words.slice_rows(entry, self.language), 2)
            blocks.append("\n".join([*lines, *self.wrapped(words.slice_lines(entry, self.language))]))
        if key := words.slices_key(self.report, self.language):
            blocks[-1] += "\n" + "\n".join(self.wrapped([key], ""))
        return blocks

    def worst(self) -> list[str]:
        """The slices in which relations are broken most."""
        sentences = words.worst_lines(self.report, self.language)
        if not sentences:
            return []
        lines, rows = headed(self.say("slices.worst")), words.worst_rows(self.report, self.language)
        lines += self.table(words.WORST_COLUMNS, rows, 3) if rows else []
        return ["\n".join([*lines, *self.wrapped(sentences)])]

    def accuracy(self) -> list[str]:
        blocks = []
        for entry in words.shown_accuracy(self.report):
            lines = headed(words.title_of(self.report, entry, "accuracy.title", self.language))
            if entry["systems"]:
                lines += self.table(words.ACCURACY_COLUMNS, words.accuracy_rows(entry, self.language), 1)
            blocks.append("\n".join([*lines, *self.wrapped(words.accuracy_lines(entry, self.language))]))
        return blocks

    def repeats(self) -> list[str]:
        """Contradictions on the same input, and verdicts by call: two tables a study."""
        blocks = []
        for entry in self.report.get("repeats") or []:
            title = words.title_of(self.report, entry, "repeats.title", self.language)
            lines = [*headed(title), *self.table(words.REPEATED_COLUMNS, words.repeated_rows(entry, self.language), 2)]
            lines += self.wrapped(words.repeat_lines(entry, self.language))
            if rows := words.by_call_rows(entry, self.language):
                lines += ["", *self.table(words.BY_CALL_COLUMNS, rows, 2)]
            blocks.append("\n".join([*lines, *self.wrapped(words.by_call_lines(entry, self.language))]))
        return blocks

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> list[str]:
        return aligned([self.short(code) for code in columns], rows, texts, self.width)

    def causes(self) -> list[str]:
        """Causes of false satisfactions: one entry a relation, system, and over all."""
        rows = words.cause_rows(self.report, self.language)
        if not rows:
            return []
        sentences = [f"{by} {name} ({named}): {causes}" for by, name, named, causes in rows]
        lines = [*headed(self.say("causes.title")), *(f"  {line}" for line in self.wrapped(sentences, less=2))]
        return ["\n".join([*lines, *self.wrapped([words.cause_note(self.report, self.language)], "")])]

    def judges(self) -> list[str]:
        """Models that judge: each against people, gold and itself."""
        entries = self.report.get("judges") or []
        if not entries:
            return []
        lines = headed(self.say("judges.title"))
        for entry in entries:
            sentences = [line for part in entry["tasks"] for line in part_lines(part, self.language)]
            own = own_line(entry, self.language)
            lines += [f"{entry['name']}@{entry['version']}", *self.wrapped([*([own] if own else []), *sentences])]
            for part in entry["tasks"]:
                for heads, rows in label_tables(part, self.language):
                    lines += aligned(heads, rows, 1, self.width)
        return ["\n".join([*lines, *self.wrapped([self.say("judges.note_apart")], "")])]

    def legend(self) -> str:
        """What the columns and signs of this report mean."""
        report = self.report
        shown = {column.code for column in self.fitting_columns()[0]}
        intervals = any(cell["fs_low"] is not None for cell in report["cells"])
        about = "the population of this corpus"
        if report["signature"].get("target") != "population":
            about = "these satisfied groups"
        carried = any(relation["carry"] and relation["carry"]["audited"] for relation in report["relations"])
        ranked = any(words.by_rank(relation["ranking"]) for relation in report["relations"])
        said = (
            (
                True,
                "Rates are in per cent. SR_o: observed satisfaction rate. R_FS: share of the satisfied groups that are "
                "false. SR_g = SR_o (1 - R_FS): genuine satisfaction rate. waits: questions without an answer.",
            ),
            ("inapplicable" in shown, "n/a: groups to which the relation does not apply for this system."),
            (
                "rejected" in shown,
                "rej.: groups with a follow-up that breaks a limit of its relation; in no rate.",
            ),
            (intervals, f"In brackets: {words.confidence_of(report)} % intervals for {about}."),
            (intervals, words.estimator_text(report, self.language)),
            (carried, "R_FS ±: at most so much it may be off through carried answers, beside its interval."),
            (
                ranked,
                "Ranks and chances to be best: rank interval, letters (systems that share one are not told apart at "
                "5 %) and P(best).",
            ),
        )
        return words.listed((one for applies, one in said if applies and one), self.language, "sentence")


def wrap(text: str, width: int, further: str = "") -> list[str]:
    """Lines of at most so many columns.

    >>> wrap("one two", 5)
    ['one', 'two']
    """
    return textwrap.wrap(text, width, subsequent_indent=further)
