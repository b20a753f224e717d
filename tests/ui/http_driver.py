"""A running app and a browser without scripts: what goes over HTTP."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import requests
from sqlalchemy import Engine

from audit.judging.accounts import add_account
from audit.judging.sign_in import login_of
from audit.store import open_store

PASSWORD = "correct horse, battery"
PAGE = {"Accept": "text/html"}
ROLES = dict.fromkeys(["ann", "ben", "cy", "dee", "fay"], "annotator") | {"judge": "adjudicator", "boss": "manager"}


@dataclass
class Served:
    """A running app, its database and what it printed."""

    address: str
    engine: Engine
    log: Path
    people: dict[str, int] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(urlsplit(self.address).port or 0)


class Browser(requests.Session):
    """A browser without scripts: keeps cookies, and says where its forms come from."""

    def __init__(self, served: Served):
        super().__init__()
        self.served = served
        self.trust_env = False
        self.headers.update(PAGE)

    def look(self, path: str) -> requests.Response:
        return self.get(f"{self.served.address}{path}", allow_redirects=False)

    def submit(self, path: str, data: dict[str, str] | bytes, **headers: str) -> requests.Response:
        address = self.served.address
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
        return self.post(f"{address}{path}", data=data, headers={"Origin": origin} | headers, allow_redirects=False)

    def enter(self, name: str, password: str = PASSWORD, next: str = "") -> requests.Response:
        return self.submit(f"/login?next={next}" if next else "/login", {"name": name, "password": password})

    def be(self, name: str) -> None:
        """Have a login of this account without the work of a password."""
        self.show(login_of(self.served.engine, self.served.people[name]))

    def show(self, token: str) -> None:
        """Have this token in the cookie, wherever it is from."""
        self.cookies.set(f"audit_login_{self.served.port}", token, domain="127.0.0.1", path="/")

    @property
    def token(self) -> str | None:
        return self.cookies.get(f"audit_login_{self.served.port}")


def people_of(path: Path) -> tuple[Engine, dict[str, int]]:
    """A new database with an account of each role, and their ids by name."""
    engine = open_store(str(path), create=True)
    return engine, {name: add_account(engine, name, role, PASSWORD).id for name, role in ROLES.items()}
