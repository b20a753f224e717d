"""Intervals of VR_g by slice hold what they promise, on a simulated study whose every false satisfaction is known."""

import numpy as np
import pandas as pd
import pytest

from audit.false_satisfaction.slices import Sliced, StudySlices
from audit.reports.slices import Frames, How, slice_entries

SOURCES, SLICES, JUDGED, RUNS = 800, 4, 100, 60
RELATIONS, SYSTEMS = [f"MR{number}.3" for number in range(1, 6)], ["a", "b"]
TABLE = {
    "task": "t", "study": 1, "corpus": "simulated", "systems": SYSTEMS,
    "rows": [{"by": "relation", "name": relation} for relation in RELATIONS],
}  # fmt: skip


@pytest.mark.slow
def test_intervals_hold_for_slices_alone_and_over_relations():
    # The cells of a study sample the same sources, 100 each; whether a source is wrong is shared by all relations, so
    # that cells are dependent, and parts differ. 150 runs gave .939 over relations and .955 within one, bias .001.
    rng = np.random.default_rng(1)
    part = rng.integers(0, SLICES, SOURCES)
    hard = np.array([0.1, 0.25, 0.4, 0.6])[part]
    wrong = {system: rng.random(SOURCES) < hard * share for system, share in zip(SYSTEMS, (1, 0.7), strict=True)}
    applies = {relation: rng.random(SOURCES) < 0.6 for relation in RELATIONS}
    keys = [(relation, system) for relation in RELATIONS for system in SYSTEMS]
    violated = {key: applies[key[0]] & (rng.random(SOURCES) < 0.1 + 0.05 * part) for key in keys}
    false = {key: wrong[key[1]] ^ (rng.random(SOURCES) < 0.05) for key in keys}
    satisfied = {key: applies[key[0]] & ~violated[key] for key in keys}
    genuine = {key: violated[key] | (satisfied[key] & false[key]) for key in keys}
    truth = {}
    for at in range(SLICES):
        here = part == at
        for relation, system in keys:
            truth[str(at), relation, system] = genuine[relation, system][here].sum() / applies[relation][here].sum()
        for system in SYSTEMS:
            all_wrong, size = (
                sum(int(values[here].sum()) for values in of)
                for of in ([genuine[relation, system] for relation in RELATIONS], applies.values())
            )
            truth[str(at), None, system] = all_wrong / size
    sources = np.arange(SOURCES)
    checked = pd.concat(
        pd.DataFrame({"study": 1, "task": "t", "relation": relation, "system": system, "source": rows, "cluster": rows,
                      "satisfied": 1 - violated[relation, system][rows]})
        for relation, system in keys for rows in [np.flatnonzero(applies[relation])]
    )  # fmt: skip
    sliced = Sliced({"gold": {1: StudySlices(tuple(map(str, range(SLICES))), sources, part)}})
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
        frames = Frames(pd.DataFrame(judged), checked, pd.DataFrame(judged[:0], columns=[*judged[0], "open"]))
        (entry,) = slice_entries([TABLE], sliced, frames, [], How("corpus"))
        for rates in entry["rates"]:
            true = truth[rates["slice"], rates["relation"], rates["system"]]
            alone = rates["relation"] is not None
            inside[alone].append(rates["vr_genuine_low"] - 1e-9 <= true <= rates["vr_genuine_high"] + 1e-9)
            if not alone:
                errors.append(rates["vr_genuine"] - true)
    assert np.mean(inside[True]) > 0.94
    assert np.mean(inside[False]) > 0.92
    assert abs(np.mean(errors)) < 0.005
