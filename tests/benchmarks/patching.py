"""Does training on exported groups mend a system? A measurement on real text: tests/benchmarks/patching.py.

`logreg` is trained on sentences of Rotten Tomatoes, audited on others with typing errors, searched for violations, and
trained again with what `audit training-data` wrote. What is left of its violations is measured on sentences
that no step before has seen; beside it stands the system with the same new sentences, without their follow-ups. Gold is
the only annotator. Prints the table of docs/evidence/patching.md; about a minute and a half of one core.

    python tests/benchmarks/patching.py
"""

import csv
import tempfile
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest
from sqlalchemy import select

import audit
from audit.corpora import get_corpus
from audit.exchange.training import write_training
from audit.keys import uniform
from audit.store import open_store, table_of, tables
from audit.systems.trained import tokens

TASK = "classification/negative,positive"
RELATIONS = ["typos", "misspellings", "opening-phrase", "repeated-sentence", "misspellings | opening-phrase"]
TRAINED, AUDITED, HELD_OUT = 2_000, 1_500, 1_000


def rows_of(place: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(place: Path, rows: list[dict[str, str]]) -> str:
    """Write texts with their gold; the spec of a system that is trained on them."""
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["text", "gold"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return f"logreg:{place}"


def measured(system: str, corpus: Path, store: Path) -> tuple[float, pd.Series]:
    """The share of right labels of sources; and which groups are violated (1) or not (0), by relation and source."""
    verdict, group, relation = table_of(tables.Verdict), table_of(tables.Group), table_of(tables.Relation)
    source, output = table_of(tables.Source), table_of(tables.Output)
    checked = verdict.join(group, group.c.id == verdict.c.group_id).join(relation, relation.c.id == group.c.relation_id)
    answered = source.join(output, output.c.input_id == source.c.input_id)
    study = audit.run(str(corpus), [system], RELATIONS, task=TASK, store=store, progress=False)
    with study, study.engine.connect() as connection:
        columns = (relation.c.name, group.c.source_id, verdict.c.outcome)
        checks = pd.read_sql(select(*columns).select_from(checked), connection)
        right = pd.read_sql(select(source.c.gold, output.c.label).select_from(answered), connection)
    return float((right["gold"] == right["label"]).mean()), checks.set_index(["name", "source_id"])["outcome"]


def compared(before: pd.Series, after: pd.Series) -> pd.DataFrame:
    """The violation rates of the same groups by relation, how many groups are violated in one alone, and the p-value of
    the exact test of McNemar."""
    both = pd.DataFrame({"before": before, "after": after})
    by = both.groupby(level="name", sort=False)
    fixed, broke = (by.apply(lambda rows, at=at: int((rows[at[0]] > rows[at[1]]).sum())) for at in ENDS)
    p = [
        binomtest(int(one), int(one + other)).pvalue if one + other else 1.0
        for one, other in zip(fixed, broke, strict=True)
    ]
    table = pd.DataFrame({"groups": by.size(), **{name: by[name].mean() for name in both}})
    return table.assign(fixed=fixed, broke=broke, p=p)


ENDS = (("before", "after"), ("after", "before"))


def searched(corpus: str, system: str, store: Path) -> pd.DataFrame:
    """What searches of several methods, budgets and depths find for the first 300 sentences of a corpus."""
    rows = []
    for method, depth in (("greedy", 1), ("greedy", 2), ("greedy", 3), ("beam", 3)):
        for budget in (10, 30, 60):
            result = audit.search(
                corpus, system, RELATIONS[:4], task=TASK, store=store, limit=300, progress=False,
                budget=budget, depth=depth, method=method,
            )  # fmt: skip
            changed = [one.violation.changed for one in result.violated if one.violation]
            calls = result.as_json()["median_calls"]
            rows.append((method, depth, budget, len(result.violated), calls, pd.Series(changed).median()))
    return pd.DataFrame(rows, columns=["method", "depth", "budget", "violated", "median calls", "median changed"])


def main() -> None:
    """Print the table."""
    corpus = sorted(get_corpus("rotten-tomatoes").rows(), key=lambda row: uniform("patching", row.key))
    texts = list(
        {" ".join(tokens(row.input.text)): {"text": row.input.text, "gold": str(row.gold)} for row in corpus}.values()
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, others = texts[:TRAINED], texts[TRAINED:]
        system = write(folder / "first.csv", first)
        write(folder / "audited.csv", others[:AUDITED])
        held_out = folder / "held-out.csv"
        write(held_out, others[AUDITED : AUDITED + HELD_OUT])
        store = folder / "audited.db"
        audit.run(str(folder / "audited.csv"), [system], RELATIONS, task=TASK, store=store, progress=False).close()
        result = audit.search(
            str(folder / "audited.csv"), system, RELATIONS[:4], task=TASK, store=store, budget=30, progress=False
        )
        result.write(folder / "found.jsonl")
        engine = open_store(str(store))
        patches = {}
        for label, searches in (("groups", ()), ("groups and search", (folder / "found.jsonl",))):
            write_training(engine, folder / label, test_share=0.0, searches=searches)
            patches[label] = rows_of(folder / label / "train.csv")
        new = {row["text"] for row in others[:AUDITED]}
        originals = [row for row in patches["groups"] if row["text"] in new]
        versions = {
            "as it was": system,
            "with the audited sentences": write(folder / "originals.csv", first + originals),
            "with their groups": write(folder / "patched.csv", first + patches["groups"]),
            "with what the search found, too": write(folder / "searched.csv", first + patches["groups and search"]),
        }
        found = result.as_json()
        print(f"search: {found['violated']} of {found['searched']} sources, median {found['median_calls']} inputs")
        print(searched(str(folder / "audited.csv"), system, store).to_string(index=False))
        before: pd.Series | None = None
        for number, (label, spec) in enumerate(versions.items()):
            right, outcomes = measured(spec, held_out, folder / f"{number}.db")
            before = outcomes if before is None else before
            print(f"\n{label}: {len(rows_of(Path(spec.removeprefix('logreg:'))))} texts, right on {right:.3f}")
            print(compared(before, outcomes).to_string(float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
