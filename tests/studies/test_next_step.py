"""What a manager does next, from an empty database to results."""

import pytest

from audit.errors import NotAllowed
from audit.judging.accounts import add_account
from audit.judging.invitations import Terms, invite
from audit.messages import LANGUAGES, phrase
from audit.store import open_store
from audit.studies.next_step import Standing, next_step, standing
from audit.ui.pages import PAGES

DRAWN = {"plans": 1, "studies": 1, "samples": 1}
JUDGED = {"annotators": 2, "judgements": 3, **DRAWN}
CASES = [
    (Standing(), "begin"),
    (Standing(plans=1), "run"),
    (Standing(plans=1, job="running", job_plan="films"), "running"),
    (Standing(job="lost", job_plan="films", **DRAWN), "go_on"),
    (Standing(studies=1), "draw"),
    (Standing(job="done", waiting=9, **DRAWN), "invite"),
    (Standing(waiting=9, invitations=2, **DRAWN), "joining"),
    (Standing(waiting=9, annotators=2, **DRAWN), "first_answer"),
    (Standing(waiting=9, audits=4, goes_on=True, **JUDGED), "judging"),
    (Standing(waiting=9, disputes=1, **JUDGED), "adjudicate"),
    (Standing(audits=4, **JUDGED), "audits"),
    (Standing(audits=4, goes_on=True, job="done", job_plan="films", **JUDGED), "round"),
    (Standing(audits=4, **DRAWN), "invite"),
    (Standing(**JUDGED), "results"),
]


@pytest.mark.parametrize(("now", "code"), CASES, ids=[f"{code}-{at}" for at, (_, code) in enumerate(CASES)])
def test_the_next_step(now, code):
    step = next_step(now)
    assert step.code == code
    assert step.page in {page.name for page in PAGES if "manager" in page.roles}
    for language in LANGUAGES:
        assert phrase(language, f"step_next.{code}", **step.values)


def test_the_standing_is_read_from_the_database_by_managers_alone(tmp_path):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    boss = add_account(engine, "boss", "manager", "long enough").id
    assert standing(engine, by=boss) == Standing()
    invite(engine, Terms(), by=boss)
    invite(engine, Terms("manager"), by=boss)
    ann = add_account(engine, "ann", "annotator", "long enough").id
    assert standing(engine, by=boss) == Standing(annotators=1, invitations=1)
    with pytest.raises(NotAllowed):
        standing(engine, by=ann)
