"""`audit gold` beside the other commands: what is drawn where gold alone answers, and what to do next."""

import json

from audit.cli import main

TEXTS = [f"The {n}th film is {word}." for n in range(20) for word in ("good", "bad")]


def lines(capsys, *command):
    assert main(list(command)) == 0
    return capsys.readouterr().out.splitlines()


def rows(path, gold=lambda n: "positive"):
    line = {"relation": "swap", "system": "ours", "outputs": ["positive"] * 2, "verdict": "satisfied"}
    groups = [
        line | {"source": text, "follow_ups": [f"{text}!"], "gold": gold(n), "carries": "everything"}
        for n, text in enumerate(TEXTS)
    ]
    path.write_text("\n".join(map(json.dumps, groups)), encoding="utf-8")
    return str(path)


def test_gold_alone_is_asked_for_all_that_it_can_settle(tmp_path, capsys):
    db = ["--db", str(tmp_path / "audit.db")]
    file = rows(tmp_path / "run.jsonl", lambda n: "positive" if n % 10 else None)
    assert "--share 1" in lines(capsys, "import-run", file, *db)[-1]
    drawn = json.loads("\n".join(lines(capsys, "sample", "--per-relation", "20", "--json", *db)))
    assert (drawn["studies"][0]["domain"], drawn["drawn"]) == ("gold", 20)
    assert "audit sample --share 1" in lines(capsys, "gold", *db)[-1]
    lines(capsys, "sample", "--share", "1", *db)
    assert "audit report" in lines(capsys, "gold", *db)[-1]
    report = json.loads("\n".join(lines(capsys, "report", "--json", *db)))
    assert [report["cells"][0][name] for name in ("drawn", "judged", "waiting")] == [36, 36, 0]


def test_people_are_asked_about_all_texts_and_their_disputes_come_next(tmp_path, capsys):
    db = ["--db", str(tmp_path / "audit.db")]
    file = rows(tmp_path / "run.jsonl", lambda n: "positive" if n % 10 else None)
    lines(capsys, "import-run", file, *db)
    drawn = json.loads("\n".join(lines(capsys, "sample", "--share", "1", "--annotators", "2", "--json", *db)))
    assert (drawn["studies"][0]["domain"], drawn["drawn"]) == ("all", 40)
    labels = tmp_path / "labels.csv"
    votes = [(TEXTS[0], "negative", "ann"), (TEXTS[0], "positive", "bob"), (TEXTS[1], "positive", "ann")]
    labels.write_text("text,label,annotator\n" + "\n".join(map(",".join, votes)) + "\n", encoding="utf-8")
    assert lines(capsys, "import-labels", str(labels), *db)[-1].startswith("Next: audit app")
