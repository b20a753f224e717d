"""A language model behind an OpenAI-compatible chat endpoint as a system, named `chat:FILE.toml`.

Four lines are enough for sentiment (docs/reference/systems.md has the whole format)::

    name = "small"
    version = "2026-11"
    url = "http://127.0.0.1:8000/v1"
    model = "small-chat"
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from audit.errors import AuditError
from audit.systems.chat_answers import choice_in, choices_in, number_in, text_in
from audit.systems.chat_client import ChatClient, NoAnswer, Reply
from audit.systems.chat_file import read_chat
from audit.systems.hearing import tell_heard
from audit.systems.service import Clients, OverHttp
from audit.tasks import Input, Output
from audit.tasks.question_answering import UNANSWERABLE


class Chat(OverHttp):
    """The model that a TOML file describes, as a `System` and an `AsynchronousSystem`: one input a conversation.

    What the model refuses, leaves unfinished or says unclearly is a stored error, with what it wrote as the text beside
    it; what it reasoned is kept in the details of the output. Creating it reads the file and raises BadFile for what is
    wrong with it.
    """

    def __init__(self, path: str):
        if not path or path.startswith("//"):
            raise AuditError(
                f"'chat:{path}' does not name a system; write chat:FILE.toml, where the file has the address and the "
                "model (see docs/reference/systems.md)"
            )
        self.description = description = read_chat(path)
        self._file = path
        self.name, self.version, self.tasks = description.name, description.version, (description.task,)
        self.languages = description.between.read if description.between else description.spoken
        self.settings: Mapping[str, object] = description.settings
        self.deterministic = description.deterministic
        if self.deterministic is None and description.temperature != 0:
            self.deterministic = False
        self.summary = f"language model {description.model} over HTTP, {description.url}"
        self.keep(path, description, description.address, description.variables)
        self.client = ChatClient(path, description)

    def __reduce__(self) -> tuple[type["Chat"], tuple[str]]:
        return Chat, (self._file,)  # without the client and its secrets

    def headers(self) -> Mapping[str, str]:
        return self.description.sent_headers

    def lacks(self, item: Input) -> bool:
        """Whether it is no model for this pair of languages."""
        return self.description.between is not None and not self.description.between.has(item)

    def count_characters(self, inputs: Sequence[Input]) -> int:
        """Characters that are sent for inputs, prompts and examples among them: what they cost hangs on that."""
        return sum(len(part["content"]) for item in inputs for part in self.description.messages(item))

    async def ask(self, clients: Clients, inputs: Sequence[Input]) -> list[Output]:
        """One conversation for each input."""
        return [await self._ask_one(clients, item) for item in inputs]

    async def _ask_one(self, clients: Clients, item: Input) -> Output:
        if self.lacks(item):
            return Output()
        details = None
        try:
            reply = await self.client.ask(clients, self.description.messages(item), self.description.form)
            details = {"reasoning": reply.reasoning} if reply.reasoning else None
            output = self._output(reply)
        except NoAnswer as problem:
            output = Output(error=str(problem), text=problem.raw)
        return replace(output, details=details)

    def _output(self, reply: Reply) -> Output:
        """The output in an answer. Raises NoAnswer where there is none."""
        tell_heard(self.service.without_secrets(reply.text, least=8))
        key = self.description.key
        if key == "label":
            label = choice_in(reply.text, self.description.words)
            word = next(word for word, meaning in self.description.words.items() if meaning == label)
            return Output(label, reply.probability(word) if reply.tokens else None)
        if key == "labels":
            return Output(self.description.label_of(choices_in(reply.text, self.description.words)))
        if key == "score":
            score = number_in(reply.text)
            if not 0 <= score <= 1:
                raise NoAnswer(f"{score:g} is no number from 0 to 1", reply.text)
            return Output(score=score)
        text = text_in(reply.text, key)
        if text is None and key == "answer":
            return Output(text=UNANSWERABLE)
        if not (text or "").strip():
            raise NoAnswer(f"the {key} is empty", reply.text)
        return Output(text=text)
