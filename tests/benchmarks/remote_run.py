"""A whole `audit run` against a simulated service on this machine that takes 50 ms for each request.

python tests/benchmarks/remote_run.py                      # how near the run comes to concurrency / latency
python tests/benchmarks/remote_run.py --refused 0.1        # with a tenth of the requests refused (429)
python tests/benchmarks/remote_run.py --kill 0.5           # killed (SIGKILL) when half is answered, and run again

The server is a process of its own, which does next to nothing but wait, and counts what it answered (200) by text. The
ideal rate is concurrency / latency; the rate of the run is that between the first request after the three that each
system answers before a run, and the last answer. CPU milliseconds a request are those of the run's processes.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

ROWS, LATENCY, CONCURRENCY = 5_000, 0.05, 32  # Of the table: two inputs a row
ANSWER = b'{"outputs": [{"label": "positive", "score": 0.75}]}'


def http(content, status=b"200 OK", header=b""):
    return b"HTTP/1.1 %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        status,
        header,
        len(content),
        content,
    )


class Answering:
    """What the server does with a request, and what it remembers. `refused` is the share of requests that get a 429,
    every second of them with Retry-After: 0, every tenth with 1."""

    def __init__(self, latency, refused=0.0, seed=0):
        self.latency, self.refused, self.chance = latency, refused, random.Random(seed)
        self.answered, self.refusals, self.times = Counter(), 0, []

    async def reply(self, body):
        began = time.monotonic()
        await asyncio.sleep(self.latency)
        if self.chance.random() < self.refused:
            self.refusals += 1
            kind = self.refusals % 10
            header = b"Retry-After: 1\r\n" if kind == 0 else b"Retry-After: 0\r\n" if kind % 2 else b""
            return http(b"{}", b"429 Too Many Requests", header)
        self.answered.update(json.loads(body)["texts"])
        self.times.append((began, time.monotonic()))
        return http(ANSWER)

    def record(self):
        return http(json.dumps({"answered": self.answered, "refusals": self.refusals, "times": self.times}).encode())


def serve(pipe, latency, refused):
    """A server until its process is ended; tells its port. GET returns what it remembers."""
    answering = Answering(latency, refused)

    async def connection(reader, writer):
        while head := await reader.readuntil(b"\r\n\r\n"):
            if head.startswith(b"GET"):
                writer.write(answering.record())
                continue
            body = await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
            writer.write(await answering.reply(body))

    async def forever():
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=256)
        pipe.send(server.sockets[0].getsockname()[1])
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # a client that leaves is no news
        await server.serve_forever()

    asyncio.run(forever())


class Service:
    """A server in a process of its own, and the file that describes it."""

    def __init__(self, folder, latency, concurrency, refused=0.0):
        here, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(there, latency, refused), daemon=True)
        self.process.start()
        self.url = f"http://127.0.0.1:{here.recv()}/"
        self.file = Path(folder) / "service.toml"
        self.file.write_text(
            f'name = "simulated"\nversion = "1"\nurl = "{self.url}"\nbatch = 1\nconcurrency = {concurrency}\n'
        )

    def record(self):
        """What it answered by text, how often it refused, and when each answer began and ended."""
        with urlopen(self.url) as answer:
            return json.load(answer)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.terminate()
        self.process.join()


def corpus(folder, rows):
    """A CSV of texts that are all different; the relation MR3.1 makes one follow-up of each."""
    path = Path(folder) / "texts.csv"
    path.write_text("text\n" + "".join(f"Film number {number} was a good film.\n" for number in range(rows)))
    return path


def command(folder, service, rows):
    """The run as a command: two inputs a row."""
    return [
        *[sys.executable, "-m", "audit", "run", "--corpus", str(corpus(folder, rows)), "--unit", "sentence"],
        *["--systems", f"http:{service.file}", "--relations", "MR3.1", "--workers", "1", "--json"],
        *["--db", str(Path(folder) / "run.db")],
    ]


def run(folder, service, rows):
    """Run to the end: its JSON, and wall and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command(folder, service, rows), capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"the run ended with {done.returncode}: {done.stderr[-500:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), wall, cpu


def rate_of(times, first=3):
    """Answers a second, without those before the run; `times` are (begin, end)."""
    times = sorted(times)[first:]
    return len(times) / (max(end for _, end in times) - times[0][0])


def kill_in_the_middle(folder, service, rows, share):
    """Begin a run, end it with SIGKILL when the service has answered a share; what the service had answered, and what
    the database had stored."""
    process = subprocess.Popen(
        command(folder, service, rows), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while len(service.record()["answered"]) < share * 2 * rows:
        if process.poll() is not None:
            raise SystemExit("the run ended before it was killed")
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.2)  # answers that are on their way go to nobody
    return service.record()["answered"], stored(folder)


def stored(folder):
    """The texts with an output in the database."""
    with closing(sqlite3.connect(Path(folder) / "run.db")) as connection:
        query = "SELECT input.texts FROM output JOIN input ON input.id = output.input_id WHERE output.error IS NULL"
        return {json.loads(texts)[0] for (texts,) in connection.execute(query)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refused", type=float, default=0.0)
    parser.add_argument("--kill", type=float)
    given = parser.parse_args()
    ideal = CONCURRENCY / LATENCY
    with (
        tempfile.TemporaryDirectory() as folder,
        Service(folder, LATENCY, CONCURRENCY, given.refused) as service,
    ):
        kept = set()
        if given.kill:
            answered, kept = kill_in_the_middle(folder, service, ROWS, given.kill)
            print(f"killed: {len(answered):,} answered, {len(kept):,} stored, {len(answered) - len(kept):,} lost")
        ran, wall, cpu = run(folder, service, ROWS)
        record = service.record()
        twice = {text for text, times in record["answered"].items() if times > 1}
        rate = rate_of(record["times"])
        print(
            f"{len(record['answered']):,} inputs answered, {len(stored(folder)):,} stored, {ran['failed']} failed, "
            f"{record['refusals']:,} refused, {len(twice):,} answered twice ({len(twice & kept)} of them after being "
            f"stored)\n{rate:,.0f} answers/s of {ideal:,.0f} ({rate / ideal:.1%}); whole command {wall:.1f} s, "
            f"{cpu:.1f} s CPU, {500 * cpu / ROWS:.2f} ms CPU an input"
        )


if __name__ == "__main__":
    main()
