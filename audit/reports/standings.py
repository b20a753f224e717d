"""How systems stand to each other in a report: under each relation, over all, and by a user's weights.

Leads are paired: over the groups that apply to both systems, from the answers about those that tell them apart
(`audit.statistics.contests`). A system is better than another by what its SR_g is higher.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from audit.false_satisfaction.accuracy import RightOutputs
from audit.messages import message
from audit.relations.registry import name_order
from audit.reports.basis import Basis, Comparisons
from audit.reports.document import Entry, estimated, plain
from audit.reports.options import Weights
from audit.statistics.contests import DRAWS, Standing
from audit.statistics.intervals import mid_p
from audit.statistics.orders import TIED, best_of, holm
from audit.statistics.rates import weighted_mean
from audit.studies.deviations import primary_named
from audit.studies.versions import PlanAdherence

SURE, LIKELY, OUT = 0.95, 0.8, 0.01
"""Probability that no system is better, from which the best one is called sure, and likely; and below which one is
out."""
WITHOUT_COUNTS = message("no_order.without_counts")
Key = tuple[Any, str]
"""A study and one of its relations."""
Cells = Sequence[Entry]
_NO_PLACE = dict.fromkeys(("p_best", "rank_low", "rank_high"))
_NO_TEST = dict.fromkeys(("low", "high", "p", "p_above", "p_below"))


def _observed(cells: Cells) -> dict[str, float]:
    return {cell["system"]: cell["sr_observed"] for cell in cells if cell["sr_observed"] is not None}


def _genuine(cells: Cells) -> dict[str, float]:
    return {cell["system"]: rate for cell in cells if (rate := cell["sr_genuine"]["value"]) is not None}


def _by_relation(cells: Cells) -> dict[Key, list[Entry]]:
    of: dict[Key, list[Entry]] = {}
    for cell in cells:
        of.setdefault((cell["study"], cell["relation"]), []).append(cell)
    return of


def relation_entries(entries: Cells, basis: Basis) -> list[Entry]:
    """Return the systems under each relation before and after the correction; `decide` says what is sure."""
    return [_relation(key, cells, basis, seed) for seed, (key, cells) in enumerate(_by_relation(entries).items())]


def _relation(key: Key, cells: Cells, basis: Basis, seed: int) -> Entry:
    (study, relation), observed, genuine = key, _observed(cells), _genuine(cells)
    names, comparison = [system for system in genuine if system in observed], basis.comparisons.get(study)
    stand = _standing({key: 1.0}, names, {key: cells}, basis, seed)
    before, after, pairs = observed, genuine, list[Entry]()
    if comparison is not None and len(observed) > 1:
        applies = comparison.groups[relation].satisfied[:, comparison.columns([*observed])] >= 0
        if applies.all(1).sum() < applies.any(1).sum():
            # Not all apply to the same groups: as reported, too, systems are compared over those that they share.
            reported = comparison.observed().standing({relation: 1.0}, [*observed], "corpus", basis.delta)
            before = dict(zip(observed, reported.score.tolist(), strict=True))
    if stand is not None:
        if not np.isnan(stand.ahead).any():
            after = dict(zip(names, stand.score.tolist(), strict=True))
        for a, b in combinations(range(len(names)), 2):
            lead = float(stand.ahead[a, b]), float(stand.error[a, b])
            pairs.append(_pair(comparison, {relation: 1.0}, (names[a], names[b]), lead, basis))
    best_before, best_after = best_of(before), best_of(after)
    # A system without a genuine rate yet may still reach its observed one.
    if any(
        observed[system_name] >= max(genuine.values(), default=0.0) - TIED
        for system_name in set(observed) - set(genuine)
    ):
        best_after = []
    both = combinations(sorted(set(before) & set(after)), 2)
    return {
        **{name: cells[0][name] for name in ("task", "study", "corpus", "relation")},
        "order_observed": _in_order(before),
        "order_genuine": _in_order(after),
        "best_observed": best_before,
        "best_genuine": best_after,
        "order_changes": any(_sign(before[a] - before[b]) != _sign(after[a] - after[b]) for a, b in both),
        "best_changes": bool(best_after) and not set(best_before) & set(best_after),
        "overtaking": [],
        "ranking": _ranked(cells, names, stand, basis),
        "pairs": pairs,
        "best_changes_sure": False,
    }


def _in_order(rates: Mapping[str, float]) -> list[str]:
    """Return systems, best first; ties, once rounded, by name."""
    return sorted(rates, key=lambda system: (-round(rates[system], 12), system))


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= TIED else 1 if difference > 0 else -1


def _ranked(cells: Cells, names: Sequence[str], stand: Standing | None, basis: Basis) -> list[Entry]:
    places, ranking = _places(names, stand, basis), list[Entry]()
    for cell in cells:
        reason = None
        if cell["system"] not in names:
            reason = message("no_rate.nothing_checked" if cell["sr_observed"] is None else "no_rate.unjudged")
        elif cell["system"] not in places and len(names) > 1:
            reason = WITHOUT_COUNTS if stand is None else message("no_order.not_all_share")
        rates = {"sr_observed": cell["sr_observed"], "sr_genuine": cell["sr_genuine"]["value"]}
        place = places.get(cell["system"], _NO_PLACE)
        ranking.append({"system": cell["system"], **rates, **place, "reason": reason})
    return ranking


def _places(systems: Sequence[str], stand: Standing | None, basis: Basis) -> dict[str, Entry]:
    """Return the chance of each system to be the best, and the ranks that it may have, by leads that hold for all pairs
    at once (Bonferroni); nothing where that is not known."""
    if stand is None or np.isnan(stand.p_best).any():
        return {}
    number = len(systems)
    z = float(-ndtri((1 - basis.confidence) / number / max(number - 1, 1)))
    ahead = np.nan_to_num(stand.ahead) - z * np.nan_to_num(stand.error, nan=np.inf) > basis.delta + TIED
    ends = zip(stand.p_best.tolist(), (1 + ahead.sum(0)).tolist(), (number - ahead.sum(1)).tolist(), strict=True)
    return {system: dict(zip(_NO_PLACE, end, strict=True)) for system, end in zip(systems, ends, strict=True)}


def _standing(
    weights: Mapping[Key, float], systems: Sequence[str], cells: Mapping[Key, Cells], basis: Basis, seed: int = 0
) -> Standing | None:
    """Return how systems, all of which have an estimate under each relation, stand in the mean over relations; None
    where that cannot be known. The errors of several studies are independent."""
    parts: list[tuple[float, Standing]] = []
    for study in dict.fromkeys(study for study, _ in weights):
        own = {key: share for key, share in weights.items() if key[0] == study}
        share, comparison = sum(own.values()), basis.comparisons.get(study)
        scaled = {key: value / share for key, value in own.items()}
        if len(systems) < 2:
            return None
        if comparison is None:
            stand = _of_rates(scaled, systems, cells, basis, seed)
        else:
            of_study = {relation: value for (_, relation), value in scaled.items()}
            stand = comparison.standing(of_study, systems, basis.target, basis.delta, seed)
        if stand is None:
            return None
        parts.append((share, stand))
    if len(parts) == 1:
        return parts[0][1]
    ahead = np.sum([share * stand.ahead for share, stand in parts], axis=0)
    error = np.sqrt(np.sum([(share * stand.error) ** 2 for share, stand in parts], axis=0))
    score = np.sum([share * stand.score for share, stand in parts], axis=0)
    # Draws that have each pair's error, as far as one error of each system can: half of its squares.
    own_error = np.sqrt(np.maximum((error**2).sum(1) / max(len(systems) - 1, 1) / 2, 0.0))
    return Standing(ahead, error, score, _chances(score, own_error, basis.delta, 0))


def _of_rates(
    weights: Mapping[Key, float], systems: Sequence[str], cells: Mapping[Key, Cells], basis: Basis, seed: int
) -> Standing | None:
    """Return how systems stand by totals, of which nobody knows which groups share a text: rates count as
    independent."""
    score, error = np.zeros(len(systems)), np.zeros(len(systems))
    z = float(-ndtri((1 - basis.confidence) / 2))
    for key, share in weights.items():
        rates = {cell["system"]: cell["sr_genuine"] for cell in cells[key]}
        for at, system in enumerate(systems):
            value, low, high = (rates[system][end] for end in ("value", "low", "high"))
            if value is None or low is None or high is None:
                return None
            score[at] += share * value
            error[at] = math.hypot(error[at], share * (high - low) / 2 / z)
    p_best = _chances(score, error, basis.delta, seed)
    return Standing(score[:, None] - score, np.hypot(error[:, None], error), score - score.mean(), p_best)


def _chances(score: np.ndarray, error: np.ndarray, delta: float, seed: int) -> np.ndarray:
    drawn = score + np.random.default_rng(seed).standard_normal((DRAWS, len(score))) * error
    return np.asarray((drawn >= drawn.max(1, keepdims=True) - delta - 1e-12).mean(0))


# Two systems.


def compared_pair(
    comparison: Comparisons, weights: Mapping[str, float], systems: tuple[str, str], basis: Basis
) -> Entry:
    """Return SR_g of one system less that of another, over relations with these weights."""
    stand = comparison.standing(weights, systems, basis.target, basis.delta)
    return _pair(comparison, weights, systems, (float(stand.ahead[0, 1]), float(stand.error[0, 1])), basis)


def _pair(
    comparison: Comparisons | None,
    weights: Mapping[str, float],
    systems: tuple[str, str],
    lead: tuple[float, float],
    basis: Basis,
) -> Entry:
    """Return a lead of one system over another, and its error, with its interval and tests; and the number of groups
    that apply to both, of those that tell them apart (informative), and of these the answered ones.

    `p` is that of a difference of at most delta, either way; without error there is no test. Where groups are open the
    ends are those of what is possible, and there is no difference.
    """
    z, (ahead, error) = float(-ndtri((1 - basis.confidence) / 2)), lead
    sizes = comparison.sizes(weights, systems) if comparison else dict.fromkeys(("groups", "informative", "judged"), 0)
    some_open = sizes.pop("open", 0)
    entry: Entry = {"system": systems[0], "other": systems[1], "difference": plain(ahead), **_NO_TEST, "p_holm": None}
    entry |= {"apart": False, **sizes, "reason": None}
    if np.isnan(ahead):
        return entry | {"reason": message("no_order.none_shared")}
    if comparison is not None and some_open:
        low, high = comparison.bounds(weights, systems, basis.target, z)
        return entry | {"difference": None, "low": low, "high": high, "reason": message("no_order.bounds_only")}
    entry |= {"low": max(ahead - z * error, -1.0), "high": min(ahead + z * error, 1.0)}
    if error <= TIED:
        return entry | {"reason": message("no_order.census")}
    above, below = (float(ndtr((basis.delta - sign * ahead) / error)) for sign in (1, -1))
    p = min(float(ndtr((basis.delta - abs(ahead)) / error) + ndtr(-(abs(ahead) + basis.delta) / error)), 1.0)
    return entry | {"p": p, "p_above": above, "p_below": below}


# What is sure, over the whole report.


def decide(relations: Cells, basis: Basis, primary: Cells = ()) -> None:
    """Say in every relation which systems are told apart, and which surely overtake the best.

    Two families of hypotheses, each adjusted by Holm over the whole report: all pairs of all relations (`p_holm`,
    two-sided), and that no rival is better than the system reported as best, of all relations (`overtaking`,
    one-sided). A difference that is known without error is in neither. Where several systems are reported as best, a
    rival has to be better than each of them (the largest p counts). `primary` comparisons are tested by themselves, and
    no other adjusted p is below theirs. One that was named after the first answer is one of the others.
    """
    alpha, tested = 1 - basis.confidence, [entry for entry in primary if entry["tested"]]
    for entry, p in zip(tested, holm([entry["p"] or 0.0 for entry in tested]), strict=True):
        if entry["p"] is not None:
            entry |= {"p_holm": p, "apart": p <= alpha}
    # While a primary comparison cannot be tested, nothing else is sure.
    gate = max((1.0 if of["difference"] is None else of["p_holm"] or 0.0 for of in tested), default=0.0)
    named = {(entry["study"], entry["relation"], _two(entry)): entry for entry in tested}
    others = list[Entry]()
    for relation in relations:
        for pair in relation["pairs"]:
            entry = named.get((relation["study"], relation["relation"], _two(pair)), {})
            if entry and pair["p"] is not None:
                pair |= {name: entry[name] for name in ("p_holm", "apart")}
            else:
                others.append(pair)
    for pair, p in _adjusted(others, gate):
        pair |= {"p_holm": p, "apart": p <= alpha}
    for pair in (*others, *tested):
        if pair["p"] is None and pair["difference"] is not None:
            pair["apart"] = abs(pair["difference"]) > basis.delta + TIED
    for relation in relations:
        overtaking = (_overtakes(relation, system, basis.delta) for system in relation["order_observed"])
        relation["overtaking"] = [rival for rival in overtaking if rival is not None]
    for rival, p in _adjusted((rival for relation in relations for rival in relation["overtaking"]), gate):
        rival |= {"p_holm": p, "sure": p <= alpha}
    for relation in relations:
        relation["best_changes_sure"] = any(rival["sure"] for rival in relation["overtaking"])


def _two(pair: Entry) -> frozenset[str]:
    return frozenset((pair["system"], pair["other"]))


def _adjusted(entries: Iterable[Entry], gate: float) -> list[tuple[Entry, float]]:
    """Return the entries that have a p with that of Holm, which is at least `gate`."""
    tested = [entry for entry in entries if entry["p"] is not None]
    return [(entry, max(p, gate)) for entry, p in zip(tested, holm([pair["p"] for pair in tested]), strict=True)]


def _overtakes(relation: Entry, rival: str, delta: float) -> Entry | None:
    """Test whether a rival is better than every system reported as best; no p if that is known without error."""
    best = set(relation["best_observed"])
    pairs = [pair for pair in relation["pairs"] if rival in _two(pair) and _two(pair) - {rival} <= best]
    if rival in best or any(pair["difference"] is None for pair in pairs):
        return None
    leads = [
        (pair["difference"], pair["p_above"]) if pair["system"] == rival else (-pair["difference"], pair["p_below"])
        for pair in pairs
    ]
    if any(p is None and ahead <= delta + TIED for ahead, p in leads):
        return {"system": rival, "p": None, "p_holm": None, "sure": False}
    p = max((p for _, p in leads if p is not None), default=None)
    return {"system": rival, "p": p, "p_holm": None, "sure": p is None} if len(pairs) >= len(best) else None


# Over relations: which system to use, by the mean over families or by a user's weights.


def _weighted(basis: Basis, entries: Cells, weights: Mapping[Key, float]) -> tuple[list[Entry], list[str], list[str]]:
    """Return the ranking of systems by their mean SR_g over (study, relation) with these weights, which sum to 1; the
    best before, and after.

    A system that was not run under one of them is left out, with the reason; while a system has no estimate there,
    nobody knows the winner.
    """
    weights = {key: share for key, share in weights.items() if share > 0}
    cells = {key: own for key, own in _by_relation(entries).items() if key in weights}
    rates = [{key: of(own) for key, own in cells.items()} for of in (_observed, _genuine)]
    ranking: dict[str, Entry] = {}
    for system in sorted({cell["system"] for own in cells.values() for cell in own}):
        lacks = [[key[1] for key in weights if system not in of[key]] for of in rates]
        means = [
            None if lack else sum(share * of[key][system] for key, share in weights.items())
            for of, lack in zip(rates, lacks, strict=True)
        ]
        lack, code = lacks[0] or lacks[1], "no_rate.of" if lacks[0] else "no_rate.no_estimate"
        ranking[system] = {
            "system": system, "score_observed": means[0], "score": estimated((means[1],)), **_NO_PLACE,
            "reason": message(code, names=dict.fromkeys(lack)) if lack else None,
        }  # fmt: skip
    before = {system: score for system, ranked in ranking.items() if (score := ranked["score_observed"]) is not None}
    scores = {system: ranking[system]["score"]["value"] for system in before}
    if not scores or None in scores.values():
        return list(ranking.values()), best_of(before), []
    stand = _standing(weights, list(scores), cells, basis)
    places = _places(list(scores), stand, basis)
    for system, value in scores.items():
        of_cells = [basis.of_cells[basis.places[(*key, system)]].genuine for key in weights]
        with_value = [rate for rate in of_cells if rate is not None and rate.value is not None]
        if len(with_value) == len(of_cells):
            of_all = weighted_mean(with_value, list(weights.values()), basis.confidence)
            ranking[system]["score"] = estimated((value, of_all.low, of_all.high))
        ranking[system] |= places.get(system, {})
        if not places and len(scores) > 1:
            ranking[system]["reason"] = WITHOUT_COUNTS if stand is None else message("no_order.none_shared")
    best = best_of(scores if stand is None else dict(zip(scores, stand.score.tolist(), strict=True)))
    return list(ranking.values()), best_of(before), best


def decisions(
    basis: Basis, entries: Cells, families: Mapping[tuple[str, str], str], weights: Weights | None = None
) -> list[Entry]:
    """Return the decision of each task: which system to use, and how sure that is.

    Systems are compared by the mean over families of relations of the family's pooled genuine rate, so that a relation
    of 3 groups does not weigh as much as one of 2,000, nor a family of ten relations as ten. Only relations count under
    which every compared system has an estimate; the others are named in `left_out`. The user's `weights` replace this
    mean for tasks that have such a relation, which shares its weight among its studies. `families` maps (task,
    relation) to a family, a relation without one is its own. Raises UnknownName for a weight of a relation that is not
    there.
    """
    shares = weights.over(list(dict.fromkeys(cell["relation"] for cell in entries))) if weights else {}
    decided = []
    for task in dict.fromkeys(cell["task"] for cell in entries):
        cells = [cell for cell in entries if cell["task"] == task]
        keys = list(_by_relation(cells))
        names = [relation for _, relation in keys]
        total = sum(shares.get(name, 0.0) for name in set(names))
        own = {key: shares[key[1]] / total / names.count(key[1]) for key in keys if shares.get(key[1])}
        of_task = {"task": task, "weights": weights.source if weights and own else None, "accuracy": None}
        decided.append(of_task | _decision(basis, cells, families, own))
    return decided


def _decision(basis: Basis, cells: Cells, families: Mapping[tuple[str, str], str], own: Mapping[Key, float]) -> Entry:
    systems = sorted(_observed(cells))
    judged = {c["system"] for c in cells if c["fs_rate"]["value"] is not None or c["satisfied"] == 0}
    weights, used_families, left_out = _mean_over_families(cells, families, judged & set(systems))
    ranking, before, best, used = list[Entry](), list[str](), list[str](), own or weights
    if own:
        ranking, before, best = _weighted(basis, cells, own)
    elif weights and (len(judged) > 1 or len(systems) == 1):
        ranking, before, best = _weighted(basis, cells, weights)
        # Of systems of which nothing is judged only the reported rates are known.
        if reported := [entry for entry in ranking if entry["system"] not in judged]:
            ranking, _, best = _weighted(basis, [cell for cell in cells if cell["system"] in judged], weights)
            ranking += reported
    state, named = _state(ranking, best)
    if len(systems) == 1:
        state, named = "one_system", systems
    elif state == "unknown" and len(judged) > 1 and not weights and not own:
        state = "apart"
    by_families, undecided = bool(ranking) and not own, state in ("open", "likely")
    return {
        "state": state,
        "systems": named,
        "best_observed": before,
        "families": used_families if by_families else [],
        "relations": sorted({relation for _, relation in used} if ranking else (), key=name_order),
        "left_out": left_out if by_families else [],
        "unjudged": [system for system in systems if judged and system not in judged],
        "out": [
            ranked["system"]
            for ranked in ranking
            if undecided and ranked["p_best"] is not None and ranked["p_best"] < OUT
        ],
        "ranking": ranking,
    }


def _mean_over_families(
    cells: Cells, families: Mapping[tuple[str, str], str], compared: set[str]
) -> tuple[dict[Key, float], list[str], list[str]]:
    """Return the weights of the (study, relation) of a task that make the mean over families of pooled rates, the
    families, and what is left out.

    A relation weighs within its family as the fewest groups that a system has under it: the same weights for all
    systems, so that none gains by where a relation applies to it.
    """
    members: dict[str, dict[Key, float]] = {}
    names: dict[str, set[str]] = {}
    without: set[str] = set()
    for key, rows in _by_relation(cells).items():
        if not _observed(rows):
            continue  # nothing was satisfied or violated
        family = families.get((rows[0]["task"], key[1]), key[1])
        names.setdefault(family, set()).add(key[1])
        rows = [cell for cell in rows if cell["system"] in compared]
        if not compared or set(_genuine(rows)) != compared:
            without.add(key[1])
            continue
        counted = [cell["satisfied"] + (cell["violated"] or 0) for cell in rows if cell["satisfied"] is not None]
        members.setdefault(family, {})[key] = float(min(counted, default=1))
    weights = {key: size / sum(of.values()) / len(members) for of in members.values() for key, size in of.items()}
    left_out: list[str] = []
    for family in sorted(names, key=name_order):
        lacking = names[family] & without
        left_out += [family] if lacking == names[family] else sorted(lacking, key=name_order)
    return weights, sorted(members, key=name_order), left_out


def _state(ranking: Cells, best: Sequence[str]) -> tuple[str, list[str]]:
    """Return how sure the best system is, and which systems to name."""
    if not best:
        return "unknown", []
    with_chance = {ranked["system"]: ranked for ranked in ranking if ranked["p_best"] is not None}
    chances = {system: ranked["p_best"] for system, ranked in with_chance.items()}
    if best[0] not in chances:
        return "looks", list(best)
    # Systems within delta of each other are both best: several at once are sure only where their intervals say so.
    if sure := sorted(system for system, chance in chances.items() if chance >= SURE):
        return ("level" if len(sure) > 1 else "sure"), sure
    if chances[best[0]] >= LIKELY and len(best) == 1:
        return "likely", list(best)
    order = sorted(chances, key=lambda system: (-chances[system], system))
    return "open", order[:2] + [
        ranked for ranked in order[2:] if with_chance[ranked]["rank_low"] == 1 and chances[ranked] >= OUT
    ]


# Accuracy beside the decision.


def add_accuracy(report: Entry, right_outputs: Sequence[RightOutputs]) -> None:
    """Put the accuracy of the systems on the sources beside the decision of each task.

    Gold's labels go before the answers of people, which are about drawn sources alone.
    """
    task_of = {table["study"]: table["task"] for table in report["violations"]}
    for decision in report["decisions"]:
        studies = [outputs for outputs in right_outputs if task_of.get(outputs.study) == decision["task"]]
        by = next(
            (by for by in ("gold", "people") if any(of_study.by == by and of_study.systems for of_study in studies)),
            None,
        )
        decision["accuracy"] = _accuracy([of_study for of_study in studies if of_study.by == by], decision["systems"])


def _accuracy(studies: Sequence[RightOutputs], chosen: Sequence[str], confidence: float = 0.95) -> Entry | None:
    """Return the accuracy of every system over these studies together, with its mid-p interval for texts to come, where
    outputs of one document count as their effective number; None where no source has a label.

    `best` is named only where it is none of the `chosen`: there accuracy orders the systems otherwise. It is told
    `apart` where the interval of its lead over the best of these is above 0, the two taken as independent, which is
    cautious of systems that are asked the same texts.
    """
    by_system: dict[str, Entry] = {}
    for system in dict.fromkeys(rated.system for study in studies for rated in study.systems):
        own = [rated for study in studies for rated in study.systems if rated.system == system]
        outputs, right = sum(rated.outputs for rated in own), sum(rated.right for rated in own)
        worth = sum(rated.outputs if rated.worth is None else rated.worth for rated in own)
        if outputs:
            ends = mid_p(right / outputs * worth, worth, confidence)
            by_system[system] = estimated((right / outputs, ends.low, ends.high), outputs)
    if not by_system:
        return None
    rates = {system: rate["value"] for system, rate in by_system.items()}
    named, best, apart = [system for system in chosen if system in by_system], best_of(rates), False
    if other := bool(named) and set(best).isdisjoint(named):
        first, second = by_system[best[0]], by_system[max(named, key=rates.__getitem__)]
        below = math.hypot(first["value"] - first["low"], second["high"] - second["value"])
        apart = first["value"] - second["value"] > below + TIED
    order = sorted(by_system, key=lambda system: (-rates[system], system))
    # Of names, one study's: shares of several are no share of all.
    names = (
        {rated.system: {"names": rated.names} for rated in studies[0].systems if rated.names}
        if len(studies) == 1
        else {}
    )
    return {
        "texts": max(rate["n"] for rate in by_system.values()),
        "by": studies[0].by,
        "systems": [{"system": system, "accuracy": by_system[system]} | names.get(system, {}) for system in order],
        "best": best if other else [],
        "apart": apart,
    }


# Comparisons that were named before the first answer.


def primary_entries(plans: Sequence[PlanAdherence], basis: Basis) -> list[Entry]:
    """Return the primary comparisons that the frozen plans of studies name, each tested by itself where the plan was
    frozen before the first answer and names the same two ever since."""
    entries: list[Entry] = []
    for plan in plans:
        settings, answers = plan.plan.content.get("report", {}), plan.before or 0
        named = primary_named(settings.get("primary"), settings.get("primary_relation"))
        if named is None or plan.frozen_at is None:
            continue
        comparison, systems = basis.comparisons[plan.study], (named.system, named.other)
        sizes = {name: len(of.source) for name, of in comparison.groups.items() if named.relation in (None, name)}
        if not sizes or not set(systems) <= set(comparison.systems):
            continue
        weights = {name: size / sum(sizes.values()) for name, size in sizes.items()}
        pair = compared_pair(comparison, weights, systems, basis)
        if not pair["judged"] and pair["informative"]:
            pair |= {"difference": None, **_NO_TEST, "reason": message("no_order.none_judged")}
        changed = any(change.key.startswith("report.primary") for _, change in plan.changed)
        shared = [comparison.groups[name].pair(*comparison.columns(systems)).groups for name in sizes]
        pair |= {"study": plan.study, "task": str(plan.plan.content["study"]["task"]), "relation": named.relation}
        pair |= {"relations": sum(number > 0 for number in shared), "compared": len(sizes)}
        pair |= {"tested": not answers and not changed, "named_at": plan.frozen_at.isoformat(timespec="seconds")}
        entries.append(pair | {"answers_before": answers})
    return entries
