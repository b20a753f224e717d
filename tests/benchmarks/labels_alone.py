"""Is a system named that is always right, and returns labels alone, beside vader? As a function, chat and HTTP.

    python tests/benchmarks/labels_alone.py --seeds 20     # prints the table of docs/evidence/benchmarks.md

Each seed draws 60 invented product reviews with gold; every sentiment relation that fits runs, gold answers 60 groups a
cell. vader misreads a third of them: praise that is denied, and faults told in words that no lexicon has.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from chatting import chat_file, reply
from service import serving

import audit

THINGS = ("battery", "case", "cable", "screen", "keyboard", "speaker", "charger", "stand", "manual", "strap")
PRAISE = ("The {} is great.", "I really like the {}.", "The {} works very well.", "It's a good {} and I am happy.")
FAULTS = ("The {} is bad.", "I hate the {}.", "The {} is terrible and it broke.")
HARD = ("Nobody can say that the {} is great.", "The {} stopped after a day.", "The {} fell apart at once.")
NEGATIVE = ("bad", "hate", "terrible", "broke", "nobody", "stopped", "fell apart", "not ", "n't", "no longer", "worse")


def reviews(seed):
    """60 rows (text, gold), a third of them hard for vader."""
    rng = random.Random(seed)
    kinds = [(pattern, "positive") for pattern in PRAISE] + [(pattern, "negative") for pattern in FAULTS + HARD]
    rows = {(pattern.format(thing), gold) for pattern, gold in kinds for thing in THINGS}
    return rng.sample(sorted(rows), 60)


def right(text):
    return "negative" if any(word in text.lower() for word in NEGATIVE) else "positive"


def answer(body, number):
    if "texts" in body:
        return {"outputs": [{"label": right(text)} for text in body["texts"]]}
    text = body["messages"][-1]["content"].rpartition("<")[2]
    return reply(f'{{"label": "{right(text)}"}}')


def decision(kind, seed):
    """The decision of one study, and the name of the system that is always right."""
    with tempfile.TemporaryDirectory() as folder, serving(answer) as server:
        files = {"function": lambda: right, "http": lambda: server.file(Path(folder)),
                 "chat": lambda: chat_file(server, Path(folder), '[prompt]\nuser = "<{text}>"\n')}  # fmt: skip
        study = audit.run(reviews(seed), ["vader", files[kind]()], seed=seed, progress=False)
        report = study.sample(per_relation=60).answer_with_gold().report()
    (name,) = {cell.system for cell in report.cells} - {"vader"}
    return report.decision, name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    print("| as | named | surely | vader named |\n|---|---|---|---|")
    for kind in ("function", "chat", "http"):
        ends = Counter()
        for seed in range(arguments.seeds):
            chosen, name = decision(kind, seed)
            ends["named"] += chosen.systems == (name,)
            ends["sure"] += chosen.systems == (name,) and chosen.state == "sure"
            ends["vader"] += chosen.systems == ("vader",)
        print(f"| {kind} | {ends['named']} of {arguments.seeds} | {ends['sure']} | {ends['vader']} |", flush=True)


if __name__ == "__main__":
    main()
