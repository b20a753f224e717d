"""The words that every form of a report shares: percentages, orders, headlines, notes and the signature line."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from audit.keys import canonical, fingerprint
from audit.reports.build import Report, cells_of
from audit.reports.certainty import COMPARES
from audit.statistics.orders import TIED
from audit.statistics.rates import BOUNDS

UNKNOWN = "–"
PERCENT = "\N{NO-BREAK SPACE}%"


def percent(rate: float | None, digits: int = 1) -> str:
    """A fraction as a percentage without its sign; a dash where it is unknown.

    >>> percent(0.1236), percent(None)
    ('12.4', '–')
    """
    return UNKNOWN if rate is None else f"{100 * rate:.{digits}f}"


BOUNDS_OF = {"fs_rate": BOUNDS[:4], "sr_genuine": BOUNDS[4:]}
"""Where a cell has bounds in the place of a rate: the names of both and of their interval's ends."""


def with_interval(cell: Mapping[str, Any], rate: str, low: str, high: str) -> str:
    """A rate of a cell with its interval, in per cent; where answers leave bounds only, these and their interval.

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
        return percent(cell[rate])
    return f"{percent(cell[rate])} [{percent(cell[low])}–{percent(cell[high])}]"


def count(number: int | None) -> str:
    """A count with separators; a dash where it is unknown.

    >>> count(12345)
    '12,345'
    """
    return UNKNOWN if number is None else f"{number:,}"


def of(part: int, whole: int, noun: str) -> str:
    """`3 of 20 relations`, with the noun (given in the singular) in its number."""
    return f"{part:,} of {whole:,} {noun}{'' if whole == 1 else 's'}"


def order_text(report: Report, relation: Mapping[str, Any], when: str) -> str:
    """The order of systems, best first, with `=` between tied ones; `when` is `observed`, `genuine` or `corrected`.

    >>> cells = [{"task": "t", "study": None, "relation": "MR1", "system": s, "sr_genuine": 0.5} for s in "ab"]
    >>> entry = {"task": "t", "study": None, "relation": "MR1", "order_genuine": ["a", "b"]}
    >>> order_text({"cells": cells}, entry, "genuine")
    'a = b'
    """
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    rates = {cell["system"]: cell[f"sr_{when}"] for cell in cells}
    systems = relation[f"order_{when}"]
    # Systems that were only compared have no rates, but differences.
    level = {frozenset((one["system"], one["other"])): one["difference"] for one in relation.get("pairs", ())}

    def tied(before: str, after: str) -> bool:
        if rates[before] is None or rates[after] is None:
            return abs(level.get(frozenset((before, after))) or 0.0) <= TIED
        return bool(rates[before] - rates[after] <= TIED)

    if not systems:
        return UNKNOWN
    text = systems[0]
    for before, system in zip(systems, systems[1:], strict=False):  # noqa: RUF007 - pairwise hides the first system
        text += (" = " if tied(before, system) else " > ") + system
    return text


def change_text(relation: Mapping[str, Any]) -> str:
    """What correction does to one relation, in words.

    >>> unchanged = {"best_changes": False, "order_changes": False}
    >>> change_text({"order_observed": ["a", "b"], "order_genuine": ["a"], "best_genuine": []} | unchanged)
    'not known yet'
    """
    if relation["best_changes"]:
        return "another system is best"
    if not relation["order_observed"]:
        return "nothing to compare"
    if len(relation["order_observed"]) == 1:
        return "one system"
    if relation["order_changes"]:
        return "the order changes"
    known = set(relation["order_genuine"])
    if len(known & set(relation["order_observed"])) < 2 or not relation["best_genuine"]:
        return "not known yet"
    return "no change so far" if known < set(relation["order_observed"]) else "no change"


def ranking_text(entries: Sequence[Mapping[str, Any]]) -> str:
    r"""How sure a ranking is, best first: rank interval, letters and P(best); empty where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2, "letters": "ab"}
    >>> ranking_text([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    'b rank 1 ab 75\xa0%; a rank 1–2 ab 25\xa0%'
    """
    return "; ".join(
        f"{system} rank {ranks} {letters} {chance}" for system, chance, ranks, letters in ranking_rows(entries)
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


def ranking_rows(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    r"""(system, P(best), ranks, letters) of a ranking, best first; none where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2, "letters": "ab"}
    >>> ranking_rows([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    [('b', '75\xa0%', '1', 'ab'), ('a', '25\xa0%', '1–2', 'ab')]
    """
    return [
        (entry["system"], chance(entry["p_best"]), ranks_text(entry), entry["letters"]) for entry in by_rank(entries)
    ]


def by_rank(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries of a ranking that are known, best first."""
    known = [entry for entry in entries if entry["p_best"] is not None]
    return sorted(known, key=lambda entry: (entry["rank_low"] + entry["rank_high"], -entry["p_best"], entry["system"]))


def flip_text(relation: Mapping[str, Any]) -> str:
    r"""How far the genuine order is from the reported one, in words; empty where nothing is known.

    >>> flip_text({"tau": 0.3333, "p_flip": 0.98})
    'tau 0.33 between the orders; the reported best is overtaken with 98\xa0%'
    """
    parts = []
    if relation["tau"] is not None:
        parts.append(f"tau {relation['tau']:.2f} between the orders")
    if relation["p_flip"] is not None:
        parts.append(f"the reported best is overtaken with {chance(relation['p_flip'])}")
    return "; ".join(parts)


def chance(probability: float) -> str:
    r"""A probability in per cent; what was not seen in thousands of draws is still not impossible.

    >>> chance(0.25), chance(0.001)
    ('25\xa0%', '<1\xa0%')
    """
    if probability < 0.005:
        return f"{'<1' if probability else '0'}{PERCENT}"
    return f"{'>99' if 0.995 <= probability < 1 else f'{100 * probability:.0f}'}{PERCENT}"


def ranks_text(entry: Mapping[str, Any]) -> str:
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
            one["by"],
            rollup_name(report, one),
            percent(one["sr_observed"]),
            with_interval(one, "fs_rate", "fs_low", "fs_high"),
            with_interval(one, "sr_genuine", "sr_genuine_low", "sr_genuine_high"),
            one["reason"] or "",
        )
        for one in report["rollups"]
    ]


def rollup_name(report: Report, entry: Mapping[str, Any]) -> str:
    """The name of a roll-up, with its task where the report has several."""
    several = len({relation["task"] for relation in report["relations"]}) > 1
    return f"{entry['name']} ({entry['task']})" if several and entry["task"] else str(entry["name"])


def preference_lines(report: Report) -> list[str]:
    """The ranking by the user's weights, in sentences; none where no weights were given."""
    found = report.get("preference")
    if found is None:
        return []
    scored = sorted(
        (one for one in found["ranking"] if one["score"] is not None), key=lambda one: (-one["score"], one["system"])
    )
    scores = "; ".join(f"{one['system']} {with_interval(one, 'score', 'score_low', 'score_high')}" for one in scored)
    lines = [f"By the weights {found['source']}: {scores or UNKNOWN}."]
    sure = ranking_text(found["ranking"])
    if sure:
        lines.append(f"How sure: {sure}.")
    for one in found["ranking"]:
        if one["score"] is None:
            lacks = "is not ranked" if one["p_best"] is None else "has no score"
            lines.append(f"{one['system']} {lacks}: {one['reason']}.")
    if found["winner"]:
        before, after = (", ".join(found[name]) for name in ("winner_observed", "winner"))
        lines.append(f"Best is {after}." if before == after else f"Best was {before}, is {after}.")
        move = found["move"]
        if move is None:
            lines.append("No weights over these relations make another system better.")
        else:
            lines.append(
                f"{move['rival']} draws level when {percent(move['distance'] / 2)}{PERCENT} of the weight moves."
            )
    return lines


def best_text(relation: Mapping[str, Any]) -> str:
    """Who was best and who is, as far as that is known.

    >>> orders = {"order_observed": ["a", "b"], "order_genuine": ["b", "a"], "best_changes": True}
    >>> best_text(orders | {"best_observed": ["a"], "best_genuine": ["b"]})
    'was a, is b'
    """
    before, after = (", ".join(relation[f"best_{when}"]) or UNKNOWN for when in ("observed", "genuine"))
    if not relation["order_observed"]:
        return "the relation applied to none of these sources"
    if not relation["best_genuine"]:
        return f"was {before}, is not known yet"
    return before if before == after else f"was {before}, is {after}"


def place(report: Report, entry: Mapping[str, Any]) -> str:
    """What a cell or relation of a report belongs to: its task, and its corpus where that is known.

    The study is named where there is no corpus, or where several studies of the report share it.
    """
    task, corpus, study = entry["task"], entry["corpus"], entry["study"]
    alike = {other["study"] for other in report["relations"] if (other["task"], other["corpus"]) == (task, corpus)}
    named = study is not None and (corpus is None or len(alike) > 1)
    parts = [task, *([corpus] if corpus is not None else []), *([f"study {study}"] if named else [])]
    return " · ".join(str(part) for part in parts)


def summary_of(report: Report, relation: Mapping[str, Any]) -> str:
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
                f"{percent(totals['fs_rate'])}{PERCENT}",
                f"of the satisfaction that was reported is false: {percent(totals['sr_observed'])}{PERCENT} of the "
                f"groups seem to satisfy their relation, {percent(totals['sr_genuine'])}{PERCENT} really do.",
            )
        )
    elif totals["fs_rate_median"] is not None:
        lines.append(
            (
                f"{percent(totals['fs_rate_median'])}{PERCENT}",
                "of the satisfaction that was reported is false in the median cell; the cells lie between "
                f"{percent(totals['fs_rate_least'])}{PERCENT} and {percent(totals['fs_rate_most'])}{PERCENT}.",
            )
        )
    compared = totals["relations_compared"]
    if compared:
        noun = "relation has" if compared == 1 else "relations have"
        lines.append(
            (
                f"{totals['best_changes']} of {compared}",
                f"{noun} another best system once false satisfactions are taken out; "
                f"the order of systems changes for {totals['order_changes']}.",
            )
        )
    if totals["judged"] is not None:
        estimated = of(totals["cells_estimated"], totals["cells"], "cell")
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


def notes_of(report: Report) -> list[str]:
    """What a reader must know beside the numbers: the signature's notes, then what the data themselves call for."""
    found = [str(note) for note in report["signature"].get("notes") or []]
    totals = report["overall"]
    unestimated = sum(cell["sr_genuine"] is None and cell["reason"] != COMPARES for cell in report["cells"])
    if unestimated and unestimated < totals["cells"]:
        found.append(
            f"{of(unestimated, totals['cells'], 'cell')} have no genuine rate yet; the order after correction, and "
            "whether it changes, look only at systems that have one."
        )
    elif unestimated:
        found.append("No cell has a genuine rate yet: no satisfied group of a sample is settled.")
    changes = [relation for relation in report["relations"] if relation["best_changes"]]
    unsure = sum(_overlap(report, relation) for relation in changes)
    if unsure:
        found.append(
            f"{of(unsure, totals['best_changes'], 'change')} of the best system {'is' if unsure == 1 else 'are'} not "
            "sure yet: the intervals of the old and the new best overlap. Judge more groups before you switch."
        )
    apart = sum(_alike(report, relation) for relation in changes)
    if apart:
        found.append(
            f"{of(apart, totals['best_changes'], 'change')} of the best system {'is' if apart == 1 else 'are'} not "
            "sure yet: the old and the new best share a letter. Judge more groups before you switch."
        )
    # While no carry error is measured, the signature's own note says how many of its questions wait.
    if totals.get("audits_waiting") and any(one["carry"] and one["carry"]["audited"] for one in report["relations"]):
        waiting = count(totals["audits_waiting"])
        found.append(f"Questions that only audit what relations carry and wait for people: {waiting}.")
    if totals.get("checks_waiting"):
        waiting = count(totals["checks_waiting"])
        found.append(f"Answers on which people agree that wait for an adjudicator's spot check: {waiting}.")
    if totals["errors"]:
        found.append(f"{count(totals['errors'])} groups were not checked because a system failed; they are in no rate.")
    return found


def estimator_text(report: Report) -> str:
    """How R_FS and its interval were made where that is not the sample's own rate at a number fixed before; else empty.

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
    used = [cell for cell in report["cells"] if (cell["gain"] or 0) > 1]
    if not used:
        return f"Of the proxies {names} none helps in any cell: every R_FS is that of the judged groups alone."
    gain = f"{median(cell['gain'] for cell in used):.2f}"
    where = of(len(used), len(report["cells"]), "cell")
    rest = "" if len(used) == len(report["cells"]) else " In the others R_FS is that of the judged groups alone."
    return (
        f"R_FS by {used[0]['method']} with {names} in {where}; median gain {gain}: as if {gain} times as many had been "
        f"judged.{rest}"
    )


def _overlap(report: Report, relation: Mapping[str, Any]) -> bool:
    """Whether a new best system's interval of SR_g reaches down into that of a system that was best."""
    by_name = _by_system(report, relation)
    highs = [by_name[system]["sr_genuine_high"] for system in relation["best_observed"]]
    lows = [by_name[system]["sr_genuine_low"] for system in relation["best_genuine"]]
    return any(high is not None and low is not None and low <= high for high in highs for low in lows)


def _alike(report: Report, relation: Mapping[str, Any]) -> bool:
    """Whether systems that were only compared, so that they have no intervals, leave open who is best."""
    by_name = _by_system(report, relation)
    if not any(by_name[system]["reason"] == COMPARES for system in relation["best_genuine"]):
        return False
    letters = {one["system"]: set(one["letters"] or "") for one in relation["ranking"]}
    return any(letters[was] & letters[now] for was in relation["best_observed"] for now in relation["best_genuine"])


def _by_system(report: Report, relation: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    return {cell["system"]: cell for cell in cells}


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
