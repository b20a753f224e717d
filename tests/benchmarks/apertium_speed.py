"""How much longer the system `apertium` takes than the bare engine, and sentences a second of the parser `shallow`.

python tests/benchmarks/apertium_speed.py                   # 1,000 sentences of rotten-tomatoes from English
python tests/benchmarks/apertium_speed.py --number 300 --rounds 5

Bare is one process of `apertium -f txt` for all sentences in one file, a chain one after the other; then many sentences
are translated otherwise than alone (the engine's tagger remembers), and how many is counted. Ours are batches of 256,
as a run makes them, and all sentences at once. The ways take turns, and what is shown is the median of their ratios in
the same round, once of the clock and once of the processor: on a busy machine the clock tells little.
"""

import argparse
import resource
import statistics
import subprocess
import time
from itertools import islice

from audit.corpora import get_corpus
from audit.packs.translation.constituency.shallow import Shallow
from audit.runner.executors.batch import CALL
from audit.systems import get_system
from audit.tasks import Input

TARGETS = ("es", "ca", "fr")


def spent():
    """Seconds of the clock, and of the processor for this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


def seconds(work):
    before = spent()
    found = work()
    return [after - then for after, then in zip(spent(), before, strict=True)], found


def bare(steps, sentences):
    """The sentences through one process for each mode, as lines with a blank one between them."""
    text = "\n\n".join(sentences)
    for mode in steps:
        command = ["apertium", "-u", "-f", "txt", mode]
        text = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.decode()
    return [line.strip() for line in text.split("\n\n")]


def batched(system, inputs, size):
    return [output.text for at in range(0, len(inputs), size) for output in system.run(inputs[at : at + size])]


def systems(sentences, rounds):
    system = get_system("apertium")
    steps = {(pair.source, pair.target): pair.steps for pair in system.pairs()}
    print(f"\n{len(sentences):,} English sentences, {rounds} rounds; {system.version}\n")
    print("Longer than bare, %, by the clock and by the processor:\n")
    print("| into | modes | bare, sentences a second | in batches of 256 | all at once | others in a file |")
    print("|---|---|---|---|---|---|")
    for target in TARGETS:
        inputs = [Input.of(one, target=target) for one in sentences]
        speeds, small, large, other = [], [], [], 0
        for _ in range(rounds):
            alone, lines = seconds(lambda target=target: bare(steps["en", target], sentences))
            calls, ours = seconds(lambda inputs=inputs: batched(system, inputs, CALL["sentence"]))
            whole, again = seconds(lambda inputs=inputs: batched(system, inputs, len(inputs)))
            if ours != again or len(lines) != len(ours):
                raise SystemExit(f"into {target}: batches differ, or the bare engine lost sentences")
            other = sum(one != line for one, line in zip(ours, lines, strict=True))
            speeds.append(len(sentences) / alone[0])
            small.append([one / base for one, base in zip(calls, alone, strict=True)])
            large.append([one / base for one, base in zip(whole, alone, strict=True)])
        shown = f"{statistics.median(speeds):,.0f} | {longer(small)} | {longer(large)} | {other / len(sentences):.1%}"
        print(f"| {target} | {' + '.join(steps['en', target])} | {shown} |", flush=True)


def longer(ratios):
    return ", ".join(f"{100 * (statistics.median(some) - 1):+.0f}" for some in zip(*ratios, strict=True))


def parser(sentences):
    shallow, system = Shallow(), get_system("apertium")
    print("\n| parser `shallow`, language | sentences a second | without a tree | words unknown to Apertium |")
    print("|---|---|---|---|")
    for language in ("en", *TARGETS):
        texts = sentences
        if language != "en":
            texts = [output.text for output in system.run([Input.of(one, target=language) for one in sentences])]
        took, trees = seconds(lambda language=language, texts=texts: shallow.parse(texts, language))
        tags = [tag for tree in trees if tree is not None for _, tag in tree.pos()]
        unknown = f"{tags.count('unknown') / len(tags):.1%}"
        print(f"| {language} | {len(texts) / took[0]:,.0f} | {trees.count(None)} | {unknown} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--number", type=int, default=1000, help="sentences (default: 1,000)")
    arguments.add_argument("--rounds", type=int, default=3, help="times that all ways are timed (default: 3)")
    chosen = arguments.parse_args()
    rows = get_corpus("rotten-tomatoes").rows()
    # Without line breaks: in the bare engine's file they part the sentences.
    sentences = [" ".join(row.input.text.split()) for row in islice(rows, 0, None, 8530 // chosen.number)][
        : chosen.number
    ]
    systems(sentences, chosen.rounds)
    parser(sentences)


if __name__ == "__main__":
    main()
