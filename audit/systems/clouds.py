"""Cloud services, `NAME` or `NAME:FILE.toml`: a row of `data/clouds.toml` says what a vendor documents, and here are,
where a table cannot say it, what signs its requests and what reads its answers.

They cost money, so none is listed or chosen by itself. Vendors' own clients are not used: each has retries, time limits
and exceptions of its own; botocore and google-auth find credentials and sign. A request has one text, so that no error
is of another text.
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib.util import find_spec
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from pydantic import Field

from audit.errors import EXTRAS, AuditError, BadOutput, Declined, Unanswered, install_line
from audit.files import parse_json, read_text, toml_of
from audit.resources import data_file
from audit.systems.endpoint import Spelled, Text, problem_of, with_variables
from audit.systems.foreign import shown
from audit.systems.http import Http, HttpFile, Request, values_at
from audit.tasks import Input, Output
from audit.user_models import read_as

_ABOUT_TEXTS = (400, 405, 406, 413, 414, 422)
"""Statuses that come, with a code, for what is wrong with a text (405: Alibaba's for one that is too long)."""
_HELP = "see docs/reference/cloud.md"


class CloudFile(HttpFile):
    """What a user's file may say in the place of a row of the table."""

    name: Spelled = ""
    endpoint: str = ""
    region: Annotated[str, Field(pattern=r"^[\w${}-]*$")] = ""
    project: Text | None = None
    neutral: Annotated[float, Field(ge=0, lt=1)] = 0.0


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of the table by the names of their systems."""
    return tomllib.loads(data_file("clouds.toml").read_text("utf-8"))


class Cloud(Http):
    """A cloud service as a `System` and an `AsynchronousSystem`, with the settings of a file where `path` names one.
    Raises BadFile."""

    def __init__(self, spec: str, path: str = ""):
        self.row = row = rows()[spec]
        own = toml_of(path, read_text(path), _HELP) if path else {}
        merged = {"name": spec, **{key: row[key] for key in row if key in CloudFile.model_fields}, **own}
        for table in ("labels", "codes"):
            if isinstance(said := own.get(table, {}), dict):
                merged[table] = {**row.get(table, {}), **said}
        url = f"{merged['endpoint']}{row['path']}"
        for place in ("region", "project"):
            url = url.replace(f"{{{place}}}", str(merged.get(place) or ""))
        self.file: CloudFile = read_as(CloudFile, {**merged, "url": url}, path or spec, _HELP)
        super().__init__(path or spec, self.file)
        self._made_of, self._vendor = (spec, path), spec.partition("-")[0]
        self.summary = f"{row['vendor']}, {row['operation']}"
        self.settings = {**self.settings, "languages": list(self.languages), "codes": self.codes}
        self.settings |= {"neutral": self.file.neutral} if self.file.neutral else {}
        self.service.variables = sorted({*self.service.variables, *row.get("key", [])})
        self.found: Any = None  # What a vendor's package keeps of its credentials, or the lock of a token

    def needs(self) -> str | None:
        if package := self.row.get("package"):
            top = package.partition(".")[0]
            if not (find_spec(top) and find_spec(package)):
                return install_line(EXTRAS[top])
        return super().needs()

    def credentials(self) -> Sequence[str]:
        """Return the values of the variables that the row names as its key."""
        return [os.environ.get(name, "").strip() for name in self.row["key"]]

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input; a text that the service does not take is not sent."""
        outputs = []
        for item in inputs:
            if error := next(filter(None, map(self._refused, item.texts)), None):
                outputs.append(Output() if self.lacks(item) else Output(error=error))
            else:
                outputs += await super().ask([item])
        return outputs

    def _refused(self, text: str) -> str | None:
        """Return why a text is not sent. A size is as the service counts it, or a little more."""
        unit, most, vendor = self.row.get("unit", "characters"), self.row["most"], self.row["vendor"]
        size = (
            len(text.encode("utf-8", "replace")) if unit == "bytes" else len(text.encode("utf-16-le", "replace")) // 2
        )
        if not text.strip():
            return f"the text is empty, which {vendor} does not take"
        return f"the text has {size:,} {unit}, {vendor} takes {most:,} at most in a text" if size > most else None

    async def request(self, inputs: Sequence[Input]) -> Request:
        """Return what is sent for an input, signed."""
        address, sent, headers = await super().request(inputs)
        if self.row.get("form"):
            form = urlencode(self.fill(self.sent, inputs), quote_via=quote, safe="")
            sent, headers = form.encode(), {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        request = Request(re.sub(r"(?<!:)//+", "/", with_variables(address)), sent, headers)
        if self._vendor == "baidu":
            return await _with_token(self, request)
        return await asyncio.to_thread(_SIGN[self._vendor], self, request, inputs[0])

    async def exchange(self, request: Request) -> Any:
        """Return the JSON of the answer to a request. Raises Unanswered, Declined and BadOutput."""
        status, sent_back, content = await self.service.exchange(*request)
        try:
            document = parse_json(content)
        except ValueError:
            document = None
        found = values_at(document, self.row["code"], needed=False)[0] if "code" in self.row else None
        # Amazon's stand between its package and a web address.
        code = "" if found in (None, "", 0, "0", "200") else str(found).rpartition("#")[2].partition(":")[0]
        if status >= 300 or code:
            words = values_at(document, self.row["words"], needed=False)[0] if code else self.service.words(content)
            raise self._problem(code or f"HTTP {status}", str(words or ""), status, sent_back)
        return self.service.document(content) if document is None else document

    def _problem(self, code: str, words: str, status: int, headers: Mapping[str, str]) -> AuditError:
        """Return the error for a code and the words of the service, and the HTTP status where it says something:
        whether to ask again, and what to change."""
        reason = f"{code}: {words}".strip(": ") if words != code else code
        by_status = problem_of(status, headers, reason) if status >= 300 else None
        if code in self.row.get("again", "").split():
            return Unanswered(reason, by_status.after if isinstance(by_status, Unanswered) else None)
        if code in self.row.get("refused", "").split() or status in (401, 403):
            reason = f"{self.row['vendor']} refuses the account; check {self.row['accepted']} ({reason})"
            return Declined(reason, final=True)
        if by_status is None or (status in _ABOUT_TEXTS and not code.startswith("HTTP ")):
            return Declined(reason, inputs=True)
        return by_status

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        """Return the output in an answer, by the vendor's own function or the paths of the table. Raises BadOutput."""
        if own := _READ.get(self._made_of[0]):
            return [own(self, document)]
        path = self.paths.get("score", "")
        if "{" not in path:
            return super().read(document, inputs)
        word = _at(document, self.paths["label"])
        for named in filter(None, (str(word), self.file.labels.get(str(word)))):  # theirs may have no score of its own
            places = {"word": json.dumps(named), "Word": json.dumps(named.capitalize())}
            (score,) = values_at(document, path.format(**places), needed=False)
            if score is not None:
                return [self.output(word, score)]
        return [self.output(word)]

    def of_number(self, value: object) -> Output:
        """Return the output for a number from -1 to 1: up to `neutral` (.25) from zero it is neutral; the score is
        |number|, or 1 - |number| where neutral."""
        if (number := self.output(None, value).score) is None or abs(number) <= self.file.neutral:
            return Output("neutral", max(0.0, 1 - abs(number or 0.0)))
        return Output("positive" if number > 0 else "negative", min(1.0, abs(number)))

    async def close_async(self) -> None:
        """End the connections; the lock of a token belongs to an event loop."""
        self.found = None
        await super().close_async()


def _at(document: Any, path: str) -> Any:
    return values_at(document, path)[0]


# Requests, signed


def _amazon(cloud: Cloud, request: Request, item: Input) -> Request:
    """Botocore finds credentials, and signs (Signature Version 4)."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        cloud.found = cloud.found or Session()
        if (credentials := cloud.found.get_credentials()) is None:
            raise Declined(f"set the environment variables {cloud.row['accepted']}", final=True)
        frozen = credentials.get_frozen_credentials()
    except BotoCoreError as problem:
        raise Declined(f"check {cloud.row['accepted']} ({problem})", final=True) from None
    secrets = (frozen.secret_key, frozen.token, frozen.access_key)
    names = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
    cloud.service.tokens = {name: value for name, value in zip(names, secrets, strict=True) if value}
    target = f"Comprehend_20171127.{cloud.row['operation']}"
    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target}
    signing = AWSRequest("POST", request.address, data=request.sent, headers=headers)
    SigV4Auth(frozen, "comprehend", with_variables(cloud.file.region)).add_auth(signing)
    return request._replace(headers=dict(signing.headers.items()))


def _azure(cloud: Cloud, request: Request, item: Input) -> Request:
    """A key of the resource."""
    address, sent, headers = request
    if "cognitiveservices" in address and "/language/" not in address:  # a resource of one's own has several
        address = address.replace("/translate?", f"/translator/text/v{cloud.row['version']}/translate?")
    extra = {"Ocp-Apim-Subscription-Region": cloud.file.region} if cloud.file.region else {}
    return Request(address, sent, {**headers, **extra, "Ocp-Apim-Subscription-Key": cloud.credentials()[0]})


def _google(cloud: Cloud, request: Request, item: Input) -> Request:
    """Application default credentials, which google-auth finds."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.auth.transport.requests import Request as Transport

    headers: dict[str, str] = {}
    try:
        if cloud.found is None:
            cloud.found, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
            if hasattr(cloud.found, "with_always_use_jwt_access"):  # a service account signs its tokens itself
                cloud.found = cloud.found.with_always_use_jwt_access(True)
        cloud.found.before_request(Transport(), "POST", f"https://{urlsplit(request.address).netloc}", headers)
    except TransportError as problem:
        raise Unanswered(f"no connection to Google's accounts ({problem})") from None
    except (GoogleAuthError, ValueError, OSError) as problem:
        reason = f"{cloud.row['vendor']} has no credentials; check {cloud.row['accepted']} ({problem})"
        raise Declined(reason, final=True) from None
    cloud.service.tokens = {"TOKEN OF GOOGLE'S ACCOUNT": headers["authorization"].removeprefix("Bearer ")}
    return request._replace(headers=headers)


def _corenlp(cloud: Cloud, request: Request, item: Input) -> Request:
    """A server that somebody started: the text is the body. A lone surrogate is in no encoding."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return request._replace(sent=item.text.encode("utf-8", "replace"), headers=headers)


async def _with_token(cloud: Cloud, request: Request) -> Request:
    """Baidu gives an access token for API key and secret key, which holds 30 days; it is asked for once."""
    cloud.found = cloud.found or asyncio.Lock()
    async with cloud.found:
        if not cloud.service.tokens:
            key, secret = (quote(value, safe="") for value in cloud.credentials())
            query = f"grant_type=client_credentials&client_id={key}&client_secret={secret}"
            address = f"{request.address.partition('/rpc/')[0]}/oauth/2.0/token?{query}"
            token = _at(await cloud.exchange(Request(address, b"", {})), "access_token")
            cloud.service.tokens = {"ACCESS TOKEN OF BAIDU": str(token)}
    (token,) = (quote(value, safe="") for value in cloud.service.tokens.values())
    return request._replace(address=f"{request.address}?charset=UTF-8&access_token={token}")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _canonical(query: str, headers: Mapping[str, str], sent: bytes) -> str:
    """Return a POST to / as Alibaba and Tencent sign it, hashed; names of headers are in small letters."""
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in sorted(headers))
    return _sha256("\n".join(["POST", "/", query, lines, ";".join(sorted(headers)), _sha256(sent)]).encode())


def alibaba_signature(query: str, headers: Mapping[str, str], sent: bytes, secret: str) -> str:
    """Return the signature (ACS3-HMAC-SHA256) of a POST in hexadecimal digits; `query` is the canonical query string.

    https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature
    """
    to_sign = f"ACS3-HMAC-SHA256\n{_canonical(query, headers, sent)}"
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


def _alibaba(cloud: Cloud, request: Request, item: Input) -> Request:
    identity, secret = cloud.credentials()
    headers = {
        "content-type": request.headers["Content-Type"],
        "host": urlsplit(request.address).netloc,
        "x-acs-action": cloud.row["operation"],
        "x-acs-version": cloud.row["version"],
        "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "x-acs-signature-nonce": uuid4().hex,
        "x-acs-content-sha256": _sha256(request.sent),
    }
    signature = alibaba_signature("", headers, request.sent, secret)
    signed = f"Credential={identity},SignedHeaders={';'.join(sorted(headers))},Signature={signature}"
    return request._replace(headers={**headers, "authorization": f"ACS3-HMAC-SHA256 {signed}"})


def tencent_signature(headers: Mapping[str, str], sent: bytes, moment: int, secret: str) -> tuple[str, str]:
    """Return the scope and the signature (TC3-HMAC-SHA256) of a POST; `moment` is its time in seconds since 1970.

    https://cloud.tencent.com/document/api/213/30654
    """
    date = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
    scope = f"{date}/nlp/tc3_request"
    to_sign = f"TC3-HMAC-SHA256\n{moment}\n{scope}\n{_canonical('', headers, sent)}"
    key = f"TC3{secret}".encode()
    for part in (date, "nlp", "tc3_request", to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return scope, key.hex()


def _tencent(cloud: Cloud, request: Request, item: Input) -> Request:
    """It is told the language, so that errors are in English."""
    identity, secret = cloud.credentials()
    moment = int(time.time())
    headers = {"content-type": "application/json", "host": urlsplit(request.address).netloc}
    scope, signature = tencent_signature(headers, request.sent, moment, secret)
    signed = f"Credential={identity}/{scope}, SignedHeaders={';'.join(headers)}, Signature={signature}"
    about = {
        "authorization": f"TC3-HMAC-SHA256 {signed}",
        "x-tc-action": cloud.row["operation"],
        "x-tc-version": cloud.row["version"],
        "x-tc-timestamp": str(moment),
        "x-tc-region": cloud.file.region,
        "x-tc-language": "en-US",
    }
    return request._replace(headers=headers | about)


def youdao_signature(key: str, text: str, salt: str, moment: str, secret: str) -> str:
    """Return the signature of a request in hexadecimal digits (signType v3); `moment` is its time in seconds since
    1970. Of a text of more than 20 characters its first ten, its length and its last ten are signed."""
    part = text if len(text) <= 20 else f"{text[:10]}{len(text)}{text[-10:]}"
    return _sha256(f"{key}{part}{salt}{moment}{secret}".encode())


def _youdao(cloud: Cloud, request: Request, item: Input) -> Request:
    """The signature goes into the form."""
    key, secret = cloud.credentials()
    salt, moment = uuid4().hex, str(int(time.time()))
    sign = youdao_signature(key, item.text, salt, moment, secret)
    form = f"&appKey={quote(key, safe='')}&salt={salt}&curtime={moment}&signType=v3&sign={sign}"
    return request._replace(sent=request.sent + form.encode())


_SIGN: Mapping[str, Callable[[Cloud, Request, Input], Request]] = {
    **{"comprehend": _amazon, "azure": _azure, "google": _google, "corenlp": _corenlp},
    **{"alibaba": _alibaba, "tencent": _tencent, "youdao": _youdao},
}


# Answers that need more than a path


def _sentences_of_corenlp(cloud: Cloud, document: Any) -> Output:
    """Each sentence is -1, 0 or 1 by its label. The text is neutral up to a mean of `neutral` (.25), so one sentence is
    what it is. The score is the mean of the probability that its sentences have the text's label."""
    signs, words = {"negative": -1, "neutral": 0, "positive": 1}, list(rows()["corenlp"]["labels"])
    said = [str(cloud.output(word).label) for word in values_at(document, "sentences[*].sentiment")]
    if unknown := [label for label in said or ["nothing"] if label not in signs]:
        raise BadOutput(f"label {unknown[0]!r} is not one of {', '.join(signs)}")
    label = cloud.of_number(sum(signs[one] for one in said) / len(said)).label
    places = [place for place, word in enumerate(words) if cloud.file.labels[word] == label]
    shares = values_at(document, f"sentences[*].sum(sentimentDistribution[{places[0]}:{places[-1] + 1}])")
    return Output(label, min(1.0, sum(shares) / len(shares)))


def _shares_of_alibaba(cloud: Cloud, document: Any) -> Output:
    """The score is the probability of its label; where that is neutral, 1 - the larger of the others unless the answer
    has its own."""
    try:
        result = _at(json.loads(_at(document, "Data")), "result")
        label = cloud.output(_at(result, "sentiment")).label
        scores = {name: result.get(f"{name}_prob") for name in ("positive", "negative", "neutral")}
        if scores["neutral"] is None:
            scores["neutral"] = 1 - max(scores[name] or 0 for name in ("positive", "negative"))
    except (TypeError, ValueError):
        raise BadOutput(f"Data must be JSON with numbers, the answer has {shown(document)}") from None
    return cloud.output(label, scores.get(label or ""))


def _names(cloud: Cloud, document: Any, spans: Callable[[Any], Iterable[tuple[int, int, str]]]) -> Output:
    """The spans of the names, as answers of the task `entities` are written; offsets count characters."""
    try:
        return Output("; ".join(f"{start:d}-{end:d} {kind}" for start, end, kind in spans(document)) or "none")
    except (KeyError, TypeError, IndexError, ValueError) as problem:
        raise BadOutput(f"the answer has no names where they are documented ({problem!r}): {shown(document)}") from None


def _proper_names_of_google(document: Any) -> Iterable[tuple[int, int, str]]:
    """Proper names alone: "president" is a mention, too."""
    for entity in document["entities"]:
        for text in (mention["text"] for mention in entity["mentions"] if mention["type"] == "PROPER"):
            start = text.get("beginOffset", 0)
            yield start, start + len(text["content"]), entity["type"]


_READ: Mapping[str, Callable[[Cloud, Any], Output]] = {
    "google-language": lambda cloud, document: cloud.of_number(_at(document, "documentSentiment").get("score", 0)),
    "corenlp": _sentences_of_corenlp,
    "alibaba-sentiment": _shares_of_alibaba,
    "comprehend-entities": partial(
        _names, spans=lambda of: ((one["BeginOffset"], one["EndOffset"], one["Type"]) for one in of["Entities"])
    ),
    "azure-entities": partial(
        _names,
        spans=lambda of: (
            (one["offset"], one["offset"] + one["length"], one["category"])
            for one in of["results"]["documents"][0]["entities"]
        ),
    ),
    "google-entities": partial(_names, spans=_proper_names_of_google),
}
