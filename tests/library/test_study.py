"""The library as a notebook uses it: run, sample, answer, report."""

import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import audit
from audit.relations import Member, registry, uses
from audit.relations.base import nothing
from audit.systems import SYSTEMS
from audit.tasks import Input, Output

FILMS = [
    ("A good film with a fine cast.", "positive"),
    ("A bad film that bored us all.", "negative"),
    ("We loved every good minute.", "positive"),
    ("Nothing in it is good.", "negative"),
]


def by_keyword(text: str) -> str:
    return "positive" if "good" in text.lower() else "negative"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with registry.RELATIONS.restored(), SYSTEMS.restored():
        yield


def shouted(name: str = "MINE.1", **more: object) -> None:
    options: dict = {"check": audit.equivalent, "preserves": "label"} | more

    @audit.relation(name, **options)
    def upper(text: str) -> str:
        """Capital letters change nothing."""
        return text.upper()


@pytest.mark.slow
def test_a_study_from_texts_to_report():
    shouted()
    study = audit.run(FILMS, ["vader", by_keyword], ["MINE.1"], progress=False)
    assert repr(study).startswith(
        "Study of texts: 4 sources, 1 relation, 2 systems; 8 groups satisfied, 0 sources drawn"
    )
    study.sample(4)
    assert sorted(study.questions()["text"]) == sorted(text for text, _ in FILMS)
    report = study.answer_with_gold().report()
    (cell,) = (cell for cell in report.cells if cell.system == "by_keyword")
    # Of the four films `by_keyword` gets "Nothing in it is good." wrong, whatever its letters are.
    assert (cell.satisfied, cell.judged, cell.false) == (4, 4, 1)
    assert cell.fs.value == 0.25
    assert cell.sr_genuine.value == 0.75
    assert study.questions().empty


@pytest.mark.slow
def test_the_report_of_a_stored_study_is_the_same_when_it_is_opened(tmp_path: Path):
    store = tmp_path / "films.db"
    study = audit.run(FILMS, {"words": by_keyword}, ["MR3.1"], store=store, progress=False)
    report = study.sample(2).answer_with_gold().report()
    assert audit.open(store).report() == report
    assert report.relations["MR3.1"].order_observed == ("words",)
    report.to_json(tmp_path / "report.json")
    report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!")
    assert list(report.to_frame()["system"]) == ["words"]
    assert report.signature in report._repr_html_().replace("&#39;", "'")


PAIRS = pd.DataFrame(
    [("A man plays a guitar.", "A man makes music."), ("It rains.", "The sun is out.")], columns=["text", "text_b"]
)


def shared_words(texts: tuple[str, str]) -> float:
    first, second = (set(text.lower().split()) for text in texts)
    return len(first & second) / len(first | second)


def test_pairs_are_answered_by_their_texts():
    shouted(task="similarity")
    study = audit.run(PAIRS, [shared_words], ["MINE.1"], task="similarity", progress=False).sample(2, follow_ups=0)
    questions = study.questions()
    assert list(questions.columns) == ["task", "kind", "text", "text_b", "language", "output", "groups"]
    assert set(questions["text_b"]) == set(PAIRS["text_b"])
    study.answer(pd.concat([questions.assign(label="zero", annotator=name) for name in ("anna", "ben")]))
    assert study.questions().empty
    with pytest.raises(audit.AuditError, match=r"row 1: text not in the database, .* every text that the task"):
        study.answer(questions.drop(columns="text_b").assign(label="zero", annotator="eve"))


THINGS = ("acting", "music", "camera", "story", "ending", "sound")
GOLD = {f"The {thing} is {word}.": "positive" for thing in THINGS for word in ("good", "great")}
GOLD |= {f"The {thing} is bad.": "negative" for thing in THINGS}
GOLD |= {f"Nobody can say that the {thing} is great.": "negative" for thing in THINGS}  # vader: positive


def right(text: str) -> str:
    return "negative" if "bad" in text.lower() or "nobody" in text.lower() else "positive"


@pytest.mark.slow
def test_a_system_without_scores_is_not_hurt_by_relations_that_compare_them():
    study = audit.run(list(GOLD.items()), ["vader", right], ["MR1.4", "MR3.1"], progress=False)
    report = study.sample(len(GOLD)).answer_with_gold().report()
    cells = {(cell.relation, cell.system): cell for cell in report.cells}
    unscored = cells["MR1.4", "right"]
    assert unscored.groups == unscored.inapplicable > 0
    assert cells["MR3.1", "right"].sr_genuine.value == 1 > cells["MR3.1", "vader"].sr_genuine.value
    # By MR3.1 alone, the one relation that applies to both.
    assert [one.system for one in report.decision.accuracy.systems] == ["right", "vader"]
    assert list(report.decision.systems) == ["right"]


def reads_ten(text: str) -> Output:
    """A system that reads ten characters of a text, and says so."""
    details = {"read": text[:10], "cut": len(text[10:])} if len(text) >= 10 else None
    return Output(by_keyword(text[:10]), 0.5, details=details)


def test_a_change_behind_the_cut_of_a_system_is_no_evidence_and_is_counted():
    @audit.relation("MINE.2", check=audit.equivalent, preserves="label")
    def longer(text: str) -> str:
        """The same with more behind it."""
        return f"{text} That is all."

    @uses.relation("MINE.3", by="source", task="sentiment", family="toys", unit="sentence", carry=nothing)
    def asking(source, choices):
        """As MINE.2, after a look at another output."""
        output, _ = yield [Member("source", source.input), Member("probe", Input.of("Good?"))]
        (follow_up,) = yield [Member("follow_up", Input.of(f"{source.input.text} That is all."))]
        return audit.equivalent([output, follow_up])

    texts = ["Short.", "Good film.", "A film that goes on and on."]  # the second just fits
    study = audit.run(texts, [reads_ten, by_keyword], ["MINE.2", "MINE.3"], progress=False)
    assert study.ran.counts.outcomes | {"error": 0, "rejected": 0} == {
        "satisfied": 2 * 3 + 2 * 1, "violated": 0, "inapplicable": 2 * 2, "error": 0, "rejected": 0,
    }  # fmt: skip
    report = study.report()
    assert {(cell["system"], cell["satisfied"], cell["inapplicable"]) for cell in report.document["cells"]} == {
        ("reads_ten", 1, 2), ("by_keyword", 3, 0),
    }  # fmt: skip
    assert [system.get("cut") for system in report.document["signature"]["systems"]] == [None, 4]
    assert sum("cut off" in note for note in report.notes) == sum("cut off" in line for line in study.ran.lines()) == 2


class Broken:
    def prepare(self) -> None:
        raise ValueError("no model")

    def predict(self, texts: list[str]) -> list[str]:
        return ["positive" for _ in texts]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"systems": []}, "systems is empty"),
        ({"systems": [lambda text: "positive"]}, "a lambda, which has no name"),
        ({"systems": {"vader": by_keyword}}, "the name of a built-in one"),
        ({"systems": [by_keyword, by_keyword]}, "two of the name 'by_keyword'"),
        ({"systems": {"a:b": by_keyword}}, "no colon"),
        ({"systems": {"three": 3}}, "cannot be called"),
        ({"systems": [Broken()]}, "no model"),
        ({"corpus": 7}, "corpus is a int"),
        ({"corpus": [("A film.", "great")]}, "the gold label 'great' is unknown"),
        ({"workers": "2"}, "workers='2': expected a whole number"),
        ({"parameters": ["MR3.1"]}, r"parameters 'MR3.1': expected RELATION.NAME=VALUE"),
        ({"parameters": {"MR6.1": {"sentences": 5}}}, "MR6.1 is not among the relations that are run: MR3.1"),
    ],
)
def test_wrong_arguments_are_told_and_leave_nothing(wrong: dict, reason: str, tmp_path: Path):
    arguments = {"corpus": FILMS, "systems": [by_keyword], "relations": ["MR3.1"]} | wrong
    with pytest.raises(audit.AuditError, match=reason):
        audit.run(**arguments, store=tmp_path / "films.db", progress=False)
    assert list(tmp_path.iterdir()) == []


def test_a_system_is_not_run_on_texts_in_languages_that_it_does_not_read():
    asked: list[str] = []

    @audit.relation("MINE.1", check=audit.equivalent)
    def louder(text: str) -> str:
        return text + "!"

    class English:
        tasks, languages = ("sentiment",), ("en",)

        def predict(self, texts: list[str]) -> list[str]:
            asked.extend(texts)
            return ["positive" for _ in texts]

    frame = pd.DataFrame({"text": ["A good film.", "这部电影很好。", "A bad film."], "language": ["en", "zh", "en"]})
    study = audit.run(frame, [English(), by_keyword], ["MINE.1"], progress=False)
    assert study.ran.counts.outcomes == {"satisfied": 5, "violated": 0, "inapplicable": 1, "error": 0, "rejected": 0}
    assert not [text for text in asked if "电影" in text]
    with pytest.raises(audit.AuditError, match="reads en, corpus frame is in zh"):
        audit.run(frame[1:2], [English()], ["MINE.1"], progress=False)


def test_labels_that_settle_nothing_yet_and_labels_in_another_language_are_told(tmp_path: Path):
    study = audit.run(FILMS[:1], [by_keyword], ["MR3.1"], progress=False).sample(1)
    file = tmp_path / "labels.csv"
    labels = pd.DataFrame({"text": [FILMS[0][0]], "label": ["positive"], "annotator": ["anna"]})
    labels.to_csv(file, index=False)
    with pytest.raises(audit.AuditError, match="line 2: text not in the database, in this language"):
        study.answer(file, language="zh")
    with pytest.warns(UserWarning, match="^1 question answered by fewer people than `annotators`"):
        study.answer(file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.answer(labels.assign(annotator="ben"))
    assert study.report(answers="people").cells[0].judged == 1


def _breaks(text: str) -> str:
    return text.split()[99]


@pytest.mark.parametrize("workers", [0, 1])
def test_what_a_relations_code_raises_is_one_sentence_with_its_line(workers: int):
    audit.relation("OWN.9", task="sentiment", check=audit.equivalent)(_breaks)
    with pytest.raises(audit.AuditError, match=r"relation OWN\.9 failed: IndexError: .*test_study\.py, line \d+\)"):
        audit.run(FILMS, [by_keyword], ["OWN.9"], workers=workers, progress=False)


def test_a_relation_is_replaced_when_it_is_defined_again_and_none_of_ours_is():
    shouted()
    versions = {relation.version for relation in audit.all_relations("sentiment") if relation.name == "MINE.1"}

    @audit.relation("MINE.1", check=lambda outputs: outputs[0].label == outputs[1].label, preserves=["positive"])
    def shouted_again(text: str, choices: random.Random) -> str:
        """One to three exclamation marks."""
        return text + "!" * choices.randint(1, 3)

    again = next(relation for relation in audit.all_relations("sentiment") if relation.name == "MINE.1")
    assert versions != {again.version}
    assert again.summary == "One to three exclamation marks."
    study = audit.run(FILMS, [by_keyword], ["MINE.1"], progress=False)
    assert study.ran is not None
    assert study.ran.counts.outcomes["satisfied"] == 4
    for name, options, reason in (
        ("MR3.1", {}, "is there already"),
        ("MINE.2", {"preserves": "everything"}, "preserves='everything'"),
        ("MINE.2", {"check": lambda first, second: True}, r"takes the outputs, in one list, not \(first, second\)"),
    ):
        with pytest.raises(audit.AuditError, match=reason):
            shouted(name, **options)
    with pytest.raises(audit.AuditError, match=r"takes the text, or the text and a random.Random, not \(\)"):
        audit.relation("MINE.2", check=audit.equivalent)(lambda: "A film.")


def test_reports_are_asked_for_what_there_is():
    report = audit.run(FILMS, [by_keyword, "vader"], ["MR3.1"], progress=False).sample(4).answer_with_gold().report()
    with pytest.raises(audit.AuditError, match="unknown relation of this report"):
        report.relations["MR1.1"]
    with pytest.raises(audit.AuditError, match=r"expected Literal\['rates', 'false'\]"):
        report.plot("pie")  # type: ignore[arg-type]
    assert report.plot("rates").to_dict()["$schema"]
    assert len(report.relations["MR3.1"].pairs) == 1
    with pytest.raises(audit.AuditError, match="answers='all'"):
        audit.run(FILMS[:1], [by_keyword], ["MR3.1"], progress=False).report(answers="all")  # type: ignore[arg-type]


def test_agreement_of_a_frame():
    votes = [("t1", "anna", "x"), ("t1", "ben", "x"), ("t2", "anna", "y"), ("t2", "ben", "x")]
    frame = pd.DataFrame(votes, columns=["item", "annotator", "label"])
    estimates = audit.agreement(frame).to_frame().set_index("name")["estimate"]
    assert estimates["percent_agreement"] == 0.5
    with pytest.raises(audit.AuditError, match="line 5: column annotator: ben rates item t2 again"):
        audit.agreement(pd.concat([frame, frame.tail(1)]))
    with pytest.raises(audit.AuditError, match="ratings has no column 'label'"):
        audit.agreement(frame.drop(columns="label"))
