"""Perturbations of English texts that ask another program: a word that a language model proposes, and a round trip
through a translation system.

What such a program makes of a text is measured, not known: nothing is carried, people are asked. The versions of the
program and its data are part of the relation's.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from audit.errors import AuditError
from audit.packs.english.guard import put
from audit.packs.english.perturbations import SENTIMENT, TOOLS
from audit.packs.translation.proposers import cased_like, free_words
from audit.packs.translation.tools import get_tool, tools_in
from audit.relations.base import Plain, Source, Words, nothing
from audit.relations.expect import plain_words
from audit.relations.uses import EVERY, relation
from audit.systems import get_system
from audit.systems.base import System
from audit.tasks import Input
from audit.text import Analysis

_UNSURE = {task: replace(use, carry=nothing) for task, use in (EVERY | SENTIMENT).items()}
_TRIED = 4
"""Places of a text that a proposer is asked about."""
APERTIUM = "apertium:eng-spa+spa-eng"


@dataclass(frozen=True, kw_only=True)
class _ByProposer(Plain):
    """A perturbation with the parameter `proposer`, as `tools_in` takes it."""

    def asks(self) -> Sequence[str]:
        return [*Plain.asks(self), *(tool.version for tool in tools_in("proposer", str(self.params["proposer"])))]

    def lacks(self, language: str) -> str | None:
        needs: str | None = get_tool("proposer", str(self.params["proposer"])).needs()
        return needs


@relation(
    "masked-word",
    family="other words for something else",
    tasks=_UNSURE,
    params={"proposer": "ngram"},
    needs=TOOLS,
    grammar=True,
    kind=_ByProposer,
)
def masked_word(text: Analysis, choices: random.Random, proposer: str = "ngram") -> str | None:
    """A noun, verb, adjective or adverb is replaced by what a language model finds most probable in its place.

    Keeps the part of speech, and all other words; may break whatever the word said: what is probable may be the
    opposite, or make no sense there.

    `proposer` is `ngram`, which counted film reviews and needs no model, `ngram:FILE`, or `fill-mask:MODEL`, a masked
    language model. Only words with the tag of the old one. Nothing is carried.

    >>> masked_word(Analysis("It is a good film."), random.Random(0)) is None
    False
    """
    spans = [span for span in text.spans if 3 < text.text.count(" ", *span) < 60]
    if not spans:
        return None
    start, end = choices.choice(spans)
    inside = [at for at, token in enumerate(text.tokens) if start <= token.start < end]
    words = tuple(text.tokens[at].text for at in inside)
    free = sorted(free_words(words, "en"))
    for place in choices.sample(free, min(_TRIED, len(free))):
        (word,) = get_tool("proposer", proposer).propose([(words, place)], "en")
        if word is not None:
            return text.replace(put(text.tokens, {inside[place]: cased_like(word, words[place])}))
    return None


# A round trip through a translation system.

_MOST = 100_000
_TRIPS: dict[tuple[str, str, str], str | None] = {}
"""(system, language, text) -> what came back; None: nothing did. A text is translated once in a process."""


@cache
def _system(spec: str) -> tuple[System, str | None]:
    """Return a system, and what it needs."""
    system = get_system(spec)
    return system, system.needs()


def back(texts: Sequence[str], spec: str, through: str) -> list[str | None]:
    """Return what comes back of English texts that a system translates into a language and again into English."""
    if len(_TRIPS) > _MOST:
        _TRIPS.clear()
    if fresh := [text for text in dict.fromkeys(texts) if (spec, through, text) not in _TRIPS]:
        system, _ = _system(spec)
        system.prepare()
        there = system.run([Input.of(text, language="en", target=through) for text in fresh])
        going = {text: str(output.text) for text, output in zip(fresh, there, strict=True) if output.text}
        again = system.run([Input.of(text, language=through, target="en") for text in going.values()])
        returned = {text: output.text or None for text, output in zip(going, again, strict=True)}
        _TRIPS.update({(spec, through, text): returned.get(text) for text in fresh})
    return [_TRIPS[spec, through, text] for text in texts]


@dataclass(frozen=True, kw_only=True)
class _ByTranslation(Plain):
    """A perturbation with the parameters `system` and `through`, which asks for the texts of many sources at once."""

    def asks(self) -> Sequence[str]:
        system, _ = _system(str(self.params["system"]))
        return [f"{system.name} {system.version}"]

    def lacks(self, language: str) -> str | None:
        return _system(str(self.params["system"]))[1]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        if not self.lacks("en"):
            read = [source.input.texts for source in sources if self.reads(source)]
            texts = [own[at] for own in read for at in self.texts if at < len(own)]
            back(texts, str(self.params["system"]), str(self.params["through"]))
        return [self.make_group(source) for source in sources]


def _wrong_system(params: Mapping[str, object]) -> str | None:
    try:
        tasks = _system(str(params["system"]))[0].tasks
    except AuditError as problem:
        return str(problem)
    return None if "translation" in tasks else f"system {params['system']!r} does not translate; name one that does"


@relation(
    "back-translation",
    family="the sentence put together otherwise",
    tasks=_UNSURE,
    params={"system": APERTIUM, "through": "es"},
    check_params=_wrong_system,
    kind=_ByTranslation,
)
def back_translation(text: Analysis, choices: random.Random, system: str = APERTIUM, through: str = "es") -> str | None:
    """A text is translated into another language and back.

    Keeps the topic, mostly; may break grammar, names, tense and meaning, the more the worse the translation system is.

    `system` is any translation system, by default Apertium, which knows rules and no fluency: what comes back may be
    wrong in form and meaning, so nothing is carried, and a share of follow-ups must be judged before a rate means
    anything. `through` is the language between.

    >>> back_translation(Analysis("The dog sleeps."), random.Random(0)) == "The dog sleeps."
    False
    """
    if _system(system)[1]:
        return None
    (new,) = back([text.text], system, through)
    return None if new is None or plain_words(new) == plain_words(text.text) else new
