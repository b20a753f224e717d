"""The API as an ASGI application, and its OpenAPI document: `python -m audit.api.application` prints it.

A request says who it is from by a token in the header `Authorization`, never by a cookie. Each route names the least
role that it needs; the function that it calls reads the account's role once more, in its own transaction.
"""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

import audit
from audit.api import PATH
from audit.errors import AuditError, NotAllowed, Refused, UnknownName
from audit.judging.accounts import may
from audit.judging.sign_in import Bearer, bearer_of
from audit.messages import ENGLISH, Message, joined, message, said

_LOG = logging.getLogger(__name__)
_DESCRIPTION = """What programs do in place of the app: send texts, run studies, judge, fetch answers and rates.

Send `Authorization: Bearer TOKEN` with each request; a token is made on the page *My account* or by `audit user token`.
The tag of a route is the least role that it needs. An error is `{"error": {"code": ..., "sentence": ...}}`, in English,
or Chinese where `Accept-Language` begins with `zh`; nothing was changed then. Unknown keys of a body or of a query are
refused. Times are in UTC."""
_ERRORS = "400 a wrong request, 401 no valid token, 403 not for this role, 404 not there, 409 not now, 503 no database"
_STATUS = {"api.token_needed": 401, "api.role_needed": 403, "cells.no_study": 404}
"""Of errors by their codes; the status of others goes by their kind."""
_TOKEN = HTTPBearer(auto_error=False, scheme_name="token")


@dataclass
class Service:
    """What the API serves. Engine and database (its path or URL) are read at every request, so that a server that
    cannot open its database yet starts all the same. `compute` does what takes long, in another process: a name of
    `audit.ui.worker.ASKS`, its values, and whether an earlier answer will not do."""

    engine: Callable[[], Engine]
    database: Callable[[], str]
    compute: Callable[[Engine, str, dict[str, Any], bool], Any]


class Visit:
    """A request that may be served: the service, whose token it has, and the language that it is answered in."""

    def __init__(self, service: Service, bearer: Bearer, language: str):
        self.service, self.bearer, self.language = service, bearer, language
        self.engine, self.id = service.engine(), bearer.account.id

    def compute(self, ask: str, anew: bool = False, **values: Any) -> Any:
        """Return what a worker computes. Raises what it refuses with."""
        return self.service.compute(self.engine, ask, values, anew)


def needs(least: str) -> Any:
    """Return a dependency of routes: the request's token must be valid, for this role or one that may do more."""

    def visit(request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_TOKEN)]) -> Visit:
        service: Service = request.app.state.service
        bearer = bearer_of(service.engine(), credentials.credentials) if credentials is not None else None
        if bearer is None:
            raise AuditError(message("api.token_needed"))
        if not may(bearer.role, least):
            raise AuditError(message("api.role_needed", least=least, role=bearer.role))
        return Visit(service, bearer, language_of(request))

    return Depends(visit)


def language_of(request: Request) -> str:
    """Return the language of what a request is answered: Chinese where its header Accept-Language begins with it."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else ENGLISH


def application(service: Service | None = None) -> FastAPI:
    """Return the application, to be mounted at `PATH`; without a service it can only be described."""
    from audit.api import routes

    app = FastAPI(
        title="audit",
        version=audit.__version__,
        description=_DESCRIPTION,
        docs_url=None,  # whose page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": PATH}],
        responses={"default": {"description": _ERRORS}},
        root_path_in_servers=False,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers=dict.fromkeys(
            (AuditError, RequestValidationError, HTTPException, SQLAlchemyError, Exception), _failed
        ),
    )
    app.state.service = service
    for router in (routes.annotator, routes.manager):
        app.include_router(router)
    return app


async def _failed(request: Request, problem: Exception) -> JSONResponse:
    status, sentence = _status_of(problem)
    if status in (500, 503):
        _LOG.error("%s %s", request.method, request.url.path, exc_info=problem)
    error = {"code": _code(sentence), "sentence": said(sentence, language_of(request))}
    return JSONResponse({"error": error}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)


def _status_of(problem: Exception) -> tuple[int, str]:
    match problem:
        case NotAllowed():
            return 403, problem.sentence
        case UnknownName(kind="plan"):  # plans are in addresses, other names in bodies
            return 404, problem.sentence
        case AuditError():
            code = _code(problem.sentence)  # "work.": the run is at work, or not any more
            late = code.startswith("work.") or (isinstance(problem, Refused) and not code.startswith("wrong."))
            return _STATUS.get(code, 409 if late else 400), problem.sentence
        case RequestValidationError():
            wrong = [(".".join(map(str, error["loc"][1:])) or "body", error["msg"]) for error in problem.errors()[:10]]
            fields = [message("api.bad_field", where=where, reason=reason) for where, reason in wrong]
            return 400, message("api.bad_request", mistakes=joined("list.also", fields))
        case HTTPException(status_code=404 | 405 as status):
            return status, message("api.no_route")
        case HTTPException(status_code=status):
            return status, message("api.bad_request", mistakes=str(problem.detail))
    return 503 if isinstance(problem, SQLAlchemyError) else 500, message("api.broken")


def _code(sentence: str) -> str:
    """Return the code of a sentence; of several in one that of the first."""
    while isinstance(sentence, Message) and sentence.code.startswith("list."):
        sentence = sentence.parameters["first"]
    return sentence.code if isinstance(sentence, Message) else "error"


if __name__ == "__main__":
    json.dump(application().openapi(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
