"""The rule-based translation engine Apertium, with the pairs of languages that are installed here."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from audit.errors import AuditError
from audit.packs.translation import apertium as engine
from audit.systems.base import Pair
from audit.tasks import Input, Output

LONGEST = 3
"""Modes of a chain, at most: what four rule-based translations in a row leave of a text tells nothing."""


class Apertium:
    """The system `apertium`: texts between any two languages that installed modes lead from one to the other.

    Of each pair of languages the plain mode is taken (`spa-cat`), else the first variant by name. Where there is no
    mode of a pair, the shortest chain of modes is (English to French through Catalan), of at most three, and of equally
    short ones that whose languages come first in the alphabet; `settings` and `pairs()` say which. What a chain makes
    on its way stays inside the system: it is no output of its own and no link of a group. For other pairs, and for
    languages that no mode has, the output is absent.

    `apertium:eng-cat+cat-spa` has only the modes that are named: another system, with its own outputs.

    An input becomes the same alone and in any batch, which is not so for the lines of a file that `apertium` is given
    (see `audit.packs.translation.apertium`). Unknown words stay as they are, without a mark.
    """

    tasks: tuple[str, ...] = ("translation",)
    languages: tuple[str, ...] = ("*",)
    call_size = 4096
    batch_seconds = 20.0
    """Its programs take a quarter of a second to begin, for each pair of languages in each call."""

    def __init__(self, modes: str | None = None):
        self.name = "apertium" if modes is None else f"apertium:{modes}"
        self._names = () if modes is None else tuple(name.strip() for name in modes.split("+"))
        if len(set(self._names)) < len(self._names) or not all(self._names):
            raise AuditError(
                f"system apertium:{modes}: name modes of `apertium -l`, each once, such as apertium:eng-spa+spa-eng"
            )
        installed = engine.installed_modes()
        self._modes = engine.preferred_modes(mode for mode in installed if mode.name in self._names or not self._names)
        shut_out = set(self._names) & {mode.name for mode in installed} - {mode.name for mode in self._modes.values()}
        if shut_out:
            raise AuditError(
                f"system apertium:{modes}: {', '.join(sorted(shut_out))} is a second mode of the same two languages; "
                "name one mode for each"
            )
        self._paths = _paths(self._modes)
        self.version = _version(self._modes.values())
        self.summary = "rule-based translation (Apertium), through other languages where it has no mode for a pair"
        self.settings: Mapping[str, object] = {
            "modes": {f"{source}-{target}": mode.name for (source, target), mode in self._modes.items()},
            "chains": {f"{pair.source}-{pair.target}": " + ".join(pair.steps) for pair in self.pairs() if pair.through},
            "longest chain": LONGEST,
            "unknown words": "unmarked",
        }

    def needs(self) -> str | None:
        return engine.needs(self._names)

    def prepare(self) -> None:
        """Nothing to load: the engine's programs read their data for each batch."""

    def lacks(self, item: Input) -> bool:
        """Whether no mode or chain leads from the language of an input to its target."""
        return item.target is not None and (item.languages[0], item.target) not in self._paths

    def pairs(self) -> list[Pair]:
        """Every pair of languages with its modes, direct or chained, sorted by languages."""
        return [
            Pair(path[0], path[-1], tuple(self._modes[step].name for step in _steps(path)), path[1:-1])
            for path in self._paths.values()
        ]

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        outputs = [Output()] * len(inputs)
        places: dict[tuple[str, ...], list[int]] = {}
        for place, item in enumerate(inputs):
            if item.target is None:
                raise AuditError("system apertium translates: its inputs have a language to translate into")
            if path := self._paths.get((item.languages[0], item.target)):
                places.setdefault(path, []).append(place)
        for path, path_places in places.items():
            for place, output in zip(
                path_places, self._translate_along(path, [inputs[place].text for place in path_places]), strict=True
            ):
                outputs[place] = output
        return outputs

    def _translate_along(self, path: tuple[str, ...], texts: Sequence[str]) -> list[Output]:
        """Each text through every mode of the path; one that a mode fails at goes no further."""
        results: list[str | AuditError] = list(texts)
        for step in _steps(path):
            mode = self._modes[step]
            going = [(place, text) for place, text in enumerate(results) if isinstance(text, str)]
            translations = engine.translate(mode, [text for _, text in going])
            for (place, _), translation in zip(going, translations, strict=True):
                results[place] = (
                    AuditError(f"{mode.name}: {translation}") if isinstance(translation, AuditError) else translation
                )
        return [Output(text=text) if isinstance(text, str) else Output(error=str(text)) for text in results]


def _version(modes: Iterable[engine.Mode]) -> str:
    """The version of the engine, and a digest of the modes' data."""
    version = engine.engine_version()
    if not (mode_list := list(modes)):
        return version
    try:
        return f"{version} data {engine.fingerprint(mode_list)}"
    except (AuditError, OSError):
        return f"{version} data unreadable"


def _steps(path: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    return pairwise(path)


def _paths(modes: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, ...]]:
    """(from, to) -> the languages on the way, both ends among them; sorted.

    >>> _paths([("en", "ca"), ("ca", "fr"), ("en", "es"), ("es", "fr")])["en", "fr"]
    ('en', 'ca', 'fr')
    """
    onward: dict[str, list[str]] = {}
    for source, target in sorted(modes):
        onward.setdefault(source, []).append(target)
    paths: dict[tuple[str, str], tuple[str, ...]] = {}
    for start in onward:
        ends: list[tuple[str, ...]] = [(start,)]
        for _ in range(LONGEST):
            # In the order of the alphabet at every step, so that the first path that reaches a language is its path.
            longer = [(*path, target) for path in ends for target in onward.get(path[-1], []) if target != start]
            ends = []
            for path in longer:
                if (start, path[-1]) not in paths:
                    paths[start, path[-1]] = path
                    ends.append(path)
    return dict(sorted(paths.items()))
