"""The share of sources of each corpus of which a perturbation makes a group, in per cent.

python tests/benchmarks/applicability.py --language en
python tests/benchmarks/applicability.py --language zh --sources 1000
"""

import argparse
import random

from audit.corpora import get_corpus
from audit.relations import Fixed, Source, all_relations
from audit.text import Analysis

CORPORA = {
    "en": (
        "rotten-tomatoes", "imdb-sentences", "imdb", "support-tickets", "inference-pairs", "question-pairs",
        "similarity-pairs",
    ),
    "zh": ("inews-sentences", "inews-pairs", "inews-bodies"),
}  # fmt: skip
LONGEST = 700
"""Characters of an input: longer documents take minutes and say little."""


def sources(corpus, number, seed):
    """So many of the corpus's inputs, drawn at random, each with its seed."""
    rows = [row for row in corpus.rows() if sum(map(len, row.input.texts)) <= LONGEST]
    chosen = random.Random(seed).sample(rows, min(number, len(rows)))
    return [Source(row.input, Analysis(row.input.text, row.input.languages[0]), f"{seed}:{row.key}") for row in chosen]


def shares(name, language, number, seed):
    """Relation -> share of the corpus's sources that make a group."""
    corpus = get_corpus(name)
    drawn = sources(corpus, number, seed)
    relations = [
        relation
        for relation in all_relations(corpus.task)
        if isinstance(relation, Fixed)
        and relation.languages == (language,)
        and not relation.name.startswith("MR")
        and relation.unit in (corpus.unit, "any")
    ]
    if any(relation.grammar for relation in relations):
        Analysis.tag_all([source.analysis for source in drawn])
    return {
        relation.name: sum(bool(made) for made, _ in relation.make_groups(drawn)) / len(drawn) for relation in relations
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=sorted(CORPORA), default="en")
    parser.add_argument("--sources", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = CORPORA[arguments.language]
    found = {name: shares(name, arguments.language, arguments.sources, arguments.seed) for name in names}
    print("| relation |", " | ".join(names), "|")
    print("|---|", "---:|" * len(names), sep="")
    for relation in sorted({relation for by_relation in found.values() for relation in by_relation}):
        cells = [f"{100 * found[name][relation]:.1f}" if relation in found[name] else "" for name in names]
        print(f"| {relation} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
