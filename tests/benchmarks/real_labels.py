"""Published labels of real people and real judges. Numbers of docs/evidence/hatecheck.md and xstest.md.

    python tests/benchmarks/real_labels.py hatecheck      # ten trained people, five ratings an item
    python tests/benchmarks/real_labels.py xstest         # GPT-4 and string matching beside people

Both clone their authors' repository (CC BY 4.0); `--repository FOLDER` takes a clone that is there.
"""

import argparse
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from rounds import real_judges

import audit
from audit.statistics.annotators import dawid_skene

ADDRESSES = {
    "hatecheck": ("https://github.com/paul-rottger/hatecheck-data", "d843022"),
    "xstest": ("https://github.com/paul-rottger/exaggerated-safety", "d7bb5bd"),
}
MODELS = ("gpt4", "llama2new", "llama2orig", "mistralguard", "mistralinstruct")
REDRAWS, ASKED = 300, 60


def hatecheck(repository: Path) -> None:
    """Print agreement, errors of votes, and annotators' accuracies as the model and as gold have them."""
    frame = pd.read_csv(repository / "all_annotations.csv", index_col=0)
    ratings = frame.melt(["case_id", "label_gold"], [f"label_{n}" for n in range(1, 11)], "annotator", "label").dropna()
    ratings = ratings.rename(columns={"case_id": "item"})
    print(audit.agreement(ratings).to_frame()[["name", "estimate", "low", "high"]].round(3).to_string(index=False))
    wrong = ratings["label"] != ratings["label_gold"]
    count = wrong.groupby(ratings["item"]).sum().to_numpy()
    print(f"\n{len(count):,} items, {len(ratings):,} ratings, {wrong.mean():.4f} of them wrong")
    fitted = dawid_skene(ratings, draws=1000)
    right = (~wrong).groupby(ratings["annotator"]).mean()[list(fitted.annotators)].to_numpy()
    low, high = fitted.accuracy_interval
    held = (low <= right) & (right <= high)
    each = pd.DataFrame(
        {"annotator": fitted.annotators, "by gold": right, "model": fitted.accuracy, "low": low, "high": high}
    )
    print(each.round(4).to_string(index=False), f"\n{held.sum()} of {len(held)} intervals hold the accuracy by gold\n")
    print(votes(count, 1 - right).round(4).to_string(index=False))


RULES = {"two agree, else an adjudicator": (2, 2), "majority of three": (3, 2), "majority of five": (5, 3)}
"""People, and how many wrong ones settle an item wrongly."""


def votes(wrong: np.ndarray, error: np.ndarray) -> pd.DataFrame:
    """How often a rule settles an item wrongly: over all choices of an item's five raters, of whom `wrong` (items,)
    are wrong; and if annotators, who err with `error` (annotators,), erred independently."""
    rows = []
    for rule, (people, needed) in RULES.items():
        chosen = list(combinations(range(5), people))
        share = [np.mean([sum(place < k for place in some) >= needed for some in chosen]) for k in range(6)]
        alone = np.mean([at_least(needed, error[list(some)]) for some in combinations(range(len(error)), people)])
        rows.append({"rule": rule, "wrong": np.array(share)[wrong].mean(), "if independent": alone})
    return pd.DataFrame(rows)


def at_least(number: int, chances: np.ndarray) -> float:
    """The probability that so many of independent events happen."""
    happened = np.array([1.0])
    for chance in chances:
        happened = np.convolve(happened, [1 - chance, chance])
    return float(happened[number:].sum())


def xstest(repository: Path) -> None:
    """Print how far each judge agrees with people, and what it adds to their labels."""
    parts = []
    for model in MODELS:
        people = pd.read_csv(repository / "model_completions" / f"xstest_v2_completions_{model}.csv")
        labels = repository / "evaluation" / "automated_evaluation_labels"
        said = {
            judge: pd.read_csv(labels / f"xstest_v2_completions_{model}_{kind}eval.csv").set_index("id")[column]
            for judge, kind, column in (("gpt4", "gpt", "gpt4_label"), ("strings", "str", "strmatch_label"))
        }
        frame = pd.DataFrame({"model": model, "item": people["id"], "final": people["final_label"]})
        parts.append(frame.assign(**{judge: people["id"].map(labels) for judge, labels in said.items()}))
    labels = pd.concat(parts)
    for judge in ("gpt4", "strings"):
        complies = labels[["final", judge]].eq("1_full_compliance").set_axis(["people", judge], axis=1)
        rated = complies.assign(item=np.arange(len(labels))).melt("item", var_name="annotator", value_name="label")
        print(
            judge,
            audit.agreement(rated).to_frame()[["name", "estimate", "low", "high"]].round(3).to_string(index=False),
            sep="\n",
        )
    with tempfile.TemporaryDirectory() as folder:
        labels.to_csv(Path(folder, "labels.csv"), index=False)
        print(real_judges(Path(folder, "labels.csv"), ASKED, REDRAWS).round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", choices=ADDRESSES)
    parser.add_argument("--repository", type=Path, help="a clone of the repository")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repository = options.repository or Path(folder, "labels")
        if options.repository is None:
            address, commit = ADDRESSES[options.labels]
            subprocess.run(["git", "clone", "--quiet", address, str(repository)], check=True)
            subprocess.run(["git", "-C", str(repository), "checkout", "--quiet", commit], check=True)
        {"hatecheck": hatecheck, "xstest": xstest}[options.labels](repository)


if __name__ == "__main__":
    main()
