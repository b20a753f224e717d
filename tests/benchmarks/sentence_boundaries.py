"""Sentence boundaries marked by hand: precision and recall of our rules beside those of libraries.

pip install sentencex pysbd syntok && python tests/benchmarks/sentence_boundaries.py

Seconds are CPU seconds of this process for all texts, the least of some rounds.
"""

import csv
import time

from audit.resources import data_file
from audit.text.sentences import spans

ROUNDS = 3
REGISTERS = ("newspaper", "products", "films", "tweets")


def marked_texts():
    """(register, text, ends marked, ends that may be)."""
    with data_file("boundaries/english.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text, ends = "", {"‖": set(), "¦": set()}
            for character in row["text"]:
                if character in ends:
                    ends[character].add(len(text))
                else:
                    text += character
            yield row["register"], text, ends["‖"], ends["¦"]


def ends_of(text, pieces):
    """Where these pieces of a text end, in order."""
    ends, at = set(), 0
    for piece in filter(None, map(str.strip, pieces)):
        at = text.index(piece, at) + len(piece)
        ends.add(at)
    return ends


def splitters():
    """Name -> a function from a text to where its sentences end."""
    import pysbd
    import sentencex
    from syntok import segmenter

    rules = pysbd.Segmenter(language="en", clean=False)

    def syntok(text):
        return {
            sentence[-1].offset + len(sentence[-1].value)
            for paragraph in segmenter.analyze(text)
            for sentence in paragraph
        }

    return {
        "audit": lambda text: {end for _, end in spans(text)},
        "sentencex": lambda text: ends_of(text, sentencex.segment("en", text)),
        "pysbd": lambda text: ends_of(text, rules.segment(text)),
        "syntok": syntok,
    }


def measured(splitter, texts):
    """[(precision, recall)] by register, and CPU seconds."""
    counts = {register: [0, 0, 0] for register in REGISTERS}
    for register, text, marked, optional in texts:
        ends = {end for end in splitter(text) if end < len(text.rstrip())} - optional
        for place, number in enumerate((len(ends & marked), len(ends), len(marked))):
            counts[register][place] += number
    seconds = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _, text, _, _ in texts:
            splitter(text)
        seconds.append(time.process_time() - begun)
    return [(both / max(1, ends), both / marked) for both, ends, marked in counts.values()], min(seconds)


def main():
    texts = list(marked_texts())
    marked = {register: sum(len(ends) for name, _, ends, _ in texts if name == register) for register in REGISTERS}
    print("| | " + " | ".join(f"{register} ({number})" for register, number in marked.items()) + " | ms |")
    print("|---" * (len(REGISTERS) + 2) + "|")
    for name, splitter in splitters().items():
        rates, seconds = measured(splitter, texts)
        cells = " | ".join(f"{100 * precision:.1f} / {100 * recall:.1f}" for precision, recall in rates)
        print(f"| {name} | {cells} | {1000 * seconds:.0f} |")


if __name__ == "__main__":
    main()
