"""Sources that name a document go together in what is said of texts to come."""

import json

import pytest

from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.reports.study import study_report
from audit.runner.imported import import_run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import mid_p
from audit.store import open_store


def report_of(path, cluster, relation="MR1.1", **options):
    """Two systems that are wrong on all four sentences of a fifth of 20 documents, or of 80 texts."""
    rows = []
    for number in range(80):
        for system, every in (("a", 5), ("b", 4)):
            label = "negative" if number // 4 % every == 0 else "positive"
            group = {
                "relation": relation,
                "system": system,
                "source": f"text {number}",
                "follow_ups": [f"text {number}!"],
            }
            group |= {"outputs": [label, label], "verdict": "satisfied", "id": str(number), "gold": "positive"}
            rows.append(group | cluster(number))
    (path / "run.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    engine = open_store(str(path / "audit.db"), create=True)
    import_run(engine, path / "run.jsonl")
    draw_all(engine, SampleRequest(Size(per_relation=80)))
    answer_with_gold(engine)
    return study_report(engine, **options)


@pytest.mark.slow
def test_documents_widen_what_is_said_of_texts_to_come(tmp_path):
    for name in ("alone", "together"):
        (tmp_path / name).mkdir()
    alone = report_of(tmp_path / "alone", lambda number: {})
    together = report_of(tmp_path / "together", lambda number: {"document": str(number // 4)})
    first, second = alone["cells"][0], together["cells"][0]
    assert (first["false"], first["judged"]) == (second["false"], second["judged"]) == (16, 80)
    assert (first["fs_low"], first["fs_high"]) == (mid_p(16, 80).low, mid_p(16, 80).high)
    # Four copies in each document: 20 observations, and a little less as so few clusters tell the variance.
    assert second["fs_high"] - second["fs_low"] > mid_p(4, 20).high - mid_p(4, 20).low
    for narrow, wide in zip(alone["rollups"], together["rollups"], strict=True):
        assert wide["fs_high"] - wide["fs_low"] > 1.5 * (narrow["fs_high"] - narrow["fs_low"])
    (before,), (after,) = alone["relations"][0]["pairs"], together["relations"][0]["pairs"]
    assert before["difference"] == pytest.approx(after["difference"])
    assert after["high"] - after["low"] > 1.5 * (before["high"] - before["low"])
    assert (before["mcnemar_p"] is None, after["mcnemar_p"]) == (False, None)


@pytest.mark.slow
def test_documents_widen_bounds_as_well(tmp_path):
    """Gold of sources alone, under a relation that carries nothing: false groups are known, no true one is."""
    for name in ("alone", "together"):
        (tmp_path / name).mkdir()
    alone = report_of(tmp_path / "alone", lambda number: {}, "address")
    together = report_of(tmp_path / "together", lambda number: {"document": str(number // 4)}, "address")
    first, second = alone["cells"][0], together["cells"][0]
    assert (first["fs_rate"], first["fs_least"], first["fs_most"]) == (None, 0.2, 1.0)
    assert first["fs_bound_low"] == pytest.approx(mid_p(16, 80, confidence=0.9).low)
    assert second["fs_bound_low"] < mid_p(4, 20).low < first["fs_bound_low"]
    assert second["sr_bound_low"] < 1e-9
    for narrow, wide in zip(alone["rollups"], together["rollups"], strict=True):
        assert (narrow["fs_least"], narrow["fs_most"]) == (wide["fs_least"], wide["fs_most"])
        assert narrow["fs_least"] - wide["fs_bound_low"] > 1.5 * (narrow["fs_least"] - narrow["fs_bound_low"])


@pytest.mark.slow
def test_this_corpus_is_what_it_is_whatever_its_documents_are(tmp_path):
    report = report_of(tmp_path, lambda number: {"document": str(number // 4)}, target="corpus")
    assert [(cell["fs_low"], cell["fs_high"]) for cell in report["cells"]] == [(0.2, 0.2), (0.25, 0.25)]
    (pair,) = report["relations"][0]["pairs"]
    assert pair["p"] is pair["p_holm"] is None
    assert "there is no test" in pair["reason"]
