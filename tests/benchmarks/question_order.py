"""What the order of questions does: to estimates where judging stops early, to answers drawn to earlier ones, and to
what is read twice.

    python tests/benchmarks/question_order.py stopping     # the tables of docs/evidence/question-order.md
    python tests/benchmarks/question_order.py anchored
    python tests/benchmarks/question_order.py reading --db audit-demo.db     # works on a copy
    python tests/benchmarks/question_order.py claims --questions 100000 [--db postgresql://...]

`stopping` and `anchored` judge the world of study_world.py, whose rates are the study's, with simulated annotators.
`reading` lets two of them take turns at the real queue of a database and counts words.
"""

import argparse
import re
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from study_simulation import Drawing
from study_world import ASKS, world

from audit.annotation import queue
from audit.annotation.accounts import add_account
from audit.annotation.order import MOST_WANTED, STRETCH, own_order
from audit.annotation.queue import next_question
from audit.annotation.settings import change_settings
from audit.judging.judgements import judge
from audit.keys import uniform
from audit.statistics.agreement import Ratings, krippendorff_alpha
from audit.statistics.annotators import dawid_skene
from audit.statistics.intervals import mid_p
from audit.store import open_store, table_of, tables
from audit.text.differences import Kind, differences

JUDGED, FRACTIONS, REDRAWS = 60, (0.1, 0.25, 0.5), 20
ORDERS = ("most wanted first", "together", "apart")


# (a) Judging that stops early. A question is a source, or a follow-up under a relation that carries no answer; one that
# its source's answer has made needless costs nothing when its turn comes, so that where a settled beginning ends does
# not depend on what the answers were.


def cell_questions(drawing, judged=JUDGED):
    """By cell, the questions of each group of the sample, and by question (source, its best rank, whether it is the
    source itself, whether it must be answered)."""
    cells, about = [], {}
    for index, system, groups, _ in drawing.cells:
        relation = drawing.relations[index]
        needed = relation.follow_up[groups[:judged], system] >= 0
        of_cell = []
        for rank, (source, is_needed) in enumerate(zip(relation.source[groups[:judged]].tolist(), needed, strict=True)):
            questions = [(source,)]
            if relation.name in ASKS:
                own = (system,) if ASKS[relation.name] == "own" else ()
                questions.append((source, relation.name, *own))
            for question in questions:
                _, best, is_source, must = about.get(question, (source, rank, len(question) == 1, False))
                about[question] = source, min(best, rank), is_source, must or is_source or bool(is_needed)
            of_cell.append(questions)
        cells.append(of_cell)
    return cells, about


def in_order(about, order, account=1):
    """The questions in this order."""
    wanted = sorted(about, key=lambda question: (about[question][1], not about[question][2], question))
    if order == "most wanted first":
        return wanted
    if order == "apart":
        number = {question: place for place, question in enumerate(wanted)}
        stretches = {}
        for question in wanted:
            stretches.setdefault(about[question][1] // STRETCH, []).append(number[question])
        return [wanted[place] for key in sorted(stretches) for place in own_order(account, stretches[key])]
    of_source = {}
    for question in wanted:
        of_source.setdefault(about[question][0], []).append(question)
    return [question for versions in of_source.values() for question in sorted(versions, key=len)]


def stopping(made, redraws=REDRAWS, judged=JUDGED):
    """By order and share of the answers: mean settled groups of a cell, cells that have one, width, coverage."""
    rows = []
    for seed in range(redraws):
        drawing = Drawing(made, seed)
        cells, about = cell_questions(drawing, judged)
        for order in ORDERS:
            asked = in_order(about, order)
            cost = np.cumsum([about[question][3] for question in asked])
            turn = dict(zip(asked, cost.tolist(), strict=True))
            for fraction in FRACTIONS:
                most = fraction * cost[-1]
                for (_, _, _, false), true, groups in zip(drawing.cells, drawing.true, cells, strict=True):
                    settled = [all(turn[question] <= most for question in questions) for questions in groups]
                    n = settled.index(False) if False in settled else len(settled)
                    if n:
                        found = mid_p(int(false[:n].sum()), n, len(false))
                        held = found.low - 1e-12 <= true <= found.high + 1e-12
                        rows.append((order, fraction, n, True, found.high - found.low, held))
                    else:
                        rows.append((order, fraction, 0, False, 1.0, np.nan))
    frame = pd.DataFrame(rows, columns=["order", "answered", "settled", "begun", "width", "held"])
    return frame.groupby(["answered", "order"], sort=False).mean()


# (b) An annotator who is drawn to their earlier answer: where a version comes soon after another of the same text, the
# answer to it is with probability `a` the one that was given before.

NEAR = 5
"""Answers within which an earlier answer is remembered."""
PULLS, ACCURACY, PEOPLE = (0.0, 0.1, 0.3), 0.9, 3


def near(made, order, judged=JUDGED):
    """The share of follow-ups before which the same person judged a version of the same text at most `NEAR` answers
    before."""
    _, about = cell_questions(Drawing(made, 0), judged)
    last, nearby = {}, []
    for place, question in enumerate(in_order(about, order)):
        source = about[question][0]
        if len(question) > 1:
            nearby.append(source in last and place - last[source] <= NEAR)
        last[source] = place
    return float(np.mean(nearby))


def said(true, rng, accuracy=ACCURACY):
    """What annotators say of texts whose true labels these are: (people, texts)."""
    wrong = (true + rng.integers(1, 3, (PEOPLE, len(true)))) % 3
    return np.where(rng.random((PEOPLE, len(true))) < accuracy, true, wrong)


def anchored(made, nearby, pulls=PULLS, redraws=REDRAWS, judged=JUDGED):
    """By pull and order (`nearby`: its share of follow-ups that come soon after their source): bias of R_FS by one
    annotator, and by two and an adjudicator who is right; alpha of the answers to follow-ups, the share of wrong ones,
    and that of all answers, as it is and as Dawid and Skene's model estimates it from the answers."""
    rows = []
    for pull in pulls:
        for order, share in nearby.items():
            for seed in range(redraws):
                drawing, rng = Drawing(made, seed), np.random.default_rng([31, seed])
                everything, biases = [], []
                for index, system, groups, false in drawing.cells:
                    relation = drawing.relations[index]
                    if relation.name not in ASKS:
                        continue
                    false = false[:judged]
                    follow_up = relation.follow_up[groups[:judged], system] >= 0
                    # A false group that asks no follow-up has a wrong source.
                    output = rng.integers(0, 3, len(false))
                    source = (output + (false & ~follow_up)) % 3
                    own = (source + (false & follow_up)) % 3
                    of_source, of_follow_up = said(source, rng), said(own, rng)
                    drawn = rng.random(of_source.shape) < pull * share
                    of_follow_up = np.where(drawn, of_source, of_follow_up)
                    answered = ((of_source, source), (of_follow_up, own))
                    one = (of_source[0] != output) | (of_follow_up[0] != output)
                    settled = [np.where(given[0] == given[1], given[0], true) for given, true in answered]
                    two = (settled[0] != output) | (settled[1] != output)
                    biases.append((one.mean() - false.mean(), two.mean() - false.mean()))
                    everything.append(np.stack([np.stack([true, *given]) for given, true in answered]))
                of_all = np.concatenate(everything, axis=2)  # (source or follow-up, truth and people, groups)
                pooled = np.concatenate(list(of_all), axis=1)
                model = dawid_skene(ratings(pooled[1:]))
                alpha = krippendorff_alpha(Ratings.of(ratings(of_all[1, 1:]))).value
                errors = [(given[1:] != given[0]).mean() for given in (of_all[1], pooled)]
                rows.append((pull, order, *np.mean(biases, axis=0), alpha, *errors, 1 - model.accuracy.mean()))
    frame = pd.DataFrame(rows, columns=["pull", "order", "one", "two", "alpha", "wrong", "error", "estimated"])
    return frame.groupby(["pull", "order"], sort=False).mean()


def ratings(answers):
    """Answers (people, items) as a frame of item, annotator and label."""
    people, items = answers.shape
    return pd.DataFrame(
        {
            "item": np.tile(np.arange(items), people),
            "annotator": np.repeat([f"p{number}" for number in range(people)], items),
            "label": answers.ravel().astype(str),
        }
    )


# (c) Reading. Two people take turns at the queue of a real database until nothing is left.

WORDS_A_MINUTE, DECIDING = 240, 2.0
"""Assumed: how fast new words are read, and the seconds that an answer takes besides."""


def most_wanted_first(connection, account_id, codes, settings, place, params):
    """The order of before: the most wanted question, whatever was answered last. Takes the place of `queue._vacant`."""
    for again, past in ((False, True), (False, False), (True, True), (True, False)):
        query = queue._vacant_question(codes, past, again, MOST_WANTED)
        if (vacant := connection.execute(query, params).first()) is not None:
            return vacant, again
    return None, False


def words(text):
    """Its words; a Chinese sign is one."""
    return re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", text)


def sentences(text):
    """Its sentences."""
    return [part.strip() for part in re.split(r"(?<=[.!?\u3002\uff01\uff1f])\s*", text) if part.strip()]


def answer_of(shown):
    """What the simulated people say of a question: mostly the same of all versions of a text."""
    return shown.labels[int(uniform("label", *shown.texts) * len(shown.labels))]


def reading(database, order, most=10**9):
    """Two people judge a copy of this database in this order: a frame with a row an answer: words of the texts shown,
    those in sentences that the same person had read, whether the text is marked against the one before, and words that
    differ from it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        shutil.copy(database, copy)
        engine = open_store(str(copy))
        if order != "most wanted first":
            change_settings(engine, None, {"versions": order})
        people = [add_account(engine, f"reader {number}", "annotator", "long enough").id for number in (1, 2)]
        seen, rows = {id: set() for id in people}, []
        before = queue._vacant
        queue._vacant = most_wanted_first if order == "most wanted first" else before
        try:
            left = list(people)
            while left and len(rows) < most:
                for id in list(left):
                    shown = next_question(engine, id)
                    if shown is None:
                        left.remove(id)
                        continue
                    members = [member.input.texts for member in shown.group.members] if shown.group else [shown.texts]
                    parts = [part for texts in members for text in texts for part in sentences(text)]
                    read = sum(len(words(part)) for part in parts if part in seen[id])
                    marked = shown.compared_with is not None and order == "together"
                    differ = changed(shown.compared_with, shown.texts) if marked else 0
                    total = sum(len(words(part)) for part in parts)
                    rows.append((id, shown.id, shown.kind, total, read, marked, differ))
                    seen[id].update(parts)
                    judge(engine, id, shown.id, answer_of(shown))
        finally:
            queue._vacant = before
            engine.dispose()
    return pd.DataFrame(rows, columns=["annotator", "question", "kind", "words", "read", "marked", "differ"])


def changed(before, after):
    """The words that are added or left out from one version of some texts to another."""
    number = 0
    for old, new in zip(before, after, strict=False):
        number += sum(len(words(part.text)) for part in differences(old, new) if part.kind is not Kind.SAME)
    return number


def summary(frame):
    """Answers, words an answer, the share read before, and seconds an answer: all words read; a marked text read where
    it differs only."""
    needed = np.where(frame["marked"], np.minimum(frame["differ"], frame["words"]), frame["words"])
    return {
        "answers": len(frame),
        "words": frame["words"].mean(),
        "read before": frame["read"].sum() / frame["words"].sum(),
        "marked": frame["marked"].mean(),
        "to read": needed.mean(),
        "seconds, all read": frame["words"].mean() * 60 / WORDS_A_MINUTE + DECIDING,
        "seconds": needed.mean() * 60 / WORDS_A_MINUTE + DECIDING,
    }


# The time of a claim.


def claims(where, questions, answers=60, versions=5):
    """Milliseconds of each claim by order: of a database with so many open questions, five versions a text and kinds
    that alternate."""
    engine = open_store(where, create=True)
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    with engine.begin() as connection:
        texts = [
            {"key": number.to_bytes(16, "big"), "texts": [f"Film {number} was fine."], "languages": "en"}
            for number in range(1, questions + 1)
        ]
        connection.execute(input_table.insert(), texts)
        same = {"task": "sentiment", "kind": "input"}
        rows = [
            same | {"key": number.to_bytes(16, "big"), "input_id": number, "priority": 1 + number // 200}
            | {"waits": number % 7, "source_input_id": 1 + (number - 1) % (questions // versions)}
            for number in range(1, questions + 1)
        ]  # fmt: skip
        connection.execute(question.insert(), rows)
    times = {}
    before = queue._vacant
    for number, order in enumerate(ORDERS):
        account = add_account(engine, f"p{number}", "annotator", "long enough").id
        change_settings(engine, None, {"versions": "apart" if order == "apart" else "together"})
        queue._vacant = most_wanted_first if order == "most wanted first" else before
        took = []
        for _ in range(answers):
            begin = time.perf_counter()
            shown = next_question(engine, account)
            took.append(1000 * (time.perf_counter() - begin))
            judge(engine, account, shown.id, "positive")
        times[order] = took[5:]
    queue._vacant = before
    engine.dispose()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stopping", "anchored", "reading", "claims"])
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    parser.add_argument("--scale", type=float, default=1.0, help="of the world")
    parser.add_argument("--db")
    parser.add_argument("--questions", type=int, default=100_000)
    arguments = parser.parse_args()
    if arguments.what == "stopping":
        print("| answered | order | settled groups a cell | cells with one | width | coverage |")
        print("|---|---|---|---|---|---|")
        for (fraction, order), one in stopping(world(0, arguments.scale), arguments.redraws).iterrows():
            print(
                f"| {fraction:.0%} | {order} | {one.settled:.1f} | {one.begun:.0%} | {one.width:.3f} | {one.held:.3f} |"
            )
    elif arguments.what == "anchored":
        made = world(0, arguments.scale)
        nearby = {order: near(made, order) for order in ORDERS[1:]}
        print({order: round(share, 3) for order, share in nearby.items()})
        print("| a | order | bias, one annotator | bias, two | alpha | wrong | wrong, all | estimated |")
        print("|---|---|---|---|---|---|---|---|")
        for (pull, order), one in anchored(made, nearby, redraws=arguments.redraws).iterrows():
            print(f"| {pull} | {order} | {one.one:+.4f} | {one.two:+.4f} | {one.alpha:.3f} | {one.wrong:.3f} "
                  f"| {one.error:.3f} | {one.estimated:.3f} |")  # fmt: skip
    elif arguments.what == "reading":
        for order in ORDERS:
            figures = summary(reading(arguments.db, order))
            print(order, {name: round(float(value), 3) for name, value in figures.items()}, flush=True)
    else:
        with tempfile.TemporaryDirectory() as folder:
            where = arguments.db or str(Path(folder) / "claims.db")
            for order, took in claims(where, arguments.questions).items():
                print(f"{order}: median {np.median(took):.1f} ms, 95 % {np.quantile(took, 0.95):.1f} ms")


if __name__ == "__main__":
    main()
