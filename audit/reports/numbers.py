"""Numbers in tables of text."""

from audit.reports.words import UNKNOWN


def number(value: float | None, digits: int = 4) -> str:
    """With so many digits behind the point, or the sign for what is not known.

    >>> number(0.5), number(2, 1), number(None)
    ('0.5000', '2.0', '–')
    """
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def p_number(p: float | None) -> str:
    """A p to four digits, never 0.

    >>> p_number(0.00561), p_number(1e-9), p_number(None)
    ('0.0056', '< 0.0001', '–')
    """
    return "< 0.0001" if p is not None and p < 0.0001 else number(p)
