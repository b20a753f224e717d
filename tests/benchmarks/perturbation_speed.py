"""Perturbations per second on one core, beside other tools on the same sentences, round by round in one run.

taskset -c 0 python tests/benchmarks/perturbation_speed.py                       # the peers of this environment
taskset -c 0 python tests/benchmarks/perturbation_speed.py --peers /path/python  # the peers of another one

Each round measures a peer and then ours; CPU seconds, and the median of the rounds' ratios. "From the text" pays for
everything: a text is analysed anew for the one perturbation. "In a run" the words of a text are there, as all relations
of a run share them. Peers are given the text and make its words themselves; nlpaug is measured so and, in a second row,
with our words and tags given. Peers are no dependencies; one that is not there is listed with what is missing.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from audit.corpora import get_corpus
from audit.relations import Plain, Source, all_relations, get_relation
from audit.text import Analysis

PEERS = Path(__file__).with_name("perturbation_peers.py")


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
        if isinstance(relation, Plain) and relation.unit == "sentence" and relation.name.startswith("MR"):
            all_of_them, applies = seconds(relation, sources, rounds)
            where_it_applies, _ = seconds(relation, applies, rounds)
            found[relation.name] = {"seconds": all_of_them, "made": len(applies), "applying": where_it_applies}
    return found


def one_round(relation, sources, anew):
    """CPU seconds of making all follow-ups, and how many there are; `anew`: of texts that nobody has analysed."""
    if anew:
        sources = [Source(source.input, Analysis(source.input.text), source.seed) for source in sources]
    started, made = time.process_time(), 0
    for source in sources:
        made += bool(relation.follow_ups(source))
    return {"seconds": time.process_time() - started, "made": made}


class Peers:
    """The process of the peers: what it says of them, and their rounds."""

    def __init__(self, python, sources):
        content = {
            "texts": [source.input.text for source in sources],
            "words": [[token.text for token in source.analysis.tokens] for source in sources],
            "tags": [[token.tag for token in source.analysis.tokens] for source in sources],
        }
        self._process = subprocess.Popen(
            [python, str(PEERS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.said = self._asked(json.dumps(content))

    def _asked(self, line):
        print(line, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def one_round(self, place):
        return self._asked(place)

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def beside(peers, place, sources, rounds):
    """Rounds of the peer, of ours from the text, and of ours in a run, one after the other."""
    relation = get_relation("classification", peers.said[place]["does"])
    for anew in (True, False):
        one_round(relation, sources[:50], anew)  # what is loaded once
    return [
        (peers.one_round(place), one_round(relation, sources, True), one_round(relation, sources, False))
        for _ in range(rounds)
    ]


def compared(python, sources, rounds):
    """The table beside peers."""
    peers = Peers(python, sources)
    count = len(sources)
    print("\n| does | tool | sentences/s | made | ours from the text/s | made | ratio | ours in a run/s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for place, said in enumerate(peers.said):
        if "missing" in said:
            print(f"| {said['does']} | {said['tool']} | {said['missing']} | | | | | | |")
            continue
        results = beside(peers, place, sources, rounds)
        speeds = [f"{count / median(one[at]['seconds'] for one in results):,.0f}" for at in range(3)]
        ratios = [f"{median(one[0]['seconds'] / one[at]['seconds'] for one in results):.1f}" for at in (1, 2)]
        theirs, ours_anew, _ = results[0]
        print(
            f"| {said['does']} | {said['tool']} {said['version']} | {speeds[0]} | {theirs['made']:,} | {speeds[1]} "
            f"| {ours_anew['made']:,} | {ratios[0]} | {speeds[2]} | {ratios[1]} |",
            flush=True,
        )
    peers.close()
    for said in peers.said:
        if said.get("without"):
            print(f"\n{said['tool']} ({said['does']}) imported without {', '.join(said['without'])}")


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
    compared(given.peers, sources, given.rounds)


if __name__ == "__main__":
    main()
