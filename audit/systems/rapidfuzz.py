"""Edit distance of two texts' characters, from the package rapidfuzz."""

from collections.abc import Mapping, Sequence

from audit.systems.installed import missing, package_version
from audit.tasks import Input, Output


class RapidFuzz:
    """The system `rapidfuzz`: `fuzz.ratio` / 100 = 1 - (insertions + deletions) / (characters of both texts).

    It sees characters alone: no words, no meaning. Two empty texts have a similarity of 1.

    >>> RapidFuzz().run([Input.of("我喜欢猫", "我喜欢狗", language="zh")])
    [Output(label=None, score=0.75, text=None, error=None)]
    """

    name = "rapidfuzz"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh", "en")
    summary = "share of characters that stay when one text is edited into the other (rapidfuzz)"

    def __init__(self) -> None:
        self.version = package_version("rapidfuzz")
        self.settings: Mapping[str, object] = {"scorer": "ratio"}

    def needs(self) -> str | None:
        return missing("rapidfuzz", "pip install rapidfuzz")

    def prepare(self) -> None:
        import rapidfuzz.fuzz  # noqa: F401

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        from rapidfuzz.fuzz import ratio

        return [Output(score=ratio(*one.texts) / 100) for one in inputs]
