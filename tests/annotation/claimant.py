"""One annotator in a process of its own: claims and judges until the queue is empty. `python claimant.py DB ACCOUNT`.

Prints the id of each judgement after it was acknowledged.
"""

import sys
import time

from audit.annotation.judging import judge
from audit.annotation.queue import next_question, queue_of
from audit.errors import Refused
from audit.store import open_store

LABELS = ("positive", "neutral", "negative")


def work(where: str, account: int) -> None:
    engine = open_store(where)
    while True:
        shown = next_question(engine, account)
        if shown is None:
            if not queue_of(engine, account).left_for_me:
                return
            time.sleep(0.05)  # others hold what is left
            continue
        try:
            number = judge(engine, account, shown.id, LABELS[(shown.id + account) % 3])
        except Refused:
            continue  # the lease was taken back, as the test of killed claimants does to everybody
        print(number, flush=True)


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
