"""Tencent Cloud's sentiment, by its common client (tencentcloud-sdk-python-common), which signs with
TC3-HMAC-SHA256 and knows every service by name.

https://cloud.tencent.com/document/product/271/90712 (AnalyzeSentiment, 200 characters). Errors come with status 200.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from audit.errors import AuditError
from audit.packs.cloud.connector import Outcome, WithClient, entry, outcome_of, score_of, unreachable, unread
from audit.tasks import Input, Output


class _Status(Exception):
    """An answer of another status than 200, of which the client keeps only the words."""

    def __init__(self, status: int, headers: dict[str, str], words: str):
        super().__init__(words)
        self.status, self.headers = status, headers


class _Tencent(WithClient):
    variables = ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY")
    accepted = "TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY"
    module, extra = "tencentcloud", "tencent"
    region = "ap-guangzhou"
    options = frozenset({"region"})
    refusals = frozenset(
        {
            "AuthFailure",
            "AuthFailure.InvalidSecretId",
            "AuthFailure.SecretIdNotFound",
            "AuthFailure.SignatureFailure",
            "AuthFailure.SignatureExpire",
            "AuthFailure.TokenFailure",
            "AuthFailure.UnauthorizedOperation",
            "UnauthorizedOperation",
        }
    )
    crowding = frozenset({"RequestLimitExceeded", "LimitExceeded", "FailedOperation.RequestTimeout"})
    failures = frozenset({"InternalError", "InternalError.BackendTimeout", "InternalError.ErrorUnknown", "ServerError"})
    closings = frozenset(
        {
            "UnsupportedRegion",
            "ResourceUnavailable",
            "ResourceInsufficient",
            "FailedOperation.NoFreeAmount",
            "FailedOperation.ServiceIsolate",
            "FailedOperation.UserNotRegistered",
            "FailedOperation.StopUsing",
        }
    )
    product: ClassVar[str]

    def make_client(self) -> Any:
        from tencentcloud.common.common_client import CommonClient
        from tencentcloud.common.credential import Credential
        from tencentcloud.common.profile.client_profile import ClientProfile
        from tencentcloud.common.profile.http_profile import HttpProfile

        class Client(CommonClient):  # type: ignore[misc]
            def _check_status(self, response: Any) -> None:
                if response.status_code != 200:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    words = response.content.decode("utf-8", "replace")
                    raise _Status(response.status_code, headers, words)

        parts = urlsplit(self.address)
        seconds = max(1, round(self.file.timeout))  # the whole request has its own limit
        http = HttpProfile(protocol=parts.scheme, endpoint=parts.netloc, reqTimeout=seconds, keepAlive=True)
        identity, secret = (self.secrets()[name] for name in self.variables)
        profile = ClientProfile(httpProfile=http, signMethod="TC3-HMAC-SHA256", language="en-US")
        return Client(self.product, self.api, Credential(identity, secret), self._region, profile)

    def translated(self, problem: Exception) -> AuditError:
        import requests
        from tencentcloud.common.exception.tencent_cloud_sdk_exception import TencentCloudSDKException

        if isinstance(problem, _Status):
            return self.problem(f"HTTP {problem.status}", str(problem), problem.status, problem.headers)
        if isinstance(problem, TencentCloudSDKException):
            if problem.code == "ClientNetworkError":
                return unreachable(problem, "region and endpoint")
            if problem.code == "UnsupportedRegion":
                return self.problem(problem.code, f"{problem.message}; set another region in its file")
            return self.problem(str(problem.code), str(problem.message))
        if isinstance(problem, requests.exceptions.JSONDecodeError):
            return unread(problem)
        if isinstance(problem, requests.RequestException):
            return unreachable(problem, "region and endpoint")
        return unread(problem)

    def parameters(self, item: Input) -> dict[str, object]:
        """What is sent."""
        raise TypeError(f"{type(self).__name__} must define parameters")

    def read(self, response: Any) -> Output:
        """What the answer means. Raises BadOutput."""
        raise TypeError(f"{type(self).__name__} must define read")

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        parameters = self.parameters(inputs[0])
        document = await self.in_thread(lambda client: client.call_json(self.operation, parameters))
        response = entry(document, "Response")
        return [outcome_of(lambda: self.read(response))]


class TencentSentiment(_Tencent):
    """The system `tencent-sentiment`: sentiment of short Chinese texts; the score is the probability of its label."""

    spec = "tencent-sentiment"
    service = "Tencent Cloud NLP"
    operation = "AnalyzeSentiment"
    api = "2019-04-08"
    tasks = ("sentiment",)
    spoken = ("zh",)
    labels: ClassVar[Mapping[str, str]] = {"positive": "positive", "neutral": "neutral", "negative": "negative"}
    endpoint = "https://nlp.tencentcloudapi.com"
    most = 200
    product = "nlp"

    def parameters(self, item: Input) -> dict[str, object]:
        return {"Text": item.text}

    def read(self, response: Any) -> Output:
        word = entry(response, "Sentiment")
        return Output(self.label(word), score_of(response, str(word).capitalize()))
