"""`audit compare`: the report's numbers, what is refused, conditions, and what people see."""

import json
from functools import partial

import pytest
from conftest_rows import row

import audit
from audit.errors import AuditError
from audit.reports.compare import compare, compare_sections, decide
from audit.reports.tables import printed
from audit.runner.imported import import_run
from audit.store import open_store

P, N = "positive", "negative"


def versions(relation="X", names=("old", "new")):
    """Twenty films: ten that neither changed, six that broke, two that were fixed, two that both satisfy otherwise."""
    said = [((P, P), (P, P))] * 10 + [((P, P), (P, N))] * 6 + [((P, N), (P, P))] * 2 + [((P, P), (N, N))] * 2
    return [
        row(f"Film {n}.", f"Film {n}!", list(labels), "satisfied" if labels[0] == labels[1] else "violated",
            relation=relation, system=name, id=str(n), gold=P if n % 3 else N)
        for n, both in enumerate(said)
        for name, labels in zip(names, both, strict=True)
    ]  # fmt: skip


@pytest.fixture
def engine(tmp_path):
    """The two, and two others under another relation."""
    rows = map(json.dumps, [*versions(), *versions("Y", names=("other", "o2"))])
    (tmp_path / "run.jsonl").write_text("\n".join(rows), encoding="utf-8")
    opened = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(opened, tmp_path / "run.jsonl")
    return opened


def test_the_document_counts_what_changed(engine):
    document = compare("ol", "#2", engine, target="corpus", show=3)
    every = document["all"]
    counts = [every[name] for name in ("groups", "fixed", "broke", "informative", "judged")]
    assert counts == [20, 2, 6, 10, 0]
    assert every["observed"]["estimate"] == every["observed"]["low"] == pytest.approx(0.2)
    rise = every["genuine"]
    assert (rise["estimate"], rise["low"], rise["high"]) == (None, pytest.approx(-0.2), pytest.approx(0.4))
    assert [(group["old"], group["new"]) for group in document["broke"]] == [("satisfied", "violated")] * 3
    first = document["broke"][0]["members"][1]
    assert (first["role"], first["old"], first["new"]) == ("follow_up", P, N)
    assert all(len(line) <= 100 for line in printed(compare_sections)(document))
    # Groups that one satisfies rightly come first.
    study = audit.open(str(engine.url.database)).sample(share=1.0)
    study.answer(study.questions().assign(label=P, annotator="ada", reason="So it is."), role="adjudicator")
    document = compare("old", "new", engine, target="corpus")
    # Six were rightly satisfied and broke, two were fixed, and of two both satisfied the old one did so rightly.
    assert document["all"]["genuine"]["estimate"] == pytest.approx((6 - 2 + 2) / 20)
    assert document["broke"][0]["old"] == "genuine"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["corpus", "population"])
def test_it_prints_the_number_of_the_report(tmp_path, target):
    """For every two of three systems, and every relation: the pairs of the report, to the last digit."""
    systems = {
        name: partial(lambda text, wrong: P if (len(text) * 7 + text.count("E")) % wrong else N, wrong=wrong)
        for name, wrong in (("one", 3), ("two", 4), ("four", 7))
    }
    study = audit.run(
        [f"Film {n} is {'a good one' * (n % 4)}." for n in range(60)], systems, ["MR3.1", "MR1.3"], progress=False,
        store=tmp_path / "audit.db",
    )  # fmt: skip
    study.sample(20)
    while not (asked := study.questions()).empty:
        labels = [P if len(text) % 3 else N for text in asked["text"]]
        study.answer(asked.assign(label=labels, annotator="ada", reason="So it is."), role="adjudicator")
    report = study.report(target=target).document
    seen = 0
    for relation in report["relations"]:
        for pair in relation["pairs"]:
            for old, new, sign in ((pair["system"], pair["other"], 1), (pair["other"], pair["system"], -1)):
                document = compare(old, new, study.engine, target=target)
                (entry,) = (one for one in document["relations"] if one["relation"] == relation["relation"])
                if pair["difference"] is None:
                    assert entry["genuine"]["estimate"] is None
                    continue
                seen += 1
                ends = sorted((sign * pair["low"], sign * pair["high"]))
                found = [entry["genuine"][name] for name in ("estimate", "low", "high")]
                assert found == pytest.approx([sign * pair["difference"], *ends], abs=1e-12)
                assert (entry["judged"], entry["informative"]) == (pair["judged"], pair["informative"])
    assert seen > 4


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("old", "old", "are the same system"),
        ("old", "o", "o means several systems; there are old@.*#1.*o2@.*; a version, or a number as in #1, is enough"),
        ("old", "other", "no group applies to both of old@"),
    ],
)
def test_what_cannot_be_compared_is_told(engine, old, new, says):
    with pytest.raises(AuditError, match=says):
        compare(old, new, engine)


@pytest.mark.slow
def test_studies_are_compared_together(tmp_path):
    """Two corpora in one database: the mean of both rises, whose errors are independent."""
    systems = {"old": lambda text: P, "new": lambda text: N if text.isupper() and len(text) % 3 else P}
    for name in ("one", "two"):
        corpus = [f"Film {name} {'x' * (n % 7)}{n}." for n in range(30)]
        study = audit.run(corpus, systems, ["MR3.1"], store=tmp_path / "audit.db", name=name, progress=False)
    document = compare("old", "new", study.engine)
    one, other, every = (entry["observed"] for entry in [*document["relations"], document["all"]])
    assert (document["all"]["groups"], document["all"]["task"]) == (60, None)
    assert every["estimate"] == pytest.approx((one["estimate"] + other["estimate"]) / 2)
    errors = [entry["high"] - entry["low"] for entry in (one, other, every)]
    assert errors[2] == pytest.approx((errors[0] ** 2 + errors[1] ** 2) ** 0.5 / 2)


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ("genuine rise > 2 points", (0.05, 0.03, 0.07), "fails"),
        ("genuine rise > 2 points", (0.05, 0.01, 0.09), "passes"),
        ("estimated rise > 2 points", (0.05, 0.01, 0.09), "fails"),
        ("possibly rise > 2 points", (0.01, -0.01, 0.03), "fails"),
        ("rise > 2 points", (None, -0.1, 0.1), "undecided"),
    ],
)
def test_a_condition_is_decided_by_the_interval(text, value, outcome):
    rise = dict(zip(("estimate", "low", "high"), value, strict=True))
    assert decide(text, {"all": {"observed": rise, "genuine": rise}, "relations": []})[0] == outcome


@pytest.mark.parametrize("text", ["genuine drop > 2 points", "rise > 2", "rise > 200 points"])
def test_what_is_no_condition_is_told_with_the_grammar(text):
    with pytest.raises(AuditError, match=r"is no condition; write .*rise"):
        decide(text, {})
