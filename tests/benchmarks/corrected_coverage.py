"""Coverage and width of the interval of SR_c by simulation, for this corpus and for the population it came from.

python tests/benchmarks/corrected_coverage.py  # prints the tables of docs/reference/corrected.md; about two minutes
"""

import argparse

import numpy as np

from audit.statistics.corrected import Counts, corrected, weighted_rate

DESIGNS = ((100, 40, 30, 10, 10), (100, 40, 30, 30, 20), (400, 400, 60, 20, 20), (1000, 300, 100, 20, 20),
           (1000, 300, 100, 100, 50), (1000, 10, 60, 20, 10))  # fmt: skip
"""(satisfied, violated, judged, audited satisfied, audited violated groups)."""
SHARES = ((0.7, 1, 1, 1), (1, 1, 1, 0.5), (0.9, 0.98, 0.9, 0.6), (0.7, 0.95, 0.9, 0.9), (0.97, 0.97, 0.5, 0.95),
          (0.5, 0.8, 0.7, 0.5), (0.05, 1, 0.9, 0.9))  # fmt: skip
"""(true ones among the satisfied; groups in which the relation holds among the true, false and violated ones)."""


def draws(design, shares, target, repeats, seed=0):
    """(truth, found intervals) of `repeats` simulated samples."""
    satisfied, violated, judged, audited, audited_violated = design
    true, holds_true, holds_false, holds_violated = shares
    rng = np.random.default_rng([seed, *design, *(round(1000 * share) for share in shares)])
    total = satisfied + violated
    if target == "corpus":
        genuine = round(satisfied * true)
        false = satisfied - genuine
        holding = round(genuine * holds_true), round(false * holds_false), round(violated * holds_violated)
        truth = holding[0] / sum(holding)
        kinds = np.repeat([0, 1, 2, 3], [holding[0], genuine - holding[0], holding[1], false - holding[1]])
    else:
        weight = satisfied / total
        parts = weight * true * holds_true, weight * (1 - true) * holds_false, (1 - weight) * holds_violated
        truth = parts[0] / sum(parts)
    found = []
    for _ in range(repeats):
        sizes = satisfied, violated
        if target == "corpus":
            drawn = rng.permutation(kinds)[:judged]
            broken = int(rng.hypergeometric(violated - holding[2], holding[2], audited_violated))
        else:
            # The corpus is a sample as well; what is drawn of it does not depend on how much of it is satisfied.
            reached = int(rng.binomial(total, satisfied / total))
            reached = min(max(reached, judged), total - audited_violated)
            sizes = reached, total - reached
            chances = [true * holds_true, true * (1 - holds_true), (1 - true) * holds_false]
            drawn = rng.choice(4, judged, p=[*chances, 1 - sum(chances)])
            broken = int(rng.binomial(audited_violated, 1 - holds_violated))
        first = drawn[:audited]
        found.append(
            corrected(
                Counts(
                    satisfied=sizes[0], violated=sizes[1], judged=judged, false=int((drawn > 1).sum()),
                    audited_genuine=int((first < 2).sum()), broken_genuine=int((first == 1).sum()),
                    audited_false=int((first > 1).sum()), broken_false=int((first == 3).sum()),
                    audited_violated=audited_violated, broken_violated=broken,
                ),
                target=target,
            )
        )  # fmt: skip
    return truth, [one for one in found if one is not None]


def coverage(design, shares, target, repeats):
    """(coverage, mean width, bias) of one design and one world."""
    truth, found = draws(design, shares, target, repeats)
    held = np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one in found])
    return held, np.mean([one.high - one.low for one in found]), np.mean([one.rate for one in found]) - truth


def table(target, repeats):
    """Coverage and width of every design in every world as a Markdown table, and (least, mean) coverage."""
    heads = [", ".join(f"{share:g}" for share in shares) for shares in SHARES]
    lines = [f"| S, V: judged, audited | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    every = []
    for design in DESIGNS:
        cells = [coverage(design, shares, target, repeats) for shares in SHARES]
        every += cells
        satisfied, violated, judged, audited, audited_violated = design
        head = f"{satisfied:,}, {violated}: {judged}, {audited} + {audited_violated}"
        texts = [f"{held:.3f} ±{width / 2:.3f}".replace("0.", ".") for held, width, _ in cells]
        lines.append(f"| {head} | {' | '.join(texts)} |")
    held = [one[0] for one in every]
    summary = f"Coverage {min(held):.3f} at least, {np.mean(held):.3f} on average; bias at most "
    return "\n".join(lines), summary + f"{max(abs(one[2]) for one in every):.3f}."


def relation_coverage(groups, systems, violated, broken, number, target, repeats, seed=0):
    """(coverage, mean half width, bias) of `holds` of one relation: the share of its groups in which it does not hold.

    Each system violates a group with the chance `violated`, and three times as often (at most always) where the
    relation does not hold, which is in the share `broken`; `number` groups of each system and outcome are audited.
    """
    rng = np.random.default_rng([seed, groups, systems, number])
    held, widths, rates, truths = [], [], [], []
    for _ in range(repeats):
        is_broken = np.arange(groups) < round(groups * broken) if target == "corpus" else rng.random(groups) < broken
        chance = np.where(is_broken, min(3 * violated, 1.0), violated)
        outcome = rng.random((systems, groups)) < chance
        numbers = rng.random(groups)
        reached = np.zeros(groups)
        drawn = np.zeros(groups, bool)
        for system in range(systems):
            order = np.argsort(numbers)
            for which in (False, True):
                cell = order[outcome[system][order] == which]
                if not len(cell):
                    continue
                first, share = cell[:number], min(number / len(cell), 1.0)
                drawn[first] = True
                reached[first] = np.maximum(reached[first], share)
        found = weighted_rate(is_broken[drawn], reached[drawn], target=target)
        truth = is_broken.mean() if target == "corpus" else broken
        held.append(found.low - 1e-9 <= truth <= found.high + 1e-9)
        widths.append((found.high - found.low) / 2)
        rates.append(found.rate)
        truths.append(truth)
    return np.mean(held), np.mean(widths), np.mean(rates) - np.mean(truths)


def relation_table(repeats):
    """Coverage of `holds` in several worlds as a Markdown table."""
    heads = ["corpus", "population"]
    lines = [f"| groups, systems, VR_o, broken: audited | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for world in ((200, 4, 0.2, 0.05, 20), (1000, 4, 0.2, 0.05, 20), (1000, 4, 0.1, 0.2, 20), (1000, 2, 0.3, 0.02, 50),
                  (60, 4, 0.2, 0.1, 20)):  # fmt: skip
        cells = [relation_coverage(*world, target, repeats) for target in heads]
        texts = [f"{held:.3f} ±{half:.3f} bias {bias:+.3f}".replace("0.", ".") for held, half, bias in cells]
        groups, systems, violated, broken, number = world
        lines.append(f"| {groups:,}, {systems}, {violated}, {broken}: {number} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=2000)
    repeats = parser.parse_args().repeats
    for target in ("corpus", "population"):
        print("\n".join(["", f"### Target `{target}`", "", *(part + "\n" for part in table(target, repeats))]))
    print(f"\n### `holds` of a relation\n\n{relation_table(repeats)}")


if __name__ == "__main__":
    main()
