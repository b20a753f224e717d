"""The tables of the studies of translation, as frames: the linear model of MCMT; levels, gains, correlations of MGMT.

Sources: Pesu et al., "A Monte-Carlo approach to automatic metamorphic testing of machine translation software" (MCMT,
2017), section III; the study of MGMT (seeds/002...), section 4. A verdict keeps the value that its relation compared,
so every table but that of recorded chains is made of a database, and nothing is run again.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg, stats
from sqlalchemy import Engine, select

import audit
from audit.corpora.recordings import unescape_entities
from audit.errors import AuditError, BadFile, NotInstalled, UnknownName, install_line
from audit.false_satisfaction.cells import read_cells
from audit.files import read_table, sha_of
from audit.keys import fingerprint
from audit.relations import Outcome
from audit.relations.registry import base_name, name_order
from audit.reports.frames import Table, Tables
from audit.reports.study import relation_entries, system_entries
from audit.statistics.intervals import effective_interval, effective_size
from audit.statistics.orders import letters_of
from audit.store import table_of, tables
from audit.tasks import Input
from audit.text.similarity import bleu, cosine, levenshtein_similarity, meteor, reference_bleu, word_error_rate

# The two-way linear model: S_ij = mu + A_i + B_j + (AB)_ij + e (MCMT, equation 2).


class TwoWay:
    """The model of one score a row, by least squares; cells of the two `factors` may be uneven, and empty.

    With `clusters`, a column, rows that share a value may go together, and standard errors and tests allow for that
    (Liang and Zeger, Biometrika 73, 1986; CR1). Raises AuditError where scores are too few or do not vary.
    """

    def __init__(self, frame: pd.DataFrame, factors: tuple[str, str], clusters: str | None = None):
        try:
            from statsmodels.api import OLS
        except ImportError as problem:
            raise NotInstalled(f"the linear model needs statsmodels; run: {install_line('translation')}") from problem
        self.factors, self.clusters = factors, frame[clusters].nunique() if clusters else None
        cells = pd.MultiIndex.from_frame(frame[list(factors)].astype(str))
        self.counts = cells.value_counts().sort_index()
        grid = pd.MultiIndex.from_product([sorted(set(cells.get_level_values(at))) for at in (0, 1)], names=factors)
        # A coefficient a cell: NaN where a cell is empty, so that nothing is said of it.
        self.cells = pd.DataFrame(np.eye(len(self.counts)), self.counts.index).reindex(grid)
        if len(frame) <= len(self.counts) or self.clusters == 1:
            raise AuditError("the scores, or the sentences that they are of, are too few; choose fewer languages")
        model = OLS(frame["score"].to_numpy(float), self.cells.loc[cells].to_numpy())
        self.fit, self.df = model.fit(), int(model.df_resid)
        self.mse = float(self.fit.mse_resid)
        if self.mse <= 1e-18 * float(np.square(model.endog).max()):
            raise AuditError("scores do not vary within cells, so nothing says what chance does")
        if self.clusters is not None:
            groups = pd.factorize(frame[clusters])[0]
            self.fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
            self.df = self.clusters - 1

    def rows(self, factor: str) -> pd.DataFrame:
        """Return for each level the combination of coefficients that is its least-squares mean; NaN: not estimable."""
        sums = self.cells.groupby(level=factor).agg(lambda column: column.sum(skipna=False))
        return sums / len(self.cells) * len(sums)

    def means(self, factor: str, confidence: float = 0.95) -> pd.DataFrame:
        """Return the least-squares mean of each level of a factor, best first, with a t interval and its `subset`.

        The mean is over the levels of the other factor (Searle, Speed and Milliken, American Statistician 34, 1980),
        and NaN where one of them is missing. Levels that share a letter do not differ (Tukey and Kramer, 5 %).
        """
        rows = self.rows(factor)
        test, is_estimable = self.fit.t_test(rows.fillna(0).to_numpy()), rows.notna().all(axis=1)
        n = self.counts.groupby(level=factor).sum()
        frame = pd.DataFrame({"factor": factor, "n": n, "mean": test.effect, "se": np.ravel(test.sd)}, rows.index)
        frame.loc[~is_estimable, ["mean", "se"]] = np.nan
        wide = stats.t.isf((1 - confidence) / 2, self.df) * frame["se"]
        frame["low"], frame["high"] = frame["mean"] - wide, frame["mean"] + wide
        letters = subsets(frame["mean"][is_estimable].to_dict(), self.pairs(factor))
        frame.insert(1, "level", rows.index)
        frame["subset"] = [letters.get(level, "") for level in rows.index]
        return frame.sort_values(["mean", "level"], ascending=[False, True], ignore_index=True)

    def pairs(self, factor: str, confidence: float = 0.95) -> pd.DataFrame:
        """Return every two levels with a mean; p and ends hold for all together (Kramer, Biometrics 12, 1956)."""
        rows = self.rows(factor).dropna()
        names = list(combinations(rows.index, 2))
        frame = pd.DataFrame(names, columns=["one", "other"]).assign(factor=factor)
        if not names:
            return frame.assign(difference=[], se=[], t=[], p=[], low=[], high=[])
        test = self.fit.t_test(np.array([rows.loc[first] - rows.loc[other] for first, other in names]))
        frame["difference"], frame["se"] = test.effect, test.sd
        frame["t"] = frame["difference"] / frame["se"]
        frame["p"] = [adjusted_p(t, len(rows), self.df) for t in frame["t"]]
        wide = stats.studentized_range.isf(1 - confidence, len(rows), self.df) / math.sqrt(2) * frame["se"]
        return frame.assign(low=frame["difference"] - wide, high=frame["difference"] + wide)

    def tests(self) -> pd.DataFrame:
        """Return F tests of type III: that a factor's means are equal, that effects only add up.

        Of levels with a mean. With clusters Wald's statistic is taken as Hotelling's T2, so that few clusters do not
        reject too often; NaN where they are too few.
        """
        means = [self.rows(factor).dropna().to_numpy() for factor in self.factors]
        present = self.counts.index.to_frame(index=False)
        adding = np.hstack([pd.get_dummies(present[name], dtype=float).to_numpy() for name in self.factors])
        effects = [*(rows[1:] - rows[:1] for rows in means), linalg.null_space(adding.T).T]
        names = [*self.factors, " x ".join(self.factors)]
        return pd.DataFrame([{"effect": name} | self._test(rows) for name, rows in zip(names, effects, strict=True)])

    def _test(self, rows: np.ndarray) -> dict[str, float]:
        df, f, p = len(rows), math.nan, math.nan
        rest = self.df if self.clusters is None else self.df - df + 1
        spread = np.linalg.eigvalsh(rows @ self.fit.cov_params() @ rows.T) if df and rest >= 1 else np.zeros(1)
        if spread[0] > 1e-9 * spread[-1]:  # else what is tested does not vary in some direction: too few clusters
            f = float(self.fit.f_test(rows).fvalue) * rest / self.df
            p = float(stats.f.sf(f, df, rest))
        return {"f": f, "df": df, "df_error": max(rest, 0), "p": p}


def adjusted_p(t: float, means: int, df: float) -> float:
    """Return the p of one of all pairs of `means` means (Tukey; cautious for uneven ones: Hayter, Ann. Stat. 12, 1984).

    >>> round(adjusted_p(3.71, 3, 5608), 4)  # as in the MCMT study
    0.0006
    """
    return float(np.clip(stats.studentized_range.sf(abs(t) * math.sqrt(2), means, df), 0.0, 1.0))


def subsets(means: Mapping[str, float], pairs: pd.DataFrame, alpha: float = 0.05) -> dict[str, str]:
    """Return level -> its letters, the highest mean first; two share one unless their p is below `alpha`."""
    order = sorted(means, key=lambda name: (-means[name], name))
    apart = pairs.loc[pairs["p"] < alpha, ["one", "other"]].itertuples(index=False, name=None)
    return letters_of(order, list(apart))


def model_tables(model: TwoWay, about: str) -> dict[str, Table]:
    """Return means, tests and pairs of a model."""
    kind = "independent errors" if model.clusters is None else f"errors that go together in {model.clusters} sentences"
    title = f"{about}: least-squares means; {kind}, df {model.df:,}, mean square {model.mse:.5f}"
    return {
        "means": Table(title, pd.concat(model.means(factor) for factor in model.factors)),
        "tests": Table(f"{about}: F tests of type III", model.tests()),
        "pairs": Table(f"{about}: pairs by Tukey and Kramer", pd.concat(model.pairs(name) for name in model.factors)),
    }


# Recorded chains (`audit pivots`): a direct translation beside the one that went over another language.

FUNCTIONS = {"levenshtein": levenshtein_similarity, "bleu": bleu, "cosine": cosine}
CONSISTENCY = "consistency"
"""The study's S: the mean of its three scores."""
CHAIN = ["system", "target", "direct", "alternate"]
"""Columns of a file of chains; optional are the others of the study's sheets."""
OPTIONAL = ["source", "pivot"]


def read_chains(path: str | Path) -> pd.DataFrame:
    """Read a table with the columns `CHAIN`, "" in optional ones that it lacks; rows without one of these are left out,
    and odd ones counted. `attrs` has remarks on them (`notes`) and what names the file (`signature`). Raises BadFile.
    """
    bad: list[tuple[int, str]] = []
    table = read_table(path, CHAIN, OPTIONAL, may_be_empty=CHAIN, bad=bad)
    frame = table.reindex(columns=[*CHAIN, *OPTIONAL], fill_value="").rename_axis("line").reset_index()
    whole = frame[CHAIN].ne("").all(axis=1)
    rows, left_out, frame = len(table) + len(bad), [*frame["line"][~whole], *(line for line, _ in bad)], frame[whole]
    if frame.empty:
        raise BadFile(f"{path}: none of the {rows:,} rows has all of {', '.join(CHAIN)}")
    texts = frame[["direct", "alternate"]]
    odd = {
        "have an HTML entity, compared as it stands": texts.ne(texts.map(unescape_entities)).any(axis=1),
        "repeat another row": frame.duplicated([*CHAIN, *OPTIONAL]),
        "go over their own target language, which is no other way": frame["pivot"].eq(frame["target"]),
    }
    lines = {"lack a system, a target or a text: left out": left_out}
    lines |= {what: list(frame["line"][rows_with]) for what, rows_with in odd.items()}
    notes = [f"{len(at):,} rows {what} (first: line {min(at):,})." for what, at in lines.items() if at]
    frame.attrs = {"notes": notes, "signature": {"file": Path(path).name, "sha": sha_of(Path(path)), "rows": rows}}
    return frame


def choose(chains: pd.DataFrame, **chosen: Sequence[str] | None) -> pd.DataFrame:
    """Return the chains whose `target` and `system` are among those named; None: all. Raises UnknownName."""
    for column, names in ((column, names) for column, names in chosen.items() if names is not None):
        if unknown := sorted({*names} - {*(present := sorted(chains[column].unique()))}):
            raise UnknownName(column, unknown[0], present)
        chains = chains[chains[column].isin(list(names))]
    return chains


def pivots_tables(
    chains: pd.DataFrame,
    *,
    score: str = CONSISTENCY,
    threshold: float = 0.8,
    source_language: str = "en",
    independent: bool = False,
) -> Tables:
    """Return for pairs over a pivot and for round trips the mean scores of each cell, and the model.

    Pairs into `source_language` are round trips: their direct translation is the source itself. Pairs of a sentence go
    together unless they are `independent`, as in the study, or the file does not say which are. Raises AuditError.
    """
    if not 0 <= threshold <= 1:
        raise AuditError(f"the threshold {threshold:g} is impossible; it lies between 0 and 1, as scores do")
    pairs = list(zip(chains["direct"], chains["alternate"], strict=True))
    frame = chains.assign(**{name: [score_of(*pair) for pair in pairs] for name, score_of in FUNCTIONS.items()})
    frame[CONSISTENCY] = frame[list(FUNCTIONS)].mean(axis=1)
    has_source, has_pivot = (frame[name].ne("").any() for name in OPTIONAL)
    frame["sentence"] = frame["source"].where(frame["source"].ne(""), frame["line"].astype(str))
    frame = frame.assign(score=frame[score], equal=frame["direct"].eq(frame["alternate"]))
    clusters = None if independent or not has_source else "sentence"
    back, notes, tables = frame["target"].eq(source_language), [*chains.attrs["notes"]], {}
    trips = ("round_trips", frame[back], "pivot" if has_pivot else "target")
    for name, part, factor in (("pivots", frame[~back], "target"), trips):
        if part.empty:
            continue
        about = f"{name.replace('_', ' ').capitalize()}, {score}"
        groups = part.groupby([factor, "system"])
        cells = [{factor: key[0], "system": key[1]} | _cell(rows, threshold) for key, rows in groups]
        title = f"{about}: {len(part):,} pairs, SR_o at {threshold:g}"
        tables[name] = Table(title, pd.DataFrame(cells), ("sr_observed", "low", "high"))
        try:
            tables_of = model_tables(TwoWay(part, (factor, "system"), clusters), about)
            tables |= {f"{name}_{key}": table for key, table in tables_of.items()}
        except AuditError as problem:
            notes.append(f"{about}: no model; {problem}.")
    signature = {"audit": audit.__version__, **chains.attrs["signature"], "score": score, "threshold": threshold}
    signature |= {"errors": clusters or "independent", "source_language": source_language}
    return Tables(tables, notes, signature)


def _cell(pairs: pd.DataFrame, threshold: float) -> dict[str, Any]:
    satisfied = pairs["score"].to_numpy() >= threshold
    rate = float(satisfied.mean())
    ends = effective_interval(rate, effective_size(pairs["sentence"].to_numpy(), satisfied))
    sizes = {"pairs": len(pairs), "sentences": pairs["sentence"].nunique()}
    means: dict[str, Any] = pairs[[*FUNCTIONS, CONSISTENCY]].mean().to_dict()
    return sizes | means | {"equal": int(pairs["equal"].sum()), "sr_observed": rate, "low": ends.low, "high": ends.high}


# What relations measured: every verdict of a study with its value.

LEVELS = ("MGMT-sentence", "MGMT-phrase", "MGMT-word")
"""The three levels of multi-granularity testing: what a system's MGMT score is the mean of."""
STEPS = tuple(round(step / 10, 1) for step in range(11))


def verdict_values(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), task: str | None = "translation"
) -> pd.DataFrame:
    """Return one row a verdict that satisfies or violates: outcome 0 or 1, `value` what was compared (NaN: labels).

    `text`, `target` and `attributes` are of the source; names are those of the report. `task` None: every task. Raises
    AuditError where nothing of the task was run, UnknownName for a relation that no study has.
    """
    verdict, group = table_of(tables.Verdict), table_of(tables.Group)
    source, content = table_of(tables.Source), table_of(tables.Input)
    with engine.connect() as connection:
        rows, _, cells = read_cells(connection, study)
        cells = cells if task is None else cells[cells["task"] == task]
        if cells.empty:
            raise AuditError(f"no study of task {task} has been run; `audit run` with this task does")
        present = sorted(set(cells["relation"]), key=name_order)
        if unknown := [name for name in relations if name not in present]:
            raise UnknownName("relation", unknown[0], present)
        cells = cells[cells["relation"].isin(relations or present)]
        query = select(
            group.c.study_id.label("study"), group.c.relation_id, verdict.c.system_id, verdict.c.outcome,
            verdict.c.value, source.c.id.label("source"), source.c.attributes, content.c.texts, content.c.languages,
        )  # fmt: skip
        query = query.join_from(verdict, group, group.c.id == verdict.c.group_id)
        query = query.join(source, source.c.id == group.c.source_id).join(content, content.c.id == source.c.input_id)
        query = query.where(verdict.c.outcome.in_([int(Outcome.SATISFIED), int(Outcome.VIOLATED)]))
        for column, key in ((group.c.study_id, "study"), (group.c.relation_id, "relation_id")):
            query = query.where(column.in_(cells[key].unique().tolist()))
        values = pd.read_sql(query, connection)
    items = [Input.stored(*row) for row in values[["texts", "languages"]].itertuples(index=False, name=None)]
    values = values.drop(columns=["texts", "languages"]).assign(
        text=[item.text for item in items],
        target=[item.target for item in items],
        value=values["value"].astype(float),
        corpus=values["study"].map({row["id"]: row["corpus"] for row in rows}),
    )
    values = values.merge(cells[["study", "relation_id", "system_id", "relation", "system"]])
    values["relation"] = pd.Categorical(values["relation"], list(dict.fromkeys(relations)) or present)
    values = values.sort_values(["study", "relation", "system", "source"], kind="stable", ignore_index=True)
    return values.astype({"relation": str})


def source_outputs(engine: Engine, studies: Iterable[int]) -> pd.DataFrame:
    """Return what each system made of the sources of studies: columns source, system_id, output (the last text)."""
    source, output = table_of(tables.Source), table_of(tables.Output)
    query = select(source.c.id.label("source"), output.c.system_id, output.c.text.label("output"))
    query = query.join(output, output.c.input_id == source.c.input_id).order_by(output.c.attempt)
    query = query.where(output.c.text.is_not(None), output.c.error.is_(None), source.c.study_id.in_(studies))
    with engine.connect() as connection:
        rows = pd.read_sql(query, connection)
    return rows.drop_duplicates(["source", "system_id"], keep="last", ignore_index=True)


def _origin(engine: Engine, values: pd.DataFrame, **more: object) -> dict[str, Any]:
    """Return where the numbers are from: versions, studies, parameters, settings."""
    studies, corpora = sorted(map(int, values["study"].unique())), sorted(values["corpus"].unique())
    with engine.connect() as connection:
        relations = relation_entries(connection, values["relation_id"].unique().tolist())
        systems = system_entries(connection, values["system_id"].unique().tolist())
    versions = {"audit": audit.__version__, "studies": studies, "corpora": corpora}
    return versions | {"relations": relations, "systems": systems} | more


def _levels_in(values: pd.DataFrame, relations: Sequence[str] = ()) -> list[str]:
    """Return the relations asked for, or the levels that were run, as named in `values`."""
    names = list(dict.fromkeys(values["relation"]))
    levels = [name for level in LEVELS for name in names if base_name(name) == level]
    if not relations and not 2 <= len(levels) == len({base_name(name) for name in levels}):
        says = f"of {', '.join(LEVELS)} two or more must have been run, each in one version; choose with relations=A,B"
        raise AuditError(says, parameter="relations")
    return [name for name in names if name in relations] or levels


def _satisfied(values: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return 1.0 (satisfied) and 0.0 of each relation, of the translations that all of them checked."""
    chosen = values[values["relation"].isin(names)].assign(satisfied=lambda frame: 1.0 - frame["outcome"])
    index = ["study", "source", "system", "system_id"]
    return chosen.pivot(index=index, columns="relation", values="satisfied")[list(names)].dropna().reset_index()


def bounds_tables(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), at: Sequence[float] = STEPS
) -> Tables:
    """Return SR_o of each cell at other bounds than the one that was run (a parameter `threshold` or `bound`)."""
    values = verdict_values(engine, study, relations, task=None).dropna(subset="value")
    table = table_of(tables.Relation)
    with engine.connect() as connection:
        params = {row.id: json.loads(row.params) for row in connection.execute(select(table.c.id, table.c.params))}
    bounds = {id: said.get("threshold", said.get("bound")) for id, said in params.items()}
    values = values.assign(bound=values["relation_id"].map(bounds).astype(float)).dropna(subset="bound")
    if values.empty:
        raise AuditError("no relation that was run compares a value with a bound; those of translations do")
    tried = {"sr_observed": values["bound"]} | {f"{bound:g}": bound for bound in at}
    values = values.assign(**{name: values["value"].ge(bound) for name, bound in tried.items()})
    cells = values.groupby(["study", "corpus", "relation", "system", "bound"], sort=False)
    compared = cells["value"].agg(checked="size", mean="mean", median="median")
    frame = compared.join(cells[list(tried)].mean()).reset_index()
    shown = Table("SR_o at these bounds, in per cent", frame, list(tried))
    return Tables({"cells": shown}, [], _origin(engine, values))


def means_tables(engine: Engine, relation: str, study: int | None = None, *, independent: bool = False) -> Tables:
    """Return least-squares means of a relation's values by target language and system, F tests, and which differ."""
    values = verdict_values(engine, study, [relation]).dropna(subset=["value", "target"])
    frame = values.rename(columns={"target": "language", "value": "score"})
    clusters = None if independent or frame["text"].nunique() < 2 else "text"
    model = TwoWay(frame, ("language", "system"), clusters)
    return Tables(model_tables(model, relation), [], _origin(engine, values, errors=clusters or "independent"))


def levels_tables(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), domain: str | None = None
) -> Tables:
    """Return the share of satisfied groups of each level and their mean, the MGMT score (table 1 of MGMT), by domain:
    an attribute of the sources, or the corpus. Raises UnknownName."""
    values = verdict_values(engine, study, relations)
    names = _levels_in(values, relations)
    values = values[values["relation"].isin(names)].assign(domain=values["corpus"])
    if domain is not None:
        if domain not in (domains := sorted({key for said in values["attributes"] for key in said})):
            raise UnknownName("attribute", domain, domains)
        values["domain"] = [" ".join(str(said.get(domain) or "(none)").split()) for said in values["attributes"]]
    values = values.assign(share=1 - values["outcome"], level=pd.Categorical(values["relation"], [*names, "score"]))
    shares = values.pivot_table(index=["system", "level"], columns="domain", values="share", observed=False)
    shares = shares[sorted(shares, key=name_order)]
    levels = shares[shares.index.get_level_values("level") != "score"].groupby("system")
    for system, scores in levels.agg(lambda column: column.mean(skipna=False)).iterrows():
        shares.loc[(system, "score"), :] = scores
    frame = shares.reset_index()
    title = f"Satisfied groups of each level, and their mean (the score), in per cent, by {domain or 'corpus'}"
    return Tables({"levels": Table(title, frame, list(shares))}, [], _origin(engine, values))


# Scores of translations against a user's references: a proxy, never gold.

MEASURES = ("bleu", "meteor", "wer")
"""Of reference and output; `wer` stands for 1 - WER, so that more is better in all, as in the study's tables."""


def read_references(path: str | Path) -> pd.DataFrame:
    """Read a table with the columns source, reference and target_language: columns text, target and `references`, the
    tuple of a text's references; `attrs` names the file."""
    table = read_table(path, ("source", "reference", "target_language"))
    found = table.groupby(["source", "target_language"])["reference"].unique().map(tuple).rename("references")
    sha = fingerprint("\t".join((*key, *references)) for key, references in found.items())
    frame = found.rename_axis(["text", "target"]).reset_index()
    frame.attrs = {"references": Path(path).name, "sha": sha}
    return frame


def reference_scores(outputs: pd.DataFrame, references: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that have a reference with the columns `MEASURES`, of the best reference each, and remarks.

    `outputs` has the columns text (of the source), target and output. METEOR into English is NaN without WordNet.
    """
    chosen = outputs.assign(text=outputs["text"].str.strip()).merge(references, on=["text", "target"])
    if chosen.empty:
        name, says = references.attrs["references"], "source and target_language must be as the corpus has them"
        raise AuditError(f"{name} has no reference for any of the {len(outputs):,} outputs of this study; {says}")
    notes = ["References are one good translation of many: a proxy, never gold."]

    def scores(texts: tuple[str, ...], output: str, target: str) -> tuple[float, float, float]:
        try:
            synonymous = max(meteor(text, output, target) for text in texts)
        except NotInstalled as problem:
            synonymous = math.nan
            notes[1:] = [f"METEOR into English is not there: {problem}"]
        errors = min(word_error_rate(text, output, target) for text in texts)
        return max(reference_bleu(text, output, target) for text in texts), synonymous, 1 - errors

    keys = ["references", "output", "target"]
    distinct = chosen[keys].drop_duplicates()  # systems often say the same
    distinct[list(MEASURES)] = [scores(*row) for row in distinct.itertuples(index=False, name=None)]
    return chosen.merge(distinct, on=keys).drop(columns="references"), notes


def _scored(
    engine: Engine, values: pd.DataFrame, chosen: pd.DataFrame, references: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Return the chosen rows (source, system_id) with the scores of what the system made of the source, and remarks."""
    outputs = source_outputs(engine, values["study"].unique().tolist())
    texts = values[["source", "text", "target"]].drop_duplicates("source")
    return reference_scores(chosen.merge(texts, on="source").merge(outputs, on=["source", "system_id"]), references)


def correlation(first: Iterable[float], second: Iterable[float]) -> dict[str, float]:
    """Return Pearson's r and Spearman's rho with two-sided p; NaN below three pairs, or where one side is constant.

    Spearman's p is exact up to eight pairs: all orders of the ranks count alike.
    """
    x, y = np.array([*first], float), np.array([*second], float)
    names = ("pearson", "pearson_p", "spearman", "spearman_p")
    if len(x) < 3 or any(np.ptp(side) <= 1e-12 * np.abs(side).max() for side in (x, y)):
        return {"n": len(x)} | dict.fromkeys(names, math.nan)
    line, ranks = stats.pearsonr(x, y), stats.spearmanr(x, y)
    p = float(ranks.pvalue)
    if len(x) <= 8:
        a, b = (stats.rankdata(side) - (len(x) + 1) / 2 for side in (x, y))
        orders = b[np.array(list(permutations(range(len(b)))))] @ a
        p = float(np.mean(np.abs(orders) >= abs(a @ b) * (1 - 1e-9)))
    values = (float(line.statistic), float(line.pvalue), float(ranks.statistic), p)
    return {"n": len(x)} | dict(zip(names, values, strict=True))


def correlation_tables(
    engine: Engine, references: pd.DataFrame, study: int | None = None, relations: Sequence[str] = ()
) -> Tables:
    """Return how values go with scores against references: over sentences, and over systems (MGMT's tables 3 and 4).

    Beside the relations there is `MGMT`, the share of levels that a translation satisfies, where two were run.
    """
    values = verdict_values(engine, study, relations)
    measured = values.dropna(subset=["value", "target"])
    levels = [] if relations else [name for name in dict.fromkeys(values["relation"]) if base_name(name) in LEVELS]
    if len(levels) > 1:
        shares = _satisfied(values, _levels_in(values))
        shares["value"] = shares[levels].mean(axis=1)
        measured = pd.concat([measured, shares.assign(relation="MGMT")], ignore_index=True)
    unique = measured[["source", "system_id", "system"]].drop_duplicates()
    scored, notes = _scored(engine, values, unique, references)
    measures = [name for name in MEASURES if scored[name].notna().all()]
    joined = measured.merge(scored[["source", "system_id", *measures]], on=["source", "system_id"])
    means = scored.groupby("system").agg(translations=("source", "size"), **{name: (name, "mean") for name in measures})
    sentences, systems = [], []
    by_relation = list(joined.groupby("relation", sort=False))
    for (relation, rows), measure in product(by_relation, measures):
        row = {"relation": relation, "measure": measure}
        by_system = rows.groupby("system")[["value", measure]].mean()
        if len(by_system) > 1:  # translations of one sentence by several systems depend on each other: no p
            together = correlation(rows["value"], rows[measure]) | {"pearson_p": math.nan, "spearman_p": math.nan}
            sentences.append(row | {"system": "(all)"} | together)
        for system, own in rows.groupby("system"):
            sentences.append(row | {"system": system} | correlation(own["value"], own[measure]))
        if len(by_system) >= 5:
            systems.append(row | correlation(by_system["value"], by_system[measure]))
    without = len(unique) - len(scored)
    title = f"Scores against {references.attrs['references']}; {without:,} translations have no reference"
    by_pair = {
        "means": Table(title, means.reset_index()),
        "systems": Table("Over systems: their mean values and mean scores", pd.DataFrame(systems)),
        "sentences": Table("Over sentences", pd.DataFrame(sentences)),
    }
    notes += ["Over all systems together there is no p: translations of one sentence depend on each other."]
    notes += [] if systems else ["Correlations over systems need 5 of them."]
    return Tables(by_pair, notes, _origin(engine, values, **references.attrs))


# What each relation adds to the others (MGMT, section 4.3.1, tables 2, 5 and 6).


def gains(scores: Mapping[frozenset[str], float]) -> dict[frozenset[str], dict[str, float]]:
    """Return what satisfying each relation, too, adds to a mean score: combination -> relation in it -> gain."""
    return {
        all_of: {name: score - scores[all_of - {name}] for name in sorted(all_of) if all_of - {name} in scores}
        for all_of, score in scores.items()
    }


def mean_gains(gains: Mapping[frozenset[str], Mapping[str, float]]) -> dict[str, float]:
    """Return the mean gain of each relation (the last rows of MGMT's table 6)."""
    return {str(name): float(mean) for name, mean in pd.DataFrame(list(gains.values())).mean().items()}


def contribution_tables(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), references: pd.DataFrame | None = None
) -> Tables:
    """Return whether two relations see the same, how many translations satisfy each combination of them, and with
    `references` the mean scores of each and what a relation adds; only of translations that all of them checked."""
    values = verdict_values(engine, study, relations)
    names = _levels_in(values, relations)
    scored = checked = _satisfied(values, names)
    notes = ["Translations of one sentence depend on each other: the p of pairs are too small."]
    if references is not None:
        scored, remarks = _scored(engine, values, checked, references)
        notes += remarks
    measures = [name for name in MEASURES if name in scored and scored[name].notna().any()]
    columns = {"translations": ("source", "size")} | {name: (name, "mean") for name in measures}
    both = [{"one": a, "other": b} | correlation(checked[a], checked[b]) for a, b in combinations(names, 2)]
    pairs = pd.DataFrame(both)[["one", "other", "n", "spearman", "spearman_p"]]
    shares = scored.assign(share=scored[names].mean(axis=1).round(6)).groupby("share").agg(**columns).reset_index()
    combined = scored.groupby(names).agg(**columns).reset_index()
    keys = [frozenset(name for name in names if row[name]) for row in combined.to_dict("records")]
    combined[names] = combined[names].replace({1.0: "+", 0.0: ""})
    by_subset = {
        "pairs": Table("Do two relations see the same? Spearman's correlation of their outcomes", pairs),
        "shares": Table("Translations by the share of relations that they satisfy", shares),
        "combinations": Table("Translations by the relations that they satisfy (+)", combined),
    }
    means = pd.DataFrame({"relation": names})
    for measure in measures:
        gained = gains(dict(zip(keys, combined[measure], strict=True)))
        added = {f"gain {name}": [gained[key].get(name) for key in keys] for name in names}
        by_subset[measure] = Table(f"What each relation adds to {measure}", combined[[*names, measure]].assign(**added))
        means[measure] = means["relation"].map(mean_gains(gained))
    if measures:
        by_subset["gains"] = Table("Mean gains", means)
    signature = {} if references is None else references.attrs
    return Tables(by_subset, notes, _origin(engine, values[values["relation"].isin(names)], **signature))
