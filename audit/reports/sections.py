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
from audit.reports.first_page import confidence_of, ranks_text
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
    label_name,
    p_number,
    p_text,
    percent,
    signature_line,
    task_name,
)
from audit.statistics.orders import TIED
from audit.studies.versions import from_to
from audit.tasks import base_of
from audit.text.differences import AFTER, Kind, differences

Sections = Iterator[Section]
Fields = Mapping[str, Any]


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


# Names.


def place(report: Entry, entry: Fields, say: Say) -> str:
    """Return what a cell or relation of a report belongs to: its task, and its corpus where that is known.

    The study is named where there is no corpus, or where several studies of the report share it.
    """
    task, corpus, study = entry["task"], entry["corpus"], entry["study"]
    alike = {other["study"] for other in report["relations"] if (other["task"], other["corpus"]) == (task, corpus)}
    parts = [task_name(task, say.language), *([corpus] if corpus is not None else [])]
    if study is not None and (corpus is None or len(alike) > 1):
        parts.append(say("rate.study", study=study))
    return " · ".join(parts)


def title_of(report: Entry, entry: Fields, title: str, say: Say) -> str:
    """Return a heading with the study that it is about, where the report has several."""
    several = len(report["violations"]) > 1
    return say("rate.titled", title=title, name=place(report, entry, say)) if several else title


def _summary(report: Entry, relation: Entry, say: Say) -> str:
    """Return what a relation does; empty where it is not one of ours."""
    name = base_name(relation["relation"])
    registered = find_relation(relation["task"], name)
    if "file" in report["signature"] or registered is None:
        return ""  # somebody else's MR1.1 may be another relation than ours
    return summary_from(catalogue(say.language), relation["task"], name, registered.summary)


def _rollup_name(report: Entry, entry: Fields, say: Say) -> str:
    """Return the name of a roll-up, with its task where the report has several."""
    name = str(entry["name"])
    if entry["by"] in ("overall", "family"):
        name = say("account.all_languages") if entry["by"] == "overall" else family_name(name, say.language)
    several = len({relation["task"] for relation in report["relations"]}) > 1
    return f"{name} ({task_name(entry['task'], say.language)})" if several and entry["task"] else name


def _chain(systems: Sequence[str], tied: Callable[[str, str], bool]) -> str:
    """Systems, best first, with `=` between those that are tied."""
    signs = [" = " if tied(before, after) else " > " for before, after in pairwise(systems)]
    return "".join(sign + system for sign, system in zip(["", *signs], systems, strict=False))


# What a reader must know beside the numbers.


def notes(report: Entry, say: Say) -> Sections:
    if lines := notes_of(report, say):
        yield Section(say("decision.notes"), lines)


def notes_of(report: Entry, say: Say) -> list[str]:
    """Return the signature's notes, then what the data themselves call for."""
    lines = [say.said(note) for note in report["signature"].get("notes") or []]
    totals, relations = report["overall"], report["relations"]
    if any(entry["sr_genuine"]["least"] is not None for entry in report["rollups"]):
        lines.append(say("note.bounds_together"))
    checked = [cell for cell in report["cells"] if cell["sr_observed"] is not None]
    unestimated = sum(cell["sr_genuine"]["value"] is None for cell in checked)
    bounded = any(cell["fs_rate"]["least"] is not None for cell in report["cells"])
    if unestimated and (unestimated < totals["cells"] or bounded):
        lines.append(say("note.unestimated", part=unestimated, count=totals["cells"]))
    elif unestimated:
        lines.append(say("note.no_genuine"))
    too_few = [one["relation"] for one in relations if one["common"] and one["common"]["reason"]]
    if too_few and totals["judged"]:
        lines.append(say("note.not_compared", count=totals["relations"], part=len(too_few), names=too_few))
    own = [one for one in relations if one["best_own"] and one["best_genuine"]]
    if other := [one["relation"] for one in own if not set(one["best_own"] or ()) & set(one["best_genuine"])]:
        lines.append(say("note.other_best", names=other))
    # While no carry error is measured, the signature's own note says how many of its questions wait.
    if totals.get("audits_waiting") and any(one["carry"] and one["carry"]["error"]["n"] for one in relations):
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
        lines.append(say("plan.line", study=entry["study"], plan=entry["plan"], how=_frozen(entry, say)))
        code = "plan.otherwise_frozen" if entry["frozen_at"] else "plan.otherwise"
        if changes := [f"{_from_to(one, 'before', 'after', say)} ({one['at'][:10]})" for one in entry["changed"]]:
            lines.append(say("plan.changed", changes=say.list(changes, "semicolon")))
        if other := [_from_to(one, "planned", "found", say) for one in entry["deviates"]]:
            lines.append(say(code, deviations=say.list(other, "semicolon")))
    return lines


def _from_to(one: Entry, before: str, after: str, say: Say) -> str:
    return f"{one['key']} {from_to(one[before], one[after], say.language)}"


def _frozen(entry: Entry, say: Say) -> str:
    if entry["frozen_at"] is None:
        return say("plan.not_frozen", version=entry["version"])
    run = say("plan.before_run" if entry["frozen_at"] <= entry["run_began"] else "plan.after_run")
    everything, before = entry["judgements"], entry["judgements_before"]
    code = "plan.after_some" if everything and before else "plan.before_all" if everything else "plan.nothing_judged"
    judged = say(code, before=count(before), whole=count(everything), count=everything)
    return say("plan.frozen", date=entry["frozen_at"][:10], run=run, judged=judged)


# Relations: who was best, who is best, and the cells.

_COLUMNS = (
    "judged", "false", "sr_observed", "fs_rate", "sr_genuine", "ranks", "p_best", "groups", "satisfied", "violated",
    "inapplicable", "errors", "rejected", "drawn", "open", "waiting",
)  # fmt: skip
"""Columns of the cells of a relation; those are left out in which no cell of the report has anything."""


def relations(report: Entry, say: Say) -> Sections:
    """Yield a section a study, with one for each of its relations in it."""
    ranked = any(one["p_best"] is not None for relation in report["relations"] for one in relation["ranking"])
    kept = {"sr_observed", "fs_rate", "sr_genuine", *(["ranks", "p_best"] if ranked else [])}
    columns = [name for name in _COLUMNS if name in kept or any(cell.get(name) for cell in report["cells"])]
    for task, study in dict.fromkeys((one["task"], one["study"]) for one in report["relations"]):
        own, cells = (
            [one for one in report[name] if (one["task"], one["study"]) == (task, study)]
            for name in ("relations", "cells")
        )
        orders = table_of(
            say, own, "relation", "order_observed", "order_genuine", "change",
            order_observed=lambda one: _order(one, "observed"), order_genuine=lambda one: _order(one, "genuine"),
            change=lambda one: say(f"change.{_change(one)}"),
        )  # fmt: skip
        parts = [
            _relation(report, one, [cell for cell in cells if cell["relation"] == one["relation"]], columns, say)
            for one in own
        ]
        yield Section(place(report, own[0], say), [say("html.orders_what"), orders, false_chart(cells, say), *parts])


LEAST_SHOWN = 10
"""Judged groups from which on a heat map shows a rate: one of fewer may be anything."""


def false_chart(cells: Iterable[Entry], say: Say) -> Chart:
    """Return R_FS of the cells of a study, a row a relation, a column a system."""

    def field(cell: Entry) -> Entry:
        fs, judged = estimate(cell["fs_rate"]), cell["judged"]
        few = fs.value is not None and judged is not None and judged < LEAST_SHOWN
        known = fs.value is not None and not few
        why = say("chart.few", least=LEAST_SHOWN) if few else say.said(fs.reason)
        return {
            "row": cell["relation"],
            "column": cell["system"],
            "share": fs.value if known else None,
            "text": percent(fs.value) if known else UNKNOWN,
            "note": "" if judged is None else f"n {judged:,}",
            "sure": 1.0 if fs.low is None or fs.high is None else 1.0 - (fs.high - fs.low),
            "tip": fs.text(say.language) if known else why,
        }

    rows, key = list(map(field, cells)), say("html.heat_what", least=LEAST_SHOWN)
    return Chart(lambda palette: charts.heat(rows, palette.false, palette), say("chart.false_alt"), key)


def _relation(report: Entry, relation: Entry, cells: Sequence[Entry], columns: Sequence[str], say: Say) -> Section:
    of = {one["system"]: {"ranks": ranks_text(one), "p_best": chance(one["p_best"])} for one in relation["ranking"]}
    orders = {"before": _order(relation, "observed"), "after": _order(relation, "genuine")}
    was = say("order.was_is", change=say(f"change.{_change(relation)}"), **orders)
    sentences = [capital(sentence) for sentence in (was, _common(relation, say), _carry(relation, say)) if sentence]
    rates = table_of(say, [cell | of.get(cell["system"], {}) for cell in cells], "system", *columns)
    parts: list[Any] = [rates, rates_chart(relation, cells, say), *sentences]
    if pairs := _oriented(relation["pairs"]):
        shown = table_of(
            say, pairs, "better", "other", "points", "p_holm", "apart", "judged_of_deciding", names=2,
            better=lambda pair: pair["system"], points=_difference,
            p_holm=lambda pair: p_text(pair["p_holm"]).removeprefix("=\N{NO-BREAK SPACE}"),
            apart=lambda pair: say("pairs.yes" if pair["apart"] else "pairs.no"),
            judged_of_deciding=lambda pair: say.of(pair["judged"], pair["informative"]),
        )  # fmt: skip
        parts.append(shown)
    return Section(relation["relation"], parts, _summary(report, relation, say), relation["best_changes_sure"])


def _difference(entry: Fields) -> Estimate:
    return Estimate(entry["difference"], entry["low"], entry["high"], reason=entry.get("reason"))


def rates_chart(relation: Entry, cells: Iterable[Entry], say: Say) -> Chart:
    """Return reported and genuine satisfaction under a relation, the genuinely best system on top."""
    by_name = {cell["system"]: cell for cell in cells}
    systems = dict.fromkeys([*relation["order_genuine"], *relation["order_observed"], *by_name])
    rows = [_bar(name, by_name[name], "sr") for name in systems if name in by_name]
    return _bars(rows, say("chart.rates_alt", relation=relation["relation"]), say("chart.key"))


def _bars(rows: Sequence[Fields], alt: str, key: str) -> Chart:
    return Chart(partial(charts.before_after, rows), alt, key)


def _bar(name: str, rates: Fields, kind: str, **more: Any) -> dict[str, Any]:
    """Return a row of `charts.before_after`: of satisfaction (`sr`) or violation (`vr`) rates."""
    ends: Fields = rates[f"{kind}_genuine"]
    return {"name": name, "observed": _value(rates[f"{kind}_observed"]), "genuine": ends["value"], **ends} | more


def _value(rate: Any) -> Any:
    return rate["value"] if isinstance(rate, Mapping) else rate


def _order(relation: Entry, when: str) -> str:
    """Return the order of systems, best first, with `=` between tied ones; `when` is `observed` or `genuine`.

    Where a genuine order is known of some systems only, the observed one names the same systems.
    """
    fields: Fields = relation
    systems = fields[f"order_{when}"]
    if when == "observed" and relation["order_genuine"]:
        systems = [system for system in systems if system in relation["order_genuine"]]
    rates = {entry["system"]: entry[f"sr_{when}"] for entry in fields["ranking"]}
    # Systems that were only compared have no rates, but differences.
    level = {frozenset((pair["system"], pair["other"])): pair["difference"] for pair in relation["pairs"]}

    def tied(before: str, after: str) -> bool:
        if rates[before] is None or rates[after] is None:
            return bool(abs(level.get(frozenset((before, after)), 1.0) or 0.0) <= TIED)
        return bool(rates[before] - rates[after] <= TIED)

    return _chain(systems, tied) or UNKNOWN


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


def _common(relation: Entry, say: Say) -> str:
    """Return what the comparison of a relation's systems is about, and why it says nothing where it does not."""
    common = relation["common"]
    if common is None or len(relation["order_observed"]) < 2:
        return ""
    if not common["groups"] and not common["most_groups"] and common["reason"]:
        return capital(say.said(common["reason"]))
    parts = [say("order.common", count=common["groups"])]
    if common["most_groups"] and common["groups"] != common["most_groups"]:
        parts = [say("order.by_pairs", most=common["most_groups"], count=common["groups"])]
    parts.append(say("order.deciding", judged=count(common["judged"]), deciding=count(common["deciding"])))
    return say.list([*parts, *([say.said(common["reason"])] if common["reason"] else [])], "semicolon")


def _carry(relation: Entry, say: Say) -> str:
    """Return how often answers are carried wrongly; empty where nothing was audited."""
    carry = relation.get("carry")
    if not carry or not carry["error"]["n"]:
        return ""
    wrong = count(carry["wrong"])
    return say("audits.carry", error=say.rate(carry["error"]), wrong=wrong, count=carry["error"]["n"])


def _oriented(pairs: Iterable[Entry]) -> list[Entry]:
    """Return the pairs whose difference is known, the better system first, the surest difference first."""
    turned = []
    for pair in pairs:
        if pair["difference"] is not None and pair["low"] is not None:
            swapped = {"system": pair["other"], "other": pair["system"], "difference": -pair["difference"]}
            swapped |= {"low": -pair["high"], "high": -pair["low"]}
            turned.append(pair | swapped if pair["difference"] < 0 else pair)
    # Differences without error have no p and come first.
    return sorted(turned, key=lambda one: (one["p_holm"] or 0.0, -one["difference"], one["system"], one["other"]))


# All together, and violation rates.


def _breaks(kinds: Sequence[str]) -> frozenset[int]:
    return frozenset(at for at in range(1, len(kinds)) if kinds[at] not in (kinds[at - 1], "estimated"))


def rollups(report: Entry, say: Say) -> Sections:
    """Yield the rates over cells together: by relation, system, family, and all."""
    entries = report["rollups"]
    if not entries:
        return
    reasons = ["reason"] if any(entry["sr_genuine"]["reason"] for entry in entries) else []
    together = table_of(
        say, entries, "by", "name", "sr_observed", "fs_rate", "sr_genuine", *reasons, names=2,
        by=lambda entry: say(f"level.{entry['by']}"), name=lambda entry: _rollup_name(report, entry, say),
        reason=lambda entry: entry["sr_genuine"]["reason"],
    )  # fmt: skip
    shown = replace(together, breaks=_breaks([one["by"] for one in entries]))
    yield Section(say("html.together"), [say("html.together_what"), shown])


def _rates(rates: Fields, say: Say) -> str:
    """Return VR_o, and what it is once false satisfactions are counted, with its interval."""
    observed = _value(rates["vr_observed"])
    return UNKNOWN if observed is None else f"{percent(observed)} → {say.rate(rates['vr_genuine'])}"


def violations(report: Entry, say: Say) -> Sections:
    """Yield the tables of violation rates as studies print them: relations down, systems across."""
    for table in report["violations"]:
        kinds = [row["by"] for row in table["rows"]]
        rows = [(_row_name(row, say), *(_rates(rates, say) for rates in row["rates"])) for row in table["rows"]]
        key = [say("violations.key"), *([say("violations.key_estimated")] if "estimated" in kinds else [])]
        bars = [
            _bar(rates["system"], rates, "vr", group=row["name"])
            for row in table["rows"]
            for rates in row["rates"]
            if row["by"] == "relation" and rates["vr_observed"] is not None
        ]
        if bars:
            title = title_of(report, table, say("violations.title"), say)
            chart = _bars(bars, say("violations.by_relation", title=title), say("chart.key_violations"))
            shown = Table([say("column.row"), *table["systems"]], rows, 1, _breaks(kinds))
            yield Section(title, [shown, say.list(key, "sentence"), chart])
    if bars := _task_bars(report, say):
        chart = _bars(bars, say("violations.tasks_alt"), say("chart.key_violations"))
        yield Section(say("violations.tasks"), [say("violations.tasks_what"), chart])


def _row_name(row: Fields, say: Say) -> str:
    if row["by"] == "all":
        return say("violations.all")
    return family_name(row["name"], say.language) if row["by"] == "family" else say.said(row["name"])


def _task_bars(report: Entry, say: Say) -> list[Entry]:
    """Return the relations that several tasks share, as in the Chinese study: a bar a task and system."""
    rows, tasks = [], set()
    for table in report["violations"]:
        several = sum(other["task"] == table["task"] for other in report["violations"]) > 1
        label = place(report, table, say) if several else task_name(base_of(table["task"]), say.language)
        for row in table["rows"]:
            registered = find_relation(table["task"], row["name"]) if row["by"] == "relation" else None
            for rates in row["rates"] if registered and registered.counterpart else ():
                if registered and rates["vr_observed"] is not None:
                    tasks.add(table["task"])
                    rows.append(_bar(f"{label} · {rates['system']}", rates, "vr", group=registered.counterpart))
    return sorted(rows, key=lambda row: str(row["group"])) if len(tasks) > 1 else []


# Slices.

LISTED_SLICES = 10
"""The most slices that are listed as worst."""


def _property(by: str, say: Say) -> str:
    return catalogue(say.language).get(f"slice_name.{by}", by)


def _slice(name: str | None, say: Say) -> str:
    return UNKNOWN if name is None else say.said(name)


def slices(report: Entry, say: Say) -> Sections:
    """Yield rates for each way to divide the sources, with who is best where; without rates only why."""
    for entry in report.get("slices") or []:
        title = title_of(report, entry, say("slices.title", property=_property(entry["by"], say)), say)
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
            parts.append(say("slices.empty", names=say.list(say.said(name) for name in entry["empty"])))
        if entry["unsliced"]:
            parts.append(say("slices.unsliced", count=entry["unsliced"]))
        parts.append(_bars(bars, say("slices.alt", title=title), say("chart.key_violations")))
        for system in entry["systems"]:
            own = [one for one in entry["rates"] if one["system"] == system and one["relation"] is not None]
            texts = {(one["slice"], one["relation"]): _rates(one, say) for one in own}
            names = [name for name in entry["relations"] if any(relation == name for _, relation in texts)]
            rows = [
                (_slice(part, say), *(texts.get((part, name), UNKNOWN) for name in names)) for part in entry["slices"]
            ]
            of_system = Table([*say.heads("slice"), *names], rows)
            parts.append(Section(say("slices.of_system", system=system), [of_system]))
        yield Section(title, parts)


def slice_table(entry: Entry, say: Say) -> Table:
    """Return the rates of every slice and system over all relations."""
    rates = [one for one in entry["rates"] if one["relation"] is None]
    columns = ("slice", "system", "sources", "groups", "vr_observed", "judged", "fs_rate", "vr_genuine")
    return table_of(say, rates, *columns, names=2, slice=lambda one: _slice(one["slice"], say))


def worst_table(report: Entry, say: Say) -> Table:
    """Return the slices in which relations are broken more often than in the rest, at most ten, the worst first."""

    def where(test: Entry) -> str:
        return title_of(report, test, f"{_property(test['by'], say)}: {_slice(test['slice'], say)}", say)

    found = [test for test in (report.get("slice_tests") or {"tests": []})["tests"] if test["found"]]
    return table_of(
        say, found[:LISTED_SLICES], "rate", "slice", "system", "groups", "clusters", "judged", "inside", "outside",
        "difference", "q", names=3, slice=where, difference=_difference, q=lambda test: p_number(test["q"]),
        rate=lambda test: "VR_o" if test["rate"] == "observed" else "VR_g",
    )  # fmt: skip


def worst(report: Entry, say: Say) -> Sections:
    """Yield how slices were tested, which were found, and which were not tested."""
    tested = report.get("slice_tests")
    if tested is None:
        return
    if tested["reason"]:
        yield Section(say("slices.worst"), [say.said(tested["reason"])])
        return
    found, level = sum(test["found"] for test in tested["tests"]), f"{100 * tested['level']:g}"
    parts: list[Any] = [worst_table(report, say)] if found else []
    parts.append(say("slices.worst_found", count=len(tested["tests"]), found=found, percent=level))
    if found:
        parts += [say("slices.worst_listed", count=LISTED_SLICES)] if found > LISTED_SLICES else []
        parts.append(say("slices.worst_key"))
    for rate in ("observed", "genuine"):
        of: dict[str, dict[str, None]] = {}
        for one in tested["untested"]:
            if one["rate"] == rate:
                of.setdefault(one["by"], {})[_slice(one["slice"], say)] = None
        if of:
            names = (f"{_property(by, say)} ({say.list(slices)})" for by, slices in of.items())
            parts.append(say(f"slices.untested_{rate}", least=tested["least"], slices=say.list(names)))
    yield Section(say("slices.worst"), parts)


# The same input asked several times.


def repeats(report: Entry, say: Say) -> Sections:
    """Yield contradictions on the same input, and verdicts by call."""
    for entry in report.get("repeats") or []:
        systems = table_of(
            say, entry["systems"], "system", "inputs", "calls", "contradicted", "share_differ", "disagreement",
            calls=lambda one: "–".join(dict.fromkeys(map(count, (one["least_calls"], one["most_calls"])))),
            contradicted=lambda one: say.of(one["contradicted"], one["inputs"]),
            share_differ=lambda one: one["share"],
        )  # fmt: skip
        title = title_of(report, entry, say("repeats.title"), say)
        yield Section(title, [systems, *_repeat_lines(entry, say), *_by_call(entry, say)])


def _repeat_lines(entry: Entry, say: Say) -> Iterator[str]:
    """Yield how to read the calls on the same inputs, and which of them failed."""
    yield say.list([say("repeats.what"), say("repeats.inputs")], "sentence")
    for one in entry["systems"]:
        if one["failed"]:
            yield say("repeats.failed", system=one["system"], count=one["failed"])


def _by_call(entry: Entry, say: Say) -> Iterator[Table | str]:
    """Yield the verdicts by call, how to read them, and of which cells they are not known."""
    if known := [cell for cell in entry["cells"] if cell["reason"] is None]:
        yield table_of(
            say, known, "relation", "system", "groups", "unstable", "vr_first", "vr_mean", "vr_by_chance",
            "always_violated", names=2, unstable=lambda cell: cell["share"],
            always_violated=lambda cell: say.of(cell["always_violated"], cell["violated"]),
        )  # fmt: skip
        yield say("repeats.cells")
    unknown: dict[str, list[str]] = {}
    for cell in entry["cells"]:
        if cell["reason"] is not None:
            unknown.setdefault(say.said(cell["reason"]), []).append(f"{cell['relation']} ({cell['system']})")
    for reason, cells in unknown.items():
        yield say("repeats.unknown", cells=say.list(cells, "semicolon"), reason=reason)


# Causes of false satisfactions, and reasons of disputes.


def causes(report: Entry, say: Say) -> Sections:
    """Yield the causes of false satisfactions, and why people disagreed."""
    several = len({relation["study"] for relation in report["relations"]}) > 1

    def name(entry: Entry) -> str:
        study = f" ({say('rate.study', study=entry['study'])})" if several and entry["study"] is not None else ""
        return _rollup_name(report, entry, say) + study

    def shares(entry: Entry) -> str:
        given = sorted((one for one in entry["causes"] if one["count"]), key=lambda one: -one["share"]["value"])
        named = ((say("cause_in_words." + one["cause"]), one) for one in given)
        return say.list(
            (f"{name} {say.rate(one['share'], PERCENT)} ({count(one['count'])})" for name, one in named), "semicolon"
        )

    if entries := report.get("causes") or []:
        shown = table_of(
            say, entries, "by", "name", "named", "causes", names=2, name=name,
            by=lambda entry: say(f"level.{entry['by']}"), causes=shares,
            named=lambda entry: say.of(entry["named"], entry["false"]),
        )  # fmt: skip
        overall = [
            say("causes.note", named=count(entry["named"]), count=entry["false"],
                cells=say("causes.cells", count=entry["cells"]))
            for entry in entries
            if entry["by"] == "overall"
        ]  # fmt: skip
        yield Section(say("causes.title"), [shown, *overall])
    if disputes := report.get("disputes"):
        reasons = [(say(f"reason_in_words.{one['reason']}"), one["count"]) for one in disputes["reasons"]]
        reasons.append((say("causes.no_reason"), disputes["uncoded"]))
        ordered = sorted((one for one in reasons if one[1]), key=lambda one: -one[1])
        listed = say.list(f"{reason} {count(number)}" for reason, number in ordered)
        yield Section(say("html.disputes"), [say("causes.disputes_settled", count=disputes["settled"], reasons=listed)])


# The validity study, model judges, examples.


def validity(report: Entry, say: Say) -> Sections:
    if parts := list(validity_parts(report.get("validity") or [], say)):
        yield Section(say("validity.title"), parts)


def judges(report: Entry, say: Say) -> Sections:
    if parts := [judge_section(entry, say) for entry in report.get("judges") or []]:
        yield Section(say("judges.title"), [say("judges.note_questions"), say("judges.note_apart"), *parts])


_CONTEXT = 100
"""Letters of an unchanged passage of an example that are shown at each of its ends."""


def examples(report: Entry, say: Say) -> Sections:
    """Yield false satisfactions with their texts, outputs and what is right."""
    if parts := [_example(entry, say) for entry in report.get("examples") or []]:
        yield Section(say("decision.examples", count=len(parts)), [say("decision.examples_what"), *parts])


def _example(entry: Entry, say: Say) -> Section:
    """Return one group, with marks on what is new in a follow-up."""
    source = next((member for member in entry["members"] if member["role"] == "source"), None)
    roles, rows = [member["role"] for member in entry["members"]], []
    for number, member in enumerate(entry["members"]):
        before = source["texts"] if source is not None and member is not source else []
        suffix = f" {roles[: number + 1].count(member['role'])}" if roles.count(member["role"]) > 1 else ""
        texts = [_marked(before[at] if at < len(before) else None, text) for at, text in enumerate(member["texts"])]
        pieces = [piece for at, text in enumerate(texts) for piece in ([("  ", False)] * bool(at) + text)]
        sign = "" if member["wrong"] is None else " ✗" if member["wrong"] else " ✓"
        output = label_name(member["output"] or "", [entry["task"]], say.language) + sign
        rows.append(
            (say(f"role_of.{member['role']}") + suffix, Marked(pieces), output, _right(member, entry["task"], say))
        )
    cause = catalogue(say.language).get(f"cause_in_words.{entry['cause']}", "") if entry["cause"] else ""
    heads = ("", *say.heads("text", "output", "right_answer"))
    about = say("browse.row_named", row=entry["row"])
    return Section(f"{entry['relation']} · {entry['system']}", [Table(heads, rows), *([cause] if cause else [])], about)


def _right(member: Entry, task: str, say: Say) -> str:
    """Return what is right about a member, and who says so."""
    if not member["right"]:
        return say("browse.no_answer")
    labels = say("browse.or").join(label_name(label, [task], say.language) for label in member["right"])
    code = "carried" if member["origin"].startswith("carried ") else "direct"
    origin = say(f"origin.{member['origin'].removeprefix('carried ')}")
    return say(f"browse.{code}", labels=labels, origin=origin)


def _marked(before: str | None, after: str) -> list[tuple[str, bool]]:
    """Return the pieces of a text, each with whether it is new there; unchanged long ones without their middle."""
    if before is None:
        return [(after, False)]
    pieces = []
    for piece in (piece for piece in differences(before, after) if piece.kind in AFTER):
        text, new = piece.text, piece.kind is not Kind.SAME and not piece.text.isspace()
        if not new and len(text) > 2 * _CONTEXT + 40:
            text = f"{text[:_CONTEXT].rstrip()} […] {text[-_CONTEXT:].lstrip()}"
        pieces.append((text, new))
    return pieces


# How to read the report, and what reproduces it.


def reading(report: Entry, say: Say) -> Sections:
    """Yield what the rates are, and how they were estimated."""
    signed = report["signature"]
    codes = ["proxies" if "proxy" in signed else "rates", "per_cent"]
    if any(cell["fs_rate"]["low"] is not None for cell in report["cells"]):
        codes += [str(signed.get("target") or "corpus"), "compared"]
    if any(_carry(relation, say) for relation in report["relations"]):
        codes.append("carried")
    lines = [say(f"html.read_{code}", confidence=confidence_of(report)) for code in [*codes, "source"]]
    if "proxy" in signed:
        lines.append(say("estimator.proxies", names=say.list(signed["proxy"]["names"])))
    if report["cells"]:
        yield Section(say("html.read"), lines)


def signature(report: Entry, say: Say) -> Sections:
    yield Section(say("html.signature"), [say("html.signature_what"), Verbatim(signature_line(report["signature"]))])


SECTIONS: tuple[Callable[[Entry, Say], Sections], ...] = (
    first_page.decisions, notes, plans, relations, rollups, violations, slices, worst, repeats, causes,
    validity, judges, examples, reading, signature,
)  # fmt: skip
"""The sections of a report, in order."""
