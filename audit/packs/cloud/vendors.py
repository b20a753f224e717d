"""The vendors: what each documents of limits, credentials, codes of errors, and what is sent and answered."""

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, urlencode
from uuid import uuid4

from audit.errors import AuditError, BadOutput, Declined, Unanswered, install_line
from audit.packs.cloud.connector import (
    Connector,
    Outcome,
    Request,
    entry,
    inside,
    number,
    outcome_of,
    score_of,
    text,
)
from audit.systems.remote_file import EVERY, kind
from audit.tasks import Input, Output

Table = Mapping[str, str]
_SAME: Table = {"positive": "positive", "negative": "negative", "neutral": "neutral"}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _table(pairs: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in pairs.split())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _is_set(*variables: str) -> bool:
    return any(os.environ.get(name, "").strip() for name in variables)


# Amazon


class Comprehend(Connector):
    """The system `comprehend`: sentiment. The score is that of its label; a text that is MIXED is neutral.

    https://docs.aws.amazon.com/comprehend/latest/APIReference/API_BatchDetectSentiment.html: 25 texts of one language
    in a request, of 5,000 bytes each; texts that it failed at come in an ErrorList of their own. Credentials are found,
    and requests signed (Signature Version 4), by botocore.
    """

    spec, vendor = "comprehend", "Amazon Comprehend"
    operation, api = "BatchDetectSentiment", "2017-11-27"
    spoken = ("ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "pt", "zh", "zh-TW")
    labels: ClassVar[Table] = {"POSITIVE": "positive", "NEGATIVE": "negative", "NEUTRAL": "neutral", "MIXED": "neutral"}
    endpoint = ""
    options = frozenset({"region"})
    most, unit, documents = 5_000, "bytes", 25
    accepted = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or AWS_PROFILE"
    code_at, words_at = ("__type",), ("Message",)
    refused = _set(
        "UnrecognizedClientException InvalidSignatureException SignatureDoesNotMatch AccessDeniedException "
        "ExpiredTokenException ExpiredToken IncompleteSignature MissingAuthenticationToken "
        "InvalidClientTokenId OptInRequired"
    )
    again = _set(
        "ThrottlingException Throttling TooManyRequestsException RequestLimitExceeded InternalServerException "
        "INTERNAL_SERVER_ERROR InternalServerError"
    )

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
            return f"set the environment variables {self.accepted}"
        if not self.place and not exist[1] and not _is_set("AWS_DEFAULT_REGION"):
            return 'set the environment variable AWS_DEFAULT_REGION, or region = "..." in comprehend:FILE.toml'
        return None

    _session: Any = None

    @property
    def address(self) -> str:
        return super().address or f"https://comprehend.{self._region}.amazonaws.com"

    @property
    def _region(self) -> str:
        return self.place or (self._session.get_config_variable("region") if self._session else None) or ""

    async def request(self, inputs: Sequence[Input]) -> Request:
        sent = {"TextList": [item.text for item in inputs], "LanguageCode": self.language(inputs[0])}
        return await asyncio.to_thread(self._signed, json.dumps(sent).encode())

    def _signed(self, sent: bytes) -> Request:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session

        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": "Comprehend_20171127." + self.operation,
        }
        try:
            self._session = self._session or Session()
            credentials = self._session.get_credentials()
            if credentials is None or not self._region:
                raise Declined(f"set {self.accepted}, and AWS_DEFAULT_REGION", final=True)
            frozen = credentials.get_frozen_credentials()
        except BotoCoreError as problem:
            raise Declined(f"check {self.accepted} ({problem})", final=True) from None
        names = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
        values = (frozen.secret_key, frozen.token, frozen.access_key)
        self.tokens = {name: value for name, value in zip(names, values, strict=True) if value}
        request = AWSRequest("POST", f"{self.address}/", data=sent, headers=headers)
        SigV4Auth(frozen, "comprehend", self._region).add_auth(request)
        return Request("/", sent, dict(request.headers.items()))

    def code_of(self, document: Any) -> str:
        return super().code_of(document).rpartition("#")[2].partition(":")[0]

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Outcome]:
        outcomes: list[Outcome] = [BadOutput("the answer says nothing of this text")] * len(inputs)
        for result in entry(document, "ResultList"):
            outcomes[self._place(result, len(inputs))] = outcome_of(partial(self.output, result))
        for error in inside(document, "ErrorList") or []:
            code, words = (str(inside(error, name) or "") for name in ("ErrorCode", "ErrorMessage"))
            outcomes[self._place(error, len(inputs))] = self.problem(code, words)
        return outcomes

    def _place(self, result: Any, size: int) -> int:
        place = entry(result, "Index")
        if not isinstance(place, int) or not 0 <= place < size:
            raise BadOutput(f"the answer has a text of Index {place!r}, {size} were asked")
        return place

    def output(self, document: Any) -> Output:
        word = entry(document, "Sentiment")
        return Output(self.label(word), score_of(entry(document, "SentimentScore"), str(word).capitalize()))


# Microsoft


class _Azure(Connector):
    """A key in the environment, or what azure-identity finds where it is installed."""

    key: ClassVar[str]
    code_at, words_at = ("error", "code"), ("error", "message")
    refused = _set("401 403 401000 403000 403001 Unauthorized Forbidden PermissionDenied")
    again = _set(
        "429 429000 429001 429002 TooManyRequests ServiceUnavailable Timeout InternalServerError 500000 503000"
    )
    closed = frozenset({"QuotaExceeded", "403002"})

    def needs(self) -> str | None:
        if not _is_set(self.key) and not _is_installed("azure.identity"):
            return f"set the environment variable {self.key} (or install azure-identity and log in)"
        return super().needs()

    async def headers(self) -> dict[str, str]:
        """Return the headers of a request."""
        self.tokens = {self.key: self.secret(self.key)}
        if self.tokens[self.key]:
            return {"Ocp-Apim-Subscription-Key": self.tokens[self.key]}
        from azure.identity import DefaultAzureCredential

        found = await asyncio.to_thread(
            DefaultAzureCredential().get_token, "https://cognitiveservices.azure.com/.default"
        )
        self.tokens = {"TOKEN OF AZURE": found.token}
        return {"Authorization": f"Bearer {found.token}"}


class AzureLanguage(_Azure):
    """The system `azure-language`: sentiment of documents. The score is that of its label; one that is mixed is
    neutral with neutral's score, since Azure gives none for mixed.

    https://learn.microsoft.com/rest/api/language/analyze-text/analyze-text (kind SentimentAnalysis), 10 texts of 5,120
    characters in a request (https://learn.microsoft.com/azure/ai-services/language-service/concepts/data-limits); texts
    that it failed at have errors of their own.
    """

    spec, vendor = "azure-language", "Azure AI Language"
    operation, api = "SentimentAnalysis", "2023-04-01"
    spoken = (EVERY,)
    codes: ClassVar[Table] = {"zh": "zh-hans", "zh-TW": "zh-hant"}
    labels: ClassVar[Table] = {**_SAME, "mixed": "neutral"}
    endpoint = "${AZURE_LANGUAGE_ENDPOINT}"
    most, documents = 5_120, 10
    key = "AZURE_LANGUAGE_KEY"
    accepted = "AZURE_LANGUAGE_KEY and AZURE_LANGUAGE_ENDPOINT, which belong to one resource"

    async def request(self, inputs: Sequence[Input]) -> Request:
        language = self.language(inputs[0])
        texts = [{"id": str(place), "text": item.text, "language": language} for place, item in enumerate(inputs)]
        sent = {"kind": self.operation, "parameters": {}, "analysisInput": {"documents": texts}}
        return Request(f"/language/:analyze-text?api-version={self.api}", sent, await self.headers())

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Outcome]:
        results = entry(document, "results")
        by_id: dict[str, Outcome] = {}
        for result in entry(results, "documents"):
            by_id[str(entry(result, "id"))] = outcome_of(partial(self.output, result))
        for failed in inside(results, "errors") or []:
            error = inside(failed, "error", "innererror") or inside(failed, "error")
            code, words = (str(inside(error, name) or "") for name in ("code", "message"))
            by_id[str(entry(failed, "id"))] = self.problem(code, words)
        return [
            by_id.get(str(place), BadOutput("the answer says nothing of this text")) for place in range(len(inputs))
        ]

    def output(self, document: Any) -> Output:
        word, scores = entry(document, "sentiment"), entry(document, "confidenceScores")
        label = self.label(word)
        score = score_of(scores, str(word))
        return Output(label, score_of(scores, label) if score is None else score)


class AzureTranslator(_Azure):
    """The system `azure-translator`: translation of plain text.

    https://learn.microsoft.com/azure/ai-services/translator, 50,000 characters in a request.
    """

    spec, vendor = "azure-translator", "Azure Translator"
    operation, api = "translate", "2026-06-06"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Table] = {"zh": "zh-Hans", "zh-TW": "zh-Hant"}
    endpoint = "https://api.cognitive.microsofttranslator.com"
    options = frozenset({"region"})
    most, in_request, documents = 50_000, 50_000, 25
    key = "AZURE_TRANSLATOR_KEY"
    accepted = "AZURE_TRANSLATOR_KEY, and region of its file, which is that of the key's resource"

    async def request(self, inputs: Sequence[Input]) -> Request:
        source, targets = self.language(inputs[0]), [{"language": self.language(inputs[0], "target")}]
        sent = {"inputs": [{"text": item.text, "language": source, "targets": targets} for item in inputs]}
        headers = await self.headers() | ({"Ocp-Apim-Subscription-Region": self.place} if self.place else {})
        # A resource of one's own has the service beside others.
        folder = f"/translator/text/v{self.api}" if "cognitiveservices" in self.host else ""
        return Request(f"{folder}/translate?api-version={self.api}", sent, headers)

    def read(self, document: Any, inputs: Sequence[Input]) -> list[Outcome]:
        return [outcome_of(partial(self.output, result)) for result in entry(document, "value")]

    def output(self, document: Any) -> Output:
        return Output(text=text(entry(document, "translations", 0, "text")))


# Google


class _Google(Connector):
    """Application default credentials, which google-auth finds."""

    accepted = "GOOGLE_APPLICATION_CREDENTIALS, and whether the account may use the service in this project"
    code_at, words_at = ("error", "status"), ("error", "message")
    again = frozenset({"INTERNAL", "RESOURCE_EXHAUSTED", "UNAVAILABLE"})
    refused = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})

    def needs(self) -> str | None:
        """Return what is missing, as far as one can tell without asking anybody: machines of Google Cloud are asked for
        their account where GCE_METADATA_HOST is set."""
        if not _is_installed("google.auth"):
            return install_line("google")
        file = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
        folder = os.environ.get("CLOUDSDK_CONFIG") or "~/.config/gcloud"
        usual = Path(folder).expanduser() / "application_default_credentials.json"
        if file and not Path(file).is_file():
            return "the environment variable GOOGLE_APPLICATION_CREDENTIALS names a file that is not there"
        if not file and not usual.is_file() and not _is_set("GCE_METADATA_HOST"):
            return (
                "set the environment variable GOOGLE_APPLICATION_CREDENTIALS to the file of an account, or run: "
                "gcloud auth application-default login"
            )
        return super().needs()

    def _headers(self) -> tuple[dict[str, str], str | None]:
        """Return the headers of a request, and the project that the credentials are of. Asks Google for a token."""
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
            raise Declined(f"{self.vendor} has no credentials; check {self.accepted} ({problem})", final=True) from None
        headers = {name.title(): value for name, value in headers.items()}
        self.tokens = {"TOKEN OF GOOGLE'S ACCOUNT": headers["Authorization"].removeprefix("Bearer ")}
        return headers, self._found[1]

    _found: Any = None


class GoogleLanguage(_Google):
    """The system `google-language`: sentiment of documents, a number from -1 to 1.

    It has no labels: up to `neutral` (.25) from zero it is neutral; the score is |number|, or 1 - |number| where
    neutral. https://cloud.google.com/natural-language/docs/reference/rest/v2/documents/analyzeSentiment: one text in a
    request, of 1,000,000 bytes at most.
    """

    spec, vendor = "google-language", "Google Cloud Natural Language"
    operation, api = "analyzeSentiment", "v2"
    spoken = (EVERY,)
    codes: ClassVar[Table] = {"zh": "zh", "zh-TW": "zh-Hant"}
    endpoint = "https://language.googleapis.com"
    neutral = 0.25
    options = frozenset({"neutral"})
    most, unit = 1_000_000, "bytes"

    async def request(self, inputs: Sequence[Input]) -> Request:
        headers, _ = await asyncio.to_thread(self._headers)
        item = inputs[0]
        document = {"content": item.text, "type": "PLAIN_TEXT", "languageCode": self.language(item)}
        return Request("/v2/documents:analyzeSentiment", {"document": document, "encodingType": "UTF8"}, headers)

    def output(self, document: Any) -> Output:
        said = entry(document, "documentSentiment")
        score = number(said.get("score", 0), "the score") if isinstance(said, dict) else entry(said, "score")
        return Output(*self.label_of_number(score))


class GoogleTranslate(_Google):
    """The system `google-translate`: translation of plain text by the general model of the third version.

    https://cloud.google.com/translate/docs/reference/rest/v3/projects.locations/translateText: 30,000 characters in a
    request; one text in each here, so that no error is of another text.
    """

    spec, vendor = "google-translate", "Google Cloud Translation"
    operation, api = "translateText", "v3"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Table] = {"zh": "zh-CN"}
    endpoint = "https://translate.googleapis.com"
    region = "global"
    options = frozenset({"region", "project"})
    most = 30_000

    async def request(self, inputs: Sequence[Input]) -> Request:
        headers, project = await asyncio.to_thread(self._headers)
        project = self.file.project or self.secret("GOOGLE_CLOUD_PROJECT") or project
        if not project:
            raise AuditError(
                "google-translate: nobody says which project translations are of; set the environment variable "
                'GOOGLE_CLOUD_PROJECT, or project = "..." in google-translate:FILE.toml'
            )
        item = inputs[0]
        sent = {
            "contents": [item.text],
            "mimeType": "text/plain",
            "sourceLanguageCode": self.language(item),
            "targetLanguageCode": self.language(item, "target"),
        }
        return Request(f"/v3/projects/{project}/locations/{self.place}:translateText", sent, headers)

    def output(self, document: Any) -> Output:
        return Output(text=text(entry(document, "translations", 0, "translatedText")))


# Stanford


class CoreNlp(Connector):
    """The system `corenlp`: sentiment of a text, from that of its sentences, by a server that somebody started.

    Each sentence is -1, 0 or 1 by its label. The text is neutral up to a mean of `neutral` (.25), so one sentence is
    what it is. The score is the mean of the probability that its sentences have the text's label.

    https://stanfordnlp.github.io/CoreNLP/corenlp-server.html: the text is the body, the properties are a parameter of
    the address, and a server takes 100,000 characters unless it was started with another maxCharLength.
    https://stanfordnlp.github.io/CoreNLP/sentiment.html: five words for each sentence, of a model of English.
    """

    spec, vendor = "corenlp", "Stanford CoreNLP"
    operation, api = "sentiment", "4"
    spoken = ("en",)
    # In the order of a sentence's sentimentDistribution.
    labels: ClassVar[Table] = {
        "Very negative": "negative",
        "Negative": "negative",
        "Neutral": "neutral",
        "Positive": "positive",
        "Very positive": "positive",
    }
    endpoint = "http://localhost:9000"
    neutral = 0.25
    options = frozenset({"neutral"})
    fixed: ClassVar[Mapping[str, object]] = {"annotators": "tokenize,ssplit,pos,parse,sentiment"}
    most = 100_000
    accepted = "the endpoint of its file: a server that asks for a name and password cannot be asked"

    async def request(self, inputs: Sequence[Input]) -> Request:
        properties = quote(json.dumps({"annotators": self.fixed["annotators"], "outputFormat": "json"}))
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
        distribution = entry(sentence, "sentimentDistribution")
        if not isinstance(distribution, list) or len(distribution) != len(self.labels):
            raise BadOutput(
                f"sentimentDistribution must be {len(self.labels)} numbers, the answer has {distribution!r}"
            )
        shares = zip(self.labels, distribution, strict=True)
        named = [number(share, "sentimentDistribution") for word, share in shares if self.words[word] == label]
        return min(1.0, sum(named))


# Baidu


class _Baidu(Connector):
    """Each request has an access token, which is given for API key and secret key and holds 30 days
    (https://ai.baidu.com/ai-doc/REFERENCE/Ck3dwjhhu); a system asks for one when it first needs it."""

    endpoint = "https://aip.baidubce.com"
    variables = ("BAIDU_API_KEY", "BAIDU_SECRET_KEY")
    accepted = "BAIDU_API_KEY and BAIDU_SECRET_KEY"
    code_at, words_at = ("error_code",), ("error_msg",)
    expired = frozenset({"110", "111"})
    """Codes of an access token that is not (or no longer) valid."""
    refused = frozenset({"invalid_client", "invalid_request", "6", "13", "14", "15", "100", *expired})
    again = frozenset({"2", "4", "18", "1", "282000", "31001", "31104", "20003"})
    closed = frozenset({"3", "17", "19", "31202"})
    path: ClassVar[str]
    _fetching: asyncio.Lock | None = None

    def body(self, item: Input) -> dict[str, str]:
        """Return what is sent."""
        raise NotImplementedError

    def code_of(self, document: Any) -> str:
        return super().code_of(document) or str(inside(document, "error") or "")  # the second of requests for tokens

    async def request(self, inputs: Sequence[Input]) -> Request:
        token = quote(await self._access_token(), safe="")
        path = f"{self.path}?charset=UTF-8&access_token={token}"
        return Request(path, self.body(inputs[0]), {"Content-Type": "application/json; charset=utf-8"})

    async def exchange(self, request: Request) -> Any:
        token = self.tokens.get("ACCESS TOKEN OF BAIDU", "")
        try:
            return await super().exchange(request)
        except Declined as problem:
            if not token or not any(f"({code}: " in str(problem) for code in self.expired):
                raise
        self.tokens = {}  # it may be 30 days old: once more with a new one
        new = quote(await self._access_token(), safe="")
        path = request.path.replace(quote(token, safe=""), new)
        return await super().exchange(Request(path, request.sent, request.headers))

    async def _access_token(self) -> str:
        """Return the access token, asked for once for all requests of this system."""
        self._fetching = self._fetching or asyncio.Lock()
        async with self._fetching:
            if not self.tokens:
                key, secret = (quote(self.secret(name), safe="") for name in self.variables)
                path = f"/oauth/2.0/token?grant_type=client_credentials&client_id={key}&client_secret={secret}"
                self.tokens = {
                    "ACCESS TOKEN OF BAIDU": text(entry(await super().exchange(Request(path, b"")), "access_token"))
                }
        return self.tokens["ACCESS TOKEN OF BAIDU"]

    async def close_async(self) -> None:
        self._fetching = None  # it belongs to an event loop
        await super().close_async()


class BaiduSentiment(_Baidu):
    """The system `baidu-sentiment`: sentiment of Chinese texts, of three labels; the score is its confidence.

    https://cloud.baidu.com/doc/NLP/s/zk6z52hds: 2,048 characters.
    """

    spec, vendor = "baidu-sentiment", "Baidu sentiment analysis"
    operation, api = "sentiment_classify", "v1"
    spoken = ("zh",)
    labels: ClassVar[Table] = {"0": "negative", "1": "neutral", "2": "positive"}
    most = 2_048
    path = "/rpc/2.0/nlp/v1/sentiment_classify"

    def body(self, item: Input) -> dict[str, str]:
        return {"text": item.text}

    def output(self, document: Any) -> Output:
        first = entry(document, "items", 0)
        return Output(self.label(entry(first, "sentiment")), number(entry(first, "confidence"), "the confidence"))


class BaiduSimilarity(_Baidu):
    """The system `baidu-similarity`: similarity of two short Chinese texts, from 0 to 1.

    https://ai.baidu.com/ai-doc/NLP/ek6z52frp: 512 bytes a text, counted as UTF-8 here.
    """

    spec, vendor = "baidu-similarity", "Baidu short text similarity"
    operation, api = "simnet", "v2"
    tasks = ("similarity",)
    spoken = ("zh",)
    most, unit = 512, "bytes"
    path = "/rpc/2.0/nlp/v2/simnet"

    def body(self, item: Input) -> dict[str, str]:
        return {"text_1": item.texts[0], "text_2": item.texts[1]}

    def output(self, document: Any) -> Output:
        return Output(score=min(1.0, max(0.0, number(entry(document, "score"), "the score"))))


class BaiduTranslate(_Baidu):
    """The system `baidu-translate`: translation; lines are translated one by one, and joined again.

    https://cloud.baidu.com/doc/MT/s/4kqryjku9: 6,000 characters.
    """

    spec, vendor = "baidu-translate", "Baidu text translation"
    operation, api = "texttrans", "v1"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Table] = _table(
        "ja:jp ko:kor fr:fra es:spa ar:ara bg:bul et:est da:dan fi:fin ro:rom sl:slo sv:swe vi:vie zh-TW:cht"
    )
    most = 6_000
    path = "/rpc/2.0/mt/texttrans/v1"

    def body(self, item: Input) -> dict[str, str]:
        return {"q": item.text, "from": self.language(item), "to": self.language(item, "target")}

    def output(self, document: Any) -> Output:
        lines = entry(document, "result", "trans_result")
        if not isinstance(lines, list) or not lines:
            raise BadOutput(f"trans_result must be a list of lines, the answer has {kind(lines)}")
        return Output(text="\n".join(text(entry(line, "dst")) for line in lines))


# Alibaba


def alibaba_signature(path: str, query: str, headers: Mapping[str, str], sent: bytes, secret: str) -> str:
    """Return the signature of a POST in hexadecimal digits. `query` is the canonical query string; the names of
    `headers` are in small letters; all of them are signed."""
    names = sorted(headers)
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
    canonical = "\n".join(["POST", path, query, lines, ";".join(names), _sha256(sent)])
    to_sign = f"ACS3-HMAC-SHA256\n{_sha256(canonical.encode())}"
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


class AlibabaSentiment(Connector):
    """The system `alibaba-sentiment`: sentiment of Chinese texts. The score is the probability of its label; where that
    is neutral, 1 - the larger of the others unless the answer has its own.

    https://help.aliyun.com/document_detail/179345.html (GetSaChGeneral, 1,000 characters); signature:
    https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature (ACS3-HMAC-SHA256).
    """

    spec, vendor = "alibaba-sentiment", "Alibaba Cloud NLP"
    operation, api = "GetSaChGeneral", "2020-06-29"
    spoken = ("zh",)
    labels: ClassVar[Table] = {"正面": "positive", "中性": "neutral", "负面": "negative"}
    endpoint = "https://alinlp.{region}.aliyuncs.com"
    region = "cn-hangzhou"
    options = frozenset({"region"})
    most = 1_000
    variables = ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET")
    accepted = "ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET"
    code_at, words_at = ("Code",), ("Message",)
    refused = _set(
        "InvalidAccessKeyId.NotFound InvalidAccessKeyId.Inactive InvalidAccessKeyId SignatureDoesNotMatch "
        "Forbidden.NoAuth Forbidden.RAM NoPermission 10009 10011"
    )
    again = _set(
        "Throttling Throttling.User Throttling.Api ServiceUnavailable 10001 InternalError FrameworkError 10002 10012 "
        "19999"
    )
    closed = _set("UserStatusInvalid BasicServiceNotActivated 10010 10013 InvalidVersion InvalidAction.NotFound")

    async def request(self, inputs: Sequence[Input]) -> Request:
        sent = urlencode({"ServiceCode": "alinlp", "Text": inputs[0].text}, quote_via=quote, safe="").encode()
        identity, secret = map(self.secret, self.variables)
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "host": self.host,
            "x-acs-action": self.operation,
            "x-acs-version": self.api,
            "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "x-acs-signature-nonce": uuid4().hex,
            "x-acs-content-sha256": _sha256(sent),
        }
        signed = alibaba_signature("/", "", headers, sent, secret)
        names = ";".join(sorted(headers))
        headers["authorization"] = f"ACS3-HMAC-SHA256 Credential={identity},SignedHeaders={names},Signature={signed}"
        return Request("/", sent, headers)

    def code_of(self, document: Any) -> str:
        return super().code_of(document).removesuffix("200")

    def output(self, document: Any) -> Output:
        data = entry(document, "Data")
        try:
            result = entry(json.loads(data), "result")
        except (TypeError, ValueError):
            raise BadOutput(f"Data must be a text that is JSON, the answer has {kind(data)}") from None
        scores = {name: score_of(result, f"{name}_prob") for name in _SAME}
        others = max(scores["positive"] or 0.0, scores["negative"] or 0.0)
        scores["neutral"] = 1 - others if scores["neutral"] is None else scores["neutral"]
        label = self.label(entry(result, "sentiment"))
        return Output(label, min(1.0, max(0.0, scores[label] or 0.0)))


# Tencent


def tencent_signature(service: str, headers: Mapping[str, str], sent: bytes, moment: int, secret: str) -> str:
    """Return the signature of a POST in hexadecimal digits. The names of `headers` are in small letters; all of them
    are signed; `moment` is the time in seconds since 1970."""
    names = sorted(headers)
    lines = "".join(f"{name}:{headers[name].strip().lower()}\n" for name in names)
    canonical = "\n".join(["POST", "/", "", lines, ";".join(names), _sha256(sent)])
    date = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
    to_sign = f"TC3-HMAC-SHA256\n{moment}\n{date}/{service}/tc3_request\n{_sha256(canonical.encode())}"
    key = f"TC3{secret}".encode()
    for part in (date, service, "tc3_request", to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


class TencentSentiment(Connector):
    """The system `tencent-sentiment`: sentiment of short Chinese texts; the score is the probability of its label.

    https://cloud.tencent.com/document/product/271/90712 (AnalyzeSentiment, 200 characters); signature:
    https://cloud.tencent.com/document/api/213/30654 (TC3-HMAC-SHA256). Errors come with status 200.
    """

    spec, vendor = "tencent-sentiment", "Tencent Cloud NLP"
    operation, api = "AnalyzeSentiment", "2019-04-08"
    spoken = ("zh",)
    labels: ClassVar[Table] = _SAME
    endpoint = "https://nlp.tencentcloudapi.com"
    region = "ap-guangzhou"
    options = frozenset({"region"})
    most = 200
    variables = ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY")
    accepted = "TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY"
    code_at, words_at = ("Response", "Error", "Code"), ("Response", "Error", "Message")
    refused = _set(
        "AuthFailure AuthFailure.InvalidSecretId AuthFailure.SecretIdNotFound AuthFailure.SignatureFailure "
        "AuthFailure.SignatureExpire AuthFailure.TokenFailure AuthFailure.UnauthorizedOperation "
        "UnauthorizedOperation"
    )
    again = _set(
        "RequestLimitExceeded LimitExceeded FailedOperation.RequestTimeout InternalError "
        "InternalError.BackendTimeout InternalError.ErrorUnknown ServerError"
    )
    closed = _set(
        "UnsupportedRegion ResourceUnavailable ResourceInsufficient FailedOperation.NoFreeAmount "
        "FailedOperation.ServiceIsolate FailedOperation.UserNotRegistered FailedOperation.StopUsing"
    )

    async def request(self, inputs: Sequence[Input]) -> Request:
        sent = json.dumps({"Text": inputs[0].text}).encode()
        identity, secret = map(self.secret, self.variables)
        moment = int(time.time())
        signed = {"content-type": "application/json", "host": self.host}
        signature = tencent_signature("nlp", signed, sent, moment, secret)
        date = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
        scope = f"{identity}/{date}/nlp/tc3_request"
        names = ";".join(sorted(signed))
        return Request(
            "/",
            sent,
            {
                **signed,
                "authorization": f"TC3-HMAC-SHA256 Credential={scope}, SignedHeaders={names}, Signature={signature}",
                "x-tc-action": self.operation,
                "x-tc-version": self.api,
                "x-tc-timestamp": str(moment),
                "x-tc-region": self.place or "",
                "x-tc-language": "en-US",
            },
        )

    def output(self, document: Any) -> Output:
        response = entry(document, "Response")
        word = entry(response, "Sentiment")
        return Output(self.label(word), score_of(response, str(word).capitalize()))


# Youdao


def youdao_signature(key: str, text: str, salt: str, moment: str, secret: str) -> str:
    """Return the signature of a request in hexadecimal digits (signType v3); `moment` is its time in seconds since
    1970. Of a text of more than 20 characters its first ten, its length and its last ten are signed."""
    part = text if len(text) <= 20 else f"{text[:10]}{len(text)}{text[-10:]}"
    return _sha256(f"{key}{part}{salt}{moment}{secret}".encode())


class YoudaoTranslate(Connector):
    """The system `youdao-translate`: translation of a text; lines that it translates one by one are joined again.

    https://ai.youdao.com/DOCSIRMA/html/trans/api/wbfy/index.html: a form with the text, of 5,000 characters at most.
    Codes of errors come without words: 108 is no such application, 110 one that is not bound to the service, 202 a
    wrong signature, 401 no money left, 411 too many requests, 102 languages that it has not.
    """

    spec, vendor = "youdao-translate", "Youdao text translation"
    operation, api = "api", "v3"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Table] = {"zh": "zh-CHS", "zh-TW": "zh-CHT"}
    endpoint = "https://openapi.youdao.com"
    most = 5_000
    variables = ("YOUDAO_APP_KEY", "YOUDAO_APP_SECRET")
    accepted = "YOUDAO_APP_KEY and YOUDAO_APP_SECRET"
    code_at, words_at = ("errorCode",), ("msg",)
    refused = frozenset({"108", "110", "111", "202", "203", "205"})
    again = frozenset({"411", "412", "206", "207", "301", "303", "304", "305", "1001", "2004", "3001"})
    closed = frozenset({"401"})

    async def request(self, inputs: Sequence[Input]) -> Request:
        item = inputs[0]
        key, secret = map(self.secret, self.variables)
        salt, moment = uuid4().hex, str(int(time.time()))
        form = {
            "q": item.text,
            "from": self.language(item),
            "to": self.language(item, "target"),
            "appKey": key,
            "salt": salt,
            "curtime": moment,
            "signType": "v3",
            "sign": youdao_signature(key, item.text, salt, moment, secret),
        }
        return Request("/api", urlencode(form).encode(), {"Content-Type": "application/x-www-form-urlencoded"})

    def output(self, document: Any) -> Output:
        lines = entry(document, "translation")
        if not isinstance(lines, list) or not lines:
            raise BadOutput(f"translation must be a list of texts, the answer has {kind(lines)}")
        return Output(text="\n".join(map(text, lines)))
