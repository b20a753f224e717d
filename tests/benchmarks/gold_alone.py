"""What gold labels of sources alone say on real systems and text: rates where relations carry them, else bounds.

    python tests/benchmarks/gold_alone.py            # prints the table of docs/evidence/benchmarks.md

Sentences of rotten-tomatoes, three systems, an imported relation whose truth is known by construction: an address is
added to a text (`carries` everything, or is not said to carry anything), so that a follow-up's label is its source's.
Gold is there for every row, or for half of them; groups are drawn again and again, and what is counted is checked
against the share of all satisfied groups that are false, of each system and of all together (the roll-up). Where half
the rows have gold, the domain is theirs.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from audit.corpora import get_corpus
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.groups import bounded_groups, judged_groups
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.reports.certainty import certainty, roll_ups
from audit.runner.imported import import_run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.rates import with_bounds, with_rates
from audit.store import open_store
from audit.systems import get_system
from audit.tasks import Input

SYSTEMS = ("vader", "textblob", "hiv4")
ADDED = " See https://example.org/1."
WORLDS = {
    "everything carried, gold for all": {"carries": "everything", "share": 1.0, "domain": "all"},
    "nothing carried, gold for all": {"carries": None, "share": 1.0, "domain": "all"},
    "positive carried, gold for all": {"carries": ["positive"], "share": 1.0, "domain": "all"},
    "everything carried, gold for half, all rows": {"carries": "everything", "share": 0.5, "domain": "all"},
    "everything carried, gold for half, its rows": {"carries": "everything", "share": 0.5, "domain": "gold"},
}


def groups(sources: int, share: float, carries) -> pd.DataFrame:
    """A row per system and sentence: the line to import, whether it has gold, and whether its satisfaction is false."""
    rows = list(get_corpus("rotten-tomatoes").rows())
    rng = np.random.default_rng(3)
    rows = [rows[at] for at in rng.permutation(len(rows))[:sources]]
    labelled = rng.permutation(len(rows)) < share * len(rows)
    made = []
    for name in SYSTEMS:
        system = get_system(name)
        texts = [row.input.text for row in rows]
        inputs = [Input((text,), ("en",)) for text in [*texts, *(text + ADDED for text in texts)]]
        labels = [output.label for output in system.run(inputs)]
        for at, row in enumerate(rows):
            pair = [labels[at], labels[at + len(rows)]]
            line = {"relation": "address", "system": name, "id": row.key, "source": texts[at]}
            line |= {"follow_ups": [texts[at] + ADDED], "outputs": pair}
            line |= {"verdict": "satisfied" if pair[0] == pair[1] else "violated"}
            line |= {"gold": row.gold} if labelled[at] else {}
            line |= {} if carries is None else {"carries": carries}
            false = pair[0] == pair[1] != row.gold
            made.append((name, line, bool(labelled[at]), pair[0] == pair[1], false))
    return pd.DataFrame(made, columns=["system", "line", "labelled", "satisfied", "false"])


def measure(world: str, size: Size, sources: int = 400, redraws: int = 400) -> dict[str, float]:
    """Over all cells of all redraws: how many have a rate, or bounds, or are at an edge; coverage; mean width; and
    coverage of the roll-up's bounds, or of its rates where it has these."""
    how = WORLDS[world]
    frame = groups(sources, how["share"], how["carries"])
    held = frame[frame["satisfied"] & (frame["labelled"] | (how["domain"] == "all"))]
    truth = held.groupby("system")["false"].mean()
    points, covered, widths, edges, bounds, kept, together = 0, 0, [], 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        path, imported, copy = (Path(folder, name) for name in ("groups.jsonl", "imported.db", "copy.db"))
        path.write_text("\n".join(json.dumps(line) for line in frame["line"]) + "\n", encoding="utf-8")
        engine = open_store(str(imported), create=True)
        study = import_run(engine, path, seed=0).study
        engine.dispose()
        for seed in range(redraws):
            shutil.copyfile(imported, copy)
            engine = open_store(str(copy))
            draw(engine, study, SampleRequest(size, seed=seed, domain=how["domain"]))
            answer_with_gold(engine)
            counted = count(engine)
            cells = with_bounds(with_rates(counted.cells))
            sure = certainty(cells, judged_groups(counted), None, "corpus", drawn=bounded_groups(counted))
            (whole,) = (one for one in roll_ups(cells, sure, {}) if one["by"] == "overall")
            engine.dispose()
            low, high = ("fs_low", "fs_high") if whole["fs_least"] is None else ("fs_bound_low", "fs_bound_high")
            if whole[low] is None:  # nobody has answered anything
                continue
            together.append(
                (whole[low] - 1e-12 <= held["false"].mean() <= whole[high] + 1e-12, whole[high] - whole[low])
            )
            for cell in cells.to_dict("records"):
                share = truth[cell["system"]]
                if cell["judged"]:
                    points += 1
                    covered += cell["fs_low"] - 1e-12 <= share <= cell["fs_high"] + 1e-12
                    edges += cell["fs_rate"] in (0.0, 1.0) and cell["judged"] > 3
                    widths.append(cell["fs_high"] - cell["fs_low"])
                else:
                    bounds += 1
                    kept += cell["fs_bound_low"] - 1e-12 <= share <= cell["fs_bound_high"] + 1e-12
                    widths.append(cell["fs_bound_high"] - cell["fs_bound_low"])
    return {
        "rates": points,
        "rates cover": covered / points if points else np.nan,
        "rates at an edge": edges,
        "bounds": bounds,
        "bounds cover": kept / bounds if bounds else np.nan,
        "width": float(np.mean(widths)),
        "roll-ups cover": float(np.mean([one[0] for one in together])),
        "their width": float(np.mean([one[1] for one in together])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraws", type=int, default=400)
    arguments = parser.parse_args()
    for world in WORLDS:
        for name, size in (("1 %", Size(share=0.01)), ("60", Size(per_relation=60))):
            row = {"world": world, "drawn": name} | measure(world, size, redraws=arguments.redraws)
            if (world, name) == (next(iter(WORLDS)), "1 %"):
                print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
            numbers = (f"{one:.3f}" if isinstance(one, float) else str(one) for one in row.values())
            print(f"| {' | '.join(numbers)} |", flush=True)


if __name__ == "__main__":
    main()
