"""The words of a report's first page: which system, how sure, what changes for you, what to do next."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from audit.messages import ENGLISH, catalogue, phrase
from audit.reports.build import Report
from audit.reports.document import DecisionEntry, ExampleEntry, ExampleMember
from audit.reports.standings import SURE
from audit.reports.words import (
    PERCENT,
    by_rank,
    chance,
    count,
    headlines,
    label_name,
    listed,
    open_questions,
    open_text,
    oriented,
    percent,
    primary_lines,
    task_name,
    with_interval,
)
from audit.text.differences import AFTER, Kind, differences

FIRST_NOTES = 3
"""Notes that stand on the first page; the others are folded."""
_CONTEXT = 100
"""Letters of an unchanged passage of an example that are shown at each of its ends."""


def verdict(entry: DecisionEntry, language: str = ENGLISH) -> str:
    """Return which system to use, in one sentence, which says so where accuracy by gold names another one.

    >>> ranking = [{"system": "a", "score_observed": 0.9}, {"system": "b", "score_observed": 0.8}]
    >>> entry = {"state": "sure", "systems": ["a"], "ranking": ranking, "accuracy": None}
    >>> verdict(entry)
    'Use a: the best of 2 systems'
    """
    say = partial(phrase, language)
    number = count(sum(one["score_observed"] is not None for one in entry["ranking"]))
    named = {"systems": _joined(entry["systems"], language), "number": number, "count": len(entry["systems"])}
    accuracy = entry["accuracy"]
    if not accuracy or not accuracy["best"]:
        return say(f"decision.{entry['state']}", **named)
    rates = {one["system"]: one["accuracy"] for one in accuracy["systems"]}
    other = max(rates[system] or 0.0 for system in entry["systems"] if system in rates)
    more = say(
        "decision.right" if accuracy["apart"] else "decision.right_looks",
        systems=_joined(accuracy["best"], language),
        count=len(accuracy["best"]),
        share=percent(rates[accuracy["best"][0]], 0),
        other=percent(other, 0),
    )
    return listed([say(f"decision.{entry['state']}_consistent", **named), more], language)


def _joined(systems: Sequence[str], language: str) -> str:
    """Names with an "and" before the last."""
    *others, last = systems or [""]
    return phrase(language, "browse.and").join([listed(others, language, "comma"), last]) if others else last


def certainty_lines(entry: DecisionEntry, language: str = ENGLISH) -> Iterator[str]:
    """How sure that is, and what it rests on, in sentences."""
    say = partial(phrase, language)
    chances = [
        f"{one['system']} {chance(one['p_best'])}" for one in by_rank(entry["ranking"]) if one["p_best"] is not None
    ]
    if len(chances) > 1:
        yield say("decision.chances", chances=listed(chances, language, "comma"))
    if entry["state"] == "open":
        yield say("decision.open_how", sure=percent(SURE, 0))
    if entry["out"]:
        yield say("decision.out", count=len(entry["out"]), systems=listed(entry["out"], language, "comma"))
    if entry["weights"]:
        yield say("decision.by_weights", count=len(entry["relations"]), weights=entry["weights"])
    elif entry["families"]:
        relations = count(len(entry["relations"]))
        yield say("decision.mean", count=len(entry["families"]), relations=relations)
    if entry["unjudged"]:
        names = listed(entry["unjudged"], language, "comma")
        yield say("decision.unjudged", count=len(entry["unjudged"]), systems=names)
    if entry["left_out"]:
        yield say("decision.left_out", count=len(entry["left_out"]), names=listed(entry["left_out"], language, "comma"))


def accuracy_line(entry: DecisionEntry, language: str = ENGLISH) -> str:
    """The accuracy of the systems on the sources with a label, best first; empty where there is none."""
    accuracy = entry["accuracy"]
    if not accuracy:
        return ""
    rates = [f"{one['system']} {with_interval(one, 'accuracy', language, PERCENT)}" for one in accuracy["systems"]]
    code = f"decision.accuracy_{accuracy['by']}"
    return phrase(language, code, count=accuracy["texts"], rates=_few_of(rates, language))


def score_line(entry: DecisionEntry, language: str = ENGLISH) -> str:
    """The genuine rates that the systems are compared by, best first, each after the reported one; empty without."""
    rows = sorted(
        (one for one in entry["ranking"] if one["score"] is not None),
        key=lambda one: (-(one["score"] or 0), one["system"]),
    )
    rates = [
        phrase(
            language,
            "decision.score",
            system=one["system"],
            observed=percent(one["score_observed"]),
            genuine=with_interval(one, "score", language, PERCENT),
        )
        for one in rows
    ]
    return phrase(language, "decision.scores", rates=_few_of(rates, language)) if rates else ""


HEADLINES = 2
"""Headlines of the first lines: how many are judged and how many wait is in the full report, and in what to do next."""
SYSTEMS_SHOWN = 6
"""Systems that a line of the first page names at most."""


def _few_of(parts: Sequence[str], language: str) -> str:
    more = len(parts) - SYSTEMS_SHOWN
    rest = [phrase(language, "decision.more_systems", count=more)] if more > 0 else []
    return listed([*parts[:SYSTEMS_SHOWN], *rest], language, "comma")


def decision_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """What each decision is, how accurate the systems are, their rates, how sure it is, and primary comparisons."""
    lines = []
    for entry in report["decisions"]:
        about = [titled(report, entry, language)] if len(report["decisions"]) > 1 else []
        lines.append(listed([*about, verdict(entry, language)], language, "colon") + phrase(language, "list.stop"))
        lines += [accuracy_line(entry, language), score_line(entry, language), *certainty_lines(entry, language)]
    return [line for line in [*lines, *primary_lines(report, language)] if line]


def summary_lines(report: Report, language: str = ENGLISH) -> list[str]:
    """The report in a few sentences: decision, accuracy, rates, what is false, what changes, what to do next."""
    lines = decision_lines(report, language)
    lines += [f"{number} {sentence}" for number, sentence in headlines(report, language)[:HEADLINES]]
    for entry in report["decisions"]:
        lines += list(next_lines(report, entry, language))[:1]
    return lines


def change_lines(report: Report, entry: DecisionEntry, language: str = ENGLISH) -> Iterator[str]:
    """What counting false satisfactions changes for whoever chooses, in sentences."""
    say = partial(phrase, language)
    before, after = entry["best_observed"], entry["systems"]
    if before and after and entry["state"] != "one_system":
        same = "same" if set(before) == set(after) else ("kept" if set(before) <= set(after) else "changed")
        yield say(f"decision.before_{same}", before=listed(before, language, "comma"))
    scores = {one["system"]: one for one in entry["ranking"] if one["score"] is not None}
    named = [system for system in dict.fromkeys([*before, *after]) if system in scores]
    for system in named if len(scores) > 1 else []:
        rates = {"observed": percent(scores[system]["score_observed"])}
        yield say("decision.falls", system=system, genuine=with_interval(scores[system], "score", language), **rates)
    for system, number in _told_apart(report, entry).items() if entry["state"] in ("open", "likely") else ():
        yield say("decision.worse", system=system, part=number, count=len(entry["relations"]))
    totals = report["overall"]
    if totals["relations_compared"]:
        part = count(totals["best_changes_sure"])
        more = open_text(totals, language)
        yield say("decision.relations", part=part, count=totals["relations_compared"], more=more)


def _told_apart(report: Report, entry: DecisionEntry) -> dict[str, int]:
    """Systems of an entry that are told apart as worse than another in some of its relations, and as better in none:
    in how many."""
    worse: dict[str, set[int]] = {}
    better: set[str] = set()
    for number, relation in enumerate(report["relations"]):
        if relation["task"] != entry["task"] or relation["relation"] not in entry["relations"]:
            continue
        for pair in oriented(relation["pairs"]):
            if pair["apart"]:
                better.add(pair["system"])
                worse.setdefault(pair["other"], set()).add(number)
    return {system: len(numbers) for system, numbers in sorted(worse.items()) if system not in better}


def next_lines(report: Report, entry: DecisionEntry, language: str = ENGLISH) -> Iterator[str]:
    """What to do next, most important first."""
    say = partial(phrase, language)
    totals, decided = report["overall"], entry["state"] in ("sure", "one_system")
    if "file" in report["signature"]:
        yield say("next.groups")
        return
    if not totals["satisfied"] and not totals["violated"]:
        yield say("next.run")
        return
    if not totals["drawn"]:
        yield say("next.draw")
        return
    if entry["unjudged"]:
        names = listed(entry["unjudged"], language, "comma")
        yield say("next.draw_for", systems=names)
    if number_open := open_questions(totals):
        yield say("next.answer", count=number_open)
    if not decided and len(entry["ranking"] or entry["best_observed"]) != 1:
        whose = report["signature"].get("answers") or {}
        gold_alone = whose.get("gold") and not (whose.get("people") or whose.get("adjudicated"))
        yield say("next.all_gold" if gold_alone and totals["drawn"] < (totals["satisfied"] or 0) else "next.more")
    if entry["accuracy"] and entry["accuracy"]["best"]:
        best, accurate = (_joined(systems, language) for systems in (entry["systems"], entry["accuracy"]["best"]))
        yield say("next.weigh", systems=best, accurate=accurate)
    elif entry["state"] == "sure":
        yield say("next.choose", system=entry["systems"][0])
    if not any(entry["holds"]["judged"] for entry in report.get("validity") or ()):
        yield say("next.holds")


def basis_line(report: Report, language: str = ENGLISH) -> str:
    """What the report is made from, in one line: groups, systems, and whose answers."""
    totals, signature = report["overall"], report["signature"]
    origins = {"adjudicated": 0, "people": 0, "gold": 0} | {
        name: number for name, number in (signature.get("answers") or {}).items() if name != "whose"
    }
    answers = [
        f"{phrase(language, f'origin.{name}')} {count(number)}"
        for name, number in origins.items()
        if isinstance(number, int) and number
    ]
    parts = [
        phrase(
            language,
            "decision.basis",
            systems=count(totals["systems"]),
            relations=count(totals["relations"]),
            count=totals["systems"],
        )
    ]
    if totals["groups"] is not None:
        parts.append(
            phrase(language, "decision.groups", groups=count(totals["groups"]), judged=count(totals["judged"]))
        )
    if answers:
        parts.append(phrase(language, "decision.answers", answers=listed(answers, language, "comma")))
    return listed(parts, language)


def titled(report: Report, entry: DecisionEntry, language: str = ENGLISH) -> str:
    """What a decision is about: its task, and the corpora."""
    corpora = dict.fromkeys(
        str(table["corpus"]) for table in report["violations"] if table["task"] == entry["task"] and table["corpus"]
    )
    return " · ".join([task_name(entry["task"], language), *([listed(corpora, language, "comma")] if corpora else [])])


def facts(report: Report, language: str = ENGLISH) -> list[tuple[str, str]]:
    """The headlines, without what the first page says elsewhere."""
    return [line for number, line in enumerate(headlines(report, language)) if number == 0 or not report["decisions"]]


# Examples.


def example_parts(entry: ExampleEntry, language: str = ENGLISH) -> list[dict[str, Any]]:
    """The members of an example: name, texts as (piece, changed) pairs, output, what is right, whether it is wrong.

    What a follow-up has in common with its source is cut in the middle where it is long.
    """
    source = next((member for member in entry["members"] if member["role"] == "source"), None)
    roles = [member["role"] for member in entry["members"]]
    parts = []
    for number, member in enumerate(entry["members"]):
        before = source["texts"] if source is not None and member is not source else None
        same_role = [index for index, role in enumerate(roles) if role == member["role"]]
        suffix = f" {same_role.index(number) + 1}" if len(same_role) > 1 else ""
        parts.append(
            {
                "name": phrase(language, f"role_of.{member['role']}") + suffix,
                "texts": [
                    _cut(_marked(before[at], text) if before and at < len(before) else [(text, False)])
                    for at, text in enumerate(member["texts"])
                ],
                "output": label_name(member["output"] or "", [entry["task"]], language),
                "right": _right(member, entry["task"], language),
                "wrong": member["wrong"],
            }
        )
    return parts


def _right(member: ExampleMember, task: str, language: str) -> str:
    """What is right about a member, and who says so."""
    if not member["right"]:
        return phrase(language, "browse.no_answer")
    labels = phrase(language, "browse.or").join(label_name(label, [task], language) for label in member["right"])
    code = "carried" if member["origin"].startswith("carried ") else "direct"
    origin = phrase(language, f"origin.{member['origin'].removeprefix('carried ')}")
    return phrase(language, f"browse.{code}", labels=labels, origin=origin)


def _marked(before: str, after: str) -> list[tuple[str, bool]]:
    """The pieces of a follow-up's text, each with whether it is new there."""
    pieces = [piece for piece in differences(before, after) if piece.kind in AFTER]
    return [(piece.text, piece.kind is not Kind.SAME and not piece.text.isspace()) for piece in pieces]


def _cut(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The pieces, what is unchanged and long without its middle."""
    return [
        (f"{piece[:_CONTEXT].rstrip()} […] {piece[-_CONTEXT:].lstrip()}", changed)
        if not changed and len(piece) > 2 * _CONTEXT + 40
        else (piece, changed)
        for piece, changed in pieces
    ]


def cause_of(entry: ExampleEntry, language: str = ENGLISH) -> str:
    """The cause that an adjudicator named; empty where nobody did."""
    return catalogue(language).get(f"cause_in_words.{entry['cause']}", "") if entry["cause"] else ""
