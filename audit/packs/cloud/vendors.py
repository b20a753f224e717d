"""Cloud services: `data/clouds.toml` says what each vendor documents, and the classes here what no table can say:
credentials, signatures, tokens, and answers that need more than a path.

Vendors' own clients are not used: each has retries, time limits, loggers and a dozen kinds of exceptions of its own,
and the requests are simple; botocore and google-auth find credentials and sign. A request has one text, so that no
error is of another text; one that a service fails at is a stored error of that text alone.
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from itertools import compress
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from pydantic import Field

from audit.errors import AuditError, BadOutput, Declined, Unanswered, install_line
from audit.files import parse_json, read_text, toml_of
from audit.resources import data_file
from audit.systems.foreign import number
from audit.systems.http import Http, HttpFile, Request, fill_request, problem_of, values_at, with_variables
from audit.systems.remote_file import Spelled, Text, kind
from audit.tasks import Input, Output
from audit.user_models import read_as

_ABOUT_TEXTS = (400, 405, 406, 413, 414, 422)
"""Statuses that come, with a code, for what is wrong with a text (405: Alibaba's for one that is too long)."""
_HELP = "see docs/reference/cloud.md"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


class VendorFile(HttpFile):
    """A row of the table, with what the user's file NAME:FILE.toml says in its place; `data/clouds.toml` says what its
    keys are."""

    name: Spelled = ""
    vendor: str = Field("", repr=False)
    operation: str = ""
    region: Annotated[str, Field(pattern=r"^[\w${}-]*$")] = ""
    project: Text | None = None
    """Of Google Cloud, whom translations are charged to."""
    neutral: Annotated[float, Field(ge=0, lt=1)] | None = None
    """For services that return a number from -1 to 1: up to here it is neutral."""
    form: bool = False
    most: int = 0
    unit: str = "characters"
    key: list[str] = Field([])
    accepted: str = ""
    code: str = ""
    words: str = ""
    refused: str = ""
    again: str = ""
    closed: str = ""


@cache
def vendors() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of the table by the names of their systems."""
    return tomllib.loads(data_file("clouds.toml").read_text("utf-8"))


class Cloud(Http):
    """A cloud service as a `System` and an `AsynchronousSystem`, with the settings of a file where `path` names one.

    Creating it reads the file and raises BadFile for what is wrong with it; nothing is asked.
    """

    packages: Mapping[str, str] = {}
    """Modules that it needs, and the extra that they come with."""

    def __init__(self, spec: str, path: str = ""):
        row = vendors()[spec]
        own = toml_of(path, read_text(path), _HELP) if path else {}
        merged = {"name": spec, **row, **own}
        for table in ("labels", "codes"):
            said = own.get(table, {})
            merged[table] = {**row.get(table, {}), **said} if isinstance(said, dict) else said
        url = f"{merged.pop('endpoint')}{merged.pop('path')}"
        for place in ("region", "project"):
            url = url.replace(f"{{{place}}}", str(merged.get(place) or ""))
        self.row = read_as(VendorFile, {**merged, "url": url}, path or spec, _HELP)
        super().__init__(path or spec, self.row)
        self._made_of = spec, path
        self.summary = f"{self.row.vendor}, {self.row.operation}"
        self.settings = {**self.settings, "languages": list(self.spoken.spoken), "codes": self.spoken.codes}
        self.settings |= {"neutral": self.row.neutral} if self.row.neutral is not None else {}
        self.service.variables = sorted({*self.service.variables, *self.row.key})
        self._has_answered = False

    def needs(self) -> str | None:
        for module, extra in self.packages.items():
            if not _is_installed(module):
                return install_line(extra)
        return super().needs()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of  # without clients and secrets

    def credentials(self) -> tuple[str, str]:
        """Return the values of its two variables."""
        first, second = (os.environ.get(name, "").strip() for name in self.row.key)
        return first, second

    # What a vendor says in its own way

    async def request(self, inputs: Sequence[Input]) -> Request:
        """Return what is sent for an input."""
        address, sent, headers = await super().request(inputs)
        if self.row.form:
            form = urlencode(fill_request(self.sent, inputs, self.spoken), quote_via=quote, safe="")
            sent, headers = form.encode(), {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        return Request(re.sub(r"(?<!:)//+", "/", with_variables(address)), sent, headers)

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        """Return the output in an answer, by the paths of the table. Raises BadOutput."""
        path = self.paths.get("score", "")
        if "{" not in path:
            return super().read(document, inputs)
        (word,) = values_at(document, self.paths["label"])
        for named in filter(None, (str(word), self.row.labels.get(str(word)))):  # theirs may have no score of its own
            places = {"word": json.dumps(named), "Word": json.dumps(named.capitalize())}
            (score,) = values_at(document, path.format(**places), needed=False)
            if score is not None:
                return [self.output(word, score, None)]
        return [self.output(word, None, None)]

    def code_of(self, document: Any) -> str:
        """Return the code of an error in an answer; empty where it is none."""
        code = values_at(document, self.row.code, needed=False)[0] if self.row.code else None
        return "" if code in (None, "", 0, "0") else str(code)

    # Asking

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        outputs = []
        for item in inputs:
            if error := next(filter(None, map(self._refused, item.texts)), None):
                outputs.append(Output() if self.lacks(item) else Output(error=error))
            else:
                outputs += await super().ask([item])
                self._has_answered = True
        return outputs

    def _refused(self, text: str) -> str | None:
        """Return why a text is not sent. A size is as the service counts it, or a little more."""
        is_bytes = self.row.unit == "bytes"
        size = len(text.encode("utf-8" if is_bytes else "utf-16-le", "replace")) // (1 if is_bytes else 2)
        if not text.strip():
            return f"the text is empty, which {self.row.vendor} does not take"
        limit = f"{self.row.vendor} takes {self.row.most:,} at most in a text"
        return f"the text has {size:,} {self.row.unit}, {limit}" if size > self.row.most else None

    async def exchange(self, request: Request) -> Any:
        """Return the JSON of the answer to a request. Raises Unanswered, Declined and BadOutput."""
        status, sent_back, content = await self.service.exchange(*request)
        try:
            document = parse_json(content)
        except ValueError:
            document = None
        code = self.code_of(document)
        if status >= 300 or code:
            words = values_at(document, self.row.words, needed=False)[0] if code else self.service.words(content)
            raise self.problem(code or f"HTTP {status}", str(words or ""), status, sent_back)
        return self.service.document(content) if document is None else document

    def problem(self, code: str, words: str, status: int, headers: Mapping[str, str]) -> AuditError:
        """Return the error for a code and the words of the service, and the HTTP status where it says something:
        whether to ask again, and what to change."""
        reason = f"{code}: {words}".strip(": ") if words != code else code
        by_status = problem_of(status, headers, reason) if status >= 300 else None
        if code in self.row.again.split():
            return Unanswered(reason, by_status.after if isinstance(by_status, Unanswered) else None)
        if code in self.row.closed.split():
            return Declined(reason)
        if code in self.row.refused.split() or status in (401, 403):
            reason = f"{self.row.vendor} refuses the credentials; check {self.row.accepted} ({reason})"
            return Declined(reason, final=not self._has_answered)
        if by_status is None or (status in _ABOUT_TEXTS and not code.startswith("HTTP ")):
            return Declined(reason, inputs=True)
        return by_status

    def label_of_number(self, number: float) -> tuple[str, float]:
        """Return the label for a number from -1 to 1, and a confidence in it."""
        if abs(number) <= (self.row.neutral or 0.0):
            return "neutral", max(0.0, 1 - abs(number))
        return ("positive" if number > 0 else "negative"), min(1.0, abs(number))


def at(document: Any, path: str) -> Any:
    """Return what a path leads to. Raises BadOutput where there is nothing."""
    return values_at(document, path)[0]


def share(value: object) -> float:
    """Return a number of an answer. Raises BadOutput for anything else."""
    if (found := number(value)) is None:
        raise BadOutput(f"a score must be a number, the answer has {kind(value)}")
    return found


class Amazon(Cloud):
    """Botocore finds credentials, and signs (Signature Version 4)."""

    packages: Mapping[str, str] = {"botocore": "aws"}
    _session: Any = None

    async def request(self, inputs: Sequence[Input]) -> Request:
        return await asyncio.to_thread(self._signed, await super().request(inputs))

    def _signed(self, request: Request) -> Request:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session

        try:
            self._session = self._session or Session()
            credentials = self._session.get_credentials()
            if credentials is None:
                raise Declined(f"set the environment variables {self.row.accepted}", final=True)
            frozen = credentials.get_frozen_credentials()
        except BotoCoreError as problem:
            raise Declined(f"check {self.row.accepted} ({problem})", final=True) from None
        secrets = (frozen.secret_key, frozen.token, frozen.access_key)
        names = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
        self.service.tokens = {name: value for name, value in zip(names, secrets, strict=True) if value}
        target = f"Comprehend_20171127.{self.row.operation}"
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target}
        signing = AWSRequest("POST", request.address, data=request.sent, headers=headers)
        SigV4Auth(frozen, "comprehend", with_variables(self.row.region)).add_auth(signing)
        return request._replace(headers=dict(signing.headers.items()))

    def code_of(self, document: Any) -> str:
        return super().code_of(document).rpartition("#")[2].partition(":")[0]


class Azure(Cloud):
    """A key in the environment, or what azure-identity finds where it is installed."""

    def __init__(self, spec: str, path: str = ""):
        super().__init__(spec, path)
        self._key = f"{spec.upper().replace('-', '_')}_KEY"

    def needs(self) -> str | None:
        if not os.environ.get(self._key, "").strip() and not _is_installed("azure.identity"):
            return f"set the environment variable {self._key} (or install azure-identity and log in)"
        return super().needs()

    async def request(self, inputs: Sequence[Input]) -> Request:
        address, sent, headers = await super().request(inputs)
        if "cognitiveservices" in address and "/language/" not in address:  # a resource of one's own has several
            address = address.replace("/translate?", f"/translator/text/v{self.row.version}/translate?")
        extra = {"Ocp-Apim-Subscription-Region": self.row.region} if self.row.region else {}
        if key := os.environ.get(self._key, "").strip():
            self.service.tokens = {self._key: key}
            return Request(address, sent, {**headers, **extra, "Ocp-Apim-Subscription-Key": key})
        from azure.identity import DefaultAzureCredential

        scope = "https://cognitiveservices.azure.com/.default"
        found = await asyncio.to_thread(DefaultAzureCredential().get_token, scope)
        self.service.tokens = {"TOKEN OF AZURE": found.token}
        return Request(address, sent, {**headers, **extra, "Authorization": f"Bearer {found.token}"})


class Google(Cloud):
    """Application default credentials, which google-auth finds. Sentiment is a number from -1 to 1: up to `neutral`
    (.25) from zero it is neutral; the score is |number|, or 1 - |number| where neutral."""

    packages: Mapping[str, str] = {"google.auth": "google"}
    _found: Any = None

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        return request._replace(headers=await asyncio.to_thread(self._headers, request.address))

    def _headers(self, address: str) -> dict[str, str]:
        """Return the headers of a request. May ask Google for a token."""
        import google.auth
        from google.auth.exceptions import GoogleAuthError, TransportError
        from google.auth.transport.requests import Request as Transport

        headers: dict[str, str] = {}
        try:
            if self._found is None:
                self._found, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
                if hasattr(self._found, "with_always_use_jwt_access"):  # a service account signs its tokens itself
                    self._found = self._found.with_always_use_jwt_access(True)
            self._found.before_request(Transport(), "POST", f"https://{urlsplit(address).netloc}", headers)
        except TransportError as problem:
            raise Unanswered(f"no connection to Google's accounts ({problem})") from None
        except (GoogleAuthError, ValueError, OSError) as problem:
            reason = f"{self.row.vendor} has no credentials; check {self.row.accepted} ({problem})"
            raise Declined(reason, final=True) from None
        self.service.tokens = {"TOKEN OF GOOGLE'S ACCOUNT": headers["authorization"].removeprefix("Bearer ")}
        return headers

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        if self.paths.get("text"):
            return super().read(document, inputs)
        said = at(document, "documentSentiment")
        return [Output(*self.label_of_number(share(said.get("score", 0) if isinstance(said, dict) else said)))]


class CoreNlp(Cloud):
    """A server that somebody started. Each sentence is -1, 0 or 1 by its label. The text is neutral up to a mean of
    `neutral` (.25), so one sentence is what it is. The score is the mean of the probability that its sentences have the
    text's label."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        # A lone surrogate is in no encoding.
        sent = inputs[0].text.encode("utf-8", "replace")
        return request._replace(sent=sent, headers={"Content-Type": "text/plain; charset=utf-8"})

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        sentences = values_at(document, "sentences[*].sentiment")
        if not sentences:
            raise BadOutput("the answer has no sentences")
        labels = [self.output(word, None, None).label for word in sentences]
        signs = {"negative": -1, "neutral": 0, "positive": 1}
        if unknown := next((label for label in labels if label not in signs), None):
            raise BadOutput(f"label {unknown!r} is not one of {', '.join(signs)}")
        label, confidence = self.label_of_number(sum(signs[str(label)] for label in labels) / len(labels))
        shares = values_at(document, "sentences[*].sentimentDistribution", needed=False)
        if None in shares:
            return [Output(label, confidence)]
        of_label = [self.row.labels[word] == label for word in vendors()["corenlp"]["labels"]]
        if wrong := [one for one in shares if not isinstance(one, list) or len(one) != len(of_label)]:
            raise BadOutput(f"sentimentDistribution must be {len(of_label)} numbers, the answer has {wrong[0]!r}")
        sums = [min(1.0, sum(share(value) for value in compress(one, of_label))) for one in shares]
        return [Output(label, sum(sums) / len(sums))]


class _Expired(Declined):
    """An access token is not, or no longer, valid."""


class Baidu(Cloud):
    """Each request has an access token, which is given for API key and secret key and holds 30 days; a system asks for
    one when it first needs it."""

    _fetching: asyncio.Lock | None = None

    def code_of(self, document: Any) -> str:
        return super().code_of(document) or str(values_at(document, "error", needed=False)[0] or "")

    async def ask(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await super().ask(inputs)
        except _Expired:
            self.service.tokens = {}  # it may be 30 days old: once more with a new one
            return await super().ask(inputs)

    def problem(self, code: str, words: str, status: int, headers: Mapping[str, str]) -> AuditError:
        problem = super().problem(code, words, status, headers)
        return _Expired(str(problem), final=not self._has_answered) if code in ("110", "111") else problem

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        self._fetching = self._fetching or asyncio.Lock()
        async with self._fetching:  # once for all requests of this system
            if not self.service.tokens:
                key, secret = (quote(value, safe="") for value in self.credentials())
                query = f"grant_type=client_credentials&client_id={key}&client_secret={secret}"
                address = f"{request.address.partition('/rpc/')[0]}/oauth/2.0/token?{query}"
                token = at(await self.exchange(Request(address, b"", {})), "access_token")
                self.service.tokens = {"ACCESS TOKEN OF BAIDU": str(token)}
        (token,) = (quote(value, safe="") for value in self.service.tokens.values())
        return request._replace(address=f"{request.address}?charset=UTF-8&access_token={token}")

    async def close_async(self) -> None:
        self._fetching = None  # it belongs to an event loop
        await super().close_async()


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


class Alibaba(Cloud):
    """The score is the probability of its label; where that is neutral, 1 - the larger of the others unless the answer
    has its own."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        identity, secret = self.credentials()
        headers = {
            "content-type": request.headers["Content-Type"],
            "host": urlsplit(request.address).netloc,
            "x-acs-action": self.row.operation,
            "x-acs-version": self.row.version,
            "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "x-acs-signature-nonce": uuid4().hex,
            "x-acs-content-sha256": _sha256(request.sent),
        }
        signature = alibaba_signature("", headers, request.sent, secret)
        signed = f"Credential={identity},SignedHeaders={';'.join(sorted(headers))},Signature={signature}"
        return request._replace(headers={**headers, "authorization": f"ACS3-HMAC-SHA256 {signed}"})

    def code_of(self, document: Any) -> str:
        return super().code_of(document).removesuffix("200")

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Output]:
        data = at(document, "Data")
        try:
            result = at(json.loads(data), "result")
        except (TypeError, ValueError):
            raise BadOutput(f"Data must be a text that is JSON, the answer has {kind(data)}") from None
        output = self.output(at(result, "sentiment"), None, None)
        scores = {name: result.get(f"{name}_prob") for name in ("positive", "negative", "neutral")}
        if scores["neutral"] is None:
            scores["neutral"] = 1 - max(share(scores[name] or 0) for name in ("positive", "negative"))
        return [Output(output.label, min(1.0, max(0.0, share(scores.get(output.label or "") or 0))))]


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


class Tencent(Cloud):
    """It is told language and region, so that errors are in English."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        identity, secret = self.credentials()
        moment = int(time.time())
        headers = {"content-type": "application/json", "host": urlsplit(request.address).netloc}
        scope, signature = tencent_signature(headers, request.sent, moment, secret)
        signed = f"Credential={identity}/{scope}, SignedHeaders={';'.join(headers)}, Signature={signature}"
        about = {
            "authorization": f"TC3-HMAC-SHA256 {signed}",
            "x-tc-action": self.row.operation,
            "x-tc-version": self.row.version,
            "x-tc-timestamp": str(moment),
            "x-tc-region": self.row.region,
            "x-tc-language": "en-US",
        }
        return request._replace(headers=headers | about)


def youdao_signature(key: str, text: str, salt: str, moment: str, secret: str) -> str:
    """Return the signature of a request in hexadecimal digits (signType v3); `moment` is its time in seconds since
    1970. Of a text of more than 20 characters its first ten, its length and its last ten are signed."""
    part = text if len(text) <= 20 else f"{text[:10]}{len(text)}{text[-10:]}"
    return _sha256(f"{key}{part}{salt}{moment}{secret}".encode())


class Youdao(Cloud):
    """The signature goes into the form."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        key, secret = self.credentials()
        salt, moment = uuid4().hex, str(int(time.time()))
        sign = youdao_signature(key, inputs[0].text, salt, moment, secret)
        form = f"&appKey={quote(key, safe='')}&salt={salt}&curtime={moment}&signType=v3&sign={sign}"
        return request._replace(sent=request.sent + form.encode())
