"""What relations measured: every verdict of a study with its value, as a frame; the ground of `audit values`."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, NotInstalled, UnknownName
from audit.false_satisfaction.cells import ground_of
from audit.files import read_table
from audit.keys import fingerprint
from audit.messages import message, with_commas
from audit.relations import Outcome
from audit.relations.registry import base_name, name_order
from audit.reports.document import plain
from audit.reports.documents import (
    BoundsCell,
    BoundsDocument,
    FactorComparison,
    FactorLetters,
    FactorMean,
    FactorTest,
    LevelsCell,
    LevelsDocument,
    MeansDocument,
    Origin,
)
from audit.reports.evidence import relation_entries, system_entries
from audit.reports.tables import aligned
from audit.reports.words import UNKNOWN, count, number, p_number, percent, signature_line
from audit.statistics.linear_model import compared, fit_two_way, pearson, spearman, type_three
from audit.store import pieces, table_of, tables
from audit.store.bulk import group_ids
from audit.tasks import Input
from audit.text.similarity import meteor, reference_bleu, word_error_rate

COLUMNS = [
    "study", "corpus", "relation", "system", "source", "text", "language", "target", "outcome", "value",
    "relation_id", "system_id",
]  # fmt: skip
LEVELS = ("MGMT-sentence", "MGMT-phrase", "MGMT-word")
"""The three levels of multi-granularity testing: what a system's MGMT score is the mean of."""
_SOURCE = ("source", "text", "language", "target")


def verdict_values(
    engine: Engine,
    study: int | None = None,
    relations: Sequence[str] = (),
    task: str | None = "translation",
    among: Sequence[int] | None = None,
) -> pd.DataFrame:
    """One row a verdict that satisfies or violates: columns `COLUMNS`.

    `study` and `source` are ids, `text`, `language` and `target` (None where there is none) are of the source's first
    text, `outcome` is 0 (satisfied) or 1 (violated), `value` is what was compared, NaN where it was labels. Relations
    and systems have the names of a report's cells. Rows stand in the order of studies, `relations` (all by default),
    systems and sources. `task` None: of every task. `among`: of relations with these ids alone; others are not
    read, and there may be no rows.

    Raises AuditError where nothing has been checked or no study of the task is there, UnknownName for a relation that
    none of them has.
    """
    with engine.connect() as connection:
        ground = ground_of(connection, study)
        cells = ground.cells if task is None else ground.cells[ground.cells["task"] == task]
        if cells.empty:
            raise AuditError(f"no study of task {task} has been run; `audit run` with this task does")
        available = sorted(cells["relation"].unique(), key=name_order)
        for name in relations:
            if name not in available:
                raise UnknownName("relation", name, available)
        cells = cells[cells["relation"].isin(relations or available)]
        if among is not None:
            cells = cells[cells["relation_id"].isin(among)]
        if cells.empty:
            return pd.DataFrame(columns=COLUMNS)
        frames = [
            _study_values(connection, int(study_id), cells[cells["study_id"] == study_id])
            for study_id in cells["study_id"].unique()
        ]
    corpora = {row["id"]: row["corpus"] for row in ground.studies}
    values = pd.concat(frames, ignore_index=True)
    values["corpus"] = values["study"].map(corpora)
    order = {name: place for place, name in enumerate(relations or available)}
    values["order"] = values["relation"].map(order)
    values = values.sort_values(["study", "order", "system", "source"], kind="stable", ignore_index=True)
    return values[COLUMNS]


def _study_values(connection: Connection, study: int, cells: pd.DataFrame) -> pd.DataFrame:
    verdict, group, source = (table_of(model) for model in (tables.Verdict, tables.Group, tables.Source))
    input_ = table_of(tables.Input)
    source_query = select(source.c.id, input_.c.texts, input_.c.languages).join(
        input_, input_.c.id == source.c.input_id
    )
    source_query = source_query.where(source.c.study_id == study)
    inputs = [(row.id, Input.stored(row.texts, row.languages)) for row in connection.execute(source_query)]
    rows = [(id, content.text, content.languages[0], content.target) for id, content in inputs]
    sources = pd.DataFrame(rows, columns=list(_SOURCE))
    relations = [int(relation_id) for relation_id in cells["relation_id"].unique()]
    query = (
        select(group.c.relation_id, verdict.c.system_id, group.c.source_id, verdict.c.outcome, verdict.c.value)
        .join(group, group.c.id == verdict.c.group_id)
        .where(
            # Ids of groups contain those of their sources, so this reads a range of the primary key.
            verdict.c.group_id.between(*group_ids(int(sources["source"].min()), int(sources["source"].max()))),
            group.c.study_id == study,
            group.c.relation_id.in_(relations),
            verdict.c.outcome.in_((int(Outcome.SATISFIED), int(Outcome.VIOLATED))),
        )
    )
    verdicts = [tuple(row) for row in connection.execute(query)]
    checks = pd.DataFrame(verdicts, columns=["relation_id", "system_id", "source", "outcome", "value"])
    checks["value"] = checks["value"].astype(float)
    names = cells[["relation_id", "system_id", "relation", "system"]]
    return checks.merge(names, on=["relation_id", "system_id"]).merge(sources, on="source").assign(study=study)


def source_outputs(engine: Engine, sources: Iterable[int]) -> pd.DataFrame:
    """What each system made of sources: columns source, system_id, output (the last text)."""
    source, output = table_of(tables.Source), table_of(tables.Output)
    texts: dict[tuple[int, int], str] = {}
    with engine.connect() as connection:
        for piece in pieces(int(source_id) for source_id in sources):
            query = (
                select(source.c.id, output.c.system_id, output.c.text)
                .join(output, output.c.input_id == source.c.input_id)
                .where(source.c.id.in_(piece), output.c.text.is_not(None), output.c.error.is_(None))
                .order_by(output.c.attempt)
            )
            texts |= {(int(row.id), int(row.system_id)): row.text for row in connection.execute(query)}
    rows = [(*key, text) for key, text in texts.items()]
    return pd.DataFrame(rows, columns=["source", "system_id", "output"])


def origin(engine: Engine, values: pd.DataFrame) -> Origin:
    """What a document says of where its numbers are from: versions, studies, parameters, settings."""
    with engine.connect() as connection:
        return {
            "audit": audit.__version__,
            "studies": sorted(int(study) for study in values["study"].unique()),
            "corpora": sorted(values["corpus"].unique()),
            "relations": relation_entries(connection, values["relation_id"].unique().tolist()),
            "systems": system_entries(connection, values["system_id"].unique().tolist()),
        }


def levels_of(values: pd.DataFrame, relations: Sequence[str] = ()) -> list[str]:
    """The names of relations as the frame has them: those asked for, or those of the three levels that are there.

    Raises AuditError where these are fewer than two, or a level is there in several versions.
    """
    present = list(dict.fromkeys(values["relation"]))
    if relations:
        return [name for name in present if name in relations]
    by_level: dict[str, str] = {}
    for name in present:
        level = base_name(name)
        if level in LEVELS and level in by_level:
            raise AuditError(
                f"{level} was run in several versions ({by_level[level]}, {name}); choose with relations=A,B",
                parameter="relations",
            )
        if level in LEVELS:
            by_level[level] = name
    if len(by_level) < 2:
        raise AuditError(
            f"{len(by_level)} of the relations {with_commas(LEVELS)} has verdicts; run two of them, or choose "
            "others with relations=A,B",
            parameter="relations",
        )
    return [by_level[level] for level in LEVELS if level in by_level]


def outcomes(values: pd.DataFrame, relations: Sequence[str]) -> pd.DataFrame:
    """Which of some relations each translation satisfies: index (study, source, system, system_id), a column of 1.0
    (satisfied) and 0.0 (violated) for each relation; only where every one of them was checked."""
    chosen = values[values["relation"].isin(relations)].assign(satisfied=lambda frame: 1.0 - frame["outcome"])
    index = ["study", "source", "system", "system_id"]
    return chosen.pivot(index=index, columns="relation", values="satisfied")[list(relations)].dropna()


# SR_o at other bounds than the one that a run checked: values are stored, so nothing is run again.

STEPS = tuple(round(step / 10, 1) for step in range(11))
"""Bounds that are shown by default."""
PARAMETERS = ("threshold", "bound")
"""Names of the parameter that a value must reach; a relation with one of them is satisfied at or above it."""


def bounds_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), at: Sequence[float] = STEPS
) -> BoundsDocument:
    """Per (study, relation, system): the share of checked groups whose value reaches each bound.

    A cell is there for each relation that has a bound (one of `PARAMETERS`); `checked` are its groups with a value,
    `bound` is that of the run and `sr_observed` its rate, `rates` has one for each of `at`, in that order: the rows of
    a chart. Raises what `verdict_values` raises, and AuditError for a bound that is no number, or where no relation has
    a bound.
    """
    invalid = next((bound for bound in at if not math.isfinite(bound)), None)
    if invalid is not None or not at:
        raise AuditError(f"bound {invalid} is no number; expected bounds such as 0.5,0.6")
    run_at = _bounds(engine)
    values = verdict_values(engine, study, relations, task=None, among=list(run_at))
    cells: list[BoundsCell] = []
    for (study_id, corpus, relation, system, key), cell_values in values.groupby(
        ["study", "corpus", "relation", "system", "relation_id"], sort=False
    ):
        bound = run_at[key]
        measured = cell_values["value"].dropna().to_numpy(float)
        if not len(measured):
            continue
        cells.append(
            {
                "study": int(study_id),
                "corpus": corpus,
                "relation": relation,
                "system": system,
                "checked": len(measured),
                "mean": plain(measured.mean()),
                "median": plain(np.median(measured)),
                "bound": bound,
                "sr_observed": plain(np.mean(measured >= bound)),
                "rates": [{"at": float(bound), "sr_observed": plain(np.mean(measured >= bound))} for bound in at],
            }
        )
    if not cells:
        raise AuditError(
            "no relation that was run compares a value with a bound; of `audit relations` those of translations do"
        )
    return {"cells": cells}


def bounds_lines(report: BoundsDocument, width: int = 100) -> list[str]:
    """The document as tables: one a relation, a row a system, a column a bound, in per cent."""
    bounds = [rate["at"] for rate in report["cells"][0]["rates"]]
    heads = ("system", "checked", "mean", "SR_o", *(f"{bound:g}" for bound in bounds))
    by_relation: dict[tuple[int, str, str, float], list[BoundsCell]] = {}
    for cell in report["cells"]:
        by_relation.setdefault((cell["study"], cell["corpus"], cell["relation"], cell["bound"]), []).append(cell)
    lines = []
    for (study, corpus, relation, bound), cells in by_relation.items():
        rows = [
            (
                cell["system"],
                count(cell["checked"]),
                f"{cell['mean']:.3f}",
                percent(cell["sr_observed"]),
                *(percent(rate["sr_observed"], 0) for rate in cell["rates"]),
            )
            for cell in cells
        ]
        lines += [f"{relation}, study {study} of {corpus}: SR_o at {bound:g}, and at other bounds, in per cent", ""]
        lines += [*aligned(heads, rows, 1, width), ""]
    return lines[:-1]


def _bounds(engine: Engine) -> dict[int, float]:
    """The bound of each relation that has one, by its id."""
    relation = table_of(tables.Relation)
    bounds = {}
    with engine.connect() as connection:
        for row in connection.execute(select(relation.c.id, relation.c.params)):
            params = json.loads(row.params)
            values = [float(params[name]) for name in PARAMETERS if name in params]
            if values:
                bounds[int(row.id)] = values[0]
    return bounds


# Scores of translations against a user's reference translations. A reference is a proxy, never gold.

MEASURES = ("bleu", "meteor", "wer")
"""Of reference and output; all grow with quality: `wer` stands for 1 - WER, as in the tables of the MGMT study."""
NOTE = message("note.reference_is_proxy")
NO_SYNONYMS = message("note.no_synonyms")
_NEEDED = ("source", "reference", "target_language")


@dataclass(frozen=True)
class References:
    """References of a file, by (source text, target language); `repeated` counts rows that add nothing."""

    name: str
    texts: Mapping[tuple[str, str], tuple[str, ...]]
    repeated: int
    synonyms: bool = True
    """Whether METEOR asks WordNet for English synonyms."""

    @property
    def signature(self) -> dict[str, str]:
        """Names the file and what was made of it, for signatures."""
        return {"references": self.name, "sha": self.sha} | ({} if self.synonyms else {"meteor": "exact and stem"})

    @cached_property
    def sha(self) -> str:
        """Names the content, for signatures."""
        return fingerprint("\t".join((*key, *texts)) for key, texts in sorted(self.texts.items()))


def read_references(path: str | Path, *, synonyms: bool = True) -> References:
    """Read a table with the columns source, reference and target_language; others are ignored.

    A text may have several references. Raises BadFile where the file is missing, empty or lacks a column, BadRow (or
    BadFile, for several) where a field is empty.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    repeated = 0
    for row in read_table(path, _NEEDED).to_dict("records"):
        references = texts.setdefault((row["source"], row["target_language"]), [])
        repeated += row["reference"] in references
        references += [row["reference"]] if row["reference"] not in references else []
    return References(
        Path(path).name, {key: tuple(references) for key, references in texts.items()}, repeated, synonyms
    )


def reference_scores(outputs: pd.DataFrame, references: References) -> tuple[pd.DataFrame, list[str]]:
    """(the rows of `outputs` that have a reference, with the columns `MEASURES`; notes on what could not be had).

    `outputs` has the columns text (of the source), target and output. The best of several references counts, for each
    measure. METEOR into English needs WordNet: it is NaN without it, and a note says so; another note where the
    references are without synonyms. Raises AuditError where no row has a reference.
    """
    matches = [references.texts.get((text.strip(), target)) for text, target in outputs[["text", "target"]].to_numpy()]
    chosen = outputs[[texts is not None for texts in matches]].copy()
    if chosen.empty:
        raise AuditError(
            f"{references.name} has no reference for any of the {len(outputs):,} outputs of this study; source and "
            "target_language must be as the corpus has them"
        )
    present = [texts for texts in matches if texts is not None]
    notes: list[str] = [] if references.synonyms else [NO_SYNONYMS]
    cached: dict[tuple[str, ...], tuple[float, float, float]] = {}
    scores = []
    for reference_texts, output, target in zip(present, chosen["output"], chosen["target"], strict=True):
        key = (target, output, *reference_texts)  # systems often say the same
        if key not in cached:
            cached[key] = (
                max(reference_bleu(reference, output, target) for reference in reference_texts),
                _meteor(reference_texts, output, target, references.synonyms, notes),
                max(1 - word_error_rate(reference, output, target) for reference in reference_texts),
            )
        scores.append(cached[key])
    chosen[list(MEASURES)] = scores
    return chosen, notes


def _meteor(references: Sequence[str], output: str, target: str, synonyms: bool, notes: list[str]) -> float:
    try:
        return max(meteor(reference, output, target, synonyms=synonyms) for reference in references)
    except NotInstalled as problem:
        note = message("note.without_synonyms", reason=problem)
        if note not in notes:
            notes.append(note)
        return math.nan


# What each relation adds to the others: whether they see the same, and what reference scores their verdicts go with.
#
# Source: the study of MGMT, section 4.3.1, its tables 2, 5 and 6.

DEPENDENT = message("note.dependent_translations")
Combination = frozenset[str]
"""Names of the relations that a translation satisfies; it violates the others."""


def contribution(scores: Mapping[Combination, float]) -> dict[Combination, dict[str, float]]:
    """What satisfying each relation, too, adds to a mean score: combination -> relation in it -> gain.

    The gain is the score of the combination less that of the one without the relation, where both are there.

    >>> gains = contribution({frozenset(): 0.1789, frozenset({"word"}): 0.2858})
    >>> round(gains[frozenset({"word"})]["word"], 4)
    0.1069
    """
    return {
        combination: {
            name: score - scores[combination - {name}] for name in sorted(combination) if combination - {name} in scores
        }
        for combination, score in scores.items()
    }


def mean_gains(gains: Mapping[Combination, Mapping[str, float]]) -> dict[str, float]:
    """The mean gain of each relation over the combinations that have one (the study's table 6, its last rows).

    >>> mean_gains({frozenset("a"): {"a": 0.1}, frozenset("ab"): {"a": 0.3}})
    {'a': 0.2}
    """
    by_relation: dict[str, list[float]] = {}
    for combination_gains in gains.values():
        for name, gain in combination_gains.items():
            by_relation.setdefault(name, []).append(gain)
    return {name: sum(values) / len(values) for name, values in by_relation.items()}


def contribution_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), references: References | None = None
) -> dict[str, Any]:
    """Spearman's correlation of each pair of relations' outcomes; how many translations satisfy each combination of
    them; and with `references` the mean scores of each, and what each relation adds to them.

    `groups` are the translations by the share of relations that they satisfy, `gains` the means over combinations.
    Only translations that every one of the relations checked are counted. Raises what `verdict_values`, `levels_of` and
    `reference_scores` raise.
    """
    values = verdict_values(engine, study, relations)
    names = levels_of(values, relations)
    checked = outcomes(values, names)
    notes: list[str] = [DEPENDENT]
    scored = checked.reset_index()
    if references is not None:
        scored, further_notes = _scored_translations(engine, values, scored, references)
        notes += [NOTE, *further_notes]
    scored["share"] = scored[names].mean(axis=1).round(6)
    scored["satisfied"] = [frozenset(name for name in names if row[name]) for row in scored.to_dict("records")]
    rows = [
        (combination, scored[[satisfied == combination for satisfied in scored["satisfied"]]])
        for combination in _combinations(names)
    ]
    gains = {measure: _gains(rows, measure) for measure in MEASURES if measure in scored}
    combined = [
        {
            "satisfied": [name for name in names if name in combination],
            "translations": len(translations),
            **_mean_scores(translations),
            "gains": {
                measure: by_combination[combination]
                for measure, by_combination in gains.items()
                if combination in by_combination
            },
        }
        for combination, translations in rows
    ]
    means = {measure: mean_gains(by_combination) for measure, by_combination in gains.items()}
    return {
        "relations": names,
        "translations": len(scored),
        "pairs": [_pair(checked, *pair) for pair in combinations(names, 2)],
        "groups": [
            {"share": float(share), "translations": len(group), **_mean_scores(group)}
            for share, group in scored.groupby("share")
        ],
        "combinations": combined,
        "gains": [
            {"relation": name, **{measure: plain(by_relation.get(name)) for measure, by_relation in means.items()}}
            for name in names
        ]
        if references is not None
        else [],
        "notes": notes,
        "signature": origin(engine, values[values["relation"].isin(names)])
        | ({} if references is None else references.signature),
    }


def _scored_translations(
    engine: Engine, values: pd.DataFrame, checked: pd.DataFrame, references: References
) -> tuple[pd.DataFrame, list[str]]:
    outputs = source_outputs(engine, checked["source"].unique())
    texts = values[["source", "text", "target"]].drop_duplicates("source")
    return reference_scores(checked.merge(texts, on="source").merge(outputs, on=["source", "system_id"]), references)


def _combinations(names: Sequence[str]) -> list[Combination]:
    """Every combination of relations, smaller ones first, in the order of the names."""
    return [frozenset(combination) for size in range(len(names) + 1) for combination in combinations(names, size)]


def _gains(rows: Sequence[tuple[Combination, pd.DataFrame]], measure: str) -> dict[Combination, dict[str, float]]:
    return contribution(
        {
            combination: float(translations[measure].mean())
            for combination, translations in rows
            if translations[measure].notna().any()
        }
    )


def _mean_scores(scored: pd.DataFrame) -> dict[str, float | None]:
    return {measure: plain(scored[measure].mean()) if measure in scored else None for measure in MEASURES}


def _pair(checked: pd.DataFrame, first: str, second: str) -> dict[str, Any]:
    correlation = spearman(checked[first].to_numpy(), checked[second].to_numpy())
    return {
        "one": first,
        "other": second,
        "translations": correlation.n,
        "spearman": correlation.value,
        "p": correlation.p,
        "reason": correlation.reason if correlation.value is None else None,
    }


def contribution_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables: pairs of relations, shares, combinations with gains, mean gains."""
    names = report["relations"]
    scored = [measure for measure in MEASURES if any(row[measure] is not None for row in report["groups"])]
    rows: list[tuple[str, ...]] = [
        (pair["one"], pair["other"], count(pair["translations"]), number(pair["spearman"], 3), p_number(pair["p"]))
        for pair in report["pairs"]
    ]
    lines = ["Do two relations see the same? Spearman's correlation of their outcomes", ""]
    lines += [*aligned(("one", "other", "translations", "Spearman", "p"), rows, 2, width), ""]
    rows = [
        (f"{row['share']:.3f}", count(row["translations"]), *(number(row[measure]) for measure in scored))
        for row in report["groups"]
    ]
    lines += ["Translations by the share of relations that they satisfy", ""]
    lines += [*aligned(("share", "translations", *scored), rows, 1, width), ""]
    lines += ["By the relations that they satisfy (+), with mean scores and what each relation adds to them", ""]
    measures: list[str | None] = [*scored] or [None]
    for measure in measures:
        rows = [_combination_row(row, names, measure) for row in report["combinations"]]
        if measure:
            means = [next(row[measure] for row in report["gains"] if row["relation"] == name) for name in names]
            rows.append((*("" for _ in names), "", "mean gain", *(number(gain) for gain in means)))
        heads = (*names, "translations", *((measure, *(f"gain {name}" for name in names)) if measure else ()))
        lines += [*aligned(heads, rows, len(names), width), ""]
    lines += [f"Note: {note}" for note in report["notes"]]
    return [*lines, "signature " + signature_line(report["signature"])]


def _combination_row(row: Mapping[str, Any], names: Sequence[str], measure: str | None) -> tuple[str, ...]:
    ticks = ["+" if name in row["satisfied"] else "" for name in names]
    if measure is None:
        return (*ticks, count(row["translations"]))
    gains = row["gains"].get(measure, {})
    return (
        *ticks,
        count(row["translations"]),
        number(row[measure]),
        *(number(gains.get(name)) for name in names),
    )


# Do metamorphic scores go with scores against a reference? Over sentences, and over systems.
#
# Source: the study of MGMT, section 4.2.3, its tables 3 and 4 (over six systems).

MGMT = "MGMT"
"""The share of the three levels of granularity that a translation satisfies."""
FEWEST = 5
"""Systems from which on correlations over systems are given."""
_SEVERAL = message("note.no_p_over_systems")


def correlation_report(
    engine: Engine, references: References, study: int | None = None, relations: Sequence[str] = ()
) -> dict[str, Any]:
    """Pearson's and Spearman's correlations of each relation's values with the scores of the same translations.

    A row of `sentences` has relation, system (None: all together), measure, n, pearson, pearson_p, spearman,
    spearman_p and, where these are None, the reason; of `systems`, from five systems on, the same over the systems'
    means, without a system. Beside the relations there is `MGMT`, the share of levels that are satisfied, where two
    levels or more were run. Raises what `verdict_values` and `reference_scores` raise, and AuditError where no relation
    has values.
    """
    values = verdict_values(engine, study, relations)
    translated = values[values["target"].notna()]
    scores = pd.concat([translated.dropna(subset=["value"]), _shares(values, relations)], ignore_index=True)
    if scores.empty:
        raise AuditError("no relation of this study has values to correlate; those of translations have")
    unique = scores[["source", "system_id"]].drop_duplicates()
    texts = values[["source", "text", "target"]].drop_duplicates("source")
    outputs = unique.merge(texts, on="source").merge(source_outputs(engine, unique["source"].unique()))
    scored, notes = reference_scores(outputs, references)
    measures = [name for name in MEASURES if scored[name].notna().all()]
    joined = scores.merge(scored[["source", "system_id", *measures]], on=["source", "system_id"])
    systems = joined["system"].nunique()
    notes = [NOTE, *notes, _SEVERAL]
    if systems < FEWEST:
        notes.append(message("note.few_systems", least=FEWEST, systems=systems))
    return {
        "references": references.name,
        "translations": len(scored),
        "without_reference": len(outputs) - len(scored),
        "repeated": references.repeated,
        "means": _means(scored.merge(joined[["system_id", "system"]].drop_duplicates()), measures),
        "sentences": list(_over_sentences(joined, measures)),
        "systems": list(_over_systems(joined, measures)) if systems >= FEWEST else [],
        "notes": notes,
        "signature": origin(engine, values) | references.signature,
    }


def _shares(values: pd.DataFrame, relations: Sequence[str]) -> pd.DataFrame:
    """Rows of the relation `MGMT`; none where fewer than two levels were run, or other relations asked for."""
    try:
        names = [] if relations else levels_of(values)
    except AuditError:
        names = []
    if not names:
        return values.iloc[:0]
    return outcomes(values, names).mean(axis=1).rename("value").reset_index().assign(relation=MGMT)


def _means(scored: pd.DataFrame, measures: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"system": system, "translations": len(system_scores)}
        | {name: float(system_scores[name].mean()) for name in measures}
        for system, system_scores in scored.groupby("system")
    ]


def _over_sentences(joined: pd.DataFrame, measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    systems = sorted(joined["system"].unique())
    for relation, of_relation in joined.groupby("relation", sort=False):
        for measure in measures:
            if len(systems) > 1:
                correlation = _correlation(of_relation["value"], of_relation[measure])
                yield {"relation": relation, "system": None, "measure": measure} | correlation | _NO_P
            for system in systems:
                of_system = of_relation[of_relation["system"] == system]
                correlation = _correlation(of_system["value"], of_system[measure])
                yield {"relation": relation, "system": system, "measure": measure} | correlation


_NO_P = {"pearson_p": None, "spearman_p": None}


def _over_systems(joined: pd.DataFrame, measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    for relation, of_relation in joined.groupby("relation", sort=False):
        means = of_relation.groupby("system")[["value", *measures]].mean()
        for measure in measures:
            yield {"relation": relation, "measure": measure} | _correlation(means["value"], means[measure])


def _correlation(values: pd.Series, scores: pd.Series) -> dict[str, Any]:
    x, y = values.to_numpy(float), scores.to_numpy(float)
    line, ranks = pearson(x, y), spearman(x, y)
    return {
        "n": line.n,
        "pearson": line.value,
        "pearson_p": line.p,
        "spearman": ranks.value,
        "spearman_p": ranks.p,
        "reason": line.reason if line.value is None else None,
    }


def correlation_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables, over systems first where there are enough."""
    lines = [
        f"{count(report['translations'])} translations have a reference in {report['references']}, "
        f"{count(report['without_reference'])} have none.",
        "",
    ]
    measures = [name for name in MEASURES if report["means"] and name in report["means"][0]]
    rows: list[tuple[str, ...]] = [
        (row["system"], count(row["translations"]), *(f"{row[name]:.4f}" for name in measures))
        for row in report["means"]
    ]
    lines += [*aligned(("system", "translations", *measures), rows, 1, width), ""]
    heads: tuple[str, ...] = ("relation", "with", "n", "Pearson", "p", "Spearman", "p")
    if report["systems"]:
        rows = [(row["relation"], row["measure"], *_cells(row)) for row in report["systems"]]
        lines += ["Over systems: their mean values and mean scores", "", *aligned(heads, rows, 2, width), ""]
    rows = [(row["relation"], row["system"] or "(all)", row["measure"], *_cells(row)) for row in report["sentences"]]
    heads = ("relation", "system", "with", "n", "Pearson", "p", "Spearman", "p")
    lines += ["Over sentences", "", *aligned(heads, rows, 3, width), ""]
    return [*lines, *(f"Note: {note}" for note in report["notes"]), "signature " + signature_line(report["signature"])]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    line, ranks = (number(row[name], 3) for name in ("pearson", "spearman"))
    return (count(row["n"]), line, p_number(row["pearson_p"]), ranks, p_number(row["spearman_p"]))


# The MGMT score of systems by domain: the mean share of satisfied relations over the levels of granularity.
#
# Source: the study of MGMT, section 4.2.1 and its table 1.

NOWHERE = "(none)"
"""The domain of sources that have no value of the attribute."""


def levels_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), domain: str | None = None
) -> LevelsDocument:
    """Per (system, domain): the share of satisfied groups of each relation, and their mean, the score.

    `domain` names an attribute of the sources; without it, the corpus is the domain. A relation's share is None where
    it checked nothing there, and so is the score then. Raises what `verdict_values` and `levels_of` raise, and
    UnknownName for an attribute that no source has.
    """
    values = verdict_values(engine, study, relations)
    names = levels_of(values, relations)
    values = values[values["relation"].isin(names)]
    values = values.assign(domain=values["corpus"] if domain is None else _attribute(engine, values, domain))
    grouped = values.groupby(["system", "domain", "relation"])["outcome"]
    shares, checked = (
        numbers.unstack("relation").reindex(columns=names) for numbers in (1 - grouped.mean(), grouped.size())
    )
    cells: list[LevelsCell] = [
        {
            "system": str(system),
            "domain": str(area),
            "score": plain(of_relations.mean(skipna=False)),
            "shares": {name: plain(of_relations[name]) for name in names},
            "checked": {name: int(number) for name, number in checked.loc[system, area].fillna(0).items()},
        }
        for (system, area), of_relations in shares.iterrows()
    ]
    cells.sort(key=lambda cell: (cell["system"], name_order(cell["domain"])))
    return {
        "relations": names,
        "by": domain or "corpus",
        "cells": cells,
        "signature": origin(engine, values),
    }


def _attribute(engine: Engine, values: pd.DataFrame, name: str) -> pd.Series:
    """The attribute of each row's source, with line breaks removed."""
    source = table_of(tables.Source)
    by_source: dict[int, str] = {}
    attributes: set[str] = set()
    with engine.connect() as connection:
        for piece in pieces(int(source_id) for source_id in values["source"].unique()):
            query = select(source.c.id, source.c.attributes).where(source.c.id.in_(piece))
            for row in connection.execute(query):
                attributes |= set(row.attributes)
                by_source[int(row.id)] = " ".join(str(row.attributes.get(name) or "").split()) or NOWHERE
    if name not in attributes:
        raise UnknownName("attribute", name, list(attributes))
    return values["source"].map(by_source)


def levels_lines(report: LevelsDocument, width: int = 100) -> list[str]:
    """The document as a table: systems and relations down, domains across, in per cent."""
    domains = list(dict.fromkeys(cell["domain"] for cell in report["cells"]))
    by_cell = {(cell["system"], cell["domain"]): cell for cell in report["cells"]}
    rows = []
    for system in dict.fromkeys(cell["system"] for cell in report["cells"]):
        system_cells = [by_cell.get((system, domain)) for domain in domains]
        for name in report["relations"]:
            rows.append(
                (system, name, *(UNKNOWN if cell is None else percent(cell["shares"][name]) for cell in system_cells))
            )
        rows.append((system, "score", *(UNKNOWN if cell is None else percent(cell["score"]) for cell in system_cells)))
    return [
        f"Satisfied groups of each level, and their mean (the score), in per cent, by {report['by']}",
        "",
        *aligned(("system", "level", *domains), rows, 2, width),
        "",
        "signature " + signature_line(report["signature"]),
    ]


# Mean values of one relation by target language and system: which languages and systems are consistent.
#
# The linear model of the MCMT study (section III), on the values that a study of ours stored.

FACTORS = ("language", "system")
_CLUSTERS = message("note.values_by_text")
_PLAIN = message("note.values_independent")


def means_report(
    engine: Engine, relation: str, study: int | None = None, *, independent: bool = False, confidence: float = 0.95
) -> MeansDocument:
    """Least-squares means of a relation's values by target language and system, F tests, and which of them differ.

    `means`, `comparisons` and `subsets` have a row a level, or pair of levels, of each factor, `language` (the target)
    or `system`; levels that share a letter in `subsets` are not told apart (Tukey and Kramer, 5 %). What cannot be
    estimated is None, with a reason. `independent` leaves clusters out. Raises what `verdict_values` raises, and
    AuditError where values are too few or do not vary.
    """
    values = verdict_values(engine, study, [relation]).dropna(subset=["value", "target"])
    if values.empty:
        raise AuditError(f"relation {relation} has no values by target language; those of translations have")
    frame = values[["target", "system", "value", "text"]].rename(columns={"target": "language", "value": "score"})
    clusters = None if independent or frame["text"].nunique() < 2 else "text"
    fit = fit_two_way(frame, *FACTORS, clusters=clusters)
    means: list[FactorMean] = []
    comparisons: list[FactorComparison] = []
    subsets: list[FactorLetters] = []
    for factor, factor_means, pairs, letters in compared(fit, confidence):
        means += [cast(FactorMean, {"factor": factor} | asdict(mean)) for mean in factor_means]
        comparisons += [cast(FactorComparison, {"factor": factor} | asdict(pair)) for pair in pairs]
        if len(letters) > 1:
            subsets += [{"factor": factor, "level": level, "letters": shared} for level, shared in letters.items()]
    return {
        "relation": relation,
        "values": len(frame),
        "texts": int(frame["text"].nunique()),
        "means": means,
        "tests": [cast(FactorTest, asdict(test)) for test in type_three(fit)],
        "comparisons": comparisons,
        "subsets": subsets,
        "notes": [_PLAIN if clusters is None else _CLUSTERS],
        "signature": {**origin(engine, values), "confidence": confidence},
    }


def means_lines(report: MeansDocument, width: int = 100) -> list[str]:
    """The document as tables: tests, means with their letters, pairs."""
    lines = [f"Values of {report['relation']}: {count(report['values'])} of {count(report['texts'])} texts", ""]
    rows: list[tuple[str, ...]] = [
        (
            test["effect"],
            number(test["f"], 2),
            f"{test['df']}, {test['df_error']}",
            p_number(test["p"]),
            test["reason"] or "",
        )
        for test in report["tests"]
    ]
    lines += [*aligned(("effect", "F", "df", "p", ""), rows, 1, width), ""]
    letters = {(subset["factor"], subset["level"]): subset["letters"] for subset in report["subsets"]}
    for factor in FACTORS:
        factor_means = [mean for mean in report["means"] if mean["factor"] == factor]
        factor_means.sort(key=lambda mean: (mean["mean"] is None, -(mean["mean"] or 0)))
        rows = [
            (
                mean["level"],
                count(mean["n"]),
                number(mean["mean"]),
                number(mean["se"]),
                UNKNOWN if mean["low"] is None else f"{mean['low']:.4f} to {mean['high']:.4f}",
                letters.get((factor, mean["level"]), "") if mean["mean"] is not None else mean["reason"] or "",
            )
            for mean in factor_means
        ]
        lines += [*aligned((factor, "n", "LS mean", "SE", "interval", "subset"), rows, 1, width), ""]
    rows = [
        (pair["one"], pair["other"], number(pair["difference"]), number(pair["t"], 2), p_number(pair["p"]))
        for pair in report["comparisons"]
    ]
    if rows:
        lines += [*aligned(("one", "other", "difference", "t", "adjusted p"), rows, 2, width), ""]
    return [*lines, *(f"Note: {note}" for note in report["notes"]), "signature " + signature_line(report["signature"])]
