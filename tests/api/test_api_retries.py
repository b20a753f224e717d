"""Requests that are sent twice, since the answer to the first was lost on its way: nothing happens twice."""

from datetime import UTC, datetime, timedelta

import pytest
from api_world import World, judge_all
from sqlalchemy import select, update

from audit.store.core import adjudication, judgement, lease


def number(world: World, table) -> int:
    with world.engine.connect() as connection:
        return len(connection.execute(select(table.c.id)).all())


def test_an_answer_that_is_sent_twice_is_stored_once(world: World) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    body = {"answer": "positive", "comment": "sure"}
    stored, again = (world.send("ann", "POST", f"/questions/{id}/judgement", json=body) for _ in range(2))
    assert (stored.status_code, stored.json()) == (again.status_code, again.json())
    world.ask("ann", "POST", "/questions/next")  # which the client may have asked for before it looked
    assert world.ask("ann", "POST", f"/questions/{id}/judgement", json=body) == stored.json()
    assert number(world, judgement) == 1


@pytest.mark.parametrize("body", [{"answer": "negative", "comment": "sure"}, {"answer": "positive"}])
def test_another_answer_is_no_repetition(world: World, body) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive", "comment": "sure"})
    other = world.send("ann", "POST", f"/questions/{id}/judgement", json=body)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "refused.not_leased")
    assert number(world, judgement) == 1


def test_the_answer_of_somebody_else_is_no_repetition(world: World) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})
    other = world.send("ben", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "refused.not_leased")


def test_an_answer_that_was_taken_back_is_no_repetition(world: World) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    stored = world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})["id"]
    world.ask("ann", "POST", "/undo")
    assert world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})["id"] != stored


def test_whoever_says_which_answer_is_meant_takes_back_one(world: World) -> None:
    stored = []
    for _ in range(2):
        id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
        stored.append(world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})["id"])
    earlier = world.send("ann", "POST", "/undo", json={"judgement": stored[0]})
    assert (earlier.status_code, earlier.json()["error"]["code"]) == (409, "refused.not_last")
    for _ in range(2):
        assert world.ask("ann", "POST", "/undo", json={"judgement": stored[1]}) == {"question_id": id}
    assert number(world, judgement) == 3  # two answers, and one taken back
    assert world.ask("ann", "POST", "/questions/next")["question"]["id"] == id
    of_another = world.send("ben", "POST", "/undo", json={"judgement": stored[1]})
    assert (of_another.status_code, of_another.json()["error"]["code"]) == (409, "refused.not_last")


def test_an_expired_question_is_refused_and_comes_again(world: World) -> None:
    """Whoever was slow loses the place only if somebody else took it."""
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    with world.engine.begin() as connection:
        connection.execute(update(lease).values(expires_at=datetime.now(UTC) - timedelta(minutes=1)))
    assert world.ask("ann", "POST", "/questions/next")["question"]["id"] == id
    assert world.send("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"}).status_code == 201


def test_a_decision_that_is_sent_twice_is_stored_once_and_can_be_changed(world: World) -> None:
    judge_all(world, "ben")
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    judge_all(world, "ann", lambda question: "negative" if question["id"] == id else "positive")
    path, body = f"/questions/{id}/adjudication", {"allowed": ["negative", "neutral"], "reason": "It says so."}
    stored = world.ask("ada", "POST", path, json=body)
    assert world.ask("ada", "POST", path, json=body | {"allowed": ["neutral", "negative"]}) == stored
    assert number(world, adjudication) == 1
    other = world.send("ada", "POST", path, json=body | {"allowed": ["positive"]})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "refused.settled_meanwhile")
    changed = body | {"allowed": ["positive"], "instead_of": stored["id"]}
    elsewhere = world.send("ada", "POST", f"/questions/{id + 1}/adjudication", json=changed)
    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (409, "refused.not_recent")
    assert world.ask("ada", "POST", path, json=changed)["id"] != stored["id"]
    assert number(world, adjudication) == 2
