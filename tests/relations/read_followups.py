"""Print random source and follow-up pairs of a relation, for reading. Not a test: a script.

    python tests/relations/read_followups.py MR1.1 --n 50 --seed 3
    python tests/relations/read_followups.py MR7.1 --n 20 --system vader      # a relation that looks at outputs
    python tests/relations/read_followups.py denied-hypothesis --task inference --corpus inference-pairs

Three fifths of the pairs come from Rotten Tomatoes sentences, two fifths from IMDB's; document relations read IMDB
documents. The last lines say which share of the sources that were tried made a group, and how fast, with tokens and
tags ready.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence

from audit.corpora import get_corpus
from audit.errors import AuditError
from audit.relations import Source, get_relation
from audit.relations.base import Fixed, Relation
from audit.tasks import Input, Output
from audit.text import Analysis

Run = Callable[[Sequence[Input]], list[Output]]
SHARES = {"sentence": {"rotten-tomatoes": 0.6, "imdb-sentences": 0.4}, "document": {"imdb": 1.0}}


def sources(corpus: str, relation: str, seed: int, pool: int) -> list[Source]:
    """`pool` random sources of a corpus, the same ones for the same relation and seed."""
    rows = list(get_corpus(corpus).rows())
    chosen = random.Random(f"{corpus} {relation} {seed}").sample(rows, min(pool, len(rows)))
    return [Source(row.input, Analysis(row.input.text), f"{seed} {row.key}") for row in chosen]


def follow_ups(relation: Relation, source: Source, run: Run | None) -> list[Input]:
    """What the relation makes of one source. A relation that looks at outputs needs `run`."""
    if isinstance(relation, Fixed):
        return relation.follow_ups(source)
    if run is None:
        raise AuditError(f"{relation.name} builds its follow-ups from a system's outputs; name one with --system")
    inputs: list[Input] = []
    steps = relation.steps(source)
    try:
        members = next(steps)
        while True:
            inputs += [member.input for member in members if member.role == "follow_up"]
            members = steps.send(run([member.input for member in members]))
    except StopIteration as end:
        return inputs if end.value is not None else []


def system_run(name: str | None, task: str) -> Run | None:
    if name is None:
        return None
    from audit.systems import get_system

    system = get_system(name)
    if system.needs():
        raise AuditError(f"the system {name} is not ready: {system.needs()}")
    system.prepare()
    return system.run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("relation")
    parser.add_argument("--task", default="sentiment")
    parser.add_argument("--corpus", help="what to read in place of film reviews; needed but for sentiment")
    parser.add_argument("--n", type=int, default=50, help="pairs to print")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool", type=int, default=2000, help="sources to try per corpus")
    parser.add_argument("--system", help="needed by relations that look at outputs")
    options = parser.parse_args(arguments)
    try:
        relation = get_relation(options.task, options.relation)
        run = system_run(options.system, options.task)
        for corpus, share in ({options.corpus: 1.0} if options.corpus else SHARES[relation.unit]).items():
            read(relation, run, corpus, round(options.n * share), options.seed, options.pool)
    except AuditError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def read(relation: Relation, run: Run | None, corpus: str, wanted: int, seed: int, pool: int) -> None:
    """Print `wanted` pairs of one corpus, then the share of groups and the speed."""
    candidates = sources(corpus, relation.name, seed, pool)
    for source in candidates:
        _ = source.analysis.tokens, source.analysis.spans
    follow_ups(relation, candidates[0], run)  # loads what loads once
    started = time.perf_counter()
    groups = [(source, texts) for source in candidates if (texts := follow_ups(relation, source, run))]
    took = time.perf_counter() - started
    for number, (source, texts) in enumerate(groups[:wanted], 1):
        print(f"{number:3} {' | '.join(source.input.texts)}")
        for text in texts:
            print(f"  > {' | '.join(text.texts)}")
    number = len(candidates)
    print(
        f"== {relation.name} {corpus}: {len(groups)}/{number} sources make a group ({len(groups) / number:.1%}); "
        f"{number / took:,.0f} sources/s"
    )


if __name__ == "__main__":
    raise SystemExit(main())
