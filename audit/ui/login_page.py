"""The pages that log in and change a password: HTML of ours, without any script, as the app looks."""

from functools import cache
from pathlib import Path
from typing import Any

from audit.resources import data_file
from audit.ui.flags import FLAGS
from audit.ui.language import LANGUAGES, text_in

LOGIN, PASSWORD = "login", "password"
"""Templates of data/ui."""
_WORDS = ("title", "what", "name", "password", "log_in", "provider", "or")
_PASSWORD_WORDS = ("title", "what", "name", "present", "new", "again", "change", "back")


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
    return _filled(
        LOGIN, code, words, root=root, nonce=nonce, form=form, name=name, next=next, problem=problem, provider=provider
    )


def render_password(
    code: str, *, root: str, nonce: str, form: str = "", name: str = "", problem: str = "", done: str = ""
) -> str:
    """The page that changes a password; without `form` it says `problem` or `done` alone."""
    words = {key: text_in(code, f"account.{key}") for key in _PASSWORD_WORDS}
    return _filled(
        PASSWORD, code, words, root=root, nonce=nonce, form=form, name=name, problem=problem, done=done, next=""
    )


def _filled(template: str, code: str, words: dict[str, str], **values: object) -> str:
    return str(
        _templates()
        .get_template(template)
        .render(
            code=code,
            languages=LANGUAGES,
            words=words,
            path=template,
            font=_font(),
            light=FLAGS["theme.light.primaryColor"],
            dark=FLAGS["theme.dark.primaryColor"],
            **values,
        )
    )


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def read(name: str) -> str:
        return data_file(f"ui/{name}.html.j2").read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _font() -> str | None:
    """Path of the letters that Streamlit serves to its own pages; their name has a hash. None: not found."""
    import streamlit

    static = Path(streamlit.__file__).parent / "static"
    found = sorted(static.glob("static/media/SourceSansVF-Upright*.woff2"))
    return found[0].relative_to(static).as_posix() if found else None
