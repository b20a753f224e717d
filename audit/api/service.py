"""What every route has at hand: the database, who sends the request, and what they may do.

A request says who it is from by a token (`audit.annotation.tokens`) in the header `Authorization`; there are no
cookies, so nothing that a browser sends by itself is ever believed. The token is looked up at every request. Each route
names the least role that it needs; the function that it calls asks for the account's role once more, in its own
transaction.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Engine

from audit.annotation.accounts import Account, may
from audit.annotation.answers import command
from audit.annotation.sign_in import Bearer, bearer_of, network
from audit.api.limits import Allowance
from audit.api.problems import Problem, language_of
from audit.messages import message
from audit.reports.worker import answer_line, read_answer, request_line

Compute = Callable[[Engine, str, dict[str, Any], bool], Any]
"""What computes a report: the engine, a name of `audit.reports.worker.ASKS`, its values, and whether an answer that was
computed from the same state of the database will not do."""


@dataclass
class Service:
    """What the API serves.

    `engine` and `database` (its path or URL) are asked at every request, so that a server that cannot open its database
    yet starts all the same.
    """

    engine: Callable[[], Engine]
    database: Callable[[], str]
    compute: Compute | None = None
    """None: in this process, which waits for it."""
    allowance: Allowance = field(default_factory=Allowance)
    strangers: Allowance = field(default_factory=lambda: Allowance(60))
    """Requests without a valid token, by address."""

    def computed(self, ask: str, values: dict[str, Any], anew: bool = False) -> Any:
        """The answer of a worker; `anew`, where no earlier one will do. Raises what it refuses with."""
        if self.compute is not None:
            return self.compute(self.engine(), ask, values, anew)
        # A state that never comes again: what was read of the database before is not used again.
        return read_answer(answer_line(request_line(ask, self.database(), time.monotonic_ns(), values)))


@dataclass(frozen=True)
class Visit:
    """A request that may be served."""

    service: Service
    bearer: Bearer
    language: str

    @property
    def engine(self) -> Engine:
        """The database."""
        return self.service.engine()

    @property
    def account(self) -> Account:
        """Whose token it is."""
        return self.bearer.account

    @property
    def id(self) -> int:
        """The account's number, in whose name everything is done."""
        return self.bearer.account.id

    @property
    def client(self) -> str:
        """With what an answer is given, as it is stored with it."""
        return command("API")


_SCHEME = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token of the page *Account* or of `audit user token`."
)


class Needs:
    """A dependency of routes: the request's token must be valid and have this role, or one that may do more."""

    def __init__(self, least: str):
        self.least = least

    def __call__(
        self, request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]
    ) -> Visit:
        """The visit. Raises Problem: 401 without a valid token, 403 for another role, 429 for too many requests."""
        service: Service = request.app.state.service
        bearer = bearer_of(service.engine(), credentials.credentials) if credentials is not None else None
        if bearer is None:  # however many strangers share an address with whoever has a token, they keep nobody out
            _take(service.strangers, network(request.client.host) if request.client else "")
            raise Problem(401, message("api.token_needed"), headers={"WWW-Authenticate": "Bearer"})
        _take(service.allowance, str(bearer.account.id))
        _refuse_unknown(request)
        if not may(bearer.role, self.least):
            raise Problem(403, message("api.role_needed", least=self.least, role=bearer.role))
        return Visit(service, bearer, language_of(request))


def _refuse_unknown(request: Request) -> None:
    """Raises Problem for a parameter of the query that the route does not have: one that is misspelt would change
    nothing, and nobody would see it."""
    names = [str(field.alias) for field in request.scope["route"].dependant.query_params]
    unknown = next((name for name in request.query_params if name not in names), None)
    if unknown is not None:
        reason = message("user_file.no_key", names=names or message("list.none"))
        mistake = message("api.bad_field", where=unknown[:80], reason=reason)
        raise Problem(400, message("api.bad_request", mistakes=mistake))


def _take(allowance: Allowance, key: str) -> None:
    if seconds := allowance.take(key):
        raise Problem(
            429,
            message("api.too_many", most=allowance.most, seconds=seconds),
            headers={"Retry-After": str(seconds)},
        )


Annotating = Annotated[Visit, Depends(Needs("annotator"))]
Adjudicating = Annotated[Visit, Depends(Needs("adjudicator"))]
Managing = Annotated[Visit, Depends(Needs("manager"))]
