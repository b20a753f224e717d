"""Two versions of a system compared in a notebook or a script."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from audit.library.study import Study
from audit.options import spread
from audit.reports.compare import Condition, compare_sections
from audit.reports.compare import compare as compare_versions
from audit.reports.document import Entry
from audit.reports.html import sections_in_notebook
from audit.reports.options import CompareOptions
from audit.reports.tables import to_text
from audit.store import open_store
from audit.user_models import checked_arguments


@spread
@checked_arguments
def compare(
    old: str,
    new: str,
    store: str | Path | Study | None = None,
    *,
    options: CompareOptions = CompareOptions(),
) -> "Comparison":
    """Compare two versions of a system on the groups that apply to both: what was fixed and what broke.

    `old` and `new` are systems (`name`, `name@version`, the beginning of that, or `#id`) of the database `store`, a
    file, URL or `Study`. Raises AuditError for a name that fits none or several, and where they share no group.

    >>> import audit
    >>> def old(text):
    ...     return "negative" if "bad" in text.lower() else "positive"
    >>> def new(text):
    ...     return "negative" if "bad" in text else "positive"
    >>> study = audit.run(["A good film.", "A bad film."], [old, new], ["MR3.1"], progress=False)
    >>> compared = compare("old", "new", study)
    >>> compared.all["groups"], compared.all["broke"], len(compared.fixed)
    (2, 1, 0)
    >>> compared.broke[["texts", "output_old", "output_new"]].values.tolist()
    [['A bad film.', 'negative', 'negative'], ['A BAD FILM.', 'negative', 'positive']]
    """
    engine = store.engine if isinstance(store, Study) else open_store(str(store or "audit.db"))
    return Comparison(compare_versions(old, new, engine, **vars(options)))


class Comparison:
    """What `compare` found. `document` is what `audit compare --json` says."""

    def __init__(self, document: Entry):
        self.document = document
        self.all = document["all"]
        """The entry over all relations."""

    def to_frame(self) -> pd.DataFrame:
        """A row a relation, and the last over all, where task, study and relation are missing.

        Columns: task, study, relation, groups, fixed, broke, informative, judged, vr_old, vr_new, and of kind observed
        and genuine KIND_rise, KIND_low, KIND_high, KIND_p; rates are fractions, a rise is missing where answers leave
        bounds alone, which KIND_low and KIND_high hold.
        """
        rows = []
        for entry in [*self.document["relations"], self.all]:
            row: dict[str, object] = {name: value for name, value in entry.items() if not isinstance(value, dict)}
            for kind, rise in (("observed", entry["observed"]), ("genuine", entry["genuine"])):
                row |= {f"{kind}_rise": rise["estimate"], f"{kind}_low": rise["low"], f"{kind}_high": rise["high"]}
                row[f"{kind}_p"] = rise["p"]
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def fixed(self) -> pd.DataFrame:
        """As `broke`, the groups that got better."""
        return _members(self.document["fixed"])

    @property
    def broke(self) -> pd.DataFrame:
        """The groups that got worse, the most instructive first: columns group (counts them from 0), relation, old,
        new, role, texts, output_old and output_new; a row a member."""
        return _members(self.document["broke"])

    def fails(self, condition: str) -> bool:
        """Whether a condition holds, such as "genuine rise > 2 points"; one that cannot be decided does not. Raises
        AuditError for no condition."""
        return Condition.read(condition).decide(self.document)[0] == "fails"

    def __str__(self) -> str:
        return to_text(list(compare_sections(self.document)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return sections_in_notebook(list(compare_sections(self.document)))


def _members(groups: Sequence[Entry]) -> pd.DataFrame:
    columns = ["group", "relation", "old", "new", "role", "texts", "output_old", "output_new"]
    rows = [
        (at, group["relation"], group["old"], group["new"], member["role"], " | ".join(member["texts"]), member["old"],
         member["new"])
        for at, group in enumerate(groups)
        for member in group["members"]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
