"""The report in a few sentences, in the session's language; in English see `audit.reports.words.headlines`."""

from audit.reports.build import Report
from audit.reports.words import PERCENT, count, percent, share_covered, with_interval
from audit.ui.language import t


def headlines(report: Report) -> list[tuple[str, str]]:
    """At most four (number, sentence that follows it) pairs, most important first."""
    totals = report["overall"]
    lines = []
    if totals["fs_rate"] is not None:
        values = {
            "observed": _share(totals["sr_observed"]),
            "genuine": with_interval(totals, "sr_genuine", "sr_genuine_low", "sr_genuine_high", PERCENT),
            "covered": totals["cells_covered"],
            "cells": totals["cells"],
            "share": _share(share_covered(totals)),
        }
        lines.append((with_interval(totals, "fs_rate", "fs_low", "fs_high", PERCENT), t("headline.false", **values)))
    elif totals["fs_rate_median"] is not None and not totals["judged"]:
        least, most = _share(totals["fs_rate_least"]), _share(totals["fs_rate_most"])
        lines.append((_share(totals["fs_rate_median"]), t("headline.median", least=least, most=most)))
    compared = totals["relations_compared"]
    if compared:
        number = t("headline.of", part=totals["best_changes_sure"], whole=compared)
        left = totals["best_changes_open"]
        if not left:
            more = t("headline.open_none")
        elif totals["judged"] is None:
            more = t("headline.open_rates", count=left)
        else:
            more = t("headline.open", count=left)
        lines.append((number, t("headline.best", count=compared, more=more)))
    if totals["judged"] is not None:
        lines.append(
            (
                count(totals["judged"]),
                t(
                    "headline.judged",
                    satisfied=count(totals["satisfied"]),
                    estimated=totals["cells_estimated"],
                    cells=totals["cells"],
                ),
            )
        )
    if totals["waiting"]:
        lines.append((count(totals["waiting"]), t("progress.waiting", count=totals["waiting"])))
    return lines


def _share(rate: float | None) -> str:
    return f"{percent(rate)}{PERCENT}"
