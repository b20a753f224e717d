"""Words as jieba finds them: what several systems, and packages that they stand on, use."""

import logging
import warnings
from functools import cache
from typing import Any

from audit.systems.installed import missing


def needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("jieba", 'pip install "audit[chinese]"')


@cache
def load() -> Any:
    """jieba with its dictionary (1 s), which says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba asks for pkg_resources, which warns that it will go
        import jieba
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return jieba


def words(text: str) -> list[str]:
    """Words of a text in lower case; those without a letter or digit are none.

    >>> words("我在北京工作，IT 行业。")
    ['我', '在', '北京', '工作', 'it', '行业']
    """
    return [word.lower() for word in load().lcut(text) if any(map(str.isalnum, word))]
