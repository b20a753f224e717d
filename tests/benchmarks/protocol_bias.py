"""What the protocol does to the bias of R_FS: real systems and text, gold as the truth, simulated annotators.

    python tests/benchmarks/protocol_bias.py              # prints the tables of docs/reference/annotator-error.md
    python tests/benchmarks/protocol_bias.py --coverage   # prints the difference estimator's coverage on a grid

The cells are those of redraws.py: four systems on 2,000 sentences of rotten-tomatoes, with the relations that carry
every answer, so that one answer settles a group. The annotators are *simulated*: each says the gold label with the
given accuracy, else one of the two others. Independent errors are one thing; with `difficulty` each sentence has one
accuracy for all annotators (Beta with the given mean, correlation of errors RHO) and a wrong label that most of the
errors say, as people are misled by the same texts. The adjudicator is taken to be right.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from redraws import CELL, SOURCES, SYSTEMS, population
from sqlalchemy import select

from audit.errors import AuditError
from audit.false_satisfaction.resolution import KnownAnswer, State, carry_of, drawn_groups, settle_group
from audit.statistics.annotators import rogan_gladen
from audit.statistics.comparison import difference
from audit.statistics.intervals import mid_p
from audit.store import open_store, table_of, tables
from audit.tasks import get_task

LABELS = get_task("sentiment").labels
JUDGED, CHECKED, REDRAWS = 60, 20, 300
ACCURACIES, RHO, MISLEADING = (0.8, 0.9, 0.95), 0.3, 0.8
PROTOCOLS = ("one annotator", "two and an adjudicator", "majority of three")


def world(path, systems=SYSTEMS, sources=SOURCES):
    """(true label of each sentence (s,), cells): a cell is (relation, system, sentence (N,), false if label (N, 3)).

    The product's own rule settles every group once for each label that its source may be said to have.
    """
    truth = population(path, systems, sources)
    source, sample = table_of(tables.Source), table_of(tables.Sample)
    with open_store(str(path)).connect() as connection:
        gold = dict(connection.execute(select(source.c.row, source.c.gold)).all())
        samples = list(connection.execute(select(sample.c.id)).scalars())
        lines = []
        for one in drawn_groups(connection, samples):
            if carry_of(one.task, one.relation).preserves_truth:
                about = one.subject(one.steps[0])
                false = [
                    settle_group(one, {about: KnownAnswer(frozenset({label}), "people")}).state is State.FALSE
                    for label in LABELS
                ]
                lines.append((one.group_id, one.system_id, *false))
    states = pd.DataFrame(lines, columns=["group_id", "system_id", *LABELS])
    # A text that is there twice with two gold labels has no truth; `population` has left it out.
    groups = truth.merge(states, on=["group_id", "system_id"])
    rows = sorted(gold)
    place = {row: at for at, row in enumerate(rows)}
    cells = [
        (cell["relation"].iloc[0], cell["system"].iloc[0], cell["row"].map(place).to_numpy(),
         cell[list(LABELS)].to_numpy(int))
        for _, cell in groups.groupby(CELL, sort=True)
        if len(cell) > JUDGED
    ]  # fmt: skip
    return np.array([LABELS.index(gold[row]) for row in rows]), cells


def annotators(true, accuracy, difficulty, rng, people=3):
    """What simulated annotators say of each sentence: label numbers (people, s)."""
    sentences, kinds = len(true), len(LABELS)
    chance = np.full(sentences, accuracy)
    stray = np.full(sentences, 0.5)
    if difficulty:
        size = (1 - RHO) / RHO
        chance = rng.beta(accuracy * size, (1 - accuracy) * size, sentences)
        stray = np.where(rng.random(sentences) < 0.5, MISLEADING, 1 - MISLEADING)
    wrong = (true + 1 + (rng.random((people, sentences)) < stray)) % kinds
    return np.where(rng.random((people, sentences)) < chance, true, wrong)


def answers(true, said, rng):
    """What each protocol makes of it: label numbers (s,) by its name."""
    first, second, third = said
    settled = np.where(first == second, first, true)
    tie = np.take_along_axis(said, rng.integers(3, size=(1, len(true))), axis=0)[0]
    majority = np.where(first == second, first, np.where((third == first) | (third == second), third, tie))
    return dict(zip(PROTOCOLS, (first, settled, majority), strict=True))


def estimates(k, n, total, protocol, checked, pooled):
    """(estimator, rate, low, high) for one cell; `protocol` and `checked` (m,) are 0 or 1, `pooled` se and sp."""
    own = mid_p(k, n, total)
    yield "as it is", k / n, own.low, own.high
    try:
        found = rogan_gladen(k, n, *pooled)
        yield "Rogan-Gladen", found.rate, found.low, found.high
    except AuditError:  # nothing false among the checked groups, or judgements no better than chance
        yield "Rogan-Gladen", k / n, own.low, own.high
    change = checked - protocol
    found = difference(k, n, total, int((change == 1).sum()), int((change == -1).sum()), len(change))
    yield "difference", found.rate, found.low, found.high


def measure(true, cells, redraws=REDRAWS, accuracies=ACCURACIES):
    """A frame by errors, accuracy, protocol and estimator: bias, RMSE, coverage and width, over cells and redraws."""
    rows = []
    for difficulty in (False, True):
        for accuracy in accuracies:
            rng = np.random.default_rng([7, int(difficulty), round(1000 * accuracy)])
            for _ in range(redraws):
                said = answers(true, annotators(true, accuracy, difficulty, rng), rng)
                number = rng.random(len(true))  # permanent: cells share their sentences as in the shared design
                drawn = [(cell, np.argsort(number[cell[2]])[:JUDGED]) for cell in cells]
                for name, answer in said.items():
                    judged = []
                    for cell, at in drawn:
                        sentences, false = cell[2][at], cell[3][at]
                        each = np.arange(JUDGED)
                        judged.append((false[each, answer[sentences]], false[each, true[sentences]]))
                    both = np.concatenate([np.stack([y[:CHECKED], t[:CHECKED]]) for y, t in judged], axis=1)
                    said_false, is_false = both == 1
                    pooled = (
                        (int((said_false & is_false).sum()), int(is_false.sum())),
                        (int((~said_false & ~is_false).sum()), int((~is_false).sum())),
                    )
                    for (cell, _), (y, t) in zip(drawn, judged, strict=True):
                        total = len(cell[2])
                        rate = cell[3][np.arange(total), true[cell[2]]].mean()
                        for estimator, found, low, high in estimates(
                            int(y.sum()), JUDGED, total, y[:CHECKED], t[:CHECKED], pooled
                        ):
                            held = low - 1e-12 <= rate <= high + 1e-12
                            key = ("difficulty" if difficulty else "independent", accuracy, name, estimator)
                            rows.append((*key, cell[0], cell[1], found - rate, (found - rate) ** 2, held, high - low))
    columns = ["errors", "accuracy", "protocol", "estimator"]
    frame = pd.DataFrame(rows, columns=[*columns, "relation", "system", "bias", "squared", "held", "width"])
    values = ["bias", "squared", "held", "width"]
    by_cell = frame.groupby([*columns, "relation", "system"], sort=False)[values].mean()
    summary = by_cell.groupby(columns, sort=False).mean()
    worst = by_cell.groupby(columns, sort=False)["held"].min()
    return summary.assign(rmse=np.sqrt(summary["squared"]), worst=worst)


def coverage(repeats=400, seed=0):
    """A frame by checked groups and errors: coverage and width of the difference estimator over rates and sizes."""
    rng, rows = np.random.default_rng(seed), []
    for total, n in ((400, 60), (400, 200), (20_000, 200)):
        for m in (10, 30, 60):
            for rate in (0.05, 0.2, 0.4):
                truth = np.repeat([1, 0], [round(rate * total), total - round(rate * total)])
                for alarm, miss in ((0.0, 0.0), (0.02, 0.02), (0.1, 0.05), (0.02, 0.3)):
                    for _ in range(repeats):
                        seen = rng.permutation(truth)[:n]
                        said = np.where(seen, rng.random(n) >= miss, rng.random(n) < alarm).astype(int)
                        change = (seen - said)[:m]
                        added, removed = int((change == 1).sum()), int((change == -1).sum())
                        found = difference(int(said.sum()), n, total, added, removed, m)
                        held = found.low - 1e-12 <= truth.mean() <= found.high + 1e-12
                        plain = mid_p(int(said.sum()), n, total)
                        kept = plain.low - 1e-12 <= truth.mean() <= plain.high + 1e-12
                        rows.append((m, alarm, miss, f"{total} {n} {rate}", held, found.high - found.low, kept))
    frame = pd.DataFrame(rows, columns=["checked", "alarm", "miss", "cell", "held", "width", "uncorrected"])
    by_cell = frame.groupby(["checked", "alarm", "miss", "cell"])[["held", "width", "uncorrected"]].mean()
    summary = by_cell.groupby(["checked", "alarm", "miss"]).mean()
    return summary.assign(worst=by_cell.groupby(["checked", "alarm", "miss"])["held"].min())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    parser.add_argument("--coverage", action="store_true")
    arguments = parser.parse_args()
    if arguments.coverage:
        print("| checked | called false wrongly | called true wrongly | coverage | worst | width | uncorrected |")
        print("|---|---|---|---|---|---|---|")
        for (m, alarm, miss), one in coverage().iterrows():
            print(f"| {m} | {alarm:.0%} | {miss:.0%} | {one.held:.3f} | {one.worst:.3f} | {one.width:.3f} "
                  f"| {one.uncorrected:.3f} |")  # fmt: skip
        return
    with tempfile.TemporaryDirectory() as folder:
        true, cells = world(Path(folder) / "real.db")
    print(f"{len(cells)} cells with more than {JUDGED} groups; {JUDGED} judged, {CHECKED} of them checked.\n")
    summary = measure(true, cells, arguments.redraws)
    for errors, some in summary.groupby("errors", sort=False):
        print(f"\n{errors}\n\n| accuracy | protocol | estimator | bias | RMSE | coverage | worst cell | width |")
        print("|---|---|---|---|---|---|---|---|")
        for (_, accuracy, protocol, estimator), one in some.iterrows():
            print(f"| {accuracy} | {protocol} | {estimator} | {one.bias:+.3f} | {one.rmse:.3f} | {one.held:.3f} "
                  f"| {one.worst:.3f} | {one.width:.3f} |")  # fmt: skip


if __name__ == "__main__":
    main()
