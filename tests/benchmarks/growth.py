"""How time and memory grow with the number of groups: real runs on real text, and a sample and a report of each.

Runs on 2,400 and 24,000 sentences of polarity v2.0 make about 10,000 and 100,000 groups. Polarity has no more than
300,000 of them, so that the last one runs all corpora that are there, sentences and documents, in one database:
polarity-v2-sentences, imdb-sentences, rotten-tomatoes, polarity-v2 and imdb, about 10^6 groups. Each has a database
of its own, where nothing was executed before. NLTK_DATA names the folder of polarity.

    python tests/benchmarks/growth.py --picture docs/pictures/growth.svg     # half an hour and more
    python tests/benchmarks/growth.py --limits 100 400 --no-whole            # a try-out
"""

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from database_counts import counts
from speed import AUDIT, SYSTEMS, measured

LIMITS = (2_400, 24_000)
SENTENCES = "polarity-v2-sentences"
WHOLE = (SENTENCES, "imdb-sentences", "rotten-tomatoes", "polarity-v2", "imdb")
PER_RELATION = "60"
COMMANDS = ("run", "sample", "report")


def step(path, corpora, limit, systems):
    """A run, a sample and a report in a new database: what each took, and what the database holds then."""
    made = {"corpora": list(corpora), "limit": limit}
    options = [part for name in corpora for part in ("--corpus", name)] + ["--systems", systems]
    options += ["--limit", str(limit)] if limit else []
    of = {"run": options, "sample": ["--per-relation", PER_RELATION], "report": []}
    for name in COMMANDS:
        took = measured([*AUDIT, name, "--db", str(path), *of[name], "--json"])
        made[name] = {"seconds": took.seconds, "cpu": took.cpu, "peak": took.peak}
        if name == "run":
            made |= asdict(counts(path))
    if made["studies"] != len(corpora):
        raise SystemExit(f"the database has {made['studies']} studies, not {len(corpora)}")
    return made


def table(steps):
    """Print the steps as a markdown table; the last columns say what 1,000 groups took."""
    names = [f"{name}: {what}" for name in COMMANDS for what in ("seconds", "CPU seconds", "peak MiB")]
    head = ["sources", "groups", "checks", "executions", *names, "database MiB", "run: ms a group", "bytes a group"]
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for one in steps:
        took = [
            part
            for name in COMMANDS
            for part in (f"{one[name]['seconds']:.1f}", f"{one[name]['cpu']:.1f}", f"{one[name]['peak']:.0f}")
        ]
        line = [f"{one[name]:,}" for name in ("sources", "groups", "checks", "executions")]
        line += [*took, f"{one['mib']:.0f}", f"{one['run']['seconds'] / one['groups'] * 1e3:.2f}"]
        print("| " + " | ".join([*line, f"{one['mib'] * 2**20 / one['groups']:,.0f}"]) + " |")
    print()
    for one in steps:
        which = f"the first {one['limit']:,} sources of " if one["limit"] else ""
        print(f"- {one['groups']:,} groups: {which}{', '.join(one['corpora'])}")


def picture(steps):
    """Time and memory against groups, both axes logarithmic; the dashed lines are proportional to the groups."""
    import altair as alt

    from audit.reports.charts import LIGHT

    colours = {"run": LIGHT.genuine, "sample": LIGHT.false, "report": LIGHT.observed, "database": LIGHT.ink}
    reference = "in proportion to groups"
    panels = {
        "seconds": {name: [one[name]["seconds"] for one in steps] for name in COMMANDS},
        "MiB": {name: [one[name]["peak"] for one in steps] for name in COMMANDS}
        | {"database": [one["mib"] for one in steps]},
    }
    titles = {"seconds": "time of the whole command", "MiB": "peak memory, and size of the database"}
    through = {"seconds": "run", "MiB": "database"}
    groups = [one["groups"] for one in steps]
    charts = []
    for unit, lines in panels.items():
        rows = [
            {"groups": number, "value": value, "what": name, "last": number == groups[-1]}
            for name, values in lines.items()
            for number, value in zip(groups, values, strict=True)
        ]
        # Through the last point: what lies above it at the left is a start that every command has.
        last = lines[through[unit]][-1]
        straight = [{"groups": number, "value": last * number / groups[-1], "what": reference} for number in groups]
        x = alt.X("groups:Q", title="groups", scale=alt.Scale(type="log", nice=False, padding=12))
        y = alt.Y("value:Q", title=unit, scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5, format="~s"))
        colour = alt.Color("what:N", legend=None, scale=alt.Scale(domain=list(colours), range=list(colours.values())))
        measured_ones = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour)
        ends = measured_ones.transform_filter("datum.last").mark_text(align="left", dx=7).encode(text="what:N")
        dashed = alt.Chart(alt.Data(values=straight)).mark_line(strokeDash=[4, 4], color=LIGHT.muted).encode(x=x, y=y)
        charts.append(
            alt.layer(
                dashed, measured_ones.mark_line(), measured_ones.mark_circle(size=45, opacity=1), ends
            ).properties(width=330, height=260, title=alt.Title(titles[unit], anchor="start", color=LIGHT.ink))
        )
    return (
        alt.hconcat(*charts, spacing=70, title=alt.Title(f"dashed: {reference}", fontWeight="normal", fontSize=11))
        .configure(background=LIGHT.paper, padding={"left": 14, "top": 14, "bottom": 14, "right": 60})
        .configure_view(stroke=None)
        .configure_axis(grid=True, gridColor=LIGHT.line, domainColor=LIGHT.line, labelColor=LIGHT.ink)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", type=int, nargs="*", default=LIMITS, help=f"of {SENTENCES}, a step each")
    parser.add_argument("--no-whole", action="store_true", help="leave out the step with all corpora")
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--picture", type=Path, help="draw them here, as SVG")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="run nothing: draw the numbers of this file again")
    arguments = parser.parse_args()
    if arguments.draw:
        steps = json.loads(arguments.draw.read_text(encoding="utf-8"))
    else:
        wanted = [((SENTENCES,), limit) for limit in arguments.limits]
        wanted += [] if arguments.no_whole else [(WHOLE, None)]
        steps = []
        for number, (corpora, limit) in enumerate(wanted):
            with tempfile.TemporaryDirectory() as folder:
                steps.append(step(Path(folder) / f"growth-{number}.db", corpora, limit, arguments.systems))
            if arguments.json:  # after each step: the last one takes most of the time
                arguments.json.write_text(json.dumps(steps, indent=1), encoding="utf-8")
    table(steps)
    if arguments.picture:
        import vl_convert

        arguments.picture.write_text(vl_convert.vegalite_to_svg(picture(steps).to_json()), encoding="utf-8")


if __name__ == "__main__":
    main()
