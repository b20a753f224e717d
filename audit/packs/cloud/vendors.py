"""What no table can say of vendors: credentials, signatures, tokens, and answers that need more than a path."""

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from audit.errors import AuditError, BadOutput, Declined, Unanswered, install_line
from audit.packs.cloud.connector import Connector, Outcome, Request, entry, inside, number, outcome_of
from audit.systems.remote_file import kind
from audit.tasks import Input, Output

_NOTHING = BadOutput("the answer says nothing of this text")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _is_set(*variables: str) -> bool:
    return any(os.environ.get(name, "").strip() for name in variables)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Amazon(Connector):
    """Botocore finds credentials, and signs (Signature Version 4). Texts that Comprehend failed at come in an ErrorList
    of their own."""

    _session: Any = None

    def needs(self) -> str | None:
        """Return what is missing, as far as one can tell without asking anybody: roles of machines are looked up when
        it is asked, where AWS_EC2_METADATA_DISABLED is "false"."""
        files = {"AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials", "AWS_CONFIG_FILE": "~/.aws/config"}
        exist = [Path(os.environ.get(name, usual)).expanduser().is_file() for name, usual in files.items()]
        role = os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "false"
        containers = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        named = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", *containers)
        if not _is_installed("botocore"):
            return install_line("aws")
        if not role and not any(exist) and not _is_set(*named):
            return f"set the environment variables {self.vendor.accepted}"
        if not self.region and not exist[1] and not _is_set("AWS_DEFAULT_REGION"):
            return 'set the environment variable AWS_DEFAULT_REGION, or region = "..." in comprehend:FILE.toml'
        return None

    @property
    def address(self) -> str:
        return super().address or f"https://comprehend.{self._region}.amazonaws.com"

    @property
    def _region(self) -> str:
        return self.region or (self._session.get_config_variable("region") if self._session else None) or ""

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
            if credentials is None or not self._region:
                raise Declined(f"set {self.vendor.accepted}, and AWS_DEFAULT_REGION", final=True)
            frozen = credentials.get_frozen_credentials()
        except BotoCoreError as problem:
            raise Declined(f"check {self.vendor.accepted} ({problem})", final=True) from None
        names = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
        values = (frozen.secret_key, frozen.token, frozen.access_key)
        self.tokens = {name: value for name, value in zip(names, values, strict=True) if value}
        target = f"Comprehend_20171127.{self.vendor.operation}"
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target}
        signing = AWSRequest("POST", f"{self.address}/", data=request.sent, headers=headers)
        SigV4Auth(frozen, "comprehend", self._region).add_auth(signing)
        return replace(request, headers=dict(signing.headers.items()))

    def code_of(self, document: Any) -> str:
        return super().code_of(document).rpartition("#")[2].partition(":")[0]

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Outcome]:
        outcomes: list[Outcome] = [_NOTHING] * len(inputs)
        for result in entry(document, "ResultList"):
            outcomes[_place(result, len(inputs))] = outcome_of(partial(self.output, result))
        for error in inside(document, "ErrorList") or []:
            code, words = (str(inside(error, name) or "") for name in ("ErrorCode", "ErrorMessage"))
            outcomes[_place(error, len(inputs))] = self.problem(code, words)
        return outcomes


def _place(result: Any, size: int) -> int:
    place = entry(result, "Index")
    if not isinstance(place, int) or not 0 <= place < size:
        raise BadOutput(f"the answer has a text of Index {place!r}, {size} were asked")
    return place


class Azure(Connector):
    """A key in the environment, or what azure-identity finds where it is installed. Texts that it failed at have errors
    of their own."""

    def needs(self) -> str | None:
        if not _is_set(self.vendor.key) and not _is_installed("azure.identity"):
            return f"set the environment variable {self.vendor.key} (or install azure-identity and log in)"
        return super().needs()

    async def request(self, inputs: Sequence[Input]) -> Request:
        source = self.between.name(inputs[0], "source")
        path, headers = self.vendor.path, await self._headers()
        if self.translates:
            targets = [{"language": self.between.name(inputs[0], "target")}]
            sent: Any = {"inputs": [{"text": item.text, "language": source, "targets": targets} for item in inputs]}
            if "cognitiveservices" in self.host:  # a resource of one's own has the service beside others
                path = f"/translator/text/v{self.vendor.api}{path}"
        else:
            texts = [{"id": str(place), "text": item.text, "language": source} for place, item in enumerate(inputs)]
            sent = {"kind": self.vendor.operation, "parameters": {}, "analysisInput": {"documents": texts}}
        if self.region:
            headers["Ocp-Apim-Subscription-Region"] = self.region
        return Request(path, json.dumps(sent).encode(), headers)

    async def _headers(self) -> dict[str, str]:
        if key := os.environ.get(self.vendor.key, "").strip():
            self.tokens = {self.vendor.key: key}
            return {"Ocp-Apim-Subscription-Key": key}
        from azure.identity import DefaultAzureCredential

        scope = "https://cognitiveservices.azure.com/.default"
        found = await asyncio.to_thread(DefaultAzureCredential().get_token, scope)
        self.tokens = {"TOKEN OF AZURE": found.token}
        return {"Authorization": f"Bearer {found.token}"}

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Outcome]:
        if self.translates:
            return [outcome_of(partial(self.output, result)) for result in entry(document, "value")]
        results, by_id = entry(document, "results"), {}
        for result in entry(results, "documents"):
            by_id[entry(result, "id")] = outcome_of(partial(self.output, result))
        for failed in inside(results, "errors") or []:
            error = inside(failed, "error", "innererror") or inside(failed, "error")
            code, words = (str(inside(error, name) or "") for name in ("code", "message"))
            by_id[entry(failed, "id")] = self.problem(code, words)
        return [by_id.get(str(place), _NOTHING) for place in range(len(inputs))]


class Google(Connector):
    """Application default credentials, which google-auth finds. Sentiment is a number from -1 to 1: up to `neutral`
    (.25) from zero it is neutral; the score is |number|, or 1 - |number| where neutral."""

    _found: Any = None

    def needs(self) -> str | None:
        """Return what is missing, as far as one can tell without asking anybody: machines of Google Cloud are asked for
        their account where GCE_METADATA_HOST is set."""
        file = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
        folder = os.environ.get("CLOUDSDK_CONFIG") or "~/.config/gcloud"
        usual = Path(folder).expanduser() / "application_default_credentials.json"
        if not _is_installed("google.auth"):
            return install_line("google")
        if file and not Path(file).is_file():
            return "the environment variable GOOGLE_APPLICATION_CREDENTIALS names a file that is not there"
        if not file and not usual.is_file() and not _is_set("GCE_METADATA_HOST"):
            return (
                "set the environment variable GOOGLE_APPLICATION_CREDENTIALS to the file of an account, or run: "
                "gcloud auth application-default login"
            )
        return super().needs()

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        headers, project = await asyncio.to_thread(self._headers)
        project = self.file.project or os.environ.get("GOOGLE_CLOUD_PROJECT") or project
        if self.translates and not project:
            raise AuditError(
                "google-translate: nobody says which project translations are of; set the environment variable "
                'GOOGLE_CLOUD_PROJECT, or project = "..." in google-translate:FILE.toml'
            )
        path = request.path.replace("{project}", project or "").replace("{region}", self.region or "")
        return Request(path, request.sent, headers)

    def _headers(self) -> tuple[dict[str, str], str | None]:
        """Return the headers of a request, and the project that the credentials are of. May ask Google for a token."""
        import google.auth
        from google.auth.exceptions import GoogleAuthError, TransportError
        from google.auth.transport.requests import Request as Transport

        headers: dict[str, str] = {}
        try:
            if self._found is None:
                found, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
                if hasattr(found, "with_always_use_jwt_access"):  # a service account signs its tokens itself
                    found = found.with_always_use_jwt_access(True)
                self._found = found, project
            self._found[0].before_request(Transport(), "POST", self.address, headers)
        except TransportError as problem:
            raise Unanswered(f"no connection to Google's accounts ({problem})") from None
        except (GoogleAuthError, ValueError) as problem:
            reason = f"{self.vendor.vendor} has no credentials; check {self.vendor.accepted} ({problem})"
            raise Declined(reason, final=True) from None
        self.tokens = {"TOKEN OF GOOGLE'S ACCOUNT": headers["authorization"].removeprefix("Bearer ")}
        return headers, self._found[1]

    def output(self, document: Any) -> Output:
        if self.translates:
            return super().output(document)
        said = entry(document, "documentSentiment")
        score = 0 if said == {} or (isinstance(said, dict) and "score" not in said) else entry(said, "score")
        return Output(*self.label_of_number(number(score, "the score")))


class CoreNlp(Connector):
    """A server that somebody started. Each sentence is -1, 0 or 1 by its label. The text is neutral up to a mean of
    `neutral` (.25), so one sentence is what it is. The score is the mean of the probability that its sentences have the
    text's label."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        properties = quote(json.dumps({**self.vendor.fixed, "outputFormat": "json"}))
        # A lone surrogate is in no encoding.
        sent = inputs[0].text.encode("utf-8", "replace")
        path = f"/?properties={properties}&pipelineLanguage=en"
        return Request(path, sent, {"Content-Type": "text/plain; charset=utf-8"})

    def output(self, document: Any) -> Output:
        sentences = entry(document, "sentences")
        if not isinstance(sentences, list) or not sentences:
            raise BadOutput("the answer has no sentences")
        labels = [self.label(entry(sentence, "sentiment")) for sentence in sentences]
        mean = sum({"negative": -1, "neutral": 0, "positive": 1}[label] for label in labels) / len(labels)
        label, confidence = self.label_of_number(mean)
        shares = [self._share(sentence, label) for sentence in sentences if "sentimentDistribution" in sentence]
        return Output(label, sum(shares) / len(shares) if shares else confidence)

    def _share(self, sentence: Any, label: str) -> float:
        distribution, words = entry(sentence, "sentimentDistribution"), self.vendor.labels
        if not isinstance(distribution, list) or len(distribution) != len(words):
            raise BadOutput(f"sentimentDistribution must be {len(words)} numbers, the answer has {distribution!r}")
        shares = zip(words, distribution, strict=True)
        return min(1.0, sum(number(share, "a share") for word, share in shares if self.words[word] == label))


class _Expired(Declined):
    """An access token is not, or no longer, valid."""


class Baidu(Connector):
    """Each request has an access token, which is given for API key and secret key and holds 30 days; a system asks for
    one when it first needs it."""

    _TOKEN = "ACCESS TOKEN OF BAIDU"
    _fetching: asyncio.Lock | None = None

    def code_of(self, document: Any) -> str:
        return super().code_of(document) or str(inside(document, "error") or "")  # the second of requests for tokens

    async def ask(self, inputs: Sequence[Input]) -> list[Any]:
        try:
            return await super().ask(inputs)
        except _Expired:
            self.tokens = {}  # it may be 30 days old: once more with a new one
            return await super().ask(inputs)

    def problem(self, code: str, words: str, status: int = 200, headers: Mapping[str, str] | None = None) -> AuditError:
        problem = super().problem(code, words, status, headers)
        return _Expired(str(problem), final=not self._has_answered) if code in ("110", "111") else problem

    async def request(self, inputs: Sequence[Input]) -> Request:
        self._fetching = self._fetching or asyncio.Lock()
        async with self._fetching:  # once for all requests of this system
            if not self.tokens:
                key, secret = (quote(value, safe="") for value in self.credentials())
                path = f"/oauth/2.0/token?grant_type=client_credentials&client_id={key}&client_secret={secret}"
                self.tokens = {self._TOKEN: str(entry(await self.exchange(Request(path, b"")), "access_token"))}
        request = await super().request(inputs)
        token = quote(self.tokens[self._TOKEN], safe="")
        return replace(request, path=f"{request.path}?charset=UTF-8&access_token={token}")

    async def close_async(self) -> None:
        self._fetching = None  # it belongs to an event loop
        await super().close_async()


def _canonical(query: str, headers: Mapping[str, str], sent: bytes) -> tuple[str, str]:
    """A POST to / as Alibaba and Tencent sign it, hashed, and the names of its headers, which are in small letters."""
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in sorted(headers))
    return _sha256("\n".join(["POST", "/", query, lines, names, _sha256(sent)]).encode()), names


def alibaba_signature(query: str, headers: Mapping[str, str], sent: bytes, secret: str) -> str:
    """Return the signature (ACS3-HMAC-SHA256) of a POST in hexadecimal digits; `query` is the canonical query string.

    https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature
    """
    to_sign = f"ACS3-HMAC-SHA256\n{_canonical(query, headers, sent)[0]}"
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


class Alibaba(Connector):
    """The score is the probability of its label; where that is neutral, 1 - the larger of the others unless the answer
    has its own."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        identity, secret = self.credentials()
        headers = {
            "content-type": request.headers["Content-Type"],
            "host": self.host,
            "x-acs-action": self.vendor.operation,
            "x-acs-version": self.vendor.api,
            "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "x-acs-signature-nonce": uuid4().hex,
            "x-acs-content-sha256": _sha256(request.sent),
        }
        signature = alibaba_signature("", headers, request.sent, secret)
        signed = f"Credential={identity},SignedHeaders={';'.join(sorted(headers))},Signature={signature}"
        return replace(request, headers={**headers, "authorization": f"ACS3-HMAC-SHA256 {signed}"})

    def code_of(self, document: Any) -> str:
        return super().code_of(document).removesuffix("200")

    def output(self, document: Any) -> Output:
        data = entry(document, "Data")
        try:
            result = entry(json.loads(data), "result")
        except (TypeError, ValueError):
            raise BadOutput(f"Data must be a text that is JSON, the answer has {kind(data)}") from None
        label = self.label(entry(result, "sentiment"))
        scores = {name: inside(result, f"{name}_prob") for name in ("positive", "negative", "neutral")}
        if scores["neutral"] is None:
            scores["neutral"] = 1 - max(number(scores[name] or 0, "a share") for name in ("positive", "negative"))
        return Output(label, min(1.0, max(0.0, number(scores[label] or 0, "a probability"))))


def tencent_signature(headers: Mapping[str, str], sent: bytes, moment: int, secret: str) -> tuple[str, str]:
    """Return the scope and the signature (TC3-HMAC-SHA256) of a POST; `moment` is its time in seconds since 1970.

    https://cloud.tencent.com/document/api/213/30654
    """
    date = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
    scope = f"{date}/nlp/tc3_request"
    to_sign = f"TC3-HMAC-SHA256\n{moment}\n{scope}\n{_canonical('', headers, sent)[0]}"
    key = f"TC3{secret}".encode()
    for part in (date, "nlp", "tc3_request", to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return scope, key.hex()


class Tencent(Connector):
    """It is told language and region, so that errors are in English."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        identity, secret = self.credentials()
        moment = int(time.time())
        headers = {"content-type": "application/json", "host": self.host}
        scope, signature = tencent_signature(headers, request.sent, moment, secret)
        signed = f"Credential={identity}/{scope}, SignedHeaders={';'.join(headers)}, Signature={signature}"
        about = {
            "authorization": f"TC3-HMAC-SHA256 {signed}",
            "x-tc-action": self.vendor.operation,
            "x-tc-version": self.vendor.api,
            "x-tc-timestamp": str(moment),
            "x-tc-region": self.region or "",
            "x-tc-language": "en-US",
        }
        return replace(request, headers=headers | about)


def youdao_signature(key: str, text: str, salt: str, moment: str, secret: str) -> str:
    """Return the signature of a request in hexadecimal digits (signType v3); `moment` is its time in seconds since
    1970. Of a text of more than 20 characters its first ten, its length and its last ten are signed."""
    part = text if len(text) <= 20 else f"{text[:10]}{len(text)}{text[-10:]}"
    return _sha256(f"{key}{part}{salt}{moment}{secret}".encode())


class Youdao(Connector):
    """The signature goes into the form."""

    async def request(self, inputs: Sequence[Input]) -> Request:
        request = await super().request(inputs)
        key, secret = self.credentials()
        salt, moment = uuid4().hex, str(int(time.time()))
        sign = youdao_signature(key, inputs[0].text, salt, moment, secret)
        form = f"&appKey={quote(key, safe='')}&salt={salt}&curtime={moment}&signType=v3&sign={sign}"
        return replace(request, sent=request.sent + form.encode())
