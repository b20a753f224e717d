"""The cloud services that tests simulate: what each is sent, what it answers, how it says what went wrong.

They speak the documented formats on this machine; none was ever compared with the service itself.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from service import Reply, Server, label_of, serving

from audit.tasks import Input, Output

SECRET = "s3cr3t+marked/7Q=="
"""What every credential of these tests has in it."""
IDENTITY = "identity-marked-51"
TOKEN = "token+marked/9Z"
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Coded:
    """An answer that is an error in the service's own words. `kind`: "refused", "again", "input" or "closed"."""

    kind: str
    content: Any
    status: int = 200


@dataclass(frozen=True)
class Simulated:
    """A service: how it is set up, asked, and answers."""

    spec: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    answer: Callable[[Body], Any]
    """The right answer to a request."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables; `{url}` and `{account}` are filled in."""
    file: str = ""
    """Lines of its file, beside the endpoint."""
    unknown: Callable[[Body], Any] | None = None
    """An answer with a label that nobody knows."""
    coded: tuple[Coded, ...] = ()
    names: str = ""
    """The variable that the sentence about a wrong key names."""
    token: str = ""
    """A part of the path where it gives a token."""
    endpoint: bool = True
    """Whether the file has the endpoint; else the environment has it."""

    @property
    def requests(self) -> int:
        """How many requests its inputs take."""
        return 1 if self.spec in ("comprehend", "azure-language", "azure-translator") else len(self.inputs)


ENGLISH = tuple(Input.of(f"Film {number} was fine.") for number in range(4))
CHINESE = tuple(Input.of(f"第{number}部电影很好看。", language="zh") for number in range(4))
PAIRS = tuple(Input.of("我喜欢猫。", f"我喜欢狗{number}。", language="zh") for number in range(3))
TO_SPANISH = tuple(Input.of(f"Film {number} was fine.", target="es") for number in range(4))


def labelled(inputs: tuple[Input, ...], score: float | None) -> tuple[Output, ...]:
    return tuple(Output(label_of(item.text), score) for item in inputs)


def translation(text: str) -> str:
    """What every simulated translator says."""
    return f"[es] {text.upper()}"


TRANSLATED = tuple(Output(text=translation(item.text)) for item in TO_SPANISH)


def comprehend(body: Body, word: str = "") -> Any:
    def result(place: int, text: str) -> dict[str, Any]:
        label = word or label_of(text).upper()
        scores = {"Positive": 0.1, "Negative": 0.1, "Neutral": 0.1, "Mixed": 0.1, label.capitalize(): 0.7}
        return {"Index": place, "Sentiment": label, "SentimentScore": scores}

    results = [result(place, text) for place, text in enumerate(body["TextList"])]
    return Reply({"ResultList": results, "ErrorList": []}, headers={"Content-Type": "application/x-amz-json-1.1"})


def azure_sentiment(body: Body, word: str = "") -> Any:
    def document(entry: Body) -> dict[str, Any]:
        label = word or label_of(entry["text"])
        scores = {"positive": 0.1, "neutral": 0.1, "negative": 0.1, label: 0.8}
        return {"id": entry["id"], "sentiment": label, "confidenceScores": scores, "sentences": [], "warnings": []}

    documents = [document(entry) for entry in body["analysisInput"]["documents"]]
    results = {"documents": documents, "errors": [], "modelVersion": "2026-01-01"}
    return {"kind": "SentimentAnalysisResults", "results": results}


def azure_translation(body: Body) -> Any:
    return {
        "value": [
            {"translations": [{"language": entry["targets"][0]["language"], "text": translation(entry["text"])}]}
            for entry in body["inputs"]
        ]
    }


SCORES = {"positive": 0.75, "neutral": 0.0, "negative": -0.75}


def google_sentiment(body: Body) -> Any:
    score = SCORES[label_of(body["document"]["content"])]
    return {"documentSentiment": {"score": score, "magnitude": 1.5}, "languageCode": "en", "sentences": []}


def google_translation(body: Body) -> Any:
    return {"translations": [{"translatedText": translation(text)} for text in body["contents"]]}


def corenlp(body: Body, word: str = "") -> Any:
    label = label_of(body["text"])
    place = {"negative": 1, "neutral": 2, "positive": 3}[label]
    distribution = [0.0625] * 5
    distribution[place] = 0.75
    return {"sentences": [{"sentiment": word or label.capitalize(), "sentimentDistribution": distribution}]}


def baidu_sentiment(body: Body, word: int | None = None) -> Any:
    number = {"negative": 0, "neutral": 1, "positive": 2}[label_of(body["text"])]
    item = {
        "sentiment": number if word is None else word,
        "confidence": 0.4,
        "positive_prob": 0.7,
        "negative_prob": 0.3,
    }
    return {"log_id": 1, "text": body["text"], "items": [item]}


def baidu_similarity(body: Body) -> Any:
    return {"log_id": 1, "texts": dict(body), "score": 0.458}


def baidu_translation(body: Body) -> Any:
    lines = [{"src": line, "dst": translation(line)} for line in body["q"].split("\n")]
    return {"result": {"from": body["from"], "to": body["to"], "trans_result": lines}, "log_id": 1}


def alibaba_sentiment(body: Body, word: str = "") -> Any:
    said = word or {"positive": "正面", "neutral": "中性", "negative": "负面"}[label_of(body["Text"])]
    result = {"positive_prob": 0.6, "negative_prob": 0.6, "neutral_prob": 0.6, "sentiment": said}
    return {"RequestId": "1", "Data": json.dumps({"result": result, "success": True}, ensure_ascii=False)}


def _tencent(response: Any) -> Reply:
    return Reply({"Response": {**response, "RequestId": "1"}}, headers={"Content-Type": "application/json"})


def tencent_sentiment(body: Body, word: str = "") -> Any:
    probabilities = {"Positive": 0.9, "Neutral": 0.9, "Negative": 0.9}
    return _tencent({**probabilities, "Sentiment": word or label_of(body["Text"])})


def youdao(body: Body) -> Any:
    return {"errorCode": "0", "query": body["q"], "translation": [translation(body["q"])], "l": "en2es"}


def _amazon_error(kind: str, code: str, status: int = 400) -> Coded:
    return Coded(kind, Reply({"__type": code, "Message": "said so"}, status, {"x-amzn-errortype": code}), status)


def _azure_error(kind: str, code: str | int, status: int) -> Coded:
    return Coded(kind, {"error": {"code": code, "message": "said so"}}, status)


def _google_error(kind: str, status: int, word: str) -> Coded:
    return Coded(kind, {"error": {"code": status, "message": "said so", "status": word}}, status)


def _tencent_error(kind: str, code: str) -> Coded:
    return Coded(kind, _tencent({"Error": {"Code": code, "Message": "said so"}}))


_AWS = {"AWS_ACCESS_KEY_ID": IDENTITY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "eu-west-1"}
_GOOGLE = {"GOOGLE_APPLICATION_CREDENTIALS": "{account}"}
_BAIDU = {"BAIDU_API_KEY": IDENTITY, "BAIDU_SECRET_KEY": SECRET}
_ALIBABA = {"ALIBABA_CLOUD_ACCESS_KEY_ID": IDENTITY, "ALIBABA_CLOUD_ACCESS_KEY_SECRET": SECRET}
_TENCENT = {"TENCENTCLOUD_SECRET_ID": IDENTITY, "TENCENTCLOUD_SECRET_KEY": SECRET}
_YOUDAO = {"YOUDAO_APP_KEY": IDENTITY, "YOUDAO_APP_SECRET": SECRET}
_BAIDU_ERRORS = (
    Coded("refused", {"error_code": 6, "error_msg": "No permission to access data"}),
    Coded("again", {"error_code": 18, "error_msg": "Open api qps request limit reached"}),
    Coded("closed", {"error_code": 17, "error_msg": "Open api daily request limit reached"}),
    Coded("input", {"error_code": 282131, "error_msg": "input text too long"}),
)
_ALIBABA_ERRORS = (
    Coded("refused", {"Code": "InvalidAccessKeyId.NotFound", "Message": "Specified access key is not found."}, 404),
    Coded("again", {"Code": "Throttling.User", "Message": "Request was denied due to user flow control."}, 400),
)
_TENCENT_ERRORS = (
    _tencent_error("refused", "AuthFailure.SignatureFailure"),
    _tencent_error("again", "RequestLimitExceeded"),
    _tencent_error("closed", "UnsupportedRegion"),
    _tencent_error("input", "InvalidParameterValue.TextTooLong"),
)

ALL = (
    Simulated(
        "comprehend",
        ENGLISH,
        labelled(ENGLISH, 0.7),
        comprehend,
        _AWS,
        unknown=lambda body: comprehend(body, "AMAZED"),
        names="AWS_SECRET_ACCESS_KEY",
        coded=(
            _amazon_error("refused", "UnrecognizedClientException"),
            _amazon_error("again", "ThrottlingException"),
            _amazon_error("input", "UnsupportedLanguageException"),
        ),
    ),
    Simulated(
        "azure-language",
        ENGLISH,
        labelled(ENGLISH, 0.8),
        azure_sentiment,
        {"AZURE_LANGUAGE_KEY": SECRET, "AZURE_LANGUAGE_ENDPOINT": "{url}"},
        unknown=lambda body: azure_sentiment(body, "amazed"),
        names="AZURE_LANGUAGE_KEY",
        coded=(
            _azure_error("refused", "401", 401),
            _azure_error("again", "TooManyRequests", 429),
            _azure_error("input", "InvalidArgument", 400),
        ),
        endpoint=False,
    ),
    Simulated(
        "azure-translator",
        TO_SPANISH,
        TRANSLATED,
        azure_translation,
        {"AZURE_TRANSLATOR_KEY": SECRET},
        'region = "westeurope"',
        names="AZURE_TRANSLATOR_KEY",
        coded=(
            _azure_error("refused", 401000, 401),
            _azure_error("closed", 403002, 403),
            _azure_error("again", 429001, 429),
            _azure_error("input", 400036, 400),
        ),
    ),
    Simulated(
        "google-language",
        ENGLISH,
        tuple(Output(label_of(item.text), 1.0 if label_of(item.text) == "neutral" else 0.75) for item in ENGLISH),
        google_sentiment,
        _GOOGLE,
        names="GOOGLE_APPLICATION_CREDENTIALS",
        coded=(
            _google_error("refused", 403, "PERMISSION_DENIED"),
            _google_error("again", 429, "RESOURCE_EXHAUSTED"),
            _google_error("input", 400, "INVALID_ARGUMENT"),
        ),
    ),
    Simulated(
        "google-translate",
        TO_SPANISH,
        TRANSLATED,
        google_translation,
        _GOOGLE,
        names="GOOGLE_APPLICATION_CREDENTIALS",
        coded=(_google_error("refused", 403, "PERMISSION_DENIED"), _google_error("again", 429, "RESOURCE_EXHAUSTED")),
    ),
    Simulated(
        "corenlp",
        ENGLISH,
        tuple(Output(label_of(item.text), 0.75 if label_of(item.text) == "neutral" else 0.8125) for item in ENGLISH),
        corenlp,
        unknown=lambda body: corenlp(body, "Amazed"),
        names="endpoint",
    ),
    Simulated(
        "baidu-sentiment",
        CHINESE,
        labelled(CHINESE, 0.4),
        baidu_sentiment,
        _BAIDU,
        unknown=lambda body: baidu_sentiment(body, 7),
        names="BAIDU_SECRET_KEY",
        token="/oauth/",
        coded=_BAIDU_ERRORS,
    ),
    Simulated(
        "baidu-similarity",
        PAIRS,
        tuple(Output(score=0.458) for _ in PAIRS),
        baidu_similarity,
        _BAIDU,
        names="BAIDU_SECRET_KEY",
        token="/oauth/",
        coded=_BAIDU_ERRORS,
    ),
    Simulated(
        "baidu-translate",
        TO_SPANISH,
        TRANSLATED,
        baidu_translation,
        _BAIDU,
        names="BAIDU_SECRET_KEY",
        token="/oauth/",
        coded=_BAIDU_ERRORS,
    ),
    Simulated(
        "alibaba-sentiment",
        CHINESE,
        labelled(CHINESE, 0.6),
        alibaba_sentiment,
        _ALIBABA,
        unknown=lambda body: alibaba_sentiment(body, "惊讶"),
        names="ALIBABA_CLOUD_ACCESS_KEY_SECRET",
        coded=(
            *_ALIBABA_ERRORS,
            Coded("closed", {"Code": "BasicServiceNotActivated", "Message": "not been activated"}, 400),
            Coded("input", {"Code": "TextLimitExceeded", "Message": "too long"}, 405),
        ),
    ),
    Simulated(
        "tencent-sentiment",
        CHINESE,
        labelled(CHINESE, 0.9),
        tencent_sentiment,
        _TENCENT,
        unknown=lambda body: tencent_sentiment(body, "amazed"),
        names="TENCENTCLOUD_SECRET_KEY",
        coded=_TENCENT_ERRORS,
    ),
    Simulated(
        "youdao-translate",
        TO_SPANISH,
        TRANSLATED,
        youdao,
        _YOUDAO,
        names="YOUDAO_APP_SECRET",
        coded=(
            Coded("refused", {"errorCode": "202"}),
            Coded("again", {"errorCode": "411"}),
            Coded("closed", {"errorCode": "401"}),
            Coded("input", {"errorCode": "102"}),
        ),
    ),
)


def named(value: Any) -> str:
    """The name of a case in the names of tests."""
    return value.spec if isinstance(value, Simulated) else f"{value.kind}-{value.status}"


@cache
def private_key() -> str:
    """A key of an account, as Google's files have it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def account(folder: Path) -> Path:
    """A file of a service account of Google's, which signs its tokens itself."""
    content = {
        "type": "service_account",
        "project_id": "a-project",
        "private_key_id": "1",
        "private_key": private_key(),
        "client_email": "tests@a-project.example",
        "client_id": "2",
        "token_uri": "http://127.0.0.1:1/token",
    }
    path = folder / "account.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@dataclass
class Running:
    """A simulated service that runs, and the spec that asks it."""

    server: Server
    spec: str
    simulated: Simulated

    @property
    def calls(self) -> int:
        """Requests that were no requests for tokens."""
        token = self.simulated.token
        return sum(not token or token not in path for path in list(self.server.paths))


@contextmanager
def running(
    simulated: Simulated,
    folder: Path,
    monkeypatch: Any,
    faults: Mapping[int, Any] | Callable[[Body, int], Any] | None = None,
    more: str = "",
    delay: float = 0.0,
) -> Iterator[Running]:
    """The service in this block. `faults`: what it answers to the requests of these numbers instead of what is right,
    or a function of body and number that returns None where it answers right."""

    def answer(body: dict[str, Any], number: int) -> Any:
        path = server.paths[number]
        if simulated.token and simulated.token in path:
            return {"access_token": TOKEN, "expires_in": 2592000}
        place = sum(not simulated.token or simulated.token not in before for before in server.paths[:number])
        fault = faults(body, place) if callable(faults) else (faults or {}).get(place)
        return simulated.answer(body) if fault is None else fault

    with serving(answer, delay) as server:
        url = server.url.removesuffix("/classify")
        for name, value in simulated.environment.items():
            file = str(account(folder)) if "{account}" in value else ""
            monkeypatch.setenv(name, value.replace("{url}", url).replace("{account}", file))
        described = folder / f"{simulated.spec}.toml"
        endpoint = f'endpoint = "{url}"\n' if simulated.endpoint else ""
        described.write_text(f"# A simulated service.\n{endpoint}{simulated.file}\n{more}", encoding="utf-8")
        yield Running(server, f"{simulated.spec}:{described}", simulated)
