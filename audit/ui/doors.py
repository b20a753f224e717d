"""Logging in and out over HTTP: routes beside Streamlit's, so that the cookie is out of reach of every script.

The form that logs in is protected by a double submit: a random token in a cookie must come back in a hidden field, and
each token serves once. Nobody is logged in yet, so there is no login to bind it to. The form that logs out carries a
token bound to its login (`audit.annotation.logins.form_token`). Both are refused when the browser says that another
site sent them. Where to go afterwards is the name of a page of ours and nothing else, so there is no open redirect.
"""

import secrets
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from audit.annotation.accounts import Account, log_in
from audit.annotation.attempts import Attempts
from audit.annotation.logins import (
    account_of,
    cookie_key,
    end_login,
    form_token,
    identity_key,
    new_token,
    open_login,
)
from audit.errors import AuditError, NotAllowed
from audit.ui import cookies, database, settings
from audit.ui.language import LANGUAGES, sentence_in, text_in
from audit.ui.literal import sentence
from audit.ui.login_page import render
from audit.ui.places import PLACES
from audit.ui.provider import claims_of_cookies

BODY = 16_384
"""Bytes of a form; more is refused before it is read."""
_HASHING = CapacityLimiter(2)
"""Passwords hashed at once: each takes 64 MiB and a core for a tenth of a second."""
_YEAR = 365 * 24 * 3600


class Doors:
    """The routes, and what they remember between requests: how often passwords were tried."""

    def __init__(self, attempts: Attempts | None = None):
        self._attempts = attempts or Attempts()

    def routes(self) -> list[Route]:
        """`/login` and `/logout` under the app's root; to log in or out is a POST."""
        root = cookies.root()
        return [
            Route(f"{root}/login", self.show, methods=["GET"]),
            Route(f"{root}/login", self.enter, methods=["POST"]),
            Route(f"{root}/logout", self.stay, methods=["GET"]),
            Route(f"{root}/logout", self.leave, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """The page that logs in; whoever is logged in goes on to where they wanted."""
        next = place_named(request.query_params.get("next", ""))
        try:
            if await to_thread.run_sync(account_behind, request.cookies) is not None:
                return RedirectResponse(f"{cookies.root()}/{next}", 303, _HEADERS)
        except AuditError as problem:
            return _page(request, 503, next=next, problem=_said(request, problem))
        return _page(request, 200, next=next)

    async def enter(self, request: Request) -> Response:
        """Name and password: a new login and its cookie, or the page again and why."""
        try:
            fields = await _fields(request)
        except _Refused as refused:
            return _page(request, refused.status, problem=text_in(_language(request), refused.key))
        code, next = _language(request, fields), place_named(fields.get("next", ""))
        name, password = fields.get("name", ""), fields.get("password", "")

        def again(status: int, problem: str, **headers: str) -> Response:
            return _page(request, status, code=code, name=name[:80], next=next, problem=problem, headers=headers)

        sent = request.cookies.get(cookies.form_name(), "")
        if not (sent and _same(sent, fields.get("form", "")) and _from_here(request)):
            return again(403, text_in(code, "welcome.old_form"))
        address = request.client.host if request.client else ""
        wait = self._attempts.begin(name.strip(), address)
        if wait:
            return again(429, text_in(code, "welcome.wait", count=wait), **{"Retry-After": str(wait)})
        token, before = new_token(), request.cookies.get(cookies.login_name())
        try:
            await to_thread.run_sync(_enter, name, password, token, before, limiter=_HASHING)
        except NotAllowed as problem:
            return again(403, _said(request, problem, code))
        except AuditError as problem:
            return again(503, _said(request, problem, code))
        self._attempts.succeed(name.strip(), address)
        response = RedirectResponse(f"{cookies.root()}/{next}", 303, _HEADERS)
        _set(request, response, cookies.login_name(), token)
        _set(request, response, cookies.LANGUAGE, code, max_age=_YEAR)
        _drop(request, response, cookies.form_name())
        return response

    async def stay(self, request: Request) -> Response:
        """A link or an image of another site must not log anybody out: the address alone does nothing."""
        return RedirectResponse(f"{cookies.root()}/", 303, _HEADERS)

    async def leave(self, request: Request) -> Response:
        """End the login of this browser, in every tab."""
        token = request.cookies.get(cookies.login_name())
        try:
            fields = await _fields(request)
        except _Refused as refused:
            return _page(request, refused.status, problem=text_in(_language(request), refused.key))
        code = _language(request, fields)
        response: Response = RedirectResponse(f"{cookies.root()}/login?lang={code}", 303, _HEADERS)
        if not token:
            return response
        if not (_same(form_token(token), fields.get("form", "")) and _from_here(request)):
            return _page(request, 403, code=code, problem=text_in(code, "welcome.old_form"))
        await to_thread.run_sync(lambda: end_login(database.engine(), cookie_key(token)))
        _drop(request, response, cookies.login_name())
        return response


def account_behind(sent: dict[str, str]) -> Account | None:
    """The account that is logged in by the cookies of a request, by password or by provider; None where nobody is."""
    limits = settings.limits()
    if token := sent.get(cookies.login_name()):
        account = account_of(database.engine(), cookie_key(token), limits)
        if account is not None:
            return account
    claims = claims_of_cookies(sent)
    return account_of(database.engine(), identity_key(claims), limits) if claims else None


def place_named(name: str) -> str:
    """The name of a page of ours, or nothing: whatever else stands in `next` leads to the first page.

    >>> place_named("results"), place_named("//evil.example"), place_named("https://evil.example")
    ('results', '', '')
    """
    return name if name in {place.name for place in PLACES} else ""


def _enter(name: str, password: str, token: str, before: str | None) -> None:
    engine = database.engine()
    account = log_in(engine, name, password)
    open_login(engine, account.id, cookie_key(token), settings.limits())
    if before:
        # A browser has one login: who logs in over another one leaves none behind that nobody can end.
        end_login(engine, cookie_key(before))


class _Refused(Exception):
    """A form that is not read."""

    def __init__(self, status: int, key: str):
        super().__init__(key)
        self.status = status
        self.key = key


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises _Refused for another kind of body, for one that is too large, and for no UTF-8."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise _Refused(415, "welcome.no_form")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > BODY:
        raise _Refused(413, "welcome.too_large")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY:
            raise _Refused(413, "welcome.too_large")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise _Refused(400, "welcome.no_form") from None
    return dict(pairs)


def _same(one: str, other: str) -> bool:
    return compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _from_here(request: Request) -> bool:
    """Whether a form was sent by a page of this app, as far as the browser says."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _language(request: Request, fields: dict[str, str] | None = None) -> str:
    """What was chosen here, or before, or else Chinese for a Chinese browser, or else English."""
    chosen = (fields or {}).get("lang") or request.query_params.get("lang") or request.cookies.get(cookies.LANGUAGE)
    if chosen in LANGUAGES:
        return str(chosen)
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def _said(request: Request, problem: AuditError, code: str | None = None) -> str:
    return sentence(sentence_in(code or _language(request), str(problem)))


_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


def _page(
    request: Request,
    status: int,
    *,
    code: str | None = None,
    name: str = "",
    next: str = "",
    problem: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """The page that logs in, with a new token for its form."""
    code, nonce, form = code or _language(request), secrets.token_urlsafe(16), secrets.token_urlsafe(32)
    shown = render(
        code,
        root=cookies.root(),
        nonce=nonce,
        form=form,
        name=name,
        next=next,
        problem=problem,
        provider=settings.provider() is not None,
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; font-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    response = HTMLResponse(
        shown,
        status,
        {
            **_HEADERS,
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            **(headers or {}),
        },
    )
    _set(request, response, cookies.form_name(), form)
    if request.query_params.get("lang") in LANGUAGES:
        _set(request, response, cookies.LANGUAGE, code, max_age=_YEAR)
    return response


def _options(request: Request) -> dict[str, Any]:
    """How every cookie is set: for this app's paths, for no script, for no form of another site."""
    secure = settings.only_https() or request.url.scheme == "https"
    return {"path": cookies.root() or "/", "httponly": True, "samesite": "lax", "secure": secure}


def _set(request: Request, response: Response, name: str, value: str, max_age: int | None = None) -> None:
    response.set_cookie(name, value, max_age=max_age, **_options(request))


def _drop(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(name, **_options(request))
