"""Answers of a chat endpoint, for tests: the wire format of OpenAI's chat completions."""

from typing import Any

from service import Server


def reply(content: str | None, finish_reason: str = "stop", logprobs: Any = None, **message: Any) -> dict[str, Any]:
    """The document that an endpoint answers with; six tokens in and two out."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{**choice, "logprobs": logprobs}],
        "usage": {"prompt_tokens": 6, "completion_tokens": 2, "total_tokens": 8},
    }


ANSWER = reply('{"label": "positive"}')


def chat_file(server: Server, folder: Any, more: str = "", name: str = "chat.toml") -> str:
    """The spec of a file that describes a model on this server."""
    path = folder / name
    url = server.url.replace("/classify", "/v1")
    path.write_text(f'name = "small"\nversion = "1"\nurl = "{url}"\nmodel = "m"\n{more}', encoding="utf-8")
    return f"chat:{path}"
