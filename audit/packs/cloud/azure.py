"""Azure AI Language and Azure Translator, by Microsoft's clients azure-ai-textanalytics and azure-ai-translation-text.

Sentiment: https://learn.microsoft.com/rest/api/language/analyze-text/analyze-text (kind SentimentAnalysis), 10 texts of
5,120 characters in a request (https://learn.microsoft.com/azure/ai-services/language-service/concepts/data-limits);
texts that it failed at have errors of their own. Translation: https://learn.microsoft.com/azure/ai-services/translator,
50,000 characters in a request.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from audit.errors import AuditError, BadOutput
from audit.packs.cloud.connector import (
    Outcome,
    WithClient,
    entry,
    installed,
    number,
    outcome_of,
    unreachable,
    unread,
)
from audit.systems.http_file import EVERY
from audit.tasks import Input, Output


class _Azure(WithClient):
    """What both have: a key in the environment, or whatever azure-identity finds; the same exceptions."""

    extra = "azure"
    key: ClassVar[str]
    loggers = ("azure.core.pipeline.policies.http_logging_policy",)
    refusals = frozenset({"401", "403", "401000", "403000", "403001", "Unauthorized", "Forbidden", "PermissionDenied"})
    crowding = frozenset({"429", "429000", "429001", "429002", "TooManyRequests", "ServiceUnavailable", "Timeout"})
    failures = frozenset({"InternalServerError", "500000", "503000"})
    closings = frozenset({"QuotaExceeded", "403002"})

    def unset(self) -> str | None:
        if not os.environ.get(self.key, "").strip() and not installed("azure.identity"):
            return f"set the environment variable {self.key} (or install azure-identity and log in)"
        return super().unset()

    def secrets(self) -> dict[str, str]:
        return {self.key: os.environ.get(self.key, "").strip()}

    def credential(self) -> Any:
        """The key of the environment; without one, what azure-identity finds."""
        from azure.core.credentials import AzureKeyCredential

        if key := os.environ.get(self.key, "").strip():
            return AzureKeyCredential(key)
        from azure.identity import DefaultAzureCredential

        return DefaultAzureCredential()

    @property
    def pace(self) -> dict[str, Any]:
        """How the client asks: once, no longer than may be, never at another address."""
        seconds = self.file.timeout
        return {
            "retry_total": 0,
            "retry_connect": 0,
            "retry_read": 0,
            "retry_status": 0,
            "permit_redirects": False,
            "connection_timeout": seconds,
            "read_timeout": seconds,
        }

    def translated(self, problem: Exception) -> AuditError:
        from azure.core import exceptions

        if isinstance(problem, exceptions.ServiceRequestError | exceptions.ServiceResponseError):
            return unreachable(problem, "endpoint")
        if isinstance(problem, exceptions.HttpResponseError) and problem.status_code is None:
            return unreachable(problem, "endpoint")  # an answer that ended too early
        if isinstance(problem, exceptions.HttpResponseError):
            if 200 <= problem.status_code < 300:
                return unread(problem)
            headers = (
                {name.lower(): value for name, value in problem.response.headers.items()} if problem.response else {}
            )
            words = str(problem.message or "")
            return self.problem(_code(problem), words, problem.status_code, headers)
        return unread(problem)


def _code(problem: Any) -> str:
    """The code of an error, which stands in its JSON; else its status."""
    model = getattr(problem, "model", None)
    inner = getattr(model, "error", None) or getattr(problem, "error", None)
    code = getattr(inner, "code", None)
    return str(code) if code else f"HTTP {problem.status_code}"


class AzureLanguage(_Azure):
    """The system `azure-language`: sentiment of documents. The score is that of its label; one that is mixed is
    neutral with neutral's score, since Azure gives none for mixed."""

    spec = "azure-language"
    service = "Azure AI Language"
    operation = "SentimentAnalysis"
    api = "2023-04-01"
    tasks = ("sentiment",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {"zh": "zh-hans", "zh-TW": "zh-hant"}
    labels: ClassVar[Mapping[str, str]] = {
        "positive": "positive",
        "negative": "negative",
        "neutral": "neutral",
        "mixed": "neutral",
    }
    endpoint = "${AZURE_LANGUAGE_ENDPOINT}"
    most, documents = 5_120, 10
    key = "AZURE_LANGUAGE_KEY"
    accepted = "AZURE_LANGUAGE_KEY and AZURE_LANGUAGE_ENDPOINT, which belong to one resource"
    module = "azure.ai.textanalytics"

    def make_client(self) -> Any:
        from azure.ai.textanalytics import TextAnalyticsClient

        return TextAnalyticsClient(self.address, self.credential(), api_version=self.api, **self.pace)

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        texts, language = [item.text for item in inputs], self.language(inputs[0])
        results = await self.in_thread(lambda client: client.analyze_sentiment(texts, language=language))
        return [self._outcome(result) for result in results]

    def _outcome(self, result: Any) -> Outcome:
        if result.is_error:
            return self.problem(str(result.error.code), str(result.error.message))
        return outcome_of(lambda: self._read(result))

    def _read(self, result: Any) -> Output:
        label = self.label(result.sentiment)
        scores = result.confidence_scores
        score = getattr(scores, result.sentiment, getattr(scores, label, None))
        return Output(label, None if score is None else number(score, "the score"))


class AzureTranslator(_Azure):
    """The system `azure-translator`: translation of plain text."""

    spec = "azure-translator"
    service = "Azure Translator"
    operation = "translate"
    api = "2026-06-06"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {"zh": "zh-Hans", "zh-TW": "zh-Hant"}
    endpoint = "https://api.cognitive.microsofttranslator.com"
    options = frozenset({"region"})
    most, in_request, documents = 50_000, 50_000, 25
    key = "AZURE_TRANSLATOR_KEY"
    accepted = "AZURE_TRANSLATOR_KEY, and region of its file, which is that of the key's resource"
    module = "azure.ai.translation.text"

    def make_client(self) -> Any:
        from azure.ai.translation.text import TextTranslationClient

        return TextTranslationClient(
            endpoint=self.address, credential=self.credential(), region=self._region, api_version=self.api, **self.pace
        )

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        source, target = self.language(inputs[0]), self.language(inputs[0], "target")
        body = {
            "inputs": [{"text": item.text, "language": source, "targets": [{"language": target}]} for item in inputs]
        }
        answer = await self.in_thread(lambda client: [item.as_dict() for item in client.translate(body)])
        return [outcome_of(partial(_translation, result)) for result in answer]


def _translation(result: Any) -> Output:
    text = entry(result, "translations", 0, "text")
    if not isinstance(text, str):
        raise BadOutput(f"a translation must be a text, the answer has {text!r}")
    return Output(text=text)
