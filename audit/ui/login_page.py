"""The page that logs in: HTML of ours, without any script, in the colours and letters of the app."""

from functools import cache
from pathlib import Path
from typing import Any

from audit.resources import data_file
from audit.ui.flags import FLAGS
from audit.ui.language import LANGUAGES, text_in

TEMPLATE = "ui/login.html.j2"
_WORDS = ("title", "what", "name", "password", "log_in", "provider", "or")


def render(
    code: str,
    *,
    root: str,
    nonce: str,
    form: str,
    name: str = "",
    next: str = "",
    problem: str = "",
    provider: bool = False,
) -> str:
    """The page in the language `code`.

    `form` is the hidden token of the form, `name` what was typed before, `next` the page that was asked for, `problem`
    a sentence about what went wrong. Every text is escaped by the template engine.
    """
    words = {key: text_in(code, f"welcome.{key}") for key in _WORDS}
    return _template().render(
        code=code,
        languages=LANGUAGES,
        words=words,
        root=root,
        nonce=nonce,
        form=form,
        name=name,
        next=next,
        problem=problem,
        provider=provider,
        font=_font(),
        light=FLAGS["theme.light.primaryColor"],
        dark=FLAGS["theme.dark.primaryColor"],
    )


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(data_file(TEMPLATE).read_text(encoding="utf-8"))


@cache
def _font() -> str | None:
    """Path of the letters that Streamlit serves to its own pages; their name has a hash. None: not found."""
    import streamlit

    static = Path(streamlit.__file__).parent / "static"
    found = sorted(static.glob("static/media/SourceSansVF-Upright*.woff2"))
    return found[0].relative_to(static).as_posix() if found else None
