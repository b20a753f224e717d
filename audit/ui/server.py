"""What the server of `app.py` adds to Streamlit: the routes that log in and out, the API, the gate before the
pages, and what is done before the first visitor."""

import gc
import importlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp
from streamlit import config
from streamlit.config_option import ConfigOption

from audit.api import PATH
from audit.errors import NotInstalled, installed_extras
from audit.relations.registry import RELATIONS
from audit.ui import background_cache, session, settings, sign_in_pages
from audit.ui.gate import Gate
from audit.ui.settings import FLAGS

LOG = logging.getLogger(__name__)
_NEEDED = ("runner.postScriptGC", "server.maxUploadSize", "server.maxWidgetStateSize")
"""Settings of `audit.ui.settings` that apply however the app was started, unless they were set."""
_FILES = 65_536
"""Open files that this process may want: each page that is open needs some."""


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Before the first visitor, however the app was started: load the pages, keep garbage collection short, set limits.

    The packs are loaded, too: otherwise the first answer on which people agree would load them, for a third of a second
    in a transaction that keeps everybody else from writing.
    Modules stay for good: frozen, they are not looked through again whenever Python itself collects.
    """
    for name in _NEEDED:
        if config.get_where_defined(name) == ConfigOption.DEFAULT_DEFINITION:
            config.set_option(name, json.loads(FLAGS[name]), "audit")
    importlib.import_module("audit.ui.main")
    RELATIONS.entries()
    _raise_open_files()
    gc.collect()
    gc.freeze()
    yield


def _raise_open_files() -> None:
    """Ask for as many open files as the system allows: a usual limit is 1,024, used up by 150 pages."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no limit; some systems name one and refuse it
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        target = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < target:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def routes() -> list[BaseRoute]:
    """Return the pages that log in, and the API. Raises AuditError for an invalid setting in the environment."""
    settings.login_lasts()
    return [*sign_in_pages.routes(), Mount(f"{settings.root()}{PATH}", api())]


def api() -> ASGIApp:
    """The JSON API; where FastAPI is not installed, an answer that says how it is, and a line in the server's log."""
    try:
        with installed_extras():
            from audit.api.application import Service, application
    except NotInstalled as problem:
        sentence = f"the API is not installed on this server: {problem.sentence}"
        LOG.warning("%s", sentence)
        return JSONResponse({"error": {"code": "not_installed", "sentence": sentence}}, 501)
    return application(Service(session.engine, session.database_url, background_cache.computed_now))


def middleware() -> list[Middleware]:
    """Return the gate, as Starlette's middleware."""
    return [Middleware(Gate)]
