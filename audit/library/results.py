"""Typed results: the rates of a report with their intervals, orders and pairs; comparisons; agreement."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, cast

import pandas as pd

from audit.errors import AuditError, UnknownName
from audit.exchange.rerank import rerank as _rerank
from audit.judging.accounts import stored_name
from audit.keys import fingerprint
from audit.messages import LANGUAGES
from audit.new_files import write_file
from audit.options import spread
from audit.reports.agreement import agreement_report, agreement_sections
from audit.reports.charts import LIGHT
from audit.reports.compare import compare_sections, decide
from audit.reports.document import Entry
from audit.reports.first_page import first_lines, verdict
from audit.reports.html import sections_in_html, to_html, to_notebook
from audit.reports.options import CoefficientOptions, StandingOptions
from audit.reports.ratings import RATING, Rated, Repeats, once
from audit.reports.sections import false_chart, notes_of, rates_chart, to_terminal
from audit.reports.tables import printed, to_text
from audit.reports.words import Estimate, Say, estimate, signature_line
from audit.user_models import checked_arguments

if TYPE_CHECKING:
    import altair as alt


class Row(SimpleNamespace):
    """An entry of a report with its names as attributes: rates are `Estimate`, lists are tuples."""

    def __str__(self) -> str:
        return str(vars(self).get("sentence") or repr(self))

    def to_frame(self) -> pd.DataFrame:
        """One row per system, in the order of the ranking of a relation."""
        return pd.DataFrame([vars(ranked) for ranked in self.ranking])


def _row(entry: Mapping[str, Any]) -> Row:
    return Row(**{"fs" if name == "fs_rate" else name: _value(value) for name, value in entry.items()})


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return estimate(value) if "value" in value else _row(value)
    return tuple(map(_value, value)) if isinstance(value, list) else value


def _flat(entry: Mapping[str, Any], *ends: str) -> dict[str, Any]:
    """Return the values of an entry; of an estimate its value, and these ends in columns of their own."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            flat |= {name: value["value"], **{f"{name}_{end}": value[end] for end in ends}}
        else:
            flat[name] = value
    return flat


class Relations(dict[str, Row]):
    """Results by relation. Where several corpora or tasks have a relation, its key is `relation · corpus`."""

    def __init__(self, rows: Sequence[Row]):
        names = [row.relation for row in rows]
        for name, row in zip(names, rows, strict=True):
            where = vars(row).get("corpus") or row.task
            self[name if names.count(name) == 1 else f"{name} · {where}"] = row

    def __missing__(self, name: str) -> Row:
        raise UnknownName("relation of this report", name, list(self))


class _Printed:
    """A result that is its JSON document, prints itself, and equals those with the same document."""

    def __init__(self, document: Any):
        self.document = document

    @property
    def signature(self) -> str:
        """One line that says what the numbers were made from, and how."""
        return signature_line(self.document["signature"])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.document == other.document

    __hash__ = None  # type: ignore[assignment]


class Report(_Printed):
    """Observed and genuine rates, orders before and after. `document` is that of `audit report --json`."""

    @cached_property
    def cells(self) -> tuple[Row, ...]:
        """One for each relation and system of each corpus."""
        return tuple(_row(cell) for cell in self.document["cells"])

    @cached_property
    def relations(self) -> Relations:
        """The order of the systems before and after the correction, by relation."""
        return Relations([_row(row) for row in self.document["relations"]])

    @property
    def decisions(self) -> tuple[Row, ...]:
        """Which system is best, for each task: `state` (sure, likely, open, level, looks, apart, unknown, one_system),
        the `systems` that are or may be best, a `sentence`, the `ranking` of all, and `accuracy` on texts with gold."""
        return tuple(_row(row | {"sentence": verdict(row)}) for row in self.document["decisions"])

    @property
    def decision(self) -> Row | None:
        """That of the only task, or of the first; None where nothing was run."""
        return next(iter(self.decisions), None)

    @property
    def fs(self) -> Estimate:
        """Share of all satisfied groups that are false, over the cells that have judged groups."""
        return estimate(self.document["overall"]["fs_rate"])

    @property
    def sr_genuine(self) -> Estimate:
        """Genuine satisfaction rate over the same cells."""
        return estimate(self.document["overall"]["sr_genuine"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of the numbers."""
        return tuple(notes_of(self.document, Say()))

    def to_frame(self) -> pd.DataFrame:
        """One row per cell: counts, `sr_observed`, `fs` and `sr_genuine` with `_low` and `_high`, and n."""
        names = ("corpus", "task", "relation", "system", "groups", "satisfied", "judged", "false", "waiting")
        rows = []
        for cell in self.document["cells"]:
            rates = {"sr_observed": cell["sr_observed"], "fs": cell["fs_rate"], "sr_genuine": cell["sr_genuine"]}
            row = {name: cell.get(name) for name in names} | _flat(rates, "low", "high")
            rows.append(row | {"n": cell["fs_rate"]["n"], "reason": cell["fs_rate"]["reason"]})
        return pd.DataFrame(rows)

    @property
    def slices(self) -> pd.DataFrame:
        """One row per slice and system of `report(slices=...)`, over all relations (`relation` None), then under each:
        counts, VR_o, R_FS, SR_g and VR_g with `_low` and `_high`, bounds (`_least`, `_most`), or the reason."""
        rows = [
            {"corpus": entry["corpus"], "by": entry["by"], **_flat(rates, "low", "high", "least", "most")}
            | {"reason": rates["vr_genuine"]["reason"]}
            for entry in self.document.get("slices") or []
            for rates in entry["rates"]
        ]
        return pd.DataFrame(rows)

    @property
    def worst_slices(self) -> pd.DataFrame:
        """One row per test of a slice against the rest of its sources, for observed and for genuine rates, the worst
        first: `difference` with its ends, `p`, `q` (Benjamini and Yekutieli), and whether it is among the `found`."""
        tested = self.document.get("slice_tests")
        return pd.DataFrame(tested["tests"] if tested else [])

    @checked_arguments
    def plot(self, chart: Literal["rates", "false"] = "rates", relation: str | None = None) -> "alt.Chart":
        """A chart of Altair's: `rates` of one relation (a key of `relations`; None: the first), `false` of all.

        Raises AuditError for another name, and where there is nothing to draw yet.
        """
        if not (names := list(self.relations)):
            raise AuditError("the report has no relation to plot")
        if relation is not None:
            self.relations[relation]  # or UnknownName
        row = self.document["relations"][names.index(relation or names[0])]
        cells = [cell for cell in self.document["cells"] if all(cell[of] == row[of] for of in ("task", "study"))]
        own = [cell for cell in cells if cell["relation"] == row["relation"]]
        figure = rates_chart(row, own, Say()) if chart == "rates" else false_chart(cells, Say())
        return cast("alt.Chart", figure.draw(LIGHT))

    @checked_arguments
    def to_html(self, path: str | Path, language: str = "en") -> None:
        """Write the report as one HTML file that needs nothing else, in English (`en`) or Chinese (`zh`).

        Raises BadFile, and UnknownName for another language.
        """
        if language not in LANGUAGES:
            raise UnknownName("language", language, list(LANGUAGES))
        write_file(Path(path), to_html(self.document, language))

    def to_json(self, path: str | Path) -> None:
        """Write the document as JSON. Raises BadFile."""
        write_file(Path(path), json.dumps(self.document, ensure_ascii=False, indent=1) + "\n")

    def __repr__(self) -> str:
        return "\n".join(first_lines(self.document))

    def __str__(self) -> str:
        return to_terminal(self.document)

    def _repr_html_(self) -> str:
        return to_notebook(self.document)


@spread
@checked_arguments
def rerank(totals: str | Path, *, confidence: float = 0.95, options: StandingOptions = StandingOptions()) -> Report:
    """Correct and rank totals that somebody else measured: a CSV, as `audit rerank` takes it. Raises AuditError."""
    return Report(_rerank(totals, confidence, **vars(options)))


class Agreement(_Printed):
    """How far annotators agree. `document` is that of the command `audit agreement`; `print` gives it as text."""

    def to_frame(self) -> pd.DataFrame:
        """One row per coefficient: name, value, interval, and the items and annotators that it rests on."""
        return pd.DataFrame(self.document["coefficients"])

    def __repr__(self) -> str:
        return "\n".join(printed(agreement_sections)(self.document))

    def _repr_html_(self) -> str:
        return f"{self.to_frame().to_html(index=False, border=0)}<p><small>{escape(self.signature)}</small></p>"


@spread
@checked_arguments
def agreement(
    ratings: pd.DataFrame,
    *,
    by: Literal["pair"] | None = None,
    repeats: Repeats | None = None,
    options: CoefficientOptions = CoefficientOptions(),
    confidence: float = 0.95,
) -> Agreement:
    """Coefficients of agreement with intervals, from a frame with the columns item, annotator, label.

    One row per rating, of two annotators at least; `repeats` says which counts where one rates an item again (None:
    refuse it). Raises AuditError.
    """
    if missing := [name for name in RATING if name not in ratings.columns]:
        raise AuditError(f"ratings has no column {missing[0]!r}; it needs {', '.join(RATING)}")
    empty = ratings[RATING].isna().any(axis=1).to_numpy()
    if empty.any():
        raise AuditError(f"ratings, row {empty.argmax() + 1}: a field is empty; leave the row out where nobody judged")
    frame = ratings[RATING].astype(str).reset_index(drop=True)
    frame["annotator"] = frame["annotator"].map(stored_name)
    origin: dict[str, object] = {"frame": fingerprint(map("\t".join, frame.itertuples(index=False, name=None)))}
    rated = once(Rated(frame.assign(line=range(1, len(frame) + 1)), None, (), origin), repeats, "ratings")
    return Agreement(agreement_report(rated, by=by, confidence=confidence, **vars(options)))


class Comparison(_Printed):
    """What `compare` found. `document` is what `audit compare --json` says."""

    @property
    def all(self) -> Entry:
        """The entry over all relations."""
        return cast(Entry, self.document["all"])

    def to_frame(self) -> pd.DataFrame:
        """A row a relation, and the last over all, where task, study and relation are missing.

        Columns: task, study, relation, groups, fixed, broke, informative, judged, vr_old, vr_new, and of kind observed
        and genuine KIND_rise, KIND_low, KIND_high, KIND_p; a rise is missing where answers leave bounds alone, which
        KIND_low and KIND_high hold.
        """
        rows = []
        for entry in [*self.document["relations"], self.all]:
            row: dict[str, object] = {name: value for name, value in entry.items() if not isinstance(value, dict)}
            for kind in ("observed", "genuine"):
                row[f"{kind}_rise"] = entry[kind]["estimate"]
                row |= {f"{kind}_{end}": entry[kind][end] for end in ("low", "high", "p")}
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
        return decide(condition, self.document)[0] == "fails"

    def __repr__(self) -> str:
        return to_text(list(compare_sections(self.document)))

    def _repr_html_(self) -> str:
        return sections_in_html(list(compare_sections(self.document)))


def _members(groups: Sequence[Entry]) -> pd.DataFrame:
    columns = ["group", "relation", "old", "new", "role", "texts", "output_old", "output_new"]
    rows = [
        (at, *(group[name] for name in columns[1:4]), of["role"], " | ".join(of["texts"]), of["old"], of["new"])
        for at, group in enumerate(groups)
        for of in group["members"]
    ]
    return pd.DataFrame(rows, columns=columns)
