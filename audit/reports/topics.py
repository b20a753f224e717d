"""Violation rates by topic: by gold label, or by an attribute of the sources."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audit.false_satisfaction.topics import GOLD, StudyTopics, Topics
from audit.messages import message
from audit.reports.certainty import KEY, Certainty, dependence, with_worth
from audit.reports.document import TopicNumbers, TopicRate, TopicsEntry, ViolationTable
from audit.statistics.intervals import ClusteredRate, Estimator, Target, clustered_rate
from audit.statistics.rates import violations, with_rates

COUNTS = ("satisfied", "violated", "judged", "false")


def topic_entries(
    tables: Sequence[ViolationTable],
    topics: Topics,
    judged: pd.DataFrame,
    checked: pd.DataFrame | None,
    interval: Estimator,
    target: Target,
    confidence: float = 0.95,
) -> list[TopicsEntry]:
    """One entry a table of `violations`: the rates of every topic and system, over all relations and of each.

    An entry has `topics`, their names in order (None last, where sources have none), and `rates`: one for each (topic,
    system) over all relations (`relation` None), then one for each relation. VR_o is known for the corpus; its interval
    is for the texts it was drawn from, clustered by source and document. The judged groups of a cell that belong to a
    topic are a random sample of the topic's satisfied groups (given how many there are), so that each has R_FS and VR_g
    of its own, with `interval`; over relations they are put together as roll-ups are. `judged` and `checked` as in
    `certainty`. Studies that lack the property have no rates and a reason. Source: Cochran, Sampling Techniques (1977),
    section 2.13, for subpopulations.
    """
    return [
        _entry(table, topics, judged[judged["study"] == table["study"]], checked, interval, target, confidence)
        for table in tables
    ]


def _entry(
    table: ViolationTable,
    topics: Topics,
    judged: pd.DataFrame,
    checked: pd.DataFrame | None,
    interval: Estimator,
    target: Target,
    confidence: float,
) -> TopicsEntry:
    entry: TopicsEntry = {
        "task": table["task"],
        "study": table["study"],
        "corpus": table["corpus"],
        "by": topics.by,
        "topics": [],
        "systems": table["systems"],
        "relations": [row["name"] for row in table["rows"] if row["by"] == "relation"],
        "rates": [],
        "reason": None,
    }
    study_topics = topics.studies.get(table["study"]) if isinstance(table["study"], int) else None
    if study_topics is None:
        lacks = message("topics.none_gold") if topics.by == GOLD else message("topics.none_with", attribute=topics.by)
        return entry | {"reason": lacks}
    cells = _with_judged(study_topics, judged)
    present = sorted(set(cells["topic"]))
    of_topic: list[pd.DataFrame] = []
    names: list[str | None] = [*study_topics.names, None]
    over_relations: list[TopicRate] = []
    for topic in present:
        in_judged = _within(judged, study_topics, topic)
        in_checked = None if checked is None else checked[checked["study"] == table["study"]]
        in_checked = None if in_checked is None else _within(in_checked, study_topics, topic)
        topic_cells = cells[cells["topic"] == topic].reset_index(drop=True)
        if target == "population":
            topic_cells = with_worth(topic_cells, in_judged, in_checked, confidence)
        topic_cells = with_rates(topic_cells, interval, confidence, target)
        of_topic.append(topic_cells)
        certainty = Certainty(*dependence(topic_cells, in_judged, in_checked, target), target, confidence)
        clusters = study_topics.sums[study_topics.sums["topic"] == topic].set_index("system")
        for system in table["systems"]:
            if system not in clusters.index:
                continue
            places = np.flatnonzero((topic_cells["system"] == system).to_numpy())
            sums = clusters.loc[system]
            observed = clustered_rate(sums["violated"], sums["groups"], confidence)
            over_relations.append(
                {
                    "topic": names[topic],
                    "relation": None,
                    "system": system,
                    **_rates(
                        *certainty.together(topic_cells, places.tolist(), certainty.of_genuine),
                        observed,
                        int(sums["sources"]),
                    ),
                }
            )
    place = {relation: at for at, relation in enumerate(entry["relations"])}
    by_relation: list[tuple[int, int, str, TopicRate]] = []
    frame = pd.concat(of_topic, ignore_index=True) if of_topic else cells
    for at, row in enumerate(frame.to_dict("records")):
        observed = clustered_rate(row["wrong"], row["size"], confidence)
        rate: TopicRate = {
            "topic": names[row["topic"]],
            "relation": row["relation"],
            "system": row["system"],
            # A source has one group under a relation.
            **_rates(frame.iloc[[at]], None, observed, observed.size),
        }
        by_relation.append((row["topic"], place[row["relation"]], row["system"], rate))
    by_relation.sort(key=lambda ranked: ranked[:3])
    entry["rates"] = [*over_relations, *(rates for *_, rates in by_relation)]
    entry["topics"] = [names[topic] for topic in present]
    return entry


def _with_judged(study_topics: StudyTopics, judged: pd.DataFrame) -> pd.DataFrame:
    """The cells by topic, with the numbers of judged and of false groups."""
    topic = pd.Series(study_topics.topic_of(judged["source"].to_numpy()), index=judged.index, dtype=int)
    by = [*KEY, "topic"]
    counts = judged.assign(topic=topic).groupby(by, observed=True)["false"].agg(["size", "sum"]).reset_index()
    counts = counts.rename(columns={"size": "judged", "sum": "false"})
    if counts.empty:
        return study_topics.cells.assign(judged=0, false=0)
    cells = study_topics.cells.astype(dict.fromkeys(KEY, object)).merge(
        counts.astype(dict.fromkeys(KEY, object)), how="left", on=by
    )
    return cells.assign(**{name: cells[name].fillna(0).astype(int) for name in ("judged", "false")})


def _within(groups: pd.DataFrame, study_topics: StudyTopics, topic: int) -> pd.DataFrame:
    return groups[study_topics.topic_of(groups["source"].to_numpy()) == topic]


def _rates(cells: pd.DataFrame, of_genuine: np.ndarray | None, observed: ClusteredRate, sources: int) -> TopicNumbers:
    """The rates of some cells of one topic and system together."""
    satisfied, violated, judged, false = (int(cells[name].sum()) for name in COUNTS)
    names = ("satisfied", "violated", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
    satisfied_by_cell, violated_by_cell, rate, low, high = (cells[name].to_numpy(float) for name in names)
    together = violations(
        satisfied_by_cell, violated_by_cell, rate, low, high, of_genuine, cells["sr_genuine_reach"].to_numpy(float)
    )
    reason = None
    if together.vr_genuine is None:
        alone, number = message("topics.not_judged"), together.unestimated
        reason = alone if len(cells) == 1 else message("topics.some_not_judged", count=number, whole=len(cells))
    return {
        "groups": satisfied + violated,
        "violated": violated,
        "sources": sources,
        "vr_observed": observed.rate,
        "vr_observed_low": observed.low,
        "vr_observed_high": observed.high,
        "judged": judged,
        "false": false,
        "vr_genuine": together.vr_genuine,
        "vr_genuine_low": together.vr_genuine_low,
        "vr_genuine_high": together.vr_genuine_high,
        "reason": reason,
    }
