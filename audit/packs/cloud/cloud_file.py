"""The TOML file of a cloud service, NAME:FILE.toml. Every key may be left out, and so may the file."""

from collections.abc import Set
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from audit.files import read_text, toml_of
from audit.systems.http_file import EVERY, Codes
from audit.systems.remote_file import Names, Remote, Text, checked_url, labels_of, spelled
from audit.text.languages import is_code
from audit.user_models import Allowed, read_as, refuse

_HELP = "see docs/reference/cloud.md"
_REGION = Allowed(
    "letters, digits and hyphens, such as eu-west-1",
    lambda region: region.isascii() and region.replace("-", "").isalnum(),
)


class CloudFile(Remote):
    """What may be set. What is not of the service in question is refused (`read_cloud_file`)."""

    name: Annotated[Text, BeforeValidator(spelled)] = ""
    version: Annotated[Text, BeforeValidator(spelled)] = ""
    region: Annotated[str, _REGION] | None = None
    endpoint: Annotated[Text, AfterValidator(checked_url)] | None = None
    project: Text | None = None
    """Of Google Cloud, whom translations are charged to."""
    languages: Names | None = None
    codes: Codes = Field({}, repr=False)
    """Our code of a language -> the service's."""
    neutral: Annotated[float, Field(ge=0, lt=1)] | None = None
    """For services that return a number from -1 to 1: up to here it is neutral."""


OPTIONS = ("region", "endpoint", "project", "languages", "codes", "labels", "neutral")
"""Keys that not every service has."""


def read_cloud_file(path: str, options: Set[str], tasks: tuple[str, ...]) -> CloudFile:
    """The file, or what holds without one where the path is empty.

    `options`: which of `OPTIONS` this service has. Raises BadFile, which names the file, the key and what is allowed.
    """
    if not path:
        return CloudFile.model_validate({})
    described = read_as(CloudFile, toml_of(path, read_text(path), _HELP), path, _HELP)
    allowed = labels_of(tasks)
    mistakes = [
        (key, "this service has no such setting; leave it out")
        for key in OPTIONS
        if key in described.model_fields_set and key not in options
    ]
    mistakes += [
        ("labels", f"{label!r} is no label of {', '.join(tasks)}; allowed are {', '.join(allowed)}")
        for label in described.labels.values()
        if allowed and label not in allowed
    ]
    mistakes += [
        (key, f"{code!r} is no code such as es, zh or pt-BR")
        for key, codes in (("languages", described.languages or ()), ("codes", described.codes))
        for code in codes
        if not is_code(code) and (key, code) != ("languages", EVERY)
    ]
    refuse(path, mistakes, _HELP)
    return described
