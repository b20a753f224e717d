"""Annotators at work while a manager looks at results again and again: what that costs the annotators.

python tests/benchmarks/manager_load.py                       # 20 annotators, a minute without and one with a manager

The annotators and their clock are those of app_load.py. The manager is one more session that opens a page, waits until
its script has finished, and opens it again: since people judge meanwhile, its numbers are computed anew each time.
"""

import argparse
import asyncio
import signal
import tempfile
import time
from pathlib import Path

from app_load import PASSWORD, PATIENCE, Annotator, Counts, Server, prepared, report
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from audit.annotation.accounts import add_account


class Manager(Annotator):
    """One browser with a manager on one page."""

    def __init__(self, server, page):
        super().__init__("boss", server, Counts())
        self.seconds, self._name = [], page

    async def _session(self, socket, stop):
        while not stop.is_set():
            message = BackMsg()
            message.rerun_script.query_string = ""
            message.rerun_script.page_name = self._name
            began = time.perf_counter()
            await socket.send(message.SerializeToString())
            got = ForwardMsg()
            while got.WhichOneof("type") != "script_finished":
                got = ForwardMsg()
                got.ParseFromString(await asyncio.wait_for(socket.recv(), 4 * PATIENCE))
            self.seconds.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)


async def load(server, counts, arguments, page):
    """Everybody works; the manager, too, where there is one."""
    people = [Annotator(f"a{number}", server, counts) for number in range(arguments.annotators)]
    manager = Manager(server, page)
    for person in (*people, manager):
        await asyncio.to_thread(person.log_in)
    stop = asyncio.Event()
    working = asyncio.gather(
        *(person.work(stop, arguments.arrive) for person in (*people, *([manager] if page else [])))
    )
    await asyncio.sleep(arguments.seconds)
    stop.set()
    await working
    return manager.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sources", type=int, default=2_500, help="sentences in the study (default: 2,500)")
    parser.add_argument(
        "--arrive", type=float, default=5, help="they open the page within so many seconds (default: 5)"
    )
    parser.add_argument("--pages", default=",results", help="pages of the manager in turn; an empty one: no manager")
    arguments = parser.parse_args()
    arguments.store = "sqlite"
    with tempfile.TemporaryDirectory() as name:
        where = str(Path(name) / "audit.db")
        engine = prepared(where, arguments.annotators, arguments.sources)
        add_account(engine, "boss", "manager", PASSWORD)
        engine.dispose()
        for page in arguments.pages.split(","):
            counts = Counts()
            with (Path(name) / "log.txt").open("w+") as log:
                server = Server(where, log)
                try:
                    seconds = asyncio.run(load(server, counts, arguments, page))
                finally:
                    server.kill(signal.SIGTERM)
            print(f"manager: {f'{len(seconds)} times the page {page}' if page else 'none'}")
            if seconds:
                print(f"page finished: median {sorted(seconds)[len(seconds) // 2]:.1f} s, longest {max(seconds):.1f} s")
            report(arguments, counts, 0)
            for error in counts.errors[:5]:
                print("error:", error)


if __name__ == "__main__":
    main()
