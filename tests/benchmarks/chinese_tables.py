"""The tables of docs/evidence/chinese-results.md from reports: violation rates, false satisfactions, topics.

audit report --db runs.db --by gold --json > report.json
python tests/benchmarks/chinese_tables.py report.json --pictures docs/pictures

With `--pictures` the violation rates by relation and system (the study's figures 5 to 7) become chinese-CORPUS.svg.
"""

import argparse
import json
from pathlib import Path

import vl_convert

from audit.reports.charts import LIGHT, before_after, spec_of
from audit.reports.sections import violation_bars
from audit.reports.words import percent


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    print("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines), end="\n\n")


def rates(report, entry):
    """VR by relation and system: what was observed, and where anything was judged the genuine one after an arrow."""
    rows = []
    for row in entry["rows"]:
        if row["by"] not in ("relation", "family"):
            continue
        shown = [
            percent(one["vr_observed"])
            + (f" → {percent(one['vr_genuine']['value'])}" if one["vr_genuine"]["value"] is not None else "")
            for one in row["rates"]
        ]
        rows.append([row["name"], f"{max(one['groups'] for one in row['rates']):,}", *shown])
    print(f"### {entry['task']} on {entry['corpus']}: violation rates in per cent\n")
    table(["relation", "groups", *entry["systems"]], rows)
    of = (entry["task"], entry["study"])
    judged = [one for one in report["cells"] if one["judged"] and (one["task"], one["study"]) == of]
    if judged:
        print("R_FS in per cent (false of judged satisfied groups)\n")
        names = list(dict.fromkeys(one["relation"] for one in judged))
        cells = {(one["relation"], one["system"]): one for one in judged}
        found = [[cells[name, system] for system in entry["systems"]] for name in names]
        table(
            ["relation", *entry["systems"]],
            [
                [name, *(f"{percent(c['fs_rate']['value'])} ({c['false']:,} of {c['judged']:,})" for c in line)]
                for name, line in zip(names, found, strict=True)
            ],
        )


def picture(entry, folder):
    spec = spec_of(before_after(violation_bars(entry))) | {"background": LIGHT.paper}
    (folder / f"chinese-{entry['corpus']}.svg").write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main(paths, pictures):
    for path in paths:
        report = json.loads(path.read_text(encoding="utf-8"))
        for entry in report["violations"]:
            rates(report, entry)
            if pictures:
                picture(entry, pictures)
        for entry in (one for one in report["accuracy"] if one["systems"]):
            print(f"### {entry['task']}: accuracy by gold, and by metamorphic testing, in per cent\n")
            heads = ["system", "right of outputs about sources", "accuracy", "1 - VR_o", "1 - VR_g"]
            rows = [
                [
                    s["system"],
                    f"{s['right']:,} of {s['outputs']:,}",
                    percent(s["accuracy"]["value"]),
                    percent(s["sr_observed"]),
                    percent(s["sr_genuine"]["value"]),
                ]
                for s in entry["systems"]
            ]
            table(heads, rows)
        for entry in report.get("topics") or []:
            print(f"### {entry['task']}: violation rates by gold label, in per cent\n")
            whole = [one for one in entry["rates"] if one["relation"] is None]
            of = {(one["topic"], one["system"]): one for one in whole}
            rows = [
                [topic, f"{max(of[topic, system]['groups'] for system in entry['systems']):,}"]
                + [
                    f"{percent(of[topic, s]['vr_observed']['value'])} → {percent(of[topic, s]['vr_genuine']['value'])}"
                    for s in entry["systems"]
                ]
                for topic in entry["topics"]
            ]
            table(["label", "groups", *entry["systems"]], rows)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("reports", nargs="+", type=Path)
    asked.add_argument("--pictures", type=Path, help="a folder")
    given = asked.parse_args()
    main(given.reports, given.pictures)
