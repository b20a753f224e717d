"""A running app and a browser without scripts: what goes over HTTP."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import requests
from sqlalchemy import Engine, select

from audit.annotation.accounts import add_account, cookie_key, new_token, open_login
from audit.store import open_store, table_of, tables

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

    def rows(self) -> list:
        with self.engine.connect() as connection:
            return list(connection.execute(select(table_of(tables.Login))).mappings())


class Browser(requests.Session):
    """A browser without scripts: keeps cookies, and takes a form from the page that it was shown."""

    def __init__(self, served: Served):
        super().__init__()
        self.served = served
        self.trust_env = False
        self.headers.update(PAGE)

    def look(self, path: str) -> requests.Response:
        return self.get(f"{self.served.address}{path}", allow_redirects=False)

    def form(self, path: str = "/login") -> dict[str, str]:
        return fields_of(self.look(path).text)

    def submit(self, path: str, data: dict[str, str] | bytes, **headers: str) -> requests.Response:
        return self.post(f"{self.served.address}{path}", data=data, headers=headers, allow_redirects=False)

    def enter(self, name: str, password: str = PASSWORD, next: str = "") -> requests.Response:
        form = self.form(f"/login?next={next}" if next else "/login")
        return self.submit("/login", form | {"name": name, "password": password})

    def be(self, name: str) -> None:
        """Have a login of this account without the work of a password."""
        token = new_token()
        open_login(self.served.engine, self.served.people[name], cookie_key(token))
        self.show(token)

    def show(self, token: str) -> None:
        """Have this token in the cookie, wherever it is from."""
        self.cookies.set(f"audit_login_{self.served.port}", token, domain="127.0.0.1", path="/")

    @property
    def token(self) -> str | None:
        return self.cookies.get(f"audit_login_{self.served.port}")


def fields_of(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


def people_of(path: Path) -> tuple[Engine, dict[str, int]]:
    """A new database with an account of each role, and their ids by name."""
    engine = open_store(str(path), create=True)
    return engine, {name: add_account(engine, name, role, PASSWORD).id for name, role in ROLES.items()}
