"""What the server of `app.py` has beside Streamlit: the routes that log in and out, and the gate before the pages,
and what is done before the first visitor."""

import gc
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config

from audit.ui import settings
from audit.ui.doors import Doors
from audit.ui.gate import Gate

_COLLECT = "runner.postScriptGC"


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Before the first visitor, however the app was started: load the pages, and keep garbage collection short.

    Streamlit collects all garbage after every run of a script, 100 ms of a core for each click, unless its (hidden)
    option says otherwise; whoever has set it keeps what was set. Modules stay for good: frozen, they are not looked
    through again whenever Python itself collects.
    """
    if config.get_where_defined(_COLLECT) == config.ConfigOption.DEFAULT_DEFINITION:
        config.set_option(_COLLECT, False, "audit")
    importlib.import_module("audit.ui.main")
    gc.collect()
    gc.freeze()
    yield


def routes() -> list[Route]:
    """`/login` and `/logout`. Raises AuditError where a setting in the environment is none."""
    settings.limits()
    return Doors().routes()


def middleware() -> list[Middleware]:
    """The gate."""
    return [Middleware(Gate)]
