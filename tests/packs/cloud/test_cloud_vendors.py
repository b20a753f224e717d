"""What each vendor has of its own: signatures, batches that come in part, tokens, thresholds; and mistakes in files."""

import asyncio
import hashlib
import hmac
import json
import re
from urllib.parse import quote, urlencode

import pytest
from cloud_services import (
    ALL,
    CHINESE,
    ENGLISH,
    IDENTITY,
    SECRET,
    TO_SPANISH,
    TOKEN,
    azure_sentiment,
    comprehend,
    corenlp,
    named,
    running,
    there,
    translation,
)
from hypothesis import given
from hypothesis import strategies as st
from service import Reply, label_of

from audit.errors import AuditError, BadFile, Declined, Unanswered
from audit.packs.cloud import alibaba, azure, youdao
from audit.packs.cloud.connector import outcome_of
from audit.runner.executors.asynchronous import Asynchronous
from audit.runner.executors.batch import Batch
from audit.systems import get_system, listing
from audit.tasks import Input, Output

SERVICES = {simulated.spec: simulated for simulated in ALL}


def service_of(spec):
    there(SERVICES[spec])
    return SERVICES[spec]


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
    signed = alibaba.signature("POST", "/", query, headers, b"", "YourAccessKeySecret")
    assert signed == "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"


def test_alibabas_requests_are_signed_as_they_are_sent(tmp_path, monkeypatch):
    with running(service_of("alibaba-translate"), tmp_path, monkeypatch) as service:
        get_system(service.spec).run([Input.of("So & so, 50 % = half; naïve ~*", target="es")])
    headers = {name.lower(): value for name, value in service.server.headers[0].items()}
    names = re.search(r"SignedHeaders=([^,]+)", headers["authorization"])[1]
    # What came over the wire, written again by the rules of the documentation (RFC 3986).
    sent = urlencode(service.server.bodies[0], quote_via=quote, safe="").encode()
    assert headers["x-acs-content-sha256"] == hashlib.sha256(sent).hexdigest()
    canonical = ["POST", "/", "", *(f"{name}:{headers[name]}" for name in names.split(";")), "", names]
    canonical.append(headers["x-acs-content-sha256"])
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    signed = hmac.new(SECRET.encode(), f"ACS3-HMAC-SHA256\n{digest}".encode(), hashlib.sha256).hexdigest()
    assert headers["authorization"] == (
        f"ACS3-HMAC-SHA256 Credential={IDENTITY},SignedHeaders={names},Signature={signed}"
    )


def test_youdaos_signature():
    # sha256sum of the text that its documentation describes, written out.
    written = b"keyhello" + b"salt" + b"1700000000" + b"secret"
    assert youdao.signature("key", "hello", "salt", "1700000000", "secret") == hashlib.sha256(written).hexdigest()
    long = "0123456789 and a text of more than twenty 9876543210"
    written = b"key0123456789529876543210" + b"salt1700000000secret"
    assert len(long) == 52
    assert youdao.signature("key", long, "salt", "1700000000", "secret") == hashlib.sha256(written).hexdigest()


def test_youdaos_requests_are_signed_as_they_are_sent(tmp_path, monkeypatch):
    text = "It never rains but it pours, naïvely & “quoted”."
    with running(service_of("youdao-translate"), tmp_path, monkeypatch) as service:
        get_system(service.spec).run([Input.of(text, target="zh")])
    form = service.server.bodies[0]
    shortened = f"{text[:10]}{len(text)}{text[-10:]}"
    signed = hashlib.sha256(f"{IDENTITY}{shortened}{form['salt']}{form['curtime']}{SECRET}".encode()).hexdigest()
    assert (form["sign"], form["signType"], form["q"], form["to"]) == (signed, "v3", text, "zh-CHS")


def test_tencents_requests_are_signed_as_they_are_sent(tmp_path, monkeypatch):
    """TC3-HMAC-SHA256, as https://cloud.tencent.com/document/api/551/30636 tells it; its client does it."""
    with running(service_of("tencent-translate"), tmp_path, monkeypatch) as service:
        get_system(service.spec).run([Input.of("It rains.", target="zh")])
    headers = {name.lower(): value for name, value in service.server.headers[0].items()}
    assert (headers["x-tc-action"], headers["x-tc-region"]) == ("TextTranslate", "ap-guangzhou")
    day, names, signature = re.search(
        r"Credential=[^/]+/([-\d]+)/tmt/tc3_request, SignedHeaders=([^,]+), Signature=(\w+)", headers["authorization"]
    ).groups()
    payload = hashlib.sha256(json.dumps(service.server.bodies[0]).encode()).hexdigest()
    canonical = "\n".join(
        ["POST", "/", "", *(f"{name}:{headers[name]}" for name in names.split(";")), "", names, payload]
    )
    scope = f"{day}/tmt/tc3_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"TC3{SECRET}".encode()
    for part in (day, "tmt", "tc3_request", f"TC3-HMAC-SHA256\n{headers['x-tc-timestamp']}\n{scope}\n{digest}"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    assert key.hex() == signature


# Batches


def sizes(service, key):
    return sorted(len(body[key]) for body in service.server.bodies)


def test_batches_are_as_large_as_may_be_and_of_one_language(tmp_path, monkeypatch):
    inputs = [*many(60), *many(3, "de")]
    with running(service_of("comprehend"), tmp_path, monkeypatch) as service:
        outputs = get_system(service.spec).run(inputs)
        assert outputs == [Output(label_of(item.text), 0.7) for item in inputs]
        assert sizes(service, "TextList") == [3, 10, 25, 25]
        assert {body["LanguageCode"] for body in service.server.bodies} == {"en", "de"}
    with running(service_of("azure-language"), tmp_path, monkeypatch) as service:
        get_system(service.spec).run([*many(12), *many(1, "zh")])
        documents = [body["analysisInput"]["documents"] for body in service.server.bodies]
        assert sorted(map(len, documents)) == [1, 2, 10]
        assert {entry["language"] for entries in documents for entry in entries} == {"en", "zh-hans"}


def test_the_texts_of_a_request_are_no_more_than_it_takes(tmp_path, monkeypatch):
    inputs = [Input.of(letter * 20_000, target="es") for letter in "abcde"]
    with running(service_of("azure-translator"), tmp_path, monkeypatch) as service:
        assert get_system(service.spec).run(inputs) == [Output(text=translation(item.text)) for item in inputs]
        assert sizes(service, "inputs") == [1, 2, 2]
        assert service.server.headers[0]["Ocp-Apim-Subscription-Region"] == "westeurope"


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
    with running(service_of("comprehend"), tmp_path, monkeypatch, partly) as service:
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

    with running(service_of("azure-language"), tmp_path, monkeypatch, faults) as service:
        outputs = get_system(service.spec).run(ENGLISH)
        assert service.calls == 2
    assert [output.label is None for output in outputs] == [False, True, False, False]
    assert outputs[1].error == "InvalidArgument: no ${AZURE_LANGUAGE_KEY}"


def test_what_a_run_does_with_a_batch_that_never_comes_whole(tmp_path, monkeypatch):
    """In the executor of runs: the text that fails for ever is an error, the others are answered, each once."""

    def faults(body, number):
        answer = comprehend(body).content
        answer["ErrorList"] = [
            {"Index": place, "ErrorCode": "INTERNAL_SERVER_ERROR", "ErrorMessage": "no"}
            for place, text in enumerate(body["TextList"])
            if "Film 2 " in text
        ]
        failed = {entry["Index"] for entry in answer["ErrorList"]}
        answer["ResultList"] = [entry for entry in answer["ResultList"] if entry["Index"] not in failed]
        return Reply(answer, headers={"Content-Type": "application/x-amz-json-1.1"})

    with running(service_of("comprehend"), tmp_path, monkeypatch, faults, "tries = 2") as service:
        job = Batch(service.spec, "sentiment", ENGLISH, limit=30.0)
        with Asynchronous() as executor:
            executor.submit(job)
            ((_, returned),) = executor.finished()
            outputs = returned.outputs(4)
        sent = [text for body in service.server.bodies for text in body["TextList"]]
    assert [output.error is None for output in outputs] == [True, True, False, True]
    assert "(asked 2 times)" in outputs[2].error
    assert [sent.count(item.text) for item in ENGLISH] == [1, 1, 4, 1]


def test_the_same_text_twice_in_a_call_is_asked_twice(tmp_path, monkeypatch):
    with running(service_of("comprehend"), tmp_path, monkeypatch) as service:
        outputs = get_system(service.spec).run([ENGLISH[0], ENGLISH[0]])
        assert service.server.bodies[0]["TextList"] == [ENGLISH[0].text] * 2
    assert outputs == [Output(label_of(ENGLISH[0].text), 0.7)] * 2


# Answers


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["Positive", "Very positive", "Neutral"], ("positive", 0.5)),
        (["Positive", "Negative"], ("neutral", 0.125)),
        (["Neutral", "Neutral", "Neutral", "Very negative"], ("neutral", 0.40625)),
        (["Neutral", "Neutral", "Very negative"], ("negative", 0.375)),
    ],
)
def test_corenlps_sentences_make_the_label_of_a_text(sentences, expected, tmp_path, monkeypatch):
    spread = {"negative": [0.25, 0.25, 0.125, 0.25, 0.125], "neutral": [0.125, 0.125, 0.5, 0.125, 0.125]}
    kinds = {"Positive": "positive", "Very positive": "positive", "Negative": "negative", "Very negative": "negative"}
    spread["positive"] = [0.125, 0.25, 0.125, 0.25, 0.25]

    def faults(body, number):
        return {
            "sentences": [
                {"sentiment": word, "sentimentDistribution": spread[kinds.get(word, "neutral")]} for word in sentences
            ]
        }

    with running(service_of("corenlp"), tmp_path, monkeypatch, faults) as service:
        (output,) = get_system(service.spec).run(ENGLISH[:1])
    assert output.label == expected[0]
    column = [spread[kinds.get(word, "neutral")] for word in sentences]
    share = {"positive": slice(3, 5), "neutral": slice(2, 3), "negative": slice(0, 2)}[output.label]
    assert output.score == pytest.approx(sum(sum(row[share]) for row in column) / len(column))


def test_corenlp_without_a_distribution_and_where_it_is(tmp_path, monkeypatch):
    def faults(body, number):
        return {"sentences": [{"sentiment": "Positive"}, {"sentiment": "Neutral"}]}

    with running(service_of("corenlp"), tmp_path, monkeypatch, faults) as service:
        assert get_system(service.spec).run(ENGLISH[:1]) == [Output("positive", 0.5)]
        assert service.server.bodies[0] == {"text": ENGLISH[0].text}
        assert "pipelineLanguage=en" in service.server.paths[0]
    assert get_system("corenlp").settings["endpoint"] == "http://localhost:9000"
    assert corenlp({"text": "x"})["sentences"]


@pytest.mark.parametrize(("neutral", "label"), [(0.25, "neutral"), (0.1, "positive")])
def test_googles_numbers_are_neutral_up_to_a_threshold(neutral, label, tmp_path, monkeypatch):
    there(SERVICES["google-language"])

    def faults(body, number):
        return {"documentSentiment": {"score": 0.25, "magnitude": 1.0}}

    with running(service_of("google-language"), tmp_path, monkeypatch, faults, f"neutral = {neutral}") as service:
        system = get_system(service.spec)
        (output,) = system.run(ENGLISH[:1])
    assert (output.label, system.settings["neutral"]) == (label, neutral)
    assert output.score == (0.75 if label == "neutral" else 0.25)


def test_google_translates_for_a_project(tmp_path, monkeypatch):
    with running(service_of("google-translate"), tmp_path, monkeypatch, more='project = "paying"') as service:
        get_system(service.spec).run(TO_SPANISH[:1])
        assert "/projects/paying/locations/global:translateText" in service.server.paths[0]
        assert service.server.bodies[0]["sourceLanguageCode"] == "en"


def test_baidus_token_is_asked_for_once_and_again_when_it_is_old(tmp_path, monkeypatch):
    old = {"error_code": 111, "error_msg": "Access token expired"}
    with running(service_of("baidu-sentiment"), tmp_path, monkeypatch, {1: old}, "concurrency = 1") as service:
        system = get_system(service.spec)
        assert [output.error for output in system.run(CHINESE)] == [None] * 4
        tokens = [path for path in service.server.paths if "/oauth/" in path]
        assert len(tokens) == 2
        assert service.calls == 5
    assert all("access_token=token%2Bmarked%2F9Z" in path for path in service.server.paths if "/oauth/" not in path)
    always = {"error_code": 110, "error_msg": f"Access token invalid: {TOKEN}"}
    with running(service_of("baidu-sentiment"), tmp_path, monkeypatch, lambda body, number: always) as service:
        with pytest.raises(Declined, match=r"refuses the credentials; .*BAIDU_SECRET_KEY") as caught:
            get_system(service.spec).run(CHINESE[:1])
        assert service.calls == 2
    assert TOKEN not in str(caught.value)


def test_baidus_wrong_key_is_told_by_its_token(tmp_path, monkeypatch):
    wrong = Reply({"error": "invalid_client", "error_description": f"unknown client id {IDENTITY}"}, 401)
    with running(service_of("baidu-translate"), tmp_path, monkeypatch) as service:
        answer = service.server.answer
        service.server.answer = lambda body, number: (
            wrong if "/oauth/" in service.server.paths[number] else answer(body, number)
        )
        with pytest.raises(Declined, match=r"check BAIDU_API_KEY .*\(invalid_client: ") as caught:
            get_system(service.spec).run(TO_SPANISH[:1])
    assert IDENTITY not in str(caught.value)


def test_lines_of_a_translation_are_joined(tmp_path, monkeypatch):
    with running(service_of("baidu-translate"), tmp_path, monkeypatch) as service:
        (output,) = get_system(service.spec).run([Input.of("One.\nTwo.", target="es")])
    assert output.text == f"{translation('One.')}\n{translation('Two.')}"


NAMES = """items sentiment confidence score result trans_result dst Data Translated sentences Sentiment
sentimentDistribution SentimentScore Positive TargetText translation translations text"""
"""What stands in answers."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES.split()),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
READERS = [
    *(get_system(simulated.spec).read for simulated in ALL if hasattr(get_system(simulated.spec), "read")),
    get_system("corenlp")._read,
    youdao._read,
    get_system("comprehend")._read,
    azure._translation,
]


@given(JSON)
def test_whatever_an_answer_is_it_is_read_or_an_error(document):
    for read in READERS:
        outcome = outcome_of(lambda read=read: read(document))
        assert isinstance(outcome, Output | AuditError)


# Mistakes


def test_an_unknown_region_is_told_before_anything_is_asked(tmp_path, monkeypatch):
    there(SERVICES["comprehend"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", IDENTITY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    file = tmp_path / "mars.toml"
    file.write_text('region = "mars-north-1"', encoding="utf-8")
    with pytest.raises(AuditError, match=r"mars\.toml: region 'mars-north-1': .* it is in .*eu-west-1"):
        get_system(f"comprehend:{file}").prepare()
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert "AWS_DEFAULT_REGION" in get_system("comprehend").needs()
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert get_system("comprehend").needs() is None
    get_system("comprehend").prepare()


def test_a_file_of_googles_that_is_no_account(tmp_path, monkeypatch):
    there(SERVICES["google-language"])
    file = tmp_path / "account.json"
    file.write_text(json.dumps({"type": "nonsense", "private_key": SECRET}), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    with pytest.raises(Declined, match=r"has no credentials; check GOOGLE_APPLICATION_CREDENTIALS") as caught:
        get_system("google-language").prepare()
    assert SECRET not in str(caught.value)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    assert "names a file that is not there" in get_system("google-language").needs()


@pytest.mark.parametrize(
    ("spec", "text", "says"),
    [
        ("comprehend", 'regoin = "eu-west-1"', "regoin: there is no such key, did you mean 'region'?"),
        ("comprehend", 'region = "eu west"', "region: 'eu west' must be letters, digits and hyphens"),
        (
            "comprehend",
            'labels = { MIXED = "mixed" }',
            "labels: 'mixed' is no label of sentiment; allowed are",
        ),
        ("comprehend", "neutral = 0.3", "neutral: this service has no such setting; leave it out"),
        ("corenlp", 'region = "eu"', "region: this service has no such setting"),
        ("youdao-translate", 'labels = { a = "b" }', "labels: this service has no such setting"),
        ("youdao-translate", 'languages = ["Spanish!"]', "languages: 'Spanish!' is no code such as es"),
        ("youdao-translate", 'codes = { "Chinese!" = "zh" }', "codes: 'Chinese!' is no code such as es"),
        ("corenlp", 'endpoint = "localhost:9000"', "endpoint: 'localhost:9000' must begin with http:// or https://"),
        ("corenlp", 'endpoint = "http://me:pw@host"', "endpoint: has a name or password in it"),
        ("google-language", "neutral = 1", "neutral: 1 must be a number from 0"),
        ("corenlp", "tries = 0", "tries: 0 must be a whole number from 1 to 100"),
    ],
)
def test_mistakes_in_the_file(spec, text, says, tmp_path):
    file = tmp_path / "service.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=re.escape(says)):
        get_system(f"{spec}:{file}")


@pytest.mark.parametrize("simulated", ALL, ids=named)
def test_an_absent_client_is_told_with_the_line_that_installs_it(simulated, monkeypatch):
    monkeypatch.setattr("audit.packs.cloud.connector.find_spec", lambda name: None)
    system = get_system(simulated.spec)
    assert system.needs() == f"pip install 'audit[{type(system).extra}]'"


def test_they_are_not_listed_since_they_cost_money():
    assert not {row["system"] for row in listing()} & set(SERVICES)


def test_nobody_is_there(tmp_path, monkeypatch):
    file = tmp_path / "service.toml"
    file.write_text('endpoint = "http://127.0.0.1:1"\ntries = 1\n', encoding="utf-8")
    with pytest.raises(Unanswered, match="no connection"):
        get_system(f"corenlp:{file}").run(ENGLISH[:1])


def test_asking_from_several_loops_at_once(tmp_path, monkeypatch):
    """A system is used by one loop after the other; each ends its own connections."""
    with running(service_of("youdao-translate"), tmp_path, monkeypatch) as service:
        system = get_system(service.spec)
        for _ in range(2):
            outputs = asyncio.run(once(system))
            assert outputs == [Output(text=translation(TO_SPANISH[0].text))]


async def once(system):
    outputs = await system.run_async(TO_SPANISH[:1])
    await system.close_async()
    return outputs
