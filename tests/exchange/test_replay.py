"""A replay gives the published numbers again, and finds the one that is another."""

import json

import pytest

from audit.errors import BadFile
from audit.exchange.export import MANIFEST
from audit.exchange.replay import compare, replay, replay_lines
from audit.reports.study import study_report
from audit.store import open_store
from audit.store.dump import seal, sum_of


@pytest.mark.slow
def test_the_same_numbers_come_out_and_another_is_named(exported):
    replayed = replay(exported)
    assert replayed.equal
    lines = replay_lines(replayed)
    assert lines[1:] == ["report.json: every number is the same.", "agreement.json: every number is the same."]
    path = exported / "report.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    before = report["cells"][1]["fs_rate"]["value"]
    report["cells"][1]["fs_rate"]["value"] = 0.9
    path.write_text(json.dumps(report), encoding="utf-8")
    manifest = json.loads((exported / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"]["report.json"] = sum_of(path)
    manifest["seal"] = seal(manifest)
    (exported / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    replayed = replay(exported)
    assert (replayed.equal, replayed.documents[0].equal) == (False, False)
    (found,) = replayed.documents[0].listed
    assert (found.where, found.published, found.replayed) == ("cells[1].fs_rate.value", 0.9, before)
    assert "  cells[1].fs_rate.value: was 0.9, is" in "\n".join(replay_lines(replayed))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"answers": "people"}, {"target": "population", "delta": 0.1}, {"slices": ["gold"]}]
)
def test_a_published_report_is_computed_with_its_own_settings(judged, exported, tmp_path, options):
    published = tmp_path / "published.json"
    published.write_text(json.dumps(study_report(open_store(judged), **options)), encoding="utf-8")
    replayed = replay(exported, [published])
    assert replayed.equal
    assert [document.document for document in replayed.documents][2] == str(published)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a report"),
        ('{"signature": {"answers": {"whose": "all"}}, "cells": []}', "the signature lacks settings"),
    ],
)
def test_what_is_no_report_is_refused(exported, tmp_path, text, message):
    (tmp_path / "published.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=message):
        replay(exported, [tmp_path / "published.json"])


def test_what_differs():
    assert compare("a", {"x": 1.0, "y": [1, 2]}, {"x": 1.0 + 1e-15, "y": [1, 2]}).differences == 0
    assert compare("a", {"x": 1}, {"x": True}).differences == 1
    compared = compare("a", {"x": [1, {"y": 2}], "z": 1}, {"x": [1, {"y": 3}, 4], "w": 1})
    assert sorted(difference.where for difference in compared.listed) == ["w", "x[1].y", "x[2]", "z"]
