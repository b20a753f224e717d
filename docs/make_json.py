"""Write docs/reference/json.md from what the commands answer about a small study: python docs/make_json.py"""

import contextlib
import io
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.cli import main
from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.store import open_store
from audit.tasks.questions import SCALES

WIDTH = 116
PAGE = Path(__file__).parent / "reference" / "json.md"
HEAD = """# JSON

Written by `docs/make_json.py`: what commands answer with `--json` about a small study. Of a list, the first entry is
shown. Rates are fractions; what is not known is `null`. A rate that is estimated is [an object](report.md#estimates).
`audit report` and `audit rerank` have [a schema](report.schema.json).
"""
MINE = '''"""Two systems and a judge."""


def calm(text):
    return ("positive", 0.9) if "good" in text.lower() else ("negative", 0.7)


def nervous(text):
    return ("positive", 0.6) if "good" in text else ("negative", 0.6)


def judge(asked):
    return "positive" if "good" in asked.text else "negative"
'''
GROUP = {"relation": "X", "system": "a", "source": "S.", "follow_ups": ["F."], "outputs": ["positive", "positive"]}
FILES = {
    "mine.py": MINE,
    "reviews.csv": "text,gold\nIt is good.,positive\nIt isn't good.,negative\nIt's bad.,negative\n",
    "own.jsonl": json.dumps(GROUP | {"verdict": "satisfied"}),
    "ratings.csv": "item,annotator,label\n1,anna,x\n1,ben,x\n2,anna,y\n2,ben,x\n3,anna,y\n3,ben,y\n",
    "labels.csv": "text,label\nIt is good.,positive\nElsewhere.,positive\n",
    "known.csv": "text,answer\nIt is fine.,positive\n",
    "past.csv": "system,target,direct,alternate\n" + "a,es,Llueve.,Llueve.\na,fr,Il pleut.,Il pleuvait.\n" * 4,
    "films.toml": 'name = "films"\n[study]\ncorpus = "reviews.csv"\nsystems = ["mine:calm"]\nrelations = ["MR3.1"]\n'
    "[sample]\nbase = 5\n",
}
RUN = "--corpus reviews.csv --systems mine:calm,mine:nervous --relations MR1.1,MR3.1 --workers 0"
ANSWERS = {
    "run": (
        RUN,
        "`groups` made, `checks` (verdicts), `executed` calls, `stored` outputs that were there; `retried`, "
        "`repeated` and "
        "`failed` calls; `left` sources; `cut`: inputs that a system read in part. Several corpora give a list.",
    ),
    "run --dry-run": (RUN, "An entry for each system: what would be asked, and what that costs."),
    "runs": (
        "",
        "`finished` is the share of relations and sources that is through; `number` is higher for a later version.",
    ),
    "gold": ("", "`pairs` are questions about outputs, which no label of a text answers."),
    "sample": (
        "--base 2",
        "`texts` are new, `waiting` those of earlier rounds without an answer. A decision has `ended` as "
        "`best`, `within` or "
        "`all asked`.",
    ),
    "plan": (
        "--pace 6 --price 20",
        "`texts` in all until the decisions are made, of which `asked` were; 5 and 95 of 100 imagined runs "
        "take `low` and "
        "`high`.",
    ),
    "progress": (
        "",
        "`filled` questions have all their votes, `split` ones different votes; `left` is what open questions"
        " still want; "
        "`unread` ones wait in languages that nobody reads.",
    ),
    "agreement": ("--ratings ratings.csv --by pair", "`note` says why an estimate is undefined."),
    "annotators": (
        "--ratings ratings.csv --draws 50",
        "`marginals` are the shares of the true labels; `confusion` has, by true label, the probability of "
        "each label said.",
    ),
    "compare": (
        "#1 #2",
        "A rise is VR of the new system less VR of the old one. Without an `estimate`, `low` and `high` hold "
        "whatever the open "
        "groups are.",
    ),
    "search": (
        "--corpus reviews.csv --systems mine:nervous --relations MR3.1 --budget 4 --workers 0",
        "`outcome` is `violation`, `none`, `no_follow_up`, `error` or `left`; `genuine`, whether an output is"
        " wrong by gold.",
    ),
    "follow-ups": ("--measures replaced", "`low` and `high`: 5 % of the groups are below and above."),
    "judge ask": ("--with mine:judge", "`left` are questions that it has not answered."),
    "judge agreement": ("", "`confusion` has the right label down, the judge's across."),
    "validity draw": ("--per-relation 2 --first", ""),
    "validity report": (
        "",
        "`vr_sound` is the violation rate without groups that are `unsound` by their text or relation.",
    ),
    "validity end": ("", ""),
    "known": ("--purpose gold --count 1 --db fresh.db", "With a file, how many were `added` and `changed`."),
    "settings": ("--set pass_mark=0.8", ""),
    "quality": ("", "Each share has its `part` and `whole`, or a `reason`."),
    "import-run": ("own.jsonl --db other.db", ""),
    "import-labels": (
        "labels.csv --annotator crowd",
        "`without`: entries without a label; `too_few`: questions that fewer people answered than are asked.",
    ),
    "study set": ("films.toml", "`new` is false if nothing changed."),
    "study freeze": ("films", ""),
    "study show": (
        "films",
        "Without a name all plans; of a file its content, with everything that was left out.",
    ),
    "study run": ("films --workers 0", "`run`, `sample` and `gold` are as those commands answer."),
    "user add": ("zoe", ""),
    "user password": ("zoe", ""),
    "user delete": ("zoe", ""),
    "user token": ("mia", "The token is shown here and nowhere else."),
    "pivots": ("past.csv", "Tables: each name has a list of rows, with the columns that the terminal shows."),
    "tasks": ("", ""),
    "relations": ("MR1.1", ""),
    "systems": ("", ""),
    "corpora": ("", ""),
    "check": ("mine:calm", "`advice` says what to change if every input failed."),
    "export": ("--out exported", ""),
    "training-data": ("--out patch", ""),
    "import": ("exported --db again.db", ""),
    "replay": ("exported", "`listed` has the first 100 differences."),
    "backup": ("--out backup.db", ""),
    "doctor": ("", ""),
}
"""In the order in which they are called: what stands behind each command, and what its answer does not say itself."""
BEFORE = {
    "compare": RUN.replace("MR1.1,", "") + " --db audit.db",
    "known": RUN + " --db fresh.db",
}


@contextlib.contextmanager
def folder() -> Iterator[None]:
    """A new current directory with the files, as if this were the user's."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        for name, content in FILES.items():
            Path(place, name).write_text(content, encoding="utf-8")
        os.chdir(place)
        sys.path.insert(0, place)
        sys.modules.pop("mine", None)
        os.environ["AUDIT_PASSWORD"] = "correct horse"
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(place)
            sys.modules.pop("mine", None)
            os.environ.pop("AUDIT_PASSWORD")


def answered(command: str) -> Any:
    """Return what a command answers. Raises RuntimeError where it fails."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = main(shlex.split(command))
    if status:
        raise RuntimeError(f"audit {command}: {told.getvalue()}")
    return json.loads(said.getvalue()) if "--json" in command else None


def rated() -> None:
    """Rate every text of the validity study as its best."""
    engine = open_store("audit.db")
    person = add_account(engine, "carla", "annotator", "correct horse").id
    while (shown := next_question(engine, person)) is not None and shown.kind in SCALES:
        judge(engine, person, shown.id, "5")


def answers() -> Iterator[tuple[str, Any]]:
    """Yield each command with its answer."""
    with folder():
        for name, (arguments, _) in ANSWERS.items():
            if name in BEFORE:
                answered(f"run {BEFORE[name]} --json")
            if name == "user token":
                answered("user add mia --role manager")
            if name == "validity report":
                rated()
            yield name, answered(f"{name} {arguments} --json")


def shown(value: Any) -> Any:
    """Return the value with one entry of each list, and no long texts or numbers."""
    if isinstance(value, list):
        return [shown(entry) for entry in value[:1]]
    if isinstance(value, dict):
        return {key: shown(inner) for key, inner in value.items()}
    if isinstance(value, str) and len(value) > 60:
        return value[:57] + "..."
    return round(value, 4) if isinstance(value, float) else value


def laid_out(value: Any, indent: int = 0) -> str:
    """Return the value as JSON, in one line where it fits."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + 1
    if isinstance(value, list):
        return "[" + ", ".join(laid_out(entry, inner) for entry in value) + "]"
    entries = [f"{json.dumps(key)}: {laid_out(one, inner)}" for key, one in value.items()]
    lines = [entries[0]]
    for entry in entries[1:]:
        if "\n" in lines[-1] + entry or len(lines[-1]) + len(entry) + inner + 2 > WIDTH:
            lines.append(entry)
        else:
            lines[-1] += ", " + entry
    return "{" + f",\n{' ' * inner}".join(lines) + "}"


def page() -> str:
    parts = [HEAD.rstrip()]
    for name, answer in answers():
        parts.append(f"## `audit {name}`")
        parts += [told] if (told := ANSWERS[name][1]) else []
        parts.append("```json\n" + laid_out(shown(answer)) + "\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
