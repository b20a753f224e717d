"""Intervals of VR_g by topic hold what they promise, on a simulated study whose every false satisfaction is known."""

import numpy as np
import pandas as pd
import pytest

from audit.false_satisfaction.topics import StudyTopics, Topics
from audit.reports.topics import topic_entries
from audit.statistics.intervals import mid_p

SOURCES, TOPICS, JUDGED, RUNS = 800, 4, 100, 60
RELATIONS, SYSTEMS = [f"MR{number}.3" for number in range(1, 6)], ["a", "b"]
TABLE = {
    "task": "t", "study": 1, "corpus": "simulated", "systems": SYSTEMS,
    "rows": [{"by": "relation", "name": relation} for relation in RELATIONS],
}  # fmt: skip


@pytest.mark.slow
def test_intervals_hold_for_topics_alone_and_over_relations():
    # The cells of a study sample the same sources, 100 each; whether a source is wrong is shared by all relations, so
    # that cells are dependent, and topics differ. 150 runs gave .939 over relations and .955 within one, bias .001.
    rng = np.random.default_rng(1)
    topic = rng.integers(0, TOPICS, SOURCES)
    hard = np.array([0.1, 0.25, 0.4, 0.6])[topic]
    wrong = {system: rng.random(SOURCES) < hard * share for system, share in zip(SYSTEMS, (1, 0.7), strict=True)}
    applies = {relation: rng.random(SOURCES) < 0.6 for relation in RELATIONS}
    keys = [(relation, system) for relation in RELATIONS for system in SYSTEMS]
    violated = {key: applies[key[0]] & (rng.random(SOURCES) < 0.1 + 0.05 * topic) for key in keys}
    false = {key: wrong[key[1]] ^ (rng.random(SOURCES) < 0.05) for key in keys}
    satisfied = {key: applies[key[0]] & ~violated[key] for key in keys}
    genuine = {key: violated[key] | (satisfied[key] & false[key]) for key in keys}
    cells, sums, truth = [], [], {}
    for at in range(TOPICS):
        here = topic == at
        for relation, system in keys:
            held, broken = (counts[relation, system][here].astype(int) for counts in (satisfied, violated))
            yes, no = int(held.sum()), int(broken.sum())
            cells.append(
                {"study": 1, "task": "t", "relation": relation, "system": system, "topic": at}
                | {"satisfied": yes, "violated": no, "wrong": broken, "size": held + broken}
            )
            truth[str(at), relation, system] = genuine[relation, system][here].sum() / (yes + no)
        for system in SYSTEMS:
            hits, size, all_wrong = (
                sum(values[relation, system][here].astype(int) for relation in RELATIONS)
                for values in (violated, {key: applies[key[0]] for key in keys}, genuine)
            )
            sums.append({"system": system, "topic": at, "violated": hits, "groups": size, "sources": len(size)})
            truth[str(at), None, system] = all_wrong.sum() / size.sum()
    names = tuple(map(str, range(TOPICS)))
    study = StudyTopics(1, names, np.arange(SOURCES), topic, pd.DataFrame(cells), pd.DataFrame(sums))
    inside = {True: [], False: []}
    errors = []
    for _ in range(RUNS):
        number = rng.permutation(SOURCES)
        judged = []
        for relation, system in keys:
            drawn = np.flatnonzero(satisfied[relation, system])
            for source in drawn[np.argsort(number[drawn])][:JUDGED].tolist():
                row = {"study": 1, "task": "t", "relation": relation, "system": system, "source": source}
                judged.append(row | {"false": int(false[relation, system][source])})
        (entry,) = topic_entries([TABLE], Topics("gold", {1: study}), pd.DataFrame(judged), None, mid_p, "corpus")
        for rates in entry["rates"]:
            true = truth[rates["topic"], rates["relation"], rates["system"]]
            alone = rates["relation"] is not None
            inside[alone].append(rates["vr_genuine_low"] - 1e-9 <= true <= rates["vr_genuine_high"] + 1e-9)
            if not alone:
                errors.append(rates["vr_genuine"] - true)
    assert np.mean(inside[True]) > 0.94
    assert np.mean(inside[False]) > 0.92
    assert abs(np.mean(errors)) < 0.005
