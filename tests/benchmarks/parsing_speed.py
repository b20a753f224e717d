"""Constituency parsers beside each other: sentences per second of one core, and sentences that have a tree.

python tests/benchmarks/parsing_speed.py                                       # English by link-grammar
python tests/benchmarks/parsing_speed.py hanlp:DIRECTORY link-grammar shallow  # those that are named
python tests/benchmarks/parsing_speed.py hanlp:DIRECTORY --language zh --batch 1

Seconds are CPU seconds, those of programs that are called among them; what loads a model is not timed. Texts are of
the corpora rotten-tomatoes (English) and inews-sentences (Chinese), or the lines of a file.
"""

import argparse
import json
import os
from itertools import islice
from pathlib import Path

from audit.corpora import get_corpus
from audit.packs.translation.constituency import get_parser, leaf_spans

CORPORA = {"en": ("rotten-tomatoes", "sentiment"), "zh": ("inews-sentences", "classification/inews")}
LOADING = {"en": "It rains.", "zh": "下雨了。"}


def texts_of(language, file, limit):
    """Every n-th text, so that they come from all of the corpus."""
    if file:
        return Path(file).read_text(encoding="utf-8").splitlines()[:limit]
    rows = [source.input.texts[0] for source in islice(get_corpus(*CORPORA[language]).rows(), 8000)]
    return rows[:: len(rows) // limit][:limit]


def cpu():
    """CPU seconds of this process and of the programs that it has called."""
    return sum(os.times()[:4])


def measured(parser, texts, language, batch):
    parser.parse([LOADING.get(language, texts[0])], language)
    begun = cpu()
    trees = [tree for at in range(0, len(texts), batch) for tree in parser.parse(texts[at : at + batch], language)]
    taken = cpu() - begun
    there = [(text, tree) for text, tree in zip(texts, trees, strict=True) if tree is not None]
    words = sorted(len(tree.leaves()) for _, tree in there) or [0]
    return {
        "version": parser.version,
        "sentences": len(texts),
        "per_second": round(len(texts) / taken, 1),
        "with_a_tree": round(len(there) / len(texts), 3),
        "with_all_words_found": round(sum(leaf_spans(text, tree) is not None for text, tree in there) / len(texts), 3),
        "median_words": words[len(words) // 2],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parsers", nargs="*", default=["link-grammar"])
    parser.add_argument("--language", default="en")
    parser.add_argument("--file", help="one text a line")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--batch", type=int, default=200)
    chosen = parser.parse_args()
    texts = texts_of(chosen.language, chosen.file, chosen.limit)
    found = {spec: measured(get_parser(spec), texts, chosen.language, chosen.batch) for spec in chosen.parsers}
    print(json.dumps(found, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
