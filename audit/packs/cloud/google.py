"""Google Cloud Natural Language and Translation, by Google's clients google-cloud-language and google-cloud-translate.

https://cloud.google.com/natural-language/docs/reference/rest/v2/documents/analyzeSentiment: one text in a request, of
1,000,000 bytes at most. https://cloud.google.com/translate/docs/reference/rest/v3/projects.locations/translateText:
30,000 characters in a request; one text in each here, so that no error is of another text. Both over REST.
Credentials are the application default ones, which Google's own library finds.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from audit.errors import AuditError, Declined
from audit.packs.cloud.connector import Outcome, WithClient, number, unreachable, unread
from audit.systems.http_file import EVERY
from audit.tasks import Input, Output

_TOKEN = re.compile(r"\bya29\.[\w.~+/=-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]*")
"""What tokens of Google look like: its own, and those that a service account signs (RFC 7519)."""


class _Google(WithClient):
    extra = "google"
    accepted = "GOOGLE_APPLICATION_CREDENTIALS, and whether the account may use the service in this project"
    failures = frozenset({"INTERNAL"})
    crowding = frozenset({"RESOURCE_EXHAUSTED", "UNAVAILABLE"})
    refusals = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})

    def unset(self) -> str | None:
        """What is missing, as far as one can tell without asking anybody: machines of Google Cloud are asked for their
        account where GCE_METADATA_HOST is set."""
        file = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
        folder = os.environ.get("CLOUDSDK_CONFIG") or "~/.config/gcloud"
        usual = Path(folder).expanduser() / "application_default_credentials.json"
        if file and not Path(file).is_file():
            return "the environment variable GOOGLE_APPLICATION_CREDENTIALS names a file that is not there"
        if not file and not usual.is_file() and not os.environ.get("GCE_METADATA_HOST"):
            return (
                "set the environment variable GOOGLE_APPLICATION_CREDENTIALS to the file of an account, or run: "
                "gcloud auth application-default login"
            )
        return super().unset()

    def without_secrets(self, text: str, least: int = 4) -> str:
        # The file is read by the client, and stays in it; what it sends is a token that it makes of it.
        return _TOKEN.sub("${TOKEN OF GOOGLE'S ACCOUNT}", super().without_secrets(text, least))

    def default_credentials(self) -> tuple[Any, str | None]:
        """The application default credentials, and the project that they are of."""
        import google.auth

        return google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])  # type: ignore[no-any-return]

    def translated(self, problem: Exception) -> AuditError:
        import requests
        from google.api_core import exceptions
        from google.auth import exceptions as accounts

        if isinstance(problem, exceptions.GoogleAPICallError):
            response = problem.response
            headers = {name.lower(): value for name, value in response.headers.items()} if response is not None else {}
            status = response.status_code if response is not None else problem.code
            return self.problem(_code(problem), str(problem.message), status, headers)
        if isinstance(problem, accounts.TransportError | requests.RequestException):
            return unreachable(problem, "endpoint")
        if isinstance(problem, accounts.GoogleAuthError):
            return Declined(f"{self.service} has no credentials; check {self.accepted} ({problem})")
        return unread(problem)

    @property
    def host(self) -> str:
        """Where it is, as the client takes it."""
        return self.address.removeprefix("https://")


def _code(problem: Any) -> str:
    """The code of an error: its status in Google's words."""
    code = getattr(problem, "grpc_status_code", None)
    return code.name if code is not None else f"HTTP {problem.code}"


class GoogleLanguage(_Google):
    """The system `google-language`: sentiment of documents, a number from -1 to 1.

    It has no labels: up to `neutral` (.25) from zero it is neutral; the score is |number|, or 1 - |number| where
    neutral.
    """

    spec = "google-language"
    service = "Google Cloud Natural Language"
    operation = "analyzeSentiment"
    api = "v2"
    tasks = ("sentiment",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {"zh": "zh", "zh-TW": "zh-Hant"}
    endpoint = "https://language.googleapis.com"
    neutral = 0.25
    options = frozenset({"neutral"})
    most, unit = 1_000_000, "bytes"
    module = "google.cloud.language_v2"

    def make_client(self) -> Any:
        from google.cloud import language_v2

        credentials, _ = self.default_credentials()
        return language_v2.LanguageServiceClient(
            credentials=credentials, transport="rest", client_options={"api_endpoint": self.host}
        )

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        document = {"content": inputs[0].text, "type_": "PLAIN_TEXT", "language_code": self.language(inputs[0])}
        request = {"document": document, "encoding_type": "UTF8"}
        answer = await self.in_thread(
            lambda client: client.analyze_sentiment(request=request, retry=None, timeout=self.file.timeout)
        )
        if "document_sentiment" not in answer:
            return [unread(ValueError("it has no documentSentiment"))]
        return [Output(*self.label_of_number(number(answer.document_sentiment.score, "the score")))]


class GoogleTranslate(_Google):
    """The system `google-translate`: translation of plain text by the general model of the third version."""

    spec = "google-translate"
    service = "Google Cloud Translation"
    operation = "translateText"
    api = "v3"
    tasks = ("translation",)
    spoken = (EVERY,)
    codes: ClassVar[Mapping[str, str]] = {"zh": "zh-CN"}
    endpoint = "https://translate.googleapis.com"
    region = "global"
    options = frozenset({"region", "project"})
    most = 30_000
    module = "google.cloud.translate_v3"

    def make_client(self) -> tuple[Any, str]:
        from google.cloud import translate_v3

        credentials, project = self.default_credentials()
        project = self.file.project or os.environ.get("GOOGLE_CLOUD_PROJECT") or project
        if not project:
            raise AuditError(
                "google-translate: nobody says which project translations are of; set the environment variable "
                'GOOGLE_CLOUD_PROJECT, or project = "..." in google-translate:FILE.toml'
            )
        client = translate_v3.TranslationServiceClient(
            credentials=credentials, transport="rest", client_options={"api_endpoint": self.host}
        )
        return client, f"projects/{project}/locations/{self._region}"

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        request = {
            "contents": [inputs[0].text],
            "mime_type": "text/plain",
            "source_language_code": self.language(inputs[0]),
            "target_language_code": self.language(inputs[0], "target"),
        }
        answer = await self.in_thread(
            lambda client: client[0].translate_text(
                request={**request, "parent": client[1]}, retry=None, timeout=self.file.timeout
            )
        )
        return [Output(text=translation.translated_text) for translation in answer.translations]
