"""`audit compare` as a command, its exit statuses, and the same in the library."""

import json

import pytest
from conftest_rows import row

import audit
from audit.cli import main

P, N = "positive", "negative"
FAIL = "--fail-if"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With ten films in audit.db, of which four broke."""
    path = tmp_path_factory.mktemp("compared")
    rows = [
        row(f"Film {n}.", f"Film {n}!", [P, said], "satisfied" if said == P else "violated", "X", system, id=str(n))
        for n in range(10)
        for system, said in (("old", P), ("new", N if n < 4 else P))
    ]
    (path / "run.jsonl").write_text("\n".join(json.dumps(one) for one in rows), encoding="utf-8")
    assert main(["import-run", str(path / "run.jsonl"), "--db", str(path / "audit.db")]) == 0
    return path


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        ([], 0, "Over all, the violation rate (VR) rose by 40.0 points ["),
        ([FAIL, "observed rise > 50 points"], 0, "passes: observed rise > 50 points (the observed violation rate rose"),
        ([FAIL, "estimated observed rise > 2 points"], 1, "fails: estimated observed rise"),
        ([FAIL, "rise > 2 points"], 4, "undecided: rise > 2 points"),
        ([FAIL, "rise > 2 points", "--undecided", "pass"], 0, "undecided"),
        ([FAIL, "rise > 2 points", FAIL, "possibly observed rise > 0 points"], 1, "fails"),
    ],
)
def test_the_status_is_that_of_the_conditions(folder, monkeypatch, capsys, options, status, says):
    monkeypatch.chdir(folder)
    assert main(["compare", "old", "new", *options]) == status
    assert " ".join(says.split()) in " ".join(capsys.readouterr().out.split())


def test_the_library_has_the_same(folder):
    compared = audit.compare("old", "new", folder / "audit.db", show=2)
    frame = compared.to_frame()
    assert frame[["groups", "broke"]].values.tolist() == [[10, 4], [10, 4]]
    assert frame["observed_rise"].tolist() == pytest.approx([0.4, 0.4])
    assert frame["genuine_high"].tolist() == pytest.approx([compared.all["genuine"]["high"]] * 2)
    assert compared.fixed.empty
    assert compared.broke["output_new"].tolist() == [P, N] * 2
    assert compared.fails("estimated observed rise > 39 points")
    assert not compared.fails("genuine rise > 2 points")
    assert "<details" in compared._repr_html_()
