"""A small real database with accounts and a token for each, and a client of the API on it."""

import time
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from small_corpus import SmallCorpus
from sqlalchemy import Engine
from starlette.testclient import TestClient

from audit.api.application import Service, application
from audit.judging.accounts import Account, add_account, list_accounts
from audit.judging.samples import ask_next
from audit.judging.sign_in import make_token
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.ui.worker import Request

TEXTS = (
    "A warm and funny film.",
    "The plot is dull and the jokes are stale.",
    "Not a good film.",
    "The actors are wonderful.",
    "It is a terrible mess.",
    "The best film of the year.",
)
ROLES = {"ann": "annotator", "ben": "annotator", "ada": "adjudicator", "mia": "manager"}
SYSTEMS = ("vader", "textblob")


def make_database(where: str) -> Engine:
    """Two systems and two relations on six texts, drawn; one account of each role, and a second annotator."""
    engine = open_store(where, create=True)
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    run(engine, SmallCorpus("sentences", TEXTS), list(SYSTEMS), relations, InProcess())
    ask_next(engine, SampleOptions(10))
    for name, role in ROLES.items():
        add_account(engine, name, role, None)
    return engine


@dataclass
class World:
    """A database and a client that sends requests as its accounts."""

    engine: Engine
    client: TestClient
    accounts: dict[str, Account]
    tokens: dict[str, str]

    def send(self, who: str | None, method: str, path: str, **options: Any) -> Any:
        """A request with the token of somebody, or with none."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.client.request(method, path, headers=headers | options.pop("headers", {}), **options)

    def ask(self, who: str, method: str, path: str, **options: Any) -> Any:
        """The document that a request is answered with, which must be served."""
        answer = self.send(who, method, path, **options)
        assert answer.is_success, (answer.status_code, answer.text)
        return answer.json() if answer.content else None


def world_of(engine: Engine, where: str) -> World:
    accounts = {account.name: account for account in list_accounts(engine)}
    client, service = served()
    service.engine, service.database = lambda: engine, lambda: where
    # A state that never comes again: what was read of the database before is not used again.
    service.compute = lambda _, ask, values, anew: Request(ask, where, time.monotonic_ns(), values).work()[0]
    return World(engine, client, accounts, {name: make_token(engine, one.id) for name, one in accounts.items()})


@cache
def served() -> tuple[TestClient, Service]:
    """A client of the application, which is made once: FastAPI reads every route then."""
    service = Service(lambda: None, lambda: "", lambda *_: None)  # type: ignore[arg-type, return-value]
    return TestClient(application(service), raise_server_exceptions=False), service


def judge_all(world: World, who: str, label_of: Any = None) -> int:
    """Answer every question that somebody has left; returns how many."""
    count, ask = 0, partial(world.ask, who)
    while (question := ask("POST", "/questions/next")["question"]) is not None:
        label = label_of(question) if label_of else "positive"
        ask("POST", f"/questions/{question['id']}/judgement", json={"answer": label})
        count += 1
    return count
