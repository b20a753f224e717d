"""Alibaba Cloud's sentiment, over HTTP, signed here: its client is a wrapper of one call that brings 21 further
packages, a scheduler and an asynchronous server among them.

https://help.aliyun.com/document_detail/179345.html (GetSaChGeneral, 1,000 characters); signature:
https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature (ACS3-HMAC-SHA256).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

from audit.errors import BadOutput
from audit.packs.cloud.connector import Outcome, OverHttps, entry, number, outcome_of
from audit.systems.remote_file import kind
from audit.tasks import Input, Output

_FORM = "application/x-www-form-urlencoded"


def signature(method: str, path: str, query: str, headers: Mapping[str, str], sent: bytes, secret: str) -> str:
    """The signature of a request in hexadecimal digits. `query` is the canonical query string; the names of `headers`
    are in small letters; all of them are signed.
    """
    names = sorted(headers)
    canonical_headers = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
    hashed = hashlib.sha256(sent).hexdigest()
    canonical = "\n".join([method, path, query, canonical_headers, ";".join(names), hashed])
    to_sign = f"ACS3-HMAC-SHA256\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


class _Alibaba(OverHttps):
    variables = ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET")
    accepted = "ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET"
    region = "cn-hangzhou"
    options = frozenset({"region"})
    refusals = frozenset(
        {
            "InvalidAccessKeyId.NotFound",
            "InvalidAccessKeyId.Inactive",
            "InvalidAccessKeyId",
            "SignatureDoesNotMatch",
            "Forbidden.NoAuth",
            "Forbidden.RAM",
            "NoPermission",
            "10009",
            "10011",
        }
    )
    crowding = frozenset({"Throttling", "Throttling.User", "Throttling.Api", "ServiceUnavailable", "10001"})
    failures = frozenset({"InternalError", "FrameworkError", "10002", "10012", "19999"})
    closings = frozenset(
        {"UserStatusInvalid", "BasicServiceNotActivated", "10010", "10013", "InvalidVersion", "InvalidAction.NotFound"}
    )
    host: ClassVar[str]

    def body(self, item: Input) -> dict[str, str]:
        """The parameters that are sent."""
        raise TypeError(f"{type(self).__name__} must define body")

    def read(self, document: Any) -> Output:
        """What the answer means. Raises BadOutput."""
        raise TypeError(f"{type(self).__name__} must define read")

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        sent = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in self.body(inputs[0]).items()
        )
        headers = self.signed(sent.encode())
        status, answer_headers, document = await self.post(f"{self.address}/", sent.encode(), headers)
        code = str(document.get("Code", "")) if isinstance(document, dict) else ""
        if status >= 300 or code not in ("", "200"):
            words = str(document.get("Message", ""))
            raise self.problem(code or f"HTTP {status}", words, status if status >= 300 else None, answer_headers)
        return [outcome_of(lambda: self.read(document))]

    def signed(self, sent: bytes) -> dict[str, str]:
        """The headers of a request, with its signature."""
        identity, secret = (self.secrets()[name] for name in self.variables)
        headers = {
            "content-type": _FORM,
            "host": urlsplit(self.address).netloc,
            "x-acs-action": self.operation,
            "x-acs-version": self.api,
            "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "x-acs-signature-nonce": uuid4().hex,
            "x-acs-content-sha256": hashlib.sha256(sent).hexdigest(),
        }
        signed = signature("POST", "/", "", headers, sent, secret)
        names = ";".join(sorted(headers))
        authorization = f"ACS3-HMAC-SHA256 Credential={identity},SignedHeaders={names},Signature={signed}"
        return {**headers, "authorization": authorization}


class AlibabaSentiment(_Alibaba):
    """The system `alibaba-sentiment`: sentiment of Chinese texts. The score is the probability of its label; where that
    is neutral, 1 - the larger of the others unless the answer has its own."""

    spec = "alibaba-sentiment"
    service = "Alibaba Cloud NLP"
    operation = "GetSaChGeneral"
    api = "2020-06-29"
    tasks = ("sentiment",)
    spoken = ("zh",)
    labels: ClassVar[Mapping[str, str]] = {"正面": "positive", "中性": "neutral", "负面": "negative"}
    endpoint = "https://alinlp.{region}.aliyuncs.com"
    most = 1_000

    def body(self, item: Input) -> dict[str, str]:
        return {"ServiceCode": "alinlp", "Text": item.text}

    def read(self, document: Any) -> Output:
        data = entry(document, "Data")
        try:
            result = entry(json.loads(data), "result")
        except (TypeError, ValueError):
            raise BadOutput(f"Data must be a text that is JSON, the answer has {kind(data)}") from None
        label = self.label(entry(result, "sentiment"))
        probabilities = {
            name: number(result.get(f"{name}_prob", 0.0), "a probability") for name in ("positive", "negative")
        }
        other = 1 - max(probabilities.values())
        neutral = number(result.get("neutral_prob", other), "a probability")
        return Output(label, min(1.0, max(0.0, {**probabilities, "neutral": neutral}[label])))
