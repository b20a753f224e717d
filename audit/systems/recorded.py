"""Engines whose past translations somebody recorded, named `recorded:PATH#ENGINE` (`audit.corpora.recordings` has the
format): nothing is executed, so what any engine said can be audited, without it and long after.
"""

from collections.abc import Mapping, Sequence

from audit.corpora.recordings import Ask, Recording, key_of, read_recording
from audit.errors import AuditError, UnknownName
from audit.tasks import Input, Output

PREFIX = "recorded:"


def split_spec(spec: str) -> tuple[str, str | None]:
    """The path in a spec, and the engine where one is named.

    >>> split_spec("recorded:past.csv#google"), split_spec("recorded:past.csv")
    (('past.csv', 'google'), ('past.csv', None))
    """
    path, mark, engine = spec.removeprefix(PREFIX).rpartition("#")
    path, named = (path, engine) if mark else (engine, None)
    if not path or named == "":
        raise AuditError(
            f"{spec!r} does not name a system; write {PREFIX}PATH#ENGINE, or {PREFIX}PATH in a run for all engines"
        )
    return path, named


def specs_of(spec: str) -> list[str]:
    """The spec of each engine that is meant: the named one, or all of the files. Raises BadFile."""
    path, named = split_spec(spec)
    return [spec] if named is not None else [f"{PREFIX}{path}#{engine}" for engine in read_recording(path).systems]


class Recorded:
    """An engine's recorded translations as a `System`. What nobody recorded is an absent output.

    Creating it reads the files, once per process: 17,463 rows take a third of a second. Raises BadFile for what is
    wrong with them, UnknownName for an engine that they do not have.
    """

    tasks: tuple[str, ...] = ("translation",)
    deterministic = True

    def __init__(self, spec: str):
        path, named = split_spec(spec)
        recording = read_recording(path)
        if named is None and len(recording.systems) > 1:
            raise AuditError(
                f"{path} has several systems ({', '.join(recording.systems)}); name one, as in "
                f"{PREFIX}{path}#{recording.systems[0]}"
            )
        name = recording.systems[0] if named is None else named
        if name not in recording.outputs:
            raise UnknownName(f"system of {path}", name, recording.systems)
        self._spec = spec
        self._translations: Mapping[Ask, str] = recording.outputs[name]
        self._recording: Recording = recording
        self.name = name
        self.version = recording.versions[name]
        self.settings: Mapping[str, object] = {"recorded": True}
        self.languages: tuple[str, ...] = tuple(recording.source_languages(name))
        self.summary = f"{len(self._translations):,} recorded translations of {name}, from {path}"

    def __reduce__(self) -> tuple[type["Recorded"], tuple[str]]:
        return Recorded, (self._spec,)  # a worker reads the files itself

    @property
    def remark(self) -> str:
        """Counts of what was read and of what was wrong with it; printed when a run starts."""
        return self._recording.remark

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """Nothing is left to do."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(item) for item in inputs]

    def _output(self, item: Input) -> Output:
        ask = Ask(item.languages[0], item.target or "", key_of(item.text))
        return Output(text=self._translations.get(ask))  # an output without a text is absent
