"""Simulated judges for tests: functions of a question that know the right labels and err where they are told to."""

from collections.abc import Mapping, Set

from audit.systems.judge import Asked


class Simulated:
    """A judge, simulated: says the label that `labels` has for a text, `wrong` ones for other texts, and nothing at all
    about those of `silent`. `calls` are the questions that it was asked."""

    def __init__(
        self, labels: Mapping[str, str], silent: Set[str] = frozenset(), name: str = "simulated", **settings: object
    ) -> None:
        self.labels, self.silent, self.name, self.version, self.settings = labels, silent, name, "1", settings
        self.calls: list[Asked] = []

    def __call__(self, asked: Asked) -> str:
        self.calls.append(asked)
        if asked.text in self.silent:
            raise ConnectionError("the line is dead")
        return self.labels.get(asked.text, "I would rather not say")
