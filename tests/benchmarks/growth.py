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
import math
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
HEIGHT = 260
"""Of a panel, in pixels."""


def step(path, corpora, limit, systems):
    """A run, a sample and a report in a new database: what each took, and what the database holds then."""
    made = {"corpora": list(corpora), "limit": limit}
    options = [part for name in corpora for part in ("--corpus", name)] + ["--systems", systems]
    options += ["--limit", str(limit)] if limit else []
    of = {"run": options, "sample": ["--base", PER_RELATION], "report": []}
    for name in COMMANDS:
        took = measured([*AUDIT, name, "--db", str(path), *of[name], "--json"])
        made[name] = {"seconds": took.seconds, "cpu": took.cpu, "peak": took.peak}
        if name == "run":
            made |= asdict(counts(path))
    if made["studies"] != len(corpora):
        raise SystemExit(f"the database has {made['studies']} studies, not {len(corpora)}")
    return made


def table(steps):
    """Print two markdown tables: what was run and what it made, and what each command took."""
    print("\n| groups | checks | executions | database MiB | bytes a group | sources |\n|" + "---|" * 6)
    for one in steps:
        which = f"the first {one['limit']:,} of " if one["limit"] else f"{one['sources']:,}, all of "
        print(
            f"| {one['groups']:,} | {one['checks']:,} | {one['executions']:,} | {one['mib']:.0f} | "
            f"{one['mib'] * 2**20 / one['groups']:,.0f} | {which}{', '.join(one['corpora'])} |"
        )
    print("\n| groups | command | seconds | CPU seconds | peak MiB | ms of CPU a group |\n|" + "---|" * 6)
    for one in steps:
        for name in COMMANDS:
            took = one[name]
            print(
                f"| {one['groups']:,} | {name} | {took['seconds']:.1f} | {took['cpu']:.1f} | {took['peak']:.0f} | "
                f"{took['cpu'] / one['groups'] * 1e3:.3f} |"
            )


def picture(steps):
    """Time and memory against groups, both axes logarithmic; the dashed lines are proportional to the groups."""
    import altair as alt

    from audit.reports.charts import LIGHT

    colours = {"run": LIGHT.genuine, "sample": LIGHT.false, "report": LIGHT.observed, "database": LIGHT.ink}
    panels = {
        "seconds": {name: [one[name]["seconds"] for one in steps] for name in COMMANDS},
        "MiB": {name: [one[name]["peak"] for one in steps] for name in COMMANDS}
        | {"database": [one["mib"] for one in steps]},
    }
    titles = {"seconds": "seconds of the whole command", "MiB": "peak MiB, and size of the database"}
    through = {"seconds": "run", "MiB": "database"}
    groups = [one["groups"] for one in steps]
    charts = []
    for unit, lines in panels.items():
        everything = [value for values in lines.values() for value in values]
        low, high = math.floor(math.log10(min(everything))), math.ceil(math.log10(max(everything)))
        rows = [
            {"groups": number, "value": value, "what": name}
            for name, values in lines.items()
            for number, value in zip(groups, values, strict=True)
        ]
        # Through the last point: what lies above it at the left is the start that every command has.
        last = lines[through[unit]][-1]
        straight = [{"groups": number, "value": last * number / groups[-1]} for number in groups]
        places = _apart({name: values[-1] for name, values in lines.items()}, (high - low) * 14 / HEIGHT)
        names = [{"groups": groups[-1], "value": value, "what": name} for name, value in places.items()]
        x = alt.X(
            "groups:Q",
            title="groups",
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=alt.Axis(values=_powers(groups), format=","),
        )
        y = alt.Y(
            "value:Q",
            title=None,
            scale=alt.Scale(type="log", domain=[10**low, 10**high], clamp=True),
            axis=alt.Axis(values=[10**power for power in range(low, high + 1)], format="~r"),
        )
        colour = alt.Color("what:N", legend=None, scale=alt.Scale(domain=list(colours), range=list(colours.values())))
        points = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour)
        ends = alt.Chart(alt.Data(values=names)).encode(x=x, y=y, color=colour, text="what:N")
        dashed = alt.Chart(alt.Data(values=straight)).mark_line(strokeDash=[4, 4], color=LIGHT.muted).encode(x=x, y=y)
        charts.append(
            alt.layer(
                dashed,
                points.mark_line(),
                points.mark_circle(size=45, opacity=1),
                ends.mark_text(align="left", dx=8),
            ).properties(
                width=330, height=HEIGHT, title=alt.Title(titles[unit], anchor="start", color=LIGHT.ink, fontSize=12)
            )
        )
    subtitle = alt.Title("dashed: in proportion to groups", color=LIGHT.muted, fontWeight="normal", fontSize=11)
    return (
        alt.hconcat(*charts, spacing=30, title=subtitle)
        .configure(background=LIGHT.paper, padding=14, font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(gridColor=LIGHT.line, domainColor=LIGHT.line, tickColor=LIGHT.line, labelColor=LIGHT.ink)
    )


def _powers(groups):
    """The powers of ten within the numbers, and the numbers next to them where there is none."""
    found = [10**power for power in range(10) if min(groups) <= 10**power <= max(groups)]
    return found or [min(groups), max(groups)]


def _apart(values, least):
    """Where to write the names: at their values, moved up where two are closer than `least` (of a power of ten)."""
    found, below = {}, -math.inf
    for name, value in sorted(values.items(), key=lambda one: one[1]):
        below = max(math.log10(value), below + least)
        found[name] = 10**below
    return found


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
