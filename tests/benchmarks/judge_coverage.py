"""What a judge saves people, and whether intervals hold: simulated judges, real systems, real text, known truth.

    python tests/benchmarks/judge_coverage.py     # prints the tables of docs/evidence/judges.md

The cells are those of redraws.py: four systems on 2,000 sentences of rotten-tomatoes, where gold knows which satisfied
groups are false. **The judges are simulated**: each says the gold label of a sentence with a given probability, else
another one; what they make of a group is what `audit.false_satisfaction.judged` makes of these answers. Samples are
drawn 400 times; a cell's interval is held against the truth of its population.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from redraws import CELL, SOURCES, SYSTEMS, population
from sqlalchemy import select

from audit.false_satisfaction.judged import predicted
from audit.false_satisfaction.resolution import satisfied_groups
from audit.statistics.intervals import mid_p
from audit.statistics.prediction_powered import prediction_powered
from audit.store import open_store, table_of, tables

LABELS = ("positive", "neutral", "negative")
REDRAWS, JUDGED = 400, (60,)
SLACK = 1e-12


def wrong_at_random(accuracy):
    """A judge that says gold with this probability, else either other label."""

    def judge(gold, lexicon, rng):
        right = rng.random(len(gold)) < accuracy
        other = (gold + rng.integers(1, 3, len(gold))) % 3
        return np.where(right, gold, other)

    return judge


def wrong_on_one(of_positive, of_negative):
    """A judge whose accuracy hangs on the label; what it gets wrong it calls the opposite."""

    def judge(gold, lexicon, rng):
        accuracy = np.where(gold == 0, of_positive, of_negative)
        return np.where(rng.random(len(gold)) < accuracy, gold, 2 - gold)

    return judge


def shares_lexicon(share, accuracy):
    """A judge that says of a share of the sentences what vader says, and else is as `wrong_at_random`."""

    def judge(gold, lexicon, rng):
        return np.where(rng.random(len(gold)) < share, lexicon, wrong_at_random(accuracy)(gold, lexicon, rng))

    return judge


JUDGES = {
    "70 %": wrong_at_random(0.70),
    "85 %": wrong_at_random(0.85),
    "95 %": wrong_at_random(0.95),
    "85 %, all errors on one class (70 / 100 %)": wrong_on_one(0.70, 1.00),
    "one class only (50 / 100 %)": wrong_on_one(0.50, 1.00),
    "half of it is vader's lexicon": shares_lexicon(0.5, 0.95),
    "vader itself": shares_lexicon(1.0, 1.0),
    "knows nothing": wrong_at_random(1 / 3),
}
"""The simulated judges. The accuracy of the last but one is vader's own."""


USUAL = "85 %"
"""The judge of the issue, for which other numbers of judged groups are tried, too."""


def sentences(path):
    """Input ids of the sources, their gold labels and vader's, as numbers of `LABELS`."""
    source, output, system = table_of(tables.Source), table_of(tables.Output), table_of(tables.System)
    query = (
        select(source.c.input_id, source.c.gold, output.c.label)
        .join(output, output.c.input_id == source.c.input_id)
        .join(system, system.c.id == output.c.system_id)
        .where(system.c.name == "vader")
        .order_by(source.c.input_id)
        .distinct()
    )
    with open_store(str(path)).connect() as connection:
        rows = pd.DataFrame(connection.execute(query).all(), columns=["input", "gold", "vader"])
    rows = rows.drop_duplicates("input")
    code = {label: number for number, label in enumerate(LABELS)}
    return rows["input"].to_numpy(), rows["gold"].map(code).to_numpy(), rows["vader"].map(code).to_numpy()


def groups_of(path, truth):
    """The satisfied groups of the cells of `truth`, by (relation, system), in the order of its rows."""
    with open_store(str(path)).connect() as connection:
        study = connection.execute(select(table_of(tables.Study).c.id)).scalar_one()
        drawn = {
            (group.relation_id, group.system_id, group.group_id): group
            for relation in truth["relation_id"].unique().tolist()
            for group in satisfied_groups(connection, study, relation)
        }
    return {
        tuple(cell.iloc[0][["relation", "system"]]): [
            drawn[relation, system, group] for group in cell["group_id"].tolist()
        ]
        for (relation, system), cell in truth.groupby(CELL, sort=True)
    }


def judge_cells(path, truth, judge, seed):
    """By cell, what a judge makes of each group: (N,) of 0, 1/2 and 1. It answers each sentence once."""
    inputs, gold, lexicon = sentences(path)
    rng = np.random.default_rng(seed)
    said = judge(gold, lexicon, rng)
    opinions = {
        ("sentiment", int(id), None): frozenset({LABELS[label]}) for id, label in zip(inputs, said, strict=True)
    }
    cells = groups_of(path, truth)
    return {
        cell: np.array([np.nan if (value := predicted(one, opinions).value) is None else value for one in groups])
        for cell, groups in cells.items()
    }, float((said == gold).mean())


def redraw(false, proxy, n, rng, second=None):
    """One redraw of a cell: (held, width, gain, held without, width without, error), of `second` groups with a proxy
    where that is given."""
    order = rng.permutation(len(false))
    seen, known = order[:n], order if second is None else order[:second]
    true = false.mean()
    at = prediction_powered(false[seen], proxy[seen], proxy[known], total=len(false))
    plain = mid_p(int(false[seen].sum()), n, len(false))
    holds = at.low - SLACK <= true <= at.high + SLACK
    alone = plain.low - SLACK <= true <= plain.high + SLACK
    return holds, at.high - at.low, at.gain, alone, plain.high - plain.low, at.estimate - true


def same_width(false, width, start):
    """The number of judged groups at which the plain interval of this cell is as narrow, on average: by bisection over
    the expected width at the cell's rate."""
    total, rate = len(false), false.mean()
    low, high = start, total
    while low < high:
        middle = (low + high) // 2
        plain = mid_p(round(rate * middle), middle, total)
        if plain.high - plain.low <= width:
            high = middle
        else:
            low = middle + 1
    return low


def measure(path, truth, judges=JUDGES, judged=JUDGED, redraws=REDRAWS, second=None):
    """A frame: a row a judge, n and cell, with coverage, widths, and the human answers that are saved."""
    rows = []
    for number, (name, judge) in enumerate(judges.items()):
        values, accuracy = judge_cells(path, truth, judge, [number, 7])
        for index, (cell, frame) in enumerate(truth.groupby(["relation", "system"], sort=True)):
            false, proxy = frame["false"].to_numpy(float), values[cell]
            if np.isnan(proxy).any():
                continue
            for n in judged:
                if len(false) < 4 * n:
                    continue
                rng = np.random.default_rng([11, index, n])
                size = None if second is None else min(second * n, len(false))
                found = np.array([redraw(false, proxy, n, rng, size) for _ in range(redraws)], float)
                held, width, gain, alone, plain, error = found.mean(axis=0)
                equal = same_width(false, width, n) if width < plain else n
                rows.append((name, accuracy, n, *cell, len(false), false.mean(), held, width, gain, alone, plain,
                             error, 1 - n / equal))  # fmt: skip
    columns = ["judge", "accuracy", "n", "relation", "system", "size", "true", "held", "width", "gain", "alone",
               "plain", "error", "saved"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def table(found):
    """The rows by judge and n as Markdown."""
    lines = ["| simulated judge | accuracy | judged by people | cells | coverage | worst cell | without the judge | "
             "mean width | without | human answers saved | largest bias |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for (name, n), some in found.groupby(["judge", "n"], sort=False):
        lines.append(
            f"| {name} | {some['accuracy'].iloc[0]:.3f} | {n} | {len(some)} | {some['held'].mean():.3f} | "
            f"{some['held'].min():.3f} | {some['alone'].mean():.3f} | {some['width'].mean():.3f} | "
            f"{some['plain'].mean():.3f} | {100 * some['saved'].mean():.0f} % | {some['error'].abs().max():.3f} |"
        )
    return "\n".join(lines)


def by_rate(found):
    """Coverage and saving by the true rate, over all judges: few false groups are the hard case."""
    lines = ["| true R_FS | judged by people | cells x judges | coverage | worst | human answers saved |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    bands = pd.cut(found["true"], [0, 0.1, 0.2, 0.3, 0.4, 1.0])
    for (band, n), some in found.groupby([bands, "n"], observed=True):
        lines.append(
            f"| {band.left:.1f} to {band.right:.1f} | {n} | {len(some)} | {some['held'].mean():.3f} | "
            f"{some['held'].min():.3f} | {100 * some['saved'].mean():.0f} % |"
        )
    return "\n".join(lines)


def by_cell(found, judge=USUAL, n=60):
    """Each cell of one judge."""
    lines = ["| relation | system | satisfied | true R_FS | coverage | gain | human answers saved |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in found[(found["judge"] == judge) & (found["n"] == n)].itertuples():
        lines.append(
            f"| {row.relation} | {row.system} | {row.size:,} | {row.true:.3f} | {row.held:.3f} | {row.gain:.2f} | "
            f"{100 * row.saved:.0f} % |"
        )
    return "\n".join(lines)


def rare(rates=(0.005, 0.01, 0.02, 0.05, 0.1), judged=(30, 60, 120, 240), size=2_000, redraws=REDRAWS):
    """The worst case of few false groups, wholly simulated: a population of this rate and a judge of 85 % on groups."""
    lines = ["| true R_FS | judged by people | coverage | without the judge | mean width | without | judge used |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for rate in rates:
        for n in judged:
            rng = np.random.default_rng([5, n, round(1_000 * rate)])
            false = (np.arange(size) < round(rate * size)).astype(float)
            proxy = np.where(rng.random(size) < 0.85, false, 1 - false)
            found = np.array([redraw(false, proxy, n, rng) for _ in range(redraws)], float)
            held, width, _, alone, plain, _ = found.mean(axis=0)
            used = (found[:, 2] > 1).mean()
            lines.append(f"| {rate:.3f} | {n} | {held:.3f} | {alone:.3f} | {width:.3f} | {plain:.3f} | {used:.0%} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, help="keep the database here (default: a temporary one)")
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    parser.add_argument("--sources", type=int, default=SOURCES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.db or Path(folder) / "judges.db"
        truth = population(path, SYSTEMS, arguments.sources)
        usual = {USUAL: JUDGES[USUAL]}
        others = measure(path, truth, usual, (30, 120), arguments.redraws)
        found = pd.concat([measure(path, truth, redraws=arguments.redraws), others])
        two = measure(path, truth, usual, (30, 60), arguments.redraws, second=4)
    print(f"{len(truth):,} satisfied groups, {arguments.redraws} redraws.\n")
    for part in (table(found), by_cell(found), by_rate(found), table(two), rare(redraws=arguments.redraws)):
        print(part + "\n")


if __name__ == "__main__":
    main()
