"""Named entities: systems that find them in a text, corpora of others with gold, and relations that replace a name or
what is around it. The task is `audit.tasks.entities`."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from audit import registry
from audit.resources import data_rows
from audit.systems.base import Ready
from audit.tasks import Input, Output
from audit.tasks.entities import Span, write_spans


class Gazetteer(Ready):
    """The system `gazetteer`: marks first names with the word behind them, and places, of lists.

    >>> Gazetteer().run([Input.of("Susan Miller went to Paris.")])[0].label
    '0-12 person; 21-26 place'
    """

    name, version, deterministic = "gazetteer", "1", True
    tasks: tuple[str, ...] = ("entities",)
    languages: tuple[str, ...] = ("en",)
    summary = "marks first names with the word behind them, and places, of lists"
    settings: Mapping[str, object] = {}

    def __init__(self) -> None:
        names_listed = [names.split() for gender, _, names in data_rows("lexicons/names.tsv", 3) if gender != "-"]
        towns = [names.split(";") for _, names in data_rows("lexicons/places.tsv", 2)]
        first, places = (
            "|".join(sorted(map(re.escape, chain(*of)), key=len, reverse=True)) for of in (names_listed, towns)
        )
        self._pattern = re.compile(rf"\b(?:(?P<person>(?:{first})(?: [A-Z][\w'-]+)?)|(?P<place>{places}))\b")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return the spans of each text."""
        return [
            Output(
                write_spans(Span(*match.span(), str(match.lastgroup)) for match in self._pattern.finditer(item.text))
            )
            for item in inputs
        ]


registry.systems.register("gazetteer", Gazetteer)
for _name, _argument in (("spacy-entities", ""), ("hanlp-entities", "MODEL"), ("token-classification", "MODEL")):
    _class = "".join(part.capitalize() for part in _name.split("-"))
    registry.systems.register(_name, f"audit.packs.entities.models:{_class}", argument=_argument, listed=not _argument)
for _name, _class in (("conll", "Conll"), ("label-studio", "LabelStudio")):
    registry.corpora.register(_name, f"audit.packs.entities.corpora:{_class}", argument="FILE")
