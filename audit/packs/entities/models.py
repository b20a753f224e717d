"""Models that find names: spaCy's, HanLP's, and those of transformers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from audit.errors import NotInstalled, install_line
from audit.resources import absent
from audit.systems.base import missing, package_version
from audit.tasks import Input, Output
from audit.tasks.entities import Span, flat, write_spans


class _Finder:
    """A system that marks the names of one text at a time; a task says what its kinds are there (`kind_of`)."""

    tasks: tuple[str, ...] = ("entities",)
    deterministic = True
    settings: Mapping[str, object] = {}

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """Load the model. Raises NotInstalled and BadFile."""
        list(self._spans(["Ann"]))  # one that yields loads nothing before it is gone through

    def _spans(self, texts: Sequence[str]) -> Iterable[Iterable[tuple[int, int, str]]]:
        raise NotImplementedError

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return the spans of each text."""
        found = self._spans([item.text for item in inputs])
        return [Output(write_spans(_trimmed(spans, item.text))) for spans, item in zip(found, inputs, strict=True)]


def _trimmed(spans: Iterable[tuple[int, int, str]], text: str) -> tuple[Span, ...]:
    """Return spans without blanks at their ends, of those that overlap the longest."""
    made = []
    for start, end, kind in spans:
        if inside := text[start:end].strip():
            start = text.index(inside, start)
            made.append(Span(start, start + len(inside), kind))
    return flat(made) or ()


@cache
def _spacy() -> Any:
    from audit.packs.english.parser import installed_model

    name = installed_model()
    with absent("torch"):
        import spacy
    return spacy.load(name, exclude=["parser", "senter", "lemmatizer", "attribute_ruler", "tagger", "tok2vec"])


class SpacyEntities(_Finder):
    """The system `spacy-entities`: the names that spaCy's small English model finds."""

    name, summary = "spacy-entities", "names by spaCy's small English model"
    languages: tuple[str, ...] = ("en",)

    def __init__(self) -> None:
        self.version = f"spacy {package_version('spacy')}"

    def needs(self) -> str | None:
        return missing("spacy", install_line("english"))

    def _spans(self, texts: Sequence[str]) -> Iterable[Iterable[tuple[int, int, str]]]:
        return ([(name.start_char, name.end_char, name.label_) for name in doc.ents] for doc in _spacy().pipe(texts))


class HanlpEntities(_Finder):
    """The system `hanlp-entities:MODEL`: the names that a model of HanLP with a task `ner` finds in Chinese."""

    languages: tuple[str, ...] = ("zh",)

    def __init__(self, model: str):
        from audit.packs.chinese.taggers import model_version

        self._model, self.name = model, f"hanlp-{Path(model).name}"
        self.summary, self.version = f"names by HanLP's model {model}", model_version(model)

    def __reduce__(self) -> tuple[type["HanlpEntities"], tuple[str]]:
        return type(self), (self._model,)

    def _spans(self, texts: Sequence[str]) -> Iterable[Iterable[tuple[int, int, str]]]:
        from audit.packs.chinese.taggers import load

        component = _kept(load, self._model)
        tasks = list(getattr(component, "tasks", ()))
        tok, ner = (next((task for task in tasks if task.startswith(kind)), None) for kind in ("tok", "ner"))
        if tok is None or ner is None:
            raise NotInstalled(f"HanLP's model {self._model!r} finds no names; name a model of several tasks with ner")
        document = component(list(texts), tasks=[tok, ner])
        for text, words, names in zip(texts, document[tok], document[ner], strict=True):
            places, at = [], 0
            for word in words:
                start = text.find(word, at)
                places.append((start, start + len(word)))
                at = max(at, start + len(word))
            yield [(places[first][0], places[behind - 1][1], kind) for _, kind, first, behind in names]


@cache
def _kept(load: Any, model: str) -> Any:
    return load(model)


class TokenClassification(_Finder):
    """The system `token-classification:MODEL`: a model of transformers that is in the cache or a directory."""

    languages: tuple[str, ...] = ("*",)

    def __init__(self, model: str):
        from audit.systems.models import absent_model, fingerprint_of, model_folder

        if (folder := model_folder(model)) is None:
            raise NotInstalled(absent_model(model))
        self._model, self.name, self._folder = model, Path(model).name, folder
        self.summary = f"names by {model} (transformers)"
        self.version = f"{fingerprint_of(folder)}, transformers {package_version('transformers')}"

    def __reduce__(self) -> tuple[type["TokenClassification"], tuple[str]]:
        return type(self), (self._model,)

    def needs(self) -> str | None:
        return missing("transformers", install_line("transformers"))

    def _spans(self, texts: Sequence[str]) -> Iterable[Iterable[tuple[int, int, str]]]:
        predicted = _pipeline(self._folder)(list(texts))
        return ([(name["start"], name["end"], name["entity_group"]) for name in of] for of in predicted)


@cache
def _pipeline(folder: Path) -> Any:
    from transformers import AutoModelForTokenClassification, pipeline

    from audit.systems.models import load_part, load_tokenizer, one_thread

    one_thread()
    model, tokenizer = load_part(AutoModelForTokenClassification, folder), load_tokenizer(folder)
    # A text that is longer than the model is read in pieces that overlap by a quarter.
    longest = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512))
    make = partial(pipeline, "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    return make(stride=longest // 4) if tokenizer.is_fast else make()
