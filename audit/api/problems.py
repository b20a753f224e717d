"""What a request that cannot be served gets: a status, and `{"error": {"code": ..., "sentence": ...}}`.

`code` is the message's code, such as `refused.not_leased`, which stays the same in every language; `sentence` is the
message in the language of the request.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from audit.errors import AuditError, NotAllowed, Refused, UnknownName
from audit.messages import ENGLISH, Message, joined, message, said
from audit.user_models import mistakes_of

LOG = logging.getLogger(__name__)
_STATUS: tuple[tuple[type[AuditError], int], ...] = ((NotAllowed, 403), (UnknownName, 404), (Refused, 409))
"""Of an error; of any other AuditError it is 400."""


class Error(BaseModel):
    """Why a request was not served. Nothing was changed."""

    code: str = Field(description="Stays the same in every language, such as `refused.not_leased`.")
    sentence: str = Field(description="What is wrong and what to do, in English or Chinese (`Accept-Language`).")


class ErrorAnswer(BaseModel):
    """The answer to a request that was not served."""

    error: Error


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": meaning}
    for status, meaning in {
        400: "The request is not right.",
        401: "There is no valid token.",
        403: "The token's role may not do this.",
        404: "There is no such thing.",
        409: "It cannot be done now: the answer is not taken, or somebody was faster.",
        413: "The request is too long.",
        429: "Too many requests within a minute; `Retry-After` says how many seconds to wait.",
    }.items()
}


class Problem(AuditError):
    """A request that is not served, with its status."""

    def __init__(self, code: int, sentence: str, headers: Mapping[str, str] | None = None):
        super().__init__(sentence)
        self.code, self.headers = code, dict(headers or {})


def language_of(request: Request) -> str:
    """The language of the sentences that a request gets: Chinese where its header Accept-Language begins with it."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else ENGLISH


def status_of(problem: AuditError) -> int:
    """The status of an error.

    >>> status_of(Refused("no")), status_of(UnknownName("plan", "x", [])), status_of(AuditError("no"))
    (409, 404, 400)
    """
    if isinstance(problem, Problem):
        return problem.code
    return next((status for kind, status in _STATUS if isinstance(problem, kind)), 400)


def answer(status: int, sentence: str, language: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer that says a sentence."""
    code = sentence.code if isinstance(sentence, Message) else "error"
    error = {"code": code, "sentence": said(sentence, language)}
    return JSONResponse({"error": error}, status, {"Cache-Control": "no-store", **(headers or {})})


def add_handlers(app: FastAPI) -> None:
    """Let an application answer every error in this way."""

    def refused(request: Request, problem: AuditError) -> JSONResponse:
        headers = problem.headers if isinstance(problem, Problem) else None
        return answer(status_of(problem), problem.sentence, language_of(request), headers)

    def invalid(request: Request, problem: RequestValidationError) -> JSONResponse:
        sentence = message("api.bad_request", mistakes=_mistakes(request, problem.errors(), problem.body))
        return answer(400, sentence, language_of(request))

    def absent(request: Request, problem: HTTPException) -> JSONResponse:
        if problem.status_code in (404, 405):
            return answer(problem.status_code, message("api.no_route"), language_of(request), problem.headers)
        sentence = message("api.bad_request", mistakes=str(problem.detail))
        return answer(problem.status_code, sentence, language_of(request), problem.headers)

    def broken(request: Request, problem: Exception) -> JSONResponse:
        LOG.error("%s %s", request.method, request.url.path, exc_info=problem)
        return answer(503 if isinstance(problem, SQLAlchemyError) else 500, message("api.broken"), language_of(request))

    app.add_exception_handler(AuditError, refused)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, absent)  # type: ignore[arg-type]
    app.add_exception_handler(SQLAlchemyError, broken)
    app.add_exception_handler(Exception, broken)


def _mistakes(request: Request, errors: Sequence[Any], body: Any) -> str:
    """What is wrong with a request's body, path and query: each mistake with where it is."""
    field = getattr(request.scope.get("route"), "body_field", None)
    model = field.field_info.annotation if field is not None else None
    in_body = [error | {"loc": error["loc"][1:]} for error in errors if error["loc"][0] == "body"]
    found = [(".".join(map(str, error["loc"])), str(error["msg"])) for error in errors if error["loc"][0] != "body"]
    if in_body and model is not None and isinstance(body, Mapping):
        found += mistakes_of(in_body, model, body)
    else:
        found += [("body", str(error["msg"])) for error in in_body]
    listed = [message("api.bad_field", where=where, reason=reason) for where, reason in found[:10]]
    return joined("list.also", listed)
