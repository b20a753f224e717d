"""The pages and who may see them. A new page is one module and one line in `PLACES`."""

from collections.abc import Callable
from dataclasses import dataclass

from audit.annotation.accounts import ROLES
from audit.ui import accounts, adjudicate, annotate, browse, dashboard, log, quality, results, stale, studies


@dataclass(frozen=True)
class Place:
    """A page: its name in the URL and in the texts (`menu.NAME`), its icon, and the roles whose menu has it.

    `home` is the role that begins on it. Only annotators begin with a question: looking at one keeps it from others.
    """

    name: str
    icon: str
    roles: tuple[str, ...]
    show: Callable[[], None]
    home: str | None = None
    wide: bool = False


PLACES = (
    Place("annotate", ":material/edit_note:", ROLES, annotate.page, home="annotator"),
    Place("adjudicate", ":material/gavel:", adjudicate.ROLES, adjudicate.page, home="adjudicator", wide=True),
    Place("browse", ":material/search:", browse.ROLES, browse.page, wide=True),
    Place("dashboard", ":material/dashboard:", dashboard.ROLES, dashboard.page, home="manager", wide=True),
    Place("results", ":material/bar_chart:", results.ROLES, results.page, wide=True),
    Place("quality", ":material/rule:", quality.ROLES, quality.page, wide=True),
    Place("studies", ":material/science:", studies.ROLES, studies.page),
    Place("stale", ":material/update:", stale.ROLES, stale.page),
    Place("accounts", ":material/group:", accounts.ROLES, accounts.page),
    Place("log", ":material/history:", log.ROLES, log.page, wide=True),
    Place("account", ":material/person:", ROLES, accounts.account_page),
)


def place_named(name: str) -> str:
    """The name of a page of ours, or nothing: whatever else stands in `next` leads to the first page.

    >>> place_named("results"), place_named("//evil.example"), place_named("https://evil.example")
    ('results', '', '')
    """
    return name if name in {place.name for place in PLACES} else ""


def places_for(role: str) -> list[Place]:
    """The pages in the menu of this role."""
    return [place for place in PLACES if role in place.roles]
