"""Relations, systems and corpora of named entities."""

import json
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

import audit
from audit.corpora import get_corpus
from audit.errors import BadFile, BadOutput, BadRow, NotInstalled
from audit.packs.chinese import taggers
from audit.packs.entities.models import _trimmed
from audit.packs.entities.relations import ADDED, BORROWED, REPLACED
from audit.relations.base import Outcome, Seen, Source, Verdict
from audit.relations.registry import get_relation
from audit.reports.ratings import of_spans, stored_ratings
from audit.systems import get_system
from audit.systems.clouds import Cloud
from audit.systems.own import Own
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

TEXT = "Susan Miller met Robert in Paris, and they thought of Toyota."
GOLD = "0-12 person; 17-23 person; 27-32 place; 54-60 organisation"
CHINESE, CHINESE_GOLD = (
    "王伟从上海飞到成都，参加腾讯公司的会议。",
    "0-2 person; 3-5 place; 7-9 place; 12-16 organisation",
)


def group(name: str, text: str, language: str, gold: str | None, said: str) -> tuple[Input, list[Output], object]:
    """The follow-up of a relation, and a generator that takes its output."""
    steps = get_relation("entities", name).steps(
        Source(Input.of(text, language=language), Analysis(text, language), "7", gold)
    )
    next(steps)
    try:
        (member,) = steps.send([Output(said)])
    except StopIteration as stopped:
        return Input.of(text), [], stopped.value
    return member.input, [Output(said)], steps


@pytest.mark.parametrize("name", REPLACED)
@pytest.mark.parametrize(("text", "gold", "language"), [(TEXT, GOLD, "en"), (CHINESE, CHINESE_GOLD, "zh")])
def test_a_name_is_replaced_and_what_is_right_moves_with_it(name: str, text: str, gold: str, language: str) -> None:
    relation = get_relation("entities", name)
    if language not in relation.languages:
        pytest.skip(f"{name} is for English alone")
    after, _, steps = group(name, text, language, gold, gold)
    assert after.text != text
    if name == "other-kind":  # people are asked
        return
    # A system that is right about the source and about what is carried satisfies the relation, and nothing is wrong.
    carried = relation.carry({gold}, Seen(Input.of(text), Output(gold)), Seen(after, Output("none")))
    assert carried is not None
    (right,) = carried
    task = get_task("entities")
    assert task.read_label(right) == right  # type: ignore[attr-defined]
    assert task.misfit(right, after.text) is None  # type: ignore[attr-defined]
    with pytest.raises(StopIteration) as ended:
        steps.send([Output(right)])  # type: ignore[attr-defined]
    assert ended.value.value == Verdict(Outcome.SATISFIED)


def test_one_that_misses_the_same_name_twice_is_satisfied_and_wrong() -> None:
    after, _, steps = group("same-kind", TEXT, "en", "17-23 person", "none")
    with pytest.raises(StopIteration) as ended:
        steps.send([Output("none")])  # type: ignore[attr-defined]
    assert ended.value.value.outcome is Outcome.SATISFIED
    carried = get_relation("entities", "same-kind").carry(
        {"17-23 person"}, Seen(Input.of(TEXT), Output("none")), Seen(after, Output("none"))
    )
    assert get_task("entities").is_wrong(Output("none"), carried or set())


def test_without_gold_it_is_a_name_that_the_system_found() -> None:
    after, _, _ = group("unknown-name", TEXT, "en", None, "27-32 place")
    assert after.text.startswith("Susan Miller met Robert in ")
    assert "Paris" not in after.text
    assert group("unknown-name", TEXT, "en", None, "none")[1:] == ([], None)  # none was found


@pytest.mark.parametrize("name", [*ADDED, *BORROWED])
def test_names_stay_where_other_words_change(name: str) -> None:
    relation = get_relation("entities", name)
    source = Source(Input.of(TEXT), Analysis(TEXT, "en"), "7", None)
    follow_ups, note = relation.make_group(source)  # type: ignore[attr-defined]
    assert follow_ups, "the text is one that it applies to"
    carried = relation.carry({GOLD}, Seen(source.input, Output(GOLD)), Seen(follow_ups[0], Output("none")))
    assert carried is not None
    (right,) = carried
    assert relation.verdict([Output(GOLD), Output(right)], note).outcome is Outcome.SATISFIED  # type: ignore[attr-defined]
    assert relation.verdict([Output(GOLD), Output("0-1 person")], note).outcome is Outcome.VIOLATED  # type: ignore[attr-defined]
    assert right.count(";") == (5 if name == "concatenated" else 3)


CONLL = "-DOCSTART- -X- O\n\nAnn B-PER\nLee I-PER\n's O\ndog O\n. O\n\nRome S-LOC\n\n"


def test_columns_after_conll(tmp_path: Path) -> None:
    file = tmp_path / "gold.conll"
    file.write_text(CONLL, encoding="utf-8")
    corpus = get_corpus(f"conll:{file}")
    assert [(row.input.text, row.gold) for row in corpus.rows()] == [
        ("Ann Lee's dog.", "0-7 person"), ("Rome", "0-4 place")
    ]  # fmt: skip
    assert get_corpus(f"conll:{file}", "entities/f1=0.8").task == "entities/f1=0.8"
    file.write_text("Aspirin B-drug\nhelps O\n\n", encoding="utf-8")
    assert get_corpus(f"conll:{file}").task == "entities/drug"
    file.write_text("Ann\n\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"line 1: .*has no tag"):
        get_corpus(f"conll:{file}")


def test_label_studio_and_offsets_of_bytes(tmp_path: Path) -> None:
    value = {"start": 4, "end": 9, "text": "Obama", "labels": ["PER"]}
    result = [{"type": "labels", "value": value}]
    export = tmp_path / "export.json"
    tasks = [{"data": {"text": "Zoë Obama"}, "annotations": [{"result": result}]}, {"data": {"text": "No one."}}]
    export.write_text(json.dumps(tasks), encoding="utf-8")
    assert [row.gold for row in get_corpus(f"label-studio:{export}").rows()] == ["4-9 person", None]
    export.write_text("[1]", encoding="utf-8")
    with pytest.raises(BadFile, match="no export of Label Studio"):
        get_corpus(f"label-studio:{export}")
    lines = tmp_path / "offsets.jsonl"
    lines.write_text(json.dumps({"text": "Zoë Obama left.", "gold": [[5, 10, "PER"]]}), encoding="utf-8")
    with pytest.raises(BadRow, match="offsets count characters"):
        get_corpus(str(lines), "entities")


def test_systems_find_names_and_functions_return_them() -> None:
    item = Input.of("Susan Miller met Angela Merkel in Paris.")
    assert get_system("gazetteer").run([item])[0].label == "0-12 person; 17-30 person; 34-39 place"
    (found,) = get_system("spacy-entities").run([item])
    assert "17-30 person" in str(get_task("entities").checked(found).label)
    assert "17-30 Person" in str(
        get_task("entities/Person,org").checked(found).label
    )  # a scheme's kinds, as it has them

    def capitals(text: str) -> list[tuple[int, int, str]]:
        return [(0, 12, "PERSON")]

    capitals.tasks = "entities"  # type: ignore[attr-defined]
    own = Own("mine", capitals, __import__(__name__, fromlist=["x"]), None, {})
    assert own.run([item])[0].label == "0-12 person"


def test_a_models_blanks_and_overlaps_are_put_right() -> None:
    assert _trimmed([(5, 11, "GPE"), (0, 4, "Person"), (5, 8, "DATE")], "Ann  Paris left") == (
        (0, 3, "Person"),
        (5, 10, "GPE"),
    )
    with pytest.raises(NotInstalled):
        get_system("token-classification:/nowhere/at/all")


# The documented examples of the vendors' references.
_PERSON = {"text": "Zoë Lee", "category": "Person", "offset": 0, "length": 7, "confidenceScore": 0.98}
_DATE = {"text": "Monday", "category": "DateTime", "offset": 17, "length": 6, "confidenceScore": 0.8}
_MENTIONS = [
    {"text": {"content": "Zoë Lee", "beginOffset": 0}, "type": "PROPER"},
    {"text": {"content": "she", "beginOffset": 24}, "type": "COMMON"},
]
REPLIES = {
    "comprehend-entities": {"Entities": [
        {"Score": 0.99, "Type": "PERSON", "Text": "Zoë Lee", "BeginOffset": 0, "EndOffset": 7},
        {"Score": 0.9, "Type": "DATE", "Text": "Monday", "BeginOffset": 17, "EndOffset": 23}]},
    "azure-entities": {"kind": "EntityRecognitionResults", "results": {
        "documents": [{"id": "0", "entities": [_PERSON, _DATE]}], "errors": []}},
    "google-entities": {"entities": [{"name": "Zoë Lee", "type": "PERSON", "mentions": _MENTIONS}]},
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_names_that_services_find(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AZURE_LANGUAGE_ENDPOINT", "AZURE_LANGUAGE_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(variable, "https://x.example" if "ENDPOINT" in variable else "x")
    cloud = Cloud(name)
    assert cloud.tasks == ("entities",)
    (output,) = cloud.read(REPLIES[name], [Input.of("Zoë Lee left on a Monday.")])
    assert get_task("entities").checked(output).label == "0-7 person"
    with pytest.raises(BadOutput, match="no names where they are documented"):
        cloud.read({}, [])


def test_a_model_of_transformers_in_a_directory(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ann", "saw", "paris", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        id2label={0: "O", 1: "B-PER"}, label2id={"O": 0, "B-PER": 1}, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.BertForTokenClassification(config)
    model.classifier.weight.data.zero_()
    model.classifier.bias.data = model.classifier.bias.data.new_tensor([0.0, 5.0])  # every word is a person
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    system = get_system(f"token-classification:{tmp_path}")
    (output,) = system.run([Input.of("Ann saw Paris.")])
    assert get_task("entities").checked(output).label in (
        "0-14 person",
        "0-3 person; 4-7 person; 8-13 person; 13-14 person",
    )


def test_a_model_of_hanlp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for HanLP's model: its document of lists, whose words leave out white space."""

    class Model:
        tasks: ClassVar = {"tok/fine": None, "ner/msra": None}

        def __call__(self, texts: list[str], tasks: list[str]) -> dict[str, list]:
            return {
                "tok/fine": [["王伟", "在", "上海", "。"]],
                "ner/msra": [[("王伟", "NR", 0, 1), ("上海", "LOCATION", 2, 3)]],
            }

    monkeypatch.setattr(taggers, "load", lambda model: Model())
    monkeypatch.setattr(taggers, "model_version", lambda model: "1")
    (output,) = get_system("hanlp-entities:somewhere").run([Input.of("王伟 在上海。", language="zh")])
    assert get_task("entities").checked(output).label == "0-2 person; 4-6 place"


def test_agreement_on_names_and_words() -> None:
    study = audit.run([TEXT], ["gazetteer"], ["final-mark"], task="entities", progress=False).sample(annotators=2)
    said = {"anna": "0-12 person; 27-32 place", "ben": "0-12 person"}
    study.answer(pd.DataFrame([{"text": TEXT, "label": label, "annotator": name} for name, label in said.items()]))
    rated = stored_ratings(study.engine, "entities")
    names, words = (of_spans(rated, study.engine, each).frame for each in ("name", "word"))  # type: ignore[arg-type]
    assert sorted(names["label"]) == ["none", "person", "person", "place"]
    assert len(words) == 2 * 13  # commas and stops are words, too
    assert (words["label"] != "none").sum() == 5  # two words of two people, and one of one
