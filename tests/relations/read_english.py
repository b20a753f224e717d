"""Print sources and follow-ups of an English relation of any task but sentiment, for reading. Not a test: a script.

    python tests/relations/read_english.py inference denied-hypothesis --n 30
    python tests/relations/read_english.py inference denied-hypothesis --pairs pairs.csv     # columns text, text_b

Texts are sentences of newspapers (the Penn Treebank of NLTK), IMDB and Rotten Tomatoes, and passages of four of the
first; pairs are put together of unrelated ones, so that what is read is the form, and what follows by logic.
"""

import argparse
import csv
import random
import sys
from collections.abc import Iterator, Sequence

from audit.corpora import get_corpus
from audit.errors import AuditError
from audit.relations import Source, get_relation
from audit.relations.base import Fixed
from audit.tasks import Input, get_task
from audit.text import Analysis

PASSAGES = ("sentence-order", "free-sentence-order", "repeated-sentence")
"""Relations on several sentences."""


def sentences() -> list[str]:
    names = {"treebank@es": 10_000, "imdb-sentences": 4_000, "rotten-tomatoes": 1_500}
    texts = []
    for name, most in names.items():
        rows = [row.input.text for row in get_corpus(name).rows()]
        texts += random.Random(name).sample(rows, min(most, len(rows)))
    return texts


def passages() -> list[str]:
    news = [row.input.text for row in get_corpus("treebank@es").rows()]
    return [" ".join(news[at : at + 4]) for at in range(0, len(news) - 4, 4)]


def inputs(task: str, relation: str, pairs: str | None, chosen: random.Random) -> Iterator[tuple[str, ...]]:
    """Texts of inputs without end, or those of the file of pairs."""
    if pairs:
        with open(pairs, encoding="utf-8", newline="") as file:
            rows = [(row["text"], row["text_b"]) for row in csv.DictReader(file)]
        yield from chosen.sample(rows, len(rows))
        return
    short = [text for text in sentences() if len(text.split()) < 25]
    long = passages()
    questions = [text for text in short if text.endswith("?") and len(text.split()) > 3]
    while True:
        if task == "question-answering":
            yield chosen.choice(long), chosen.choice(questions)
        elif get_task(task).texts == 2:
            yield chosen.choice(short), chosen.choice(short)
        else:
            yield (chosen.choice(long if task == "summarization" or relation in PASSAGES else short),)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("relation")
    parser.add_argument("--n", type=int, default=30, help="groups to print")
    parser.add_argument("--most", type=int, default=2_000, help="sources to try")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pairs", help="a CSV with the columns text and text_b")
    options = parser.parse_args(arguments)
    try:
        relation = get_relation(options.task, options.relation)
    except AuditError as problem:
        print(problem, file=sys.stderr)
        return 2
    if not isinstance(relation, Fixed):
        print(f"{relation.name} looks at outputs; this script has no system", file=sys.stderr)
        return 2
    made = tried = 0
    chosen = random.Random(f"{relation.name} {options.seed}")
    for texts in inputs(options.task, relation.name, options.pairs, chosen):
        tried += 1
        source = Source(Input.of(*texts), Analysis(texts[0]), f"{options.seed} {tried}")
        for follow_up in relation.follow_ups(source):
            made += 1
            for old, new in zip(texts, follow_up.texts, strict=True):
                if old != new:
                    print(f"{made:3} {old}\n  > {new}")
        if made >= options.n or tried >= options.most:
            break
    print(f"== {options.task} {relation.name}: {made} of {tried} sources make a group")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
