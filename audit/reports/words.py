"""The words that every form of a report shares: percentages, orders, headlines, notes and the signature line."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from audit.annotation.causes import CAUSES, REASONS
from audit.keys import canonical, fingerprint
from audit.reports.build import Report
from audit.reports.certainty import COMPARES
from audit.reports.document import (
    CausesEntry,
    GoldErrorEntry,
    OverallEntry,
    Place,
    PreferredSystem,
    ProtocolArm,
    RankedEntry,
    RelationResultEntry,
    RoganGladen,
    RollupEntry,
    SensitivityEntry,
)
from audit.reports.violations import VR_BOUNDS
from audit.statistics.orders import TIED
from audit.statistics.rates import BOUNDS

UNKNOWN = "–"
"""Other ways to count an output that gold never says: as right, or not at all."""
NO_GOLD = "Gold settles none of the groups of the headline, so its errors move no rate."
CUT = "The correction for gold's errors was cut at 0 or 100 %, beyond which no rate can be."
LEFT_OUT = (
    "Of {part} of {whole} judged groups other gold labels would leave open whether they are false; there gold is taken "
    "to be right."
)
PERCENT = "\N{NO-BREAK SPACE}%"


def percent(rate: float | None, digits: int = 1) -> str:
    """A fraction as a percentage without its sign; a dash where it is unknown.

    >>> percent(0.1236), percent(None)
    ('12.4', '–')
    """
    return UNKNOWN if rate is None else f"{100 * rate:.{digits}f}"


BOUNDS_OF = {"fs_rate": BOUNDS[:4], "sr_genuine": BOUNDS[4:], "vr_genuine": VR_BOUNDS}
"""Where cells have bounds in the place of a rate: the names of both and of their interval's ends."""


TOGETHER = (
    "Where cells together read as 20.0 to 50.0 these are bounds, as some of the cells have bounds only: the truth may "
    "lie anywhere between, and the interval in brackets holds it, whatever left the answers out."
)


def with_interval(cell: Mapping[str, Any], rate: str, low: str, high: str, sign: str = "") -> str:
    """A rate of one or more cells with its interval, in per cent; where answers leave bounds only, these and theirs.
    `sign` stands after the rate.

    >>> with_interval({"r": 0.2, "l": 0.1, "h": 0.35}, "r", "l", "h")
    '20.0 [10.0–35.0]'
    >>> bounds = {"fs_least": 0.2, "fs_most": 0.5, "fs_bound_low": 0.1, "fs_bound_high": 0.6}
    >>> with_interval({"fs_rate": None, "fs_low": None, "fs_high": None, **bounds}, "fs_rate", "fs_low", "fs_high")
    '20.0 to 50.0 [10.0–60.0]'
    """
    bounds = BOUNDS_OF.get(rate)
    if bounds and cell[rate] is None and cell.get(bounds[0]) is not None:
        least, most, least_low, most_high = (percent(cell[name]) for name in bounds)
        return f"{least} to {most} [{least_low}–{most_high}]"
    if cell[low] is None or cell[high] is None:
        return f"{percent(cell[rate])}{sign}"
    return f"{percent(cell[rate])}{sign} [{percent(cell[low])}–{percent(cell[high])}]"


def genuine_text(entry: Mapping[str, Any]) -> str:
    """SR_g of one or more cells in per cent, or its bounds; a dash where neither is known.

    >>> genuine_text({"sr_genuine": 0.25}), genuine_text({"sr_genuine": None, "sr_least": 0.2, "sr_most": 0.5})
    ('25.0', '20.0 to 50.0')
    """
    if entry["sr_genuine"] is None and entry.get("sr_least") is not None:
        return f"{percent(entry['sr_least'])} to {percent(entry['sr_most'])}"
    return percent(entry["sr_genuine"])


def count(number: int | None) -> str:
    """A count with separators; a dash where it is unknown.

    >>> count(12345)
    '12,345'
    """
    return UNKNOWN if number is None else f"{number:,}"


def part_of(part: int, whole: int, noun: str) -> str:
    """`3 of 20 relations`, with the noun (given in the singular) in its number."""
    return f"{part:,} of {whole:,} {noun}{'' if whole == 1 else 's'}"


def ranking_text(entries: Sequence[RankedEntry | PreferredSystem]) -> str:
    r"""How sure a ranking is, best first: rank interval, letters and P(best); empty where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2, "letters": "ab"}
    >>> ranking_text([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    'b rank 1 ab 75\xa0%; a rank 1–2 ab 25\xa0%'
    """
    return "; ".join(
        " ".join(part for part in (system, "rank", ranks, letters, chance) if part)
        for system, chance, ranks, letters in ranking_rows(entries)
    )


def how_text(report: Report) -> str:
    r"""How the intervals were made, what they are about, and which differences count as equal; empty without intervals.

    >>> how_text({"signature": {"interval": "midp", "confidence": 0.95, "target": "corpus", "delta": 0.02}})
    '95\xa0% intervals (midp) for this corpus; differences up to 2.0 points count as equal.'
    """
    signature = report["signature"]
    delta = delta_text(signature.get("delta") or 0.0)
    if not signature.get("interval"):
        return delta[:1].upper() + delta[1:]
    about = "the population of this corpus" if signature.get("target") == "population" else "this corpus"
    confidence = percent(signature.get("confidence") or 0.95, 0)
    return f"{confidence}{PERCENT} intervals ({signature['interval']}) for {about}; {delta}"


def delta_text(delta: float) -> str:
    """Which differences of SR_g count as equal, as the end of a sentence.

    >>> delta_text(0.0)
    'any difference counts.'
    """
    return f"differences up to {percent(delta)} points count as equal." if delta else "any difference counts."


def ranking_rows(entries: Sequence[RankedEntry | PreferredSystem]) -> list[tuple[str, str, str, str]]:
    r"""(system, P(best), ranks, letters) of a ranking, best first; none where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2, "letters": "ab"}
    >>> ranking_rows([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    [('b', '75\xa0%', '1', 'ab'), ('a', '25\xa0%', '1–2', 'ab')]
    """
    return [
        (entry["system"], chance(entry["p_best"]), ranks_text(entry), str(entry.get("letters") or ""))
        for entry in by_rank(entries)
        if entry["p_best"] is not None
    ]


def by_rank(entries: Sequence[RankedEntry | PreferredSystem]) -> list[RankedEntry | PreferredSystem]:
    """The entries of a ranking that are known, best first."""
    ranked = [
        ((entry["rank_low"] + entry["rank_high"], -entry["p_best"], entry["system"]), entry)
        for entry in entries
        if entry["p_best"] is not None and entry["rank_low"] is not None and entry["rank_high"] is not None
    ]
    return [entry for _, entry in sorted(ranked, key=lambda placed: placed[0])]


def chance(probability: float) -> str:
    r"""A probability in per cent; what was not seen in thousands of draws is still not impossible.

    >>> chance(0.25), chance(0.001)
    ('25\xa0%', '<1\xa0%')
    """
    if probability < 0.005:
        return f"{'<1' if probability else '0'}{PERCENT}"
    return f"{'>99' if 0.995 <= probability < 1 else f'{100 * probability:.0f}'}{PERCENT}"


def ranks_text(entry: RankedEntry | PreferredSystem) -> str:
    """The rank interval of an entry of a ranking.

    >>> ranks_text({"rank_low": 1, "rank_high": 3}), ranks_text({"rank_low": 2, "rank_high": 2})
    ('1–3', '2')
    """
    low, high = entry["rank_low"], entry["rank_high"]
    return str(low) if low == high else f"{low}–{high}"


def rollup_rows(report: Report) -> list[tuple[str, str, str, str, str, str]]:
    """(by, name, SR_o, R_FS, SR_g, why not) of every roll-up, rates in per cent with their intervals."""
    return [
        (
            entry["by"],
            rollup_name(report, entry),
            percent(entry["sr_observed"]),
            with_interval(entry, "fs_rate", "fs_low", "fs_high"),
            with_interval(entry, "sr_genuine", "sr_genuine_low", "sr_genuine_high"),
            entry["reason"] or "",
        )
        for entry in report["rollups"]
    ]


def rollup_name(report: Report, entry: RollupEntry | CausesEntry) -> str:
    """The name of a roll-up, with its task where the report has several."""
    several = len({relation["task"] for relation in report["relations"]}) > 1
    return f"{entry['name']} ({entry['task']})" if several and entry["task"] else str(entry["name"])


def preference_lines(report: Report) -> list[str]:
    """The ranking by the user's weights, in sentences; none where no weights were given."""
    preference = report.get("preference")
    if preference is None:
        return []
    known = [(-entry["score"], entry["system"], entry) for entry in preference["ranking"] if entry["score"] is not None]
    scored = [entry for _, _, entry in sorted(known, key=lambda best_first: best_first[:2])]
    scores = "; ".join(
        f"{entry['system']} {with_interval(entry, 'score', 'score_low', 'score_high')}" for entry in scored
    )
    lines = [f"By the weights {preference['source']}: {scores or UNKNOWN}."]
    ranking = ranking_text(preference["ranking"])
    if ranking:
        lines.append(f"How sure: {ranking}.")
    elif scored and preference["winner"]:
        lines.append(f"No P(best): {scored[0]['reason']}.")
    for entry in preference["ranking"]:
        if entry["score"] is None:
            lacks = "is not ranked" if entry["p_best"] is None else "has no score"
            lines.append(f"{entry['system']} {lacks}: {entry['reason']}.")
    if preference["winner"]:
        before, after = (", ".join(preference[name] or ()) for name in ("winner_observed", "winner"))
        lines.append(f"Best is {after}." if before == after else f"Best was {before}, is {after}.")
        move = preference["move"]
        if move is None:
            lines.append("No weights over these relations make another system better.")
        else:
            lines.append(
                f"{move['rival']} draws level when {percent(move['distance'] / 2)}{PERCENT} of the weight moves."
            )
    return lines


def place(report: Report, entry: Place) -> str:
    """What a cell or relation of a report belongs to: its task, and its corpus where that is known.

    The study is named where there is no corpus, or where several studies of the report share it.
    """
    task, corpus, study = entry["task"], entry["corpus"], entry["study"]
    alike = {other["study"] for other in report["relations"] if (other["task"], other["corpus"]) == (task, corpus)}
    named = study is not None and (corpus is None or len(alike) > 1)
    parts = [task, *([corpus] if corpus is not None else []), *([f"study {study}"] if named else [])]
    return " · ".join(str(part) for part in parts)


def summary_of(report: Report, relation: RelationResultEntry) -> str:
    """What a relation does, in one line; empty where it is not one of ours, or a file's own totals are corrected."""
    from audit.errors import UnknownName
    from audit.relations import get_relation

    if "file" in report["signature"]:
        return ""  # somebody else's MR1.1 may be another relation than ours
    try:
        return get_relation(relation["task"], relation["relation"]).summary
    except UnknownName:
        return ""


def headlines(report: Report) -> list[tuple[str, str]]:
    """The report in at most four (number, sentence that follows it) pairs, most important first.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> headlines(build_report(pd.DataFrame([]), {}))
    [('0', 'cells: nothing was checked yet.')]
    """
    totals = report["overall"]
    if not totals["cells"]:
        return [("0", "cells: nothing was checked yet.")]
    lines = []
    if totals["fs_rate"] is not None:
        lines.append(
            (
                with_interval(totals, "fs_rate", "fs_low", "fs_high", PERCENT),
                f"of the reported satisfaction is false, over {covered_text(totals)}: {percent(totals['sr_observed'])}"
                f"{PERCENT} of their groups seem to satisfy their relation, "
                f"{with_interval(totals, 'sr_genuine', 'sr_genuine_low', 'sr_genuine_high', PERCENT)} really do.",
            )
        )
    elif totals["fs_rate_median"] is not None and not totals["judged"]:
        lines.append(
            (
                f"{percent(totals['fs_rate_median'])}{PERCENT}",
                "of the satisfaction that was reported is false in the median cell; the cells lie between "
                f"{percent(totals['fs_rate_least'])}{PERCENT} and {percent(totals['fs_rate_most'])}{PERCENT}.",
            )
        )
    compared = totals["relations_compared"]
    if compared:
        lines.append(
            (
                f"{totals['best_changes_sure']} of {compared}",
                f"{'relation has' if compared == 1 else 'relations have'} another best system for sure; "
                f"{open_text(totals)}.",
            )
        )
    if totals["judged"] is not None:
        estimated = part_of(totals["cells_estimated"], totals["cells"], "cell")
        have = "has" if totals["cells"] == 1 else "have"
        lines.append(
            (
                count(totals["judged"]),
                f"of {count(totals['satisfied'])} satisfied groups were judged; {estimated} {have} a genuine rate.",
            )
        )
    if totals["waiting"]:
        bound = "" if totals["waiting_distinct"] else "at most, "
        cells = f"{count(totals['cells_waiting'])} cell{'' if totals['cells_waiting'] == 1 else 's'}"
        questions = "question waits" if totals["waiting"] == 1 else "questions wait"
        lines.append((count(totals["waiting"]), f"{questions} for an answer ({bound}in {cells})."))
    return lines


def share_covered(totals: OverallEntry) -> float | None:
    """The share of all satisfied groups that is in the cells of which enough is judged."""
    covered, satisfied = totals["satisfied_covered"], totals["satisfied"]
    return covered / satisfied if covered is not None and satisfied else None


def covered_text(totals: OverallEntry) -> str:
    """Which cells a headline is about, in words."""
    cells = part_of(totals["cells_covered"], totals["cells"], "cell")
    return f"the {cells} of which enough is judged ({percent(share_covered(totals))}{PERCENT} of the satisfied groups)"


def open_text(totals: OverallEntry) -> str:
    """How many relations look changed without being decided, in words.

    >>> open_text({"best_changes_open": 1, "judged": 9})
    '1 more looks changed, which the judged groups do not decide'
    """
    number = totals["best_changes_open"]
    if not number:
        return "no other looks changed"
    what = "the judged groups do not" if totals["judged"] is not None else "rates without counts cannot"
    return f"{number} more {'looks' if number == 1 else 'look'} changed, which {what} decide"


def sensitivity_text(entry: SensitivityEntry) -> str:
    """How far the report hangs on labels that gold lacks, in one sentence."""
    labels = ", ".join(entry["labels"])
    rates = (f"{percent(entry[name])}{PERCENT}" for name in ("fs_rate", "fs_rate_right", "fs_rate_left_out"))
    now, right, left_out = rates
    systems = "; ".join(
        ", ".join(
            (
                f"{system['system']} {percent(system['fs_rate'])}",
                percent(system["fs_rate_right"]),
                percent(system["fs_rate_left_out"]),
            )
        )
        for system in entry["systems"]
    )
    return (
        f"{percent(entry['share'])}{PERCENT} of the false satisfactions have an output that gold never says "
        f"({labels}). R_FS is {now}; with these outputs counted right {right}, without their "
        f"groups {left_out} ({systems}). With them counted right {entry['best_changes_sure_right']} relations have "
        f"another best system for sure and {entry['best_changes_estimated_right']} look changed, instead of "
        f"{entry['best_changes_sure']} and {entry['best_changes_estimated']}."
    )


def gold_error_text(entry: GoldErrorEntry) -> str:
    """What R_FS is where gold is wrong as often as it is known to be, and what that cannot tell, in sentences."""

    def span(least: float, most: float) -> str:
        return percent(least) if percent(least) == percent(most) else f"{percent(least)} to {percent(most)}"

    systems = "; ".join(
        f"{system['system']} {percent(system['fs_rate'])}, {span(system['fs_rate_least'], system['fs_rate_most'])}"
        for system in entry["systems"]
    )
    ends = f"{percent(entry['fs_low'])}–{percent(entry['fs_high'])}"
    worst = f"{span(entry['worst_least'], entry['worst_most'])} [{percent(entry['worst_low'])}–"
    return (
        f"With {span(entry['low'], entry['high'])}{PERCENT} of the gold labels wrong, whatever the systems say, R_FS "
        f"is {span(entry['fs_rate_least'], entry['fs_rate_most'])} [{ends}] instead of {percent(entry['fs_rate'])} "
        f"({systems}). Errors that go with the outputs, as of systems trained on the same wrong labels, are not "
        f"corrected: at worst R_FS is {worst}{percent(entry['worst_high'])}]."
    )


def notes_of(report: Report) -> list[str]:
    """What a reader must know beside the numbers: the signature's notes, then what the data themselves call for."""
    notes = [str(note) for note in report["signature"].get("notes") or []]
    totals = report["overall"]
    if any(entry.get("sr_least") is not None for entry in report["rollups"]):
        notes.append(TOGETHER)
    unestimated = sum(cell["sr_genuine"] is None and cell["reason"] != COMPARES for cell in report["cells"])
    bounded = any(cell.get("fs_least") is not None for cell in report["cells"])
    if unestimated and (unestimated < totals["cells"] or bounded):
        notes.append(f"{part_of(unestimated, totals['cells'], 'cell')} have no genuine rate yet.")
    elif unestimated:
        notes.append("No cell has a genuine rate yet: no satisfied group of a sample is settled.")
    sensitivity = report.get("sensitivity")
    if sensitivity and sensitivity["share"] is not None:
        notes.append(sensitivity_text(sensitivity))
    if "gold_error" in report:
        gold_error = report["gold_error"]
        notes.append(gold_error_text(gold_error) if gold_error else NO_GOLD)
        if gold_error and gold_error["cut"]:
            notes.append(CUT)
        if gold_error and gold_error["left_out"]:
            notes.append(LEFT_OUT.format(part=count(gold_error["left_out"]), whole=count(gold_error["groups"])))
    too_few = [
        relation["relation"] for relation in report["relations"] if relation["common"] and relation["common"]["reason"]
    ]
    if too_few and totals["judged"]:
        have = "has" if totals["relations"] == 1 else "have"
        notes.append(
            f"{part_of(len(too_few), totals['relations'], 'relation')} {have} no order after correction and no test, "
            f"as too few groups are judged: {', '.join(too_few)}. Needed are {totals['least_judged']}, or all."
        )
    other = [relation["relation"] for relation in report["relations"] if other_best(relation)]
    if other:
        notes.append(
            "By the rates of each system's own groups another system would be best than on the groups that apply to "
            f"all: {', '.join(other)}. Systems are compared on the latter."
        )
    # While no carry error is measured, the signature's own note says how many of its questions wait.
    if totals.get("audits_waiting") and any(
        relation["carry"] and relation["carry"]["audited"] for relation in report["relations"]
    ):
        waiting = count(totals["audits_waiting"])
        notes.append(f"Questions that only audit what relations carry and wait for people: {waiting}.")
    if totals.get("checks_waiting"):
        waiting = count(totals["checks_waiting"])
        notes.append(f"Answers on which people agree that wait for an adjudicator's spot check: {waiting}.")
    if totals["errors"]:
        notes.append(f"{count(totals['errors'])} groups were not checked because a system failed; they are in no rate.")
    return notes


def estimator_text(report: Report) -> str:
    """How R_FS and its interval were estimated; empty for the rate of a sample whose size was fixed before.

    >>> cell = {"gain": 1.25, "method": "PPI++ (10-fold, finite population)"}
    >>> estimator_text({"signature": {"proxy": {"names": ["length"]}}, "cells": [cell]})[:69]
    'R_FS by PPI++ (10-fold, finite population) with length in 1 of 1 cell'
    >>> estimator_text({"signature": {}, "cells": [cell]})
    ''
    """
    if "stopping" in report["signature"]:
        return "Intervals are confidence sequences, which hold whenever judging stops."
    if "proxy" not in report["signature"]:
        return ""
    names = ", ".join(report["signature"]["proxy"]["names"])
    used = [(cell["method"], cell["gain"]) for cell in report["cells"] if cell["gain"] is not None and cell["gain"] > 1]
    if not used:
        return f"Of the proxies {names} none helps in any cell: every R_FS is that of the judged groups alone."
    gain = f"{median(gain for _, gain in used):.2f}"
    cells = part_of(len(used), len(report["cells"]), "cell")
    others = "" if len(used) == len(report["cells"]) else " In the others R_FS is that of the judged groups alone."
    return (
        f"R_FS by {used[0][0]} with {names} in {cells}; median gain {gain}: as if {gain} times as many had been "
        f"judged.{others}"
    )


def other_best(relation: RelationResultEntry) -> bool:
    """Whether the rates of each system's own groups put another system first than the common groups do."""
    own, common = relation["best_own"], relation["best_genuine"]
    return bool(own and common and not set(own) & set(common))


def signature_line(signature: Mapping[str, Any]) -> str:
    """The signature as one line of `key:value` pairs, as sacreBLEU prints it; the notes are shown elsewhere.

    What has a name and a version is `name@version`, with `#` and six digits that stand for its settings where it has
    some; the JSON document has them in full.

    >>> signature_line({"audit": "0.1.0", "systems": [{"name": "a", "version": "1"}], "seed": 0, "notes": ["..."]})
    'audit:0.1.0|systems:a@1|seed:0'
    """
    return "|".join(
        f"{key}:{_value(value)}" for key, value in signature.items() if key != "notes" and value is not None
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        if {"name", "version"} <= set(value):
            rest = {key: part for key, part in value.items() if key not in ("name", "version") and part}
            settings = f"#{fingerprint([canonical(rest)])[:6]}" if rest else ""
            return f"{value['name']}@{value['version']}{settings}"
        pairs = [f"{key}={_value(part)}" for key, part in value.items() if part is not None and part != {}]
        return ",".join(pairs)
    if isinstance(value, list | tuple):
        return ("; " if any("," in _value(part) for part in value) else ",").join(_value(part) for part in value)
    return value if isinstance(value, str) else canonical(value)


# Numbers in tables of text.


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` decimals; a dash where it is unknown.

    >>> number(0.5), number(2, 1), number(None)
    ('0.5000', '2.0', '–')
    """
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def p_number(p: float | None) -> str:
    """A p-value with four decimals, never 0; a dash where it is unknown.

    >>> p_number(0.00561), p_number(1e-9), p_number(None)
    ('0.0056', '< 0.0001', '–')
    """
    return "< 0.0001" if p is not None and p < 0.0001 else number(p)


# The words for what audits found, shared by every form of a report.


def holds_text(relation: RelationResultEntry) -> str:
    r"""In how many groups the relation does not hold, in words; empty where no group was judged.

    >>> share = {"judged": 20, "broken": 1, "rate": 0.05, "low": 0.001, "high": 0.249}
    >>> holds_text({"holds": share | {"satisfied": share, "violated": share | {"rate": None}, "waiting": 0}})
    'does not hold in 5.0 [0.1–24.9]\xa0% of the groups (1 of 20 judged): 5.0 of the satisfied, – of the violated'
    """
    entry = relation["holds"]
    if entry is None:
        return ""
    waiting = f"{count(entry['waiting'])} question{'' if entry['waiting'] == 1 else 's'} about groups without an answer"
    if entry["rate"] is None:
        return waiting if entry["waiting"] else ""
    by_outcome = ", ".join(f"{percent(entry[name]['rate'])} of the {name}" for name in ("satisfied", "violated"))
    return (
        f"does not hold in {with_interval(entry, 'rate', 'low', 'high')}{PERCENT} of the groups "
        f"({count(entry['broken'])} of {count(entry['judged'])} judged): {by_outcome}"
    ) + (f"; {waiting}" if entry["waiting"] else "")


def carry_text(relation: RelationResultEntry) -> str:
    r"""How often answers are carried wrongly, and what that can do to R_FS; empty where nothing was audited.

    >>> carry = {"audited": 40, "wrong": 2, "error": 0.05, "low": 0.006, "high": 0.169}
    >>> carry_text({"carry": carry | {"rests_on_carried": 0.5, "effect": 0.0845}})
    'carry error 5.0 [0.6–16.9], 2 of 40 audited follow-ups; 50.0\xa0% of the judged groups rest on it, R_FS ±8.5'
    """
    carry = relation.get("carry")
    if not carry or not carry["audited"]:
        return ""
    text = f"carry error {with_interval(carry, 'error', 'low', 'high')}, "
    text += f"{carry['wrong']:,} of {carry['audited']:,} audited follow-up{'' if carry['audited'] == 1 else 's'}"
    if carry["effect"] is None:
        return text
    rests = percent(carry["rests_on_carried"])
    return f"{text}; {rests}{PERCENT} of the judged groups rest on it, R_FS ±{percent(carry['effect'])}"


def check_lines(report: Report) -> list[str]:
    """What spot checks found of the protocol's errors, in sentences; none where nothing was checked."""
    entry = report["overall"].get("checks")
    if entry is None:
        return []
    lines = []
    if entry["answers"]:
        errors_text = (
            f"{count(entry['answers_wrong'])} wrong, {with_interval(entry, 'error', 'error_low', 'error_high')}"
        )
        lines.append(
            f"An adjudicator checked {_answers(entry['answers'])} on which people agreed: {errors_text}{PERCENT}."
        )
    if entry["fs_checked"] is None or entry["rogan_gladen"] is None:
        return lines
    groups = f"{count(entry['groups'])} group{'' if entry['groups'] == 1 else 's'}"
    lines.append(
        f"In {groups} whose deciding answers were checked, {count(entry['removed'])} turned out true that the protocol "
        f"calls false, and {count(entry['added'])} the other way round."
    )
    cells = f"{count(entry['cells'])} cell{'' if entry['cells'] == 1 else 's'}"
    lines.append(
        f"R_FS over {cells}: {with_interval(entry, 'fs_rate', 'fs_low', 'fs_high')} by the protocol, "
        f"{with_interval(entry, 'fs_checked', 'fs_checked_low', 'fs_checked_high')} by the difference estimator, "
        f"{_rogan_gladen(entry['rogan_gladen'])}."
    )
    return lines


def checked_rows(report: Report) -> list[tuple[str, str, str, int, str, str]]:
    """(study, relation, system, checked groups, R_FS, checked R_FS) of the cells that have the last; per cent."""
    return [
        (
            place(report, cell),
            cell["relation"],
            cell["system"],
            cell["checked"],
            with_interval(cell, "fs_rate", "fs_low", "fs_high"),
            with_interval(cell, "fs_checked", "fs_checked_low", "fs_checked_high"),
        )
        for cell in report["cells"]
        if cell["fs_checked"] is not None and cell["checked"] is not None
    ]


def _answers(number: int) -> str:
    return f"{count(number)} answer{'' if number == 1 else 's'}"


def _rogan_gladen(corrected: RoganGladen) -> str:
    if corrected["rate"] is None:
        return f"not known by Rogan-Gladen ({corrected['reason']})"
    (right_false, false), (right_true, true) = corrected["sensitivity"], corrected["specificity"]
    return (
        f"{with_interval(corrected, 'rate', 'low', 'high')} by Rogan-Gladen (sensitivity {right_false} of {false}, "
        f"specificity {right_true} of {true})"
    )


# The words for causes of false satisfactions and reasons of disputes, shared by every form of a report.

TITLE = "Why satisfactions are false"


def causes_text(entry: CausesEntry) -> str:
    r"""The causes that were given, the commonest first, with their shares.

    >>> cause = {"cause": "label_range", "count": 2, "share": 0.5, "low": 0.1, "high": 0.9}
    >>> causes_text({"causes": [cause, cause | {"cause": "other", "count": 0}]})
    'the right label is one that the system never gives 50.0 [10.0–90.0]\xa0% (2)'
    """
    causes = sorted((cause for cause in entry["causes"] if cause["count"]), key=lambda cause: -cause["share"])
    return "; ".join(
        f"{CAUSES[cause['cause']]} {with_interval(cause, 'share', 'low', 'high')}{PERCENT} ({count(cause['count'])})"
        for cause in causes
    )


def cause_rows(report: Report) -> list[tuple[str, str, str, str]]:
    """(by, name, how many of the judged false satisfactions have a cause, causes with their shares), as text."""
    return [
        (
            entry["by"],
            _name(report, entry),
            f"{count(entry['named'])} of {count(entry['false'])}",
            causes_text(entry),
        )
        for entry in report.get("causes") or []
    ]


def _name(report: Report, entry: CausesEntry) -> str:
    several = len({relation["study"] for relation in report["relations"]}) > 1
    name = rollup_name(report, entry)
    return f"{name} (study {entry['study']})" if several and entry["study"] is not None else name


def dispute_line(report: Report) -> str:
    """How adjudicators explained disputes, in a sentence; empty where nothing was settled."""
    disputes = report.get("disputes")
    if not disputes:
        return ""
    reasons = [(REASONS[reason["reason"]], reason["count"]) for reason in disputes["reasons"] if reason["count"]]
    reasons += [("no reason from the list", disputes["uncoded"])] if disputes["uncoded"] else []
    listed = ", ".join(f"{text} {count(number)}" for text, number in sorted(reasons, key=lambda entry: -entry[1]))
    total = disputes["settled"]
    return f"Adjudicators settled {count(total)} question{'' if total == 1 else 's'}: {listed}."


def cause_note(report: Report) -> str:
    """How to read the shares; empty where there are none."""
    entry = next((entry for entry in report.get("causes") or [] if entry["by"] == "overall"), None)
    if entry is None:
        return ""
    return (
        f"Causes count as far as every false satisfaction of a cell's settled beginning has one, in the order of the "
        f"draw: {part_of(entry['named'], entry['false'], 'false satisfaction')}, in {count(entry['cells'])} "
        f"cell{'' if entry['cells'] == 1 else 's'}. Shares are of the false satisfactions of these cells."
    )


# The words for what seeing an earlier answer moves, shared by every form of a report.

NAMES = {"blind": "judged blind", "shown": "judged seeing earlier answers"}


def protocol_lines(report: Report) -> list[str]:
    """R_FS by arm and the difference, in sentences; none where there is one arm only."""
    protocols = report.get("protocols")
    if not protocols:
        return []
    blind, shown = protocols["arms"]
    lines = [
        f"R_FS of groups {NAMES['blind']}: {with_interval(blind, 'fs_rate', 'fs_low', 'fs_high')} ({_groups(blind)}); "
        f"{NAMES['shown']}: {with_interval(shown, 'fs_rate', 'fs_low', 'fs_high')} ({_groups(shown)})."
    ]
    difference, low, high = protocols["difference"], protocols["low"], protocols["high"]
    if difference is not None and low is not None and high is not None:
        points = f"{signed(difference)} points [{signed(low)} to {signed(high)}]"
        moved = (
            f"Seeing an earlier answer moves R_FS by {points}"
            if protocols["randomised"]
            else f"The difference: {points}"
        )
        lines.append(f"{moved}: {_effect_text(protocols['randomised'], low, high)}.")
    lines += [_answering_text(arm) for arm in (blind, shown) if arm["questions"]]
    if protocols["crossed"]:
        lines.append(f"Of {count(protocols['crossed'])} of these groups some answer came under the other protocol.")
    return lines


def protocol_rows(report: Report) -> list[tuple[str, ...]]:
    """(protocol, sources, groups, false, R_FS, questions, votes that agree, disputed, unchanged, inspected) by arm."""
    protocols = report.get("protocols")
    return [
        (
            NAMES[arm["protocol"]],
            *(count(arm[name]) for name in ("sources", "groups", "false")),
            with_interval(arm, "fs_rate", "fs_low", "fs_high"),
            count(arm["questions"]),
            percent(arm["agreement"]),
            count(arm["disputed"]),
            unchanged_text(arm),
            inspected_text(arm),
        )
        for arm in (protocols["arms"] if protocols else [])
    ]


def unchanged_text(arm: ProtocolArm) -> str:
    """How many validations repeat the answer that they saw; a dash where there are none.

    >>> unchanged_text({"validations": 40, "unchanged": 38}), unchanged_text({"validations": 0, "unchanged": 0})
    ('38 of 40', '–')
    """
    return f"{count(arm['unchanged'])} of {count(arm['validations'])}" if arm["validations"] else UNKNOWN


def inspected_text(arm: ProtocolArm) -> str:
    """How many inspections changed an answer; a dash where there are none.

    >>> inspected_text({"inspected": 12, "inspected_changed": 1})
    '1 of 12'
    """
    return f"{count(arm['inspected_changed'])} of {count(arm['inspected'])}" if arm["inspected"] else UNKNOWN


def signed(rate: float) -> str:
    """A difference in points, with its sign.

    >>> signed(0.0512), signed(-0.031), signed(0.0)
    ('+5.1', '-3.1', '0.0')
    """
    text = f"{100 * rate:+.1f}"
    return text[1:] if text in ("+0.0", "-0.0") else text


def _groups(arm: ProtocolArm) -> str:
    return f"{count(arm['groups'])} groups of {count(arm['sources'])} sources"


def _effect_text(randomised: bool, low: float, high: float) -> str:
    if not randomised:
        return "the samples differ in more than their protocol, so that this is no effect of it"
    if low <= 0 <= high:
        return "no effect is shown, nor ruled out within this interval"
    return "sources were divided at random, so that this is the effect of the protocol"


def _answering_text(arm: ProtocolArm) -> str:
    text = f"Of {count(arm['questions'])} questions {NAMES[arm['protocol']]}, {count(arm['disputed'])} are disputed"
    if arm["agreement"] is not None:
        text += f"; {percent(arm['agreement'])}{PERCENT} of the pairs of votes agree"
    if arm["validations"]:
        text += f"; {unchanged_text(arm)} validations repeat the answer that was seen"
    if arm["inspected"]:
        text += f"; {inspected_text(arm)} inspections changed the answer"
    return text + "."


# One relation in words: who was best, who is, what the comparison is about.


def order_text(relation: RelationResultEntry, when: str) -> str:
    """The order of systems, best first, with `=` between tied ones; `when` is `observed`, `genuine` or `corrected`.

    Where a genuine order is known of some systems only, the observed one names the same systems.

    >>> ranking = [{"system": system, "sr_genuine": 0.5} for system in "ab"]
    >>> order_text({"ranking": ranking, "order_genuine": ["a", "b"]}, "genuine")
    'a = b'
    """
    fields: Mapping[str, Any] = relation  # `when` is a part of keys
    systems = fields[f"order_{when}"]
    if when == "observed" and relation["order_genuine"]:
        systems = [system for system in systems if system in relation["order_genuine"]]
    rates = {entry["system"]: entry.get(f"sr_{when}") for entry in fields["ranking"]}
    # Systems that were only compared have no rates, but differences.
    level = {frozenset((pair["system"], pair["other"])): pair["difference"] for pair in relation.get("pairs", ())}

    def tied(before: str, after: str) -> bool:
        if rates[before] is None or rates[after] is None:
            return bool(abs(level.get(frozenset((before, after)), 1.0) or 0.0) <= TIED)
        return bool(rates[before] - rates[after] <= TIED)

    return in_order(systems, tied) or UNKNOWN


def in_order(systems: Sequence[str], tied: Callable[[str, str], bool]) -> str:
    """Systems, best first, with `=` between those that are `tied`.

    >>> in_order(["a", "b", "c"], lambda before, after: after == "b")
    'a = b > c'
    """
    signs = [" = " if tied(before, after) else " > " for before, after in pairwise(systems)]
    return "".join(sign + system for sign, system in zip(["", *signs], systems, strict=False))


def change_text(relation: RelationResultEntry) -> str:
    """What correction does to one relation, in words.

    >>> unchanged = {"best_changes": False, "best_changes_sure": False, "order_changes": False}
    >>> change_text({"order_observed": ["a", "b"], "order_genuine": ["a"], "best_genuine": []} | unchanged)
    'not known yet'
    """
    if relation["best_changes_sure"]:
        return "another system is best, for sure"
    if not relation["order_observed"]:
        return "nothing to compare"
    if len(relation["order_observed"]) == 1:
        return "one system"
    if not relation["best_genuine"]:
        return "not known yet"
    if relation["best_changes"]:
        return "another system looks best"
    if relation["order_changes"]:
        return "the best stays, others change places"
    return "no change so far" if set(relation["order_genuine"]) < set(relation["order_observed"]) else "no change"


def common_text(relation: RelationResultEntry) -> str:
    """What the comparison of a relation's systems is about, and why it says nothing where it does not.

    >>> common = {"groups": 1200, "judged": 58, "deciding": 300, "reason": None}
    >>> common_text({"common": common, "order_observed": ["a", "b"]})
    'compared on the 1,200 groups that apply to all systems; 58 of the 300 that can tell them apart are judged'
    """
    common = relation["common"]
    if common is None or len(relation["order_observed"]) < 2:
        return ""
    if common["groups"] is None:
        text = "compared on each system's own groups: totals do not say which apply to all"
    else:
        text = f"compared on the {count(common['groups'])} groups that apply to all systems"
    if common["deciding"] is not None:
        text += f"; {count(common['judged'])} of the {count(common['deciding'])} that can tell them apart are judged"
    return f"{text}; {common['reason']}" if common["reason"] else text


def best_text(relation: RelationResultEntry) -> str:
    """Who was best and who is or looks best, as far as that is known.

    >>> orders = {"order_observed": ["a", "b"], "best_changes": True, "best_changes_sure": True}
    >>> best_text(orders | {"best_observed": ["a"], "best_genuine": ["b"]})
    'was a, is b'
    >>> best_text(orders | {"best_observed": ["a"], "best_genuine": ["b"], "best_changes_sure": False})
    'was a, looks like b'
    """
    before, after = (", ".join(relation[best]) or UNKNOWN for best in ("best_observed", "best_genuine"))
    if not relation["order_observed"]:
        return "the relation applied to none of these sources"
    if not relation["best_genuine"]:
        return f"was {before}, now not known yet"
    if before == after:
        return before
    if not relation["best_changes"]:
        return f"was {before}, of these {after}"
    return f"was {before}, {'is' if relation['best_changes_sure'] else 'looks like'} {after}"
