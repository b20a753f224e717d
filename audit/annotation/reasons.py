"""Why a question was settled as it was: the codes that an adjudicator chooses from, and what begins other reasons."""

from audit.errors import Refused

SPOT_CHECK, INSPECTION = "spot check", "inspection"
"""Begin the reason of every adjudication that is one; what its adjudicator wrote comes after it."""
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


def written_as_check(remark: str) -> str:
    """The reason of an adjudication that is a spot check, with a remark or none.

    >>> written_as_check(" two meanings "), written_as_check("")
    ('spot check: two meanings', 'spot check')
    """
    remark = remark.strip()
    return f"{SPOT_CHECK}: {remark}" if remark else SPOT_CHECK


def is_check(code: str | None, reason: str) -> bool:
    """Whether an adjudication with this code and reason is a spot check.

    >>> is_check(None, "spot check: two meanings"), is_check("slip", "spot check")
    (True, False)
    """
    return code is None and (reason == SPOT_CHECK or reason.startswith(f"{SPOT_CHECK}: "))


def remark_of(reason: str) -> str:
    """The remark in the reason of a spot check.

    >>> remark_of("spot check: two meanings"), remark_of("spot check")
    ('two meanings', '')
    """
    return reason.removeprefix(SPOT_CHECK).removeprefix(": ")
