"""`audit compare`: the document, what is refused, conditions, and what people see."""

import json
from functools import partial

import pytest
from conftest_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.reports.compare import Comparing, compare, lines
from audit.reports.conditions import Condition
from audit.reports.doctor import doctor
from audit.runner.imported import import_run, read_run
from audit.store import open_store
from audit.store.core import count_rows, draw

P, N = "positive", "negative"


def versions(relation="X", first=0, names=("old", "new")):
    """Twenty films: ten that neither changed, six that broke, two that were fixed, two that both satisfy otherwise."""
    said = [((P, P), (P, P))] * 10 + [((P, P), (P, N))] * 6 + [((P, N), (P, P))] * 2 + [((P, P), (N, N))] * 2
    return [
        row(f"Film {n}.", f"Film {n}!", list(labels), "satisfied" if labels[0] == labels[1] else "violated",
            relation=relation, system=name, id=str(n))
        for n, both in enumerate(said, first)
        for name, labels in zip(names, both, strict=True)
    ]  # fmt: skip


def imported(folder, rows, name="audit.db"):
    """The path of a database with these groups."""
    path = folder / "run.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in rows), encoding="utf-8")
    engine = open_store(str(folder / name), create=True)
    import_run(engine, read_run(path))
    engine.dispose()
    return str(folder / name)


@pytest.fixture
def stored(tmp_path):
    """`stored(rows, name)` -> path of a database with these groups imported."""
    return partial(imported, tmp_path)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """The path of a database in which others were checked on other films, and under another relation."""
    rows = [*versions(), *versions(first=50, names=("elsewhere", "elsewhere2")), *versions("Y", names=("other", "o2"))]
    return imported(tmp_path_factory.mktemp("several"), rows)


def compared(*names, **request):
    conditions = tuple(Condition.read(text) for text in request.pop("conditions", ()))
    document = compare(*names, Comparing(conditions=conditions, **request))
    json.dumps(document, allow_nan=False)
    return document


def test_the_document_counts_what_changed(stored):
    document = compared("ol", "#2", stored(versions()), target="corpus", show=3)
    every = document["all"]
    counts = {name: every[name] for name in ("groups", "same", "fixed", "broke", "other_outputs", "to_settle")}
    assert counts == {"groups": 20, "same": 10, "fixed": 2, "broke": 6, "other_outputs": 2, "to_settle": 10}
    assert every["observed"]["drop"]["estimate"] == pytest.approx(0.2)
    assert every["observed"]["p"] == pytest.approx(2 * 37 / 256)
    drop = every["genuine"]["drop"]
    assert (drop["estimate"], drop["low"], drop["high"]) == (None, pytest.approx(-0.2), pytest.approx(0.4))
    assert [(group["old"], group["new"]) for group in document["broke"]] == [("satisfied", "violated")] * 3
    first = document["broke"][0]["members"][1]
    assert first["texts"][0] in [f"Film {n}!" for n in range(10, 16)]
    assert (first["role"], first["old"], first["new"]) == ("follow_up", P, N)
    assert [(group["old"], group["new"]) for group in document["fixed"]] == [("violated", "satisfied")] * 2
    assert all(len(line) <= 100 for line in lines(document))
    assert any("add exactly 0" in line for line in lines(document))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("old", "old", "are the same system"),
        ("old", "nwe", "nwe is no system; there are old@"),
        ("old", "o", "o means several systems; there are old@.*#1.*o2@.*; a version, or a number as in #1, is enough"),
        ("old", "elsewhere", "share no source: the first was checked on 20 texts"),
        ("old", "other", "share no relation: the first has X@"),
    ],
)
def test_what_cannot_be_compared_is_told(several, old, new, says):
    with pytest.raises(AuditError, match=says):
        compared(old, new, several)


def test_groups_that_changed_are_drawn_and_stay_apart_from_reports(stored):
    database = stored(versions())
    document = compared("old", "new", database, draw=4)
    engine = open_store(database)
    with engine.connect() as connection:
        drawn = count_rows(connection, draw)
    assert document["drawn"] == drawn
    assert 4 <= drawn <= 8
    assert compared("old", "new", database, draw=4)["drawn"] == 0
    more = compared("old", "new", database, draw=50)["drawn"]
    assert more + drawn == 6 + 2 + 2 * 2
    assert [check.name for check in doctor(database) if not check.ok] == []
    engine.dispose()


def entry(estimate, low, high):
    return {"estimate": estimate, "low": low, "high": high}


def decided(text, estimate, low, high):
    mean = entry(estimate, low, high)
    rates = {"drop": mean, "vr_new": mean}
    return Condition.read(text).decide({"all": {"observed": rates, "genuine": rates, "fs_new": mean}, "relations": []})


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ("genuine drop > 2 points", (0.05, 0.03, 0.07), "fails"),
        ("genuine drop > 2 points", (0.05, 0.01, 0.09), "passes"),
        ("estimated genuine drop > 2 points", (0.05, 0.01, 0.09), "fails"),
        ("possibly genuine drop > 2 points", (0.01, -0.01, 0.03), "fails"),
        ("possibly genuine drop > 2 points", (0.01, -0.01, 0.02), "passes"),
        ("genuine drop >= 2 points", (0.05, 0.02, 0.07), "fails"),
        ("genuine drop > 2 points", (0.02, 0.02, 0.02), "passes"),
        ("drop > 2 points", (None, -0.1, 0.1), "undecided"),
        ("estimated drop > 2 points", (None, -0.1, 0.1), "undecided"),
        ("drop > 2 points", (None, 0.03, 0.1), "fails"),
        ("drop > 2 points", (None, -0.1, 0.02), "passes"),
        ("drop > 2 points", (None, None, None), "undecided"),
        ("drop < -2 points", (-0.05, -0.06, -0.03), "fails"),
        ("observed violations > 10 %", (0.2, 0.15, 0.25), "fails"),
        ("false>20%", (0.2, 0.15, 0.25), "passes"),
    ],
)
def test_a_condition_is_decided_by_the_interval(text, value, outcome):
    assert decided(text, *value)[0] == outcome


@settings(max_examples=40)
@given(
    st.sampled_from(["", "surely ", "estimated ", "possibly "]), st.sampled_from(["", "observed ", "genuine "]),
    st.sampled_from(["drop", "violations"]), st.sampled_from(["", " in MR1.1"]), st.sampled_from([">", ">=", "<"]),
    st.integers(-1000, 1000).map(lambda tenths: tenths / 10), st.sampled_from([" points", "%", " point"]),
)  # fmt: skip
def test_every_condition_of_the_grammar_is_read(how, kind, what, relation, sign, number, unit):
    condition = Condition.read(f"{how}{kind}{what}{relation} {sign} {number}{unit}")
    assert (condition.how, condition.kind) == (how.strip() or "surely", kind.strip() or "genuine")
    assert (condition.what, condition.sign) == (what, sign)
    assert condition.limit == pytest.approx(number / 100)
