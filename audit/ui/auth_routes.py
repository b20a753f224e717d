"""Logging in and out over HTTP: routes beside Streamlit's, so that the cookie is out of reach of every script.

The form that logs in is protected by a double submit: a token in a cookie must come back in a hidden field, and each
token is valid once (`FormTokens`). Nobody is logged in yet, so there is no login to bind it to. The form that logs out
carries a token bound to its login (`audit.annotation.accounts.form_token`). Both are refused when the browser says that
another site sent them. The target after logging in can only be the name of one of the app's pages, so there is no open
redirect.
"""

import secrets
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from anyio import CapacityLimiter, to_thread
from itsdangerous import BadData, TimestampSigner
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from audit.annotation.accounts import (
    Account,
    Attempts,
    change_password,
    cookie_key,
    end_login,
    form_token,
    log_in,
    name_of_login,
    new_token,
    open_login,
    own_account,
)
from audit.errors import AuditError, NotAllowed
from audit.messages import LANGUAGES, said
from audit.resources import data_file
from audit.store.soundness import explained
from audit.ui import session, settings
from audit.ui.gate import account_behind
from audit.ui.language import sentence, text_in
from audit.ui.pages import page_named
from audit.ui.session import provider_login_url
from audit.ui.settings import FLAGS

# Parts that the HTML forms of this app share: reading them, refusing those of other sites, answering.
#
# The pages have no script, and their headers allow none.

BODY = 16_384
"""Bytes of a form; more is refused before it is read."""
HASHING = CapacityLimiter(2)
"""Passwords hashed at once: each takes 64 MiB and a core for a tenth of a second."""
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


class NoForm(Exception):
    """A form is refused; `status` is the HTTP status, `key` that of the text that says why."""

    def __init__(self, status: int, key: str):
        super().__init__(key)
        self.status = status
        self.key = key


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form. Raises NoForm for another kind of body, for one that is too large, and for no UTF-8."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise NoForm(415, "welcome.no_form")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > BODY:
        raise NoForm(413, "welcome.too_large")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY:
            raise NoForm(413, "welcome.too_large")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise NoForm(400, "welcome.no_form") from None
    return dict(pairs)


class FormTokens:
    """Tokens of a form before a login: signed, valid for half a day, each for one use.

    The secret and what was used are in the process: after a restart, a form that is open is shown once more. Where more
    are used than are remembered, those as old as the forgotten ones are refused, so none serves twice.

    >>> tokens = FormTokens()
    >>> token = tokens.new()
    >>> tokens.is_fresh(token), tokens.use(token), tokens.use(token), tokens.is_fresh("another")
    (True, True, False, False)
    """

    GOOD_FOR = 12 * 3600
    """Seconds."""

    def __init__(self, most: int = 20_000):
        self._signer = TimestampSigner(secrets.token_bytes(32), digest_method=sha256)
        self._most = most
        self._used: dict[str, datetime] = {}
        """Used token -> when it was issued; in the order of use."""
        self._since = datetime.min.replace(tzinfo=UTC)

    def new(self) -> str:
        """A new token."""
        return self._signer.sign(secrets.token_urlsafe(32)).decode()

    def is_fresh(self, token: str) -> bool:
        """Whether this token was issued here, is not too old and was not used."""
        return self._issued(token) is not None

    def use(self, token: str) -> bool:
        """Use a token up; False where it is not fresh."""
        issued = self._issued(token)
        if issued is None:
            return False
        self._used[token] = issued
        if len(self._used) > self._most:
            self._since = max(self._since, self._used.pop(next(iter(self._used))))
        return True

    def _issued(self, token: str) -> datetime | None:
        if token in self._used:
            return None
        try:
            _, issued = self._signer.unsign(token, max_age=self.GOOD_FOR, return_timestamp=True)
        except BadData:
            return None
        return issued if issued > self._since else None


def equal_in_constant_time(left: str, right: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    return compare_digest(left.encode("utf-8", "replace"), right.encode("utf-8", "replace"))


def from_this_app(request: Request) -> bool:
    """Whether a form was sent by a page of this app, as far as the browser says."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def language_of(request: Request, fields: dict[str, str] | None = None) -> str:
    """The code of the language chosen here or before; else Chinese for a Chinese browser, else English."""
    chosen = (fields or {}).get("lang") or request.query_params.get("lang") or request.cookies.get(settings.LANGUAGE)
    if chosen in LANGUAGES:
        return str(chosen)
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def error_text(request: Request, problem: AuditError, code: str | None = None) -> str:
    """An error as a sentence in the language of the request."""
    return sentence(said(problem.sentence, code or language_of(request)))


def html_page(content: str, status: int, nonce: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    """A page without scripts: styles with this nonce only, in no frame, forms to this app only, not cached."""
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; font-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(
        content,
        status,
        {
            **HEADERS,
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            **(headers or {}),
        },
    )


def cookie_options(request: Request) -> dict[str, Any]:
    """Options of every cookie: for this app's paths, hidden from scripts, not sent with forms of other sites."""
    secure = settings.only_https() or request.url.scheme == "https"
    return {"path": settings.root() or "/", "httponly": True, "samesite": "lax", "secure": secure}


def set_cookie(request: Request, response: Response, name: str, value: str, max_age: int | None = None) -> None:
    """Set a cookie, for the session or for so many seconds."""
    response.set_cookie(name, value, max_age=max_age, **cookie_options(request))


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """Delete a cookie in the browser."""
    response.delete_cookie(name, **cookie_options(request))


# The pages that log in and change a password: HTML of ours, without any script, as the app looks.

LOGIN, PASSWORD = "login", "password"
"""Templates of data/ui."""
_WORDS = ("title", "what", "name", "password", "log_in", "provider", "or")
_PASSWORD_WORDS = ("title", "what", "name", "present", "new", "again", "change", "back")


def render(
    code: str,
    *,
    root: str,
    nonce: str,
    form: str,
    name: str = "",
    next: str = "",
    problem: str = "",
    provider: bool = False,
) -> str:
    """The page in the language `code`.

    `form` is the hidden token of the form, `name` what was typed before, `next` the page that was asked for, `problem`
    a sentence about what went wrong. Every text is escaped by the template engine.
    """
    words = {key: text_in(code, f"welcome.{key}") for key in _WORDS}
    return _render_template(
        LOGIN, code, words, root=root, nonce=nonce, form=form, name=name, next=next, problem=problem, provider=provider
    )


def render_password(
    code: str, *, root: str, nonce: str, form: str = "", name: str = "", problem: str = "", done: str = ""
) -> str:
    """The page that changes a password; without `form` it shows only `problem` or `done`."""
    words = {key: text_in(code, f"account.{key}") for key in _PASSWORD_WORDS}
    return _render_template(
        PASSWORD, code, words, root=root, nonce=nonce, form=form, name=name, problem=problem, done=done, next=""
    )


def _render_template(template: str, code: str, words: dict[str, str], **values: object) -> str:
    return str(
        _templates()
        .get_template(template)
        .render(
            code=code,
            languages=LANGUAGES,
            words=words,
            path=template,
            font=_font(),
            light=FLAGS["theme.light.primaryColor"],
            dark=FLAGS["theme.dark.primaryColor"],
            **values,
        )
    )


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def read(name: str) -> str:
        return data_file(f"ui/{name}.html.j2").read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _font() -> str | None:
    """Path of the font that Streamlit serves to its own pages; its name has a hash. None: not found."""
    import streamlit

    static = Path(streamlit.__file__).parent / "static"
    fonts = sorted(static.glob("static/media/SourceSansVF-Upright*.woff2"))
    return fonts[0].relative_to(static).as_posix() if fonts else None


# Changing one's own password, over HTTP like logging in.
#
# Not a form of Streamlit's: what is typed there passes through its websocket and stays in the session's state, and its
# tries could not be counted with those of the page that logs in. The form carries the token bound to its login, needs
# the present password, and is refused when the browser says that another site sent it.


class OwnPassword:
    """The routes of `/password`; attempts are counted in `attempts`."""

    def __init__(self, attempts: Attempts):
        self._attempts = attempts

    def routes(self) -> list[Route]:
        """A GET shows the form, a POST changes the password."""
        path = f"{settings.root()}/password"
        return [Route(path, self.show, methods=["GET"]), Route(path, self.change, methods=["POST"])]

    async def show(self, request: Request) -> Response:
        """The form; without a login, a redirect to the login page."""
        try:
            account = await to_thread.run_sync(account_behind, request.cookies)
            if account is None:
                return _log_in_first()
            profile = await to_thread.run_sync(own_account, session.engine(), account.id)
        except AuditError as problem:
            return _password_page(request, 503, problem=error_text(request, problem))
        token = request.cookies.get(settings.login_cookie_name())
        if not profile.has_password or not token:
            return _password_page(request, 403, problem=text_in(language_of(request), "account.no_password"))
        return _password_page(request, 200, account=account, form=form_token(token))

    async def change(self, request: Request) -> Response:
        """Change the password, or show the form again with the reason."""
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return _password_page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code, token = language_of(request, fields), request.cookies.get(settings.login_cookie_name())
        try:
            account = await to_thread.run_sync(account_behind, request.cookies)
        except AuditError as problem:
            return _password_page(request, 503, code=code, problem=error_text(request, problem, code))
        if account is None or not token:
            return _log_in_first()
        form = form_token(token)

        def show_again(status: int, problem: str, **headers: str) -> Response:
            return _password_page(
                request, status, code=code, account=account, form=form, problem=problem, headers=headers
            )

        if not (equal_in_constant_time(form, fields.get("form", "")) and from_this_app(request)):
            return show_again(403, text_in(code, "welcome.old_form"))
        present, new = fields.get("present", ""), fields.get("new", "")
        if new != fields.get("again", ""):
            return show_again(400, text_in(code, "account.differ"))
        address = request.client.host if request.client else ""
        wait = self._attempts.begin(account.name, address, cookie_key(token))
        if wait:
            return show_again(429, text_in(code, "welcome.wait", count=wait), **{"Retry-After": str(wait)})
        try:
            await to_thread.run_sync(_change_password, account.id, present, new, token, limiter=HASHING)
        except NotAllowed as problem:
            return show_again(403, error_text(request, problem, code))
        except AuditError as problem:
            # The present password was right, or there is none: not a guess.
            self._attempts.succeed(account.name, address, cookie_key(token))
            return show_again(400, error_text(request, problem, code))
        self._attempts.succeed(account.name, address, cookie_key(token))
        return _password_page(request, 200, code=code, done=text_in(code, "account.changed"))


def _change_password(account_id: int, present: str, new: str, token: str) -> None:
    change_password(session.engine(), account_id, present, new, keep=cookie_key(token))


def _log_in_first() -> Response:
    return RedirectResponse(f"{settings.root()}/login?next=account", 303, HEADERS)


def _password_page(
    request: Request,
    status: int,
    *,
    code: str | None = None,
    account: Account | None = None,
    form: str = "",
    problem: str = "",
    done: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    nonce = secrets.token_urlsafe(16)
    content = render_password(
        code or language_of(request),
        root=settings.root(),
        nonce=nonce,
        form=form,
        name=account.name if account else "",
        problem=problem,
        done=done,
    )
    return html_page(content, status, nonce, headers)


_YEAR = 365 * 24 * 3600


class LoginRoutes:
    """The routes of logging in and out; they share the attempts at passwords and the tokens of the login form."""

    def __init__(self, attempts: Attempts | None = None):
        self._attempts = attempts or Attempts()
        self._forms = FormTokens()

    def routes(self) -> list[Route]:
        """`/login`, `/login/provider`, `/logout`, `/password` below the app's root; every change is a POST."""
        root = settings.root()
        return [
            Route(f"{root}/login", self.show, methods=["GET"]),
            Route(f"{root}/login", self.enter, methods=["POST"]),
            Route(f"{root}/logout", self.stay, methods=["GET"]),
            Route(f"{root}/logout", self.leave, methods=["POST"]),
            Route(f"{root}/login/provider", self.provider, methods=["GET"]),
            *OwnPassword(self._attempts).routes(),
        ]

    async def show(self, request: Request) -> Response:
        """The login page; a redirect to the wanted page for those who are logged in."""
        next = page_named(request.query_params.get("next", ""))
        try:
            if await to_thread.run_sync(account_behind, request.cookies) is not None:
                return RedirectResponse(f"{settings.root()}/{next}", 303, HEADERS)
        except AuditError as problem:
            return self._page(request, 503, next=next, problem=error_text(request, problem))
        return self._page(request, 200, next=next)

    async def enter(self, request: Request) -> Response:
        """Check name and password: a new login and its cookie, or the page again with the reason."""
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return self._page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code, next = language_of(request, fields), page_named(fields.get("next", ""))
        name, password = fields.get("name", ""), fields.get("password", "")

        def show_again(status: int, problem: str, **headers: str) -> Response:
            return self._page(request, status, code=code, name=name[:80], next=next, problem=problem, headers=headers)

        sent_token = request.cookies.get(settings.form_cookie_name(), "")
        if not (sent_token and equal_in_constant_time(sent_token, fields.get("form", "")) and from_this_app(request)):
            return show_again(403, text_in(code, "welcome.old_form"))
        address = request.client.host if request.client else ""
        token, previous_token = new_token(), request.cookies.get(settings.login_cookie_name())
        try:
            browser = await to_thread.run_sync(_known_browser, request.cookies, name.strip())
            # Nothing is waited for between these three: of two forms with one token, one is let in.
            if not self._forms.is_fresh(sent_token):
                return show_again(403, text_in(code, "welcome.old_form"))
            if wait := self._attempts.begin(name.strip(), address, browser):
                return show_again(429, text_in(code, "welcome.wait", count=wait), **{"Retry-After": str(wait)})
            self._forms.use(sent_token)
            await to_thread.run_sync(_enter_login, name, password, token, previous_token, limiter=HASHING)
        except NotAllowed as problem:
            return show_again(403, error_text(request, problem, code))
        except AuditError as problem:
            return show_again(503, error_text(request, problem, code))
        self._attempts.succeed(name.strip(), address, browser)
        response = RedirectResponse(f"{settings.root()}/{next}", 303, HEADERS)
        set_cookie(request, response, settings.login_cookie_name(), token)
        set_cookie(request, response, settings.browser_cookie_name(), cookie_key(token).hex(), max_age=_YEAR)
        set_cookie(request, response, settings.LANGUAGE, code, max_age=_YEAR)
        drop_cookie(request, response, settings.form_cookie_name())
        return response

    async def provider(self, request: Request) -> Response:
        """A redirect to the identity provider, or the login page with the reason."""
        provider = settings.provider_settings()
        if provider is None:
            return RedirectResponse(f"{settings.root()}/login", 303, HEADERS)
        try:
            return RedirectResponse(provider_login_url(provider["name"]), 303, HEADERS)
        except AuditError as problem:
            return self._page(request, 503, problem=error_text(request, problem))

    async def stay(self, request: Request) -> Response:
        """A GET of `/logout` changes nothing: a link or an image of another site must not log anybody out."""
        return RedirectResponse(f"{settings.root()}/", 303, HEADERS)

    async def leave(self, request: Request) -> Response:
        """End the login of this browser, in every tab."""
        token = request.cookies.get(settings.login_cookie_name())
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return self._page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code = language_of(request, fields)
        response: Response = RedirectResponse(f"{settings.root()}/login?lang={code}", 303, HEADERS)
        if not token:
            return response
        if not (equal_in_constant_time(form_token(token), fields.get("form", "")) and from_this_app(request)):
            return self._page(request, 403, code=code, problem=text_in(code, "welcome.old_form"))
        try:
            await to_thread.run_sync(lambda: end_login(session.engine(), cookie_key(token)))
        except AuditError as problem:
            return self._page(request, 503, code=code, problem=error_text(request, problem, code))
        drop_cookie(request, response, settings.login_cookie_name())
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
        """The login page, with a new token for its form."""
        code, nonce, form = code or language_of(request), secrets.token_urlsafe(16), self._forms.new()
        content = render(
            code,
            root=settings.root(),
            nonce=nonce,
            form=form,
            name=name,
            next=next,
            problem=problem,
            provider=settings.provider_settings() is not None,
        )
        response = html_page(content, status, nonce, headers)
        set_cookie(request, response, settings.form_cookie_name(), form)
        if request.query_params.get("lang") in LANGUAGES:
            set_cookie(request, response, settings.LANGUAGE, code, max_age=_YEAR)
        return response


def _known_browser(cookies: dict[str, str], name: str) -> bytes | None:
    """The key of a browser that has logged in under this name before; None for any other."""
    try:
        key = bytes.fromhex(cookies.get(settings.browser_cookie_name(), ""))
    except ValueError:
        return None
    return key if key and name_of_login(session.engine(), key) == name else None


def _enter_login(name: str, password: str, token: str, previous_token: str | None) -> None:
    with explained(session.database_url()):
        engine = session.engine()
        account = log_in(engine, name, password)
        open_login(engine, account.id, cookie_key(token), settings.login_limits())
        if previous_token:
            # A browser has one login: the one that it had before is ended, since nobody could end it later.
            end_login(engine, cookie_key(previous_token))
