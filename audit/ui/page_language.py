"""The language of the page itself, for screen readers and for the choice of Chinese letters.

Streamlit's page says English whatever stands on it, and no function of its changes that.
"""

from functools import cache
from typing import Any

import streamlit as st

from audit.resources import data_file
from audit.ui.language import language


def say_language() -> None:
    """Let the page say the language of this session."""
    _component()(key="page-language", data={"language": {"zh": "zh-Hans"}.get(language(), language())})


@cache
def _component() -> Any:
    script = data_file("ui/page_language.js").read_text(encoding="utf-8")
    return st.components.v2.component("audit_page_language", js=script)
