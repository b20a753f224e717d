"""Charts and templates as parts of an HTML page."""

import re
from functools import cache
from typing import Any

from audit.reports import words
from audit.reports.charts import to_svg
from audit.resources import data_file


@cache
def template(name: str) -> Any:
    """A template of data/; every text that is put into it is escaped, and one that it does not get is a mistake."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": words.percent, "count": words.count}
    return environment.from_string(data_file(name).read_text(encoding="utf-8"))


def inlined(chart: Any, label: str) -> Any:
    """As `inline`; None where there is no chart."""
    return None if chart is None else inline(chart, label)


def inline(chart: Any, label: str) -> Any:
    """The chart as an `<svg>` element that names itself to screen readers, takes the page's colours and can shrink."""
    from markupsafe import Markup, escape

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
