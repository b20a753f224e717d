"""Read what a language model wrote: a JSON object, or the bare value, as tolerantly as leaves no doubt.

What is not clear is no answer: `audit.systems.chat_client.NoAnswer`, with what the model wrote.
"""

import re
from collections.abc import Mapping
from typing import Any

from audit.files import raw_json
from audit.systems.chat_client import NoAnswer
from audit.systems.foreign import shown

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_MARKS = "\"'`*_.,:;!?()[]<>“”‘’。，！？：；「」 \t\r\n"
_BEFORE = re.compile(r"\A(?:the )?(?:final )?(?:answer|label|score|class|category)(?:\s+is)?\s*[:：]\s*", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def objects_in(text: str) -> list[Mapping[str, Any]]:
    """Return the JSON objects in a text, in a fence or with words around them; none where one of them cannot be read.

    >>> objects_in('Here it is: {"label": "positive"}.')
    [{'label': 'positive'}]
    >>> objects_in("positive"), objects_in('{"label": "positive"} or {"label": "neg')
    ([], [])
    """
    objects, end = [], 0
    while (start := text.find("{", end)) >= 0:
        try:
            value, end = raw_json(text, start)
        except (ValueError, RecursionError):
            return []
        objects.append(value)
    return objects


def value_in(text: str, key: str, bare: bool = False) -> Any:
    """Return the value under a key of the JSON object in a text; where there is no object, the text itself. With
    `bare` the text has to begin with it: braces within a text are a part of it.

    Raises NoAnswer for an object without the key, and for several whose values differ.

    >>> value_in('{"Score": 0.5}', "score"), value_in("0.5", "score"), value_in("As {this}.", "summary", bare=True)
    (0.5, '0.5', 'As {this}.')
    """
    fence = _FENCE.match(text)
    inner = fence[1] if fence else text
    begins = inner.lstrip().startswith("{")
    objects = objects_in(inner) if begins or not bare else []
    if not objects:
        if begins:
            raise NoAnswer(f"the answer is a part of a JSON object: {shown(text)}", text)
        return inner
    lowered = [{name.casefold(): value for name, value in found.items()} for found in objects]
    values = [found[key] for found in lowered if key in found]
    if not values:
        raise NoAnswer(f"the answer has no {key!r}: {shown(text)}", text)
    if any(value != values[0] for value in values):
        raise NoAnswer(f"the answer has several {key!r} that differ: {shown(text)}", text)
    return values[0]


def choice_in(text: str, words: Mapping[str, str], key: str = "label") -> str:
    """Return the value among `words` (as the model spells it: what it means) that an answer has under a key, or is
    itself.

    Capitals, quotation marks and punctuation around a word say nothing, nor do spaces, hyphens and underscores in it.
    Raises NoAnswer where the answer is none of them.

    >>> choice_in('{"label": "Very good"}', {"very_good": "very_good", "bad": "bad"})
    'very_good'
    >>> choice_in("**Label: Bad.**", {"very_good": "very_good", "bad": "bad"})
    'bad'
    """
    value = value_in(text, key)
    written = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    for spelled in (str.strip, _bare, _joined):
        meanings = [(spelled(word).casefold(), meaning) for word, meaning in words.items()]
        for candidate in (written, _BEFORE.sub("", written.strip(_MARKS))):
            spelling = spelled(candidate).casefold()
            said = {meaning for word, meaning in meanings if spelling and word == spelling}
            if len(said) == 1:  # else two labels differ in their punctuation only
                return said.pop()
    raise NoAnswer(f"the answer is none of {', '.join(words)}: {shown(text)}", text)


def _bare(word: str) -> str:
    return word.strip(_MARKS)


def _joined(word: str) -> str:
    return re.sub(r"[\W_]+", "", word)


def choices_in(text: str, words: Mapping[str, str]) -> list[str]:
    """As `choice_in`, of an answer that may have any number of them: a list under "labels", or words with commas, plus
    signs or line breaks between them; nothing, or the word none, is none of them.

    >>> choices_in('{"labels": ["Late"]}', {"late": "late", "rude": "rude"}), choices_in("None.", {"late": "late"})
    (['late'], [])
    """
    value = value_in(text, "labels")
    if isinstance(value, str):
        value = [part for part in re.split(r"[,+;\n，；、]", value) if part.strip(_MARKS)]
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise NoAnswer(f"the answer's 'labels' is no list of labels: {shown(text)}", text)
    if [_bare(part).casefold() for part in value] == ["none"] and "none" not in words:
        return []
    try:
        return [choice_in(part, words) for part in value]
    except NoAnswer as problem:
        raise NoAnswer(str(problem), text) from None


def number_in(text: str) -> float:
    """Return the number from 0 to 1 that an answer has as its "score", or is itself. Raises NoAnswer for others.

    >>> number_in('{"score": 0.25}'), number_in("Score: 0.8.")
    (0.25, 0.8)
    """
    value = value_in(text, "score")
    if isinstance(value, str) and _NUMBER.fullmatch(written := _BEFORE.sub("", value.strip(_MARKS))):
        value = float(written)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoAnswer(f"the answer is no number: {shown(text)}", text)
    if not 0 <= value <= 1:
        raise NoAnswer(f"{value:g} is no number from 0 to 1", text)
    return float(value)


def text_in(text: str, key: str) -> str | None:
    """Return the text that an answer has under a key, or is itself; None where it says null. Raises NoAnswer for what
    is no text.

    >>> text_in('{"summary": "It rained."}', "summary"), text_in("It rained.", "summary")
    ('It rained.', 'It rained.')
    """
    value = value_in(text, key, bare=True)
    if value is not None and not isinstance(value, str):
        raise NoAnswer(f"the answer's {key!r} is no text: {shown(text)}", text)
    return value
