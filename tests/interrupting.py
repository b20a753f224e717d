"""An executor that is broken off, for tests of runs that go on."""

from audit.runner.executors import Batch, InProcess


class Interrupting(InProcess):
    """Runs some batches, then it is as if somebody pressed Ctrl-C."""

    def __init__(self, batches):
        super().__init__()
        self.left = batches

    def finished(self, timeout=None):
        if isinstance(self._waiting[0], Batch):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
        return super().finished(timeout)
