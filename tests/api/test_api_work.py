"""What teams do with the API: judge, decide, send texts, run a study, fetch answers and rates."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from api_world import World, judge_all, make_database, world_of
from sqlalchemy import select

from audit.judging.adjudications import adjudicate, send_back
from audit.store import open_store
from audit.store.copying import in_utc
from audit.store.core import judgement


def judge_and_decide(world: World) -> None:
    """Two people judge everything and differ in one question; an adjudicator decides it."""
    me = world.ask("ann", "GET", "/me")
    assert (me["name"], me["role"], me["languages"]) == ("ann", "annotator", [])
    left = me["left"]
    question = world.ask("ann", "POST", "/questions/next")["question"]
    assert question == world.ask("ann", "POST", "/questions/next")["question"]  # it is held
    assert list(question["labels"]) == ["positive", "neutral", "negative"]
    shown = datetime.now(timezone(timedelta(hours=8))) - timedelta(seconds=5)
    body = {"answer": "negative", "comment": "sure", "shown_at": shown.isoformat()}
    stored = world.ask("ann", "POST", f"/questions/{question['id']}/judgement", json=body)["id"]
    with world.engine.connect() as connection:
        row = connection.execute(select(judgement).where(judgement.c.id == stored)).mappings().one()
    assert (row["answer"], row["comment"], row["client"].partition("; ")[2]) == ("negative", "sure", "API")
    assert in_utc(row["shown_at"]) == shown.astimezone(UTC)
    assert world.ask("ann", "POST", "/undo") == {"question_id": question["id"]}
    again = world.ask("ann", "POST", "/questions/next")["question"]
    assert again["id"] == question["id"]
    world.ask("ann", "POST", f"/questions/{again['id']}/judgement", json={"answer": "negative"})
    world.ask("ann", "POST", f"/questions/{world.ask('ann', 'POST', '/questions/next')['question']['id']}/skip")
    flagged = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    world.ask("ann", "POST", f"/questions/{flagged}/flag", json={"comment": "which film?"})
    send_back(world.engine, world.accounts["ada"].id, flagged, "any")
    assert judge_all(world, "ann") == left - 1
    assert judge_all(world, "ben") == left
    assert world.ask("ben", "POST", "/questions/next") == {"question": None, "training": False}
    adjudicate(world.engine, world.accounts["ada"].id, again["id"], ["negative"], "It says so.")


def fetch(world: World, answered: int) -> None:
    """A manager fetches answers page by page, the report, agreement, progress and the log."""
    fetched, after = [], 0
    while after is not None:
        page = world.ask("mia", "GET", "/questions", params={"limit": 4, "after": after, "which": "answered"})
        fetched += page["questions"]
        after = page["next"]
    assert len({question["id"] for question in fetched}) == len(fetched) == answered
    assert sum("adjudicated" in question["answers"] for question in fetched) == 1
    of_origin = world.ask("mia", "GET", "/questions", params={"which": "answered", "origin": "adjudicated"})
    assert [question["answers"]["adjudicated"] for question in of_origin["questions"]] == [["negative"]]
    report = world.ask("mia", "GET", "/report", params={"study": 1, "answers": "people"})
    assert {cell["study"] for cell in report["cells"]} == {1}
    assert all(cell["judged"] == cell["drawn"] for cell in report["cells"])
    assert world.ask("mia", "GET", "/agreement")[0]["items"] == answered
    assert world.ask("mia", "GET", "/progress")["questions"]["open"] == 0


@pytest.mark.slow
def test_people_judge_an_adjudicator_decides_and_a_manager_fetches(world: World) -> None:
    left = world.ask("ann", "GET", "/me")["left"]
    judge_and_decide(world)
    fetch(world, left)


@pytest.mark.postgres
def test_the_same_on_postgresql(postgres_url: str) -> None:
    make_database(postgres_url).dispose()
    world = world_of(open_store(postgres_url), postgres_url)
    left = world.ask("ann", "GET", "/me")["left"]
    judge_and_decide(world)
    fetch(world, left)


ROWS = [{"text": "A fine film, and it's long.", "gold": "positive"}, {"text": "It's a bad film.", "gold": "negative"}]
PLAN = {
    "study": {"corpus": "letters", "systems": ["vader"], "relations": ["MR1.1", "MR3.1"]},
    "sample": {"base": 5},
}


@pytest.mark.slow
def test_texts_are_sent_once_and_a_plan_may_name_them(world: World) -> None:
    sent = world.ask("mia", "PUT", "/corpora/letters", json={"rows": ROWS})
    assert (sent["size"], sent["gold"]) == (2, True)
    assert world.ask("mia", "PUT", "/corpora/letters", json={"rows": ROWS}) == sent
    other = world.send("mia", "PUT", "/corpora/letters", json={"rows": ROWS[:1]})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "upload.name_taken")
    stored = world.ask("mia", "PUT", "/plans/first", json=PLAN)
    assert (stored["version"], stored["content"]["study"]["corpus"]) == (1, "letters")
    assert world.ask("mia", "PUT", "/plans/first", json=PLAN)["version"] == 1


@pytest.mark.parametrize(
    "study",
    [
        {"corpus": "/etc/passwd", "systems": ["vader"]},
        {"corpus": "letters.csv", "systems": ["vader"]},
        {"corpus": "rotten-tomatoes", "systems": ["os:system"]},
        {"corpus": "rotten-tomatoes", "systems": ["http:service.toml"]},
    ],
)
def test_a_plan_names_no_file_and_no_code_of_the_server(world: World, content, study) -> None:
    before = content(world.engine)
    answer = world.send("mia", "PUT", "/plans/first", json={"study": study, "sample": {"base": 5}})
    assert (answer.status_code, content(world.engine)) == (400, before), answer.text
