"""What each vendor has of its own: signatures, batches that come in part, tokens, thresholds; and mistakes in files."""

import hashlib
import re

import pytest
from cloud_services import (
    ALL,
    CHINESE,
    ENGLISH,
    SECRET,
    TOKEN,
    azure_sentiment,
    comprehend,
    running,
)
from service import Reply, label_of

from audit.errors import BadFile, Declined
from audit.packs.cloud.vendors import alibaba_signature, tencent_signature, youdao_signature
from audit.systems import get_system
from audit.tasks import Input, Output

SERVICES = {simulated.spec: simulated for simulated in ALL}


def many(number, language="en"):
    return [Input.of(f"Film {place} was fine.", language=language) for place in range(number)]


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


def test_youdaos_signature():
    # sha256sum of the text that its documentation describes, written out.
    written = b"keyhello" + b"salt" + b"1700000000" + b"secret"
    assert youdao_signature("key", "hello", "salt", "1700000000", "secret") == hashlib.sha256(written).hexdigest()
    long = "0123456789 and a text of more than twenty 9876543210"
    written = b"key0123456789529876543210" + b"salt1700000000secret"
    assert len(long) == 52
    assert youdao_signature("key", long, "salt", "1700000000", "secret") == hashlib.sha256(written).hexdigest()


def test_tencents_signature_is_that_of_its_own_client():
    """What tencentcloud-sdk-python-common 3.1.195 sends at this time."""
    headers = {"content-type": "application/json", "host": "nlp.tencentcloudapi.com"}
    _, signed = tencent_signature(headers, b'{"Text": "\\u597d"}', 1_700_000_000, "SECRET")
    assert signed == "5a0dd67307950b8c25ba1a987ad1fb9eb026fd2d279d826e26b952d57c6e4c89"


# Batches


def sizes(service, key):
    return sorted(len(body[key]) for body in service.server.bodies)


def test_batches_are_as_large_as_may_be_and_of_one_language(tmp_path, monkeypatch):
    inputs = [*many(60), *many(3, "de")]
    with running(SERVICES.get("comprehend"), tmp_path, monkeypatch) as service:
        outputs = get_system(service.spec).run(inputs)
        assert outputs == [Output(label_of(item.text), 0.7) for item in inputs]
        assert sizes(service, "TextList") == [3, 10, 25, 25]
        assert {body["LanguageCode"] for body in service.server.bodies} == {"en", "de"}
    with running(SERVICES.get("azure-language"), tmp_path, monkeypatch) as service:
        get_system(service.spec).run([*many(12), *many(1, "zh")])
        documents = [body["analysisInput"]["documents"] for body in service.server.bodies]
        assert sorted(map(len, documents)) == [1, 2, 10]
        assert {entry["language"] for entries in documents for entry in entries} == {"en", "zh-hans"}


def partly(body, number):
    """The second text of each request fails for good, the third one in the first request only."""
    answer = comprehend(body).content
    failing = {text for text in body["TextList"] if "Film 1 " in text or ("Film 2 " in text and number == 0)}
    for place, text in enumerate(body["TextList"]):
        if text in failing:
            code = "TEXT_SIZE_LIMIT_EXCEEDED" if "Film 1 " in text else "INTERNAL_SERVER_ERROR"
            answer["ErrorList"].append({"Index": place, "ErrorCode": code, "ErrorMessage": f"no {SECRET}"})
    answer["ResultList"] = [entry for entry in answer["ResultList"] if body["TextList"][entry["Index"]] not in failing]
    return Reply(answer, headers={"Content-Type": "application/x-amz-json-1.1"})


def test_comprehends_batches_that_come_in_part(tmp_path, monkeypatch):
    with running(SERVICES.get("comprehend"), tmp_path, monkeypatch, partly) as service:
        outputs = get_system(service.spec).run(ENGLISH)
        texts = [body["TextList"] for body in service.server.bodies]
    assert [output.label for output in outputs] == [label_of(ENGLISH[0].text), None, *map(label_of, last_two())]
    assert outputs[1].error == "TEXT_SIZE_LIMIT_EXCEEDED: no ${AWS_SECRET_ACCESS_KEY}"
    # What was answered, right or wrong, is not paid for twice.
    assert texts == [[item.text for item in ENGLISH], [ENGLISH[2].text]]


def last_two():
    return [item.text for item in ENGLISH[2:]]


def test_azures_batches_that_come_in_part(tmp_path, monkeypatch):
    def faults(body, number):
        documents = body["analysisInput"]["documents"]
        answer = azure_sentiment(body)
        for entry in documents:
            if "Film 1 " in entry["text"] or ("Film 2 " in entry["text"] and number == 0):
                code = "InvalidArgument" if "Film 1 " in entry["text"] else "InternalServerError"
                error = {"id": entry["id"], "error": {"code": code, "message": f"no {SECRET}"}}
                answer["results"]["errors"].append(error)
        failed = {error["id"] for error in answer["results"]["errors"]}
        answer["results"]["documents"] = [d for d in answer["results"]["documents"] if d["id"] not in failed]
        return answer

    with running(SERVICES.get("azure-language"), tmp_path, monkeypatch, faults) as service:
        outputs = get_system(service.spec).run(ENGLISH)
        assert service.calls == 2
    assert [output.label is None for output in outputs] == [False, True, False, False]
    assert outputs[1].error == "InvalidArgument: no ${AZURE_LANGUAGE_KEY}"


# Answers


def test_baidus_token_is_asked_for_once_and_again_when_it_is_old(tmp_path, monkeypatch):
    old = {"error_code": 111, "error_msg": "Access token expired"}
    with running(SERVICES.get("baidu-sentiment"), tmp_path, monkeypatch, {1: old}, "concurrency = 1") as service:
        system = get_system(service.spec)
        assert [output.error for output in system.run(CHINESE)] == [None] * 4
        tokens = [path for path in service.server.paths if "/oauth/" in path]
        assert len(tokens) == 2
        assert service.calls == 5
    assert all("access_token=token%2Bmarked%2F9Z" in path for path in service.server.paths if "/oauth/" not in path)
    always = {"error_code": 110, "error_msg": f"Access token invalid: {TOKEN}"}
    with running(SERVICES.get("baidu-sentiment"), tmp_path, monkeypatch, lambda body, number: always) as service:
        with pytest.raises(Declined, match=r"refuses the credentials; .*BAIDU_SECRET_KEY") as caught:
            get_system(service.spec).run(CHINESE[:1])
        assert service.calls == 2
    assert TOKEN not in str(caught.value)


# Mistakes


@pytest.mark.parametrize(
    ("spec", "text", "says"),
    [
        ("comprehend", 'regoin = "eu-west-1"', "regoin: there is no such key, did you mean 'region'?"),
        ("corenlp", 'region = "eu"', "region: this service has no such setting"),
        ("youdao-translate", 'codes = { "Chinese!" = "zh" }', "codes: 'Chinese!' is no code such as es"),
        ("corenlp", "tries = 0", "tries: 0 must be a whole number from 1 to 100"),
    ],
)
def test_mistakes_in_the_file(spec, text, says, tmp_path):
    file = tmp_path / "service.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=re.escape(says)):
        get_system(f"{spec}:{file}")
