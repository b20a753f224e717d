"""A system that answers over HTTP, described by a TOML file and named `http:FILE.toml`.

Three lines are enough for a service that takes `{"texts": [...]}` and returns `{"outputs": [{"label": ..., "score":
...}, ...]}` (docs/reference/systems.md has the whole format)::

    name = "acme"
    version = "2026-11"
    url = "http://127.0.0.1:8000/sentiment"
"""

import json
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from audit.errors import AuditError, BadOutput
from audit.systems.hearing import tell_heard
from audit.systems.http_file import Languages, read_description
from audit.systems.remote_file import kind
from audit.systems.service import Clients, OverHttp, with_variables
from audit.tasks import Input, Output, labels_together, spellings, takes_several

_PLACE = re.compile(r"\{(?:text(?P<half>_a|_b)?|(?P<side>source|target)_language)\}")
"""Where a text or the code of a language goes in a request."""


class Http(OverHttp):
    """The service that a TOML file describes, as a `System` and an `AsynchronousSystem`.

    Creating it reads the file and raises BadFile for what is wrong with it.
    """

    def __init__(self, path: str):
        if not path or path.startswith("//"):
            raise AuditError(
                f"'http:{path}' does not name a system; write http:FILE.toml, where the file has the address "
                "(see docs/reference/systems.md)"
            )
        self._description = description = read_description(path)
        self._file = path
        self.name, self.version, self.tasks = description.name, description.version, description.tasks
        self.languages = description.between.read if description.between else description.spoken
        self.settings: Mapping[str, object] = description.settings
        self.summary = f"over HTTP, {description.url}"
        self.deterministic = description.deterministic
        self._spelling = spellings(self.tasks)
        self.keep(path, description, description.url, description.variables, description.batch_size)

    def __reduce__(self) -> tuple[type["Http"], tuple[str]]:
        return Http, (self._file,)  # without the client and its secrets

    def headers(self) -> Mapping[str, str]:
        return self._description.headers

    async def ask(self, clients: "Clients", inputs: Sequence[Input]) -> list[Output]:
        """One request; for a translation service one for each pair of languages, and none for those it has not."""
        if self._description.between is None:
            return await self._ask_once(clients, inputs)
        outputs = [Output()] * len(inputs)
        for places in self._description.between.groups(inputs):
            answered = await self._ask_once(clients, [inputs[place] for place in places])
            for place, output in zip(places, answered, strict=True):
                outputs[place] = output
        return outputs

    async def _ask_once(self, clients: "Clients", inputs: Sequence[Input]) -> list[Output]:
        between = self._description.between
        sent = json.dumps(_fill_request(self._description.sent, inputs, between)).encode()
        address = with_variables(self._description.url)
        if between is not None:
            address = between.address(address, inputs[0])
        with self.service.masked():
            content = await self.service.content(clients, self._description.method, address, sent)
            return self._outputs(content, len(inputs))

    def _outputs(self, content: bytes, number: int) -> list[Output]:
        """The outputs in an answer to this number of inputs. Raises BadOutput where there are others."""
        document = self.service.document(content)
        nothing: list[object] = [None] * number
        values: dict[str, list[object]] = {"label": nothing, "score": nothing, "text": nothing}
        paths = self._description.outputs.paths
        for name, path in paths.items():
            values[name] = path.values(document, needed=name != "score" or self._description.score_needed)
            if len(values[name]) != number:
                raise BadOutput(f"{len(values[name])} outputs for {number} inputs at {path.written!r}")
        return [
            Output(
                self._label(label) if "label" in paths else None,
                None if score is None else _score(score),
                self._text(text) if "text" in paths else None,
            )
            for label, score, text in zip(*values.values(), strict=True)
        ]

    def _label(self, value: object) -> str:
        if isinstance(value, list) and takes_several(self.tasks):
            return labels_together(map(self._label, value), self.tasks)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise BadOutput(f"a label must be a text, the answer has {kind(value)}")
        written = str(value)
        tell_heard(self.service.without_secrets(written))
        if written in self._description.labels:
            return self._description.labels[written]
        label = self._spelling.get(written.strip().casefold())
        return label or self.service.without_secrets(written)

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadOutput(f"a text must be a text, the answer has {kind(value)}")
        tell_heard(self.service.without_secrets(value, least=8))
        # A short value may be a word of the language, and no text is changed for that.
        return self.service.without_secrets(value, least=8)


def _fill_request(template: Any, inputs: Sequence[Input], between: Languages | None = None) -> Any:
    """The JSON of a request: inputs of one text as a text, others as a list of texts. All translations of a request are
    `between` the same two languages.

    >>> _fill_request({"documents": "{texts}", "n": 1}, [Input.of("It was good."), Input.of("a", "b")])
    {'documents': ['It was good.', ['a', 'b']], 'n': 1}
    >>> _fill_request("Is {text_a} like {text_b}?", [Input.of("a", "b")])
    'Is a like b?'
    """
    if isinstance(template, dict):
        return {name: _fill_request(value, inputs, between) for name, value in template.items()}
    if isinstance(template, list):
        return [_fill_request(value, inputs, between) for value in template]
    if not isinstance(template, str):
        return template
    contents = [item.text if len(item.texts) == 1 else list(item.texts) for item in inputs]
    if template == "{texts}":
        return contents
    if template == "{text}":
        return contents[0]
    # Variables first, and all texts at once: an input that happens to spell one of them must stay as it is.
    return _PLACE.sub(lambda place: _place_value(place, inputs[0], between), with_variables(template))


def _place_value(place: re.Match[str], item: Input, between: Languages | None) -> str:
    if place["side"]:
        return between.name(item, place["side"]) if between else place[0]
    return item.texts[place["half"] == "_b"]


def _score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadOutput(f"a score must be a number, the answer has {kind(value)}")
    return float(value)
