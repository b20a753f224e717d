"""What a report says first: which system, how sure that is, what is false of what was reported, what to do next."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from audit.messages import ENGLISH
from audit.reports import charts
from audit.reports.document import Entry
from audit.reports.standings import SURE
from audit.reports.tables import Chart, Section, table_of
from audit.reports.words import (
    PERCENT,
    UNKNOWN,
    Say,
    chance,
    count,
    family_name,
    label_name,
    p_text,
    percent,
    task_name,
)

SYSTEMS_SHOWN = 4
"""Systems that a sentence of the first page names at most."""
MUCH = 0.05
"""By how much R_FS has to fall for a report to say so."""


def first_lines(report: Entry, language: str = ENGLISH) -> list[str]:
    """Return a report in a few sentences, the one that a manager repeats first."""
    say, totals, lines = Say(language), report["overall"], list[str]()
    if not totals["cells"]:
        return [say("headline.nothing")]
    for entry in report["decisions"]:
        about = [titled(report, entry, say)] if len(report["decisions"]) > 1 else []
        lines.append(say.list([*about, verdict(entry, language)], "colon") + say("list.stop"))
        if accuracy := entry["accuracy"]:
            if accuracy["best"]:
                lines.append(say("decision.weigh"))
            else:
                rates = {
                    rated["system"]: percent(rated["accuracy"]["value"]) + PERCENT for rated in accuracy["systems"]
                }
                line = f"decision.accuracy_{accuracy['by']}"
                lines.append(say(line, count=accuracy["texts"], rates=_few(rates, say)))
        lines.append(_passed_line(entry, say))
    false = filter(None, [_false_line(report, say), lenient_text(report, say)])
    lines += [say.list(false, "sentence"), *primary_lines(report, say)]
    steps = (say("next.next", step=step) for entry in report["decisions"] for step in next_lines(report, entry, say))
    return [line for line in [*lines, next(steps, "")] if line]


def _few(rates: Mapping[str, str], say: Say) -> str:
    """Return the rates of the first systems, and how many more there are."""
    shown = [f"{system} {rate}" for system, rate in list(rates.items())[:SYSTEMS_SHOWN]]
    more = len(rates) - SYSTEMS_SHOWN
    return say.list([*shown, say("decision.more_systems", count=more)] if more > 0 else shown)


def _passed_line(entry: Entry, say: Say) -> str:
    """Return how much each system passes, and with right answers, and how much worse the best could be; empty where no
    rate is known."""
    scores = [rated for rated in by_rate(entry["ranking"]) if rated["score"]["value"] is not None]
    both = {
        rated["system"]: f"{percent(rated['score_observed'])} → {percent(rated['score']['value'])}{PERCENT}"
        for rated in scores
    }
    lines = [say("decision.passed", rates=_few(both, say))] if both else []
    best = next(
        (rated for rated in scores if rated["system"] in entry["systems"] and rated["score"]["low"] is not None), None
    )
    if best is not None:
        worse = percent(best["score"]["value"] - best["score"]["low"])
        lines.append(say("decision.worse_by", system=best["system"], worse=worse))
    return say.list(lines, "sentence")


def verdict(entry: Entry, language: str = ENGLISH) -> str:
    """Return which system to use, in one sentence, which says so where accuracy by gold names another one."""
    say, accuracy, state, systems = Say(language), entry["accuracy"], entry["state"], entry["systems"]
    number = count(sum(rated["score_observed"] is not None for rated in entry["ranking"]))
    right = accuracy["best"] if accuracy else []
    code = f"decision.{state}{'_consistent' if right else ''}"
    sentence = say(code, systems=say.names(systems), number=number, count=len(systems))
    chances = {rated["system"]: rated["p_best"] for rated in entry["ranking"] if rated.get("p_best") is not None}
    if state in ("sure", "likely", "open") and set(systems) <= set(chances):
        kind = "chances" if state == "open" else "so_sure"
        sentence += say(f"decision.{kind}", chances=say.names(chance(chances[system]) for system in systems))
    if not accuracy or not right:
        return sentence
    rates = {rated["system"]: rated["accuracy"]["value"] or 0.0 for rated in accuracy["systems"]}
    other = max(rates[system] for system in systems if system in rates)
    shares = {"share": percent(rates[right[0]], 0), "other": percent(other, 0)}
    code = "decision.right" if accuracy["apart"] else "decision.right_looks"
    return say.list([sentence, say(code, systems=say.names(right), count=len(right), **shares)], "semicolon")


def titled(report: Entry, entry: Entry, say: Say) -> str:
    """Return what a decision is about: its task, and the corpora."""
    tables = [table for table in report["violations"] if table["task"] == entry["task"] and table["corpus"]]
    corpora = say.list(dict.fromkeys(str(table["corpus"]) for table in tables))
    return " · ".join(filter(None, [task_name(entry["task"], say.language), corpora]))


def _false_line(report: Entry, say: Say) -> str:
    """How much of the reported satisfaction is false; empty where nothing is known of it."""
    totals = report["overall"]
    return say("headline.false", false=say.rate(totals["fs_rate"], PERCENT)) if totals["cells_covered"] else ""


def lenient_text(report: Entry, say: Say) -> str:
    """Return what becomes of R_FS where labels that gold never says count as right; empty where it changes little."""
    entry = report.get("sensitivity")
    now, right = (entry["fs_rate"], entry["fs_rate_right"]) if entry else (None, None)
    if not entry or now is None or right is None or abs(now - right) < MUCH:
        return ""
    tasks = dict.fromkeys(str(relation["task"]) for relation in report["relations"])
    labels = say.list(label_name(label, tasks, say.language) for label in entry["labels"])
    return say("headline.lenient", labels=labels, right=percent(right))


def open_questions(totals: Entry) -> int:
    """Return how many questions drawn groups wait for: about texts and outputs, and about groups; audits apart."""
    return int((totals["waiting"] or 0) + totals.get("waiting_groups", 0))


def next_lines(report: Entry, entry: Entry, say: Say) -> Iterator[str]:
    """Yield what to do next, most important first."""
    totals = report["overall"]
    is_run = totals["satisfied"] or totals["violated"]
    if first := (
        "groups" if "file" in report["signature"] else "run" if not is_run else "draw" if not totals["drawn"] else ""
    ):
        yield say(f"next.{first}")
        return
    if entry["unjudged"]:
        yield say("next.draw_for", systems=say.list(entry["unjudged"]))
    if number_open := open_questions(totals):
        yield say("next.answer", count=number_open)
    if entry["state"] not in ("sure", "one_system") and len(entry["ranking"] or entry["best_observed"]) != 1:
        yield say("next.texts" if totals["judged"] == totals["satisfied"] else "next.more")
    if entry["state"] == "sure" and not (entry["accuracy"] or {}).get("best"):
        yield say("next.choose", system=entry["systems"][0])
    if not any(relation["holds"]["rate"]["n"] for relation in report.get("validity") or ()):
        yield say("next.holds")


def primary_lines(report: Entry, say: Say) -> list[str]:
    """Return what a report says of the comparisons that were named as primary; nothing where none was named."""
    lines, entries = list[str](), report.get("primary") or ()
    for entry in entries:
        code = "late"
        if entry["tested"]:
            code = "not_yet" if entry["difference"] is None else "tested" if entry["low"] != entry["high"] else "known"
        names = {name: entry[name] for name in ("system", "other", "relation")}
        rates = {end: percent(entry[end]) for end in ("difference", "low", "high")}
        pair = say("primary.pair_under" if entry["relation"] else "primary.pair", **names)
        named = {"pair": pair, "date": entry["named_at"][:10], "answers": count(entry["answers_before"])}
        more = {"study": entry["study"], "reason": say.said(entry["reason"]), "p": p_text(entry["p_holm"])}
        lines.append(say(f"primary.{code}", **named, **rates, **more))
    if tested := [entry for entry in entries if entry["tested"]]:
        holds = "holds" if all(entry["apart"] or entry["p"] is None for entry in tested) else "fails"
        lines.append(say(f"primary.{'waits' if any(compared['difference'] is None for compared in tested) else holds}"))
    return lines


# The decision with its numbers, and the charts of the first page.


def by_rank(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a ranking, best first; last those of which nothing is known."""

    def place(entry: Entry) -> tuple[float, float, str]:
        if entry["p_best"] is None:
            return (float("inf"), -(entry["score"]["value"] or 0.0), entry["system"])
        return ((entry["rank_low"] or 0) + (entry["rank_high"] or 0), -entry["p_best"], entry["system"])

    return sorted(entries, key=place)


def by_rate(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a ranking, the highest rate first; last those without one."""
    return sorted(entries, key=lambda entry: (-(entry["score"]["value"] or -1.0), entry["system"]))


def ranks_text(entry: Mapping[str, Any]) -> str:
    """Return the rank interval of an entry of a ranking."""
    ends = (entry.get("rank_low"), entry.get("rank_high"))
    return "–".join(dict.fromkeys(str(end) for end in ends if end is not None))


def decisions(report: Entry, say: Say) -> Iterator[Section]:
    """Yield for each task how sure its decision is, and what it rests on."""
    for number, entry in enumerate(report["decisions"]):
        accuracy = {rated["system"]: rated for rated in (entry["accuracy"] or {"systems": []})["systems"]}
        ranked = {rated["system"]: rated for rated in by_rank(entry["ranking"])}
        rows = [{**accuracy.get(name, {}), **ranked.get(name, {})} for name in dict.fromkeys([*ranked, *accuracy])]
        shown = table_of(
            say, rows, "system", *(["accuracy"] if accuracy else []), "reported", "genuine", "ranks", "p_best",
            reported=lambda rated: rated.get("score_observed"), genuine=lambda rated: rated.get("score"),
            ranks=ranks_text, p_best=lambda rated: chance(rated.get("p_best")),
        )  # fmt: skip
        totals = [] if number else list(_judged_lines(report, say))
        title = say("decision.title")
        if len(report["decisions"]) > 1:
            title = say("rate.titled", title=title, name=titled(report, entry, say))
        yield Section(title, [*([shown] if rows else []), *_certainty(entry, say), *totals])


def _certainty(entry: Entry, say: Say) -> Iterator[str]:
    """Yield how sure a decision is, what it rests on, and what changes for whoever chooses."""
    if entry["state"] == "open":
        yield say("decision.open_how", sure=percent(SURE, 0))
    if entry["out"]:
        yield say("decision.out", count=len(entry["out"]), systems=say.list(entry["out"]))
    if entry["weights"]:
        yield say("decision.by_weights", count=len(entry["relations"]), weights=entry["weights"])
        for ranked in entry["ranking"] if not entry["systems"] else ():
            if ranked["reason"]:
                yield say("decision.not_ranked", system=ranked["system"], reason=say.said(ranked["reason"]))
    elif entry["families"]:
        yield say("decision.mean", count=len(entry["families"]), relations=count(len(entry["relations"])))
    if entry["unjudged"]:
        yield say("decision.unjudged", count=len(entry["unjudged"]), systems=say.list(entry["unjudged"]))
    if entry["left_out"]:
        yield say("decision.left_out", count=len(entry["left_out"]), names=say.list(entry["left_out"]))
    before, after = entry["best_observed"], entry["systems"]
    if before and after and entry["state"] != "one_system":
        same = "same" if set(before) == set(after) else ("kept" if set(before) <= set(after) else "changed")
        yield say(f"decision.before_{same}", before=say.list(before))


def _judged_lines(report: Entry, say: Say) -> Iterator[str]:
    """Yield what is false, under how many relations another system is best, what is judged, what waits, and what the
    report is made from."""
    totals, signature = report["overall"], report["signature"]
    if covered := totals["cells_covered"]:
        share = percent((totals["satisfied_covered"] or 0) / totals["satisfied"] if totals["satisfied"] else None)
        about = say("headline.covered", count=totals["cells"], covered=count(covered), share=share)
        rates = {"observed": percent(totals["sr_observed"]), "genuine": say.rate(totals["sr_genuine"], PERCENT)}
        yield say.list([say("headline.together", **rates), about], "sentence")
    if compared := totals["relations_compared"]:
        more = say("headline.open_none")
        if totals["best_changes_open"]:
            code = "headline.open" if totals["judged"] is not None else "headline.open_rates"
            more = say(code, count=totals["best_changes_open"])
        yield say("headline.best", part=count(totals["best_changes_sure"]), count=compared, more=more)
    if totals["judged"] is not None:
        numbers = {"judged": count(totals["judged"]), "satisfied": count(totals["satisfied"])}
        yield say("headline.judged", count=totals["cells"], estimated=count(totals["cells_estimated"]), **numbers)
    if number_open := open_questions(totals):
        exact = "in_cells" if totals["waiting_distinct"] else "at_most_in_cells"
        cells, groups = say(f"headline.{exact}", count=totals["cells_waiting"]), totals.get("waiting_groups")
        kinds = {"texts": count(totals["waiting"]), "groups": count(groups)} if groups else {}
        code = "headline.waiting_kinds" if groups else "headline.waiting"
        yield say(code, number=count(number_open), count=number_open, cells=cells, **kinds)
    systems = {"systems": count(totals["systems"]), "relations": count(totals["relations"])}
    parts = [say("decision.basis", count=totals["systems"], **systems)]
    if totals["groups"] is not None:
        parts.append(say("decision.groups", groups=count(totals["groups"]), judged=count(totals["judged"])))
    answers = signature.get("answers") or {}
    named = [name for name in ("adjudicated", "people", "gold") if answers.get(name)]
    origins = [f"{say(f'origin.{name}')} {count(answers[name])}" for name in named]
    parts += [say("decision.answers", answers=say.list(origins))] if origins else []
    yield say.list([*parts, how_text(report, say)], "semicolon")


def how_text(report: Entry, say: Say) -> str:
    """Return how the intervals were made, what they are about, and which differences count as equal."""
    signature, points = report["signature"], report["signature"].get("delta")
    delta = say("how.delta" if points else "how.no_delta", points=percent(points))
    if not signature.get("interval"):
        return delta
    about, method = say(f"how.{signature.get('target') or 'corpus'}"), say("interval.beta")
    interval = say("how.interval", confidence=confidence_of(report), method=method, about=about)
    return say.list([interval, delta], "semicolon")


def confidence_of(report: Entry) -> str:
    """Return the confidence of the report's intervals, in per cent."""
    return percent(report["signature"].get("confidence") or 0.95, 0)


def score_chart(entry: Entry, say: Say) -> Chart | None:
    """Return every system's rate before and after, the best on top; None where no system has a score."""
    rows = [
        {
            "name": ranked["system"],
            "observed": ranked["score_observed"],
            "genuine": ranked["score"]["value"],
            **ranked["score"],
        }
        for ranked in by_rate(entry["ranking"])
        if ranked["score_observed"] is not None
    ]
    return (
        Chart(partial(charts.before_after, rows), verdict(entry, say.language), chart_key(rows, say)) if rows else None
    )


def chart_key(rows: Sequence[Mapping[str, Any]], say: Say) -> str:
    """Return what the marks of `charts.before_after` are; of bounds only where there are some."""
    bounds = [say("chart.key_bounds")] if any(row.get("least") is not None for row in rows) else []
    return say.list([say("chart.key"), *bounds], "sentence")


def family_chart(report: Entry, say: Say) -> Chart | None:
    """Return a heat map of what is genuinely satisfied, a row a family, a column a system; None without families."""
    rows = []
    for table in report["violations"]:
        for row in (row for row in table["rows"] if row["by"] == "family"):
            name = family_name(row["name"], say.language)
            if len(report["violations"]) > 1:
                name = f"{name} · {table['corpus'] or task_name(table['task'], say.language)}"
            for rates in row["rates"]:
                if rates["vr_observed"] is not None:
                    bounds = (rates["vr_genuine"][end] for end in ("value", "most", "least"))
                    ends = [1 - end for end in bounds if end is not None]
                    after = "–".join(dict.fromkeys(percent(end, 0) for end in ends)) or UNKNOWN
                    text = f"{percent(1 - rates['vr_observed'], 0)} → {after}"
                    share = 1 - sum(ends) / len(ends) if ends else None  # between bounds the middle
                    rows.append({"row": name, "column": rates["system"], "share": share, "text": text})
    if not rows:
        return None
    alt, key = say("decision.families_alt"), say("decision.families_what")
    return Chart(lambda palette: charts.heat(rows, palette.false, palette, 130), alt, key)


def today() -> str:
    """Return the date of a page."""
    return f"{datetime.now(UTC):%Y-%m-%d}"
