"""Coming from an identity provider: what Streamlit's signed cookie leads to. The provider is simulated."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import requests
from app_driver import Prepared, prepare
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import select
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from audit.annotation.accounts import add_account, identity_key
from audit.store import table_of, tables
from audit.ui.language import text_in
from audit.ui.session import COOKIE, claims_of

SECRET = "a secret of this test only"
SECRETS = f"""
[auth]
redirect_uri = "http://127.0.0.1/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "audit"
client_secret = "none"
server_metadata_url = "http://127.0.0.1:1/.well-known/openid-configuration"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("provider")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(SECRETS, encoding="utf-8")
    prepared = prepare(folder / "audit.db")
    add_account(prepared.engine, "eva@example.org", "adjudicator", None)
    with app_server(str(prepared.path), folder / "log.txt", folder=folder) as address:
        yield address, prepared


def identity(address: str, email: str, nonce: str = "1", **more: Any) -> dict[str, Any]:
    """What Streamlit puts into its cookie when a provider has sent somebody back."""
    claims = {"email": email, "sub": email, "iat": int(tables.now().timestamp()), "nonce": nonce} | more
    return {**claims, "origin": address, "is_logged_in": True, "provider": "default"}


def signed(content: dict[str, Any], secret: str = SECRET) -> str:
    return create_signed_value(secret, COOKIE, json.dumps(content)).decode()


def fetch(address: str, path: str, cookie: str | None = None) -> requests.Response:
    headers = {"Accept": "text/html"} | ({"Cookie": f"{COOKIE}={cookie}"} if cookie else {})
    return requests.get(f"{address}{path}", headers=headers, allow_redirects=False, timeout=20)


@pytest.mark.slow
def test_the_page_offers_the_provider_and_files_need_a_true_cookie(served: tuple[str, Prepared]) -> None:
    address = served[0]
    page = fetch(address, "/login").text
    assert text_in("en", "welcome.provider") in page
    assert 'href="/login/provider"' in page
    assert fetch(address, "/").headers["Location"] == fetch(address, "/?sso=1").headers["Location"] == "/login"
    way = fetch(address, "/login/provider")
    if find_spec("authlib"):
        assert way.headers["Location"].startswith("/auth/login?provider=")
    else:
        assert way.status_code == 503
        assert "Authlib" in way.text
    eva = identity(address, "eva@example.org")
    # The page looks into the cookie; files are refused to a forged one, and to one that no page has seen.
    for cookie in ("forged", signed(eva, "another secret"), signed(eva), signed({**eva, "is_logged_in": False})):
        assert fetch(address, "/media/x.json", cookie).status_code == 403


def come_back(window: Window, address: str, content: dict[str, Any]) -> None:
    """Stand in the browser as somebody whom the provider has just sent back."""
    window.driver.get(f"{address}/login")
    window.driver.add_cookie({"name": COOKIE, "value": signed(content), "path": "/", "httpOnly": True})
    window.driver.get(address)


@pytest.mark.browser
def test_an_account_comes_in_by_its_provider_and_leaves(served: tuple[str, Prepared], window: Window) -> None:
    address, prepared = served
    eva = identity(address, "eva@example.org", "2")
    come_back(window, address, eva)
    window.see(text_in("en", "menu.adjudicate"))
    window.see("eva@example.org")
    # The page and the gate before it find the same login: Streamlit's public and its own way agree.
    login = table_of(tables.Login)
    with prepared.engine.connect() as connection:
        assert identity_key(claims_of(eva)) in connection.execute(select(login.c.key)).scalars().all()
    assert fetch(address, "/media/x.json", signed(eva)).status_code == 404
    until(lambda: window.all(".st-key-leave button"))[0].click()
    until(lambda: window.all("input[name=password]"))
    assert COOKIE not in [cookie["name"] for cookie in window.driver.get_cookies()]
    assert fetch(address, "/media/x.json", signed(eva)).status_code == 403
    come_back(window, address, eva)  # the old cookie, kept by somebody
    window.see("This login has ended; log in again")


@pytest.mark.browser
def test_an_unknown_one_is_refused_with_a_sentence(served: tuple[str, Prepared], window: Window) -> None:
    come_back(window, served[0], identity(served[0], "eve@example.org"))
    window.see("There is no account 'eve@example.org' that may log in; ask a manager for one.")
    assert not window.question()
    until(lambda: window.all(".st-key-leave button"))[0].click()
    until(lambda: window.all("input[name=password]"))


@pytest.mark.browser
def test_without_authlib_it_is_said_what_to_install(window: Window) -> None:
    if find_spec("authlib"):
        pytest.skip("Authlib is installed")
    until(lambda: window.all("a.other"))[0].click()
    window.see("Authlib")
