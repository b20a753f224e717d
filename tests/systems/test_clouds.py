"""Cloud services against replies in the documented formats, on this machine; none was compared with the service."""

import hashlib
import json
import os
import pickle
import re
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from service import Reply, serving

from audit.errors import BadOutput, Declined, Unanswered
from audit.systems import get_system
from audit.systems.clouds import alibaba_signature, tencent_signature, youdao_signature
from audit.tasks import Input, Output, get_task

SECRET, IDENTITY, TOKEN = "s3cr3t+marked/7Q==", "identity-marked-51", "token+marked/9Z"
EN, ZH = Input.of("A good film."), Input.of("电影很好看。", language="zh")
PAIR, ES = Input.of("我喜欢猫。", "我喜欢狗。", language="zh"), Input.of("A good film.", target="es")
GOOD, SPANISH = Output("positive", 0.7), Output(text="Una buena película.")


class Recorded(NamedTuple):
    """A service: where its requests go, what it is asked and replies; its variables; its errors by what they mean
    ("refused", "again", "input")."""

    path: str
    asked: Input
    reply: Any
    output: Output
    variables: tuple[str, ...] = ()
    errors: Mapping[str, Any] = MappingProxyType({})


def amazon(code):
    return Reply({"__type": f"com.amazonaws#{code}", "Message": "said so"}, 400)


def errors(status, code):
    """As Azure and Google say it."""
    return Reply({"error": {"code": code, "message": "said so", "status": code}}, status)


def baidu(code):
    return {"error_code": code, "error_msg": "said so"}


def alibaba(code, status):
    return Reply({"Code": code, "Message": "said so"}, status)


def tencent(code):
    return {"Response": {"Error": {"Code": code, "Message": "said so"}, "RequestId": "1"}}


GOOGLE, BAIDU = ("GOOGLE_APPLICATION_CREDENTIALS",), ("BAIDU_API_KEY", "BAIDU_SECRET_KEY")
OF_GOOGLE = {
    "refused": errors(403, "PERMISSION_DENIED"), "again": errors(429, "RESOURCE_EXHAUSTED"),
    "input": errors(400, "INVALID_ARGUMENT"),
}  # fmt: skip
OF_BAIDU = {"refused": baidu(17), "again": baidu(18), "input": baidu(282131)}
AZURE = {"sentiment": "positive", "confidenceScores": {"positive": 0.7, "neutral": 0.2, "negative": 0.1}}
ALL = {
    "comprehend": Recorded(
        "/", EN, {"Sentiment": "POSITIVE", "SentimentScore": {"Positive": 0.7, "Negative": 0.1}}, GOOD,
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        {"refused": amazon("UnrecognizedClientException"), "again": amazon("ThrottlingException"),
         "input": amazon("UnsupportedLanguageException")},
    ),
    "azure-language": Recorded(
        "/language/:analyze-text?api-version=2023-04-01", EN, {"results": {"documents": [AZURE], "errors": []}}, GOOD,
        ("AZURE_LANGUAGE_KEY",),
        {"refused": errors(401, "401"), "input": errors(400, "InvalidArgument"),
         "again": {"results": {"documents": [], "errors": [{"id": "0", "error": {"code": "Timeout"}}]}}},
    ),
    "azure-translator": Recorded(
        "/translate?api-version=2026-06-06", ES, {"value": [{"translations": [{"text": SPANISH.text}]}]}, SPANISH,
        ("AZURE_TRANSLATOR_KEY",),
        {"refused": errors(403, 403002), "again": errors(429, 429001), "input": errors(400, 400036)},
    ),
    "google-language": Recorded(
        "/v2/documents:analyzeSentiment", EN, {"documentSentiment": {"score": 0.7, "magnitude": 1.5}}, GOOD, GOOGLE,
        OF_GOOGLE,
    ),
    "google-translate": Recorded(
        "/v3/projects/a-project/locations/global:translateText", ES,
        {"translations": [{"translatedText": SPANISH.text}]}, SPANISH, GOOGLE, OF_GOOGLE,
    ),
    "corenlp": Recorded(
        "/?properties=%7B%22annotators%22", EN,
        {"sentences": [{"sentiment": "Positive", "sentimentDistribution": [0, 0, 0.25, 0.5, 0.25]}]},
        Output("positive", 0.75),
    ),
    "baidu-sentiment": Recorded(
        "/rpc/2.0/nlp/v1/sentiment_classify?charset=UTF-8&access_token=token%2Bmarked%2F9Z", ZH,
        {"items": [{"sentiment": 2, "confidence": 0.7}]}, GOOD, BAIDU, OF_BAIDU,
    ),
    "baidu-similarity": Recorded(
        "/rpc/2.0/nlp/v2/simnet?", PAIR, {"log_id": 1, "score": 0.458}, Output(score=0.458), BAIDU, OF_BAIDU
    ),
    "baidu-translate": Recorded(
        "/rpc/2.0/mt/texttrans/v1?", ES, {"result": {"trans_result": [{"dst": SPANISH.text}]}}, SPANISH, BAIDU, OF_BAIDU
    ),
    "alibaba-sentiment": Recorded(
        "/", ZH, {"Data": json.dumps({"result": {"sentiment": "中性", "positive_prob": 0.2, "negative_prob": 0.1}})},
        Output("neutral", 0.8), ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
        {"refused": alibaba("InvalidAccessKeyId.NotFound", 404), "again": alibaba("Throttling.User", 400),
         "input": alibaba("TextLimitExceeded", 405)},
    ),
    "tencent-sentiment": Recorded(
        "/", ZH, {"Response": {"Sentiment": "positive", "Positive": 0.7}}, GOOD,
        ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY"),
        {"refused": tencent("AuthFailure.SignatureFailure"), "again": tencent("RequestLimitExceeded"),
         "input": tencent("InvalidParameterValue.TextTooLong")},
    ),
    "youdao-translate": Recorded(
        "/api", ES, {"errorCode": "0", "query": "A good film.", "translation": [SPANISH.text]}, SPANISH,
        ("YOUDAO_APP_KEY", "YOUDAO_APP_SECRET"),
        {"refused": {"errorCode": "401"}, "again": {"errorCode": "411"}, "input": {"errorCode": "102"}},
    ),
}  # fmt: skip


@cache
def private_key() -> str:
    """A key of an account, as Google's files have it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    forms = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(*forms).decode()


@pytest.fixture(autouse=True)
def credentials(monkeypatch, tmp_path):
    """Those of the tests, and of nobody else; waits between tries take no time."""
    monkeypatch.setattr("audit.systems.endpoint.FIRST_WAIT", 0.001)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "GCE_METADATA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "CLOUDSDK_CONFIG"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "a-project")
    for name in {name for recorded in ALL.values() for name in recorded.variables}:
        monkeypatch.setenv(name, IDENTITY if name.endswith(("_ID", "API_KEY", "APP_KEY")) else SECRET)
    account = {
        "type": "service_account",
        "project_id": "a-project",
        "private_key": private_key(),
        "client_email": "tests@a-project.example",
        "token_uri": "http://127.0.0.1:1/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))


@contextmanager
def running(spec, folder, reply, more=""):
    """The service in this block, which makes this reply, with an access token for who asks for one; yields the spec
    that asks it, and the paths that were asked, without those of tokens."""

    def answer(body, number):
        if "/oauth/" in server.paths[number]:
            return {"access_token": TOKEN, "expires_in": 2592000}
        paths.append(server.paths[number])
        return reply

    paths = []
    with serving(answer) as server:
        file = folder / f"{spec}.toml"
        file.write_text(f'endpoint = "{server.url.removesuffix("/classify")}"\nconcurrency = 1\n{more}\n')
        yield f"{spec}:{file}", paths


@pytest.fixture(params=ALL)
def spec(request):
    return request.param


@pytest.mark.slow
def test_replies_are_outputs_and_no_secret_is_kept(spec, tmp_path):
    recorded = ALL[spec]
    with running(spec, tmp_path, recorded.reply) as (service, paths):
        system = get_system(service)
        assert system.needs() is None
        assert system.run([recorded.asked] * 2) == [recorded.output] * 2
        assert len(paths) == 2
        assert all(path.startswith(recorded.path) for path in paths)
        again = pickle.loads(pickle.dumps(system))  # noqa: S301
        assert (again.name, again.version, again.settings) == (spec, system.version, system.settings)
        kept = repr((system.settings, system.summary, pickle.dumps(system)))
        assert not any(secret in kept for secret in (SECRET, TOKEN, IDENTITY))
        assert again.run([recorded.asked]) == [recorded.output]  # on another event loop


@pytest.mark.slow
def test_errors_say_whom_they_are_about(spec, tmp_path):
    recorded = ALL[spec]
    variable = ("endpoint", *recorded.variables)[-1]
    echo = Reply(f"<p>{SECRET} and {IDENTITY} and {TOKEN} are\n wrong</p>".encode(), 401)
    for kind, reply in (("refused", echo), *recorded.errors.items()):
        with running(spec, tmp_path, reply, "tries = 2") as (service, paths):
            with pytest.raises((Declined, Unanswered)) as caught:
                get_system(service).run([recorded.asked] * (1 + (kind == "refused")))
            problem = caught.value
            assert isinstance(problem, Unanswered) == (kind == "again")
            assert len(paths) == (2 if kind == "again" else 1)  # where the account is refused nothing more is asked
            assert problem.inputs == (kind == "input")
            assert bool(re.search(f"refuses the account; check .*{variable}", str(problem))) == (kind == "refused")
            assert not any(os.environ[name] in str(problem) for name in recorded.variables)
            assert "\n" not in str(problem)
            assert TOKEN not in str(problem) or not spec.startswith("baidu")


def test_a_label_that_nobody_knows_is_named_and_may_be_said_in_the_file(tmp_path):
    reply = {"items": [{"sentiment": 7, "confidence": 0.5}]}
    with running("baidu-sentiment", tmp_path, reply) as (service, _):
        (output,) = get_system(service).run([ZH])
    with pytest.raises(BadOutput, match="label '7' is not one of"):
        get_task("sentiment").checked(output)
    with running("baidu-sentiment", tmp_path, reply, 'labels."7" = "neutral"') as (service, _):
        assert get_system(service).run([ZH])[0].label == "neutral"


def test_texts_that_it_does_not_take_are_not_sent(spec, tmp_path):
    first = ALL[spec].asked
    with running(spec, tmp_path, ALL[spec].reply) as (service, paths):
        system = get_system(service)
        long = Input(("好" * (system.row["most"] + 1), *first.texts[1:]), first.languages)
        empty = Input((" ", *first.texts[1:]), first.languages)
        outputs = system.run([long, empty])
    assert f"takes {system.row['most']:,} at most" in outputs[0].error
    assert "is empty" in outputs[1].error
    assert paths == []


# Signatures


def test_alibabas_signature_is_that_of_its_documentation():
    """The example of "Request syntax and signature method V3" (version of June 2026)."""
    headers = {
        "host": "ecs.cn-shanghai.aliyuncs.com",
        "x-acs-action": "RunInstances",
        "x-acs-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "x-acs-date": "2023-10-26T10:22:32Z",
        "x-acs-signature-nonce": "3156853299f313e23d1673dc12e1703d",
        "x-acs-version": "2014-05-26",
    }
    query = "ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai"
    signed = alibaba_signature(query, headers, b"", "YourAccessKeySecret")
    assert signed == "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"


def test_tencents_signature_is_that_of_its_own_client():
    """What tencentcloud-sdk-python-common 3.1.195 sends at this time."""
    headers = {"content-type": "application/json", "host": "nlp.tencentcloudapi.com"}
    _, signed = tencent_signature(headers, b'{"Text": "\\u597d"}', 1_700_000_000, "SECRET")
    assert signed == "5a0dd67307950b8c25ba1a987ad1fb9eb026fd2d279d826e26b952d57c6e4c89"


def test_youdaos_signature():
    long = "0123456789 and a text of more than twenty 9876543210"
    written = b"key0123456789529876543210" + b"salt1700000000secret"
    assert youdao_signature("key", long, "salt", "1700000000", "secret") == hashlib.sha256(written).hexdigest()
