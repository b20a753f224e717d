"""What the server of `app.py` has beside Streamlit: the routes that log in and out, and the gate before the pages,
and what is done before the first visitor."""

import gc
import importlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config

from audit.ui import settings
from audit.ui.auth_routes import LoginRoutes
from audit.ui.gate import Gate, ConnectionLimits, Sockets
from audit.ui.settings import FLAGS

_NEEDED = ("runner.postScriptGC", "server.maxUploadSize", "server.maxWidgetStateSize")
"""Settings of `audit.ui.settings` that hold however the app was started, unless somebody has set them."""
_FILES = 65_536
"""Open files that this process may want: each page that is open needs some."""


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Before the first visitor, however the app was started: load the pages, keep garbage collection short, set limits.

    Modules stay for good: frozen, they are not looked through again whenever Python itself collects.
    """
    for name in _NEEDED:
        if config.get_where_defined(name) == config.ConfigOption.DEFAULT_DEFINITION:
            config.set_option(name, json.loads(FLAGS[name]), "audit")
    importlib.import_module("audit.ui.main")
    gc.collect()
    gc.freeze()
    yield


def _open_files() -> int:
    """How many files this process may have open, after asking for as many as the system lets it have: a usual limit is
    1,024, used up by 150 pages."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _FILES
    soft, hard = (
        _FILES if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    wanted = min(_FILES, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):  # some systems name a limit and refuse it
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return soft


def routes() -> list[Route]:
    """`/login` and `/logout`. Raises AuditError where a setting in the environment is none."""
    settings.login_limits()
    return LoginRoutes().routes()


def middleware() -> list[Middleware]:
    """The gate."""
    return [Middleware(Gate, sockets=Sockets(ConnectionLimits.within(_open_files())))]
