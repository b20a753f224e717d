"""An executor that is broken off, for tests of runs that go on."""

from audit.runner.batch import Batch
from audit.runner.executors import InProcess


class Interrupting(InProcess):
    """Runs some batches, then it is as if somebody pressed Ctrl-C."""

    def __init__(self, batches):
        self.left = batches

    def submit(self, job):
        if isinstance(job, Batch):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
        return super().submit(job)
