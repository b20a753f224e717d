"""Youdao's translation, over HTTP, signed here: there is no client.

https://ai.youdao.com/DOCSIRMA/html/trans/api/wbfy/index.html: a form with the text, of 5,000 characters at most, and a
signature (signType v3): SHA-256 of key, beginning and end of the text, salt, time and secret.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import uuid4

from audit.errors import BadOutput
from audit.packs.cloud.connector import Outcome, OverHttps, entry, outcome_of
from audit.systems.http_file import EVERY
from audit.tasks import Input, Output


def shortened(text: str) -> str:
    """What of a text is signed: all of it up to 20 characters; else its first ten, its length, its last ten.

    >>> shortened("It rains."), shortened("It never rains but it pours.")
    ('It rains.', 'It never r28 it pours.')
    """
    return text if len(text) <= 20 else f"{text[:10]}{len(text)}{text[-10:]}"


def signature(key: str, text: str, salt: str, moment: str, secret: str) -> str:
    """The signature of a request in hexadecimal digits; `moment` is its time in seconds since 1970."""
    return hashlib.sha256(f"{key}{shortened(text)}{salt}{moment}{secret}".encode()).hexdigest()


class YoudaoTranslate(OverHttps):
    """The system `youdao-translate`: translation of a text; lines that it translates one by one are joined again."""

    spec = "youdao-translate"
    service = "Youdao text translation"
    operation = "api"
    api = "v3"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {"zh": "zh-CHS", "zh-TW": "zh-CHT"}
    endpoint = "https://openapi.youdao.com"
    most = 5_000
    variables = ("YOUDAO_APP_KEY", "YOUDAO_APP_SECRET")
    accepted = "YOUDAO_APP_KEY and YOUDAO_APP_SECRET"
    refusals = frozenset({"108", "110", "111", "202", "203", "205"})
    crowding = frozenset({"411", "412"})
    failures = frozenset({"206", "207", "301", "303", "304", "305", "1001", "2004", "3001"})
    closings = frozenset({"401"})

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        item = inputs[0]
        key, secret = (self.secrets()[name] for name in self.variables)
        salt, moment = uuid4().hex, str(int(time.time()))
        form = {
            "q": item.text,
            "from": self.language(item),
            "to": self.language(item, "target"),
            "appKey": key,
            "salt": salt,
            "curtime": moment,
            "signType": "v3",
            "sign": signature(key, item.text, salt, moment, secret),
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer_headers, document = await self.post(f"{self.address}/api", urlencode(form).encode(), headers)
        code = str(document.get("errorCode", "")) if isinstance(document, dict) else ""
        if status >= 300 or code not in ("", "0"):
            words = str(document.get("msg", _MEANINGS.get(code, "")))
            raise self.problem(code or f"HTTP {status}", words, status if status >= 300 else None, answer_headers)
        return [outcome_of(lambda: _read(document))]


_MEANINGS = {
    "102": "it has not these languages",
    "103": "the text is too long",
    "108": "no such application",
    "110": "the application is not bound to the service",
    "111": "no such developer",
    "202": "the signature is wrong",
    "203": "this address may not use the application",
    "401": "the account has no money left",
    "411": "too many requests",
    "412": "too many long requests",
}
"""What the documentation says of codes, which come without words."""


def _read(document: Any) -> Output:
    lines = entry(document, "translation")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, str) for line in lines):
        raise BadOutput(f"translation must be a list of texts, the answer has {lines!r}")
    return Output(text="\n".join(lines))
