"""The API as an ASGI application, and its OpenAPI document: `python -m audit.api.application` prints it."""

import json
import sys
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.types import ASGIApp, Scope

import audit
from audit.api import PATH, adjudicating, judging, results, studies
from audit.api.limits import BODY, LARGE_BODY, MOST, Bounded
from audit.api.problems import RESPONSES, add_handlers, answer, language_of
from audit.api.service import Needs, Service
from audit.messages import message

_ROUTERS = (judging.router, adjudicating.router, studies.router, results.router)
_DESCRIPTION = f"""The functions of the app, for programs: send texts, run studies, judge, decide, fetch answers
and rates.

Send `Authorization: Bearer TOKEN` with each request; a token is made on the page *Account* or by `audit user token`,
and may do what its role may (`x-role`: the least that a route needs). At most {MOST} requests a minute with a token.
An error is `{{"error": {{"code": ..., "sentence": ...}}}}`, in English, or Chinese where `Accept-Language` begins with
`zh`; nothing was changed then. Names that are not known are refused, in bodies and in queries. Times are in UTC."""


def api(service: Service | None = None) -> FastAPI:
    """The application without its limits of bytes; without a service it can only be described."""
    app = FastAPI(
        title="audit",
        version=audit.__version__,
        description=_DESCRIPTION,
        docs_url=None,  # whose page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": PATH}],
        responses=RESPONSES,
        root_path_in_servers=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service, app.state.routes = service, routes()
    for route in routes():
        route.openapi_extra = {"x-role": least_role(route)}
    for router in _ROUTERS:
        app.include_router(router)
    add_handlers(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The document, without FastAPI's own answer to a bad request: ours is 400."""
    if app.openapi_schema is None:
        described = FastAPI.openapi(app)
        for operation in (each for path in described["paths"].values() for each in path.values()):
            operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            described["components"]["schemas"].pop(name, None)
    return app.openapi_schema or {}


def application(service: Service) -> ASGIApp:
    """The API with its limits, to be mounted at `PATH` of the app's server."""
    return Bounded(api(service), largest, _too_large)


def routes() -> list[APIRoute]:
    """Every route."""
    return [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def least_role(route: APIRoute) -> str:
    """The least role that a route needs. Raises LookupError for one that names none: no route is open to all."""
    for dependency in route.dependant.dependencies:
        if isinstance(dependency.call, Needs):
            return dependency.call.least
    raise LookupError(f"{route.path} names no role")


def largest(path: str) -> int:
    """How many bytes a request to this path may have."""
    return LARGE_BODY if "/corpora/" in path else BODY


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return api().openapi()


def _too_large(scope: Scope, most: int) -> ASGIApp:
    return answer(413, message("api.too_large", most=most), language_of(Request(scope)))


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
