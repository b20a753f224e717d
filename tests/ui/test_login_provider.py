"""Coming from an identity provider: what Streamlit's signed cookie leads to. The provider is simulated."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import requests
from app_driver import Prepared, prepare
from app_server import app_server
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from audit.judging.accounts import add_account, disable_account
from audit.ui.language import text_in

COOKIE = "_streamlit_user"
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


def identity(address: str, email: str, **more: Any) -> dict[str, Any]:
    """What Streamlit puts into its cookie when a provider has sent somebody back."""
    claims = {"email": email, "sub": email} | more
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
    for cookie in ("forged", signed(eva, "another secret"), signed({**eva, "is_logged_in": False})):
        assert fetch(address, "/login", cookie).status_code == 200
        assert fetch(address, "/", cookie).status_code == 303
        assert fetch(address, "/media/x.json", cookie).status_code == 403


@pytest.mark.slow
def test_an_account_comes_in_by_its_provider_and_others_are_told_why_not(served: tuple[str, Prepared]) -> None:
    address, prepared = served
    eva = signed(identity(address, "eva@example.org"))
    assert fetch(address, "/media/x.json", eva).status_code == 403  # the provider's cookie serves the login page alone
    entered = fetch(address, "/login?next=adjudicate", eva)
    assert (entered.status_code, entered.headers["Location"]) == (303, "/adjudicate")
    assert entered.cookies.get(f"audit_login_{address.rpartition(':')[2]}")
    assert f'{COOKIE}=""; expires' in entered.headers["Set-Cookie"]
    eve = fetch(address, "/login", signed(identity(address, "eve@example.org")))
    assert eve.status_code == 403
    assert "There is no account &#39;eve@example.org&#39; that may log in; ask a manager for one." in eve.text
    assert f'{COOKIE}=""; expires' in eve.headers["Set-Cookie"]
    disable_account(prepared.engine, "eva@example.org")
    assert fetch(address, "/login", eva).status_code == 403
