"""Do intervals hold when somebody stops because of what they say? Fixed-n intervals against confidence sequences.

    python tests/benchmarks/optional_stopping.py            # prints the tables of docs/evidence/judgements.md

Simulated judging in random order, looked at every few judgements. Three ways to stop: at a number fixed before, as soon
as the interval is narrow, and as soon as it leaves out a value that somebody would like to see refuted. The last is
worst where that value is the truth, so the truth it is.
"""

import argparse

import numpy as np

from audit.statistics.comparison import paired_differences
from audit.statistics.intervals import METHODS
from audit.statistics.rates import combine

RULES = ("at a number fixed before", "when it is narrow", "when it leaves out the truth")
SATISFIED, RATES, LOOKS = 2000, (0.1, 0.3, 0.5), np.arange(20, 401, 5)
"""Cells: satisfied groups, true R_FS, and the numbers of judged groups at which somebody looks."""
HALF_WIDTH = 0.07
GROUPS, INFORMATIVE, DIFFERENCES, PAIR_LOOKS = 2000, 1000, (0.0, 0.05), np.arange(30, 501, 10)
"""Pairs of systems: groups, informative ones, true differences of SR_g."""
PAIR_HALF_WIDTH = 0.05
TOGETHER = (0.1, 0.2, 0.3, 0.4)
"""True R_FS of the cells of a roll-up, equally large and judged alike."""
REPEATS = 2000


def cells(name, repeats=REPEATS, looks=LOOKS, rates=RATES):
    """Coverage by rule of one method's interval for a cell, mean over `rates`, and mean numbers of judged groups."""
    low, high = _ends(name, looks)
    found = []
    for index, rate in enumerate(rates):
        k = _paths(rate, repeats, looks, np.random.default_rng([21, index]))
        place = np.arange(len(looks))
        found.append(_by_rule(low[place, k], high[place, k], rate, HALF_WIDTH, looks))
    return np.mean(found, axis=0)


def roll_ups(name, repeats=REPEATS, looks=LOOKS):
    """The same for the roll-up of four cells by `combine`, independent of each other."""
    low, high = _ends(name, looks)
    place = np.arange(len(looks))
    paths = [_paths(rate, repeats, looks, np.random.default_rng([22, i])) for i, rate in enumerate(TOGETHER)]
    ends = np.empty((2, repeats, len(looks)))
    for repeat in range(repeats):
        counts = [k[repeat] for k in paths]
        for at in place:
            of = [(k[at] / looks[at], low[at, k[at]], high[at, k[at]]) for k in counts]
            one = combine(*zip(*of, strict=True), [SATISFIED] * len(TOGETHER))
            ends[:, repeat, at] = one.low, one.high
    return np.array(_by_rule(*ends, np.mean(TOGETHER), HALF_WIDTH / 2, looks))


def pairs(sequence, repeats=REPEATS, looks=PAIR_LOOKS, differences=DIFFERENCES):
    """The same for the difference of two systems, as `paired_differences` finds it from informative groups."""
    known, found = {}, []
    for index, difference in enumerate(differences):
        rng = np.random.default_rng([23, index])
        only_other = 250
        only_one = only_other + round(difference * GROUPS)
        values = np.repeat([1, -1, 0], [only_one, only_other, INFORMATIVE - only_one - only_other])
        ends = np.empty((2, repeats, len(looks)))
        for repeat in range(repeats):
            drawn = rng.permutation(values)[: looks[-1]]
            for at, look in enumerate(looks.tolist()):
                # A sequence goes by the order in which groups were drawn, fixed-n intervals by how many there are.
                judged = drawn[:look] if sequence else np.sort(drawn[:look])
                counts = judged.tobytes()
                if sequence or counts not in known:
                    known[counts] = _difference(judged, sequence)
                ends[:, repeat, at] = known[counts]
        found.append(_by_rule(*ends, difference, PAIR_HALF_WIDTH, looks))
    return np.mean(found, axis=0)


def _ends(name, looks):
    """Ends of a method's interval by (look, false groups)."""
    low, high = (np.full((len(looks), looks[-1] + 1), np.nan) for _ in range(2))
    for at, n in enumerate(looks.tolist()):
        for k in range(n + 1):
            one = METHODS[name](k, n, SATISFIED)
            low[at, k], high[at, k] = one.low, one.high
    return low, high


def _paths(rate, repeats, looks, rng):
    """False groups among the first judged ones: whole numbers (repeats, looks)."""
    false = np.arange(SATISFIED) < round(rate * SATISFIED)
    return np.array([np.cumsum(rng.permutation(false)[: looks[-1]])[looks - 1] for _ in range(repeats)])


def _difference(judged, sequence):
    genuine = np.full((GROUPS, 2), np.nan)
    genuine[: len(judged), 0] = judged == 1
    genuine[: len(judged), 1] = judged == -1
    one = paired_differences(genuine, np.arange(GROUPS) < INFORMATIVE, sequence=sequence)[0]
    return one.low, one.high


def _by_rule(low, high, true, half_width, looks):
    """[(coverage, mean judged)] of the `RULES`, each from the first look at which it stops, or the last."""
    holds = (low <= true + 1e-12) & (true - 1e-12 <= high)
    stops = (np.zeros(low.shape, bool), (high - low) / 2 <= half_width, ~holds)
    found = []
    for stop in stops:
        stop[:, -1] = True
        at = stop.argmax(axis=1)
        found.append((holds[np.arange(len(at)), at].mean(), looks[at].mean()))
    return found


def table(title, rows):
    """Coverage by interval and rule, with the mean number of judged groups, as Markdown."""
    lines = [f"| {title} | {' | '.join(RULES)} |", "|---|" + "---|" * len(RULES)]
    for name, found in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{held:.3f} ({judged:.0f})' for held, judged in found)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    names = ("midp", "sequence")
    print(table("R_FS of a cell", {f"`{name}`": cells(name, repeats) for name in names}), flush=True)
    named = {"Tango's score interval": False, "betting sequence": True}
    print(
        "\n"
        + table(
            "difference of two systems",
            {name: pairs(on, repeats // 10 if on else repeats) for name, on in named.items()},
        ),
        flush=True,
    )
    both = ("midp", "sequence")
    print("\n" + table("roll-up of four cells", {f"`{name}`": roll_ups(name, repeats) for name in both}))


if __name__ == "__main__":
    main()
