"""Jobs for executors' tests, in a module of their own so that workers can import them."""

import ctypes
import os
import signal
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Double:
    """Twice a number, after some seconds."""

    number: int
    seconds: float = 0.0
    limit: float | None = None

    def work(self) -> int:
        time.sleep(self.seconds)
        return 2 * self.number


@dataclass(frozen=True)
class Kill:
    """Ends its process."""

    limit: float | None = None

    def work(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Hold:
    """Native code that holds the interpreter for ten minutes."""

    limit: float | None = 1.0

    def work(self) -> Any:
        return ctypes.PyDLL(None).sleep(600)


@dataclass(frozen=True)
class Where:
    """Its process, the worker's process, and the folder."""

    limit: float | None = None

    def work(self) -> tuple[int, int, str]:
        return os.getpid(), os.getppid(), os.getcwd()


@dataclass(frozen=True)
class Leave:
    """Ends its process in its own way."""

    status: int
    limit: float | None = None

    def work(self) -> Any:
        os._exit(self.status)
