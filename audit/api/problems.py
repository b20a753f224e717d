"""What a request that cannot be served gets: a status, and `{"error": {"code": ..., "sentence": ...}}`.

`code` is the message's code, such as `refused.not_leased`, which stays the same in every language; `sentence` is the
message in the language of the request.
"""

import logging
from collections.abc import Mapping, Sequence
from inspect import isclass
from types import NoneType
from typing import Annotated, Any, get_args

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from audit.errors import AuditError, NotAllowed, Refused, UnknownName
from audit.messages import ENGLISH, Message, joined, message, said
from audit.user_models import allowed_by, mistakes_of, short

LOG = logging.getLogger(__name__)
_STATUS: tuple[tuple[type[AuditError], int], ...] = ((NotAllowed, 403), (Refused, 409))
"""Of an error whose message has no status of its own; of any other AuditError it is 400."""
_OF_CODES = {
    404: "refused.no_question cells.no_group",
    409: "work.run_already work.not_at_work upload.name_of_audit",
    400: "refused.no_label refused.choose_one refused.unsure_adjudicator refused.flag_needs_comment",
}
_STATUS_OF_CODE = {code: status for status, codes in _OF_CODES.items() for code in codes.split()}


class Error(BaseModel):
    """Why a request was not served. Nothing was changed."""

    code: str = Field(description="Stays the same in every language, such as `refused.not_leased`.")
    sentence: str = Field(description="What is wrong and what to do, in English or Chinese (`Accept-Language`).")


class ErrorAnswer(BaseModel):
    """The answer to a request that was not served."""

    error: Error


_RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": meaning} | ({"headers": _RETRY_AFTER} if status == 429 else {})
    for status, meaning in {
        400: "The request is not right.",
        401: "There is no valid token.",
        403: "The token's role may not do this.",
        404: "There is no such thing.",
        409: "It cannot be done now: the answer is not taken, or somebody was faster.",
        413: "The request is too long.",
        415: "The body is not sent as JSON.",
        429: "Too many requests within a minute; `Retry-After` says how many seconds to wait.",
        503: "The database cannot be used now. What was sent may be sent again.",
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
    if isinstance(problem, UnknownName):  # plans are in addresses, all other names in what is sent
        return 404 if problem.kind == "plan" else 400
    code = _code(problem.sentence)
    if code.startswith("wrong."):
        return 400
    if code in _STATUS_OF_CODE:
        return _STATUS_OF_CODE[code]
    return next((status for kind, status in _STATUS if isinstance(problem, kind)), 400)


def answer(status: int, sentence: str, language: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer that says a sentence."""
    error = {"code": _code(sentence), "sentence": said(sentence, language)}
    return JSONResponse({"error": error}, status, {"Cache-Control": "no-store", **(headers or {})})


def _code(sentence: str) -> str:
    """The code of a sentence; of several in one that of the first."""
    while isinstance(sentence, Message) and sentence.code.startswith("list."):
        sentence = sentence.parameters["first"]
    return sentence.code if isinstance(sentence, Message) else "error"


def add_handlers(app: FastAPI) -> None:
    """Let an application answer every error in this way."""

    def refused(request: Request, problem: AuditError) -> JSONResponse:
        headers = problem.headers if isinstance(problem, Problem) else None
        return answer(status_of(problem), problem.sentence, language_of(request), headers)

    def invalid(request: Request, problem: RequestValidationError) -> JSONResponse:
        if any(error["loc"][0] == "body" for error in problem.errors()) and not _is_json(request):
            return answer(415, message("api.not_json"), language_of(request))
        sentence = message("api.bad_request", mistakes=_mistakes(request, problem.errors(), problem.body))
        return answer(400, sentence, language_of(request))

    def absent(request: Request, problem: HTTPException) -> JSONResponse:
        if problem.status_code in (404, 405):
            headers = {"Allow": allow} if (allow := _methods(request)) and problem.status_code == 405 else None
            return answer(problem.status_code, message("api.no_route"), language_of(request), headers)
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


def _is_json(request: Request) -> bool:
    """Whether a body is said to be JSON; so it is where there is none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    empty = request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers
    return empty or kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _methods(request: Request) -> str:
    """What may be sent to an address, of all of its routes."""
    matching = [route for route in request.app.state.routes if route.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for route in matching for method in route.methods or ()}))


def _mistakes(request: Request, errors: Sequence[Any], body: Any) -> str:
    """What is wrong with a request's body, path and query: each mistake with where it is."""
    route = request.scope.get("route")
    field = getattr(route, "body_field", None)
    model = _model(field.field_info.annotation) if field is not None else None
    in_body = [error | {"loc": error["loc"][1:]} for error in errors if error["loc"][0] == "body"]
    found = [_elsewhere(route, error) for error in errors if error["loc"][0] != "body"]
    if in_body and model is not None and isinstance(body, Mapping):
        found += mistakes_of(in_body, model, body)
    elif in_body:
        reasons = {"json_invalid": message("api.bad_json"), "missing": message("api.no_body")}
        found.append(("body", reasons.get(in_body[0]["type"], message("api.no_object"))))
    listed = [message("api.bad_field", where=where, reason=reason) for where, reason in found[:10]]
    return joined("list.also", listed)


def _model(annotation: Any) -> Any:
    """The model of a body, which may be left out."""
    return next((kind for kind in (annotation, *get_args(annotation)) if isclass(kind) and kind is not NoneType), None)


def _elsewhere(route: Any, error: Any) -> tuple[str, str]:
    """A mistake in the path or the query: where, and what is allowed there."""
    place, name = error["loc"][:2]
    fields = route.dependant.path_params if place == "path" else route.dependant.query_params
    info = next(field.field_info for field in fields if field.alias == name)
    bounds = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return name, message("user_file.wrong", value=short(error["input"]), allowed=allowed_by(bounds))
