"""What every answer of the server tells the browser: in no frame, no script but the app's own, nothing sent elsewhere.

Texts are escaped where they are shown (`audit.ui.literal`); this stands behind it: were a text taken for HTML one day,
the browser would run nothing of it. Streamlit's page asks a host of Google's for pictures of its icons; that is
refused: who judges when is nobody else's business. Source: W3C, Content Security Policy Level 3.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def policy() -> str:
    """The policy for Streamlit's pages.

    `unsafe-eval` is Vega's, which compiles the expressions of charts; `blob:` is how Streamlit loads `held_keys.js`.
    The sums are those of the scripts in Streamlit's own page, worked out from the installed one.
    """
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    sums = " ".join(f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in _INLINE.findall(page))
    return (
        f"default-src 'self'; script-src 'self' blob: 'unsafe-eval' {sums}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def guarded(send: Send) -> Send:
    """Answers with these headers, where they have none of their own."""

    async def to_browser(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", policy())
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "same-origin")
        await send(message)

    return to_browser
