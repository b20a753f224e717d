"""The report as plain text for a terminal: no colours, at most 100 columns."""

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.reports.build import Report, cells_of
from audit.reports.document import RelationResultEntry
from audit.reports.plan_texts import plan_lines, primary_lines
from audit.reports.tables import table_blocks
from audit.reports.words import (
    TITLE,
    UNKNOWN,
    best_text,
    carry_text,
    cause_note,
    cause_rows,
    change_text,
    check_lines,
    common_text,
    count,
    dispute_line,
    estimator_text,
    headlines,
    holds_text,
    notes_of,
    order_text,
    percent,
    place,
    preference_lines,
    protocol_lines,
    ranking_text,
    rollup_rows,
    signature_line,
    summary_of,
    with_interval,
)

WIDTH = 100
NARROWEST = 70


@dataclass(frozen=True)
class Column:
    """A column of numbers: its heading, its text for one cell, and whether it may go where there is little room.

    One of `counts` or a `rare` one is shown only where some cell has a value.
    """

    heading: str
    text: Callable[[Mapping[str, Any]], str]
    counts: bool = False
    optional: bool = False
    rare: bool = False


def _count_column(name: str, heading: str | None = None, optional: bool = False) -> Column:
    return Column(heading or name, lambda cell: count(cell[name]), counts=True, optional=optional)


COLUMNS = (
    _count_column("groups", optional=True),
    _count_column("satisfied", optional=True),
    _count_column("judged"),
    _count_column("false"),
    _count_column("waiting", "waits", optional=True),
    Column("n/a", lambda cell: count(cell["inapplicable"] or None), counts=True),
    Column("SR_o", lambda cell: percent(cell["sr_observed"])),
    Column("R_FS", lambda cell: with_interval(cell, "fs_rate", "fs_low", "fs_high")),
    Column("SR_g", lambda cell: with_interval(cell, "sr_genuine", "sr_genuine_low", "sr_genuine_high")),
    Column(
        "SR_c",
        lambda cell: with_interval(cell, "sr_corrected", "sr_corrected_low", "sr_corrected_high"),
        optional=True,
        rare=True,
    ),
    Column(
        "FV",
        lambda cell: with_interval(
            cell, "false_violation_rate", "false_violation_rate_low", "false_violation_rate_high"
        ),
        optional=True,
        rare=True,
    ),
    Column(
        "checked R_FS",
        lambda cell: with_interval(cell, "fs_checked", "fs_checked_low", "fs_checked_high"),
        counts=True,
        optional=True,
    ),
)


def to_terminal(report: Report, width: int | None = None) -> str:
    """The report as text: a table per relation, who was and who is best, totals, notes, and the signature last.

    `width` is the number of columns to stay within (default 100, at least 70): names that do not fit are cut, counts
    that do not fit are left out, and so are false violations and SR_c. The signature stays on one line, however long,
    so that it can be copied.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> print(to_terminal(build_report(pd.DataFrame([]), {"audit": "0.1.0"})))
    0 cells: nothing was checked yet.
    <BLANKLINE>
    signature audit:0.1.0
    """
    width = max(width or WIDTH, NARROWEST)
    blocks = [*_tables(report, width), *_roll_ups(report, width), *table_blocks(report, width)]
    if causes := cause_rows(report):
        blocks.append("\n".join(_causes(report, causes, width)))
    disputes = [dispute_line(report)]
    for sentences in (
        check_lines(report), protocol_lines(report), disputes, preference_lines(report), plan_lines(report),
    ):  # fmt: skip
        wrapped = [line for text in sentences for line in textwrap.wrap(text, width)]
        if wrapped:
            blocks.append("\n".join(wrapped))
    lines = []
    for number, sentence in headlines(report):
        lines += textwrap.wrap(f"{number} {sentence}", width, subsequent_indent="  ")
    for text in primary_lines(report):
        lines += textwrap.wrap(text, width, subsequent_indent="  ")
    for note in notes_of(report):
        lines += textwrap.wrap(f"Note: {note}", width, subsequent_indent="  ")
    if report["cells"]:
        lines += textwrap.wrap(_legend(report, width), width, subsequent_indent="  ")
    blocks.append("\n".join(lines))
    blocks.append("signature " + signature_line(report["signature"]))
    return "\n\n".join(blocks)


def _fitting_columns(report: Report, width: int) -> tuple[list[Column], list[int], int]:
    """The columns that there is room for, their widths, and the width of systems' names."""
    # Totals that are rates only have no counts: a column of dashes would say nothing.
    columns = [
        column
        for column in COLUMNS
        if not (column.counts or column.rare) or any(column.text(cell) != UNKNOWN for cell in report["cells"])
    ]
    widest = max((len(cell["system"]) for cell in report["cells"]), default=0)
    while True:
        widths = [
            max(len(text) for text in (column.heading, *(column.text(cell) for cell in report["cells"])))
            for column in columns
        ]
        room = width - 2 - sum(widths) - 2 * len(columns)
        # Counts go first, from the left; then rates, from the right.
        droppable = [column for column in columns if column.optional and column.counts]
        droppable += [column for column in reversed(columns) if column.optional and not column.counts]
        if room >= min(max(widest, len("system")), 16) or not droppable:
            break
        columns.remove(droppable[0])
    return columns, widths, max(min(widest, room), 6)


def _tables(report: Report, width: int) -> list[str]:
    """One block for each relation, all with the same columns."""
    columns, widths, names = _fitting_columns(report, width)
    blocks, above = [], None
    for relation in report["relations"]:
        lines = []
        if place(report, relation) != above:
            above = place(report, relation)
            lines += [above, "=" * len(above), ""]
        summary = summary_of(report, relation)
        heading = f"{relation['relation']}  {summary}" if summary else relation["relation"]
        lines.append(_cut(heading, width))
        head = "  ".join(column.heading.rjust(size) for column, size in zip(columns, widths, strict=True))
        lines.append(f"  {'system'.ljust(names)}  {head}")
        for cell in cells_of(report, relation["task"], relation["study"], relation["relation"]):
            row = "  ".join(column.text(cell).rjust(size) for column, size in zip(columns, widths, strict=True))
            lines.append(f"  {_cut(cell['system'], names).ljust(names)}  {row}")
        lines += _orders(relation, width)
        blocks.append("\n".join(line.rstrip() for line in lines))
    return blocks


def _orders(relation: RelationResultEntry, width: int) -> list[str]:
    """The best system and the order, before and after, with what changed in words."""
    best, change = best_text(relation), change_text(relation)
    evident = {"not known yet", "another system looks best", "another system is best, for sure"}
    lines = textwrap.wrap(f"best: {best}" if change in evident else f"best: {best} ({change})", width - 2)
    if relation["order_changes"]:
        observed, genuine = (order_text(relation, when) for when in ("observed", "genuine"))
        lines += textwrap.wrap(f"order was {observed}; is {genuine}", width - 2, subsequent_indent="  ")
    if relation["order_corrected"]:
        order = order_text(relation, "corrected")
        lines += textwrap.wrap(f"order where the relation holds {order}", width - 2, subsequent_indent="  ")
    for text in (
        f"sure: {ranking_text(relation['ranking'])}",
        common_text(relation),
        holds_text(relation),
        carry_text(relation),
    ):
        if text and text != "sure: ":
            lines += textwrap.wrap(text, width - 2, subsequent_indent="  ")
    return [f"  {line}" for line in lines]


def _roll_ups(report: Report, width: int) -> list[str]:
    """One table of all roll-ups that have an observed rate."""
    rows = [row[:-1] for row in rollup_rows(report) if row[2] != UNKNOWN]
    if not rows:
        return []
    heads = ("SR_o", "R_FS", "SR_g")
    sizes = [max(len(row[2 + at]) for row in [*rows, ("", "", *heads)]) for at in range(3)]
    room = width - 2 - 10 - sum(sizes) - 2 * len(sizes)
    names = min(room, max(len(row[1]) for row in rows))
    lines = ["All together", "============", ""]
    for by, name, *numbers in [("by", "name", *heads), *rows]:
        texts = "  ".join(number.rjust(size) for number, size in zip(numbers, sizes, strict=True))
        lines.append(f"  {by.ljust(10)}{_cut(name, names).ljust(names)}  {texts}".rstrip())
    return ["\n".join(lines)]


def _causes(report: Report, rows: list[tuple[str, str, str, str]], width: int) -> list[str]:
    """Causes of false satisfactions: one entry a relation, system, and over all."""
    lines = [TITLE, "=" * len(TITLE), ""]
    for by, name, with_cause, causes in rows:
        lines += textwrap.wrap(f"{by} {name} ({with_cause}): {causes}", width - 2, subsequent_indent="  ")
    lines = [line if at < 3 else f"  {line}" for at, line in enumerate(lines)]
    return [*lines, *textwrap.wrap(cause_note(report), width)]


def _legend(report: Report, width: int) -> str:
    text = (
        "Rates are in per cent. SR_o: observed satisfaction rate. R_FS: share of the satisfied groups that are false. "
        "SR_g = SR_o (1 - R_FS): genuine satisfaction rate. waits: questions without an answer."
    )
    headings = {column.heading for column in _fitting_columns(report, width)[0]}
    if "n/a" in headings:
        text += " n/a: groups to which the relation does not apply for this system."
    if "SR_c" in headings:
        text += " SR_c: genuine satisfactions among all groups in which the relation holds."
    if "FV" in headings:
        text += " FV: false violations, the share of the violated groups in which the relation does not hold."
    if any(cell["fs_low"] is not None for cell in report["cells"]):
        confidence = report["signature"].get("confidence") or 0.95
        population = report["signature"].get("target") == "population"
        about = "the population of this corpus" if population else "these satisfied groups"
        text += f" In brackets: {percent(confidence, 0)} % intervals for {about}."
        text += f" {estimator_text(report)}".rstrip()
    if any(cell["fs_checked"] is not None for cell in report["cells"]):
        text += " checked R_FS: corrected by what spot checks show of the protocol's errors."
    if any(relation["carry"] and relation["carry"]["audited"] for relation in report["relations"]):
        text += " R_FS ±: at most so much it may be off through carried answers, beside its interval."
    if any(entry["p_best"] is not None for relation in report["relations"] for entry in relation["ranking"]):
        text += " sure: rank interval, letters (systems that share one are not told apart at 5 %) and P(best)."
    return text


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
