"""One annotator in a process of its own: claims and judges until the queue is empty. `python claimant.py DB ACCOUNT`.

Prints the id of each judgement after it was acknowledged.
"""

import sys
import time

from sqlalchemy.exc import OperationalError

from audit.judging.judgements import judge
from audit.judging.queue import next_question, queue_of
from audit.store import open_store

LABELS = ("positive", "neutral", "negative")


def work(where: str, account: int) -> None:
    engine = open_store(where)
    while True:
        try:
            shown = next_question(engine, account)
            if shown is None:
                if not queue_of(engine, account).left_for_me:
                    return
                time.sleep(0.05)  # others hold what is left
                continue
            number = judge(engine, account, shown.id, LABELS[(shown.id + account) % 3])
        except OperationalError as problem:
            # SQLite's lock is not fair: without any think time somebody may wait for 30 s in vain. Nothing is stored.
            if "database is locked" not in str(problem):
                raise
            continue
        print(number, flush=True)


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
