"""Who hears how far a run is."""

import time


class Watcher:
    """Hears how far a run is. The command line draws a bar; this one stays silent."""

    def begin(self, sources: int) -> None:
        """`sources` are left to do."""

    def executed(self, outputs: int) -> None:
        """Systems returned this many more outputs."""

    def finished(self, sources: int) -> None:
        """This many more sources are done and committed."""

    def says(self, sentence: str) -> None:
        """Why the run waits."""

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
