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
from audit.reports.document import Entry
from audit.reports.sections import sections
from audit.reports.tables import EMPHASIS, Chart, Section
from audit.reports.words import Say
from audit.resources import data_file

HTML_LANGUAGES = {"zh": "zh-Hans"}
"""Language of the catalogue -> code for browsers, where they differ."""
_RATES = re.compile(r"\b(SR|VR|R)_(FS|[ogc1mr])\b")
_CODE = re.compile(r"`(.+?)`")
_ENDS = re.compile(r"\[[^\]]+\]")


def to_html(report: Entry, language: str = ENGLISH) -> str:
    """Return the report as a self-contained HTML document: no scripts, no requests, light and dark, printable.

    Behind its first page the sections are folded, and open on paper. Every text is escaped, in charts by the chart
    engine. The charts' colours are mapped to style variables, so that they follow the reader's colour scheme. The same
    report gives the same document on the same day.
    """
    say, decisions = Say(language), report["decisions"]
    first, *lines = first_page.first_lines(report, language)
    charts = [*(first_page.score_chart(entry, say) for entry in decisions), first_page.family_chart(report, say)]
    document: str = _template("report.html.j2").render(
        t=say,
        lang=HTML_LANGUAGES.get(language, language),
        version=audit.__version__,
        date=first_page.today(),
        colours={name: (value, asdict(DARK)[name]) for name, value in asdict(LIGHT).items()},
        about=" + ".join(first_page.titled(report, entry, say) for entry in decisions),
        first=first,
        lines=lines,
        charts=[(_picture(chart), chart.key) for chart in charts if chart is not None],
        evidence=Markup(sections_in_html(sections(report, language), language, _picture)),
        signature=json.dumps(report["signature"], indent=2, ensure_ascii=False, default=str),
    )
    return document


def to_notebook(report: Entry) -> str:
    """Return what a notebook shows: the first lines, and the sections folded, without charts."""
    lines = Markup().join(Markup("<p>{}</p>\n").format(rich(line)) for line in first_page.first_lines(report))
    return str(lines) + sections_in_html(sections(report))


def sections_in_html(shown: Sequence[Section], language: str = ENGLISH, picture: Any = None) -> str:
    """Return sections as HTML, folded; without a `picture` of each no charts, as for a notebook."""
    return str(_template("sections.html.j2").render(sections=shown, say=Say(language), picture=picture))


@cache
def _template(name: str) -> Any:
    """Return a template of data/: it escapes every text, and one that it does not get is a mistake."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"rich": rich, "ends": _ends}
    environment.tests["kind"] = lambda value, name: type(value).__name__ == name
    return environment.from_string(data_file(name).read_text(encoding="utf-8"))


def rich(text: str) -> Markup:
    """Return a text as markup: `SR_o` with its index below, words in stars emphasised, code in backticks.

    >>> rich("*genuine* rate SR_g < 1")
    Markup('<em>genuine</em> rate SR<sub>g</sub> &lt; 1')
    """
    # Safe: the text is escaped before any mark is put into it.
    marked = EMPHASIS.sub(r"<em>\1</em>", _CODE.sub(r"<code>\1</code>", str(escape(text))))
    return Markup(_RATES.sub(r"\1<sub>\2</sub>", marked))


def _ends(text: str) -> Markup:
    """Return a number as markup that may break before its interval and nowhere within it."""
    return Markup(_ENDS.sub(r'<span class="ends">\g<0></span>', str(escape(text))))  # safe: escaped before


def _picture(chart: Chart) -> Markup:
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
    return head.format(chart.alt, box, round(1.5 * float(width))) + body
