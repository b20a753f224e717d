"""Logging in and out over HTTP: routes beside Streamlit's, so that the cookie is out of reach of every script.

The form that logs in is protected by a double submit: a token in a cookie must come back in a hidden field, and each
token serves once (`audit.ui.forms.FormTokens`). Nobody is logged in yet, so there is no login to bind it to. The form
that logs out carries a token bound to its login (`audit.annotation.logins.form_token`). Both are refused when the
browser says that another site sent them. Where to go afterwards is the name of a page of ours and nothing else, so
there is no open redirect.
"""

import secrets

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from audit.annotation.accounts import log_in
from audit.annotation.attempts import Attempts
from audit.annotation.logins import (
    cookie_key,
    end_login,
    form_token,
    name_behind,
    new_token,
    open_login,
)
from audit.errors import AuditError, NotAllowed
from audit.store.soundness import explained
from audit.ui import cookies, database, settings
from audit.ui.forms import (
    HASHING,
    HEADERS,
    FormTokens,
    NoForm,
    drop_cookie,
    fields_of,
    from_here,
    html_page,
    language_of,
    said,
    same,
    set_cookie,
)
from audit.ui.language import LANGUAGES, text_in
from audit.ui.login_page import render
from audit.ui.own_password import OwnPassword
from audit.ui.places import place_named
from audit.ui.provider import way_to_provider
from audit.ui.visitors import account_behind

_YEAR = 365 * 24 * 3600


class Doors:
    """The routes, and what they remember between requests: how often passwords were tried, at whatever form."""

    def __init__(self, attempts: Attempts | None = None):
        self._attempts = attempts or Attempts()
        self._forms = FormTokens()

    def routes(self) -> list[Route]:
        """Below the app's root `/login`, `/login/provider`, `/logout`, `/password`; what changes anything is a POST."""
        root = cookies.root()
        return [
            Route(f"{root}/login", self.show, methods=["GET"]),
            Route(f"{root}/login", self.enter, methods=["POST"]),
            Route(f"{root}/logout", self.stay, methods=["GET"]),
            Route(f"{root}/logout", self.leave, methods=["POST"]),
            Route(f"{root}/login/provider", self.provider, methods=["GET"]),
            *OwnPassword(self._attempts).routes(),
        ]

    async def show(self, request: Request) -> Response:
        """The page that logs in; whoever is logged in goes on to where they wanted."""
        next = place_named(request.query_params.get("next", ""))
        try:
            if await to_thread.run_sync(account_behind, request.cookies) is not None:
                return RedirectResponse(f"{cookies.root()}/{next}", 303, HEADERS)
        except AuditError as problem:
            return self._page(request, 503, next=next, problem=said(request, problem))
        return self._page(request, 200, next=next)

    async def enter(self, request: Request) -> Response:
        """Name and password: a new login and its cookie, or the page again and why."""
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return self._page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code, next = language_of(request, fields), place_named(fields.get("next", ""))
        name, password = fields.get("name", ""), fields.get("password", "")

        def again(status: int, problem: str, **headers: str) -> Response:
            return self._page(request, status, code=code, name=name[:80], next=next, problem=problem, headers=headers)

        sent = request.cookies.get(cookies.form_name(), "")
        if not (sent and same(sent, fields.get("form", "")) and from_here(request)):
            return again(403, text_in(code, "welcome.old_form"))
        address = request.client.host if request.client else ""
        token, before = new_token(), request.cookies.get(cookies.login_name())
        try:
            browser = await to_thread.run_sync(_known_browser, request.cookies, name.strip())
            # Nothing is waited for between these three: of two forms with one token, one is let in.
            if not self._forms.fresh(sent):
                return again(403, text_in(code, "welcome.old_form"))
            if wait := self._attempts.begin(name.strip(), address, browser):
                return again(429, text_in(code, "welcome.wait", count=wait), **{"Retry-After": str(wait)})
            self._forms.use(sent)
            await to_thread.run_sync(_enter, name, password, token, before, limiter=HASHING)
        except NotAllowed as problem:
            return again(403, said(request, problem, code))
        except AuditError as problem:
            return again(503, said(request, problem, code))
        self._attempts.succeed(name.strip(), address, browser)
        response = RedirectResponse(f"{cookies.root()}/{next}", 303, HEADERS)
        set_cookie(request, response, cookies.login_name(), token)
        set_cookie(request, response, cookies.browser_name(), cookie_key(token).hex(), max_age=_YEAR)
        set_cookie(request, response, cookies.LANGUAGE, code, max_age=_YEAR)
        drop_cookie(request, response, cookies.form_name())
        return response

    async def provider(self, request: Request) -> Response:
        """On to the identity provider; where that cannot be, the page that logs in and why."""
        where = settings.provider()
        if where is None:
            return RedirectResponse(f"{cookies.root()}/login", 303, HEADERS)
        try:
            return RedirectResponse(way_to_provider(where["name"]), 303, HEADERS)
        except AuditError as problem:
            return self._page(request, 503, problem=said(request, problem))

    async def stay(self, request: Request) -> Response:
        """A link or an image of another site must not log anybody out: the address alone does nothing."""
        return RedirectResponse(f"{cookies.root()}/", 303, HEADERS)

    async def leave(self, request: Request) -> Response:
        """End the login of this browser, in every tab."""
        token = request.cookies.get(cookies.login_name())
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return self._page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code = language_of(request, fields)
        response: Response = RedirectResponse(f"{cookies.root()}/login?lang={code}", 303, HEADERS)
        if not token:
            return response
        if not (same(form_token(token), fields.get("form", "")) and from_here(request)):
            return self._page(request, 403, code=code, problem=text_in(code, "welcome.old_form"))
        try:
            await to_thread.run_sync(lambda: end_login(database.engine(), cookie_key(token)))
        except AuditError as problem:
            return self._page(request, 503, code=code, problem=said(request, problem, code))
        drop_cookie(request, response, cookies.login_name())
        return response

    def _page(
        self,
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
        code, nonce, form = code or language_of(request), secrets.token_urlsafe(16), self._forms.new()
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
        response = html_page(shown, status, nonce, headers)
        set_cookie(request, response, cookies.form_name(), form)
        if request.query_params.get("lang") in LANGUAGES:
            set_cookie(request, response, cookies.LANGUAGE, code, max_age=_YEAR)
        return response


def _known_browser(sent: dict[str, str], name: str) -> bytes | None:
    """The key by which a browser is known that has logged in under this name before; None for any other."""
    try:
        key = bytes.fromhex(sent.get(cookies.browser_name(), ""))
    except ValueError:
        return None
    return key if key and name_behind(database.engine(), key) == name else None


def _enter(name: str, password: str, token: str, before: str | None) -> None:
    with explained(database.where()):
        engine = database.engine()
        account = log_in(engine, name, password)
        open_login(engine, account.id, cookie_key(token), settings.limits())
        if before:
            # A browser has one login: who logs in over another one leaves none behind that nobody can end.
            end_login(engine, cookie_key(before))
