"""TextBlob's default sentiment analyser, which is that of the library Pattern (De Smedt and Daelemans, 2012)."""

from collections.abc import Mapping, Sequence

from audit.systems.installed import missing, package_version
from audit.systems.vader import polar
from audit.tasks import Input, Output


class TextBlob:
    """The system `textblob`: the mean polarity p in [-1, 1] of the adjectives and adverbs of Pattern's lexicon.

    Neutral when |p| < 0.05; the score is |p| for positive and negative, 1 - |p| for neutral.
    """

    name = "textblob"
    tasks: tuple[str, ...] = ("sentiment",)
    languages: tuple[str, ...] = ("en",)
    summary = "mean polarity of known adjectives (TextBlob's pattern analyser)"

    def __init__(self, neutral: float = 0.05):
        self.version = package_version("textblob")
        self.settings: Mapping[str, object] = {"analyzer": "pattern", "neutral": neutral}
        self._neutral = neutral

    def needs(self) -> str | None:
        return missing("textblob", "pip install textblob")

    def prepare(self) -> None:
        self.run([Input.of("good")])

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        from textblob.en import sentiment

        return [polar(sentiment(one.text)[0], self._neutral) for one in inputs]
