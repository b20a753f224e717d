"""The report as one HTML file that needs nothing else: styles and charts are in it, scripts are not."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import Any

import audit
from audit.messages import ENGLISH, phrase
from audit.reports import charts, first_page, words
from audit.reports.build import Report, cells_of
from audit.reports.charts import to_svg
from audit.reports.document import RelationResultEntry
from audit.reports.judges import label_tables, own_line, part_lines
from audit.reports.validity_study import validity_tables
from audit.reports.words import heading_of, with_interval
from audit.resources import data_file

TEMPLATE = "report.html.j2"
UPRIGHT, ACROSS, NAME_LETTERS = 105, 180, 18
"""Letters of a table's type that a printed page holds side by side, upright and across; and those of a name, which
breaks where it is longer, that a column has room for."""
COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "rejected", "judged", "false", "waiting")
"""Columns of the table of cells, as far as the report knows them."""
HTML_LANGUAGES = {"zh": "zh-Hans"}
"""Language of the catalogue -> code for browsers, where they differ."""
RANKING = ("system", "ranks", "p_best")
HEADERS = ("relation", "system", "name", "slice", "row")
"""Columns whose fields are headers of their rows."""
TEXTS = {
    **dict.fromkeys(("system", "name", "slice", "row", "better", "other"), "name"),
    **dict.fromkeys(("order_observed", "order_genuine"), "order"),
    **dict.fromkeys(("by", "study"), ""),
    "relation": "relation",
    "take": "",
    "rate": "",
    "change": "mark-cell",
    **dict.fromkeys(("causes", "reason"), "why"),
}
"""Columns of text, and their style; all others hold numbers."""
_RATES = re.compile(r"\b(SR|VR|R)_(FS|[ogc1mr])\b")
_EMPHASIS = re.compile(r"\*(.+?)\*")
_CODE = re.compile(r"`(.+?)`")
_ENDS = re.compile(r"\[[^\]]+\]")


# Charts and templates as parts of an HTML page.


@cache
def template(name: str) -> Any:
    """A template of data/; every text that is put into it is escaped, and one that it does not get is a mistake."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["rich"] = rich
    environment.filters["breakable"] = breakable
    return environment.from_string(data_file(name).read_text(encoding="utf-8"))


def rich(text: str) -> Any:
    """A text of the catalogue as markup: `SR_o` with its index below, words in stars emphasised, code in backticks.

    >>> rich("*genuine* rate SR_g < 1")
    Markup('<em>genuine</em> rate SR<sub>g</sub> &lt; 1')
    """
    from markupsafe import Markup, escape

    # Safe: the text is escaped before any mark is put into it.
    marked = _EMPHASIS.sub(r"<em>\1</em>", _CODE.sub(r"<code>\1</code>", str(escape(text))))
    return Markup(_RATES.sub(r"\1<sub>\2</sub>", marked))


def breakable(text: object) -> Any:
    """A number of a table as markup that may break before its interval and nowhere within it.

    >>> breakable("3.1 [2.0–4.2]")
    Markup('3.1 <span class="ends">[2.0–4.2]</span>')
    """
    from markupsafe import Markup, escape

    # Safe: the text is escaped before any mark is put into it.
    return Markup(_ENDS.sub(r'<span class="ends">\g<0></span>', str(escape(text))))


def inline(chart: Any, label: str) -> Any:
    """The chart as an `<svg>` element that names itself to screen readers, takes the page's colours and can shrink.

    None where there is no chart.
    """
    from markupsafe import Markup, escape

    if chart is None:
        return None
    svg = to_svg(chart)
    opening = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]*)">', svg)
    if opening is None:
        raise ValueError("the chart engine's SVG does not begin as expected; was vl-convert-python updated?")
    width, height, box = opening.groups()
    # As one image with one description; the parts' own labels would be read out as a jumble of numbers.
    head = (
        f'<svg class="chart" role="img" aria-label="{escape(label)}" width="{width}" height="{height}" viewBox="{box}">'
    )
    body = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg[opening.end() :])
    # Safe: the chart engine escapes every text, and the label is escaped above.
    return Markup(head + body)


def to_html(report: Report, language: str = ENGLISH, opened: bool = False) -> str:
    """The report as a self-contained HTML document: no scripts, no requests, light and dark, printable.

    Behind its first page the evidence is folded; with `opened` it is not.

    Every text is escaped by the template engine, in charts by the chart engine. The charts' colours are mapped to
    style variables, so that they follow the reader's colour scheme. The same report gives the same document.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> to_html(build_report(pd.DataFrame([]), {})).startswith("<!doctype html>")
    True
    """
    document: str = template(TEMPLATE).render(_Page(report, language, opened).content() | {"opened": opened})
    return document


Row = Sequence[Any] | dict[str, Any]


def _on_paper(table: dict[str, Any], opened: bool) -> dict[str, Any]:
    """Whether a table needs a page across (`broad`), and its `parts`: of a table that is `opened`, and even so too wide
    for a page, several with some of its columns each, the headers of the rows in all of them."""
    columns, rows = table["columns"], [row["texts"] for group in table["groups"] for row in group]
    widths = [_columns_of(column, [str(row[at]) for row in rows if at < len(row)]) for at, column in enumerate(columns)]
    kept = max(1, next((at for at, column in enumerate(columns) if not column["header"]), len(columns)))
    broad = sum(widths) > UPRIGHT
    chosen: list[list[int]] = [[]]
    for at in range(kept, len(columns)):
        if opened and chosen[-1] and sum(widths[:kept]) + sum(widths[i] for i in [*chosen[-1], at]) > ACROSS:
            chosen.append([])
        chosen[-1].append(at)
    if len(chosen) == 1:
        return {"broad": broad, "parts": [table]}
    return {"broad": broad, "parts": [_with_columns(table, [*range(kept), *some]) for some in chosen]}


def _columns_of(column: dict[str, Any], fields: Sequence[str]) -> int:
    """Letters that a column needs at least, its margin with them: in print numbers wrap before their intervals."""
    most = NAME_LETTERS if column["style"] in ("name", "order") else ACROSS
    return 2 + max(min(_longest(column["title"]), NAME_LETTERS), *(min(_longest(field), most) for field in fields), 0)


def _longest(text: str) -> int:
    """Letters of the longest word of a text; those of Chinese are twice as wide, and break anywhere.

    >>> _longest("R_FS [1.0–2.0]"), _longest("问题")
    (9, 2)
    """
    return max((len(word) for word in re.split(r"\s", re.sub(r"[\u2e80-\uffff]", " .. ", text))), default=0)


def _with_columns(table: dict[str, Any], places: Sequence[int]) -> dict[str, Any]:
    """The table with some of its columns."""
    groups = [
        [row | {"texts": [row["texts"][at] for at in places]} for row in group if len(row["texts"]) > max(places)]
        for group in table["groups"]
    ]
    return table | {"columns": [table["columns"][at] for at in places], "groups": groups}


class _Page:
    """What the template puts into a page, in a language."""

    def __init__(self, report: Report, language: str, opened: bool = False):
        self.report, self.language, self.opened = report, language, opened
        self.say = partial(phrase, language)
        self.confidence = words.confidence_of(report)
        self.intervals = any(cell["fs_low"] is not None for cell in report["cells"])

    def content(self) -> dict[str, Any]:
        report, language = self.report, self.language
        causes = words.cause_rows(report, language)
        preference = words.preference_lines(report, language)
        return {
            "t": self.say,
            "lang": HTML_LANGUAGES.get(language, language),
            "version": audit.__version__,
            "light": charts.LIGHT,
            "dark": charts.DARK,
            "colours": ("ink", "muted", "line", "paper", "observed", "genuine", "false"),
            "headlines": first_page.facts(report, language),
            "notes": words.notes_of(report, language),
            "first_notes": first_page.FIRST_NOTES,
            "lists": {
                "primary": words.primary_lines(report, language),
                "plans": words.plan_lines(report, language),
            },
            "confidence": self.confidence,
            "intervals": self.intervals,
            "bounds": any(entry.get("sr_least") is not None for entry in (*report["cells"], *report["rollups"])),
            "sections": self.sections(),
            "estimator": words.estimator_text(report, language),
            "checks": [],
            "checked": "",
            "causes": causes and self.table(self.say("causes.region"), ("by", "name", "named", "causes"), [causes]),
            "cause_note": words.cause_note(report, language),
            "disputes": words.dispute_line(report, language),
            "how": words.how_text(report, language) if report["cells"] else "",
            "delta": words.capital(words.delta_text(report["signature"].get("delta") or 0.0, language)),
            "violations": self.violations(),
            "tasks": inline(
                charts.bars_chart(charts.task_groups(report, language), longest=40, language=language),
                self.say("violations.tasks_alt"),
            ),
            "slices": self.slices(),
            "slices_key": words.slices_key(report, language),
            "worst": self.worst(),
            "accuracies": self.accuracies(),
            "judges": self.judges(),
            "repeats": self.repeats(),
            "validity": self.validity(),
            "preference": preference,
            "scores": preference and inline(charts.scores_chart(report["preference"]["ranking"]), " ".join(preference)),
            "decisions": self.decisions(),
            "basis": first_page.basis_line(report, language),
            "families": inline(charts.family_chart(report, language=language), self.say("decision.families_alt")),
            "examples": self.examples(),
            "rollups": self.rollups(),
            "rollup_charts": self.rollup_charts(),
            "reading": words.listed(self.reading(), language, "sentence"),
            "line": words.signature_line(report["signature"]),
            "signature": json.dumps(report["signature"], indent=2, ensure_ascii=False, default=str),
        }

    def decisions(self) -> list[dict[str, Any]]:
        """The first page: a part a task."""
        report, language = self.report, self.language
        parts = []
        for entry in report["decisions"]:
            changes = [rich(line) for line in first_page.change_lines(report, entry, language)]
            certainty = [first_page.accuracy_line(entry, language), *first_page.certainty_lines(entry, language)]
            chart = charts.scores_chart(entry["ranking"], width=300) or charts.rollup_chart(
                report, "system", width=300, language=language
            )
            parts.append(
                {
                    "about": first_page.titled(report, entry, language),
                    "verdict": first_page.verdict(entry, language),
                    "certainty": words.listed(filter(None, certainty), language, "sentence"),
                    "changes": changes,
                    "next": list(first_page.next_lines(report, entry, language)),
                    "chart": inline(chart, words.listed(changes, language, "sentence")),
                }
            )
        return parts

    def examples(self) -> list[dict[str, Any]]:
        """False satisfactions to read."""
        return [
            {
                "title": f"{entry['relation']} · {entry['system']}",
                "row": self.say("browse.row_named", row=entry["row"]),
                "cause": first_page.cause_of(entry, self.language),
                "members": first_page.example_parts(entry, self.language),
            }
            for entry in self.report.get("examples") or []
        ]

    def table(
        self,
        label: str,
        columns: Sequence[str],
        groups: Iterable[Sequence[Row]],
        spans: bool = False,
        titles: Sequence[str] = (),
        style: str = "",
    ) -> dict[str, Any]:
        """A table for the template: `columns` are codes of `[column]`, `groups` the rows of each body, as text.

        With `spans` the first field of a group stands beside all its rows. `titles` are those of further columns of
        numbers, which the catalogue does not know. A row is its texts, an entry of the report, or `texts` with a
        `style`.
        """
        heads = [(code, heading_of(code, self.language)) for code in columns]
        table = {
            "label": label,
            "style": style,
            "columns": [
                {
                    "title": title,
                    "style": TEXTS.get(code, "n") + (" long" if _longest(title) > NAME_LETTERS else ""),
                    "header": code in HEADERS,
                }
                for code, title in [*heads, *(("", title) for title in titles)]
            ],
            "groups": [
                [self.row(row, columns) if isinstance(row, dict) else {"texts": row, "style": ""} for row in group]
                for group in groups
            ],
            "spans": spans,
        }
        return table | _on_paper(table, self.opened)

    def row(self, row: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        if "texts" in row:
            return row
        return {"texts": [words.field_text(row, column, self.language) for column in columns], "style": ""}

    def sections(self) -> list[dict[str, Any]]:
        """One section a study: its heat map, and its relations with orders, chart, pairs and cells."""
        studies: dict[tuple[str, int | str | None], list[RelationResultEntry]] = {}
        for relation in self.report["relations"]:
            studies.setdefault((relation["task"], relation["study"]), []).append(relation)
        return [self.section(*study, relations) for study, relations in studies.items()]

    def section(self, task: str, study: int | str | None, relations: Sequence[RelationResultEntry]) -> dict[str, Any]:
        title = words.place(self.report, relations[0], self.language)
        pairs = [rows for relation in relations if (rows := self.pairs(relation))]
        heat_map = charts.false_chart(self.report, task, study, language=self.language)
        return {
            "title": title,
            "heat_map": inline(heat_map, self.say("chart.false_alt")),
            "orders": self.orders(title, relations),
            "cards": [self.card(relation) for relation in relations],
            "cells": self.cells(title, relations),
            "pairs": pairs
            and self.table(
                self.say("html.pairs_region", title=title),
                ("relation", "better", "other", "points", "p_holm", "judged_of_deciding"),
                pairs,
                spans=True,
                style="pairs",
            ),
        }

    def orders(self, title: str, relations: Sequence[RelationResultEntry]) -> dict[str, Any]:
        kinds = ("observed", "genuine")
        rows = [
            {
                "style": "changed" if relation["best_changes_sure"] else "",
                "texts": (
                    relation["relation"],
                    *(words.order_text(relation, kind) for kind in kinds),
                    words.change_text(relation, self.language),
                ),
            }
            for relation in relations
        ]
        columns = ("relation", *(f"order_{kind}" for kind in kinds), "change")
        return self.table(self.say("html.orders_region", title=title), columns, [rows])

    def cells_of(self, relation: RelationResultEntry) -> Sequence[Any]:
        return cells_of(self.report, relation["task"], relation["study"], relation["relation"])

    def cells(self, title: str, relations: Sequence[RelationResultEntry]) -> dict[str, Any]:
        counts = [name for name in COUNTS if any(cell.get(name) is not None for cell in self.report["cells"])]
        rates = ("sr_observed", "fs_rate", "sr_genuine", "vr_genuine")
        groups = [self.cells_of(relation) for relation in relations]
        label = self.say("html.cells_region", title=title)
        return self.table(label, ("relation", "system", *counts, *rates), groups, spans=True, style="cells")

    def card(self, relation: RelationResultEntry) -> dict[str, Any]:
        """One relation: its charts, its ranking, and what is to be said of it."""
        name, ranking = relation["relation"], words.ranking_rows(relation["ranking"])
        ranking_label = self.say("html.ranking", relation=name)
        sentences = (
            words.capital(words.common_text(relation, self.language)),
            words.pairs_text(relation["pairs"], self.language),
            words.carry_text(relation, self.language),
        )
        rates = charts.rates_chart(self.report, relation, language=self.language)
        # Where the order stays, the lines would be parallel and say nothing.
        slopes = charts.order_chart(relation, language=self.language) if relation["order_changes"] else None
        return {
            "name": name,
            "summary": words.summary_of(self.report, relation, self.language),
            "change": words.change_text(relation, self.language),
            "changed": relation["best_changes_sure"],
            "best": words.best_text(relation, self.language),
            "ranking": ranking and self.table(ranking_label, RANKING, [ranking], style="ranking"),
            "sentences": [sentence for sentence in sentences if sentence],
            "chart": inline(rates, charts.rates_in_words(self.report, relation, self.language)),
            "slopes": inline(slopes, charts.order_in_words(relation, self.language)),
        }

    def pairs(self, relation: RelationResultEntry) -> list[Any]:
        """The pairs of a relation whose difference is known, as rows of text."""
        return [
            {
                "style": "apart" if pair["apart"] else "",
                "texts": (
                    relation["relation"],
                    pair["system"],
                    pair["other"],
                    with_interval(pair, "difference", self.language),
                    words.p_text(pair["p_holm"]).removeprefix("=\N{NO-BREAK SPACE}"),
                    words.of_text(pair["judged"], pair["informative"], self.language),
                ),
            }
            for pair in words.oriented(relation["pairs"])
        ]

    def violations(self) -> list[dict[str, Any]]:
        """Tables of violation rates with their charts, of which something was satisfied or violated."""
        parts = []
        for entry in self.report["violations"]:
            title = words.title_of(self.report, entry, "violations.title", self.language)
            kinds: list[list[Row]] = []
            above = None
            for row in entry["rows"]:
                if row["by"] != above and row["by"] != "estimated":
                    kinds.append([])
                above = row["by"]
                rates = (words.rates_text(rates, self.language) for rates in row["rates"])
                kinds[-1].append((words.row_name(row, self.language), *rates))
            chart = inline(
                charts.bars_chart(charts.relation_groups(entry), language=self.language),
                self.say("violations.by_relation", title=title),
            )
            table = self.table(title, ("row",), kinds, titles=entry["systems"], style="rates")
            if chart:
                parts.append({"title": title, "chart": chart, "table": table})
        return [part | {"how": words.rates_key(self.report, self.language)} for part in parts]

    def slices(self) -> list[dict[str, Any]]:
        """Rates by slice, with who is best where; without rates only why."""
        parts = []
        for entry in self.report.get("slices") or []:
            by = words.property_name(entry["by"], self.language)
            title = words.title_of(self.report, entry, "slices.title", self.language, property=by)
            details = []
            for system in entry["systems"]:
                relations, rows = words.slices_by_relation(entry, system, self.language)
                cells = [(name, *rates) for name, rates in rows]
                table = self.table(f"{title}, {system}", ("slice",), [cells], titles=relations)
                details.append((self.say("slices.of_system", system=system), table))
            chart = charts.bars_chart(charts.slice_groups(entry, self.language), language=self.language)
            parts.append(
                {
                    "title": title,
                    "known": not entry["reason"],
                    "lines": words.slice_lines(entry, self.language),
                    "chart": inline(chart, self.say("slices.alt", title=title)),
                    "table": self.table(title, words.SLICE_COLUMNS, [words.slice_rows(entry, self.language)]),
                    "details": details,
                }
            )
        return parts

    def worst(self) -> dict[str, Any] | None:
        """The slices in which relations are broken most; None where nobody asked."""
        lines = words.worst_lines(self.report, self.language)
        if not lines:
            return None
        title, rows = self.say("slices.worst"), words.worst_rows(self.report, self.language)
        return {"title": title, "lines": lines, "table": rows and self.table(title, words.WORST_COLUMNS, [rows])}

    def accuracies(self) -> list[dict[str, Any]]:
        """Accuracy by gold beside metamorphic testing."""
        parts = []
        for entry in words.shown_accuracy(self.report):
            title = words.title_of(self.report, entry, "accuracy.title", self.language)
            rows = words.accuracy_rows(entry, self.language) if entry["systems"] else []
            chart = charts.accuracy_chart(entry, language=self.language)
            parts.append(
                {
                    "title": title,
                    "lines": words.accuracy_lines(entry, self.language),
                    "table": rows and self.table(title, words.ACCURACY_COLUMNS, [rows]),
                    "chart": inline(chart, self.say("accuracy.alt", title=title)),
                }
            )
        return parts

    def judges(self) -> list[dict[str, Any]]:
        """Models that judge: what is said of each, and sensitivity and specificity of each label."""
        return [
            {
                "title": f"{entry['name']}@{entry['version']}",
                "own": own_line(entry, self.language),
                "lines": [line for part in entry["tasks"] for line in part_lines(part, self.language)],
                "tables": [
                    self.named_rows(heads, rows)
                    for part in entry["tasks"]
                    for heads, rows in label_tables(part, self.language)
                ],
            }
            for entry in self.report.get("judges") or []
        ]

    def named_rows(self, heads: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
        """A table whose headings are texts already, and whose first fields are headers of their rows."""
        table = self.table(heads[0], (), [rows], titles=heads)
        table["columns"][0] |= {"style": "name", "header": True}
        return table

    def repeats(self) -> list[dict[str, Any]]:
        """Contradictions on the same input, and verdicts by call."""
        parts = []
        for entry in self.report.get("repeats") or []:
            title = words.title_of(self.report, entry, "repeats.title", self.language)
            by_call, rows = self.say("repeats.by_call", title=title), words.by_call_rows(entry, self.language)
            parts.append(
                {
                    "title": title,
                    "lines": words.repeat_lines(entry, self.language),
                    "table": self.table(title, words.REPEATED_COLUMNS, [words.repeated_rows(entry, self.language)]),
                    "cells": rows and self.table(by_call, words.BY_CALL_COLUMNS, [rows]),
                    "cell_lines": words.by_call_lines(entry, self.language),
                }
            )
        return parts

    def validity(self) -> list[dict[str, Any]]:
        """Ratings of originals and follow-ups, and what violations are worth: a line and a table each."""
        return [
            {"line": title, "table": self.named_rows(heads, [tuple(row) for row in rows])}
            for title, heads, rows, _ in validity_tables(self.report.get("validity") or [], self.language)
        ]

    def rollups(self) -> dict[str, Any] | None:
        rows = words.rollup_rows(self.report, self.language)
        reasons = any(row[-1] for row in rows)
        columns = ("by", "name", "sr_observed", "fs_rate", "sr_genuine", *(("reason",) if reasons else ()))
        shown = [row if reasons else row[:-1] for row in rows]
        return self.table(self.say("html.together_region"), columns, [shown]) if rows else None

    def rollup_charts(self) -> list[tuple[str, Any]]:
        """(heading, chart) of every level of the roll-ups that has an observed rate."""
        drawn = []
        for by in ("overall", "system", "family", "relation"):
            heading = self.say(f"rollup.{by}")
            chart = charts.rollup_chart(self.report, by, language=self.language)
            drawn.append((heading, inline(chart, self.say("rollup.alt", level=heading))))
        return [(heading, chart) for heading, chart in drawn if chart is not None]

    def reading(self) -> list[str]:
        """How to read the report, in sentences."""
        relations = self.report["relations"]
        codes = ["proxies" if "proxy" in self.report["signature"] else "rates"]
        if self.intervals:
            codes += [str(self.report["signature"].get("target") or "corpus"), "compared"]
        if any(words.carry_text(relation) for relation in relations):
            codes.append("carried")
        return [self.say(f"html.read_{code}") for code in [*codes, "source"]]
