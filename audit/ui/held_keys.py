"""A key that is held down, and a second click of a double click, count once.

Streamlit's shortcuts fire on every keydown, the repeats of a held key included, and those would judge questions that
nobody has read. The browser knows which events are repeats, so they are dropped there; the server's own guard
(`annotate.LEAST`) stands behind it.
"""

from functools import cache
from typing import Any

import streamlit as st

from audit.resources import data_file


def ignore_held_keys() -> None:
    """Drop repeated keydowns and clicks of the judging buttons on this page."""
    _component()(key="held-keys")


@cache
def _component() -> Any:
    script = data_file("ui/held_keys.js").read_text(encoding="utf-8")
    return st.components.v2.component("audit_held_keys", js=script)
