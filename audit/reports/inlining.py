"""Charts as parts of an HTML page."""

import re
from typing import Any

from audit.reports.charts import to_svg


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
