"""The pages that log in and out, over HTTP beside Streamlit's, so that no script reaches the cookie. They have no
script themselves, and their headers allow none.

A form counts only if the browser says that a page of this app sent it (Origin). The target after logging in can only be
the name of one of the app's pages, so there is no open redirect.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.errors import StreamlitAuthError

from audit.errors import AuditError, NotAllowed
from audit.judging.accounts import LONGEST, SHORTEST, Account
from audit.judging.invitations import FIRST, INVITATION, PASSWORD, link_of, use
from audit.judging.sign_in import Throttle, account_of_claims, end_logins, log_in, login_of
from audit.messages import LANGUAGES, said
from audit.resources import data_file
from audit.ui import session, settings
from audit.ui.gate import account_behind, from_own_page
from audit.ui.language import sentence, text_in
from audit.ui.pages import page_named
from audit.ui.settings import FLAGS

_HASHING = CapacityLimiter(2)
"""Passwords hashed at once: each takes 64 MiB and a core for a tenth of a second."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; font-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}
_YEAR = 365 * 24 * 3600
_FORMS = {
    "welcome": ("log_in", {"name": "username", "password": "current-password"}),
    "join": ("enter", {"name": "username", "password": "new-password"}),
    "first": ("enter", {"name": "username", "password": "new-password"}),
    "reset": ("enter", {"name": "username", "password": "new-password"}),
}
"""Each form by its texts' section in the catalogue: its button, and its fields with their `autocomplete`."""
_FORM_OF_LINK = {INVITATION: "join", FIRST: "first", PASSWORD: "reset"}
PARTICIPANT = ("participant", "PROLIFIC_PID", "workerId")
"""Parameters of a link's address in which a recruitment platform says who comes: any's, Prolific's, Mechanical Turk's.
"""
_PROVIDERS_COOKIE = "_streamlit_user"


class Visit:
    """A request for a page with a form."""

    def __init__(self, request: Request):
        self.request, self.form = request, "welcome"
        self.fields: dict[str, str] = {}  # What was typed
        self.fixed_name = ""  # A name that cannot be changed here
        self.notes: list[str] = []

    @property
    def code(self) -> str:
        """The code of the language chosen here or before; else Chinese for a Chinese browser, else English."""
        request = self.request
        chosen = request.query_params.get("lang") or request.cookies.get(settings.LANGUAGE, "")
        if chosen in LANGUAGES:
            return chosen
        return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"

    def say(self, key: str, **values: object) -> str:
        """Return a text of the catalogue in this visitor's language."""
        return text_in(self.code, key, **values)

    @property
    def name(self) -> str:
        """The name of the account, typed or fixed."""
        return self.fixed_name or self.fields.get("name", "")

    async def account(self) -> Account | None:
        """Return the account that is logged in here."""
        return await to_thread.run_sync(account_behind, self.request.cookies)

    def page(self, status: int = 200, *, problem: str = "", form: bool = True) -> Response:
        """Return the page with its form, or with a sentence in its place. The template engine escapes every text."""
        button, fields = _FORMS[self.form]
        provider = self.form == "welcome" and settings.provider_settings() is not None
        content = _template().render(
            code=self.code, root=settings.root(),
            languages={code: (title, self._address_in(code)) for code, title in LANGUAGES.items()},
            say=lambda key: self.say("welcome.name" if key == "name" else f"{self.form}.{key}"),
            fields=fields if form else {}, button=button,
            name=self.name[:80], fixed=bool(self.fixed_name), note=("" if self.code == "zh" else " ").join(self.notes),
            problem=problem, other="login/provider" if provider else "" if form else "login",
            other_text=self.say("welcome.provider" if provider else "welcome.log_in"), least=SHORTEST, most=LONGEST,
            light=FLAGS["theme.light.primaryColor"], dark=FLAGS["theme.dark.primaryColor"],
        )  # fmt: skip
        response = HTMLResponse(content, status, _HEADERS)
        if self.request.query_params.get("lang") in LANGUAGES:
            self._set_cookie(response, settings.LANGUAGE, self.code, _YEAR)
        return response

    def _address_in(self, code: str) -> str:
        """The address of this page in a language; the rest of the query says what the form is about."""
        url = self.request.url.include_query_params(lang=code)
        return f"{url.path}?{url.query}"

    def enter(self, login: str, target: str) -> Response:
        """Return the redirect to a page of the app, with the cookies of a login."""
        response = RedirectResponse(f"{settings.root()}/{target}", 303, _HEADERS)
        self._set_cookie(response, settings.login_cookie_name(), login)
        self._set_cookie(response, settings.LANGUAGE, self.code, _YEAR)
        return response

    def forget(self, response: Response, beginning: str) -> Response:
        """Delete the cookies whose names begin so."""
        for name in self.request.cookies:
            if name.startswith(beginning):
                response.delete_cookie(name, path=settings.root() or "/")
        return response

    def _set_cookie(self, response: Response, name: str, value: str, max_age: int | None = None) -> None:
        secure = settings.only_https() or self.request.url.scheme == "https"
        path = settings.root() or "/"
        response.set_cookie(name, value, max_age, path=path, secure=secure, httponly=True, samesite="lax")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    source = data_file("ui/sign_in.html.j2").read_text(encoding="utf-8")
    own = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return own.from_string(source)


def routes() -> list[Route]:
    """Return the routes below the app's root; every change is a POST."""
    throttle = Throttle()
    return [
        _route("login", partial(_login, throttle), "GET", "POST"),
        _route("login/provider", _provider, "GET"),
        _route("logout", _logout, "GET", "POST"),
        _route("join/{secret}", _join, "GET", "POST"),
    ]


def _route(path: str, answer: Callable[[Visit], Awaitable[Response]], *methods: str) -> Route:
    """Return a route that shows what `answer` refuses on the page, with what was typed before."""

    async def endpoint(request: Request) -> Response:
        visit = Visit(request)
        try:
            if request.method == "POST":
                if not from_own_page(request.headers):
                    return visit.page(403, problem=visit.say("welcome.old_form"))
                async with request.form(max_files=0) as form:
                    visit.fields = {name: value for name, value in form.items() if isinstance(value, str)}
            return await answer(visit)
        except ClientDisconnect:
            return Response(status_code=400)
        except AuditError as problem:
            status = 403 if isinstance(problem, NotAllowed) else 400 if visit.fields else 503
            return visit.page(status, problem=sentence(said(problem.sentence, visit.code)))

    return Route(f"{settings.root()}/{path}", endpoint, methods=list(methods))


async def _enter(visit: Visit, account: Account, target: str) -> Response:
    lasts = settings.login_lasts()
    return visit.enter(await to_thread.run_sync(login_of, session.engine(), account.id, lasts), target)


async def _login(throttle: Throttle, visit: Visit) -> Response:
    """The login page; those who are logged in go to the wanted page."""
    target, engine = page_named(visit.request.query_params.get("next", "")), session.engine()
    if visit.request.method == "POST":
        own = (visit.name, visit.request.client.host if visit.request.client else "")
        if seconds := throttle.begin(*own):
            response = visit.page(429, problem=visit.say("welcome.wait", count=seconds))
            response.headers["Retry-After"] = str(seconds)
            return response
        check = partial(log_in, engine, visit.name, visit.fields.get("password", ""))
        account = await to_thread.run_sync(check, limiter=_HASHING)
        throttle.succeed(*own)
        return await _enter(visit, account, target)
    if await visit.account() is not None:
        return RedirectResponse(f"{settings.root()}/{target}", 303, _HEADERS)
    claims = claims_of_cookies(visit.request.cookies)
    if claims is None:
        return visit.page()
    try:
        claim = (settings.provider_settings() or {})["claim"]
        account = await to_thread.run_sync(account_of_claims, engine, claims, claim)
        response = await _enter(visit, account, target)
    except NotAllowed as problem:
        response = visit.page(403, problem=sentence(said(problem.sentence, visit.code)))
    # The provider's cookie serves once: from here on, ours counts, which can be ended.
    return visit.forget(response, _PROVIDERS_COOKIE)


async def _provider(_visit: Visit) -> Response:
    provider = settings.provider_settings()
    url = provider_login_url(provider["name"]) if provider else f"{settings.root()}/login"
    return RedirectResponse(url, 303, _HEADERS)


async def _logout(visit: Visit) -> Response:
    """End the account's logins in every browser. A GET changes nothing: a link of another site must log nobody out."""
    if visit.request.method == "GET":
        return RedirectResponse(f"{settings.root()}/", 303, _HEADERS)
    if (account := await visit.account()) is not None:
        await to_thread.run_sync(end_logins, session.engine(), account.id)
    response = RedirectResponse(f"{settings.root()}/login?lang={visit.code}", 303, _HEADERS)
    return visit.forget(response, settings.login_cookie_name())


async def _join(visit: Visit) -> Response:
    """The form behind a link: it makes the account of an invitation, or sets a new password, and logs in."""
    secret, engine = str(visit.request.path_params["secret"]), session.engine()
    try:
        link = await to_thread.run_sync(link_of, engine, secret)
    except NotAllowed as problem:
        visit.form = "join"
        return visit.page(403, problem=sentence(said(problem.sentence, visit.code)), form=False)
    visit.form = _FORM_OF_LINK[link.purpose]
    visit.fixed_name = link.name
    if link.purpose == INVITATION:
        query = visit.request.query_params
        visit.fixed_name = next((id.strip()[:81] for name in PARTICIPANT if (id := query.get(name, "").strip())), "")
        visit.notes.append(visit.say("join.role", role=visit.say(f"role.{link.role}")))
    present = await visit.account()
    if present is not None and present.name != link.name:
        visit.notes.append(visit.say("join.instead", name=present.name))
    if visit.request.method == "GET":
        return visit.page()
    account = await to_thread.run_sync(
        partial(use, engine, secret, visit.name, visit.fields.get("password", "")), limiter=_HASHING
    )
    return await _enter(visit, account, "")


# The identity provider, as `st.login` uses it. Streamlit, which is pinned, has no public functions for a server without
# a page.


def provider_login_url(name: str | None) -> str:
    """Return the address of the identity provider of this name (None: the only one), which leads back to the app.

    Raises AuditError where Authlib is not installed, or a setting in secrets.toml is missing.
    """
    from streamlit.auth_util import validate_auth_credentials
    from streamlit.user_info import generate_login_redirect_url

    try:
        validate_auth_credentials(name or "default")
        return generate_login_redirect_url(name or "default")
    except StreamlitAuthError as problem:
        raise AuditError(" ".join(str(problem).split())) from None


def claims_of_cookies(cookies: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the claims that `st.login` left in the browser, if their signature is Streamlit's own."""
    if _PROVIDERS_COOKIE not in cookies or settings.provider_settings() is None:
        return None
    from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

    signed = _get_signed_cookie_with_chunks(dict(cookies), _PROVIDERS_COOKIE)
    claims: dict[str, Any] = json.loads(signed or b"{}")
    return claims if claims.get("is_logged_in") is True else None
