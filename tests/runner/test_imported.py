"""`audit import-run`: what a file of somebody else's groups becomes, and every way in which it can be wrong."""

import json

import pytest
from sqlalchemy import select

from audit.errors import BadRow
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.runner.imported import import_run
from audit.runner.studies import Later
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.store.core import group, input_table, member, output, source

GROUP = {
    "relation": "MR1.1",
    "system": "amazon",
    "source": "It isn't good.",
    "follow_ups": ["It is not good."],
    "outputs": [{"label": "negative", "score": 0.9}, "negative"],
    "verdict": "satisfied",
}


@pytest.fixture
def file(tmp_path):
    """Writes objects, or lines as they are, to a file."""

    def write(*rows):
        path = tmp_path / "run.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def refuse(path):
    """A file that is refused before a database is opened: there is none in this folder."""
    import_run(Later(str(path.parent / "no" / "x.db")), path)


def cells(engine, size=10):
    ask_next(engine, SampleOptions(size))
    answer_with_gold(engine)
    return {(cell["relation"], cell["system"]): cell for cell in study_report(engine)["cells"]}


def groups_of(engine):
    """By group, its source's row and whether all systems share it: roles and texts."""
    query = (
        select(group.c.id, group.c.system_id, source.c.row, member.c.role, input_table.c.texts)
        .select_from(member)
        .join(group, group.c.id == member.c.group_id)
        .join(source, source.c.id == group.c.source_id)
        .join(input_table, input_table.c.id == member.c.input_id)
        .order_by(group.c.id, member.c.step)
    )
    groups = {}
    with engine.connect() as connection:
        for row in connection.execute(query):
            groups.setdefault((row.id, row.row, row.system_id is None), []).append((row.role, row.texts[0]))
    return groups


def test_gold_settles_groups_of_relations_that_carry(file, engine):
    rows = [
        GROUP | {"id": "1", "gold": "negative"},
        GROUP | {"id": "2", "gold": "positive", "source": "It isn't bad.", "follow_ups": ["It is not bad."]},
        GROUP
        | {"id": "3", "gold": "positive", "source": "It isn't dull.", "follow_ups": ["It is not dull."]}
        | {"outputs": ["positive", "negative"], "verdict": "violated"},
        GROUP | {"id": "4", "source": "It isn't on.", "follow_ups": ["It is not on."], "verdict": "inapplicable"},
    ]
    import_run(engine, file(*rows))
    cell = cells(engine)["MR1.1", "amazon"]
    assert [cell[name] for name in ("groups", "satisfied", "violated", "inapplicable", "errors")] == [4, 2, 1, 1, 0]
    assert [cell[name] for name in ("judged", "false", "waiting")] == [2, 1, 0]
    assert cell["fs_rate"]["value"] == 0.5
    assert cell["sr_genuine"]["value"] == pytest.approx(2 / 3 * 0.5)


def test_a_second_group_of_the_same_source_is_a_source_of_its_own(file, engine):
    other = GROUP | {"follow_ups": ["It's not good."]}
    imported = import_run(
        engine, file(GROUP | {"id": "7"}, other | {"id": "7"}, GROUP | {"id": "7#2", "source": "Unlike."})
    )
    assert (imported.sources, imported.groups) == (3, 3)
    with engine.connect() as connection:
        rows = {row["row"]: row["cluster"] for row in connection.execute(select(source)).mappings()}
    assert rows == {"7": "7", "7#2": "7#2", "7#2#": "7"}
    assert cells(engine)["MR1.1", "amazon"]["satisfied"] == 3


def test_systems_with_the_same_follow_ups_share_the_group_and_others_do_not(file, engine):
    imported = import_run(engine, file(GROUP, GROUP | {"system": "google"}))
    assert (imported.sources, imported.groups, imported.checks, imported.systems) == (1, 1, 2, ["amazon", "google"])
    assert [shared for _, _, shared in groups_of(engine)] == [True]
    unlike = open_store("sqlite://", create=True)
    imported = import_run(unlike, file(GROUP, GROUP | {"system": "google", "follow_ups": ["Not good, it is."]}))
    assert (imported.sources, imported.groups, imported.checks) == (1, 2, 2)
    assert [shared for _, _, shared in groups_of(unlike)] == [False, False]
    assert {members[1][1] for members in groups_of(unlike).values()} == {"It is not good.", "Not good, it is."}
    assert len(cells(unlike)) == 2


def test_importing_again_changes_nothing_and_another_seed_is_another_study(file, engine, content):
    path = file(GROUP | {"gold": "negative"}, GROUP | {"system": "google"} | {"gold": "negative"})
    first, before = import_run(engine, path), content(engine)
    again = import_run(engine, path)
    assert (again.study, again.new, again.groups, again.checks) == (first.study, False, 0, 0)
    assert content(engine) == before
    assert import_run(engine, path, seed=1).study == first.study + 1


def without(name):
    return {key: value for key, value in GROUP.items() if key != name}


BAD = {
    "broken JSON": ('{"relation": ', "not a JSON object"),
    **{f"no {name}": (without(name), f"{name}: is missing; it must be ") for name in GROUP},
    "empty follow-up": (GROUP | {"follow_ups": [""]}, r"follow_ups: \[''\] must be a list of at least one text"),
    "an error as satisfied": (GROUP | {"outputs": [None, "negative"]}, "is satisfied; it must be error or left out"),
    "unknown label": (GROUP | {"outputs": ["bad", "negative"]}, "label 'bad' is not one of positive"),
    "unknown task": (GROUP | {"task": "cooking"}, "unknown task 'cooking'; known are: classification, entities"),
    "score above 1": (json.dumps(GROUP).replace("0.9", "90"), "score 90.0 is not a number from 0 to 1"),
    "NUL in a text": (GROUP | {"follow_ups": ["a\0b"]}, "a text holds a NUL byte; remove it"),
    "the same group": (GROUP, "the same group of the same relation and system is in line 1"),
    "another output": (
        GROUP | {"relation": "MR1.3", "outputs": ["negative", "negative"]},
        "the system returned something else for the same input in line 1",
    ),
    "another gold": (GROUP | {"relation": "MR1.3", "gold": "positive"}, "this source are others in line 1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_row_is_told_with_file_line_and_reason(kind, file):
    row, reason = BAD[kind]
    path = file(GROUP, "", row)
    with pytest.raises(BadRow, match=reason) as caught:
        refuse(path)
    assert caught.value.line == 3
    assert str(caught.value).startswith(f"{path}, line 3: ")


def test_missing_outputs_are_stored_errors_and_count_beside_the_rates(file, engine):
    missing = without("verdict") | {"source": "No.", "outputs": [{"error": "refused", "text": "I cannot."}, "negative"]}
    imported = import_run(engine, file(GROUP | {"gold": "negative"}, missing))
    assert (imported.outcomes["satisfied"], imported.outcomes["error"]) == (1, 1)
    cell = cells(engine)["MR1.1", "amazon"]
    assert [cell[name] for name in ("groups", "satisfied", "errors", "judged")] == [2, 1, 1, 1]
    with engine.connect() as connection:
        failed = connection.execute(select(output.c.error, output.c.text).where(output.c.error.is_not(None))).all()
    assert [tuple(row) for row in failed] == [("refused", "I cannot.")]


@pytest.mark.parametrize("relation", ["MR1.1", "my own rule"])
def test_gold_of_a_follow_up_goes_before_what_its_relation_carries(relation, file, engine):
    lines = [
        GROUP
        | {"relation": relation, "source": text, "gold": "negative", "follow_ups": [{"text": f"{text}!", "gold": gold}]}
        for text, gold in (("Bad.", "negative"), ("Not good.", "positive"))
    ]
    assert import_run(engine, file(*lines)).sources == 2
    ask_next(engine, SampleOptions(10))
    answer_with_gold(engine)
    report = study_report(engine)
    assert [report["cells"][0][name] for name in ("judged", "false", "waiting")] == [2, 1, 0]
    # The follow-ups are no sources: accuracy does not count them.
    accuracy = report["decisions"][0]["accuracy"]
    assert (accuracy["texts"], accuracy["systems"][0]["accuracy"]["value"]) == (2, 1)


def test_several_calls_on_an_input_are_repeats_of_which_the_first_answer_counts(file, engine):
    calls = [[None, "negative", "positive"], ["negative", "negative"]]
    import_run(engine, file(GROUP | {"outputs": calls, "gold": "negative"}))
    report = study_report(engine)
    (system,) = report["repeats"][0]["systems"]
    assert (system["inputs"], system["least_calls"], system["most_calls"], system["failed"]) == (2, 2, 2, 1)
    assert system["contradicted"] == 1
    assert cells(engine)["MR1.1", "amazon"]["fs_rate"]["value"] == 0.0
