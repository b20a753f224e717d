"""The twenty relations of the task `sentiment`, MR1.1 to MR7.2, by family; those of other tasks are registered with
them.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), sections 4.3.1 and 4.3.2, table 3.

A relation of sentences is a short rewriting on spaCy's parse. What moves words or changes what agrees passes
`guard.reads_well`.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain

from audit.messages import counted
from audit.packs.english import entities, meaning, noise, pairs, perturbations, questions
from audit.packs.english.clauses import switch
from audit.packs.english.comparatives import exchange, rephrase, reverse
from audit.packs.english.contractions import contract, expand
from audit.packs.english.coordination import swap, swappable
from audit.packs.english.emphasis import ADVERBS, article, places
from audit.packs.english.guard import drawn, protected, replaced
from audit.packs.english.negation import negate
from audit.packs.english.number import changes
from audit.packs.english.passages import passages
from audit.packs.english.polarity import feelings
from audit.packs.english.synonyms import replacements
from audit.packs.english.tense import change_tense
from audit.packs.english.upper_case import in_capitals, praise_or_blame
from audit.relations.base import Check, Member, Outcome, Source, Steps, Verdict, nothing, stays, unchanged
from audit.relations.expect import (
    UNSCORED,
    different,
    equivalent,
    goes_down,
    goes_up,
    opinionated,
    rearrange,
    sentence_inputs,
    stronger,
)
from audit.relations.uses import relation
from audit.resources import data_file
from audit.tasks import Input, Output
from audit.text import Analysis

_TOOLS = ("lemminflect", "spacy")
"""What the extra `english` brings for words and tags."""
OTHERS = (noise, perturbations, meaning, entities, pairs, questions)
"""Modules that register the relations of the other tasks."""
of_sentences = partial(
    relation, version="3", task="sentiment", unit="sentence", carry=unchanged, needs=_TOOLS, grammar=True
)
of_documents = partial(relation, task="sentiment", unit="document")
of_outputs = partial(relation, by="source", version="4", task="sentiment", unit="document")

_STRICT = {"strict": True}
"""Of relations that are loose as the study defines them: without it they apply where the study applies them."""
_LABELS = ("positive", "neutral", "negative")
_CLOSERS = "\"”'’)]"

# MR1.1 to MR1.4: words, numbers and the final period are replaced, the meaning is not.

_REPLACING = "replacing words"


@of_sentences("MR1.1", family=_REPLACING, check=equivalent)
def contractions(text: Analysis, choices: random.Random) -> str | None:
    """Contractions are written in full, or full forms contracted; the sentiment stays.

    Contractions are expanded where there are any; where there are none, full forms are contracted.

    >>> contractions(Analysis("don't dismiss this film because of its sources."), random.Random(0))
    'do not dismiss this film because of its sources.'
    """
    new = expand(text.tokens) or contract(text.tokens)
    return text.replace(new) if new else None


@of_sentences("MR1.2", family=_REPLACING, check=equivalent)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms; the sentiment stays.

    >>> synonyms(Analysis("I want to buy a bike."), random.Random(0))
    'I want to buy a bicycle.'
    """
    by_noun = replacements(text.tokens)
    new: dict[int, str] = {}
    for noun in choices.sample(sorted(by_noun), min(2, len(by_noun))):
        new |= by_noun[noun]
    return text.replace(new) if new and protected(text).isdisjoint(new) else None


@of_sentences("MR1.3", family=_REPLACING, check=equivalent)
def numbers(text: Analysis, choices: random.Random) -> str | None:
    """A singular becomes a plural or a plural a singular, with all that agrees with it; the sentiment stays.

    >>> numbers(Analysis("I made a film."), random.Random(0))
    'I made some films.'
    """
    return next(filter(None, (replaced(text, change) for change in drawn(changes(text), choices))), None)


@of_sentences("MR1.4", family=_REPLACING, check=opinionated(stronger), params=_STRICT)
def exclamation(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """The final period becomes an exclamation mark; the sentiment grows stronger.

    `strict`: only where a word tells a feeling, so that there is a sentiment to strengthen. The study took all texts.

    >>> exclamation(Analysis("It's a great day."), random.Random(0))
    "It's a great day!"
    """
    inner = text.text.rstrip().rstrip(_CLOSERS)
    at = len(inner) - 1
    if not inner.endswith(".") or inner[-2:-1] in ("", ".", "?", "!", " "):
        return None
    if not any(token.text == "." and token.start == at for token in text.tokens[-4:]):
        return None  # the full stop of "etc." or "U.S."
    return None if strict and not feelings(text) else text.text[:at] + "!" + text.text[at + 1 :]


# MR2.1 and MR2.2: words are added.

_ADDING = "adding words"


@of_sentences("MR2.1", family=_ADDING, check=opinionated(stronger), carry=stays("positive", "negative"), params=_STRICT)
def emphasizing_adverbs(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """An emphasizing adverb is put before an adjective or a verb of liking; the sentiment grows stronger.

    `strict`: only before words that praise or blame, where no others weigh against them. The study took all adjectives.

    >>> emphasizing_adverbs(Analysis("The apple is sweet."), random.Random(2))
    'The apple is very sweet.'
    """
    candidates = places(text, strict)
    if not candidates:
        return None
    place = choices.choice(candidates)
    adverb, word = choices.choice(ADVERBS[place.degree]), text.tokens[place.index].text
    if word.isupper() and len(word) > 1:
        adverb = adverb.upper()
    elif place.opens and word[0].isupper():
        adverb, word = adverb.capitalize(), word.lower()
    new = {place.index: f"{adverb} {word}"}
    if place.index:
        new[place.index - 1] = article(text.tokens[place.index - 1].text, adverb)
    return text.replace(new)


@of_sentences("MR2.2", family=_ADDING, check=opinionated(different), carry=nothing, params=_STRICT)
def negation_words(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """The verb of the main clause is negated; the sentiment is a different one.

    `strict`: only where the negation denies each word that praises or blames: "I did not buy it" is as neutral as "I
    bought it". The study took all texts.

    >>> negation_words(Analysis("The weather is bad."), random.Random(0))
    'The weather is not bad.'
    """
    return negate(text, strict)


# MR3.1 and MR3.2: letters change their case, the words stay.

_CAPITALIZING = "capitalizing words"


@relation("MR3.1", task="sentiment", family=_CAPITALIZING, unit="sentence", check=equivalent, carry=unchanged)
def reversed_case(text: Analysis, choices: random.Random) -> str | None:
    """All characters change to upper case, or to lower case where they are upper; the sentiment stays.

    As in the study's "The dvd is ..." -> "THE DVD IS ...", a text in ordinary case becomes upper-case throughout (the
    literal swap, "tHE", is what nobody writes); a text that is mostly upper-case becomes lower-case.

    >>> reversed_case(Analysis("it'll make sense when you see it."), random.Random(0))
    "IT'LL MAKE SENSE WHEN YOU SEE IT."
    """
    if text.text.islower():
        return text.text.upper()  # the usual case, without counting
    upper, lower = (sum(map(test, text.text)) for test in (str.isupper, str.islower))
    changed = text.text.lower() if upper > lower else text.text.upper()
    return changed if changed != text.text else None


@of_sentences("MR3.2", family=_CAPITALIZING, check=opinionated(stronger), params=_STRICT)
def capitalized_words(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """Nouns and adjectives are written in upper case; the sentiment grows stronger.

    `strict`: only where one of them tells a feeling, so that there is a sentiment to strengthen. The study took all
    texts.

    >>> capitalized_words(Analysis("The flower is beautiful."), random.Random(0))
    'The FLOWER is BEAUTIFUL.'
    """
    new = in_capitals(text)
    return text.replace(new) if new and (not strict or praise_or_blame(text, new)) else None


# MR4.1 to MR4.5: the sentence is built anew from its own parts.

_RESTRUCTURING = "restructuring the sentence"


@of_sentences("MR4.1", family=_RESTRUCTURING, check=equivalent)
def changed_tense(text: Analysis, choices: random.Random) -> str | None:
    """All finite verbs change from the present to the past, or from the past to the present; the sentiment stays.

    >>> changed_tense(Analysis("The storyline is as cliched as they come."), random.Random(0))
    'The storyline was as cliched as they come.'
    """
    return change_tense(text)


@of_sentences("MR4.2", family=_RESTRUCTURING, check=equivalent)
def swapped_conjuncts(text: Analysis, choices: random.Random) -> str | None:
    """Words or phrases joined by "and", "or", "either ... or" or "be different from" swap places; the sentiment stays.

    One of the sentence's coordinations is swapped, drawn at random.

    >>> swapped_conjuncts(Analysis("The film is wonderful and exciting."), random.Random(0))
    'The film is exciting and wonderful.'
    """
    made = (swap(text, pair) for pair in drawn(swappable(text), choices))
    return next(filter(None, made), None) or exchange(text, "from")


@of_sentences("MR4.3", family=_RESTRUCTURING, check=equivalent)
def switched_conjunction(text: Analysis, choices: random.Random) -> str | None:
    """Two clauses joined by "but" are joined by "although" instead, or the other way round; the sentiment stays.

    >>> switched_conjunction(Analysis("Although I like it, I will not buy it."), random.Random(0))
    'I like it, but I will not buy it.'
    """
    return switch(text)


# Turned round, a judgement changes its word ("better", "worse") and its subject: "this phone is better than that one"
# is praise, and many read "that one is worse than this phone" as blame. What says neither good nor bad stays so.
@of_sentences("MR4.4", family=_RESTRUCTURING, check=equivalent, carry=stays("neutral"))
def rephrased_comparison(text: Analysis, choices: random.Random) -> str | None:
    """A comparison is turned round and said with the antonym; the sentiment stays.

    >>> rephrased_comparison(Analysis("The car is faster than the bicycle."), random.Random(0))
    'The bicycle is slower than the car.'
    """
    return rephrase(text)


@of_sentences("MR4.5", family=_RESTRUCTURING, check=opinionated(different), carry=nothing)
def swapped_comparison(text: Analysis, choices: random.Random) -> str | None:
    """The two sides of a comparison that calls one of them better swap places; the label becomes another one.

    >>> swapped_comparison(Analysis("The car is faster than the bicycle."), random.Random(0))
    'The bicycle is faster than the car.'
    """
    return reverse(text)


# MR5.1 to MR5.3: the sentences of a document change their order.

_PERMUTING = "permuting sentences"
_FIXED_LINES = re.compile(r"^\s*(?:[-*+#>|=~`{}]|\d+[.)]\s|</?\w|(?: {4}|\t)\S)|[{};]\s*$|```", re.MULTILINE)
"""Lines of lists, headings, tables and code."""
_CLOSED = re.compile(r"[.!?…][\"”'’)\]]*$")


def _movable(text: Analysis) -> Analysis | None:
    """The text with the sentences that may change places; None where there are fewer than two different ones, and where
    a line has its place: a heading, an item of a list, code."""
    text = passages(text)
    parts = [text.text[start:end] for start, end in text.spans]
    headed = any(not _CLOSED.search(part) and (part.endswith(":") or len(part.split()) < 5) for part in parts[:-1])
    return None if len({*parts}) < 2 or headed or _FIXED_LINES.search(text.text) else text


@of_documents("MR5.1", version="4", family=_PERMUTING, check=equivalent, carry=unchanged)
def permuted(text: Analysis, choices: random.Random) -> str | None:
    """The sentences come in a random order; the sentiment stays.

    >>> permuted(Analysis("It is long. I like it."), random.Random(0))
    'I like it. It is long.'
    """
    movable = _movable(text)
    if movable is None:
        return None
    sentences = [movable.text[start:end] for start, end in movable.spans]
    order = list(range(len(sentences)))
    while [sentences[index] for index in order] == sentences:
        choices.shuffle(order)
    return rearrange(movable, order)


@of_outputs("MR5.2", family=_PERMUTING, carry=unchanged, more=1, check=equivalent)
def grouped(source: Source, choices: random.Random) -> Steps:
    """Sentences with the same label (by the system) stand together; the sentiment stays.

    Groups come in the order of their first sentences, and a group keeps the order of its sentences: with the labels
    positive, negative, positive, "Good. Bad. Nice." becomes "Good. Nice. Bad.".
    """
    return (yield from _reorder_sentences(source, lambda outputs: [*chain(*_groups(outputs))]))


@of_outputs("MR5.3", family=_PERMUTING, carry=unchanged, more=1, check=equivalent)
def ordered_groups(source: Source, choices: random.Random) -> Steps:
    """Sentences stand in groups by label, each ordered by score (both by the system); the sentiment stays.

    Groups come in the order of their first sentences; each is ascending or descending, drawn at random; equal scores
    keep their order. With the outputs positive 0.6, negative 0.9, positive 0.8 and descending groups,
    "Good. Bad. Great." becomes "Great. Good. Bad.".
    """
    signs = {label: -1 if choices.random() < 0.5 else 1 for label in _LABELS}

    def ordered(outputs: Sequence[Output]) -> list[int] | None:
        if any(output.score is None for output in outputs):
            return None
        return [
            index
            for group in _groups(outputs)
            for index in sorted(group, key=lambda at: signs[str(outputs[at].label)] * (outputs[at].score or 0.0))
        ]

    return (yield from _reorder_sentences(source, ordered))


def _reorder_sentences(source: Source, order_of: Callable[[Sequence[Output]], list[int] | None]) -> Steps:
    text = _movable(source.analysis)
    if text is None:
        return None
    members = [Member("source", source.input), *(Member("probe", sentence) for sentence in sentence_inputs(text))]
    document_output, *sentence_outputs = yield members
    order = order_of(sentence_outputs)
    if order is None:
        return UNSCORED
    sentences = [text.text[start:end] for start, end in text.spans]
    if [sentences[index] for index in order] == sentences:
        return None
    return equivalent([document_output, *(yield [_of_sentences(source, text, order)])])


def _groups(outputs: Sequence[Output]) -> list[list[int]]:
    """Indices by label, groups in the order of their first member."""
    groups: dict[str | None, list[int]] = {}
    for index, output in enumerate(outputs):
        groups.setdefault(output.label, []).append(index)
    return list(groups.values())


def _of_sentences(source: Source, text: Analysis, order: Sequence[int]) -> Member:
    """The follow-up of these sentences in this order."""
    return Member("follow_up", Input((rearrange(text, order), *source.input.texts[1:]), source.input.languages))


# MR6.1 and MR6.2: sentences of known sentiment are added to a document one by one.
#
# The study took its sentences from its own data; ours are written for audit (data/sentences): their sentiment is beyond
# doubt, and they name nothing, so that they fit the review of a product as well as of a film. They are reviewers'
# sentences: for other texts, give your own.

_EXTENDING = "adding sentences"
_ADDED = 3


def wrong_sentences(params: Mapping[str, object], label: str) -> str | None:
    """What is wrong with the parameter `sentences`, a number or sentences of one's own; None: nothing.

    >>> wrong_sentences({"sentences": 1}, "positive")[:44]
    'sentences is 1; the study adds at least 2, a'
    >>> wrong_sentences({"sentences": ["It works."]}, "positive")
    'sentences has 1 different text; at least 2 are needed'
    """
    own, available = params["sentences"], sentences_of(label)
    if isinstance(own, list):
        if not all(isinstance(text, str) and text.strip() for text in own):
            return "sentences has something that is no text"
        different = len(set(own))
        return None if different > 1 else f"sentences has {counted(different, 'different text')}; at least 2 are needed"
    if isinstance(own, int) and 2 <= own <= len(available):
        return None
    return f"sentences is {own}; the study adds at least 2, and there are {len(available)}"


@of_documents(
    "MR6.1",
    family=_EXTENDING,
    check=goes_up,
    carry=stays("positive"),
    version="3",
    params={"sentences": _ADDED},
    accepts={"sentences": (int, list)},
    check_params=partial(wrong_sentences, label="positive"),
)
def more_positive(text: Analysis, choices: random.Random, sentences: int | list[str] = _ADDED) -> list[str]:
    """Positive sentences are added to a review one by one; the sentiment keeps going up.

    >>> more_positive(Analysis("It is long."), random.Random(0))[0].startswith("It is long. ")
    True
    """
    return _with_sentences_added(text, _draw_sentences("positive", sentences, choices))


@of_documents(
    "MR6.2",
    family=_EXTENDING,
    check=goes_down,
    carry=stays("negative"),
    version="3",
    params={"sentences": _ADDED},
    accepts={"sentences": (int, list)},
    check_params=partial(wrong_sentences, label="negative"),
)
def more_negative(text: Analysis, choices: random.Random, sentences: int | list[str] = _ADDED) -> list[str]:
    """Negative sentences are added to a review one by one; the sentiment keeps going down.

    >>> len(more_negative(Analysis("It is long."), random.Random(0)))
    3
    """
    return _with_sentences_added(text, _draw_sentences("negative", sentences, choices))


def _draw_sentences(label: str, sentences: int | list[str], choices: random.Random) -> list[str]:
    if isinstance(sentences, int):
        return choices.sample(sentences_of(label), sentences)
    own = sorted(set(sentences))
    return choices.sample(own, min(_ADDED, len(own)))


@lru_cache(maxsize=2)
def sentences_of(label: str) -> tuple[str, ...]:
    """The sentences of this label, "positive" or "negative", from data/sentences.

    >>> len(sentences_of("positive")) >= 60
    True
    """
    lines = data_file(f"sentences/{label}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line)


def _with_sentences_added(text: Analysis, added: list[str]) -> list[str]:
    """The document with the first, the first two, ... of the sentences at its end."""
    documents: list[str] = []
    document = text.text.rstrip()
    if document and document[-1].isalnum():
        document += "."
    between = _separator(text)
    # A corpus in lower case gets its new sentences in lower case, or they would stand out.
    lower = text.text == text.text.lower()
    for sentence in added:
        document += between + (sentence.lower() if lower else sentence)
        documents.append(document)
    return documents


def _separator(text: Analysis) -> str:
    """A line break where every sentence of the document has its own line, else a space."""
    edges = zip(text.spans, text.spans[1:], strict=False)
    gaps = [text.text[before[1] : after[0]] for before, after in edges]
    lines = sum("\n" in gap for gap in gaps)
    return "\n" if gaps and 2 * lines > len(gaps) else " "


# MR7.1 and MR7.2: sentences are removed by their labels (by the system).
#
# Which sentences go depends on what the system says of them, and it may be wrong: a document without the sentences that
# it calls positive may well be positive still. So no answer about the source carries to the follow-up. (The study took
# the data set's labels of the sources for them.)

_REMOVING = "removing sentences"


@of_outputs("MR7.1", family=_REMOVING, carry=nothing, check=different)
def without_same(source: Source, choices: random.Random) -> Steps:
    """All sentences with the document's own label (by the system) are removed; the label becomes another one.

    With a positive document and the labels positive, negative, "Good. Bad." becomes "Bad.". Inapplicable where the
    document is neutral, or where nothing or everything would be removed.
    """
    return (yield from _remove_sentences(source, lambda whole, part: whole != part, different))


@of_outputs("MR7.2", family=_REMOVING, carry=nothing, check=equivalent)
def without_others(source: Source, choices: random.Random) -> Steps:
    """All sentences with another label than the document (by the system) are removed; the sentiment stays.

    With a positive document and the labels positive, negative, "Good. Bad." becomes "Good.". Inapplicable where the
    document is neutral, or where nothing or everything would be removed.
    """
    return (yield from _remove_sentences(source, lambda whole, part: whole == part, equivalent))


def _remove_sentences(source: Source, keeps: Callable[[str | None, str | None], bool], check: Check) -> Steps:
    """A document of one sentence makes no group. The source runs alone first: a neutral one ends the group, and its
    sentences need not be run."""
    text = passages(source.analysis)
    if len(text.spans) < 2:
        return None
    (document_output,) = yield [Member("source", source.input)]
    if document_output.label == "neutral":
        return Verdict(Outcome.INAPPLICABLE, reason="the source output is neutral")
    sentence_outputs = yield [Member("probe", sentence) for sentence in sentence_inputs(text)]
    remaining = [index for index, output in enumerate(sentence_outputs) if keeps(document_output.label, output.label)]
    if not remaining:
        return Verdict(Outcome.INAPPLICABLE, reason="every sentence would be removed")
    if len(remaining) == len(sentence_outputs):
        return Verdict(Outcome.INAPPLICABLE, reason="no sentence would be removed")
    return check([document_output, *(yield [_of_sentences(source, text, remaining)])])
