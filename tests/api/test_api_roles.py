"""Every route of the API with every role: who may not is refused, and changes and sees nothing.

The routes are found, not listed: one without an entry in `REQUESTS` fails.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from api_world import ROLES, SYSTEMS, World, judge_all

from audit.api.application import application
from audit.api.routes import annotator, manager
from audit.judging.accounts import disable_account, may
from audit.judging.sign_in import end_tokens, login_of, make_token


@dataclass(frozen=True)
class Asked:
    """A request to a route: the least role that it needs, its path, its body, and what it is answered with."""

    least: str
    path: str
    body: dict[str, Any] | None = None
    status: int = 200
    query: dict[str, Any] = field(default_factory=dict)


FILE = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
PLAN = {"study": {"corpus": "rotten-tomatoes", "systems": ["vader"], "relations": ["MR1.1"], "limit": 5}}
REQUESTS = {
    "me": Asked("annotator", "/me"),
    "take_next": Asked("annotator", "/questions/next"),
    "give_answer": Asked("annotator", "/questions/1/judgement", {"answer": "positive"}, 409),
    "take_back": Asked("annotator", "/undo"),
    "put_off": Asked("annotator", "/questions/1/skip", None, 409),
    "send_to_adjudicators": Asked("annotator", "/questions/1/flag", {"comment": "odd"}, 409),
    "send_texts": Asked("manager", "/corpora/mine", {"rows": [{"txt": "A good film."}]}, 400),
    "list_studies": Asked("manager", "/studies"),
    "store_plan": Asked("manager", "/plans/none", {"study": {"corpus": "no such"}}, 400),
    "begin_run": Asked("manager", "/plans/none/runs", None, 404),
    "list_runs": Asked("manager", "/runs"),
    "stop_run": Asked("manager", "/runs/1/stop", None, 409),
    "report": Asked("manager", "/report", query={"study": 9}, status=404),
    "agreement": Asked("manager", "/agreement"),
    "progress": Asked("manager", "/progress"),
    "list_questions": Asked("manager", "/questions", query={"limit": 1}),
    "make_export": Asked("manager", "/exports"),
}
"""A request to each route, by its name: for who may, it is served, or refused for another reason than the role."""
ROUTES: dict[str, Any] = {route.name: route for router in (annotator, manager) for route in router.routes}


def send(world: World, who: str | None, name: str, headers: dict[str, str] | None = None) -> Any:
    (method,) = ROUTES[name].methods
    asked = REQUESTS[name]
    return world.send(who, method, asked.path, json=asked.body, params=asked.query, headers=headers or {})


def test_every_route_has_an_entry_and_names_its_role() -> None:
    assert set(ROUTES) == set(REQUESTS)
    for name, route in ROUTES.items():
        assert route.tags == [REQUESTS[name].least], name
        assert route.path_regex.fullmatch(REQUESTS[name].path), name


@pytest.mark.slow
@pytest.mark.parametrize("name", REQUESTS)
def test_a_role_that_may_not_is_refused_and_changes_nothing(world: World, content, name: str) -> None:
    asked = REQUESTS[name]
    for who, role in ROLES.items():
        before = content(world.engine)
        answer = send(world, who, name)
        if may(role, asked.least):
            assert answer.status_code == asked.status, (who, answer.text)
        else:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (403, "api.role_needed"), (who, answer.text)
            assert content(world.engine) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", REQUESTS)
def test_nobody_without_a_token_that_is_valid_gets_anything(world: World, content, name: str) -> None:
    end_tokens(world.engine, world.accounts["mia"].id)
    disable_account(world.engine, "ann")
    before = content(world.engine)
    answers = [send(world, who, name) for who in (None, "mia", "ann")]
    for header in ("Bearer", "Bearer x", "Basic eDp5", "Bearer \xff", f"bearer {'x' * 5000}"):
        answers.append(send(world, None, name, {"Authorization": header.encode("latin-1")}))  # type: ignore[dict-item]
    answers.append(
        send(world, None, name, {"Cookie": f"audit_login_8501={login_of(world.engine, world.accounts['mia'].id)}"})
    )
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api.token_needed")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert content(world.engine) == before


@pytest.mark.slow
def test_a_token_is_bounded_by_its_role(world: World) -> None:
    world.tokens["least"] = make_token(world.engine, world.accounts["mia"].id, "annotator")
    for name, asked in REQUESTS.items():
        assert (send(world, "least", name).status_code == 403) == (asked.least == "manager"), name
    assert world.ask("least", "GET", "/me")["role"] == "annotator"


@pytest.mark.slow
def test_an_annotator_sees_no_system_no_output_and_no_name(world: World, monkeypatch) -> None:
    seen: list[str] = []
    original = world.client.request

    def noting(*arguments: Any, **options: Any) -> Any:
        answer = original(*arguments, **options)
        seen.append(answer.text + str(answer.headers))
        return answer

    judge_all(world, "ben")
    monkeypatch.setattr(world.client, "request", noting)
    world.ask("ann", "POST", "/questions/next")
    for name in REQUESTS:
        send(world, "ann", name)
    judge_all(world, "ann", lambda question: "negative")
    assert len(seen) > 30
    everything = "\n".join(seen)
    for hidden in (*SYSTEMS, "MR1.4", "MR3.1", "ben", "ada", "mia", "gold"):
        assert hidden not in everything, hidden


def test_the_document_in_the_docs_is_current() -> None:
    renew = "python -m audit.api.application > docs/reference/openapi.json"
    document = json.loads(json.dumps(application().openapi()))
    assert json.loads(FILE.read_text(encoding="utf-8")) == document, renew
