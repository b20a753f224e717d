"""Cloud services against replies in the documented formats, on this machine; none was compared with the service."""

import hashlib
import json
import os
import pickle
import re
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import pytest
from service import Reply, serving

from audit.errors import BadOutput, Declined, Unanswered
from audit.systems import get_system
from audit.systems.clouds import alibaba_signature, tencent_signature, youdao_signature
from audit.tasks import Input, Output, get_task

SECRET, IDENTITY, TOKEN = "s3cr3t+marked/7Q==", "identity-marked-51", "token+marked/9Z"
EN = (Input.of("A good film."), Input.of("A dull film."))
ZH = (Input.of("电影很好看。", language="zh"), Input.of("电影很无聊。", language="zh"))
PAIR = (Input.of("我喜欢猫。", "我喜欢狗。", language="zh"),)
ES = (Input.of("A good film.", target="es"),)
SPANISH = (Output(text="Una buena película."),)
BOTH = (Output("positive", 0.7), Output("negative", 0.9))
AMAZON = {"Content-Type": "application/x-amz-json-1.1"}


class Recorded(NamedTuple):
    """A service: where its requests go, what it is asked and replies, one a request; its variables; its errors by what
    they mean ("refused", "again", "input")."""

    path: str
    inputs: tuple[Input, ...]
    replies: tuple[Any, ...]
    outputs: tuple[Output, ...]
    variables: tuple[str, ...] = ()
    errors: tuple[tuple[str, Any], ...] = ()


def amazon(label, **scores):
    scores = dict.fromkeys(("Positive", "Negative", "Neutral", "Mixed"), 0.05) | scores
    return {"Sentiment": label, "SentimentScore": scores}


def azure(label, score):
    scores = {"positive": 0, "neutral": 0, "negative": 0, label: score}
    results = [{"id": "0", "sentiment": label, "confidenceScores": scores}]
    return {"kind": "SentimentAnalysisResults", "results": {"documents": results, "errors": []}}


def corenlp(word, *shares):
    return {"sentences": [{"sentiment": word, "sentimentDistribution": list(shares)}]}


def baidu(number, confidence):
    return {"log_id": 1, "items": [{"sentiment": number, "confidence": confidence, "positive_prob": 0.7}]}


def alibaba(word, **shares):
    return {"RequestId": "1", "Data": json.dumps({"result": {"sentiment": word, **shares}, "success": True})}


def tencent(**response):
    return {"Response": {**response, "RequestId": "1"}}


def azure_error(code, status):
    return Reply({"error": {"code": code, "message": "said so"}}, status)


def google_error(word, status):
    return Reply({"error": {"code": status, "message": "said so", "status": word}}, status)


def amazon_error(code):
    return Reply({"__type": f"com.amazonaws#{code}", "Message": "said so"}, 400, AMAZON)


def errors(make, **codes):
    return tuple((kind, make(*code) if isinstance(code, tuple) else make(code)) for kind, code in codes.items())


def baidu_error(code):
    return {"error_code": code, "error_msg": "said so"}


BAIDU = ("BAIDU_API_KEY", "BAIDU_SECRET_KEY")
GOOGLE = ("GOOGLE_APPLICATION_CREDENTIALS",)
GOOGLE_ERRORS = errors(
    google_error, refused=("PERMISSION_DENIED", 403), again=("RESOURCE_EXHAUSTED", 429), input=("INVALID_ARGUMENT", 400)
)
BAIDU_ERRORS = errors(baidu_error, refused=17, again=18, input=282131)
MOVIE = "Una buena película."
ALL = {
    "comprehend": Recorded(
        "/", EN, (amazon("POSITIVE", Positive=0.7), amazon("NEGATIVE", Negative=0.9)), BOTH,
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        errors(amazon_error, refused="UnrecognizedClientException", again="ThrottlingException",
               input="UnsupportedLanguageException"),
    ),
    "azure-language": Recorded(
        "/language/:analyze-text?api-version=2023-04-01", EN, (azure("positive", 0.7), azure("negative", 0.9)), BOTH,
        ("AZURE_LANGUAGE_KEY",),
        (*errors(azure_error, refused=("401", 401), again=("TooManyRequests", 429), input=("InvalidArgument", 400)),
         ("again", {"results": {"documents": [], "errors": [{"id": "0", "error": {"code": "Timeout"}}]}})),
    ),
    "azure-translator": Recorded(
        "/translate?api-version=2026-06-06", ES,
        ({"value": [{"translations": [{"language": "es", "text": MOVIE}]}]},), SPANISH, ("AZURE_TRANSLATOR_KEY",),
        errors(azure_error, refused=(403002, 403), again=(429001, 429), input=(400036, 400)),
    ),
    "google-language": Recorded(
        "/v2/documents:analyzeSentiment", EN,
        ({"documentSentiment": {"score": 0.7, "magnitude": 1.5}}, {"documentSentiment": {"magnitude": 0.1}}),
        (Output("positive", 0.7), Output("neutral", 1.0)), GOOGLE, GOOGLE_ERRORS,
    ),
    "google-translate": Recorded(
        "/v3/projects/a-project/locations/global:translateText", ES, ({"translations": [{"translatedText": MOVIE}]},),
        SPANISH, GOOGLE, GOOGLE_ERRORS,
    ),
    "corenlp": Recorded(
        "/?properties=%7B%22annotators%22", EN,
        (corenlp("Positive", 0, 0, 0.25, 0.5, 0.25), corenlp("Very negative", 0.5, 0.375, 0.125, 0, 0)),
        (Output("positive", 0.75), Output("negative", 0.875)),
    ),
    "baidu-sentiment": Recorded(
        "/rpc/2.0/nlp/v1/sentiment_classify?charset=UTF-8&access_token=token%2Bmarked%2F9Z",
        ZH, (baidu(2, 0.7), baidu(0, 0.9)), BOTH, BAIDU, BAIDU_ERRORS,
    ),
    "baidu-similarity": Recorded(
        "/rpc/2.0/nlp/v2/simnet?", PAIR, ({"log_id": 1, "score": 0.458},), (Output(score=0.458),), BAIDU, BAIDU_ERRORS
    ),
    "baidu-translate": Recorded(
        "/rpc/2.0/mt/texttrans/v1?", ES,
        ({"result": {"from": "en", "to": "spa", "trans_result": [{"dst": MOVIE}]}, "log_id": 1},), SPANISH,
        BAIDU, BAIDU_ERRORS,
    ),
    "alibaba-sentiment": Recorded(
        "/", ZH,
        (alibaba("正面", positive_prob=0.7, negative_prob=0.2), alibaba("中性", positive_prob=0.2, negative_prob=0.1)),
        (Output("positive", 0.7), Output("neutral", 0.8)),
        ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
        errors(lambda code, status: Reply({"Code": code, "Message": "said so"}, status),
               refused=("InvalidAccessKeyId.NotFound", 404), again=("Throttling.User", 400),
               input=("TextLimitExceeded", 405)),
    ),
    "tencent-sentiment": Recorded(
        "/", ZH, (tencent(Sentiment="positive", Positive=0.7), tencent(Sentiment="negative", Negative=0.9)), BOTH,
        ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY"),
        errors(lambda code: tencent(Error={"Code": code, "Message": "said so"}), refused="AuthFailure.SignatureFailure",
               again="RequestLimitExceeded", input="InvalidParameterValue.TextTooLong"),
    ),
    "youdao-translate": Recorded(
        "/api", ES, ({"errorCode": "0", "query": "A good film.", "translation": [MOVIE], "l": "en2es"},), SPANISH,
        ("YOUDAO_APP_KEY", "YOUDAO_APP_SECRET"),
        errors(lambda code: {"errorCode": code}, refused="401", again="411", input="102"),
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
def running(spec, folder, replies, more="concurrency = 1"):
    """The service in this block, which makes these replies one after the other, or what `replies(body, number)` says;
    yields the spec that asks it, its paths without those of tokens, and its server."""

    def answer(body, number):
        if "/oauth/" in server.paths[number]:
            return {"access_token": TOKEN, "expires_in": 2592000}
        paths.append(server.paths[number])
        place = len(paths) - 1
        return replies(body, place) if callable(replies) else replies[place % len(replies)]

    paths = []
    with serving(answer) as server:
        file = folder / f"{spec}.toml"
        file.write_text(f'endpoint = "{server.url.removesuffix("/classify")}"\n{more}\n', encoding="utf-8")
        yield f"{spec}:{file}", paths, server


@pytest.fixture(params=ALL)
def spec(request):
    return request.param


@pytest.mark.slow
def test_replies_are_outputs_and_no_secret_is_kept(spec, tmp_path):
    recorded = ALL[spec]
    with running(spec, tmp_path, recorded.replies) as (service, paths, _):
        system = get_system(service)
        assert system.needs() is None
        assert tuple(system.run(recorded.inputs)) == recorded.outputs
        assert len(paths) == len(recorded.replies)
        assert all(path.startswith(recorded.path) for path in paths)
        again = pickle.loads(pickle.dumps(system))  # noqa: S301
        assert (again.name, again.version, again.settings) == (spec, system.version, system.settings)
        kept = repr((system.settings, system.summary, pickle.dumps(system)))
        assert not any(secret in kept for secret in (SECRET, TOKEN, IDENTITY))
        assert tuple(again.run(recorded.inputs)) == recorded.outputs  # on another event loop


@pytest.mark.slow
def test_errors_say_whom_they_are_about(spec, tmp_path):
    variable = ("endpoint", *ALL[spec].variables)[-1]
    echo = Reply(f"<p>{SECRET} and {IDENTITY} are\n wrong</p>".encode(), 401)
    for kind, reply in (("refused", echo), *ALL[spec].errors):
        with running(spec, tmp_path, [reply], "tries = 2\nconcurrency = 1") as (service, paths, _):
            with pytest.raises((Declined, Unanswered)) as caught:
                get_system(service).run(ALL[spec].inputs[: 1 + (kind == "refused")])
            problem = caught.value
            assert isinstance(problem, Unanswered) == (kind == "again")
            assert len(paths) == (2 if kind == "again" else 1)  # where the account is refused nothing more is asked
            assert problem.inputs == (kind == "input")
            assert bool(re.search(f"refuses the account; check .*{variable}", str(problem))) == (kind == "refused")
            assert not any(os.environ[name] in str(problem) for name in ALL[spec].variables)
            assert "\n" not in str(problem)


def test_a_label_that_nobody_knows_is_named_and_may_be_said_in_the_file(tmp_path):
    with running("baidu-sentiment", tmp_path, [baidu(7, 0.5)]) as (service, _, _):
        system = get_system(service)
        with pytest.raises(BadOutput, match="label '7' is not one of"):
            get_task("sentiment").checked(system.run(ZH[:1])[0])
        assert system.advice("BadOutput: label '7'").startswith("name that label in labels of ")
    with running("baidu-sentiment", tmp_path, [baidu(7, 0.5)], 'labels."7" = "neutral"') as (service, _, _):
        assert get_system(service).run(ZH[:1])[0].label == "neutral"


def test_texts_that_it_does_not_take_are_not_sent(spec, tmp_path):
    first = ALL[spec].inputs[0]
    with running(spec, tmp_path, ALL[spec].replies) as (service, paths, _):
        system = get_system(service)
        long = Input(("好" * (system.row.most + 1), *first.texts[1:]), first.languages)
        empty = Input((" ", *first.texts[1:]), first.languages)
        outputs = system.run([long, empty])
        assert f"takes {system.row.most:,} at most" in outputs[0].error
        assert "is empty" in outputs[1].error
        assert paths == []


def test_baidus_token_is_asked_for_once_and_never_shown(tmp_path):
    with running("baidu-sentiment", tmp_path, [baidu(2, 0.7)]) as (service, paths, server):
        assert [output.error for output in get_system(service).run(ZH)] == [None, None]
        assert (len(paths), len(server.paths)) == (2, 3)
    refusal = {"error_code": 111, "error_msg": f"expired: {TOKEN}"}
    with (
        running("baidu-sentiment", tmp_path, [refusal]) as (service, *_),
        pytest.raises(Declined, match=r"refuses the account; .*BAIDU_SECRET_KEY") as caught,
    ):
        get_system(service).run(ZH[:1])
    assert TOKEN not in str(caught.value)


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
