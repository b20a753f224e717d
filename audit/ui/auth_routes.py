"""Logging in and out over HTTP: routes beside Streamlit's, so that the cookie is out of reach of every script.

The form that logs in is protected by a double submit: a token in a cookie must come back in a hidden field, and each
token is valid once (`FormTokens`). Nobody is logged in yet, so there is no login to bind it to. The form that logs out
carries a token bound to its login (`audit.annotation.accounts.form_token`). Both are refused when the browser says that
another site sent them. The target after logging in can only be the name of one of the app's pages, so there is no open
redirect.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from anyio import CapacityLimiter, to_thread
from itsdangerous import BadData, TimestampSigner
from sqlalchemy import Engine
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
    new_token,
    open_login,
    own_account,
)
from audit.annotation.invitations import FIRST, Invitation, invitation_of, join
from audit.errors import AuditError, NotAllowed
from audit.messages import LANGUAGES, said
from audit.resources import data_file
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


class Refusal(Exception):
    """A form is refused: the HTTP status, and the key and the values of the text that says why."""

    def __init__(self, status: int, key: str, **values: int):
        super().__init__(key)
        self.status, self.key, self.values = status, key, values


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form. Raises Refusal for another kind of body, for one that is too large, and for no UTF-8."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refusal(415, "welcome.no_form")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > BODY:
        raise Refusal(413, "welcome.too_large")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY:
            raise Refusal(413, "welcome.too_large")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise Refusal(400, "welcome.no_form") from None
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


def redirect(path: str) -> Response:
    """A redirect to a path below the app's root."""
    return RedirectResponse(f"{settings.root()}/{path}", 303, HEADERS)


@dataclass
class Visit:
    """A request of somebody who looks at a form or sends it."""

    request: Request
    fields: dict[str, str] = field(default_factory=dict)
    """Those of the form that was sent."""
    shown: dict[str, str] = field(default_factory=dict)
    """Values of the page's template that are shown again where the form is refused."""
    path: str = ""
    """The path of the form below the app's root, where it is another one than its template's name."""

    @property
    def code(self) -> str:
        """The code of the language chosen here or before; else Chinese for a Chinese browser, else English."""
        request = self.request
        chosen = (
            self.fields.get("lang") or request.query_params.get("lang") or request.cookies.get(settings.LANGUAGE, "")
        )
        if chosen in LANGUAGES:
            return chosen
        return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"

    @property
    def token(self) -> str | None:
        """The token of the login that this browser has, or had."""
        return self.request.cookies.get(settings.login_cookie_name())

    @property
    def address(self) -> str:
        """The address that the request came from."""
        return self.request.client.host if self.request.client else ""

    async def account(self) -> Account | None:
        """The account that is logged in here."""
        return await to_thread.run_sync(account_behind, self.request.cookies)

    def need_form(self, token: str) -> None:
        """Raise Refusal unless the form carries this token, and was sent by a page of this app, as far as the browser
        says."""
        headers = self.request.headers
        origin = headers.get("origin")
        ours = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none") and (
            origin is None or urlsplit(origin).netloc == headers.get("host")
        )
        if not (token and equal_in_constant_time(token, self.fields.get("form", "")) and ours):
            raise Refusal(403, "welcome.old_form")


# The pages that log in and change a password: HTML of ours, without any script, as the app looks.

LOGIN, PASSWORD, JOIN, FIRST_MANAGER = "login", "password", "join", "first"
"""Templates of data/ui."""
_WORDS = {
    LOGIN: ("welcome", ("title", "what", "name", "password", "log_in", "provider", "or")),
    PASSWORD: ("account", ("title", "what", "name", "present", "new", "again", "change", "back")),
    JOIN: ("join", ("title", "what", "name", "password", "enter", "log_in")),
    FIRST_MANAGER: ("first", ("title", "what", "name", "password", "enter", "log_in")),
}
_EMPTY: dict[str, Any] = {
    "form": "", "name": "", "next": "", "problem": "", "done": "", "provider": False, "note": "", "fixed": "",
    "participant": "",
}  # fmt: skip
"""Values of the templates. `form` is the hidden token of the form (without one, only `problem` or `done` is shown),
`name` what was typed before, `next` the page that was asked for, `problem` a sentence about what went wrong, `note` one
about what the form does, `fixed` a name that cannot be changed, `participant` that name where the address had it."""


def html_page(
    template: str, visit: Visit, status: int, headers: Mapping[str, str] | None, **values: object
) -> Response:
    """A page without scripts: styles with its own nonce only, in no frame, forms to this app only, not cached. Every
    text is escaped by the template engine."""
    nonce, (prefix, keys) = secrets.token_urlsafe(16), _WORDS[template]
    content = (
        _templates()
        .get_template(template)
        .render(
            code=visit.code,
            root=settings.root(),
            nonce=nonce,
            languages=LANGUAGES,
            words={key: text_in(visit.code, f"{prefix}.{key}") for key in keys},
            path=visit.path or template,
            font=_font(),
            light=FLAGS["theme.light.primaryColor"],
            dark=FLAGS["theme.dark.primaryColor"],
            **_EMPTY | visit.shown | values,
        )
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; font-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    own_headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}
    return HTMLResponse(content, status, {**HEADERS, **own_headers, **(headers or {})})


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


class Forms:
    """Routes of a form: each is a method that takes a `Visit`, under `route`."""

    def page(self, visit: Visit, status: int, headers: Mapping[str, str] | None = None, **values: str) -> Response:
        """The page of the form; `values` are the template's `problem` or `done`."""
        raise NotImplementedError

    def route(self, path: str, method: str, answer: Callable[[Visit], Awaitable[Response]]) -> Route:
        """A route below the app's root. What `answer` refuses is said on the page, with what was typed before."""

        async def endpoint(request: Request) -> Response:
            visit = Visit(request)
            try:
                if method == "POST":
                    visit.fields = await fields_of(request)
                return await answer(visit)
            except Refusal as refused:
                headers = {"Retry-After": str(refused.values["count"])} if refused.status == 429 else None
                return self.page(
                    visit, refused.status, headers, problem=text_in(visit.code, refused.key, **refused.values)
                )
            except AuditError as problem:
                return self.refuse(visit, 403 if isinstance(problem, NotAllowed) else 503, problem)

        return Route(f"{settings.root()}/{path}", endpoint, methods=[method])

    def refuse(self, visit: Visit, status: int, problem: AuditError) -> Response:
        """The page with an error as a sentence in the language of the request."""
        return self.page(visit, status, problem=sentence(said(problem.sentence, visit.code)))


# Changing one's own password, over HTTP like logging in.
#
# Not a form of Streamlit's: what is typed there passes through its websocket and stays in the session's state, and its
# tries could not be counted with those of the page that logs in. The form carries the token bound to its login, needs
# the present password, and is refused when the browser says that another site sent it.


class OwnPassword(Forms):
    """The routes of `/password`; attempts are counted in `attempts`."""

    def __init__(self, attempts: Attempts):
        self._attempts = attempts

    def routes(self) -> list[Route]:
        """A GET shows the form, a POST changes the password."""
        return [self.route("password", "GET", self.show), self.route("password", "POST", self.change)]

    def page(self, visit: Visit, status: int, headers: Mapping[str, str] | None = None, **values: str) -> Response:
        return html_page(PASSWORD, visit, status, headers, **values)

    async def show(self, visit: Visit) -> Response:
        """The form; without a login, a redirect to the login page."""
        account = await visit.account()
        if account is None:
            return redirect("login?next=account")
        profile = await to_thread.run_sync(own_account, session.engine(), account.id)
        if not profile.has_password or not visit.token:
            raise Refusal(403, "account.no_password")
        visit.shown = {"name": account.name, "form": form_token(visit.token)}
        return self.page(visit, 200)

    async def change(self, visit: Visit) -> Response:
        """Change the password, or show the form again with the reason."""
        account, token = await visit.account(), visit.token
        if account is None or not token:
            return redirect("login?next=account")
        visit.shown = {"name": account.name, "form": form_token(token)}
        visit.need_form(form_token(token))
        present, new = visit.fields.get("present", ""), visit.fields.get("new", "")
        if new != visit.fields.get("again", ""):
            raise Refusal(400, "account.differ")
        own = (account.name, visit.address)
        if wait := self._attempts.begin(*own):
            raise Refusal(429, "welcome.wait", count=wait)
        change = partial(change_password, session.engine(), account.id, present, new, keep=cookie_key(token))
        try:
            await to_thread.run_sync(change, limiter=HASHING)
        except NotAllowed:
            raise
        except AuditError as problem:
            # The present password was right, or there is none: not a guess.
            self._attempts.succeed(*own)
            return self.refuse(visit, 400, problem)
        self._attempts.succeed(*own)
        return self.page(visit, 200, done=text_in(visit.code, "account.changed"))


_YEAR = 365 * 24 * 3600


# Coming in by an invitation: whoever has its link chooses a name and a password, and is logged in.


class JoinRoutes(Forms):
    """The routes of `/join/SECRET`; attempts are counted with those of passwords."""

    def __init__(self, attempts: Attempts):
        self._attempts = attempts
        self._forms = FormTokens()

    def routes(self) -> list[Route]:
        """A GET shows the form, a POST makes the account."""
        return [self.route("join/{secret}", "GET", self.show), self.route("join/{secret}", "POST", self.join)]

    def page(self, visit: Visit, status: int, headers: Mapping[str, str] | None = None, **values: str) -> Response:
        """The form, with a new token; without one where the link cannot be used."""
        first = visit.shown.pop("purpose", "") == FIRST
        response = html_page(FIRST_MANAGER if first else JOIN, visit, status, headers, **values)
        if form := visit.shown.get("form"):
            set_cookie(visit.request, response, settings.form_cookie_name(), form)
        if visit.request.query_params.get("lang") in LANGUAGES:
            set_cookie(visit.request, response, settings.LANGUAGE, visit.code, max_age=_YEAR)
        return response

    async def show(self, visit: Visit) -> Response:
        """The form, or why the link cannot be used."""
        await self._look(visit)
        return self.page(visit, 200)

    async def join(self, visit: Visit) -> Response:
        """Make the account and log it in, or show the form again with the reason."""
        request, fields = visit.request, visit.fields
        sent_token = request.cookies.get(settings.form_cookie_name(), "")
        invitation = await self._look(visit)
        visit.shown["name"] = fields.get("name", "")[:80]
        name = visit.shown["participant"] or fields.get("name", "")
        visit.need_form(sent_token)
        if not self._forms.is_fresh(sent_token):
            raise Refusal(403, "welcome.old_form")
        tried = (f"join {invitation.key.hex()}", visit.address)
        if wait := self._attempts.begin(*tried):
            raise Refusal(429, "welcome.wait", count=wait)
        self._forms.use(sent_token)
        token = new_token()
        enter = partial(_join, _secret(visit), name, fields.get("password", ""), token, visit.token)
        try:
            await to_thread.run_sync(enter, limiter=HASHING)
        except NotAllowed:
            raise
        except AuditError as problem:
            # The link was right, and somebody may need some tries to find a name that is free.
            self._attempts.succeed(*tried)
            return self.refuse(visit, 400, problem)
        self._attempts.succeed(*tried)
        response = redirect("studies" if invitation.purpose == FIRST else "")
        set_cookie(request, response, settings.login_cookie_name(), token)
        set_cookie(request, response, settings.LANGUAGE, visit.code, max_age=_YEAR)
        drop_cookie(request, response, settings.form_cookie_name())
        return response

    async def _look(self, visit: Visit) -> Invitation:
        """The invitation of the link, with what its form shows. Raises NotAllowed where it cannot be used."""
        secret = _secret(visit)
        visit.path = f"join/{secret}"
        invitation = await to_thread.run_sync(_invitation, secret)
        notes = []
        if invitation.purpose != FIRST:
            notes.append(text_in(visit.code, "join.role", role=text_in(visit.code, f"role.{invitation.role}")))
        if (account := await visit.account()) is not None:
            notes.append(text_in(visit.code, "join.instead", name=account.name))
        participant = "" if invitation.purpose == FIRST else _participant(visit)
        visit.shown = {
            "form": self._forms.new(),
            "purpose": invitation.purpose,
            "note": " ".join(notes) if visit.code == "en" else "".join(notes),
            "fixed": participant,
            "participant": participant,
        }
        return invitation


PARTICIPANT = ("participant", "PROLIFIC_PID", "workerId")
"""Parameters of a link's address in which a recruitment platform says who comes: any's, Prolific's, Mechanical Turk's.
"""


def _participant(visit: Visit) -> str:
    """The id of a recruitment platform's participant, which is the name of their account: so a payout finds it."""
    sent = [visit.fields.get("participant", ""), *(visit.request.query_params.get(name, "") for name in PARTICIPANT)]
    return next((id.strip()[:81] for id in sent if id.strip()), "")


def _secret(visit: Visit) -> str:
    return str(visit.request.path_params["secret"])[:200]


def _invitation(secret: str) -> Invitation:
    return invitation_of(session.engine(), secret)


def _join(secret: str, name: str, password: str, token: str, previous_token: str | None) -> None:
    engine = session.engine()
    _enter(engine, join(engine, secret, name, password), token, previous_token)


class LoginRoutes(Forms):
    """The routes of logging in and out; they share the attempts at passwords and the tokens of the login form."""

    def __init__(self, attempts: Attempts | None = None):
        self._attempts = attempts or Attempts()
        self._forms = FormTokens()

    def routes(self) -> list[Route]:
        """`/login`, `/login/provider`, `/logout`, `/password`, `/join/SECRET` below the app's root; every change is a
        POST."""
        return [
            self.route("login", "GET", self.show),
            self.route("login", "POST", self.enter),
            self.route("logout", "GET", self.stay),
            self.route("logout", "POST", self.leave),
            self.route("login/provider", "GET", self.provider),
            *OwnPassword(self._attempts).routes(),
            *JoinRoutes(self._attempts).routes(),
        ]

    def page(self, visit: Visit, status: int, headers: Mapping[str, str] | None = None, **values: str) -> Response:
        """The login page, with a new token for its form."""
        form, provider = self._forms.new(), settings.provider_settings() is not None
        response = html_page(LOGIN, visit, status, headers, form=form, provider=provider, **values)
        set_cookie(visit.request, response, settings.form_cookie_name(), form)
        if visit.request.query_params.get("lang") in LANGUAGES:
            set_cookie(visit.request, response, settings.LANGUAGE, visit.code, max_age=_YEAR)
        return response

    async def show(self, visit: Visit) -> Response:
        """The login page; a redirect to the wanted page for those who are logged in."""
        visit.shown["next"] = page_named(visit.request.query_params.get("next", ""))
        return self.page(visit, 200) if await visit.account() is None else redirect(visit.shown["next"])

    async def enter(self, visit: Visit) -> Response:
        """Check name and password: a new login and its cookie, or the page again with the reason."""
        request, fields = visit.request, visit.fields
        next, name = page_named(fields.get("next", "")), fields.get("name", "")
        visit.shown = {"name": name[:80], "next": next}
        sent_token = request.cookies.get(settings.form_cookie_name(), "")
        visit.need_form(sent_token)
        token = new_token()
        tried = (name, visit.address)
        # Nothing is waited for between these three: of two forms with one token, one is let in.
        if not self._forms.is_fresh(sent_token):
            raise Refusal(403, "welcome.old_form")
        if wait := self._attempts.begin(*tried):
            raise Refusal(429, "welcome.wait", count=wait)
        self._forms.use(sent_token)
        enter = partial(_enter_login, name, fields.get("password", ""), token, visit.token)
        await to_thread.run_sync(enter, limiter=HASHING)
        self._attempts.succeed(*tried)
        response = redirect(next)
        set_cookie(request, response, settings.login_cookie_name(), token)
        set_cookie(request, response, settings.LANGUAGE, visit.code, max_age=_YEAR)
        drop_cookie(request, response, settings.form_cookie_name())
        return response

    async def provider(self, _visit: Visit) -> Response:
        """A redirect to the identity provider, or the login page with the reason."""
        provider = settings.provider_settings()
        if provider is None:
            return redirect("login")
        return RedirectResponse(provider_login_url(provider["name"]), 303, HEADERS)

    async def stay(self, _visit: Visit) -> Response:
        """A GET of `/logout` changes nothing: a link or an image of another site must not log anybody out."""
        return redirect("")

    async def leave(self, visit: Visit) -> Response:
        """End the login of this browser, in every tab."""
        response, token = redirect(f"login?lang={visit.code}"), visit.token
        if token:
            visit.need_form(form_token(token))
            await to_thread.run_sync(lambda: end_login(session.engine(), cookie_key(token)))
            drop_cookie(visit.request, response, settings.login_cookie_name())
        return response


def _enter_login(name: str, password: str, token: str, previous_token: str | None) -> None:
    engine = session.engine()
    _enter(engine, log_in(engine, name, password), token, previous_token)


def _enter(engine: Engine, account: Account, token: str, previous_token: str | None) -> None:
    """Open the login of an account. A browser has one: the one before is ended, since nobody could end it later."""
    open_login(engine, account.id, cookie_key(token), settings.login_limits())
    if previous_token:
        end_login(engine, cookie_key(previous_token))
