"""Baidu's sentiment, similarity of short texts, and translation, over HTTP: its own client was last released in 2023.

https://cloud.baidu.com/doc/NLP/s/zk6z52hds (sentiment_classify, 2,048 characters),
https://ai.baidu.com/ai-doc/NLP/ek6z52frp (simnet, 512 bytes a text, counted as UTF-8 here),
https://cloud.baidu.com/doc/MT/s/4kqryjku9 (texttrans, 6,000 characters). Each request has an access token,
which is given for API key and secret key (https://ai.baidu.com/ai-doc/REFERENCE/Ck3dwjhhu) and holds 30 days; a system
asks for one when it first needs it.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from audit.errors import BadOutput
from audit.packs.cloud.connector import Outcome, OverHttps, entry, number, outcome_of
from audit.systems.http_file import EVERY
from audit.systems.remote_file import kind
from audit.tasks import Input, Output

_EXPIRED = ("110", "111")
"""Codes of an access token that is not (or no longer) valid."""


class _Baidu(OverHttps):
    endpoint = "https://aip.baidubce.com"
    variables = ("BAIDU_API_KEY", "BAIDU_SECRET_KEY")
    accepted = "BAIDU_API_KEY and BAIDU_SECRET_KEY"
    refusals = frozenset({"invalid_client", "invalid_request", "6", "13", "14", "15", "100", *_EXPIRED})
    crowding = frozenset({"2", "4", "18"})
    failures = frozenset({"1", "282000", "31001", "31104", "20003"})
    closings = frozenset({"3", "17", "19", "31202"})
    path: ClassVar[str]

    def __init__(self, path: str = ""):
        super().__init__(path)
        self._token = ""
        self._fetching: asyncio.Lock | None = None

    def secrets(self) -> dict[str, str]:
        return {**super().secrets(), "ACCESS TOKEN OF BAIDU": self._token}

    def body(self, item: Input) -> dict[str, str]:
        """What is sent."""
        raise TypeError(f"{type(self).__name__} must define body")

    def read(self, document: Any) -> Output:
        """What the answer means. Raises BadOutput."""
        raise TypeError(f"{type(self).__name__} must define read")

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        document = await self._document(inputs[0])
        if _error_code(document) in _EXPIRED:
            self._token = ""  # it may be 30 days old: once more with a new one
            document = await self._document(inputs[0])
        if code := _error_code(document):
            raise self.problem(code, str(document.get("error_msg", "")))
        return [outcome_of(lambda: self.read(document))]

    async def _document(self, item: Input) -> Any:
        token = quote(await self._access_token(), safe="")
        address = f"{self.address}{self.path}?charset=UTF-8&access_token={token}"
        headers = {"Content-Type": "application/json; charset=utf-8"}
        status, answer_headers, document = await self.post(address, json.dumps(self.body(item)).encode(), headers)
        if status >= 300 and not _error_code(document):
            raise self.problem(f"HTTP {status}", str(document), status, answer_headers)
        return document

    async def _access_token(self) -> str:
        """The access token, asked for once for all requests of this system."""
        self._fetching = self._fetching or asyncio.Lock()
        async with self._fetching:
            if not self._token:
                key, secret = (quote(self.secrets()[name], safe="") for name in self.variables)
                wanted = f"grant_type=client_credentials&client_id={key}&client_secret={secret}"
                address = f"{self.address}/oauth/2.0/token?{wanted}"
                status, headers, document = await self.post(address, b"", {"Content-Type": "application/json"})
                if isinstance(document, dict) and "error" in document:
                    words = str(document.get("error_description", ""))
                    raise self.problem(str(document["error"]), words, status, headers)
                token = entry(document, "access_token")
                if not isinstance(token, str) or not token:
                    raise BadOutput("the answer has no access_token that is a text")
                self._token = token
        return self._token

    async def close_async(self) -> None:
        self._fetching = None  # it belongs to an event loop
        await super().close_async()


def _error_code(document: Any) -> str:
    """The code of an error in an answer; empty where it is none."""
    code = document.get("error_code") if isinstance(document, dict) else None
    return "" if code in (None, 0, "0") else str(code)


class BaiduSentiment(_Baidu):
    """The system `baidu-sentiment`: sentiment of Chinese texts, of three labels; the score is its confidence."""

    spec = "baidu-sentiment"
    service = "Baidu sentiment analysis"
    operation = "sentiment_classify"
    api = "v1"
    tasks = ("sentiment",)
    spoken = ("zh",)
    labels: ClassVar[Mapping[str, str]] = {"0": "negative", "1": "neutral", "2": "positive"}
    most = 2_048
    path = "/rpc/2.0/nlp/v1/sentiment_classify"

    def body(self, item: Input) -> dict[str, str]:
        return {"text": item.text}

    def read(self, document: Any) -> Output:
        first = entry(document, "items", 0)
        return Output(self.label(entry(first, "sentiment")), number(entry(first, "confidence"), "the confidence"))


class BaiduSimilarity(_Baidu):
    """The system `baidu-similarity`: similarity of two short Chinese texts, from 0 to 1."""

    spec = "baidu-similarity"
    service = "Baidu short text similarity"
    operation = "simnet"
    api = "v2"
    tasks = ("similarity",)
    spoken = ("zh",)
    most, unit = 512, "bytes"
    path = "/rpc/2.0/nlp/v2/simnet"

    def body(self, item: Input) -> dict[str, str]:
        return {"text_1": item.texts[0], "text_2": item.texts[1]}

    def read(self, document: Any) -> Output:
        return Output(score=min(1.0, max(0.0, number(entry(document, "score"), "the score"))))


class BaiduTranslate(_Baidu):
    """The system `baidu-translate`: translation; lines are translated one by one, and joined again."""

    spec = "baidu-translate"
    service = "Baidu text translation"
    operation = "texttrans"
    api = "v1"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {
        "ja": "jp",
        "ko": "kor",
        "fr": "fra",
        "es": "spa",
        "ar": "ara",
        "bg": "bul",
        "et": "est",
        "da": "dan",
        "fi": "fin",
        "ro": "rom",
        "sl": "slo",
        "sv": "swe",
        "vi": "vie",
        "zh-TW": "cht",
    }
    most = 6_000
    path = "/rpc/2.0/mt/texttrans/v1"

    def body(self, item: Input) -> dict[str, str]:
        return {"q": item.text, "from": self.language(item), "to": self.language(item, "target")}

    def read(self, document: Any) -> Output:
        lines = entry(document, "result", "trans_result")
        if not isinstance(lines, list) or not lines:
            raise BadOutput(f"trans_result must be a list of lines, the answer has {kind(lines)}")
        return Output(text="\n".join(str(entry(line, "dst")) for line in lines))
