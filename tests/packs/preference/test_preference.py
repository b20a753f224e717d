"""Judges of two answers: published figures through the built-in relation, what is carried, and users' files."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import audit
from audit.errors import AuditError, BadOutput
from audit.packs.preference import JUDGES, POINTS
from audit.packs.preference.relations import CHANGES
from audit.relations.base import Seen
from audit.relations.registry import all_relations, get_relation
from audit.runner.chunk import source_of
from audit.systems import get_system
from audit.tasks import Input, Output, get_task

LLMBAR = Path(__file__).parents[4] / "shared" / "data" / "llmbar" / "groups.jsonl"
PUBLISHED = {  # SR_o, R_FS, SR_g in per cent: the README beside the file
    "GPT-4": (92.8, 12.9, 80.9),
    "LLaMA2": (75.3, 57.6, 31.9),
    "PaLM2": (72.3, 21.7, 56.6),
    "ChatGPT": (65.9, 65.2, 22.9),
    "ChatGPT-0301": (57.8, 53.3, 27.0),
    "Falcon": (41.5, 34.5, 27.2),
}
PAIR = Input.of("Name a colour.", "Red is one. It is warm.", "Dogs bark. They are loud.")


class Recorded:
    """A judge by what it said of each order of an item's answers; anything else is an error."""

    tasks = ("preference",)
    version = "recorded"

    def __init__(self, name, said):
        self.name, self.said = name, said

    def __call__(self, texts):
        return self.said[tuple(map(str.strip, texts))]


def texts_of(source):
    before, _, two = source.rpartition("\n\nOutput two: ")
    instruction, _, one = before.removeprefix("Instruction: ").partition("\n\nOutput one: ")
    return instruction.strip(), one.strip(), two.strip()


@pytest.mark.slow
@pytest.mark.skipif(not LLMBAR.exists(), reason="the recorded answers of LLMBar are not here")
def test_six_language_models_have_the_figures_of_llmbar():
    rows, said = {}, {name: {} for name in PUBLISHED}
    for line in LLMBAR.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        texts = texts_of(group["source"])
        rows[group["id"]] = (*texts, group["gold"])
        first, second = group["outputs"]  # which of the item's answers was chosen, whatever their order
        swapped = {"one": "two", "two": "one"}[second]
        said[group["system"]] |= {texts: first, (texts[0], texts[2], texts[1]): swapped}
    frame = pd.DataFrame(rows.values(), columns=["instruction", "answer_1", "answer_2", "gold"])
    systems = [Recorded(name, answers) for name, answers in said.items()]
    study = audit.run(frame, systems, ["swapped-answers"], task="preference", progress=False).answer_with_gold()
    cells = {cell.system: cell for cell in study.report().cells}
    for name, figures in PUBLISHED.items():
        cell = cells[name]
        rates = (cell.sr_observed, cell.fs.value, cell.sr_genuine.value)
        assert [round(100 * rate, 1) for rate in rates] == list(figures), name


def change(name, item=PAIR, prefers="one"):
    """The follow-up that a relation makes for a judge with this preference, and the verdict where it stays."""
    source = source_of(item, "0")
    steps = get_relation("preference", name).steps(source)
    assert [member.input for member in next(steps)] == [item]
    (follow_up,) = steps.send([Output(prefers)])
    with pytest.raises(StopIteration) as end:
        steps.send([Output(prefers)])
    return follow_up.input, end.value.value


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(("prefers", "changed"), [("one", 2), ("two", 1)])
def test_the_answer_that_the_judge_did_not_choose_changes(name, prefers, changed):
    follow_up, verdict = change(name, prefers=prefers)
    assert [at for at in range(3) if follow_up.texts[at] != PAIR.texts[at]] == [changed]
    assert verdict.outcome is audit.Outcome.SATISFIED
    # What is right stays where the worse answer changed. A better one that changed may be worse than the other now.
    carry, seen = (
        get_relation("preference", name).carry,
        (Seen(PAIR, Output(prefers)), Seen(follow_up, Output(prefers))),
    )
    other = {"one": "two", "two": "one"}[prefers]
    assert (carry({prefers}, *seen), carry({other}, *seen)) == ({prefers}, None)


def test_by_gold_the_worse_answer_changes_whatever_the_judge_chose():
    steps = get_relation("preference", "filler").steps(replace(source_of(PAIR, "0"), gold="one"))
    next(steps)
    (follow_up,) = steps.send([Output("two")])
    assert [at for at in range(3) if follow_up.input.texts[at] != PAIR.texts[at]] == [2]


def test_a_tie_makes_no_group_of_a_change_and_stays_when_answers_are_swapped():
    steps = get_relation("preference-tie", "filler").steps(source_of(PAIR, "0"))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([Output("tie")])
    assert end.value.value.outcome is audit.Outcome.INAPPLICABLE
    assert get_relation("preference-tie", "swapped-answers").carry({"tie", "one"}) == {"tie", "two"}


def test_equal_answers_make_no_group_and_code_is_left_whole():
    swapped = get_relation("preference", "swapped-answers")
    assert swapped.follow_ups(source_of(Input.of("Say it.", "It.", "It."), "0")) == []
    code = Input.of("Write it.", "No.", "```python\nprint()")
    steps = get_relation("preference", "filler").steps(source_of(code, "0"))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([Output("one")])
    assert end.value.value is None


def test_points_are_whole_and_right_within_one():
    assert [POINTS.is_wrong(Output("7"), {points}) for points in ("5", "6", "8", "9")] == [True, False, False, True]
    for said in ("11", "7.5", "seven", None):
        with pytest.raises(BadOutput, match="no whole number from 1 to 10"):
            POINTS.checked(Output(said))
    padded = get_relation("points", "filler")
    assert [padded.verdict([Output("7"), Output(points)], ()).outcome.name for points in ("8", "9")] == [
        "SATISFIED",
        "VIOLATED",
    ]


def test_a_file_of_pairs_is_judged_and_what_is_no_preference_is_a_stored_error(tmp_path):
    def judge(texts):
        return "both" if "both" in texts[0] else "one"

    judge.tasks = ("preference",)
    file = tmp_path / "pairs.csv"
    pd.DataFrame(
        [("Say a.", "a", "b", "one"), ("Say both.", "a", "b", "two"), ("Say much.", "a" * 50_000, "b", "one")],
        columns=["instruction", "answer_1", "answer_2", "gold"],
    ).to_csv(file, index=False)
    study = audit.run(file, [judge], ["swapped-answers"], task="preference", progress=False).answer_with_gold()
    (cell,) = study.report().cells
    # The one that always says "one" is never consistent; of the second item there is an error.
    assert (cell.satisfied, cell.violated) == (0, 2)
    file.write_text("instruction,answer_1,answer_2\nSay a.,a,\n", encoding="utf-8")
    with pytest.raises(AuditError, match="line 2"):
        audit.run(file, [judge], ["swapped-answers"], task="preference", progress=False)


def test_each_judge_reads_what_its_rule_says():
    said = {
        rule: [get_system(f"judge-{rule}").run([item])[0].label for item in (PAIR, Input.of("a b", "a", "a b c"))]
        for rule in JUDGES
    }
    assert said == {"first": ["one", "one"], "longer": ["two", "two"], "overlap": ["one", "two"]}
    assert {relation.name for relation in all_relations("preference")} >= {"swapped-answers", "typos", *CHANGES}
    assert get_task("preference").texts == 3
