"""How far follow-ups are from their sources, by relation: what a user chooses limits by (`audit follow-ups`)."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.corpora import Corpus
from audit.errors import AuditError, NotInstalled, UnknownName
from audit.false_satisfaction.cells import Ground, ground_of
from audit.new_files import write_rows
from audit.relations import Fixed, Outcome, Relation, Source, name_order
from audit.relations.validity import (
    MEASURES,
    VALID,
    Limit,
    Measure,
    broken,
    fitted_for,
    limit_of,
    limits_by_relation,
    measure_named,
)
from audit.reports.document import plain
from audit.reports.documents import FollowUpsDocument, FollowUpsEntry, MeasuredFollowUps
from audit.reports.tables import aligned
from audit.reports.words import UNKNOWN, signature_line
from audit.store import rows_among, table_of, tables
from audit.store.bulk import LIMIT
from audit.store.outcomes import UNCHECKED
from audit.tasks import Input, get_task, text_columns
from audit.text import Analysis

MOST = 1_000
"""Groups of a relation that are measured, by default."""
_ABOUT = ("study", "corpus", "task", "relation", "limit", "value", "row")
_QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)


def made_of(relation: Relation, corpus: Corpus, number: int, seed: int = 0) -> tuple[list[dict[str, Any]], int]:
    """What a relation makes of a corpus's sources, taken at random until so many make a group: the row, the source's
    texts and those of its follow-ups; and how many sources were tried.

    Raises AuditError for a relation whose follow-ups hang on what a system says.
    """
    if not isinstance(relation, Fixed):
        raise AuditError(
            f"what {relation.name!r} makes depends on what a system says; see it with audit run and the app"
        )
    rows = list(corpus.rows())
    random.Random(f"{seed} {relation.name}").shuffle(rows)
    groups: list[dict[str, Any]] = []
    tried = 0
    for row in rows:
        if len(groups) >= number:
            break
        tried += 1
        follow_ups = relation.follow_ups(
            Source(row.input, Analysis(row.input.text, row.input.languages[0]), f"{seed} {row.key}")
        )
        if follow_ups:
            made = [list(item.texts) for item in follow_ups]
            groups.append({"row": row.key, "source": list(row.input.texts), "follow_ups": made})
    return groups, tried


def made_lines(relation: str, groups: Sequence[Mapping[str, Any]], tried: int) -> list[str]:
    """The same for people: sources, each with its follow-ups behind arrows, and the share that makes a group."""
    lines = []
    for group in groups:
        lines += [" ‖ ".join(group["source"]), *(f"  > {' ‖ '.join(texts)}" for texts in group["follow_ups"])]
    return [*lines, f"{relation} makes follow-ups of {len(groups)} of {tried} sources."]


def chosen_measures(names: Sequence[str] = ()) -> list[Measure]:
    """The measures of these names; without names all that are quick and can be computed here.

    Raises UnknownName, which lists the measures, and NotInstalled with the line that installs what one needs.
    """
    if not names:
        return [of for of in map(measure_named, MEASURES) if not of.slow and of.lacks() is None]
    chosen: list[Measure] = [measure_named(name) for name in dict.fromkeys(names)]
    for of in chosen:
        if line := of.lacks():
            raise NotInstalled(f"{of.name} cannot be measured here; run: {line}", parameter="measures")
    return chosen


def follow_ups_report(
    engine: Engine,
    study: int | None = None,
    relations: Sequence[str] = (),
    measures: Sequence[str] = (),
    most: int = MOST,
    valid: Sequence[str] = (),
) -> FollowUpsDocument:
    """What each measure says of the first `most` groups of each relation, in the order of the sources' random numbers,
    rejected ones too: limits are chosen by all that a relation makes.

    `relations` are named as in a report (default: all). `valid` are limits to try, as of a run: how many of the
    measured groups they would reject. Raises AuditError where nothing has been checked, UnknownName for a relation that
    no study has, and what `chosen_measures` and `limit_of` raise.
    """
    if most < 1:
        raise AuditError(f"{most} groups of each relation are to be measured; it must be 1 or more", parameter="most")
    tried = limits_by_relation(valid)
    limiting = [limit.measure for limits in tried.values() for limit in limits]
    chosen_measures(limiting)
    asked = _Asked(chosen_measures(measures), tried, most, limiting)
    with engine.connect() as connection:
        ground = ground_of(connection, study)
        chosen = _chosen_relations(ground, relations)
        entries = [entry for row in ground.studies for entry in _of_study(connection, ground, row["id"], chosen, asked)]
    settings: dict[str, object] = {
        "measures": {of.name: of.version for of in asked.measures},
        "most": most,
        **({"valid": list(valid)} if valid else {}),
        "audit": audit.__version__,
    }
    return {"signature": settings, "relations": entries}


def _chosen_relations(ground: Ground, relations: Sequence[str]) -> Sequence[str]:
    """These relations, or all that there are. Raises UnknownName."""
    available = sorted(ground.cells["relation"].unique(), key=name_order)
    if absent := next((name for name in relations if name not in available), None):
        raise UnknownName("relation", absent, available)
    return relations or available


@dataclass(frozen=True)
class _Asked:
    """What is to be measured, and tried."""

    measures: Sequence[Measure]
    tried: Mapping[str, Sequence[Limit]]
    """As of `limits_by_relation`."""
    most: int
    limiting: Sequence[str]
    """Measures of the limits."""

    def limits(self, relation: str) -> list[Limit]:
        """Those to be tried on a relation; its own take the place of those of all."""
        chosen = (*self.tried.get("", ()), *self.tried.get(relation, ()))
        return list({(limit.measure, limit.sign[0]): limit for limit in chosen}.values())


def _of_study(
    connection: Connection, ground: Ground, study: int, relations: Sequence[str], asked: _Asked
) -> Iterator[FollowUpsEntry]:
    cells = ground.cells[(ground.cells["study_id"] == study) & ground.cells["relation"].isin(relations)]
    if cells.empty:
        return
    corpus = next(row["corpus"] for row in ground.studies if row["id"] == study)
    table, checks = table_of(tables.Relation), ground.checks
    stored = {row.id: row for row in connection.execute(select(table.c.id, table.c.name, table.c.params))}
    learning = [*(of.name for of in asked.measures), *asked.limiting]
    fitted = fitted_for(learning, lambda: _sources(connection, study))
    names = cells.drop_duplicates("relation_id").set_index("relation_id")
    for id in sorted(names.index, key=lambda id: (names.loc[id, "task"], name_order(names.loc[id, "relation"]))):
        rows = np.flatnonzero((checks.study == study) & (checks.relation == id))
        groups, made = checks.groups(rows), checks.outcome[rows] != UNCHECKED
        rejecting = np.unique(groups[checks.outcome[rows] == Outcome.REJECTED])
        ids = np.unique(groups[made])
        pairs = list(_members(connection, ids[: asked.most].tolist()).values())
        own, tried = json.loads(stored[id].params).get(VALID, []), asked.limits(stored[id].name)
        yield {
            "study": study,
            "corpus": corpus,
            "task": str(names.loc[id, "task"]),
            "relation": str(names.loc[id, "relation"]),
            "limits": own if isinstance(own, list) else [],
            "groups": len(ids),
            "rejected": len(rejecting),
            "rejected_share": len(rejecting) / len(ids) if len(ids) else None,
            "measured": len(pairs),
            "measures": [
                _summary(of, [_worst(of, source, others, fitted) for source, others in pairs]) for of in asked.measures
            ],
            "tried": sorted(map(str, tried)),
            "would_reject": sum(broken(tried, *pair, fitted) is not None for pair in pairs) if tried else None,
        }


def rejected_groups(
    engine: Engine, study: int | None = None, relations: Sequence[str] = ()
) -> Iterator[dict[str, object]]:
    """Each group that a limit rejected: study, corpus, task, relation, limit, value, row, texts of its source, and
    follow_ups, the texts of each.

    `limit` is the limit that was broken and `value` what the measure said, None where it is not known. In the order of
    relations, then of the sources' random numbers. `relations` as of `follow_ups_report`, and so is what is raised.
    """
    with engine.connect() as connection:
        ground = ground_of(connection, study)
        chosen = _chosen_relations(ground, relations)
        cells = ground.cells[ground.cells["relation"].isin(chosen)]
        parts = cells.drop_duplicates(["study_id", "relation_id"])
        table, verdict, source = table_of(tables.Relation), table_of(tables.Verdict), table_of(tables.Source)
        params = {row.id: row.params for row in connection.execute(select(table.c.id, table.c.params))}
        corpora, checks = {row["id"]: row["corpus"] for row in ground.studies}, ground.checks
        for part in sorted(parts.itertuples(), key=lambda part: (part.study_id, part.task, name_order(part.relation))):
            rows = np.flatnonzero((checks.study == part.study_id) & (checks.relation == part.relation_id))
            ids = np.unique(checks.groups(rows)[checks.outcome[rows] == Outcome.REJECTED]).tolist()
            verdicts = select(verdict.c.group_id, verdict.c.value, verdict.c.reason)
            said = {row.group_id: row for row in rows_among(connection, verdicts, verdict.c.group_id, ids)}
            named = select(source.c.id, source.c.row)
            names = dict(rows_among(connection, named, source.c.id, sorted({id // LIMIT**2 for id in ids})))
            limits = [limit for _, limit in map(limit_of, json.loads(params[part.relation_id]).get(VALID, []))]
            for id, (original, follow_ups) in _members(connection, ids).items():
                value = said[id].value
                broke = [limit for limit in limits if limit.reason(nan if value is None else value) == said[id].reason]
                yield {
                    "study": part.study_id,
                    "corpus": corpora[part.study_id],
                    "task": part.task,
                    "relation": part.relation,
                    "limit": str(broke[0]) if broke else said[id].reason,
                    "value": value,
                    "row": names[id // LIMIT**2],
                    "texts": list(original.texts),
                    "follow_ups": [list(follow_up.texts) for follow_up in follow_ups],
                }


def write_rejected(place: str | Path, groups: Sequence[Mapping[str, Any]]) -> None:
    """Write what `rejected_groups` yields: as JSONL a group a line, as CSV a row for each follow-up, with its texts as
    follow_up (and follow_up_b) beside text (and text_b). Raises AuditError for another end of the name, BadFile."""

    def frame() -> pd.DataFrame:
        rows: list[dict[str, object]] = []
        texts: dict[str, None] = {}
        for group in groups:
            names = text_columns(get_task(group["task"]).texts)
            about = {name: value for name, value in group.items() if name not in ("texts", "follow_ups")}
            for follow_up in group["follow_ups"]:
                row = dict(zip(names, group["texts"], strict=False))
                row |= zip((name.replace("text", "follow_up", 1) for name in names), follow_up, strict=False)
                texts |= dict.fromkeys(row)
                rows.append(about | row)
        return pd.DataFrame(rows, columns=[*_ABOUT, *(texts or ("text", "follow_up"))])

    write_rows(place, frame, groups, "rejected")


def _sources(connection: Connection, study: int) -> list[Input]:
    """Inputs of a study's sources, in the order of their random numbers, as a run has them."""
    source, stored = table_of(tables.Source), table_of(tables.Input)
    query = (
        select(stored.c.texts, stored.c.languages)
        .join(source, source.c.input_id == stored.c.id)
        .where(source.c.study_id == study)
        .order_by(source.c.id)
    )
    return [Input.stored(row.texts, row.languages) for row in connection.execute(query)]


def _members(connection: Connection, groups: Sequence[int]) -> dict[int, tuple[Input, list[Input]]]:
    """The source's input and the follow-ups of each of these groups that has any."""
    member, stored = table_of(tables.Member), table_of(tables.Input)
    source, of_source = table_of(tables.Source), stored.alias()
    sources: dict[int, Input] = {}
    query = select(source.c.id, of_source.c.texts, of_source.c.languages).join(
        of_source, of_source.c.id == source.c.input_id
    )
    for row in rows_among(connection, query, source.c.id, sorted({group // LIMIT**2 for group in groups})):
        sources[row.id] = Input.stored(row.texts, row.languages)
    follow_ups: dict[int, list[Input]] = {group: [] for group in groups}
    members = (
        select(member.c.group_id, stored.c.texts, stored.c.languages)
        .join(stored, stored.c.id == member.c.input_id)
        .where(member.c.role == "follow_up")
        .order_by(member.c.group_id, member.c.step)
    )
    for row in rows_among(connection, members, member.c.group_id, groups):
        follow_ups[row.group_id].append(Input.stored(row.texts, row.languages))
    return {group: (sources[group // LIMIT**2], inputs) for group, inputs in follow_ups.items() if inputs}


def _worst(of: Measure, source: Input, follow_ups: Sequence[Input], fitted: Mapping[str, object]) -> float:
    values = [of.of(source, follow_up, fitted.get(of.name)) for follow_up in follow_ups]
    return float(np.max(values) if of.better == "low" else np.min(values))  # NaN where one is


def _summary(of: Measure, values: Sequence[float]) -> MeasuredFollowUps:
    known = np.array([value for value in values if not np.isnan(value)])
    least, low, median, high, most = np.quantile(known, _QUANTILES) if len(known) else [np.nan] * len(_QUANTILES)
    return {
        "measure": of.name,
        "better": of.better,
        "least": plain(least),
        "low": plain(low),
        "median": plain(median),
        "high": plain(high),
        "most": plain(most),
        "unknown": len(values) - len(known),
    }


def follow_ups_lines(report: FollowUpsDocument, width: int = 100) -> list[str]:
    """The report for a terminal: a table of medians with the 5 % and 95 % quantiles, a relation a row."""
    names = list(report["signature"]["measures"])
    tries = "valid" in report["signature"]
    several = len({entry["study"] for entry in report["relations"]}) > 1
    rows = [
        [
            f"{entry['relation']} ({entry['corpus']})" if several else entry["relation"],
            f"{entry['groups']:,}",
            f"{entry['rejected']:,}" if entry["rejected"] else UNKNOWN,
            *([_share(entry)] if tries else []),
            *(_field(measured) for measured in entry["measures"]),
        ]
        for entry in report["relations"]
    ]
    lines = aligned(["relation", "groups", "rejected", *(["would be"] if tries else []), *names], rows, 1, width)
    lines.append("Median of each measure, with the values that 5 % of the groups are below and above in brackets.")
    if tries:
        lines.append("would be: of the measured groups, those that the given limits would reject.")
    short = [entry for entry in report["relations"] if entry["measured"] < entry["groups"]]
    if short:
        lines.append(f"Measured are the first {short[0]['measured']:,} groups of a relation that has more.")
    lines += [
        f"{entry['relation']}: {entry['rejected']:,} of {entry['groups']:,} groups rejected by "
        f"{' or '.join(entry['limits'])}."
        for entry in report["relations"]
        if entry["rejected"]
    ]
    return [*lines, "signature " + signature_line(report["signature"])]


def _share(entry: FollowUpsEntry) -> str:
    return UNKNOWN if entry["would_reject"] is None else f"{entry['would_reject']:,} of {entry['measured']:,}"


def _field(measured: MeasuredFollowUps) -> str:
    if measured["median"] is None:
        return UNKNOWN
    return f"{measured['median']:.2f} [{measured['low']:.2f}–{measured['high']:.2f}]"
