"""Parsers and proposers of words by name, those of all languages in one list: `en=benepar:benepar_en3,shallow`."""

from functools import cache
from typing import Any

from audit.errors import AuditError
from audit.resources import Makers, made

ANY = ("*",)
"""Languages of a tool that is asked about any."""
PARSERS: Makers = {
    "spacy": ("audit.packs.translation.parsers:SpacyParser", ""),
    "shallow": ("audit.packs.translation.parsers:Shallow", ""),
    "hanlp": ("audit.packs.translation.parsers:HanlpParser", "MODEL"),
    "benepar": ("audit.packs.translation.parsers:BeneparParser", "MODEL"),
}
PROPOSERS: Makers = {
    "ngram": ("audit.packs.translation.proposers:NgramProposer", "[FILE]"),
    "fill-mask": ("audit.packs.translation.proposers:FillMask", "MODEL"),
}
KINDS = {"parser": (PARSERS, "spacy,shallow"), "proposer": (PROPOSERS, "ngram")}
"""The makers of a kind of tools, and the list where nobody wrote one: they need no model but spaCy's small one."""


@cache
def get_tool(kind: str, name: str) -> Any:
    """Return the tool of this name, made once in a process; it loads nothing yet. Raises UnknownName."""
    return made(kind, name, KINDS[kind][0])


def tools_in(kind: str, spec: str = "", language: str = "") -> list[Any]:
    """Return the tools of a list, or those of them that know a language; an entry may be kept to one.

    Raises UnknownName, and AuditError for an entry without a name.

    >>> [proposer.name for proposer in tools_in("proposer", "es=ngram:spanish.txt,ngram", "en")]
    ['ngram(film reviews)']
    >>> [parser.name for parser in tools_in("parser", "", "en")], tools_in("parser", "", "xx")
    (['spacy', 'shallow'], [])
    """
    tools = []
    for entry in (spec or KINDS[kind][1]).split(","):
        kept_to, equals, name = entry.strip().partition("=")
        if not equals or ":" in kept_to or "/" in kept_to:
            kept_to, name = "", entry.strip()
        if not name:
            raise AuditError(f"{spec!r} has an entry without a {kind}; write them as NAME,NAME or en=NAME,es=NAME")
        tool = get_tool(kind, name.strip())
        if not language or (kept_to in ("", language) and (tool.languages == ANY or language in tool.languages)):
            tools.append(tool)
    return tools
