"""Lists of tools for several languages, as in `en=link-grammar,zh=hanlp:models/zh`."""

from collections.abc import Iterator

from audit.errors import AuditError


def entries(spec: str, kind: str) -> Iterator[tuple[str, str]]:
    """The entries of a list: the language that one is kept to, or an empty string for any, and the name of the tool.

    Raises AuditError for an entry without a tool; `kind` says in its message what is missing.

    >>> list(entries("en=ngram, fill-mask:models/a=b", "proposer"))
    [('en', 'ngram'), ('', 'fill-mask:models/a=b')]
    """
    for entry in spec.split(","):
        language, equals, name = entry.strip().partition("=")
        if not equals or ":" in language or "/" in language:
            language, name = "", entry.strip()
        if not name:
            raise AuditError(f"{spec!r} has an entry without a {kind}; write them as NAME,NAME or en=NAME,es=NAME")
        yield language, name
