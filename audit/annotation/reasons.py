"""Why people disagreed about a question: the list of codes that an adjudicator chooses from."""

from audit.errors import Refused

OTHER = "other"
"""The code that says nothing by itself: it needs a written reason."""
REASONS: dict[str, str] = {
    "guideline_unclear": "the guideline is unclear",
    "slip": "a slip",
    "ambiguous_text": "the text is ambiguous",
    "missing_context": "context is missing",
    "figurative": "irony or figurative speech",
    "mixed_opinion": "a mixed opinion",
    "language": "the language was misunderstood",
    OTHER: "another reason",
}
"""Code -> what it says, in English; the app has its own words (`reason.CODE` of data/ui). A new code is a line here and
one in each language there."""


def check_reason(code: str | None, written: str) -> None:
    """Raises Refused for a code that is not in the list, and where neither a code nor a text says why.

    >>> check_reason("slip", "")
    >>> check_reason("other", " ")
    Traceback (most recent call last):
    audit.errors.Refused: say why: the reason is kept with the answer
    """
    if code is not None and code not in REASONS:
        raise Refused(f"reason {code!r} is not one of {', '.join(REASONS)}")
    if code in (None, OTHER) and not written.strip():
        raise Refused("say why: the reason is kept with the answer")
