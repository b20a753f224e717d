"""Systems that tell customers' tickets apart: the generic baselines with the reserved tickets and a list of words."""

from audit.packs.english.hand_written import training_file
from audit.resources import data_file
from audit.systems.trained import Centroid, Keywords, Logreg

_ENGLISH = ("en",)


def ticket_keywords() -> Keywords:
    """The system `ticket-keywords`: `keywords` with words that we wrote."""
    return Keywords(data_file("keywords/support_tickets.toml"), "ticket-keywords", _ENGLISH)


def ticket_logreg() -> Logreg:
    """The system `ticket-logreg`: `logreg` of the reserved tickets."""
    return Logreg(training_file("support-tickets"), "ticket-logreg", _ENGLISH)


def ticket_centroid() -> Centroid:
    """The system `ticket-centroid`: `centroid` of the reserved tickets."""
    return Centroid(training_file("support-tickets"), "ticket-centroid", _ENGLISH)
