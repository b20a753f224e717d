"""Requests that are sent twice, since the answer to the first was lost on its way: nothing happens twice."""

from datetime import UTC, datetime, timedelta

from api_world import World
from sqlalchemy import select, update

from audit.store.core import judgement, lease


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
