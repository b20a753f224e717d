"""Engines whose past translations somebody recorded, named `recorded:PATH#ENGINE` (`audit.corpora.recordings` has the
format): nothing is executed, so what any engine said can be audited, without it and long after.
"""

from collections.abc import Mapping, Sequence

from audit.corpora.recordings import Ask, key_of, read_recording
from audit.errors import AuditError, UnknownName
from audit.systems.base import Ready
from audit.tasks import Input, Output


def specs_of(spec: str) -> list[str]:
    """Return the spec of each engine that is meant: the named one, or all of the files. Raises BadFile."""
    return [spec] if "#" in spec else [f"{spec}#{engine}" for engine in read_recording(spec.partition(":")[2]).systems]


class Recorded(Ready):
    """An engine's recorded translations as a `System`. What nobody recorded is an absent output.

    Creating it reads the files, once per process: 17,463 rows take a third of a second. Raises BadFile for what is
    wrong with them, UnknownName for an engine that they do not have.
    """

    tasks: tuple[str, ...] = ("translation",)
    deterministic = True

    def __init__(self, argument: str):
        self._argument = argument
        path, _, engine = argument.rpartition("#") if "#" in argument else (argument, "", "")
        recording = read_recording(path)
        if not engine and len(recording.systems) > 1:
            names = f"{path} has several systems ({', '.join(recording.systems)})"
            raise AuditError(f"{names}; name one, as in recorded:{path}#{recording.systems[0]}")
        self.name = engine or recording.systems[0]
        if self.name not in recording.outputs:
            raise UnknownName(f"system of {path}", self.name, recording.systems)
        self._translations: Mapping[Ask, str] = recording.outputs[self.name]
        self.version = recording.version(self.name)
        self.settings: Mapping[str, object] = {"recorded": True}
        self.languages: tuple[str, ...] = tuple(recording.source_languages(self.name))
        self.summary = f"{len(self._translations):,} recorded translations of {self.name}, from {path}"
        self.remark = recording.remark

    def __reduce__(self) -> tuple[type["Recorded"], tuple[str]]:
        return Recorded, (self._argument,)  # a worker reads the files itself

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        asks = [Ask(item.languages[0], item.target or "", key_of(item.text)) for item in inputs]
        return [Output(text=self._translations.get(ask)) for ask in asks]
