"""What the server of `app.py` has beside Streamlit: the routes that log in and out, and the gate before the pages."""

from starlette.middleware import Middleware
from starlette.routing import Route

from audit.ui import settings
from audit.ui.doors import Doors
from audit.ui.gate import Gate


def routes() -> list[Route]:
    """`/login` and `/logout`. Raises AuditError where a setting in the environment is none."""
    settings.limits()
    return Doors().routes()


def middleware() -> list[Middleware]:
    """The gate."""
    return [Middleware(Gate)]
