"""How many words a proposer proposes in a second, and how many places find one.

    python tests/benchmarks/proposing_speed.py [--proposer ngram] [--corpus rotten-tomatoes] [--sentences 500]

Asked is what MGMT asks: for every noun, verb, adjective and adverb of some English sentences, another word.
"""

import argparse
import time

from audit.corpora import get_corpus
from audit.packs.translation.masked import get_proposer, replaceable
from audit.text import Analysis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proposer", default="ngram")
    parser.add_argument("--corpus", default="rotten-tomatoes")
    parser.add_argument("--sentences", type=int, default=500)
    arguments = parser.parse_args()
    rows = get_corpus(arguments.corpus).rows()
    texts = [Analysis(row.input.text) for _, row in zip(range(arguments.sentences), rows, strict=False)]
    asked = [
        (tuple(token.text for token in text.tokens), at)
        for text in texts
        for at, token in enumerate(text.tokens)
        if token.tag[:2] in ("NN", "VB", "JJ", "RB") and replaceable(token.text, "en")
    ]
    proposer = get_proposer(arguments.proposer)
    started = time.monotonic()
    proposer.propose(asked[:1], "en")
    ready = time.monotonic()
    found = proposer.propose(asked, "en")
    seconds = time.monotonic() - ready
    share = sum(word is not None for word in found) / len(found)
    print(f"{proposer.version}: ready in {ready - started:.1f} s")
    print(f"{len(asked):,} places in {len(texts):,} sentences: {len(asked) / seconds:,.0f} a second, {share:.0%} found")


if __name__ == "__main__":
    main()
