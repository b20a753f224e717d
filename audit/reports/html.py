"""Reports as HTML: one file that needs nothing else, with styles and charts but no scripts; and for notebooks."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from markupsafe import Markup, escape

import audit
from audit.messages import ENGLISH
from audit.reports import first_page
from audit.reports.charts import DARK, LIGHT, to_svg
from audit.reports.document import ReportDocument
from audit.reports.sections import sections
from audit.reports.tables import Chart, Marked, Section, Table, Verbatim, fitting, wide
from audit.reports.words import Estimate, Say
from audit.resources import data_file

TEMPLATE = "report.html.j2"
HTML_LANGUAGES = {"zh": "zh-Hans"}
"""Language of the catalogue -> code for browsers, where they differ."""
PAPER = 100
"""Letters of a table's type that a printed page holds side by side."""
_RATES = re.compile(r"\b(SR|VR|R)_(FS|[ogc1mr])\b")
_EMPHASIS = re.compile(r"\*(\w.*?)\*")
_CODE = re.compile(r"`(.+?)`")
_ENDS = re.compile(r"\[[^\]]+\]")


def to_html(report: ReportDocument, language: str = ENGLISH, opened: bool = False) -> str:
    """Return the report as a self-contained HTML document: no scripts, no requests, light and dark, printable.

    Behind its first page the sections are folded; with `opened` they are not, and wide tables stand in parts.
    Every text is escaped, in charts by the chart engine. The charts' colours are mapped to style variables, so that
    they follow the reader's colour scheme. The same report gives the same document on the same day.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> to_html(build_report(pd.DataFrame([]), {})).startswith("<!doctype html>")
    True
    """
    page, decisions = _Page(language, opened), report["decisions"]
    say = page.say
    first, *lines = first_page.first_lines(report, language)
    about = " + ".join(first_page.titled(report, entry, say) for entry in decisions)
    pictures = [chart for entry in decisions if (chart := first_page.score_chart(entry, say))]
    families = first_page.family_chart(report, say)
    document: str = _template().render(
        t=say,
        lang=HTML_LANGUAGES.get(language, language),
        version=audit.__version__,
        date=first_page.today(),
        colours={name: (value, asdict(DARK)[name]) for name, value in asdict(LIGHT).items()},
        about=about,
        first=rich(first),
        lines=[rich(line) for line in lines],
        charts=[page.chart(chart) for chart in pictures],
        families=page.chart(families) if families else "",
        evidence=Markup().join(page.section(section) for section in sections(report, language)),
        signature=json.dumps(report["signature"], indent=2, ensure_ascii=False, default=str),
        opened=opened,
    )
    return document


def to_notebook(report: ReportDocument) -> str:
    """Return what a notebook shows: the first lines, and the sections folded, without charts."""
    page = _Page(pictures=False)
    lines = Markup().join(Markup("<p>{}</p>").format(rich(line)) for line in first_page.first_lines(report))
    return str(lines + Markup().join(page.section(section) for section in sections(report)))


@cache
def _template() -> Any:
    """Return the template of the page; a text that it does not get is a mistake."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(data_file(TEMPLATE).read_text(encoding="utf-8"))


def rich(text: str) -> Markup:
    """Return a text as markup: `SR_o` with its index below, words in stars emphasised, code in backticks.

    >>> rich("*genuine* rate SR_g < 1")
    Markup('<em>genuine</em> rate SR<sub>g</sub> &lt; 1')
    """
    # Safe: the text is escaped before any mark is put into it.
    marked = _EMPHASIS.sub(r"<em>\1</em>", _CODE.sub(r"<code>\1</code>", str(escape(text))))
    return Markup(_RATES.sub(r"\1<sub>\2</sub>", marked))


class _Page:
    """Renders the parts of sections, whatever they are about."""

    def __init__(self, language: str = ENGLISH, opened: bool = False, pictures: bool = True):
        self.say, self.opened, self.pictures = Say(language), opened, pictures

    def section(self, section: Section, level: int = 2) -> Markup:
        """Return a section, folded, with those in it."""
        head = Markup("<h{0}>{1}</h{0}>").format(level, section.title)
        about = Markup(' <span class="quiet">{}</span>').format(section.about) if section.about else ""
        body = Markup().join(self.part(part, section.title, level) for part in section.parts)
        kind = Markup(" out" if section.stands_out else "")
        return Markup('<details class="part{}"{}><summary>{}{}</summary>\n{}</details>\n').format(
            kind, Markup(" open" if self.opened else ""), head, about, body
        )

    def part(self, part: "str | Table | Chart | Section", title: str, level: int) -> Markup:
        if isinstance(part, Section):
            return self.section(part, level + 1)
        if isinstance(part, Chart):
            return self.chart(part) if self.pictures else Markup()
        if isinstance(part, Verbatim):
            return Markup('<pre class="panel">{}</pre>\n').format(part)
        return self.table(part, title) if isinstance(part, Table) else Markup("<p>{}</p>\n").format(rich(part))

    def table(self, table: Table, title: str) -> Markup:
        """Return a table that scrolls, or for print several, each with as many columns as a page holds."""
        columns = list(range(len(table.columns)))
        parts = [columns]
        if self.opened:
            sizes = [
                max(wide(text) for text in (table.columns[at], *(self.say.cell(row[at]) for row in table.rows)))
                for at in columns
            ]
            parts = list(fitting(columns, table.names, [min(size, 40) for size in sizes], PAPER))
        tables = Markup().join(self._table(table, part) for part in parts)
        return Markup('<div class="panel scroll" role="region" aria-label="{}" tabindex="0">{}</div>\n').format(
            title, tables
        )

    def _table(self, table: Table, columns: Sequence[int]) -> Markup:
        numbers = {at for at in columns if table.is_number(at)}
        heads = Markup().join(
            Markup('<th scope="col"{}>{}</th>').format(_N if at in numbers else "", rich(table.columns[at]))
            for at in columns
        )
        rows = [Markup()]
        for number, row in enumerate(table.rows):
            if number in table.breaks:
                rows.append(Markup())
            cells = Markup().join(self._cell(row[at], at < table.names, at in numbers) for at in columns)
            rows[-1] += Markup("<tr>{}</tr>\n").format(cells)
        bodies = Markup().join(Markup("<tbody>{}</tbody>").format(body) for body in rows)
        return Markup("<table><thead><tr>{}</tr></thead>{}</table>").format(heads, bodies)

    def _cell(self, value: Any, is_name: bool, is_number: bool) -> Markup:
        if is_name:
            return Markup('<th scope="row">{}</th>').format(self.say.cell(value))
        if isinstance(value, Marked):
            pieces = (Markup("<mark>{}</mark>" if marked else "{}").format(text) for text, marked in value.pieces)
            return Markup("<td>{}</td>").format(Markup().join(pieces))
        # Safe: the text is escaped before any mark is put into it. A number may break before its interval alone.
        text = Markup(_ENDS.sub(r'<span class="ends">\g<0></span>', str(escape(self.say.cell(value)))))
        why = (
            Markup(' title="{}"').format(self.say.said(value.reason))
            if isinstance(value, Estimate) and value.reason
            else ""
        )
        return Markup("<td{}{}>{}</td>").format(_N if is_number else "", why, text)

    def chart(self, chart: Chart) -> Markup:
        """Return a chart as an `<svg>` that names itself to screen readers, and takes the page's colours and width."""
        svg = to_svg(chart.draw(LIGHT))
        opening = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]*)">', svg)
        if opening is None:
            raise ValueError("the chart engine's SVG does not begin as expected; was vl-convert-python updated?")
        width, _, box = opening.groups()
        head = Markup('<svg class="chart" role="img" aria-label="{}" viewBox="{}" style="max-width:{}px">')
        # As one image with one description; the parts' own labels would be read out as a jumble of numbers.
        # Safe: the chart engine escapes every text.
        body = Markup(re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg[opening.end() :]))
        figure = Markup('<figure class="panel">{}{}<figcaption>{}</figcaption></figure>\n')
        return figure.format(head.format(chart.alt, box, round(1.5 * float(width))), body, rich(chart.key))


_N = Markup(' class="n"')
