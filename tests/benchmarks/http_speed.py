"""Requests a second of the asynchronous executor against local endpoints: a service that takes 20 ms for each
request, and a chat model that takes 200 ms.

python tests/benchmarks/http_speed.py              # one input a request

The server runs in a process of its own and does next to nothing but wait. The most that is possible is requests at once
/ delay; what is missing is the time that both ends need of the processor. CPU milliseconds are of the executor's
process.
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import resource
import tempfile
import time
from pathlib import Path

from audit.runner.batch import Batch
from audit.runner.executors import Waiting, outcome
from audit.tasks import Input

ANSWERS = {
    "http": {"outputs": [{"label": "positive", "score": 0.75}]},
    "chat": {"choices": [{"message": {"content": '{"label": "positive"}'}}], "usage": {"prompt_tokens": 60}},
}
DELAYS = {"http": 0.02, "chat": 0.2}


def serve(pipe, kind):
    """A server until its process is ended, which says the same of every text; tells its port."""
    answer = json.dumps(ANSWERS[kind]).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
    reply = head.encode() + answer

    async def connection(reader, writer):
        while asked := await reader.readuntil(b"\r\n\r\n"):
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", asked)[1]))
            await asyncio.sleep(DELAYS[kind])
            writer.write(reply)

    async def forever():
        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # a client that leaves is no news
        await server.serve_forever()

    asyncio.run(forever())


def measured(spec, requests):
    """Wall and CPU seconds of this many inputs, each in a request of its own."""
    inputs = [Input.of(f"Text {number} of those that are sent.") for number in range(requests)]
    with Waiting() as executor:
        first = Batch(spec, "sentiment", tuple(Input.of(f"Connection {n}.") for n in range(200)))
        outcome(first, executor.submit(first))
        used, started = cpu(), time.perf_counter()
        jobs = [Batch(spec, "sentiment", tuple(inputs[start : start + 256])) for start in range(0, requests, 256)]
        futures = [executor.submit(job) for job in jobs]
        ends = [outcome(job, future) for job, future in zip(jobs, futures, strict=True)]
        seconds, used = time.perf_counter() - started, cpu() - used
    if errors := [output for end in ends for output in end.outputs() if output.error]:
        raise SystemExit(f"the server failed: {errors[0]}")
    return seconds, used


def cpu():
    """CPU seconds of this process so far."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="of each measurement, if nothing but delays mattered"
    )
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print("| endpoint | requests at once | requests | requests/s (the best) | possible | of it | CPU ms a request |")
    print("|---|---|---|---|---|---|---|")
    for kind, concurrency in (("http", 1), ("http", 8), ("http", 32), ("chat", 100)):
        here, there = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(there, kind), daemon=True)
        server.start()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "local.toml"
            more = 'model = "m"\n' if kind == "chat" else "batch = 1\n"
            path.write_text(
                f'name = "local"\nversion = "1"\nurl = "http://127.0.0.1:{here.recv()}/"\n{more}'
                f"concurrency = {concurrency}\n"
            )
            most = concurrency / DELAYS[kind]
            requests = int(most * arguments.seconds)
            seconds, used = min(measured(f"{kind}:{path}", requests) for _ in range(arguments.repeat))
        print(
            f"| {kind} | {concurrency} | {requests:,} | {requests / seconds:,.0f} | {most:,.0f} "
            f"| {requests / seconds / most:.0%} | {used / requests * 1000:.2f} |",
            flush=True,
        )
        server.terminate()


if __name__ == "__main__":
    main()
