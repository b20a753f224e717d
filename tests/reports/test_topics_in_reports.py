"""Violation rates by topic and accuracy by gold, in the document and in every form of it."""

import json
import random

import pytest

from audit.cli import main
from audit.errors import UnknownName
from audit.false_satisfaction.accuracy import NO_GOLD, RightOutputs, SystemAccuracy
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.reports.accuracy import accuracy_entries
from audit.reports.evidence import evidence
from audit.reports.html import to_html
from audit.reports.study import report_of, study_report
from audit.reports.terminal import to_terminal
from audit.reports.words import accuracy_lines, accuracy_order, shown_accuracy, topics_by_relation
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import effective_interval, mid_p
from audit.store import open_store

FILMS = 120
RELATIONS = ("MR1.1", "MR3.1")


def lines(gold=True):
    """Films of two genres under two relations: what systems say of a film is right, wrong or inconsistent at random."""
    chance = random.Random(5)
    for film in range(FILMS):
        truth = chance.choice(["positive", "negative"])
        genre = "drama" if film % 3 else "comedy"
        for system, wrong in (("careful", 0.1), ("careless", 0.4)):
            label = truth if chance.random() > wrong else {"positive": "negative", "negative": "positive"}[truth]
            for relation in RELATIONS:
                violated = chance.random() < (0.3 if system == "careful" else 0.1)
                yield {
                    "relation": relation, "system": system, "source": f"Film {film}.",
                    "follow_ups": [f"Film {film}, {relation}!"], "outputs": [label, "neutral" if violated else label],
                    "verdict": "violated" if violated else "satisfied", "attributes": {"genre": genre},
                } | ({"gold": truth} if gold else {})  # fmt: skip


def database(path, gold=True, **size):
    file = path / "films.jsonl"
    file.write_text("\n".join(map(json.dumps, lines(gold))), encoding="utf-8")
    engine = open_store(str(path / "audit.db"), create=True)
    import_run(engine, read_run(file))
    draw_all(engine, SampleRequest(Size(**(size or {"share": 1.0}))))
    answer_with_gold(engine)
    return engine


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Every satisfied group judged by gold."""
    return database(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def report(whole):
    return study_report(whole, by="genre", target="corpus")


def truth(system, keep=lambda row: True):
    """(groups, violated, violated or false) of a system's groups."""
    groups = [row for row in lines() if row["system"] == system and keep(row)]
    violated = [row["verdict"] == "violated" for row in groups]
    false = [row["outputs"][0] != row["gold"] for row in groups]
    return len(groups), sum(violated), sum(row or other for row, other in zip(violated, false, strict=True))


def rate(entry, topic, system, relation=None):
    (rates,) = (
        rates
        for rates in entry["rates"]
        if (rates["topic"], rates["system"], rates["relation"]) == (topic, system, relation)
    )
    return rates


@pytest.mark.parametrize("system", ["careful", "careless"])
def test_where_all_is_judged_the_rates_are_the_true_ones(report, system):
    (entry,) = report["topics"]
    assert entry["topics"] == ["comedy", "drama"]
    for topic in entry["topics"]:
        groups, violated, wrong = truth(system, lambda row, topic=topic: row["attributes"]["genre"] == topic)
        rates = rate(entry, topic, system)
        assert (rates["groups"], rates["violated"], rates["sources"]) == (groups, violated, groups // 2)
        assert rates["vr_observed"] == violated / groups
        assert rates["judged"] == groups - violated
        for name in ("vr_genuine", "vr_genuine_low", "vr_genuine_high"):
            assert rates[name] == pytest.approx(wrong / groups)
        assert rates["vr_observed_low"] < rates["vr_observed"] < rates["vr_observed_high"]
        for relation in RELATIONS:
            groups, violated, wrong = truth(
                system,
                lambda row, topic=topic, name=relation: (row["attributes"]["genre"], row["relation"]) == (topic, name),
            )
            alone = rate(entry, topic, system, relation)
            assert (alone["groups"], alone["violated"]) == (groups, violated)
            assert alone["vr_genuine"] == pytest.approx(wrong / groups)
            ends = effective_interval(violated / groups, groups)
            assert (alone["vr_observed_low"], alone["vr_observed_high"]) == pytest.approx((ends.low, ends.high))


def test_topics_add_up_to_the_table(report):
    (entry,), (table,) = report["topics"], report["violations"]
    (row,) = (row for row in table["rows"] if row["by"] == "all")
    for system, whole in zip(table["systems"], row["rates"], strict=True):
        by_topic = [rate(entry, topic, system) for topic in entry["topics"]]
        assert sum(rates["groups"] for rates in by_topic) == whole["groups"]
        assert sum(rates["violated"] for rates in by_topic) / whole["groups"] == pytest.approx(whole["vr_observed"])
        assert sum(rates["vr_genuine"] * rates["groups"] for rates in by_topic) == pytest.approx(
            whole["vr_genuine"] * whole["groups"]
        )


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    return database(tmp_path_factory.mktemp("sampled"), per_relation=20)


def test_a_sample_s_groups_of_a_topic_estimate_the_topic(sampled):
    report = study_report(sampled, by="gold")
    (entry,) = report["topics"]
    assert entry["topics"] == ["positive", "negative"]
    cells = {(cell["relation"], cell["system"]): cell for cell in report["cells"]}
    for relation in RELATIONS:
        for system in entry["systems"]:
            by_topic = [rate(entry, topic, system, relation) for topic in entry["topics"]]
            cell = cells[relation, system]
            assert [sum(rates[name] for rates in by_topic) for name in ("judged", "false")] == [
                cell["judged"],
                cell["false"],
            ]
            for rates in by_topic:
                # VR_g = VR_o + SR_o R_FS, with R_FS of the topic's judged groups alone.
                of_false = rates["false"] / rates["judged"]
                assert rates["vr_genuine"] == pytest.approx(
                    rates["vr_observed"] + (1 - rates["vr_observed"]) * of_false
                )
                assert rates["vr_genuine_low"] <= rates["vr_genuine"] <= rates["vr_genuine_high"]
    for rates in entry["rates"]:
        assert rates["vr_observed"] <= rates["vr_genuine"] + 1e-12


def test_a_topic_without_a_judged_group_is_not_known(tmp_path):
    engine = database(tmp_path, per_relation=1)
    report = study_report(engine, by="genre")
    unknown = [rates for rates in report["topics"][0]["rates"] if rates["vr_genuine"] is None]
    assert {rates["reason"] for rates in unknown if rates["relation"]} == {"it has no judged group"}
    assert {rates["reason"] for rates in unknown if rates["relation"] is None} <= {
        "1 of 2 relations has no judged group", "2 of 2 relations have no judged group",
    }  # fmt: skip
    assert len(unknown) > 4
    assert " –\n" in to_terminal(report)
    json.dumps(report, allow_nan=False)


def test_for_the_population_the_ends_are_wider(sampled):
    corpus, population = (study_report(sampled, by="genre", target=target) for target in ("corpus", "population"))
    for rates, other in zip(corpus["topics"][0]["rates"], population["topics"][0]["rates"], strict=True):
        assert rates["vr_genuine"] == pytest.approx(other["vr_genuine"])
        assert other["vr_genuine_high"] - other["vr_genuine_low"] > rates["vr_genuine_high"] - rates["vr_genuine_low"]


def test_accuracy_stands_beside_both_rates(report, whole):
    (entry,) = report["accuracy"]
    assert (entry["sources"], entry["over"], entry["reason"]) == (FILMS, "all", None)
    for system in entry["systems"]:
        first = [line for line in lines() if line["system"] == system["system"] and line["relation"] == "MR1.1"]
        right = sum(line["outputs"][0] == line["gold"] for line in first)
        assert (system["outputs"], system["right"], system["accuracy"]) == (FILMS, right, right / FILMS)
        ends = mid_p(right, FILMS)
        assert (system["low"], system["high"]) == (ends.low, ends.high)
        groups, violated, wrong = truth(system["system"])
        assert (system["sr_observed"], system["sr_genuine"]) == pytest.approx(
            (1 - violated / groups, 1 - wrong / groups)
        )
    # The careless system is the more consistent one.
    assert entry["order_observed"] == ["careless", "careful"]
    assert entry["order_accuracy"] == entry["order_genuine"] == ["careful", "careless"]
    assert "topics" not in report_of(evidence(whole))


def table(*systems):
    """A table of `violations` with one row of totals: (system, vr_observed, vr_genuine)."""
    rates = [
        {
            "system": system,
            "vr_observed": before,
            "vr_genuine": after,
            "vr_genuine_low": after,
            "vr_genuine_high": after,
        }
        for system, before, after in systems
    ]
    rows = [{"by": "all", "name": "all", "rates": rates}]
    return {"task": "t", "study": 1, "corpus": "c", "systems": [system[0] for system in systems], "rows": rows}


def test_ties_and_what_is_unknown():
    tables = [table(("a", 0.2, 0.5), ("b", 0.2, None))]
    counts = [RightOutputs(1, 10, (SystemAccuracy("a", 10, 9), SystemAccuracy("b", 10, 5)))]
    (entry,) = accuracy_entries(tables, counts)
    assert entry["order_genuine"] is None
    assert accuracy_order(entry, "observed") == "a = b"
    assert "Order by 1 - VR_g: not known." in accuracy_lines(entry)
    assert "Order by 1 - VR_o: a = b (another order)." in accuracy_lines(entry)
    (none,) = accuracy_entries(tables, [RightOutputs(1, 10, (SystemAccuracy("a", 0, 0), SystemAccuracy("b", 10, 5)))])
    assert (none["systems"][0]["accuracy"], none["order_accuracy"]) == (None, None)


def test_without_gold_the_document_says_why_and_no_reader_is_bothered(tmp_path):
    engine = database(tmp_path, gold=False)
    report = study_report(engine, by="genre")
    assert report["accuracy"][0]["reason"] == NO_GOLD
    assert report["accuracy"][0]["systems"] == []
    assert report["accuracy"][0]["order_accuracy"] is None
    assert shown_accuracy(report) == []
    assert "Accuracy" not in to_terminal(report)
    assert accuracy_lines(report["accuracy"][0]) == ["No accuracy: the corpus has no gold labels."]


def test_a_study_that_lacks_the_property_says_so(whole, tmp_path):
    database(tmp_path)
    more = tmp_path / "more.jsonl"
    bare = [{name: value for name, value in row.items() if name != "attributes"} for row in list(lines())[:40]]
    more.write_text("\n".join(map(json.dumps, bare)), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"))
    import_run(engine, read_run(more))
    report = study_report(engine, by="genre")
    assert [entry["reason"] for entry in report["topics"]] == [None, "no source of this corpus has genre"]
    assert "Not known: no source of this corpus has genre." in to_terminal(report)
    assert "Not known: no source of this corpus has genre." in to_html(report)


def test_every_form_has_the_numbers(report):
    text, page = to_terminal(report), to_html(report)
    (entry,) = report["topics"]
    rates = rate(entry, "comedy", "careful")
    shown = f"{100 * rates['vr_observed']:.1f} [{100 * rates['vr_observed_low']:.1f}"
    for form in (text, page):
        assert "Violation rates by genre" in form
        assert "Accuracy by gold, and by metamorphic testing" in form
        assert shown in form
        assert "(the same order)." in form
        assert "(another order)." in form
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert "<summary>careless, by topic and relation</summary>" in page
    relations, rows = topics_by_relation(entry, "careless")
    assert relations == list(RELATIONS)
    assert [topic for topic, _ in rows] == ["comedy", "drama"]
    for label in ("Violation rates by genre and system", "Accuracy by gold, and by metamorphic testing"):
        assert f'role="img" aria-label="{label}; the numbers are in the table"' in page
    assert report["signature"]["by"] == "genre"


def test_topics_are_asked_for_on_the_command_line(whole, capsys):
    path = whole.url.database
    assert main(["report", "--db", path, "--by", "gold", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["topics"][0]["by"] == document["signature"]["by"] == "gold"
    assert main(["report", "--db", path, "--by", "colour"]) == 2
    assert "unknown attribute 'colour'; known are: genre, gold" in capsys.readouterr().err
    with pytest.raises(UnknownName):
        study_report(whole, by="colour")
