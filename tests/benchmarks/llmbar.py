"""Six language models as judges: how much of their consistency is false. Numbers of docs/evidence/llmbar.md.

`python tests/benchmarks/llmbar.py` clones LLMBar (Zeng et al., ICLR 2024; MIT licence) and audits the answers that its
authors published; `--repository FOLDER` takes a clone that is there. `--groups FILE` keeps the groups for
`audit import-run`, `--picture FILE` draws the README's picture.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pandas as pd

import audit
from audit.runner.imported import import_run
from audit.store import open_store

ADDRESS = "https://github.com/princeton-nlp/LLMBar"
COMMIT = "900616"
MODELS = ("GPT-4", "ChatGPT", "ChatGPT-0301", "PaLM2", "LLaMA2", "Falcon")
PROMPT = "Vanilla"
"""The authors' folder of answers to their prompt with rules."""
NUMBERS = {"1": "one", "2": "two"}


def sets(repository: Path) -> list[Path]:
    """The five sets of the benchmark."""
    folder = repository / "Dataset" / "LLMBar"
    return [
        folder / "Natural",
        *(folder / "Adversarial" / name for name in ("Neighbor", "GPTInst", "GPTOut", "Manual")),
    ]


def groups(repository: Path) -> Iterator[dict[str, object]]:
    """Yield a group for each item and model: both orders of its two outputs, and which one the model chose."""
    for folder in sets(repository):
        name = folder.relative_to(repository / "Dataset" / "LLMBar").as_posix()
        for model in MODELS:
            items = json.loads((folder / "evaluators" / model / PROMPT / "result.json").read_text(encoding="utf-8"))
            for number, item in enumerate(items):
                one, two = (f"Output {key}: {item[f'output_{n}']}" for n, key in NUMBERS.items())
                asked = f"Instruction: {item['input']}"
                (result,) = item["results"]
                said = [NUMBERS.get(result[f"swap = {swapped}"]["winner"]) for swapped in (False, True)]
                verdict = {} if None in said else {"verdict": "satisfied" if said[0] == said[1] else "violated"}
                yield {
                    "task": "classification/one,two",
                    "relation": "swapped-order",
                    "carries": "everything",
                    "system": model,
                    "version": PROMPT,
                    "id": f"{name}/{number}",
                    "gold": NUMBERS[str(item["label"])],
                    "source": f"{asked}\n\n{one}\n\n{two}",
                    "follow_ups": [f"{asked}\n\n{two}\n\n{one}"],
                    "outputs": said,
                    "attributes": {"set": name},
                    **verdict,
                }


def published(repository: Path) -> pd.DataFrame:
    """The authors' own counts by set and model: how often both orders agree, and how often both are right."""
    rows = []
    for folder in sets(repository):
        for model in MODELS:
            counts = json.loads(
                (folder / "evaluators" / model / PROMPT / "statistics.json").read_text(encoding="utf-8")
            )
            equal, right = (int(counts[key].split(" / ")[0]) for key in ("equal", "correct_both"))
            rows.append({"set": folder.name, "system": model, "consistent": equal, "both right": right})
    return pd.DataFrame(rows)


def cells(report: audit.Report) -> pd.DataFrame:
    """Rates in per cent with the ends of the interval of SR_g, best reported first."""
    frame = report.to_frame().sort_values("sr_observed", ascending=False)
    named = {
        "sr_observed": "SR_o",
        "fs": "R_FS",
        "sr_genuine": "SR_g",
        "sr_genuine_low": "low",
        "sr_genuine_high": "high",
    }
    frame = frame.rename(columns=named)[["system", "groups", "satisfied", "false", *named.values()]]
    frame[list(named.values())] = (100 * frame[list(named.values())].astype(float)).round(1)
    frame["rank_o"], frame["rank_g"] = (frame[name].rank(ascending=False).astype(int) for name in ("SR_o", "SR_g"))
    return frame.reset_index(drop=True)


def audited(lines: list[dict[str, object]], folder: Path) -> audit.Study:
    """The study of these groups, answered by the experts' labels."""
    (folder / "groups.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    store = str(folder / "llmbar.db")
    import_run(open_store(store, create=True), folder / "groups.jsonl")
    return audit.open(store).sample(share=1.0).answer_with_gold()


def picture(frame: pd.DataFrame) -> str:
    """A bar a model: what is consistent, and what of that is wrong in both orders."""
    left, right, step = 130, 560, 34
    height = 74 + step * len(frame)
    parts = []
    for at, row in enumerate(frame.to_dict("records")):
        y = 62 + step * at
        genuine, satisfied = (left + (right - left) * row[name] / 100 for name in ("SR_g", "SR_o"))
        parts.append(
            f'<text x="{left - 10}" y="{y + 16}" text-anchor="end" class="strong">{escape(row["system"])}</text>'
            f'<rect x="{left}" y="{y}" width="{genuine - left:.1f}" height="22" class="good"/>'
            f'<rect x="{genuine:.1f}" y="{y}" width="{satisfied - genuine:.1f}" height="22" class="bad"/>'
            f'<text x="{satisfied + 8:.1f}" y="{y + 16}">{row["SR_o"]:.0f} % consistent, '
            f"{row['R_FS']:.0f} % of that false</text>"
        )
    title = "Six language models judge 419 pairs of answers, asked in both orders"
    style = (
        ".back{fill:#fff;stroke:#d0d7de}text{fill:#1f2328;font:14px system-ui,'Segoe UI',Helvetica,Arial,sans-serif}"
        ".strong{font-weight:600}.good{fill:#2e7d32}.bad{fill:#f57c00}"
        "@media(prefers-color-scheme:dark){.back{fill:#161b22;stroke:#3d444d}text{fill:#f0f6fc}.good{fill:#66bb6a}"
        ".bad{fill:#ffb74d}}"
    )
    key = (
        f'<rect x="{left}" y="36" width="12" height="12" class="good"/>'
        f'<text x="{left + 18}" y="47">right in both orders</text>'
        f'<rect x="{left + 180}" y="36" width="12" height="12" class="bad"/>'
        f'<text x="{left + 198}" y="47">wrong in both orders: false satisfaction</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" role="img"><title>{escape(title)}</title>'
        f'<style>{style}</style><rect x=".5" y=".5" width="819" height="{height - 1}" rx="8" class="back"/>'
        f'<text x="{left}" y="24" class="strong">{escape(title)}</text>{key}{"".join(parts)}</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, help="a clone of LLMBar")
    parser.add_argument("--groups", type=Path, help="where the groups are kept")
    parser.add_argument("--picture", type=Path, help="where the picture is written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, repository = Path(place), options.repository
        if repository is None:
            repository = folder / "LLMBar"
            subprocess.run(["git", "clone", "--quiet", ADDRESS, str(repository)], check=True)
            subprocess.run(["git", "-C", str(repository), "checkout", "--quiet", COMMIT], check=True)
        lines = list(groups(repository))
        if options.groups:
            options.groups.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        study = audited(lines, folder)
        frame = cells(study.report(target="corpus"))
        print(frame.to_string(index=False))
        print(study.report())
        ours, theirs = counted(lines), published(repository)
        equal = (ours[theirs.columns] == theirs).all(axis=1).sum()
        print(f"{equal} of {len(theirs)} sets and models: the authors' counts")
        if options.picture:
            options.picture.write_text(picture(frame), encoding="utf-8")


def counted(lines: list[dict[str, object]]) -> pd.DataFrame:
    """Our counts by set and model, as `published`."""
    rows = [
        {
            "set": str(line["id"]).split("/")[-2],
            "system": line["system"],
            "consistent": len(set(line["outputs"])) == 1,  # two refusals, too, as the authors count
            "both right": line["outputs"] == [line["gold"]] * 2,
        }
        for line in lines
    ]
    return pd.DataFrame(rows).groupby(["set", "system"], sort=False).sum().reset_index()


if __name__ == "__main__":
    main()
