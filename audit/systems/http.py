"""A system that answers over HTTP, described by a TOML file and named `http:FILE.toml` (docs/reference/systems.md)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from pydantic import Field, Strict

from audit.errors import BadOutput
from audit.systems.endpoint import (
    HELP,
    Codes,
    OutputReader,
    OverHttp,
    Remote,
    Service,
    TaskName,
    read_system_file,
    strings,
    with_variables,
)
from audit.systems.foreign import shown
from audit.tasks import Input, Output, get_task
from audit.user_models import Allowed, UserModel, refuse

_TEXT = {"text": "outputs[*].text"}
_PATHS = {"similarity": {"score": "outputs[*].score"}, "summarization": _TEXT, "translation": _TEXT}
_LABEL = {"label": "outputs[*].label", "score": "outputs[*].score"}
"""Where the outputs stand in an answer, unless the file says."""
_PLACE = re.compile(r"\{(?:text(?P<half>_a|_b)?|(?P<side>source|target)_language)\}")


class Places(UserModel):
    """Where the parts of an output stand in an answer, as paths of `values_at`."""

    label: str | None = None
    score: str | None = None
    text: str | None = None


class HttpFile(Remote):
    """The content of a file."""

    tasks: Annotated[tuple[TaskName, ...], Strict(False), Allowed("a list of tasks", bool)] = ("sentiment",)
    codes: Codes = Field({}, repr=False)
    answer: Places = Places()
    batch: int = Field(16, ge=1, le=10_000)


class Request(NamedTuple):
    """What is sent to a service."""

    address: str
    sent: bytes
    headers: Mapping[str, str]


class Http(OverHttp):
    """The service that a TOML file describes, as a `System` and an `AsynchronousSystem`. Raises BadFile."""

    def __init__(self, path: str, file: HttpFile | None = None):
        self.file = file = file or read_system_file(HttpFile, path, "http")
        translates = "translation" in file.tasks
        both = {f"{side}_language": f"{{{side}_language}}" for side in ("source", "target")} if translates else {}
        self.sent: Any = {"texts": "{texts}", **both} if file.request is None else file.request
        self.paths = file.answer.model_dump(exclude_none=True) or _PATHS.get(file.tasks[0], _LABEL)
        several = any(value == "{texts}" for _, value in strings(self.sent))
        batch = file.batch if several and all("[*]" in path for path in self.paths.values()) else 1
        texts = [file.url, *file.headers.values(), json.dumps(self.sent)]
        super().__init__(path, file, Service(path, texts, file.timeout), file.tasks, batch)
        self.summary = f"over HTTP, {file.url}"
        self.output = OutputReader(file.labels, file.tasks, self.service.without_secrets)
        refuse(path, self._mistakes(translates), HELP)
        about = {"url": file.url, "headers": file.headers, "request": self.sent, "answer": self.paths}
        self.settings = {**about, "labels": file.labels, **self.spoken_settings}

    def _mistakes(self, translates: bool) -> Iterator[tuple[str, str]]:
        """Yield where keys contradict each other, or a text or the language to translate into would be lost."""
        item = Input.of(*["<a>", "<b>"][: get_task(self.tasks[0]).texts], target="<into>" if translates else None)
        sent = json.dumps([self.file.url, self.fill(self.sent, [item])])
        if not all(text in sent for text in item.texts):
            places = '"{texts}" (a list of them), "{text}", or of pairs "{text_a}" and "{text_b}"'
            yield "request", f"must have {places} as a value"
        if translates and not re.search("<into>|{target_language}", sent):
            yield "request", 'must have "{target_language}", or the url: what to translate into'

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Make one request for each language or pair of languages, and none for pairs that it has not."""
        outputs = [Output()] * len(inputs)
        for languages in dict.fromkeys(item.languages for item in inputs if not self.lacks(item)):
            places = [place for place, item in enumerate(inputs) if item.languages == languages]
            same = [inputs[place] for place in places]
            answered = self.read(await self.exchange(await self.request(same)), same)
            for place, output in zip(places, answered, strict=True):
                outputs[place] = output
        return outputs

    async def request(self, inputs: Sequence[Input]) -> Request:
        """Return what is sent for inputs, all of the same languages."""
        address = self.file.url
        for side in ("source", "target"):
            address = address.replace(f"{{{side}_language}}", quote(self.language(inputs[0], side), safe=""))
        return Request(address, json.dumps(self.fill(self.sent, inputs)).encode(), self.file.headers)

    async def exchange(self, request: Request) -> Any:
        """Return the JSON of the answer to a request."""
        return self.service.document(await self.service.answer(*request))

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        """Return the outputs in an answer. Raises BadOutput where there are others than asked for."""
        values: dict[str, list[Any]] = {name: [None] * len(inputs) for name in ("label", "score", "text")}
        for name, path in self.paths.items():
            # A score that the file names must be there, or a slip of the pen would leave every output without.
            values[name] = values_at(document, path, needed=name != "score" or self.paths is not _LABEL)
            if len(values[name]) != len(inputs):
                raise BadOutput(f"{len(values[name])} outputs for {len(inputs)} inputs at {path!r}")
        return [self.output(*parts) for parts in zip(*values.values(), strict=True)]

    def fill(self, template: Any, inputs: Sequence[Input]) -> Any:
        """Return the JSON of a request for inputs, those of one text as a text, others as a list of texts."""
        if isinstance(template, dict):
            return {name: self.fill(value, inputs) for name, value in template.items()}
        if isinstance(template, list):
            return [self.fill(value, inputs) for value in template]
        if not isinstance(template, str):
            return template
        if template in ("{texts}", "{text}"):
            contents = [item.text if len(item.texts) == 1 else list(item.texts) for item in inputs]
            return contents if template == "{texts}" else contents[0]

        def value(place: re.Match[str]) -> str:
            if place["side"]:
                return self.language(inputs[0], place["side"])
            return (*inputs[0].texts, "")[place["half"] == "_b"]

        # Variables first, and all texts at once: an input that happens to spell one of them must stay as it is.
        return _PLACE.sub(value, with_variables(template))


def values_at(document: Any, path: str, needed: bool = True) -> list[Any]:
    """Return what a JMESPath leads to in a JSON document: one value for each entry of the list at the first `[*]`,
    where the path has one, else one value. Where there is nothing: None if not `needed`, else raises BadOutput."""
    import jmespath

    *before, inside = (piece.removeprefix(".") or "@" for piece in path.split("[*]", 1))
    try:
        listed = jmespath.search(before[0], document) if before else [document]
        if not isinstance(listed, list):
            raise BadOutput(f"the answer has no list where {path!r} has [*], but {shown(listed)}")
        values = [jmespath.search(inside, entry) for entry in listed]
    except jmespath.exceptions.JMESPathError:
        raise BadOutput(f"{path!r} of answer is no JMESPath") from None
    if needed and None in values:
        raise BadOutput(f"the answer has nothing at {path!r}, but {shown(listed[values.index(None)])}")
    return values
