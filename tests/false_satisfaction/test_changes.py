"""Two versions matched by content, in one database and in two, and settled by the answers of both."""

import numpy as np
from conftest_rows import row
from film_world import answer
from sqlalchemy import select

import audit
from audit.false_satisfaction.changes import VIOLATED, Side, changes
from audit.false_satisfaction.resolution import State
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables

P, N = "positive", "negative"
OLD = [(P, P), (P, P), (P, N), (P, P), (P, N), (P, P)]
NEW = [(P, P), (P, N), (P, P), (N, N), (P, N), None]
"""What each says of six films and their follow-ups: the same, broke, fixed, both others, the same, inapplicable."""


def rows(name, said, first=0):
    return [
        row(f"Film {n}.", f"Film {n}!", list(labels or (P, P)), verdict(labels), relation="X", system=name, id=str(n))
        for n, labels in enumerate(said, first)
    ]


def verdict(labels):
    return "inapplicable" if labels is None else "satisfied" if labels[0] == labels[1] else "violated"


def ids(connection):
    table = table_of(tables.System)
    return dict(connection.execute(select(table.c.name, table.c.id)).all())


def of_one(engine, whose="both"):
    with engine.connect() as connection:
        return changes(Side(connection, ids(connection)["old"]), Side(connection, ids(connection)["new"]), whose)


def films(found, *columns):
    """Rows of the groups by film, in the order of the films."""
    return found.groups.sort_values("group_old")[list(columns)].to_numpy().tolist()


def drawn(engine):
    draw_all(engine, SampleRequest(Size(share=1.0)))
    return engine


def test_groups_are_matched_and_what_changed_decides(build):
    found = of_one(build([*rows("old", OLD), *rows("new", NEW)]))
    assert sorted(films(found, "satisfied_old", "satisfied_new", "same")) == sorted(
        [[True, True, True], [True, False, False], [False, True, False], [True, True, False], [False, False, True]]
    )
    assert found.deciding.sum() == 3
    assert [unmatched.inapplicable for unmatched in found.unmatched.values()] == [1]
    assert set(found.groups["state_old"]) == {State.WAITING, VIOLATED}
    assert not found.groups["judged"].any()


def test_what_counts_is_the_beginning_in_which_all_is_settled(build):
    """Every group broke. With all of the first five settled these are judged; without the third, the first two are; a
    group that is settled as false by one answer alone, whose other would be open, ends the beginning, too."""
    films_of = [(P, P)] * 30
    engine = drawn(build([*rows("old", films_of), *rows("new", [(P, N)] * 30)]))
    order = of_one(engine).groups
    source = table_of(tables.Source)
    with engine.connect() as connection:
        names = dict(connection.execute(select(source.c.id, source.c.row)).all())
    first = [names[id] for id in order["source_old"]]
    label = {name: [P, N][place % 2] for place, name in enumerate(first)}
    everything = {f"Film {n}{end}": label[str(n)] for n in range(30) for end in ".!" if str(n) in first[:5]}
    answer(engine, everything)
    found = of_one(engine)
    assert found.groups["judged"].tolist() == [True] * 5 + [False] * 25
    assert found.groups["judged_old"].tolist() == [True] * 5 + [False] * 25
    assert found.groups["state_old"].tolist()[:5] == [State.TRUE, State.FALSE] * 2 + [State.TRUE]
    answer(engine, {text: one for text, one in everything.items() if first[2] != text[5:-1]})
    assert np.flatnonzero(of_one(engine).groups["judged"]).tolist() == [0, 1]
    answer(engine, {text: one for text, one in everything.items() if text[-1] == "." and one == N})
    found = of_one(engine)
    assert not found.groups["judged"].any()
    assert (found.groups["state_old"] == State.FALSE).sum() == 2


def test_a_text_that_comes_twice_is_two_groups(build):
    twice = [*rows("old", OLD), *rows("new", NEW)]
    twice += [{**one, "id": one["id"] + "b"} for one in twice]
    assert len(of_one(build(twice)).groups) == 10


def test_groups_that_depend_on_the_system_are_matched_by_source(toy_corpus, toy_relations, tmp_path):
    def old(text):
        return "positive" if "probe" in text or text.endswith("positive") else "negative"

    def new(text):
        return "negative" if "probe" in text or "7" in text else "positive"

    engine = audit.run(toy_corpus(10), [old, new], ["T1", "T3"], store=tmp_path / "both.db", progress=False).engine
    found = of_one(engine)
    names = [key.name for key in found.relations]
    chained = found.groups[found.groups["relation"] == names.index("T3")]
    assert len(chained) == 10
    assert (chained["group_old"] != chained["group_new"]).all()
    assert not chained["same"].any()  # the follow-ups quote other outputs
