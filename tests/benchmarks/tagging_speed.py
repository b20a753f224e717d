"""Chinese taggers beside each other: characters per second on one core, and words found exactly on what is held out.

python tests/benchmarks/tagging_speed.py                        # jieba, with our corrections and without
python tests/benchmarks/tagging_speed.py --models DIRECTORY...  # and taggers that `audit hanlp train` made

What is held out is what the first model never saw (its scores.json says how it was split), else the part of seed 0.
Seconds are CPU seconds, the least of some rounds: of texts one by one, as relations ask, and of all in one.
"""

import argparse
import json
import time
from pathlib import Path

from audit.packs.chinese.hanlp_training import SCORES, read_corpus, scores, sentences, split
from audit.packs.chinese.jieba_tagger import _posseg
from audit.packs.chinese.taggers import from_jieba
from audit.text.tokens import Token
from audit.text.tools import tagger_of

ROUNDS = 3
TIMED = 1000
"""Sentences whose tagging is timed."""


def bare_jieba(text):
    """jieba.posseg as it is, its tags mapped to those of the corpus."""
    found, at = [], 0
    for word, tag in _posseg().cut(text):
        if not word.isspace():
            found.append(Token(word, from_jieba(word, tag), at, at + len(word)))
        at += len(word)
    return found


def held_out(models):
    """Sentences that the first of these models never saw."""
    how = {"held_out": 0.1, "seed": 0, "limit": None}
    if models:
        how |= json.loads((Path(models[0]) / SCORES).read_text(encoding="utf-8"))
    return sentences(split(read_corpus()[: how["limit"]], how["held_out"], how["seed"])[1])


def seconds(tagger, texts):
    """CPU seconds of these texts, the least of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for text in texts:
            tagger(text)
        taken.append(time.process_time() - begun)
    return min(taken)


def measured(tagger, out):
    texts = ["".join(word for word, _ in one) for one in out[:TIMED]]
    tagger(texts[0])  # dictionaries and models are loaded
    size = sum(map(len, texts))
    segmentation, tags = scores(tagger, out)
    return {
        "characters_per_second": round(size / seconds(tagger, texts), -2),
        "characters_per_second_at_once": round(size / seconds(tagger, ["\n".join(texts)]), -2),
        "segmentation": segmentation.f1,
        **{
            f"{tag}_{name}": getattr(tags[tag], name)
            for tag in ("nr", "ns", "r", "n", "v")
            for name in ("precision", "recall", "f1")
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=[], metavar="DIRECTORY")
    models = parser.parse_args().models
    out = held_out(models)
    found = {"jieba.posseg alone": measured(bare_jieba, out), "jieba": measured(tagger_of("jieba"), out)}
    for model in models:
        found[f"hanlp:{Path(model).name}"] = measured(tagger_of(f"hanlp:{model}"), out)
    print(f"{len(out):,} sentences held out, {sum(len(word) for one in out for word, _ in one):,} characters")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
