"""Every command on a page exists as it is written; those of a page that need no service run, one after the other."""

import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

import audit
from audit.cli import application, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ("commands.md", "api.md", "json.md", "relation-list.md")
WRITTEN = [page for page in PAGES if page.name not in GENERATED or page.parent.name == "how-to"]


def commands_of(page: Path) -> list[str]:
    """The commands in the blocks of a page, a line each, without `audit` and comments."""
    found = []
    for block in re.findall(r"```(?:sh|text)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        lines = block.replace("\\\n", " ").splitlines()
        found += [match[1] for line in lines if (match := re.match(r"\s*(?:\S*/)?audit (.*)", line))]
    return found


def split(command: str) -> tuple[str, object, list[str]]:
    """The name of a command, the command, and its words."""
    words, named = shlex.split(command, comments=True), application()
    words = words[2:] if words[0] == "--plugin" else words
    words = words[: words.index(">")] if ">" in words else words
    name = words.pop(0)
    named = named.commands[name]
    while words and words[0] in getattr(named, "commands", {}):
        name = f"{name} {words[0]}"
        named = named.commands[words.pop(0)]
    return name, named, words


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_are_written_as_they_are_called(page):
    for command in commands_of(page):
        name, called, words = split(command)
        called.make_context(name, words, help_option_names=["--help", "-h"])
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    for command in re.findall(r"`audit ([a-z][^`]*)`", prose):
        _, called, words = split(command)
        known = {spelled for param in called.params for spelled in (*param.opts, *param.secondary_opts)}
        assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in known] == [], command


MINE = """
def classify(text):
    return ("negative", 0.8) if "dull" in text or "bad" in text else ("positive", 0.6)


def judge(asked):
    return "positive" if "good" in asked.text else "negative"


judge.name = "referee"


def sort(text):
    return "billing" if "invoice" in text else "tech"


sort.tasks = ("classification/billing,tech",)
"""
ELSEWHERE = {
    "http:acme.toml": "mine:classify",
    "http:model.toml": "mine:classify",
    "chat:referee.toml": "mine:judge",
    "mine:classify@b498": "'#1'",
    "mine:classify@5d95": "'#2'",
    "--max-cost 5": "",
    "--max-calls 2000": "",
    "billing,tech --systems mine:classify": "billing,tech --systems mine:sort",
}
"""What a page names that is not here, and what stands for it."""
LEFT_OUT = re.compile(r"app\b|.*--dask|agreement --about groups|validity report")
"""Servers, clusters, and what needs answers about groups or ratings have tests of their own."""
RUN = "run --corpus reviews.csv --systems vader,mine:classify --relations MR1.1,MR3.1"
STORIES = {
    "how-to/run.md": [],
    "how-to/planning.md": [RUN],
    "how-to/studies.md": [],
    "how-to/quality.md": [RUN],
    "how-to/search.md": [
        "run --db mine.db --corpus tickets.csv --task classification/billing,tech --systems mine:sort --relations typos"
    ],
    "how-to/ci.md": [RUN],
    "how-to/exports.md": [RUN],
    "reference/agreement.md": [RUN, "sample --base 9", "import-labels people.csv"],
    "reference/judges.md": [RUN, "sample --base 9"],
    "reference/validity.md": [RUN],
}
"""Pages whose commands need nothing else, and what is there before."""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with the files that pages speak of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setenv("AUDIT_PASSWORD", "correct horse")
    reviews = next(corpus for corpus in audit.all_corpora() if corpus.name == "rotten-tomatoes")
    rows = [{"text": row.input.text, "gold": row.gold} for row in reviews.rows()]
    frame = pd.DataFrame(rows).sample(60, random_state=1)
    frame.to_csv("reviews.csv", index=False)
    frame.assign(label=frame["gold"].replace({"positive": "good", "negative": "bad"})).to_csv("crowd.csv", index=False)
    people = [frame.assign(label=frame["gold"], annotator=who) for who in ("anna", "ben")]
    pd.concat(people).to_csv("people.csv", index=False)
    ratings = [(item, who, "xy"[(item + len(who)) % 3 == 0]) for item in range(9) for who in ("ann", "benno")]
    frame = pd.DataFrame(ratings, columns=["item", "annotator", "label"])
    frame.to_csv("ours.csv", index=False)
    wide = frame.pivot(index="item", columns="annotator", values="label").rename(columns={"benno": "ben"})
    wide.reset_index(names="id").to_csv("wide.csv", index=False)
    Path("mine.py").write_text(MINE)
    Path("training.csv").write_text("text,answer\nIt is fine.,positive\n")
    Path("tickets.csv").write_text("text,gold\nThe printer is broken.,tech\nI paid the invoice twice.,billing\n")


@pytest.mark.slow
@pytest.mark.parametrize("page", STORIES)
def test_the_commands_of_a_page_run(page, world, capsys):
    for command in [*STORIES[page], *commands_of(ROOT / "docs" / page)]:
        for theirs, ours in ELSEWHERE.items():
            command = command.replace(theirs, ours)
        if LEFT_OUT.match(command):
            continue
        words = shlex.split(command, comments=True)
        words += ["--limit", "20", "--workers", "0"] if words[:2] == ["run", "--corpus"] else []
        words, into = (words[:-2], words[-1]) if ">" in words else (words, None)
        status = main(words)
        printed = capsys.readouterr()
        # 1 and 4 are answers of `compare --fail-if`, 3 is a limit that was reached.
        assert status in ((0, 1, 4) if "--fail-if" in command else (0, 3)), (command, printed.err)
        if into:
            Path(into).write_text(printed.out, encoding="utf-8")
