"""How many words a proposer proposes in a second, and how many places find one.

    python tests/benchmarks/proposing_speed.py [--proposer ngram] [--corpus rotten-tomatoes] [--sentences 500]

Asked is what MGMT asks: for every word of some English sentences that may be replaced, another one.
"""

import argparse
import time

from audit.corpora import get_corpus
from audit.packs.translation.masked import free_words, get_proposer
from audit.text import Analysis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proposer", default="ngram")
    parser.add_argument("--corpus", default="rotten-tomatoes")
    parser.add_argument("--sentences", type=int, default=500)
    arguments = parser.parse_args()
    rows = get_corpus(arguments.corpus).rows()
    texts = [Analysis(row.input.text) for _, row in zip(range(arguments.sentences), rows, strict=False)]
    sentences = [tuple(token.text for token in text.tokens) for text in texts]
    asked = [(tokens, at) for tokens in sentences for at in free_words(tokens, "en")]
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
