"""The MGMT score of systems by domain: the mean share of satisfied relations over the levels of granularity.

Source: the study of MGMT, section 4.2.1 and its table 1.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Engine, select

from audit.errors import UnknownName
from audit.relations.registry import name_order
from audit.reports.terminal_tables import aligned
from audit.reports.verdict_values import levels_of, origin, plain, verdict_values
from audit.reports.words import UNKNOWN, percent, signature_line
from audit.store import pieces, table_of, tables

NOWHERE = "(none)"
"""The domain of sources that have no value of the attribute."""


def levels_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), domain: str | None = None
) -> dict[str, Any]:
    """Per (system, domain): the share of satisfied groups of each relation, and their mean, the score.

    `domain` names an attribute of the sources; without it, the corpus is the domain. A relation's share is None where
    it checked nothing there, and so is the score then. Raises what `verdict_values` and `levels_of` raise, and
    UnknownName for an attribute that no source has.
    """
    values = verdict_values(engine, study, relations)
    names = levels_of(values, relations)
    values = values[values["relation"].isin(names)]
    values = values.assign(domain=values["corpus"] if domain is None else _attribute(engine, values, domain))
    counted = values.groupby(["system", "domain", "relation"])["outcome"].agg(["size", "sum"])
    cells = []
    for system in sorted(values["system"].unique()):
        for where in sorted(values["domain"].unique(), key=name_order):
            rows = [
                counted.loc[system, where, name] if (system, where, name) in counted.index else None for name in names
            ]
            shares = [None if row is None else 1 - float(row["sum"]) / float(row["size"]) for row in rows]
            known = [share for share in shares if share is not None]
            if not known:
                continue
            cells.append(
                {
                    "system": system,
                    "domain": where,
                    "score": sum(known) / len(known) if len(known) == len(names) else None,
                    "shares": dict(zip(names, map(plain, shares), strict=True)),
                    "checked": {
                        name: 0 if row is None else int(row["size"]) for name, row in zip(names, rows, strict=True)
                    },
                }
            )
    return {
        "relations": names,
        "by": domain or "corpus",
        "cells": cells,
        "signature": origin(engine, values),
    }


def _attribute(engine: Engine, values: pd.DataFrame, name: str) -> pd.Series:
    """The attribute's value of each row's source, on one line."""
    source = table_of(tables.Source)
    found: dict[int, str] = {}
    known: set[str] = set()
    with engine.connect() as connection:
        for piece in pieces(int(one) for one in values["source"].unique()):
            query = select(source.c.id, source.c.attributes).where(source.c.id.in_(piece))
            for row in connection.execute(query):
                known |= set(row.attributes)
                found[int(row.id)] = " ".join(str(row.attributes.get(name) or "").split()) or NOWHERE
    if name not in known:
        raise UnknownName("attribute", name, list(known))
    return values["source"].map(found)


def levels_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as a table: systems and relations down, domains across, in per cent."""
    domains = list(dict.fromkeys(cell["domain"] for cell in report["cells"]))
    by = {(cell["system"], cell["domain"]): cell for cell in report["cells"]}
    rows = []
    for system in dict.fromkeys(cell["system"] for cell in report["cells"]):
        mine = [by.get((system, domain)) for domain in domains]
        for name in report["relations"]:
            rows.append((system, name, *(UNKNOWN if cell is None else percent(cell["shares"][name]) for cell in mine)))
        rows.append((system, "score", *(UNKNOWN if cell is None else percent(cell["score"]) for cell in mine)))
    return [
        f"Satisfied groups of each level, and their mean (the score), in per cent, by {report['by']}",
        "",
        *aligned(("system", "level", *domains), rows, 2, width),
        "",
        "signature " + signature_line(report["signature"]),
    ]
