"""What hangs on a question, against a world small enough to be settled by hand."""

from film_world import answer, world

from audit.studies.impact import consequences


def test_the_groups_whose_state_a_question_decides(build):
    # Both systems satisfy both groups. a says positive of film 0, b negative; of film 1 both are right.
    engine, judge = world(build, {"a": ["positive", "positive"], "b": ["negative", "positive"]})
    ids = answer(engine, {"Film 1.": "positive", "Film 1!": "positive", "Film 0!": "positive"})
    # Film 0! is positive, so b's group is false whatever is said of Film 0. That of a hangs on it.
    (consequence,) = consequences(engine, judge, [ids["Film 0."]])
    assert (consequence.pairs, consequence.relations, consequence.systems) == (1, ("X",), ("a",))


def test_the_most_consequential_comes_first(build):
    engine, judge = world(build, {"a": ["positive", "positive"], "b": ["negative", "positive"]})
    ids = answer(engine, {"Film 1.": "positive", "Film 1!": "positive", "Film 0!": "positive"})
    listed = consequences(engine, judge, ids.values())
    assert {consequence.question_id for consequence in listed} == set(ids.values())
    assert [consequence.urgency for consequence in listed] == sorted(consequence.urgency for consequence in listed)
