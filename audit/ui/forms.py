"""What the HTML forms of this app share: reading them, refusing those that are none of ours, answering.

The pages have no script, and their headers allow none.
"""

import secrets
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from anyio import CapacityLimiter
from itsdangerous import BadData, TimestampSigner
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from audit.errors import AuditError
from audit.ui import cookies, settings
from audit.ui.language import LANGUAGES, sentence_in
from audit.ui.literal import sentence

BODY = 16_384
"""Bytes of a form; more is refused before it is read."""
HASHING = CapacityLimiter(2)
"""Passwords hashed at once: each takes 64 MiB and a core for a tenth of a second."""
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


class NoForm(Exception):
    """A form that is not read."""

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
    """Tokens of a form that nobody is logged in for: signed, good for half a day, each for one use.

    The secret and what was used are in the process: after a restart, a form that is open is shown once more. Where more
    are used than are remembered, those as old as the forgotten ones are refused, so none serves twice.

    >>> tokens = FormTokens()
    >>> token = tokens.new()
    >>> tokens.fresh(token), tokens.use(token), tokens.use(token), tokens.fresh("another")
    (True, True, False, False)
    """

    GOOD_FOR = 12 * 3600
    """Seconds."""

    def __init__(self, most: int = 20_000):
        self._signer = TimestampSigner(secrets.token_bytes(32), digest_method=sha256)
        self._most = most
        self._used: dict[str, datetime] = {}
        """When each used token was issued; in the order of their use."""
        self._since = datetime.min.replace(tzinfo=UTC)

    def new(self) -> str:
        """A token that was never issued before."""
        return self._signer.sign(secrets.token_urlsafe(32)).decode()

    def fresh(self, token: str) -> bool:
        """Whether this token is one of ours, not too old and not used."""
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


def same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def from_here(request: Request) -> bool:
    """Whether a form was sent by a page of this app, as far as the browser says."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def language_of(request: Request, fields: dict[str, str] | None = None) -> str:
    """What was chosen here, or before, or else Chinese for a Chinese browser, or else English."""
    chosen = (fields or {}).get("lang") or request.query_params.get("lang") or request.cookies.get(cookies.LANGUAGE)
    if chosen in LANGUAGES:
        return str(chosen)
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def said(request: Request, problem: AuditError, code: str | None = None) -> str:
    """An error as a sentence in the language of the request."""
    return sentence(sentence_in(code or language_of(request), str(problem)))


def html_page(shown: str, status: int, nonce: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    """A page of ours: no script, styles with this nonce alone, in no frame, sent nowhere else, kept by nobody."""
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; font-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(
        shown,
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
    """How every cookie is set: for this app's paths, for no script, for no form of another site."""
    secure = settings.only_https() or request.url.scheme == "https"
    return {"path": cookies.root() or "/", "httponly": True, "samesite": "lax", "secure": secure}


def set_cookie(request: Request, response: Response, name: str, value: str, max_age: int | None = None) -> None:
    """Set a cookie, for the session or for so many seconds."""
    response.set_cookie(name, value, max_age=max_age, **cookie_options(request))


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """Take a cookie from the browser."""
    response.delete_cookie(name, **cookie_options(request))
