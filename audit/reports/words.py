"""The words of a report in the language that is asked for: numbers, headlines, notes, the sentences of each section,
and the signature line. Terminal, HTML, notebook and app all say them by these functions.

Each function takes what it is about from the report document (`audit.reports.document`) and the words from the
catalogue (`audit.messages`); `language` is a code of its `LANGUAGES`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from audit.keys import canonical, fingerprint
from audit.messages import ENGLISH, catalogue, phrase, said
from audit.relations.composition import BAR, summary_from
from audit.reports.accuracy import SCORES
from audit.reports.build import Report
from audit.reports.document import (
    BOUNDS,
    AccuracyEntry,
    CausesEntry,
    OverallEntry,
    PairEntry,
    Place,
    PlanEntry,
    PreferenceEntry,
    PreferredSystem,
    PrimaryEntry,
    RankedEntry,
    RelationResultEntry,
    RepeatsEntry,
    RollupEntry,
    SliceRate,
    SlicesEntry,
    SliceStanding,
    SliceTest,
    ViolationRate,
    ViolationRow,
)
from audit.reports.violations import VR_BOUNDS
from audit.statistics.orders import TIED
from audit.studies.versions import from_to
from audit.tasks import base_of, label_words, wording

UNKNOWN = "–"
PERCENT = "\N{NO-BREAK SPACE}%"
BOUNDS_OF = {"fs_rate": BOUNDS[:4], "sr_genuine": BOUNDS[4:], "vr_genuine": VR_BOUNDS}
"""Where cells have bounds in the place of a rate: the names of both and of their interval's ends."""
MUCH = 0.05
"""By how much R_FS has to fall for the headline to say so."""
OWN_ENDS = ("rate", "error", "share", "difference", "accuracy")
"""What an entry is about: its `low` and `high` are the ends of this."""

# Numbers.


def percent(rate: float | None, digits: int = 1) -> str:
    """A fraction as a percentage without its sign; a dash where it is unknown.

    >>> percent(0.1236), percent(None)
    ('12.4', '–')
    """
    return UNKNOWN if rate is None else f"{100 * rate:.{digits}f}"


def count(number: int | None) -> str:
    """A count with separators; a dash where it is unknown.

    >>> count(12345)
    '12,345'
    """
    return UNKNOWN if number is None else f"{number:,}"


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` decimals; a dash where it is unknown.

    >>> number(0.5), number(2, 1), number(None)
    ('0.5000', '2.0', '–')
    """
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def signed(rate: float) -> str:
    """A difference in points, with its sign.

    >>> signed(0.0512), signed(-0.031), signed(0.0)
    ('+5.1', '-3.1', '0.0')
    """
    difference = f"{100 * rate:+.1f}"
    return difference[1:] if difference in ("+0.0", "-0.0") else difference


def p_number(p: float | None) -> str:
    """A p-value with four decimals, never 0; a dash where it is unknown.

    >>> p_number(0.00561), p_number(1e-9), p_number(None)
    ('0.0056', '< 0.0001', '–')
    """
    return "< 0.0001" if p is not None and p < 0.0001 else number(p)


def p_text(p: float | None) -> str:
    r"""A p-value with three digits and what it is to `p`, as papers print it, on one line.

    >>> p_text(0.0004), p_text(0.0417), p_text(1.0)
    ('<\xa0.001', '=\xa0.042', '=\xa01')
    """
    if p is None:
        return UNKNOWN
    if p < 0.001:
        return "<\N{NO-BREAK SPACE}.001"
    return "=\N{NO-BREAK SPACE}" + ("1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0"))


def chance(probability: float) -> str:
    r"""A probability in per cent; what was not seen in thousands of draws is still not impossible.

    >>> chance(0.25), chance(0.001)
    ('25\xa0%', '<1\xa0%')
    """
    if probability < 0.005:
        return f"{'<1' if probability else '0'}{PERCENT}"
    return f"{'>99' if 0.995 <= probability < 1 else f'{100 * probability:.0f}'}{PERCENT}"


def span(least: float | None, most: float | None, language: str = ENGLISH) -> str:
    """Two rates between which something lies, in per cent; one where they read alike.

    >>> span(0.2, 0.5), span(0.2, 0.2)
    ('20.0 to 50.0', '20.0')
    """
    ends = percent(least), percent(most)
    return ends[0] if ends[0] == ends[1] else phrase(language, "rate.span", least=ends[0], most=ends[1])


def with_interval(entry: Mapping[str, Any], rate: str, language: str = ENGLISH, sign: str = "") -> str:
    """A rate of one or more cells with its interval, in per cent; where answers leave bounds only, these and theirs.

    The ends are the entry's `RATE_low` and `RATE_high`, `fs_low` of `fs_rate`, and of `OWN_ENDS` simply `low` and
    `high`. `sign` stands after the rate.

    >>> with_interval({"fs_rate": 0.2, "fs_low": 0.1, "fs_high": 0.35}, "fs_rate")
    '20.0 [10.0–35.0]'
    >>> bounds = {"fs_least": 0.2, "fs_most": 0.5, "fs_bound_low": 0.1, "fs_bound_high": 0.6}
    >>> with_interval({"fs_rate": None, "fs_low": None, "fs_high": None, **bounds}, "fs_rate")
    '20.0 to 50.0 [10.0–60.0]'
    """
    bounds = BOUNDS_OF.get(rate)
    if bounds and entry[rate] is None and entry.get(bounds[0]) is not None:
        least, most = (percent(entry[name]) for name in bounds[:2])
        between = phrase(language, "rate.span", least=least, most=most)
        return f"{between} [{percent(entry[bounds[2]])}–{percent(entry[bounds[3]])}]"
    prefixes = (f"{rate}_", f"{rate.removesuffix('_rate')}_", *([""] if rate in OWN_ENDS else []))
    prefix = next((prefix for prefix in prefixes if f"{prefix}low" in entry), "no ")
    low, high = entry.get(f"{prefix}low"), entry.get(f"{prefix}high")
    if low is None or high is None:
        return f"{percent(entry[rate])}{sign}"
    return f"{percent(entry[rate])}{sign} [{percent(low)}–{percent(high)}]"


def field_text(entry: Mapping[str, Any], column: str, language: str = ENGLISH) -> str:
    """A field as a table of text has it: a rate with its interval or bounds, a count, or a name; a dash for None.

    >>> cell = {"system": "a", "judged": 1200, "vr_genuine": 0.5}
    >>> [field_text(cell, column) for column in cell]
    ['a', '1,200', '50.0']
    """
    value = entry[column]
    if isinstance(value, str):
        return said(value, language)
    return count(value) if isinstance(value, int) else with_interval(entry, column, language)


def genuine_text(entry: Mapping[str, Any], language: str = ENGLISH) -> str:
    """SR_g of one or more cells in per cent, or its bounds; a dash where neither is known.

    >>> genuine_text({"sr_genuine": 0.25}), genuine_text({"sr_genuine": None, "sr_least": 0.2, "sr_most": 0.5})
    ('25.0', '20.0 to 50.0')
    """
    if entry["sr_genuine"] is None and entry.get("sr_least") is not None:
        return phrase(language, "rate.span", least=percent(entry["sr_least"]), most=percent(entry["sr_most"]))
    return percent(entry["sr_genuine"])


def of_text(part: int | None, whole: int | None, language: str = ENGLISH) -> str:
    """`3 of 20`, in words of the language."""
    return phrase(language, "rate.of", part=count(part), whole=count(whole))


def listed(parts: Iterable[str], language: str = ENGLISH, separator: str = "semicolon") -> str:
    """Parts one after the other; `separator` is `comma`, `semicolon`, or `sentence` between whole sentences."""
    return phrase(language, f"list.{separator}").join(parts)


def capital(sentence: str) -> str:
    """The sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


# Names.


def heading_of(column: str, language: str = ENGLISH) -> str:
    """The heading of a column where another line says that rates are in per cent.

    >>> heading_of("sr_observed"), heading_of("system")
    ('SR_o', 'System')
    """
    return phrase(language, f"column.{column}").removesuffix(" %")


def task_name(task: str, language: str = ENGLISH) -> str:
    """A task, with its label scheme where it has one.

    >>> task_name("classification/a,b"), task_name("classification/a,b", "zh")
    ('classification/a,b', '分类/a,b')
    """
    return wording(task, language).name + task[len(base_of(task)) :]


def family_name(family: str, language: str = ENGLISH) -> str:
    """A family of relations; a plug-in's as it is."""
    return BAR.join(catalogue(language).get(f"family.{part}", part) for part in family.split(BAR))


def label_name(label: str, tasks: Iterable[str], language: str = ENGLISH) -> str:
    """A label of one of these tasks in the middle of a sentence; in English, and a label of a user's scheme in every
    language, as it is stored.

    >>> label_name("neutral", ["sentiment"], "zh"), label_name("neutral", ["classification/neutral,hot"], "zh")
    ('中性', 'neutral')
    """
    if language == ENGLISH:
        return label
    return next((words for task in tasks if (words := label_words(label, task, language)) != label), label)


def place(report: Report, entry: Place, language: str = ENGLISH) -> str:
    """What a cell or relation of a report belongs to: its task, and its corpus where that is known.

    The study is named where there is no corpus, or where several studies of the report share it.
    """
    task, corpus, study = entry["task"], entry["corpus"], entry["study"]
    alike = {other["study"] for other in report["relations"] if (other["task"], other["corpus"]) == (task, corpus)}
    parts = [task_name(task, language), *([corpus] if corpus is not None else [])]
    if study is not None and (corpus is None or len(alike) > 1):
        parts.append(phrase(language, "rate.study", study=study))
    return " · ".join(parts)


def title_of(report: Report, entry: Place, code: str, language: str = ENGLISH, **parameters: object) -> str:
    """A heading with the study that it is about, where the report has several."""
    title = phrase(language, code, **parameters)
    if len(report["violations"]) < 2:
        return title
    return phrase(language, "rate.titled", title=title, name=place(report, entry, language))


def summary_of(report: Report, relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """What a relation does, in one line; empty where it is not one of ours, or a file's own totals are corrected."""
    from audit.errors import UnknownName
    from audit.relations import get_relation
    from audit.relations.registry import base_name

    if "file" in report["signature"]:
        return ""  # somebody else's MR1.1 may be another relation than ours
    try:
        name = base_name(relation["relation"])
        english = get_relation(relation["task"], name).summary
    except UnknownName:
        return ""
    return summary_from(catalogue(language), relation["task"], name, english)


def rollup_name(report: Report, entry: RollupEntry | CausesEntry, language: str = ENGLISH) -> str:
    """The name of a roll-up, with its task where the report has several."""
    name = str(entry["name"])
    if entry["by"] == "overall":
        name = phrase(language, "violations.all_cells")
    elif entry["by"] == "family":
        name = family_name(name, language)
    several = len({relation["task"] for relation in report["relations"]}) > 1
    return f"{name} ({task_name(entry['task'], language)})" if several and entry["task"] else name


# Rankings and orders.


def by_rank(entries: Sequence[RankedEntry | PreferredSystem]) -> list[RankedEntry | PreferredSystem]:
    """The entries of a ranking that are known, best first."""
    ranked = [
        ((entry["rank_low"] + entry["rank_high"], -entry["p_best"], entry["system"]), entry)
        for entry in entries
        if entry["p_best"] is not None and entry["rank_low"] is not None and entry["rank_high"] is not None
    ]
    return [entry for _, entry in sorted(ranked, key=lambda placed: placed[0])]


def ranking_rows(entries: Sequence[RankedEntry | PreferredSystem]) -> list[tuple[str, str, str]]:
    r"""(system, ranks, P(best)) of a ranking, best first; none where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2}
    >>> ranking_rows([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    [('b', '1', '75\xa0%'), ('a', '1–2', '25\xa0%')]
    """
    return [
        (entry["system"], ranks_text(entry), chance(entry["p_best"]))
        for entry in by_rank(entries)
        if entry["p_best"] is not None
    ]


def ranks_text(entry: RankedEntry | PreferredSystem) -> str:
    """The rank interval of an entry of a ranking.

    >>> ranks_text({"rank_low": 1, "rank_high": 3}), ranks_text({"rank_low": 2, "rank_high": 2})
    ('1–3', '2')
    """
    low, high = entry["rank_low"], entry["rank_high"]
    return str(low) if low == high else f"{low}–{high}"


def ranking_text(entries: Sequence[RankedEntry | PreferredSystem], language: str = ENGLISH) -> str:
    r"""How sure a ranking is, best first: rank interval and P(best); empty where nothing is known.

    >>> entry = {"system": "a", "p_best": 0.25, "rank_low": 1, "rank_high": 2}
    >>> ranking_text([entry, entry | {"system": "b", "p_best": 0.75, "rank_high": 1}])
    'b rank 1 75\xa0%; a rank 1–2 25\xa0%'
    """
    rows = (
        (system, phrase(language, "order.rank", ranks=ranks), best) for system, ranks, best in ranking_rows(entries)
    )
    return listed(map(" ".join, rows), language)


def order_text(relation: RelationResultEntry, when: str) -> str:
    """The order of systems, best first, with `=` between tied ones; `when` is `observed` or `genuine`.

    Where a genuine order is known of some systems only, the observed one names the same systems.

    >>> ranking = [{"system": system, "sr_genuine": 0.5} for system in "ab"]
    >>> order_text({"ranking": ranking, "order_genuine": ["a", "b"]}, "genuine")
    'a = b'
    """
    fields: Mapping[str, Any] = relation  # `when` is a part of keys
    systems = fields[f"order_{when}"] or []
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


def change_code(relation: RelationResultEntry) -> str:
    """What correction does to one relation: a code of `[change]` in the catalogue."""
    if relation["best_changes_sure"]:
        return "sure"
    if not relation["order_observed"]:
        return "nothing"
    if len(relation["order_observed"]) == 1:
        return "one_system"
    if not relation["best_genuine"]:
        return "unknown"
    if relation["best_changes"]:
        return "looks"
    if relation["order_changes"]:
        return "order"
    return "none_yet" if set(relation["order_genuine"]) < set(relation["order_observed"]) else "none"


def change_text(relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """What correction does to one relation, in words.

    >>> unchanged = {"best_changes": False, "best_changes_sure": False, "order_changes": False}
    >>> change_text({"order_observed": ["a", "b"], "order_genuine": ["a"], "best_genuine": []} | unchanged)
    'not known yet'
    """
    return phrase(language, f"change.{change_code(relation)}")


def best_text(relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """Who was best and who is or looks best, as far as that is known.

    >>> orders = {"order_observed": ["a", "b"], "best_observed": ["a"], "best_genuine": ["b"], "best_changes": True}
    >>> best_text(orders | {"best_changes_sure": True, "best_sure": True})
    'was a, is b'
    >>> best_text(orders | {"best_changes_sure": True, "best_sure": False})
    'was a, which is not the best; looks like b'
    >>> best_text(orders | {"best_changes_sure": False, "best_sure": False})
    'was a, looks like b'
    """
    before, after = (
        listed(systems, language, "comma") or UNKNOWN
        for systems in (relation["best_observed"], relation["best_genuine"])
    )
    if not relation["order_observed"]:
        return phrase(language, "best.none")
    if relation["best_genuine"] and before == after:
        return before
    if not relation["best_genuine"]:
        code = "unknown"
    elif not relation["best_changes"]:
        code = "of_these"
    elif relation["best_changes_sure"]:
        code = "sure" if relation["best_sure"] else "not_best"
    else:
        code = "looks"
    return phrase(language, f"best.{code}", before=before, after=after)


def common_text(relation: RelationResultEntry, language: str = ENGLISH) -> str:
    """What the comparison of a relation's systems is about, and why it says nothing where it does not.

    >>> common = {"groups": 1200, "most_groups": 1200, "judged": 58, "deciding": 300, "reason": None}
    >>> common_text({"common": common, "order_observed": ["a", "b"]})
    'compared on the 1,200 groups that apply to all systems; 58 of the 300 that can tell them apart are judged'
    """
    common = relation["common"]
    if common is None or len(relation["order_observed"]) < 2:
        return ""
    own = common["groups"] is None
    parts = [phrase(language, "order.own_groups") if own else phrase(language, "order.common", count=common["groups"])]
    if common["most_groups"] and common["groups"] != common["most_groups"]:
        parts = [phrase(language, "order.by_pairs", most=common["most_groups"], count=common["groups"])]
    if common["deciding"] is not None:
        deciding = {"judged": count(common["judged"]), "deciding": count(common["deciding"])}
        parts.append(phrase(language, "order.deciding", **deciding))
    if common["reason"]:
        parts.append(said(common["reason"], language))
    return listed(parts, language)


def oriented(pairs: Sequence[PairEntry]) -> list[PairEntry]:
    """The pairs of a relation whose difference is known, the better system first, the surest difference first.

    `pairs` are those of an entry of `report["relations"]`; where `other` was better, the two are swapped and the signs
    of the difference and of its interval turned.

    >>> pair = {"system": "a", "other": "b", "difference": -0.2, "low": -0.3, "high": -0.1, "p_holm": 0.01}
    >>> best = oriented([pair])[0]
    >>> best["system"], best["difference"], best["low"], best["high"]
    ('b', 0.2, 0.1, 0.3)
    """
    turned = []
    for pair in pairs:
        difference, low, high = pair["difference"], pair["low"], pair["high"]
        if difference is None or low is None or high is None:
            continue
        entry = pair.copy()
        if difference < 0:
            entry |= {"system": pair["other"], "other": pair["system"]}
            entry |= {"difference": -difference, "low": -high, "high": -low}
        # Differences without error have no p and come first.
        turned.append(((entry["p_holm"] or 0.0, -abs(difference), entry["system"], entry["other"]), entry))
    return [entry for _, entry in sorted(turned, key=lambda placed: placed[0])]


def pairs_text(pairs: Sequence[PairEntry], language: str = ENGLISH) -> str:
    r"""The strongest difference of a relation in plain words; empty where none is known.

    >>> pair = {"system": "a", "other": "b", "difference": 0.2, "low": 0.1, "high": 0.3, "p_holm": 0.01}
    >>> pairs_text([pair | {"apart": True, "judged": 40, "informative": 90}])
    'a is better than b by 20.0 points [10.0 to 30.0]; p =\xa0.010 after Holm’s adjustment over the whole report.'
    """
    ordered = oriented(pairs)
    if not ordered:
        return ""
    best = ordered[0]
    if best["low"] == best["high"]:  # for the corpus, every group that decides was judged
        code = "exact"
    elif best["p_holm"] is None:
        code = "not_tested"
    else:
        code = "apart" if best["apart"] else "not_apart"
    ends = {name: percent(best[name]) for name in ("low", "high")}
    points = percent(best["difference"])
    names = {"best": best["system"], "other": best["other"]}
    return phrase(language, f"pairs.{code}", points=points, holm=p_text(best["p_holm"]), **names, **ends)


# The report in a few sentences.


def headlines(report: Report, language: str = ENGLISH) -> list[tuple[str, str]]:
    """The report in at most four (number, sentence that follows it) pairs, most important first.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> headlines(build_report(pd.DataFrame([]), {}))
    [('0', 'cells: nothing was checked yet.')]
    """
    say = partial(phrase, language)
    totals = report["overall"]
    if not totals["cells"]:
        return [("0", say("headline.nothing"))]
    lines = []
    if totals["cells_covered"]:
        false = say(
            "headline.false",
            covered=count(totals["cells_covered"]),
            count=totals["cells"],
            share=percent(share_covered(totals)),
            observed=percent(totals["sr_observed"]),
            genuine=with_interval(totals, "sr_genuine", language, PERCENT),
        )
        parts = [false, *([lenient] if (lenient := lenient_text(report, language)) else [])]
        lines.append((with_interval(totals, "fs_rate", language, PERCENT), listed(parts, language, "sentence")))
    if compared := totals["relations_compared"]:
        number_text = of_text(totals["best_changes_sure"], compared, language)
        lines.append((number_text, say("headline.best", count=compared, more=open_text(totals, language))))
    if totals["judged"] is not None:
        estimated = {"estimated": count(totals["cells_estimated"]), "count": totals["cells"]}
        judged = say("headline.judged", satisfied=count(totals["satisfied"]), **estimated)
        lines.append((count(totals["judged"]), judged))
    if number_open := open_questions(totals):
        exact = "in_cells" if totals["waiting_distinct"] else "at_most_in_cells"
        cells = say(f"headline.{exact}", count=totals["cells_waiting"])
        if of_groups := totals.get("waiting_groups"):
            kinds = {"texts": count(totals["waiting"]), "groups": count(of_groups)}
            lines.append((count(number_open), say("headline.waiting_kinds", count=number_open, cells=cells, **kinds)))
        else:
            lines.append((count(number_open), say("headline.waiting", count=number_open, cells=cells)))
    return lines


def open_questions(totals: OverallEntry) -> int:
    """The questions that drawn groups wait for: about texts and outputs, and about groups; audits are counted apart."""
    return (totals["waiting"] or 0) + totals.get("waiting_groups", 0)


def lenient_text(report: Report, language: str = ENGLISH) -> str:
    """What becomes of R_FS where labels that gold never says count as right, if that changes it by five points; empty
    else."""
    entry = report.get("sensitivity")
    if not entry or entry["fs_rate"] is None or entry["fs_rate_right"] is None:
        return ""
    if abs(entry["fs_rate"] - entry["fs_rate_right"]) < MUCH:
        return ""
    tasks = dict.fromkeys(str(relation["task"]) for relation in report["relations"])
    labels = listed((label_name(label, tasks, language) for label in entry["labels"]), language, "comma")
    rates = {"now": percent(entry["fs_rate"]), "right": percent(entry["fs_rate_right"])}
    return phrase(language, "headline.lenient", labels=labels, **rates)


def share_covered(totals: OverallEntry) -> float | None:
    """The share of all satisfied groups that is in the cells that have an estimate."""
    covered, satisfied = totals["satisfied_covered"], totals["satisfied"]
    return covered / satisfied if covered is not None and satisfied else None


def open_text(totals: OverallEntry, language: str = ENGLISH) -> str:
    """How many relations look changed without being decided, in words.

    >>> open_text({"best_changes_open": 1, "judged": 9})
    '1 more looks changed, which the judged groups do not decide'
    """
    if not totals["best_changes_open"]:
        return phrase(language, "headline.open_none")
    code = "open" if totals["judged"] is not None else "open_rates"
    return phrase(language, f"headline.{code}", count=totals["best_changes_open"])


# What a reader must know beside the numbers.


def notes_of(report: Report, language: str = ENGLISH) -> list[str]:
    """What a reader must know beside the numbers: the signature's notes, then what the data themselves call for."""
    say = partial(phrase, language)
    notes = [said(note, language) for note in report["signature"].get("notes") or []]
    totals = report["overall"]
    if any(entry.get("sr_least") is not None for entry in report["rollups"]):
        notes.append(say("note.bounds_together"))
    checked = [cell for cell in report["cells"] if cell["sr_observed"] is not None]
    unestimated = sum(cell["sr_genuine"] is None for cell in checked)
    bounded = any(cell.get("fs_least") is not None for cell in report["cells"])
    if unestimated and (unestimated < totals["cells"] or bounded):
        notes.append(say("note.unestimated", part=unestimated, count=totals["cells"]))
    elif unestimated:
        notes.append(say("note.no_genuine"))
    too_few = [
        relation["relation"] for relation in report["relations"] if relation["common"] and relation["common"]["reason"]
    ]
    if too_few and totals["judged"]:
        notes.append(say("note.not_compared", count=totals["relations"], part=len(too_few), names=too_few))
    if other := [relation["relation"] for relation in report["relations"] if other_best(relation)]:
        notes.append(say("note.other_best", names=other))
    # While no carry error is measured, the signature's own note says how many of its questions wait.
    if totals.get("audits_waiting") and any(
        relation["carry"] and relation["carry"]["audited"] for relation in report["relations"]
    ):
        notes.append(say("note.audits_waiting", number=count(totals["audits_waiting"])))
    if totals.get("checks_waiting"):
        notes.append(say("note.checks_waiting", number=count(totals["checks_waiting"])))
    if totals["errors"]:
        notes.append(say("note.not_checked", count=totals["errors"]))
    if totals.get("rejected"):
        notes.append(say("note.rejected", count=totals["rejected"]))
    return notes


def other_best(relation: RelationResultEntry) -> bool:
    """Whether the rates of each system's own groups put another system first than the common groups do."""
    own, common = relation["best_own"], relation["best_genuine"]
    return bool(own and common and not set(own) & set(common))


# How the numbers were made.


def how_text(report: Report, language: str = ENGLISH) -> str:
    r"""How the intervals were made, what they are about, and which differences count as equal.

    >>> how_text({"signature": {"interval": "midp", "confidence": 0.95, "target": "corpus", "delta": 0.02}})
    '95\xa0% intervals (mid-p) for this corpus; differences up to 2.0 points count as equal.'
    """
    signature = report["signature"]
    delta = delta_text(signature.get("delta") or 0.0, language)
    if not signature.get("interval"):
        return capital(delta)
    about = phrase(language, f"how.{signature.get('target') or 'corpus'}")
    method = phrase(language, "interval.midp")
    made = {"confidence": confidence_of(report), "method": method, "about": about}
    return listed((phrase(language, "how.interval", **made), delta), language)


def confidence_of(report: Report) -> str:
    """The confidence of the report's intervals, in per cent."""
    return percent(report["signature"].get("confidence") or 0.95, 0)


def delta_text(delta: float, language: str = ENGLISH) -> str:
    """Which differences of SR_g count as equal, as the end of a sentence.

    >>> delta_text(0.0)
    'any difference counts.'
    """
    return phrase(language, "how.delta" if delta else "how.no_delta", points=percent(delta))


def estimator_text(report: Report, language: str = ENGLISH) -> str:
    """How R_FS and its interval were estimated; empty for the rate of a sample whose size was fixed before.

    >>> estimator_text({"signature": {}})
    ''
    """
    if "proxy" not in report["signature"]:
        return ""
    return phrase(language, "estimator.proxies", names=listed(report["signature"]["proxy"]["names"], language, "comma"))


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


# Roll-ups and preferences.


def rollup_rows(report: Report, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """(by, name, SR_o, R_FS, SR_g, why not) of every roll-up, rates in per cent with their intervals."""
    return [
        (
            phrase(language, f"level.{entry['by']}"),
            rollup_name(report, entry, language),
            *(field_text(entry, rate, language) for rate in ("sr_observed", "fs_rate", "sr_genuine")),
            said(entry["reason"] or "", language),
        )
        for entry in report["rollups"]
    ]


def preference_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """The ranking by the user's weights, in sentences; none where no weights were given."""
    preference = report.get("preference")
    if preference is None:
        return []
    say = partial(phrase, language)
    known = [(-entry["score"], entry["system"], entry) for entry in preference["ranking"] if entry["score"] is not None]
    scored = [entry for _, _, entry in sorted(known, key=lambda best_first: best_first[:2])]
    scores = listed((f"{entry['system']} {with_interval(entry, 'score', language)}" for entry in scored), language)
    lines = [say("preference.scores", weights=preference["source"], scores=scores or UNKNOWN)]
    if ranking := ranking_text(preference["ranking"], language):
        lines.append(say("preference.sure", ranking=ranking))
    elif scored and preference["winner"]:
        lines.append(say("preference.no_chances", reason=said(scored[0]["reason"] or "", language)))
    for entry in preference["ranking"]:
        if entry["score"] is None:
            lacks = "not_ranked" if entry["p_best"] is None else "no_score"
            reason = said(entry["reason"] or "", language)
            lines.append(say(f"preference.{lacks}", system=entry["system"], reason=reason))
    return [*lines, *winner_lines(preference, report["signature"].get("delta") or 0.0, language)]


def winner_lines(preference: PreferenceEntry, delta: float, language: str = ENGLISH) -> list[str]:
    """The best system by the weights, and how much it depends on them; none where it is not known."""
    if not preference["winner"]:
        return []
    before, after = (
        listed(systems or (), language, "comma") for systems in (preference["winner_observed"], preference["winner"])
    )
    same = "same" if before == after else "changed"
    lines = [phrase(language, f"preference.{same}", before=before, after=after)]
    move = preference["move"]
    if move is None:
        return [*lines, phrase(language, "preference.no_move")]
    values = {"rival": move["rival"], "share": percent(move["distance"] / 2), "points": percent(delta)}
    return [*lines, phrase(language, "preference.move_delta" if delta else "preference.move", **values)]


# Audits: propagated answers, and spot checks.


def carry_text(relation: RelationResultEntry, language: str = ENGLISH) -> str:
    r"""How often answers are carried wrongly; empty where nothing was audited.

    >>> carry = {"audited": 40, "wrong": 2, "error": 0.05, "low": 0.006, "high": 0.169}
    >>> carry_text({"carry": carry})
    'carry error 5.0 [0.6–16.9], 2 of 40 audited follow-ups'
    """
    carry = relation.get("carry")
    if not carry or not carry["audited"]:
        return ""
    error = with_interval(carry, "error", language)
    parts = [phrase(language, "audits.carry", error=error, wrong=count(carry["wrong"]), count=carry["audited"])]
    return listed(parts, language)


# Causes of false satisfactions and reasons of disputes.


def causes_text(entry: CausesEntry, language: str = ENGLISH) -> str:
    r"""The causes that were given, the commonest first, with their shares.

    >>> cause = {"cause": "label_range", "count": 2, "share": 0.5, "low": 0.1, "high": 0.9}
    >>> causes_text({"causes": [cause, cause | {"cause": "other", "count": 0}]})
    'the right label is one that the system never gives 50.0 [10.0–90.0]\xa0% (2)'
    """
    causes = sorted((cause for cause in entry["causes"] if cause["count"]), key=lambda cause: -cause["share"])
    parts = []
    for cause in causes:
        name = phrase(language, f"cause_in_words.{cause['cause']}")
        parts.append(f"{name} {with_interval(cause, 'share', language)}{PERCENT} ({count(cause['count'])})")
    return listed(parts, language)


def cause_rows(report: Report, language: str = ENGLISH) -> list[tuple[str, str, str, str]]:
    """(by, name, how many of the judged false satisfactions have a cause, causes with their shares), as text."""
    several = len({relation["study"] for relation in report["relations"]}) > 1
    rows = []
    for entry in report.get("causes") or []:
        name = rollup_name(report, entry, language)
        if several and entry["study"] is not None:
            name += f" ({phrase(language, 'rate.study', study=entry['study'])})"
        named = of_text(entry["named"], entry["false"], language)
        rows.append((phrase(language, f"level.{entry['by']}"), name, named, causes_text(entry, language)))
    return rows


def cause_note(report: Report, language: str = ENGLISH) -> str:
    """How to read the shares; empty where there are none."""
    entry = next((entry for entry in report.get("causes") or [] if entry["by"] == "overall"), None)
    if entry is None:
        return ""
    cells = phrase(language, "causes.cells", count=entry["cells"])
    return phrase(language, "causes.note", named=count(entry["named"]), count=entry["false"], cells=cells)


def dispute_line(report: Report, language: str = ENGLISH) -> str:
    """How adjudicators explained disputes, in a sentence; empty where nothing was settled."""
    disputes = report.get("disputes")
    if not disputes:
        return ""
    reasons = [
        (phrase(language, f"reason_in_words.{reason['reason']}"), reason["count"])
        for reason in disputes["reasons"]
        if reason["count"]
    ]
    reasons += [(phrase(language, "causes.no_reason"), disputes["uncoded"])] if disputes["uncoded"] else []
    ordered = sorted(reasons, key=lambda entry: -entry[1])
    counted = listed((f"{reason} {count(number)}" for reason, number in ordered), language, "comma")
    return phrase(language, "causes.disputes_settled", count=disputes["settled"], reasons=counted)


# Plans, and comparisons that were named before the first answer.


def plan_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """The plans of a report in sentences: when each was frozen, what was changed after, what was done otherwise.

    >>> change = {"key": "sample.per_relation", "before": 60, "after": 100, "at": "2026-03-09T08:00:00+00:00"}
    >>> entry = {"plan": "films", "study": 1, "frozen_at": "2026-03-02T09:41:00+00:00", "judgements": 12}
    >>> entry |= {"judgements_before": 0, "run_began": "2026-03-02T10:00:00+00:00", "version": 3}
    >>> for line in plan_lines({"plan": [entry | {"changed": [change], "deviates": []}]}):
    ...     print(line)
    Study 1, plan films: frozen on 2026-03-02, before its run and before all 12 judgements.
    Changed after it was frozen: sample.per_relation 60 -> 100 (2026-03-09).
    """
    say = partial(phrase, language)
    lines = []
    for entry in report.get("plan") or ():
        lines.append(say("plan.line", study=entry["study"], plan=entry["plan"], how=_frozen_text(entry, language)))
        if entry["changed"]:
            changes = (
                f"{change['key']} {from_to(change['before'], change['after'], language)} ({change['at'][:10]})"
                for change in entry["changed"]
            )
            lines.append(say("plan.changed", changes=listed(changes, language)))
        if entry["deviates"]:
            deviations = (
                f"{deviation['key']} {from_to(deviation['planned'], deviation['found'], language)}"
                for deviation in entry["deviates"]
            )
            code = "plan.otherwise_frozen" if entry["frozen_at"] else "plan.otherwise"
            lines.append(say(code, deviations=listed(deviations, language)))
    return lines


def _frozen_text(entry: PlanEntry, language: str) -> str:
    say = partial(phrase, language)
    if entry["frozen_at"] is None:
        return say("plan.not_frozen", version=entry["version"])
    run = say("plan.before_run" if entry["frozen_at"] <= entry["run_began"] else "plan.after_run")
    everything, before = entry["judgements"], entry["judgements_before"]
    if not everything:
        judged = say("plan.nothing_judged")
    elif not before:
        judged = say("plan.before_all", count=everything)
    else:
        judged = say("plan.after_some", before=count(before), whole=count(everything))
    return say("plan.frozen", date=entry["frozen_at"][:10], run=run, judged=judged)


def primary_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """What a report says of the comparisons that were named as primary, in sentences; none where none was named.

    >>> entry = {"study": 1, "system": "a", "other": "b", "relation": None, "tested": True, "apart": True}
    >>> entry |= {"named_at": "2026-03-02T09:41:00", "answers_before": 0, "relations": 8, "compared": 10}
    >>> entry["reason"] = None
    >>> entry |= {"difference": 0.031, "low": 0.004, "high": 0.058, "p": 0.0004, "p_holm": 0.0004}
    >>> first, then = primary_lines({"primary": [entry]})
    >>> first[:49], then[:41]
    ('Primary comparison of study 1, named on 2026-03-0', 'It is tested by itself, at 5 %, and holds')
    """
    entries = report.get("primary") or ()
    lines = [_primary_line(entry, language) for entry in entries]
    tested = [entry for entry in entries if entry["tested"]]
    if not tested:
        return lines
    if any(entry["difference"] is None for entry in tested):
        gate = "waits"
    else:
        gate = "holds" if all(entry["apart"] or entry["p"] is None for entry in tested) else "fails"
    return [*lines, phrase(language, f"primary.{gate}")]


def _primary_line(entry: PrimaryEntry, language: str) -> str:
    say = partial(phrase, language)
    code = "late"
    if entry["tested"]:
        code = "not_yet" if entry["difference"] is None else "tested" if entry["low"] != entry["high"] else "known"
    return say(
        f"primary.{code}",
        **_naming(entry, language),
        study=entry["study"],
        difference=percent(entry["difference"]),
        low=percent(entry["low"]),
        high=percent(entry["high"]),
        over="" if entry["relation"] else say("primary.over", part=entry["relations"], whole=entry["compared"]),
        reason=said(entry["reason"] or "", language),
        p=p_text(entry["p_holm"]),
    )


def _naming(entry: PrimaryEntry, language: str) -> dict[str, str]:
    code = "primary.pair_under" if entry["relation"] else "primary.pair"
    pair = phrase(language, code, system=entry["system"], other=entry["other"], relation=entry["relation"])
    return {"pair": pair, "date": entry["named_at"][:10], "answers": count(entry["answers_before"])}


# Violation rates, slices and accuracy.


def rates_text(entry: ViolationRate | SliceRate, language: str = ENGLISH) -> str:
    """VR_o, and what it is once false satisfactions are counted, with its interval; a dash where it was not run.

    >>> rates = {"vr_observed": 0.25, "vr_genuine": 0.5, "vr_genuine_low": 0.4, "vr_genuine_high": 0.65}
    >>> rates_text(rates)
    '25.0 → 50.0 [40.0–65.0]'
    >>> rates_text(rates | {"vr_genuine": None})
    '25.0 → –'
    """
    if entry["vr_observed"] is None:
        return UNKNOWN
    unknown = entry["vr_genuine"] is None and entry.get("vr_least") is None
    genuine = UNKNOWN if unknown else with_interval(entry, "vr_genuine", language)
    return f"{percent(entry['vr_observed'])} → {genuine}"


def row_name(row: ViolationRow, language: str = ENGLISH) -> str:
    """What a row of a table is called.

    >>> row_name({"by": "all", "name": "all"}), row_name({"by": "estimated", "name": "6 of 7 relations"})
    ('all relations', '6 of 7 relations')
    """
    if row["by"] == "all":
        return phrase(language, "violations.all")
    return family_name(row["name"], language) if row["by"] == "family" else said(row["name"], language)


def rates_key(report: Report, language: str = ENGLISH) -> str:
    """How the table of violation rates is to be read."""
    lines = [phrase(language, "violations.key")]
    if any(row["by"] == "estimated" for table in report["violations"] for row in table["rows"]):
        lines.append(phrase(language, "violations.key_estimated"))
    return listed(lines, language, "sentence")


def property_name(by: str, language: str = ENGLISH) -> str:
    """What sources are divided by: a slice function of audit's, or a column or function as it is called.

    >>> property_name("gold"), property_name("genre")
    ('gold label', 'genre')
    """
    return catalogue(language).get(f"slice_name.{by}", by)


def slices_key(report: Report, language: str = ENGLISH) -> str:
    """How tables of slices are to be read; empty where there is none."""
    shown = any(not entry["reason"] for entry in report.get("slices") or [])
    return phrase(language, "slices.key") if shown else ""


def slice_lines(entry: SlicesEntry, language: str = ENGLISH) -> list[str]:
    """What is not in a table of slices, and who is best where; or why there is no table."""
    say = partial(phrase, language)
    if entry["reason"]:
        return [say("slices.unknown", reason=said(entry["reason"], language))]
    lines = []
    if entry["empty"]:
        lines.append(
            say("slices.empty", names=listed((said(name, language) for name in entry["empty"]), language, "comma"))
        )
    if entry["unsliced"]:
        lines.append(say("slices.unsliced", count=entry["unsliced"]))
    return [*lines, *_standing_lines(entry, language)]


def _standing_lines(entry: SlicesEntry, language: str) -> list[str]:
    """In which slices another system is best than over all, observed and genuine, and how sure that is."""
    say = partial(phrase, language)
    compared = [standing for standing in entry["standings"] if standing["best_differs_observed"] is not None]
    if not compared:
        return []
    names = partial(listed, language=language, separator="comma")
    moved = [standing for standing in compared if standing["best_differs_observed"]]
    parts = [f"{slice_name(one['slice'], language)}: {one['order_observed'][0]}" for one in moved]
    best = names(entry["best_observed"])
    code = "slices.best_observed_moves" if moved else "slices.best_observed_same"
    lines = [say(code, best=best, slices=listed(parts, language))]
    known = [standing for standing in compared if standing["best_differs"] is not None]
    if not known or not entry["best_genuine"]:
        return [*lines, say("slices.best_unknown")]
    best = names(entry["best_genuine"])
    same = [slice_name(one["slice"], language) for one in known if not one["best_differs"]]
    if same:
        lines.append(say("slices.best_same", best=best, slices=names(same)))
    lines += [_rival_line(one, best, language) for one in known if one["best_differs"]]
    if len(known) < len(compared):
        few = [slice_name(one["slice"], language) for one in compared if one["best_differs"] is None]
        lines.append(say("slices.best_open", slices=names(few)))
    return lines


def _rival_line(standing: SliceStanding, best: str, language: str) -> str:
    place = slice_name(standing["slice"], language)
    points = with_interval(standing, "difference", language)
    sure = phrase(language, "slices.sure" if standing["sure"] else "slices.not_sure")
    p = "" if standing["p_holm"] is None else phrase(language, "slices.p", p=p_text(standing["p_holm"]))
    return phrase(
        language, "slices.rival", slice=place, rival=standing["rival"], best=best, points=points, p=p, sure=sure
    )


def slice_name(name: str | None, language: str = ENGLISH) -> str:
    """A slice; a dash for what is in none.

    >>> slice_name(None), slice_name("drama")
    ('–', 'drama')
    """
    return UNKNOWN if name is None else said(name, language)


SLICE_COLUMNS = ("slice", "system", "sources", "groups", "vr_observed", "judged", "fs_rate", "vr_genuine")


def slice_rows(entry: SlicesEntry, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `SLICE_COLUMNS` of every slice and system over all relations, as text."""
    return [
        tuple(field_text(rates, column, language) for column in SLICE_COLUMNS)
        for rates in entry["rates"]
        if rates["relation"] is None
    ]


def slices_by_relation(
    entry: SlicesEntry, system: str, language: str = ENGLISH
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The relations of one system, and for each slice (name, VR_o → VR_g under each of them), as text."""
    system_rates = [rates for rates in entry["rates"] if rates["system"] == system and rates["relation"] is not None]
    # A slice may lack some relations, so they are collected over all slices.
    relations = [name for name in entry["relations"] if any(rates["relation"] == name for rates in system_rates)]
    texts = {(rates["slice"], rates["relation"]): rates_text(rates, language) for rates in system_rates}
    rows = [
        (slice_name(name, language), [texts.get((name, relation), UNKNOWN) for relation in relations])
        for name in entry["slices"]
    ]
    return relations, rows


WORST_COLUMNS = ("rate", "slice", "system", "groups", "clusters", "judged", "inside", "outside", "difference", "q")
LISTED_SLICES = 10
"""The most slices that are listed as worst."""


def worst_slices(report: Report) -> list[SliceTest]:
    """The slices in which relations are broken more often than in the rest, at most ten, the worst first."""
    tests = (report.get("slice_tests") or {"tests": []})["tests"]
    return [test for test in tests if test["found"]][:LISTED_SLICES]


def worst_rows(report: Report, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `WORST_COLUMNS` of the worst slices, as text."""
    several = len(report["violations"]) > 1
    rows = []
    for test in worst_slices(report):
        where = f"{property_name(test['by'], language)}: {slice_name(test['slice'], language)}"
        where = phrase(language, "rate.titled", title=where, name=place(report, test, language)) if several else where
        rows.append(
            (
                "VR_o" if test["rate"] == "observed" else "VR_g",
                where,
                test["system"],
                *(count(number) for number in (test["groups"], test["clusters"], test["judged"])),
                percent(test["inside"]),
                percent(test["outside"]),
                with_interval(test, "difference", language),
                p_number(test["q"]),
            )
        )
    return rows


def worst_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """How slices were tested, how many were found, and which were not tested; empty where nobody asked."""
    tested = report.get("slice_tests")
    if tested is None:
        return []
    say = partial(phrase, language)
    if tested["reason"]:
        return [said(tested["reason"], language)]
    found = sum(test["found"] for test in tested["tests"])
    lines = [say("slices.worst_found", count=len(tested["tests"]), found=found, percent=f"{100 * tested['level']:g}")]
    if found > LISTED_SLICES:
        lines.append(say("slices.worst_listed", count=LISTED_SLICES))
    if found:
        lines.append(say("slices.worst_key"))
    for rate in ("observed", "genuine"):
        parts: dict[str, list[str]] = {}
        for one in tested["untested"]:
            if one["rate"] == rate and (name := slice_name(one["slice"], language)) not in parts.get(one["by"], ()):
                parts.setdefault(one["by"], []).append(name)
        names = (f"{property_name(by, language)} ({listed(slices, language, 'comma')})" for by, slices in parts.items())
        if parts:
            code = f"slices.untested_{rate}"
            lines.append(say(code, least=tested["least"], slices=listed(names, language)))
    return lines


ACCURACY_COLUMNS = ("system", "right", "accuracy", "one_minus_vr_o", "one_minus_vr_g")


def accuracy_rows(entry: AccuracyEntry, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `ACCURACY_COLUMNS` of every system, as text, the most accurate first."""
    systems = sorted(entry["systems"], key=lambda system: (-(system["accuracy"] or 0.0), system["system"]))
    return [
        (
            system["system"],
            of_text(system["right"], system["outputs"], language),
            with_interval(system, "accuracy", language),
            percent(system["sr_observed"]),
            with_interval(system, "sr_genuine", language),
        )
        for system in systems
    ]


def accuracy_lines(entry: AccuracyEntry, language: str = ENGLISH) -> list[str]:
    """What the accuracies are of, and whether metamorphic testing orders the systems so; or why there are none."""
    say = partial(phrase, language)
    if entry["reason"] is not None:
        return [say("accuracy.none", reason=said(entry["reason"], language))]
    all_relations = entry["over"] == "all"
    over = say("violations.all") if all_relations else say("accuracy.over", relations=said(entry["over"], language))
    lines = [say("accuracy.sources", count=entry["sources"], over=over)]
    by_accuracy = accuracy_order(entry, "accuracy")
    if len(entry["systems"]) < 2 or not by_accuracy:
        return lines
    lines.append(say("accuracy.order", score=say("accuracy.accuracy"), order=by_accuracy))
    for score in ("observed", "genuine"):
        order = accuracy_order(entry, score)
        code = "order_unknown" if not order else "order_same" if order == by_accuracy else "order_other"
        lines.append(say(f"accuracy.{code}", score=say(f"accuracy.{score}"), order=order))
    return lines


def accuracy_order(entry: AccuracyEntry, score: str) -> str:
    """The order by `accuracy`, `observed` or `genuine`, with `=` between ties; empty where it is not known.

    >>> systems = [{"system": "a", "accuracy": 0.9}, {"system": "b", "accuracy": 0.8}]
    >>> accuracy_order({"systems": systems, "order_accuracy": ["a", "b"]}, "accuracy")
    'a > b'
    """
    fields: Mapping[str, Any] = entry  # `score` is a part of keys
    rates = {system["system"]: system[SCORES[score]] for system in fields["systems"]}
    return in_order(fields[f"order_{score}"] or (), lambda before, after: bool(rates[before] - rates[after] <= TIED))


def shown_accuracy(report: Report) -> list[AccuracyEntry]:
    """The entries of `accuracy` that a reader sees: all, where one has systems; else none, as nothing could be said."""
    entries = report.get("accuracy") or []
    return entries if any(entry["systems"] for entry in entries) else []


# The same input asked several times.

REPEATED_COLUMNS = ("system", "take", "inputs", "calls", "contradicted", "share_differ", "disagreement")
BY_CALL_COLUMNS = ("relation", "system", "groups", "unstable", "vr_first", "vr_mean", "vr_by_chance", "always_violated")


def repeated_rows(entry: RepeatsEntry, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `REPEATED_COLUMNS` of every system, as text."""
    return [
        (
            system["system"],
            phrase(language, f"repeats.take_{system['take']}"),
            count(system["inputs"]),
            "–".join(dict.fromkeys((count(system["least_calls"]), count(system["most_calls"])))),
            of_text(system["contradicted"], system["inputs"], language),
            with_interval(system, "share", language),
            with_interval(system, "disagreement", language),
        )
        for system in entry["systems"]
    ]


def by_call_rows(entry: RepeatsEntry, language: str = ENGLISH) -> list[tuple[str, ...]]:
    """The values of `BY_CALL_COLUMNS` of every cell of which they are known, as text."""
    return [
        (
            cell["relation"],
            cell["system"],
            count(cell["groups"]),
            with_interval(cell, "share", language),
            percent(cell["vr_first"]),
            percent(cell["vr_mean"]),
            percent(cell["vr_by_chance"]),
            of_text(cell["always_violated"], cell["violated"], language),
        )
        for cell in entry["cells"]
        if cell["reason"] is None
    ]


def repeat_lines(entry: RepeatsEntry, language: str = ENGLISH) -> list[str]:
    """What the calls on the same inputs are, how to read them, and on what labels systems contradict themselves."""
    say = partial(phrase, language)
    lines = [listed([say("repeats.what"), say("repeats.inputs")], language, "sentence")]
    for system in entry["systems"]:
        labels = [
            say(
                "repeats.label",
                label=label_name(label["label"], [entry["task"]], language),
                part=label["contradicted"],
                whole=label["inputs"],
            )
            for label in system["labels"]
            if label["inputs"]
        ]
        if system["contradicted"] and labels:
            lines.append(say("repeats.labels", system=system["system"], labels=listed(labels, language, "comma")))
        if system["failed"]:
            lines.append(say("repeats.failed", system=system["system"], count=system["failed"]))
    return lines


def by_call_lines(entry: RepeatsEntry, language: str = ENGLISH) -> list[str]:
    """How to read the verdicts by call, and of which cells they are not known."""
    say = partial(phrase, language)
    lines = [say("repeats.cells")] if any(cell["reason"] is None for cell in entry["cells"]) else []
    unknown: dict[str, dict[str, list[str]]] = {}
    for cell in entry["cells"]:
        if cell["reason"] is not None:
            relations = unknown.setdefault(said(cell["reason"], language), {})
            relations.setdefault(cell["relation"], []).append(cell["system"])
    for reason, relations in unknown.items():
        cells = [f"{relation} ({listed(systems, language, 'comma')})" for relation, systems in relations.items()]
        lines.append(say("repeats.unknown", cells=listed(cells, language), reason=reason))
    return lines
