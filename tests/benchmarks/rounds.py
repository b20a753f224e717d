"""How many texts decisions take, whether they are right, and whether intervals cover: rounds on real systems with gold.

`python tests/benchmarks/rounds.py` runs four systems once on texts with gold labels, then draws the random numbers of
the sources again and again, in arrays alone. Tables for docs/evidence/rounds.md.
"""

import argparse
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from audit.corpora import get_corpus
from audit.false_satisfaction.cells import count
from audit.judging.labels import answer_with_gold
from audit.runner.executors import InProcess
from audit.runner.fitting import fitting
from audit.runner.imported import import_run
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.statistics.contests import (
    Answered,
    Compared,
    Contest,
    Evidence,
    Thresholds,
    answered_to,
    ask,
    eliminate,
    lead,
)
from audit.statistics.rates import ALIKE, GOLD, TELLING, Checked, Judged, bottom_k, rates_of, weighted_rate
from audit.store import open_store

POPULATIONS = {
    "sentences": ("rotten-tomatoes", ("vader", "textblob", "hiv4", "tfidf-logreg"), 4000),
    "documents": ("imdb", ("vader", "textblob", "hiv4", "tfidf-logreg"), 400),
    "tickets": ("support-tickets", ("ticket-keywords", "ticket-logreg", "ticket-centroid"), 600),
}
EPS = 0.02


@dataclass
class World:
    """Everything that is true of a population: groups of relations, which satisfactions are genuine (groups, systems),
    and codes of documents (sources,)."""

    groups: list[Compared]
    genuine: list[np.ndarray]
    cluster: np.ndarray
    gold: np.ndarray | None = None
    """Which sources have a gold label, which answers before people do; None: none."""

    @property
    def sources(self) -> int:
        return len(self.cluster)

    @property
    def systems(self) -> int:
        return self.groups[0].satisfied.shape[1]

    def among(self, sources: np.ndarray) -> "World":
        """The world of these sources (places, ascending) alone."""
        place = np.full(self.sources, -1)
        place[sources] = np.arange(len(sources))
        groups, genuine = [], []
        for of, x in zip(self.groups, self.genuine, strict=True):
            at = place[of.source] >= 0
            groups.append(Compared(place[of.source[at]], of.satisfied[at], of.output[at], of.proxy[:, at], of.carries))
            genuine.append(x[at])
        return World(groups, genuine, self.cluster[sources], None if self.gold is None else self.gold[sources])

    def scores(self) -> np.ndarray:
        """SR_g (relations, systems)."""
        return np.array(
            [
                [
                    x[of.satisfied[:, s] >= 0, s].mean() if (of.satisfied[:, s] >= 0).any() else 0.0
                    for s in range(x.shape[1])
                ]
                for of, x in zip(self.groups, self.genuine, strict=True)
            ]
        )

    def answered(self, u: np.ndarray, q: np.ndarray) -> list[Answered]:
        """What is known when sources were asked up to q."""
        reached = Thresholds(q, {})
        return [
            answered_to(of, at, x, u, reached) for at, (of, x) in enumerate(zip(self.groups, self.genuine, strict=True))
        ]

    def base(self, u: np.ndarray, n: int) -> np.ndarray:
        """Thresholds when gold has answered, and the first n satisfied groups of each cell are asked."""
        unknown = np.ones(self.sources, bool) if self.gold is None else ~self.gold
        lists = [
            of.source[(of.satisfied[:, s] == 1) & unknown[of.source]] for of in self.groups for s in range(self.systems)
        ]
        return np.maximum(bottom_k(u, lists, [n] * len(lists)), np.where(unknown, 0.0, 1.0))

    def judged(self, u: np.ndarray, q: np.ndarray) -> tuple[Judged, Checked]:
        """The groups as rates take them; a cell is relation x systems + system."""
        judged: list[list[np.ndarray]] = []
        checked: list[list[np.ndarray]] = []
        for at, (of, x) in enumerate(zip(self.groups, self.genuine, strict=True)):
            stratum = np.where(of.telling(range(self.systems)), TELLING, ALIKE)
            if self.gold is not None:
                stratum[self.gold[of.source]] = GOLD
            for s in range(self.systems):
                cell = at * self.systems + s
                rows = np.flatnonzero(of.satisfied[:, s] >= 0)
                source = of.source[rows]
                checked.append(
                    [np.full(len(rows), cell), stratum[rows], of.satisfied[rows, s], source, self.cluster[source]]
                )
                rows = rows[(of.satisfied[rows, s] == 1) & (u <= q)[source]]
                source = of.source[rows]
                none = np.zeros(len(rows), np.int8)
                false = (1 - x[rows, s]).astype(np.int8)
                judged.append(
                    [np.full(len(rows), cell), stratum[rows], false, none, q[source], source, self.cluster[source]]
                )
        columns = ([np.concatenate(column) for column in zip(*parts, strict=True)] for parts in (judged, checked))
        return Judged(*next(columns)), Checked(*next(columns))

    def cells(self) -> dict[tuple[str, int], list[int]]:
        """Cells, and what is rolled up, as lists of cells."""
        sizes = [int((of.satisfied[:, s] == 1).sum()) for of in self.groups for s in range(self.systems)]
        rolled: dict[tuple[str, int], list[int]] = {}
        for cell, size in enumerate(sizes):
            if size:
                relation, system = divmod(cell, self.systems)
                for key in (("cell", cell), ("relation", relation), ("system", system), ("all", 0)):
                    rolled.setdefault(key, []).append(cell)
        return rolled


def population(name: str, folder: Path, sources: int | None = None) -> World:
    """A real population: systems run on a corpus with gold, under the relations that keep the label."""
    corpus_name, systems, limit = POPULATIONS[name]
    engine = open_store(str(folder / f"{name}.db"), create=True)
    corpus = get_corpus(corpus_name)
    relations = [relation for relation in fitting(corpus, RunOptions()) if relation.carry.preserves_truth]
    with InProcess() as executor:
        run(engine, corpus, systems, relations, executor, RunOptions(limit=sources or limit))
    answer_with_gold(engine)
    return answered_world(engine)


def recorded(groups: Path, folder: Path) -> World:
    """Recorded groups with gold labels, such as the choices of six language models of LLMBar."""
    engine = open_store(str(folder / "recorded.db"), create=True)
    import_run(engine, groups)
    answer_with_gold(engine)
    return answered_world(engine)


def answered_world(engine: Engine) -> World:
    """The one study of a database in which gold has answered everything."""
    counted = count(engine)
    (study,) = counted.populations
    of, standing = counted.populations[study], counted.standings[study]
    genuine = [(standing.state[relation] == 0).astype(int) for relation in of.relations]
    engine.dispose()
    return World(list(of.relations.values()), genuine, of.cluster)


def with_judge(world: World, right: float, seed: int = 0) -> World:
    """The world with a model that judges each output of a source, and is right in so many; the same text and output,
    the same opinion."""
    rng, groups, said = np.random.default_rng(seed), [], dict[tuple[int, int], bool]()
    for of, genuine in zip(world.groups, world.genuine, strict=True):
        opinion = genuine.astype(float)
        for row, column in np.argwhere(of.satisfied == 1):
            key = int(of.source[row]), int(of.output[row, column])
            if not said.setdefault(key, bool(rng.random() < right)):
                opinion[row, column] = 1 - opinion[row, column]
        proxy = np.where(of.satisfied == 1, opinion, 0.0)[None]
        groups.append(Compared(of.source, of.satisfied, of.output, proxy, of.carries))
    return World(groups, world.genuine, world.cluster, world.gold)


def with_gold(world: World, share: float, seed: int = 0) -> World:
    """The world with gold labels of a random share of its sources."""
    labelled = np.random.default_rng(seed).random(world.sources) < share
    return World(world.groups, world.genuine, world.cluster, labelled)


def as_people_see(world: World, errors: float, adjudicator: float, seed: int = 0) -> World:
    """A world of two labels as two people see it who err independently, and an adjudicator where they disagree."""
    rng = np.random.default_rng(seed)
    first, second, last = (rng.random(world.sources) < share for share in (errors, errors, adjudicator))
    mistaken = np.where(first == second, first, last)
    genuine = [
        np.where(mistaken[of.source][:, None] & (of.satisfied == 1), 1 - x, x)
        for of, x in zip(world.groups, world.genuine, strict=True)
    ]
    return World(world.groups, genuine, world.cluster, world.gold)


def synthetic(
    sources: int = 4000,
    systems: int = 5,
    relations: int = 8,
    gap: float = 0.02,
    rivals: int = 1,
    seed: int = 0,
    best: float = 0.70,
    documents: int | None = None,
) -> World:
    """Binary labels; one system, right in `best` + `gap`, ahead of its rivals, the others .12 behind. Texts are hard
    for all alike, those of a document in part (.3 of the variance of a system's errors)."""
    rng = np.random.default_rng(seed)
    gold, hard = rng.integers(0, 2, sources), rng.normal(size=sources)
    cluster = np.arange(sources)
    if documents is not None:
        cluster = np.sort(rng.integers(0, documents, sources))
        hard = np.sqrt(0.6) * rng.normal(size=documents)[cluster] + np.sqrt(0.4) * hard
    right = np.full(systems, best)
    right[0] += gap
    right[1 + rivals :] -= 0.12
    label = np.empty((sources, systems), int)
    for s in range(systems):
        z = np.sqrt(0.5) * hard + np.sqrt(0.5) * rng.normal(size=sources)
        label[:, s] = np.where(z < np.quantile(z, right[s]), gold, 1 - gold)
    groups, genuine = [], []
    for _ in range(relations):
        source = np.sort(rng.choice(sources, int(sources * rng.uniform(0.2, 1)), replace=False))
        satisfied = (rng.random((len(source), systems)) < rng.uniform(0.9, 0.99, systems)).astype(np.int8)
        groups.append(Compared(source, satisfied, label[source], np.zeros((0, *satisfied.shape))))
        genuine.append(((satisfied == 1) & (label[source] == gold[source][:, None])).astype(int))
    return World(groups, genuine, cluster)


def play(
    world: World, u: np.ndarray, contests: list[Contest], base: int = 20, peek: bool = True
) -> tuple[list[Contest], np.ndarray]:
    """Rounds until all contests have ended; returns them and the thresholds."""
    q = world.base(u, base) if base else np.zeros(world.sources)
    reached = Thresholds(q, {})
    if base:
        state = world.answered(u, q)
        contests = [eliminate(one, Evidence(world.groups, state, world.sources), EPS) for one in contests]
    while any(one.ended is None for one in contests):
        contests, reached = ask(contests, world.groups, u, reached)
        state = world.answered(u, reached.source)
        contests = [
            one if one.ended else eliminate(one, Evidence(world.groups, state, world.sources), EPS) for one in contests
        ]
    return contests, reached.source


def contests_of(world: World, over_all: bool) -> list[Contest]:
    live, number = tuple(range(world.systems)), len(world.groups)
    weights = [dict.fromkeys(range(number), 1 / number)] if over_all else [{at: 1.0} for at in range(number)]
    return [Contest(one, live) for one in weights]


def decisions(world: World, redraws: int, over_all: bool, base: int = 20, seed: int = 0) -> dict[str, float]:
    """Texts until all contests have ended, and how often the leader is best or within eps."""
    scores, rng = world.scores(), np.random.default_rng(seed)
    texts, right, wrong, ends = [], [], [], Counter[str]()
    for _ in range(redraws):
        u = rng.random(world.sources)
        ended, q = play(world, u, contests_of(world, over_all), base)
        texts.append(int((u <= q).sum()))
        true = [sum(share * scores[at] for at, share in one.weights.items()) for one in ended]
        lags = [float(of.max() - of[one.leader or 0]) for of, one in zip(true, ended, strict=True)]
        right.append([lag <= EPS + 1e-9 for lag in lags])
        wrong += [lag > 1e-9 for lag, one in zip(lags, ended, strict=True) if one.ended == "best"]
        ends.update(one.ended or "" for one in ended)
    return {
        "texts": float(np.mean(texts)),
        "p95": float(np.quantile(texts, 0.95)),
        "right": float(np.mean(right)),
        "worst relation": float(np.mean(right, axis=0).min()),
        "wrong best": float(np.mean(wrong)) if wrong else 0.0,
        **{f"ended {name}": number / sum(ends.values()) for name, number in ends.items()},
    }


def coverage(
    world: World,
    redraws: int,
    base: int,
    of: int | None = None,
    over_all: bool | None = None,
    seed: int = 0,
    answers: World | None = None,
) -> pd.DataFrame:
    """How often intervals of R_FS and of leads hold the truth, by kind: mean and worst, and the mean width.

    `of`: the target is the world, of which so many sources are the corpus each time; None: the corpus is the world.
    `over_all`: rounds that decide come after the first ones. `answers`: the world as people see it.
    """
    rng = np.random.default_rng(seed)
    all_judged, all_checked = world.judged(np.zeros(world.sources), np.ones(world.sources))
    truth = {key: rates_of(cells, all_judged, all_checked, finite=True) for key, cells in world.cells().items()}
    whole, ones = world.answered(np.zeros(world.sources), np.ones(world.sources)), contests_of(world, True)
    pairs = [(a, b) for a in range(world.systems) for b in range(a)]
    true_leads = {pair: lead(ones[0], Evidence(world.groups, whole, world.sources), *pair)[0] for pair in pairs}
    rows = []
    for _ in range(redraws):
        part = answers or world
        if of is not None:
            documents = rng.permutation(np.unique(world.cluster))
            share = int(len(documents) * of / world.sources)
            part = world.among(np.flatnonzero(np.isin(world.cluster, documents[:share])))
        u = rng.random(part.sources)
        q = part.base(u, base) if over_all is None else play(part, u, contests_of(part, over_all), base)[1]
        judged, checked = part.judged(u, q)
        for key, cells in part.cells().items():
            rates = rates_of(cells, judged, checked, finite=of is None)
            for name in ("false", "genuine"):
                rate, true = getattr(rates, name), getattr(truth[key], name)
                if rate is not None and true is not None:
                    held = rate.low - 1e-9 <= true.value <= rate.high + 1e-9
                    rows.append((f"{key[0]} {name}", key[1], held, rate.high - rate.low))
        state, cluster = part.answered(u, q), None if of is None else part.cluster
        size = int(part.cluster.max()) + 1 if of is not None else part.sources
        for pair in pairs:
            d, error, rest = lead(ones[0], Evidence(part.groups, state, size, cluster), *pair)
            spread = 1.96 * float(np.sqrt((error**2).sum() + rest**2))
            rows.append(("pair", pair[0] * 100 + pair[1], abs(d - true_leads[pair]) <= spread + 1e-9, 2 * spread))
    frame = pd.DataFrame(rows, columns=["kind", "of", "held", "width"])
    by_one = frame.groupby(["kind", "of"])[["held", "width"]].mean().groupby("kind")
    return by_one.agg({"held": ["mean", "min"], "width": "mean"}).set_axis(["held", "worst", "width"], axis=1)


def real_judges(labels: Path, texts: int, redraws: int, seed: int = 0) -> pd.DataFrame:
    """Intervals of the share of prompts that each of five models refuses, from people's labels of some prompts alone
    and with what GPT-4, or string matching, says of all (XSTest): coverage and mean width."""
    frame, rng, rows = pd.read_csv(labels), np.random.default_rng(seed), []
    model, item = (frame[name].astype("category").cat.codes.to_numpy() for name in ("model", "item"))
    refused = {name: (frame[name] != "1_full_compliance").to_numpy(float) for name in ("final", "gpt4", "strings")}
    for _ in range(redraws):
        u = rng.random(item.max() + 1)
        q = bottom_k(u, [np.arange(len(u))], [texts])[item]
        for judge in ("nobody", "gpt4", "strings"):
            for of in range(model.max() + 1):
                all_of, asked = model == of, (model == of) & (u[item] <= q)
                proxy = refused.get(judge)
                says = None if proxy is None else (proxy[asked][:, None], np.array([[proxy[all_of].mean()]]))
                rate = weighted_rate(
                    refused["final"][asked], q[asked], np.zeros(asked.sum(), int), np.array([all_of.sum()]),
                    item[asked], finite=True, proxy=says,
                )  # fmt: skip
                assert rate is not None
                held = rate.low <= refused["final"][all_of].mean() <= rate.high
                rows.append((judge, held, rate.high - rate.low))
    return pd.DataFrame(rows, columns=["judge", "held", "width"]).groupby("judge").mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraws", type=int, default=300)
    parser.add_argument("--populations", default=",".join(POPULATIONS))
    parser.add_argument("--llmbar", type=Path, help="groups.jsonl of LLMBar")
    parser.add_argument("--xstest", type=Path, help="labels.csv of XSTest")
    options = parser.parse_args()
    if options.xstest:
        print("real judges", real_judges(options.xstest, 60, options.redraws).round(3).to_string(), sep="\n")
    if options.llmbar:
        with tempfile.TemporaryDirectory() as folder:
            models = recorded(options.llmbar, Path(folder))
        print("LLMBar", decisions(models, options.redraws, True), flush=True)
        print(coverage(models, options.redraws, 20).round(3).to_string())
    with tempfile.TemporaryDirectory() as folder:
        for name in options.populations.split(","):
            world = population(name, Path(folder))
            for right in (0.9, 0.5):
                judged = decisions(with_judge(world, right), options.redraws, True)
                print(name, "a judge is right in", right, judged, flush=True)
            for over_all in (True, False):
                print(
                    name, "winner" if over_all else "relations", decisions(world, options.redraws, over_all), flush=True
                )
            for base in (20, 60):
                print(
                    name,
                    base,
                    "corpus",
                    coverage(world, options.redraws, base).round(3).to_string(),
                    sep="\n",
                    flush=True,
                )
                half = world.sources // 2
                print(
                    name,
                    base,
                    "population",
                    coverage(world, options.redraws, base, half).round(3).to_string(),
                    sep="\n",
                )
            print(
                name,
                "after deciding",
                coverage(world, options.redraws, 20, over_all=True).round(3).to_string(),
                sep="\n",
            )
    worlds = {
        "simulated": synthetic(seed=7),
        "rare": synthetic(seed=7, best=0.96),
        "documents": synthetic(documents=300),
    }
    worlds["half gold"] = with_gold(worlds["simulated"], 0.5)
    for name, world in worlds.items():
        for base, over_all in ((20, None), (60, None), (20, True)):
            found_of = coverage(world, options.redraws, base, over_all=over_all)
            print(name, base, "after deciding" if over_all else "", found_of.round(3).to_string(), sep="\n", flush=True)
    seen = as_people_see(worlds["simulated"], 0.2, 0.05)
    covered = coverage(worlds["simulated"], options.redraws, 20, over_all=True, answers=seen)
    print("people err", covered.round(3).to_string(), sep="\n", flush=True)
    for rivals in (1, 4):
        for sources in (1000, 4000):
            found = [
                decisions(synthetic(sources, relations=1, rivals=rivals, seed=seed), 1, False, 0) for seed in range(200)
            ]
            print("near ties", rivals, sources, pd.DataFrame(found).fillna(0.0).mean().round(3).to_dict(), flush=True)


if __name__ == "__main__":
    main()
