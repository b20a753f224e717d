"""Perturbations per second on one core, pre-tagged, beside other tools on the same sentences in one run.

python tests/benchmarks/perturbation_speed.py                       # ours, and the peers of this environment
python tests/benchmarks/perturbation_speed.py --peers /path/python  # the peers of another one

Peers are no dependencies; one that is not there is listed with what is missing. CPU seconds, the least of some rounds.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

from audit.corpora import get_corpus
from audit.relations import Plain, Source, all_relations
from audit.text import Analysis

PEERS = Path(__file__).with_name("perturbation_peers.py")
DOES = {"contractions": "MR1.1", "noun synonyms": "MR1.2", "negation": "MR2.2", "tense": "MR4.1"}


def analysed(corpus, count, seed):
    """Sources whose tokens are there, and the CPU seconds that tagging them took."""
    rows = list(get_corpus(corpus).rows())
    chosen = random.Random(seed).sample(rows, min(count, len(rows)))
    sources = [Source(row.input, Analysis(row.input.text), f"{seed}:{row.key}") for row in chosen]
    assert sources[0].analysis.tokens  # the tagger loads its lexicon
    started = time.process_time()
    for source in sources:
        _ = source.analysis.tokens
    return sources, time.process_time() - started


def seconds(relation, sources, rounds):
    """The least CPU seconds of making all follow-ups, and the sources that have some."""
    applies = [source for source in sources if relation.follow_ups(source)]
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for source in sources:
            relation.follow_ups(source)
        best = min(best, time.process_time() - started)
    return best, applies


def ours(sources, rounds):
    found = {}
    for relation in all_relations("sentiment"):
        if isinstance(relation, Plain) and relation.unit == "sentence":
            all_of_them, applies = seconds(relation, sources, rounds)
            where_it_applies, _ = seconds(relation, applies, rounds)
            found[relation.name] = {"seconds": all_of_them, "made": len(applies), "applying": where_it_applies}
    return found


def peers(python, sources, rounds):
    content = {
        "texts": [source.input.text for source in sources],
        "words": [[token.text for token in source.analysis.tokens] for source in sources],
        "tags": [[token.tag for token in source.analysis.tokens] for source in sources],
        "rounds": rounds,
    }
    done = subprocess.run(
        [python, str(PEERS)], input=json.dumps(content), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="polarity-v2-sentences")
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="the interpreter that has the peers")
    given = parser.parse_args()
    sources, tagging = analysed(given.corpus, given.sentences, given.seed)
    count = len(sources)
    found = ours(sources, given.rounds)
    whole = sum(one["seconds"] for one in found.values())
    print(f"{count:,} sentences of {given.corpus}; tagging {tagging:.2f} s, all relations together {whole:.2f} s\n")
    print("| relation | sentences/s | where it applies/s | follow-ups made | of all the time, made/s |")
    print("|---|---|---|---|---|")
    for name, one in found.items():
        applying = one["made"] / one["applying"] if one["made"] else 0
        rate = (
            f"{count / one['seconds']:,.0f} | {applying:,.0f} | {one['made']:,} | {one['made'] / one['seconds']:,.0f}"
        )
        print(f"| {name} | {rate} |")
    print("\n| does | tool | sentences/s | made | made/s | ours is |")
    print("|---|---|---|---|---|---|")
    answers = peers(given.peers, sources, given.rounds)
    for does, name in DOES.items():
        own = found[name]
        print(f"| {does} | audit {name} | {count / own['seconds']:,.0f} | {own['made']:,} | {_made(own)} | |")
        for one in answers:
            if one["does"] == does and "missing" in one:
                print(f"| {does} | {one['tool']} | | | | {one['missing']} |")
            elif one["does"] == does:
                ratio = one["seconds"] / own["seconds"]
                print(
                    f"| {does} | {one['tool']} {one['version']} | {count / one['seconds']:,.0f} | {one['made']:,} "
                    f"| {_made(one)} | {ratio:.1f} x as fast |"
                )
    for one in answers:
        if one.get("without"):
            print(f"\n{one['tool']} ({one['does']}) imported without {', '.join(one['without'])}")


def _made(one):
    return f"{one['made'] / one['seconds']:,.0f}"


if __name__ == "__main__":
    main()
