"""What a report says, section by section: once for terminal, HTML, notebook and app.

A section is one function: it takes the report's document and the words of a language, and yields `Section`s of
sentences, tables of values, and charts. It is in the report as soon as it is in `SECTIONS`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from audit.messages import ENGLISH, catalogue
from audit.relations import find_relation
from audit.relations.composition import summary_from
from audit.relations.registry import base_name
from audit.reports import charts, first_page
from audit.reports.document import Entry
from audit.reports.first_page import chart_key, confidence_of, ranks_text
from audit.reports.judges import judge_section
from audit.reports.tables import NARROWEST, WIDTH, Chart, Marked, Section, Table, Verbatim, table_of, to_text, wrap
from audit.reports.validity import validity_parts
from audit.reports.words import (
    PERCENT,
    UNKNOWN,
    Estimate,
    Say,
    capital,
    chance,
    count,
    estimate,
    family_name,
    p_number,
    p_text,
    percent,
    signature_line,
    task_name,
)
from audit.statistics.orders import TIED
from audit.studies.versions import from_to
from audit.tasks import base_of, in_text
from audit.text.differences import AFTER, Kind, differences

Sections = Iterator[Section]
Fields = Mapping[str, Any]
LEAST_SHOWN = 10
"""Judged groups from which on a heat map shows a rate: one of fewer may be anything."""
LISTED_SLICES = 10
"""The most slices that are listed as worst."""
_CONTEXT = 100
"""Letters of an unchanged passage of an example that are shown at each of its ends."""
_COLUMNS = (
    "judged", "false", "sr_observed", "fs_rate", "sr_genuine", "ranks", "p_best", "groups", "satisfied", "violated",
    "inapplicable", "errors", "rejected", "drawn", "open", "waiting",
)  # fmt: skip
"""Columns of the cells of a relation; those are left out in which no cell of the report has anything."""


def to_terminal(report: Entry, full: bool = False, width: int | None = None) -> str:
    """Return what a terminal shows of a report: the first lines, a sentence a line; with `full` all sections, too."""
    lines, more = first_page.first_lines(report), "All tables, notes and the signature: the same command with --full."
    if report["cells"] and not full:
        lines.append(more)
    text = "\n".join(line for sentence in lines for line in wrap(sentence, max(width or WIDTH, NARROWEST)))
    return text + "\n\n" + to_text(sections(report), width=width) if full else text


def sections(report: Entry, language: str = ENGLISH) -> list[Section]:
    """Return everything that a report says."""
    say = Say(language)
    return [section for make in SECTIONS for section in make(report, say)]


# Names, and columns that are made of several values of an entry.


def _place(report: Entry, entry: Fields, say: Say) -> str:
    """Return what a cell or relation of a report belongs to: its task, and its corpus where that is known.

    The study is named where there is no corpus, or where several studies of the report share it.
    """
    task, corpus, study = entry["task"], entry["corpus"], entry["study"]
    alike = {other["study"] for other in report["relations"] if (other["task"], other["corpus"]) == (task, corpus)}
    parts = [task_name(task, say.language), *([corpus] if corpus is not None else [])]
    if study is not None and (corpus is None or len(alike) > 1):
        parts.append(say("rate.study", study=study))
    return " · ".join(parts)


def _titled(report: Entry, entry: Fields, title: str, say: Say) -> str:
    """Return a heading with the study that it is about, where the report has several."""
    several = len(report["violations"]) > 1
    return say("rate.titled", title=title, name=_place(report, entry, say)) if several else title


def _rollup_name(report: Entry, entry: Fields, say: Say) -> str:
    name = str(entry["name"])
    if entry["by"] in ("overall", "family"):
        name = say("account.all_languages") if entry["by"] == "overall" else family_name(name, say.language)
    several = len({relation["task"] for relation in report["relations"]}) > 1
    return f"{name} ({task_name(entry['task'], say.language)})" if several and entry["task"] else name


def _order(relation: Entry, when: str) -> str:
    """Return the order of systems, best first, with `=` between tied ones; `when` is `observed` or `genuine`.

    Where a genuine order is known of some systems only, the observed one names the same systems.
    """
    systems = relation[f"order_{when}"]
    if when == "observed" and relation["order_genuine"]:
        systems = [system for system in systems if system in relation["order_genuine"]]
    rates = {entry["system"]: entry[f"sr_{when}"] for entry in relation["ranking"]}
    # Systems that were only compared have no rates, but differences.
    level = {frozenset((pair["system"], pair["other"])): pair["difference"] for pair in relation["pairs"]}
    shown = "".join(systems[:1])
    for before, after in pairwise(systems):
        both = rates[before] is not None and rates[after] is not None
        gap = rates[before] - rates[after] if both else abs(level.get(frozenset((before, after)), 1.0) or 0.0)
        shown += (" = " if gap <= TIED else " > ") + after
    return shown or UNKNOWN


def _change(relation: Entry) -> str:
    """Return what correction does to one relation: a code of `[change]` in the catalogue."""
    if relation["best_changes_sure"]:
        return "sure"
    if len(relation["order_observed"]) < 2:
        return "one_system" if relation["order_observed"] else "nothing"
    if not relation["best_genuine"]:
        return "unknown"
    if relation["best_changes"] or relation["order_changes"]:
        return "looks" if relation["best_changes"] else "order"
    return "none_yet" if set(relation["order_genuine"]) < set(relation["order_observed"]) else "none"


def _difference(entry: Fields) -> Estimate:
    return Estimate(entry["difference"], entry["low"], entry["high"], reason=entry.get("reason"))


_MADE: Mapping[str, Callable[[Any, Say], Any]] = {
    "by": lambda one, say: say(f"level.{one['by']}"),
    "reason": lambda one, say: one["sr_genuine"]["reason"],
    "order_observed": lambda one, say: _order(one, "observed"),
    "order_genuine": lambda one, say: _order(one, "genuine"),
    "change": lambda one, say: say(f"change.{_change(one)}"),
    "ranks": lambda one, say: ranks_text(one),
    "p_best": lambda one, say: chance(one["p_best"]),
    "better": lambda one, say: one["system"],
    "points": lambda one, say: _difference(one),
    "difference": lambda one, say: _difference(one),
    "p_holm": lambda one, say: p_text(one["p_holm"]).removeprefix("=\N{NO-BREAK SPACE}"),
    "apart": lambda one, say: say("pairs.yes" if one["apart"] else "pairs.no"),
    "judged_of_deciding": lambda one, say: say.of(one["judged"], one["informative"]),
    "q": lambda one, say: p_number(one["q"]),
    "rate": lambda one, say: "VR_o" if one["rate"] == "observed" else "VR_g",
    "calls": lambda one, say: "–".join(dict.fromkeys(map(count, (one["least_calls"], one["most_calls"])))),
    "contradicted": lambda one, say: say.of(one["contradicted"], one["inputs"]),
    "share_differ": lambda one, say: one["share"],
    "unstable": lambda one, say: one["share"],
    "always_violated": lambda one, say: say.of(one["always_violated"], one["violated"]),
    "named": lambda one, say: say.of(one["named"], one["false"]),
}
"""What stands in a column that is no value of its entries."""


_table = partial(table_of, by=_MADE)


# What a reader must know beside the numbers.


def notes(report: Entry, say: Say) -> Sections:
    if lines := notes_of(report, say):
        yield Section(say("decision.notes"), lines)


def notes_of(report: Entry, say: Say) -> list[str]:
    """Return the signature's notes, then what the data themselves call for."""
    lines, totals = [say.said(note) for note in report["signature"].get("notes") or []], report["overall"]
    if any(entry["sr_genuine"]["least"] is not None for entry in report["rollups"]):
        lines.append(say("note.bounds_together"))
    checked = [cell for cell in report["cells"] if cell["sr_observed"] is not None]
    unestimated = sum(cell["sr_genuine"]["value"] is None for cell in checked)
    bounded = any(cell["fs_rate"]["least"] is not None for cell in report["cells"])
    if unestimated and (unestimated < totals["cells"] or bounded):
        lines.append(say("note.unestimated", part=unestimated, count=totals["cells"]))
    elif unestimated:
        lines.append(say("note.no_genuine"))
    # While no carry error is measured, the signature's own note says how many of its questions wait.
    if totals.get("audits_waiting") and any(
        relation["carry"] and relation["carry"]["error"]["n"] for relation in report["relations"]
    ):
        lines.append(say("note.audits_waiting", number=count(totals["audits_waiting"])))
    counts = (("note.not_checked", totals["errors"]), ("note.rejected", totals.get("rejected")))
    return lines + [say(code, count=number) for code, number in counts if number]


# Plans, and comparisons that were named before the first answer.


def plans(report: Entry, say: Say) -> Sections:
    if lines := [*first_page.primary_lines(report, say), *plan_lines(report, say)]:
        yield Section(say("html.plans"), lines)


def plan_lines(report: Entry, say: Say) -> list[str]:
    """Return the plans in sentences: when each was frozen, what was changed after, what was done otherwise."""
    lines = []
    for entry in report.get("plan") or ():
        how, everything, before = say("plan.not_frozen", version=entry["version"]), entry["judgements"], None
        if entry["frozen_at"] is not None:
            run, before = "before" if entry["frozen_at"] <= entry["run_began"] else "after", entry["judgements_before"]
            code = "after_some" if everything and before else "before_all" if everything else "nothing_judged"
            judged = say(f"plan.{code}", before=count(before), whole=count(everything), count=everything)
            how = say("plan.frozen", date=entry["frozen_at"][:10], run=say(f"plan.{run}_run"), judged=judged)
        lines.append(say("plan.line", study=entry["study"], plan=entry["plan"], how=how))
        changed, other = (
            [
                (changed_key, f"{changed_key['key']} {from_to(changed_key[was], changed_key[now], say.language)}")
                for changed_key in entry[kind]
            ]
            for kind, was, now in (("changed", "before", "after"), ("deviates", "planned", "found"))
        )
        if changed:
            changes = (f"{change} ({changed_key['at'][:10]})" for changed_key, change in changed)
            lines.append(say("plan.changed", changes=say.list(changes, "semicolon")))
        if other:
            code = "plan.otherwise_frozen" if entry["frozen_at"] else "plan.otherwise"
            lines.append(say(code, deviations=say.list((change for _, change in other), "semicolon")))
    return lines


# Relations: who was best, who is best, and the cells.


def relations(report: Entry, say: Say) -> Sections:
    """Yield a section a study, with one for each of its relations in it."""
    ranked = any(part["p_best"] is not None for relation in report["relations"] for part in relation["ranking"])
    kept = {"sr_observed", "fs_rate", "sr_genuine", *(["ranks", "p_best"] if ranked else [])}
    columns = [name for name in _COLUMNS if name in kept or any(cell.get(name) for cell in report["cells"])]
    for task, study in dict.fromkeys((part["task"], part["study"]) for part in report["relations"]):
        own, cells = (
            [part for part in report[name] if (part["task"], part["study"]) == (task, study)]
            for name in ("relations", "cells")
        )
        orders = _table(say, own, "relation", "order_observed", "order_genuine", "change")
        parts = [
            _relation(report, part, [cell for cell in cells if cell["relation"] == part["relation"]], columns, say)
            for part in own
        ]
        yield Section(_place(report, own[0], say), [say("html.orders_what"), orders, false_chart(cells, say), *parts])


def false_chart(cells: Iterable[Entry], say: Say) -> Chart:
    """Return R_FS of the cells of a study, a row a relation, a column a system."""
    rows, key = [], say("html.heat_what", least=LEAST_SHOWN)
    for cell in cells:
        fs, judged = estimate(cell["fs_rate"]), cell["judged"]
        few = fs.value is not None and judged is not None and judged < LEAST_SHOWN
        is_rated, why = fs.value is not None and not few, say.said(fs.reason)
        row = {"row": cell["relation"], "column": cell["system"], "share": fs.value if is_rated else None}
        row |= {"text": percent(row["share"]), "note": "" if judged is None else f"n {judged:,}"}
        row["sure"] = 1.0 if fs.low is None or fs.high is None else 1.0 - (fs.high - fs.low)
        row["tip"] = fs.text(say.language) if is_rated else say("chart.few", least=LEAST_SHOWN) if few else why
        rows.append(row)
    return Chart(lambda palette: charts.heat(rows, palette.false, palette), say("chart.false_alt"), key)


def _relation(report: Entry, relation: Entry, cells: Sequence[Entry], columns: Sequence[str], say: Say) -> Section:
    places = {ranked["system"]: ranked for ranked in relation["ranking"]}
    orders = {"before": _order(relation, "observed"), "after": _order(relation, "genuine")}
    was = say("order.was_is", change=say(f"change.{_change(relation)}"), **orders)
    rates = _table(say, [places[cell["system"]] | cell for cell in cells], "system", *columns)
    parts: list[Any] = [rates, rates_chart(relation, cells, say), capital(was)]
    if (carry := relation.get("carry")) and carry["error"]["n"]:
        wrong = {"wrong": count(carry["wrong"]), "count": carry["error"]["n"]}
        parts.append(capital(say("audits.carry", error=say.rate(carry["error"]), **wrong)))
    if pairs := _oriented(relation["pairs"]):
        heads = ("better", "other", "points", "p_holm", "apart", "judged_of_deciding")
        parts.append(_table(say, pairs, *heads, names=2))
    name, summary = base_name(relation["relation"]), ""
    if "file" not in report["signature"] and (registered := find_relation(relation["task"], name)):
        # Of totals somebody else's MR1.1 may be another relation than ours.
        summary = summary_from(catalogue(say.language), relation["task"], name, registered.summary)
    return Section(relation["relation"], parts, summary, relation["best_changes_sure"])


def rates_chart(relation: Entry, cells: Iterable[Entry], say: Say) -> Chart:
    """Return reported and genuine satisfaction under a relation, the genuinely best system on top."""
    by_name = {cell["system"]: cell for cell in cells}
    systems = dict.fromkeys([*relation["order_genuine"], *relation["order_observed"], *by_name])
    rows = [_bar(name, by_name[name], "sr") for name in systems if name in by_name]
    return _bars(rows, say("chart.rates_alt", relation=relation["relation"]), chart_key(rows, say))


def _bars(rows: Sequence[Fields], alt: str, key: str) -> Chart:
    return Chart(partial(charts.before_after, rows), alt, key)


def _bar(name: str, rates: Fields, kind: str, **more: Any) -> Entry:
    """Return a row of `charts.before_after`: of satisfaction (`sr`) or violation (`vr`) rates."""
    ends: Fields = rates[f"{kind}_genuine"]
    return {"name": name, "observed": _value(rates[f"{kind}_observed"]), "genuine": ends["value"], **ends} | more


def _value(rate: Any) -> Any:
    return rate["value"] if isinstance(rate, Mapping) else rate


def _oriented(pairs: Iterable[Entry]) -> list[Entry]:
    """Return the pairs whose difference is known, the better system first, the surest difference first."""
    turned = []
    for pair in pairs:
        if pair["difference"] is not None and pair["low"] is not None:
            swapped = {"system": pair["other"], "other": pair["system"], "difference": -pair["difference"]}
            swapped |= {"low": -pair["high"], "high": -pair["low"]}
            turned.append(pair | swapped if pair["difference"] < 0 else pair)
    # Differences without error have no p and come first.
    return sorted(
        turned,
        key=lambda turned_pair: (
            turned_pair["p_holm"] or 0.0,
            -turned_pair["difference"],
            turned_pair["system"],
            turned_pair["other"],
        ),
    )


# All together, and violation rates.


def _breaks(kinds: Sequence[str]) -> frozenset[int]:
    return frozenset(at for at in range(1, len(kinds)) if kinds[at] not in (kinds[at - 1], "estimated"))


def rollups(report: Entry, say: Say) -> Sections:
    """Yield the rates over cells together: by relation, system, family, and all."""
    if not (entries := report["rollups"]):
        return
    columns = ["by", "name", "sr_observed", "fs_rate", "sr_genuine"]
    columns += ["reason"] if any(entry["sr_genuine"]["reason"] for entry in entries) else []
    together = _table(say, entries, *columns, names=2, name=lambda entry: _rollup_name(report, entry, say))
    shown = replace(together, breaks=_breaks([rollup["by"] for rollup in entries]))
    yield Section(say("html.together"), [say("html.together_what"), shown])


def _rates(rates: Fields, say: Say) -> str:
    """Return VR_o, and what it is once false satisfactions are counted, with its interval."""
    observed = _value(rates["vr_observed"])
    return UNKNOWN if observed is None else f"{percent(observed)} → {say.rate(rates['vr_genuine'])}"


def violations(report: Entry, say: Say) -> Sections:
    """Yield the tables of violation rates as studies print them: relations down, systems across; and the relations that
    several tasks share, as in the Chinese study."""
    shared, tasks, chart_key = list[Entry](), set[str](), say("chart.key_violations")
    names: dict[str, Callable[[str], str]]
    names = {"all": lambda _: say("violations.all"), "family": lambda name: family_name(name, say.language)}
    for table in report["violations"]:
        kinds = [row["by"] for row in table["rows"]]
        rows = [
            (names.get(row["by"], say.said)(row["name"]), *(_rates(rates, say) for rates in row["rates"]))
            for row in table["rows"]
        ]
        several = sum(other["task"] == table["task"] for other in report["violations"]) > 1
        label = _place(report, table, say) if several else task_name(base_of(table["task"]), say.language)
        bars = list[Entry]()
        for row in (row for row in table["rows"] if row["by"] == "relation"):
            rated = [rates for rates in row["rates"] if rates["vr_observed"] is not None]
            bars += [_bar(rates["system"], rates, "vr", group=row["name"]) for rates in rated]
            registered = find_relation(table["task"], row["name"])
            if rated and registered and (group := registered.counterpart):
                tasks.add(table["task"])
                shared += [_bar(f"{label} · {rates['system']}", rates, "vr", group=group) for rates in rated]
        if bars:
            title = _titled(report, table, say("violations.title"), say)
            key = [say("violations.key"), *([say("violations.key_estimated")] if "estimated" in kinds else [])]
            chart = _bars(bars, say("violations.by_relation", title=title), chart_key)
            shown = Table([say("column.row"), *table["systems"]], rows, 1, _breaks(kinds))
            yield Section(title, [shown, say.list(key, "sentence"), chart])
    if len(tasks) > 1:
        shared.sort(key=lambda row: str(row["group"]))
        chart = _bars(shared, say("violations.tasks_alt"), chart_key)
        yield Section(say("violations.tasks"), [say("violations.tasks_what"), chart])


# Slices.


def _property(by: str, say: Say) -> str:
    return catalogue(say.language).get(f"slice_name.{by}", by)


def _slice(name: str | None, say: Say) -> str:
    return UNKNOWN if name is None else say.said(name)


def slices(report: Entry, say: Say) -> Sections:
    """Yield rates for each way to divide the sources, with who is best where; without rates only why."""
    for entry in report.get("slices") or []:
        title = _titled(report, entry, say("slices.title", property=_property(entry["by"], say)), say)
        if entry["reason"]:
            yield Section(title, [say("slices.unknown", reason=say.said(entry["reason"]))])
            continue
        over_all = [rates for rates in entry["rates"] if rates["relation"] is None]
        bars = [_bar(rates["system"], rates, "vr", group=_slice(rates["slice"], say)) for rates in over_all]
        parts: list[Any] = [slice_table(entry, say), say("slices.key")]
        for decision in entry["decisions"]:
            chosen = say.list([_slice(decision["slice"], say), first_page.verdict(decision, say.language)], "colon")
            parts.append(chosen + say("list.stop"))
        if entry["empty"]:
            parts.append(say("slices.empty", names=say.list(map(say.said, entry["empty"]))))
        if entry["unsliced"]:
            parts.append(say("slices.unsliced", count=entry["unsliced"]))
        parts.append(_bars(bars, say("slices.alt", title=title), say("chart.key_violations")))
        for system in entry["systems"]:
            own = [
                slice_rate
                for slice_rate in entry["rates"]
                if slice_rate["system"] == system and slice_rate["relation"] is not None
            ]
            texts = {(slice_rate["slice"], slice_rate["relation"]): _rates(slice_rate, say) for slice_rate in own}
            names = [name for name in entry["relations"] if any(relation == name for _, relation in texts)]
            rows = [(_slice(of, say), *(texts.get((of, name), UNKNOWN) for name in names)) for of in entry["slices"]]
            of_system = Table([*say.heads("slice"), *names], rows)
            parts.append(Section(say("slices.of_system", system=system), [of_system]))
        yield Section(title, parts)


def slice_table(entry: Entry, say: Say) -> Table:
    """Return the rates of every slice and system over all relations."""
    rates = [rate for rate in entry["rates"] if rate["relation"] is None]
    columns = ("slice", "system", "sources", "groups", "vr_observed", "judged", "fs_rate", "vr_genuine")
    return table_of(say, rates, *columns, names=2, slice=lambda rate: _slice(rate["slice"], say))


def worst_table(report: Entry, say: Say) -> Table:
    """Return the slices in which relations are broken more often than in the rest, at most ten, the worst first."""

    def where(test: Entry) -> str:
        return _titled(report, test, f"{_property(test['by'], say)}: {_slice(test['slice'], say)}", say)

    listed = [test for test in report["slice_tests"]["tests"] if test["found"]][:LISTED_SLICES]
    columns = ("rate", "slice", "system", "groups", "clusters", "judged", "inside", "outside", "difference", "q")
    return _table(say, listed, *columns, names=3, slice=where)


def worst(report: Entry, say: Say) -> Sections:
    """Yield how slices were tested, and which were found."""
    if (tested := report.get("slice_tests")) is None:
        return
    if tested["reason"]:
        yield Section(say("slices.worst"), [say.said(tested["reason"])])
        return
    number, level = sum(test["found"] for test in tested["tests"]), f"{100 * tested['level']:g}"
    parts: list[Any] = [worst_table(report, say)] if number else []
    parts.append(say("slices.worst_found", count=len(tested["tests"]), found=number, percent=level))
    parts += [say("slices.worst_listed", count=LISTED_SLICES)] if number > LISTED_SLICES else []
    parts += [say("slices.worst_key")] if number else []
    yield Section(say("slices.worst"), parts)


# Names of entities, and the same input asked several times.


def names_found(report: Entry, say: Say) -> Sections:
    """Yield how many names each system finds, and how many of these are right, by kind."""
    for entry in report["decisions"]:
        rows = [
            {"system": rated["system"], "label": kind, **of}
            for rated in (entry["accuracy"] or {"systems": []})["systems"]
            for kind, of in rated.get("names", {}).items()
        ]
        if rows:
            columns = ("system", "label", "names", "precision", "recall", "f1")
            yield Section(say("column.names"), [_table(say, rows, *columns, names=2)])


def repeats(report: Entry, say: Say) -> Sections:
    """Yield contradictions on the same input, and verdicts by call, or of which cells they are not known."""
    for entry in report.get("repeats") or []:
        columns = ("system", "inputs", "calls", "contradicted", "share_differ", "disagreement")
        what = say.list([say("repeats.what"), say("repeats.inputs")], "sentence")
        parts: list[Any] = [_table(say, entry["systems"], *columns), what]
        failed = (system for system in entry["systems"] if system["failed"])
        parts += [say("repeats.failed", system=system["system"], count=system["failed"]) for system in failed]
        if counted := [cell for cell in entry["cells"] if cell["reason"] is None]:
            rates = ("unstable", "vr_first", "vr_mean", "vr_by_chance", "always_violated")
            parts += [_table(say, counted, "relation", "system", "groups", *rates, names=2), say("repeats.cells")]
        unknown: dict[str, list[str]] = {}
        for cell in entry["cells"]:
            if cell["reason"] is not None:
                unknown.setdefault(say.said(cell["reason"]), []).append(f"{cell['relation']} ({cell['system']})")
        for reason, cells in unknown.items():
            parts.append(say("repeats.unknown", cells=say.list(cells, "semicolon"), reason=reason))
        yield Section(_titled(report, entry, say("repeats.title"), say), parts)


# Causes of false satisfactions, and reasons of disputes.


def causes(report: Entry, say: Say) -> Sections:
    """Yield the causes of false satisfactions, and why people disagreed."""
    several = len({relation["study"] for relation in report["relations"]}) > 1

    def name(entry: Entry) -> str:
        study = f" ({say('rate.study', study=entry['study'])})" if several and entry["study"] is not None else ""
        return _rollup_name(report, entry, say) + study

    def shares(entry: Entry) -> str:
        named = sorted(
            (cause for cause in entry["causes"] if cause["count"]), key=lambda cause: -cause["share"]["value"]
        )
        texts = (
            f"{say('cause.' + cause['cause'])} {say.rate(cause['share'], PERCENT)} ({count(cause['count'])})"
            for cause in named
        )
        return say.list(texts, "semicolon")

    if entries := report.get("causes") or []:
        parts: list[Any] = [_table(say, entries, "by", "name", "named", "causes", names=2, name=name, causes=shares)]
        for entry in (entry for entry in entries if entry["by"] == "overall"):
            cells = say("causes.cells", count=entry["cells"])
            parts.append(say("causes.note", named=count(entry["named"]), count=entry["false"], cells=cells))
        yield Section(say("causes.title"), parts)
    if disputes := report.get("disputes"):
        reasons = [(say(f"reason.{part['reason']}"), part["count"]) for part in disputes["reasons"]]
        reasons.append((say("causes.no_reason"), disputes["uncoded"]))
        ordered = sorted((part for part in reasons if part[1]), key=lambda part: -part[1])
        listed = say.list(f"{reason} {count(number)}" for reason, number in ordered)
        yield Section(say("html.disputes"), [say("causes.disputes_settled", count=disputes["settled"], reasons=listed)])


# The validity study, model judges, examples.


def validity(report: Entry, say: Say) -> Sections:
    if parts := list(validity_parts(report.get("validity") or [], say)):
        yield Section(say("validity.title"), parts)


def judges(report: Entry, say: Say) -> Sections:
    if parts := [judge_section(entry, say) for entry in report.get("judges") or []]:
        yield Section(say("judges.title"), [say("judges.note_questions"), say("judges.note_apart"), *parts])


def examples(report: Entry, say: Say) -> Sections:
    """Yield false satisfactions with their texts, outputs and what is right."""
    if parts := [_example(entry, say) for entry in report.get("examples") or []]:
        yield Section(say("decision.examples", count=len(parts)), [say("decision.examples_what"), *parts])


def _example(entry: Entry, say: Say) -> Section:
    """Return one group, with marks on what is new in a follow-up."""
    task, rows, seen = entry["task"], [], list[str]()
    source = next((member for member in entry["members"] if member["role"] == "source"), None)
    for member in entry["members"]:
        seen.append(member["role"])
        several = sum(other["role"] == member["role"] for other in entry["members"]) > 1
        role = say(f"role_of.{member['role']}") + (f" {seen.count(member['role'])}" if several else "")
        before = source["texts"] if source is not None and member is not source else []
        pieces = list[tuple[str, bool]]()
        for at, text in enumerate(member["texts"]):
            marked = _marked(before[at], text) if at < len(before) else [(text, False)]
            pieces += [*[("  ", False)] * bool(at), *marked]
        sign = "" if member["wrong"] is None else " ✗" if member["wrong"] else " ✓"
        texts, right = member["texts"], say("browse.no_answer")
        said = in_text(member["output"] or "", task, texts, say.language)
        if member["right"]:
            labels = say("browse.or").join(in_text(label, task, texts, say.language) for label in member["right"])
            code = "carried" if member["origin"].startswith("carried ") else "direct"
            origin = say(f"origin.{member['origin'].removeprefix('carried ')}")
            right = say(f"browse.{code}", labels=labels, origin=origin)
        rows.append((role, Marked(pieces), said + sign, right))
    cause = catalogue(say.language).get(f"cause.{entry['cause']}", "") if entry["cause"] else ""
    heads, about = ("", *say.heads("text", "output", "right_answer")), say("browse.row_named", row=entry["row"])
    return Section(f"{entry['relation']} · {entry['system']}", [Table(heads, rows), *([cause] if cause else [])], about)


def _marked(before: str, after: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, each with whether it is new there; unchanged long ones without their middle."""
    for piece in (piece for piece in differences(before, after) if piece.kind in AFTER):
        text, new = piece.text, piece.kind is not Kind.SAME and not piece.text.isspace()
        if not new and len(text) > 2 * _CONTEXT + 40:
            text = f"{text[:_CONTEXT].rstrip()} […] {text[-_CONTEXT:].lstrip()}"
        yield text, new


# How to read the report, and what reproduces it.


def reading(report: Entry, say: Say) -> Sections:
    """Yield what the rates are, and how they were estimated."""
    signed = report["signature"]
    codes = ["proxies" if "proxy" in signed else "rates", "per_cent"]
    if any(cell["fs_rate"]["low"] is not None for cell in report["cells"]):
        codes += [str(signed.get("target") or "corpus"), "compared"]
    if any(relation.get("carry") and relation["carry"]["error"]["n"] for relation in report["relations"]):
        codes.append("carried")
    lines = [say(f"html.read_{code}", confidence=confidence_of(report)) for code in [*codes, "source"]]
    if "proxy" in signed:
        lines.append(say("estimator.proxies", names=say.list(signed["proxy"]["names"])))
    if report["cells"]:
        yield Section(say("html.read"), lines)


def signature(report: Entry, say: Say) -> Sections:
    yield Section(say("html.signature"), [say("html.signature_what"), Verbatim(signature_line(report["signature"]))])


SECTIONS: tuple[Callable[[Entry, Say], Sections], ...] = (
    first_page.decisions, notes, plans, relations, rollups, violations, slices, worst, names_found, repeats, causes,
    validity, judges, examples, reading, signature,
)  # fmt: skip
"""The sections of a report, in order."""
