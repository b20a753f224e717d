"""Another password for one's own account, over HTTP as logging in is.

Not a form of Streamlit's: what is typed there passes through its websocket and stays in the session's state, and its
tries could not be counted with those of the page that logs in. The form carries the token bound to its login, needs the
present password, and is refused when the browser says that another site sent it.
"""

import secrets

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from audit.annotation.accounts import Account
from audit.annotation.attempts import Attempts
from audit.annotation.keeping import change_password, own_account
from audit.annotation.logins import cookie_key, form_token
from audit.errors import AuditError, NotAllowed
from audit.ui import cookies, database
from audit.ui.forms import HASHING, HEADERS, NoForm, fields_of, from_here, html_page, language_of, said, same
from audit.ui.language import text_in
from audit.ui.login_page import render_password
from audit.ui.visitors import account_behind


class OwnPassword:
    """`/password`; tries are counted in `attempts`."""

    def __init__(self, attempts: Attempts):
        self._attempts = attempts

    def routes(self) -> list[Route]:
        """To show the form is a GET, to send it a POST."""
        path = f"{cookies.root()}/password"
        return [Route(path, self.show, methods=["GET"]), Route(path, self.change, methods=["POST"])]

    async def show(self, request: Request) -> Response:
        """The form; strangers go and log in first."""
        try:
            account = await to_thread.run_sync(account_behind, request.cookies)
            if account is None:
                return _log_in_first()
            kept = await to_thread.run_sync(own_account, database.engine(), account.id)
        except AuditError as problem:
            return _page(request, 503, problem=said(request, problem))
        token = request.cookies.get(cookies.login_name())
        if not kept.has_password or not token:
            return _page(request, 403, problem=text_in(language_of(request), "account.no_password"))
        return _page(request, 200, account=account, form=form_token(token))

    async def change(self, request: Request) -> Response:
        """The present password and the new one, twice: the change, or the form again and why."""
        try:
            fields = await fields_of(request)
        except NoForm as refused:
            return _page(request, refused.status, problem=text_in(language_of(request), refused.key))
        code, token = language_of(request, fields), request.cookies.get(cookies.login_name())
        try:
            account = await to_thread.run_sync(account_behind, request.cookies)
        except AuditError as problem:
            return _page(request, 503, code=code, problem=said(request, problem, code))
        if account is None or not token:
            return _log_in_first()
        form = form_token(token)

        def again(status: int, problem: str, **headers: str) -> Response:
            return _page(request, status, code=code, account=account, form=form, problem=problem, headers=headers)

        if not (same(form, fields.get("form", "")) and from_here(request)):
            return again(403, text_in(code, "welcome.old_form"))
        present, new = fields.get("present", ""), fields.get("new", "")
        if new != fields.get("again", ""):
            return again(400, text_in(code, "account.differ"))
        address = request.client.host if request.client else ""
        wait = self._attempts.begin(account.name, address, cookie_key(token))
        if wait:
            return again(429, text_in(code, "welcome.wait", count=wait), **{"Retry-After": str(wait)})
        try:
            await to_thread.run_sync(_change, account.id, present, new, token, limiter=HASHING)
        except NotAllowed as problem:
            return again(403, said(request, problem, code))
        except AuditError as problem:
            # The present password was right, or there is none: not a guess.
            self._attempts.succeed(account.name, address, cookie_key(token))
            return again(400, said(request, problem, code))
        self._attempts.succeed(account.name, address, cookie_key(token))
        return _page(request, 200, code=code, done=text_in(code, "account.changed"))


def _change(account_id: int, present: str, new: str, token: str) -> None:
    change_password(database.engine(), account_id, present, new, keep=cookie_key(token))


def _log_in_first() -> Response:
    return RedirectResponse(f"{cookies.root()}/login?next=account", 303, HEADERS)


def _page(
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
    shown = render_password(
        code or language_of(request),
        root=cookies.root(),
        nonce=nonce,
        form=form,
        name=account.name if account else "",
        problem=problem,
        done=done,
    )
    return html_page(shown, status, nonce, headers)
