"""Amazon Comprehend, by boto3.

https://docs.aws.amazon.com/comprehend/latest/APIReference/API_BatchDetectSentiment.html: 25 texts of one language in a
request, of 5,000 bytes each; texts that it failed at come in an ErrorList of their own.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from audit.errors import AuditError, BadOutput, Declined
from audit.packs.cloud.connector import Outcome, WithClient, entry, outcome_of, score_of, unreachable, unread
from audit.tasks import Input, Output

_AGAIN_LATER = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"})


class Comprehend(WithClient):
    """The system `comprehend`: sentiment. The score is that of its label; a text that is MIXED is neutral."""

    spec = "comprehend"
    service = "Amazon Comprehend"
    operation = "BatchDetectSentiment"
    api = "2017-11-27"
    tasks = ("sentiment",)
    spoken = ("ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "pt", "zh", "zh-TW")
    labels: ClassVar[Mapping[str, str]] = {
        "POSITIVE": "positive",
        "NEGATIVE": "negative",
        "NEUTRAL": "neutral",
        "MIXED": "neutral",
    }
    endpoint = ""
    options = frozenset({"region"})
    most, unit, documents = 5_000, "bytes", 25
    module, extra = "boto3", "aws"
    shared = True
    accepted = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or AWS_PROFILE"
    refusals = frozenset(
        {
            "UnrecognizedClientException",
            "InvalidSignatureException",
            "SignatureDoesNotMatch",
            "AccessDeniedException",
            "ExpiredTokenException",
            "ExpiredToken",
            "IncompleteSignature",
            "MissingAuthenticationToken",
            "InvalidClientTokenId",
            "OptInRequired",
        }
    )
    crowding = _AGAIN_LATER
    failures = frozenset({"InternalServerException", "INTERNAL_SERVER_ERROR", "InternalServerError"})

    @property
    def address(self) -> str:
        """Where it is; boto3 knows where a region's is, so this stands for it."""
        return super().address or "https://comprehend.amazonaws.com"

    def unset(self) -> str | None:
        """What is missing, as far as one can tell without asking anybody: roles of machines are looked up when it is
        asked, where AWS_EC2_METADATA_DISABLED is "false"."""
        variables = (
            *("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
            *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        )
        files = {"AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials", "AWS_CONFIG_FILE": "~/.aws/config"}
        exist = [Path(os.environ.get(name, usual)).expanduser().is_file() for name, usual in files.items()]
        role = os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "false"
        if not role and not any(exist) and not any(os.environ.get(name) for name in variables):
            return f"set the environment variables {self.accepted}"
        if not self._region and not exist[1] and not os.environ.get("AWS_DEFAULT_REGION"):
            return 'set the environment variable AWS_DEFAULT_REGION, or region = "..." in comprehend:FILE.toml'
        return super().unset()

    def secrets(self) -> dict[str, str]:
        named = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
        secrets = {name: os.environ.get(name, "").strip() for name in named}
        if (chain := getattr(self._held, "client", (None, None))[1]) is not None:
            frozen = chain.get_frozen_credentials()
            values = (frozen.secret_key, frozen.token, frozen.access_key)
            secrets |= {name: value for name, value in zip(named, values, strict=True) if value}
        return secrets

    def make_client(self) -> tuple[Any, Any]:
        """boto3's client, and the credentials that its chain found."""
        import boto3
        from botocore.config import Config

        session = boto3.Session()
        region = self._region or session.region_name
        if region and not self._endpoint:
            regions = [
                name
                for partition in session.get_available_partitions()
                for name in session.get_available_regions(self.spec, partition)
            ]
            if region not in regions:
                where = self._path or "AWS_DEFAULT_REGION"
                raise AuditError(
                    f"{where}: region {region!r}: Amazon Comprehend is not there; it is in {', '.join(sorted(regions))}"
                )
        seconds = self.file.timeout
        config = Config(
            connect_timeout=seconds,
            read_timeout=seconds,
            retries={"total_max_attempts": 1},
            max_pool_connections=self.concurrency,
        )
        address = self.address if self._endpoint else None
        client = session.client(self.spec, region_name=region, endpoint_url=address, config=config)
        return client, session.get_credentials()

    def translated(self, problem: Exception) -> AuditError:
        from botocore import exceptions

        if isinstance(problem, exceptions.ClientError):
            error, sent = problem.response.get("Error", {}), problem.response.get("ResponseMetadata", {})
            code, words = str(error.get("Code", "")), str(error.get("Message", ""))
            return self.problem(code, words, sent.get("HTTPStatusCode"), sent.get("HTTPHeaders"))
        if isinstance(problem, exceptions.NoRegionError | exceptions.InvalidRegionError):
            return Declined(f'set AWS_DEFAULT_REGION, or region = "..." in comprehend:FILE.toml ({problem})')
        if isinstance(problem, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
            return Declined(f"set {self.accepted} ({problem})")
        if isinstance(problem, exceptions.ProfileNotFound | exceptions.CredentialRetrievalError):
            return Declined(f"check {self.accepted} ({problem})")
        if isinstance(problem, exceptions.HTTPClientError | exceptions.ResponseStreamingError):
            return unreachable(problem, "region and endpoint")
        return unread(problem)

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        texts, language = [item.text for item in inputs], self.language(inputs[0])
        answer = await self.in_thread(
            lambda client: client[0].batch_detect_sentiment(TextList=texts, LanguageCode=language)
        )
        outcomes: list[Outcome] = [BadOutput("the answer says nothing of this text")] * len(inputs)
        for result in entry(answer, "ResultList"):
            outcomes[self._place(result, len(inputs))] = outcome_of(partial(self._read, result))
        for error in answer.get("ErrorList", []):
            code, words = str(error.get("ErrorCode", "")), str(error.get("ErrorMessage", ""))
            outcomes[self._place(error, len(inputs))] = self.problem(code, words)
        return outcomes

    def _place(self, result: Any, size: int) -> int:
        place = entry(result, "Index")
        if not isinstance(place, int) or not 0 <= place < size:
            raise BadOutput(f"the answer has a text of Index {place!r}, {size} were asked")
        return place

    def _read(self, result: Any) -> Output:
        word = entry(result, "Sentiment")
        label, scores = self.label(word), entry(result, "SentimentScore")
        return Output(label, score_of(scores, str(word).capitalize()))
