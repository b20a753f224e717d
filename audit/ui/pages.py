"""The pages and who may see them. A new page is one module and one line in `PAGES`."""

from collections.abc import Callable
from dataclasses import dataclass

from audit.judging.accounts import ROLES
from audit.ui import accounts, adjudicate, annotate, browse, data, own_answers, project, quality, results, stale, words


@dataclass(frozen=True)
class Page:
    """A page: its name in the URL and in the texts (`menu.NAME`), its icon, and the roles whose menu has it.

    `home` is the role that begins on it. Only annotators begin with a question: looking at one keeps it from others.
    `behind`: managers come to it from another page, and their menu has it not.
    """

    name: str
    icon: str
    roles: tuple[str, ...]
    show: Callable[[], None]
    home: str | None = None
    wide: bool = False
    behind: bool = False

    def in_menu(self, role: str) -> bool:
        """Return whether this role's menu shows it."""
        return role in self.roles and not (self.behind and role == "manager")


PAGES = (
    Page("studies", ":material/science:", project.ROLES, project.page, home="manager"),
    Page("annotate", ":material/edit_note:", ROLES, annotate.page, home="annotator"),
    Page("answers", ":material/checklist:", ROLES, own_answers.page, behind=True),
    Page("adjudicate", ":material/gavel:", adjudicate.ROLES, adjudicate.page, "adjudicator", wide=True, behind=True),
    Page("results", ":material/bar_chart:", results.ROLES, results.page, wide=True),
    Page("quality", ":material/rule:", quality.ROLES, quality.page, wide=True),
    Page("accounts", ":material/group:", accounts.ROLES, accounts.page),
    Page("browse", ":material/search:", browse.ROLES, browse.page, wide=True),
    Page("data", ":material/inventory_2:", data.ROLES, data.page, wide=True),
    Page("words", ":material/text_fields:", words.ROLES, words.page, behind=True),
    Page("stale", ":material/update:", stale.ROLES, stale.page, behind=True),
    Page("account", ":material/person:", ROLES, accounts.account_page, behind=True),
)


def page_named(name: str) -> str:
    """The name of a page of ours, or nothing: whatever else stands in `next` leads to the first page.

    >>> page_named("results"), page_named("//evil.example"), page_named("https://evil.example")
    ('results', '', '')
    """
    return name if name in {page.name for page in PAGES} else ""


def pages_for(role: str) -> list[Page]:
    """The pages that this role may open."""
    return [page for page in PAGES if role in page.roles]
