"""A world shaped like the study (Jiang et al. 2022): its sources, relations, systems and rates, with a known truth.

64,720 sentences and 2,000 documents, 18 relations (MR4.4 and MR4.5 apply to some ten sentences each and are left out),
four systems. SR_o and R_FS of each cell are the study's tables 4 and 5, R_FS cut to 60 %; cells that the study lacks
(Stanford on documents and on relations about strength) get the mean of the others. Systems share difficult inputs, so
they err together; one system errs on much the same inputs under all relations.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import logit, ndtri

PAPER = Path(__file__).parents[2].parent / "shared" / "data" / "paper" / "false_satisfaction_2022.csv"
SENTENCES, DOCUMENTS = 64_720, 2_000
SYSTEMS = ("amazon", "microsoft", "heroku", "stanford")
APPLIES = {
    "MR1.1": 0.1, "MR1.2": 0.42, "MR1.3": 0.42, "MR1.4": 0.5, "MR2.1": 0.15, "MR2.2": 0.25, "MR3.1": 1.0, "MR3.2": 0.5,
    "MR4.1": 0.52, "MR4.2": 0.15, "MR4.3": 0.02,
    "MR5.1": 1.0, "MR5.2": 1.0, "MR5.3": 1.0, "MR6.1": 1.0, "MR6.2": 1.0, "MR7.1": 0.95, "MR7.2": 0.95,
}  # fmt: skip
"""Relation -> share of the sentences (documents from MR5.1 on) that it applies to, so that satisfactions add up to
about the study's 735,561."""
ASKS = {"MR2.2": "shared", "MR6.1": "shared", "MR6.2": "shared", "MR7.1": "own", "MR7.2": "own"}
"""Relations that carry no answer to their follow-ups: these are asked about, once for all systems or for each."""
MOST_FALSE = 0.6
SHARED_DIFFICULTY, SHARED_SATISFACTION, SAME_MISTAKE = 0.5, 0.4, 0.8


@dataclass(frozen=True)
class RelationWorld:
    """The groups of one relation: arrays with one row a group (`source`), one column a system."""

    name: str
    source: np.ndarray
    satisfied: np.ndarray
    false: np.ndarray
    label: np.ndarray
    follow_up: np.ndarray
    """Question about the follow-ups, -1 where none is needed to settle the group."""

    @property
    def genuine(self):
        return self.satisfied & ~self.false

    @property
    def informative(self):
        """Groups that can add to a difference: some system is satisfied, and not all with identical outputs."""
        same = self.satisfied.all(axis=1) & (self.label == self.label[:, :1]).all(axis=1)
        return self.satisfied.any(axis=1) & ~same


@dataclass(frozen=True)
class World:
    relations: list
    questions: int
    satisfactions: int


def available():
    return PAPER.exists()


def world(seed=0, scale=1.0):
    """The world of this seed; `scale` shrinks the numbers of sources."""
    rng = np.random.default_rng(seed)
    sentences, documents = int(SENTENCES * scale), int(DOCUMENTS * scale)
    total = sentences + documents
    difficulty = rng.normal(size=total)
    competence = SHARED_DIFFICULTY**0.5 * difficulty[:, None]
    competence = competence + (1 - SHARED_DIFFICULTY) ** 0.5 * rng.normal(size=(total, len(SYSTEMS)))
    truth, confusion = rng.integers(0, 3, total), rng.integers(1, 3, total)
    questions, relations = total, []
    for name, rates in _rates().items():
        first, size = (0, sentences) if name < "MR5" else (sentences, documents)
        source = first + np.flatnonzero(rng.random(size) < APPLIES[name])
        shape = (len(source), len(SYSTEMS))
        ease = SHARED_SATISFACTION**0.5 * rng.normal(size=len(source))[:, None]
        ease = ease + (1 - SHARED_SATISFACTION) ** 0.5 * rng.normal(size=shape)
        satisfied, false = np.zeros(shape, bool), np.zeros(shape, bool)
        works = competence[source] + 0.3 * rng.normal(size=shape)
        for system, (observed, share) in enumerate(rates):
            satisfied[:, system] = _lowest(ease[:, system], observed)
            held = np.flatnonzero(satisfied[:, system])
            false[held[_lowest(works[held, system], share)], system] = True
        mistake = np.where(rng.random(shape) < SAME_MISTAKE, confusion[source][:, None], 3 - confusion[source][:, None])
        wrong = np.where(satisfied, false, rng.random(shape) < 0.3)
        label = (truth[source][:, None] + np.where(wrong, mistake, 0)) % 3
        follow_up = np.full(shape, -1)
        if name in ASKS:
            own = ASKS[name] == "own"
            ids = source[:, None] + total * np.arange(len(SYSTEMS)) if own else np.repeat(source[:, None], 4, axis=1)
            # A false group whose source is wrong is settled by the source's answer; seven of ten are.
            needed = ~(false & (rng.random(shape) < 0.7))
            follow_up = np.where(needed, questions + ids, -1)
            questions += total * (len(SYSTEMS) if own else 1)
        relations.append(RelationWorld(name, source, satisfied, false, label, follow_up))
    return World(relations, questions, int(sum(one.satisfied.sum() for one in relations)))


def proxy(false, auc, rng):
    """A signal for each group with this area under its ROC curve: two normals, as a probability at 30 % false."""
    shift = 2**0.5 * ndtri(auc)
    score = rng.normal(size=false.shape) + shift * false
    return 1 / (1 + np.exp(-(shift * score - shift**2 / 2 + logit(0.3))))


def _lowest(values, share):
    """The `share` of the values that are lowest, as a mask: the rate comes out exactly."""
    chosen = np.zeros(len(values), bool)
    chosen[np.argsort(values)[: round(share * len(values))]] = True
    return chosen


def _rates():
    """Relation -> (SR_o, R_FS) by system, the study's where it has them."""
    with PAPER.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for name in APPLIES:
        given = {row["system"]: (float(row["sr_observed"]), float(row["fs_rate"])) for row in rows
                 if row["relation"] == name}  # fmt: skip
        mean = tuple(float(np.mean([one[i] for one in given.values()])) for i in (0, 1))
        found[name] = [
            (observed, min(share, MOST_FALSE)) for observed, share in (given.get(system, mean) for system in SYSTEMS)
        ]
    return found
