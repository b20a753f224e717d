"""Chinese family names: the list is data/lexicons/chinese_surnames.txt, in simplified characters."""

from functools import cache

from audit.resources import data_file


def surname(text: str) -> str | None:
    """The family name that a text begins with, the longest there is; None where it begins with none.

    It says nothing about whether the text is a name: ask the tagger (`nr`). Raises AuditError where the list is
    missing from the installation.

    >>> surname("江泽民"), surname("欧阳修"), surname("天气")
    ('江', '欧阳', None)
    """
    names = surnames()
    return next((text[:size] for size in range(_longest(), 0, -1) if text[:size] in names), None)


@cache
def surnames() -> frozenset[str]:
    """Every family name of the list.

    >>> {"王", "诸葛"} <= surnames()
    True
    """
    found: set[str] = set()
    for line in data_file("lexicons/chinese_surnames.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            found.update(line.split() if " " in line else line)
    return frozenset(found)


@cache
def _longest() -> int:
    return max(map(len, surnames()))
