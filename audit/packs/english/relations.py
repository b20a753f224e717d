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
from functools import cache, partial
from itertools import chain

from audit.messages import counted
from audit.packs.english import meaning, names, noise, pairs, perturbations
from audit.packs.english.emphasis import ADVERBS, emphasized, in_capitals, negate, places, praise_or_blame
from audit.packs.english.guard import drawn, passages, replaced
from audit.packs.english.polarity import feelings, tells_a_view
from audit.packs.english.replacing import changes, contract, expand, replacements
from audit.packs.english.restructuring import change_tense, exchange, rephrase, reverse, swap, swappable, switch
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

OTHERS = (noise, perturbations, meaning, names, pairs)
"""Modules that register the relations of the other tasks."""
of_sentences = partial(
    relation, version="4", task="sentiment", unit="sentence", carry=unchanged, needs=perturbations.TOOLS, grammar=True
)
of_documents = partial(relation, task="sentiment", unit="document")
of_outputs = partial(relation, by="source", version="5", task="sentiment", unit="document")
_STRICT = {"strict": True}
"""Of relations that are loose as the study defines them: without it they apply where the study applies them."""

# MR1.1 to MR1.4: words, numbers and the final period are replaced, the meaning is not.

_REPLACING = "replacing words"


@of_sentences("MR1.1", family=_REPLACING, check=equivalent)
def contractions(text: Analysis, choices: random.Random) -> str | None:
    """Contractions are written in full, or full forms contracted; the sentiment stays.

    Contractions are expanded where there are any; where there are none, full forms are contracted.
    """
    new = expand(text) or contract(text)
    return text.replace(new) if new else None


@of_sentences("MR1.2", family=_REPLACING, check=equivalent)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms; the sentiment stays."""
    by_noun = replacements(text)
    chosen = choices.sample(sorted(by_noun), min(2, len(by_noun)))
    return text.replace({at: word for noun in chosen for at, word in by_noun[noun].items()}) if chosen else None


@of_sentences("MR1.3", family=_REPLACING, check=equivalent)
def numbers(text: Analysis, choices: random.Random) -> str | None:
    """A singular becomes a plural or a plural a singular, with all that agrees with it; the sentiment stays."""
    return next(filter(None, (replaced(text, change) for change in drawn(changes(text), choices))), None)


@of_sentences("MR1.4", family=_REPLACING, check=opinionated(stronger), params=_STRICT)
def exclamation(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """The final period becomes an exclamation mark; the sentiment grows stronger.

    `strict`: only where a word tells a feeling, so that there is a sentiment to strengthen. The study took all texts.
    """
    inner = text.text.rstrip().rstrip("\"”'’)]")
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
    """
    candidates = places(text, strict)
    if not candidates:
        return None
    at = choices.choice(list(candidates))
    return emphasized(text, at, choices.choice(ADVERBS[candidates[at]]))


@of_sentences("MR2.2", family=_ADDING, check=opinionated(different), carry=nothing, params=_STRICT)
def negation_words(text: Analysis, choices: random.Random, strict: bool = True) -> str | None:
    """The verb of the main clause is negated; the sentiment is a different one.

    `strict`: only where the negation denies each word that praises or blames: "I did not buy it" is as neutral as "I
    bought it". The study took all texts.
    """
    return negate(text, strict)


# MR3.1 and MR3.2: letters change their case, the words stay.

_CAPITALIZING = "capitalizing words"


@relation("MR3.1", task="sentiment", family=_CAPITALIZING, unit="sentence", check=equivalent, carry=unchanged)
def reversed_case(text: Analysis, choices: random.Random) -> str | None:
    """All characters change to upper case, or to lower case where they are upper; the sentiment stays.

    As in the study's "The dvd is ..." -> "THE DVD IS ...", a text in ordinary case becomes upper-case throughout (the
    literal swap, "tHE", is what nobody writes); a text that is mostly upper-case becomes lower-case.
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
    """
    new = in_capitals(text)
    return text.replace(new) if new and (not strict or praise_or_blame(text, new)) else None


# MR4.1 to MR4.5: the sentence is built anew from its own parts.

_RESTRUCTURING = "restructuring the sentence"


@of_sentences("MR4.1", family=_RESTRUCTURING, check=equivalent)
def changed_tense(text: Analysis, choices: random.Random) -> str | None:
    """All finite verbs change from the present to the past, or from the past to the present; the sentiment stays."""
    return change_tense(text)


@of_sentences("MR4.2", family=_RESTRUCTURING, check=equivalent)
def swapped_conjuncts(text: Analysis, choices: random.Random) -> str | None:
    """Words or phrases joined by "and", "or", "either ... or" or "be different from" swap places; the sentiment stays.

    One of the sentence's coordinations is swapped, drawn at random.
    """
    swapped = (swap(text, pair) for pair in drawn(swappable(text), choices))
    return next(filter(None, swapped), None) or exchange(text, "from")


@of_sentences("MR4.3", family=_RESTRUCTURING, check=equivalent)
def switched_conjunction(text: Analysis, choices: random.Random) -> str | None:
    """Two clauses joined by "but" are joined by "although" instead, or the other way round; the sentiment stays."""
    return switch(text)


# Turned round, a judgement changes its word ("better", "worse") and its subject: "this phone is better than that one"
# is praise, and many read "that one is worse than this phone" as blame. What says neither good nor bad stays so.
@of_sentences("MR4.4", version="5", family=_RESTRUCTURING, check=equivalent, carry=stays("neutral"))
def rephrased_comparison(text: Analysis, choices: random.Random) -> str | None:
    """A comparison is turned round and said with the antonym; the sentiment stays."""
    return rephrase(text)


@of_sentences("MR4.5", version="5", family=_RESTRUCTURING, check=opinionated(different), carry=nothing)
def swapped_comparison(text: Analysis, choices: random.Random) -> str | None:
    """The two sides of a comparison that calls one of them better swap places; the label becomes another one."""
    return reverse(text)


# MR5.1 to MR5.3: the sentences of a document change their order.

_PERMUTING = "permuting sentences"
_FIXED_LINES = re.compile(
    r"^\s*(?:[-*+#>|=~`{}]|\d+[.)]\s|</?\w|(?: {4}|\t)\S)|[{};]\s*$|```|^.{0,60}\w *\n(?=[A-Z])", re.MULTILINE
)
"""Lines of lists, headings, tables and code."""
_CLOSED = re.compile(r"[.!?…][\"”'’)\]]*$")


def _sentences(text: Analysis) -> list[str]:
    return [text.text[start:end] for start, end in text.spans]


def _movable(text: Analysis) -> Analysis | None:
    """Return the text with the sentences that may change places."""
    text = passages(text)
    parts = _sentences(text)
    headed = any(not _CLOSED.search(part) and (part.endswith(":") or len(part.split()) < 5) for part in parts[:-1])
    return None if len({*parts}) < 2 or headed or _FIXED_LINES.search(text.text) else text


@of_documents("MR5.1", version="5", family=_PERMUTING, check=equivalent, carry=unchanged)
def permuted(text: Analysis, choices: random.Random) -> str | None:
    """The sentences come in a random order; the sentiment stays."""
    movable = _movable(text)
    if movable is None:
        return None
    sentences = _sentences(movable)
    order = list(range(len(sentences)))
    while [sentences[index] for index in order] == sentences:
        choices.shuffle(order)
    return rearrange(movable, order)


@of_outputs("MR5.2", family=_PERMUTING, carry=unchanged, check=equivalent)
def grouped(source: Source, choices: random.Random) -> Steps:
    """Sentences with the same label (by the system) stand together; the sentiment stays.

    Groups come in the order of their first sentences, and a group keeps the order of its sentences: with the labels
    positive, negative, positive, "Good. Bad. Nice." becomes "Good. Nice. Bad.".
    """
    return (yield from _reorder_sentences(source, lambda outputs: [*chain(*_groups(outputs))]))


@of_outputs("MR5.3", family=_PERMUTING, carry=unchanged, check=equivalent)
def ordered_groups(source: Source, choices: random.Random) -> Steps:
    """Sentences stand in groups by label, each ordered by score (both by the system); the sentiment stays.

    Groups come in the order of their first sentences; each is ascending or descending, drawn at random; equal scores
    keep their order. With the outputs positive 0.6, negative 0.9, positive 0.8 and descending groups,
    "Good. Bad. Great." becomes "Great. Good. Bad.".
    """
    signs = {label: -1 if choices.random() < 0.5 else 1 for label in ("positive", "neutral", "negative")}

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
    order, sentences = order_of(sentence_outputs), _sentences(text)
    if order is None:
        return UNSCORED
    if [sentences[index] for index in order] == sentences:
        return None
    return equivalent([document_output, *(yield [_of_sentences(source, text, order)])])


def _groups(outputs: Sequence[Output]) -> list[list[int]]:
    """Return indices by label, groups in the order of their first member."""
    groups: dict[str | None, list[int]] = {}
    for index, output in enumerate(outputs):
        groups.setdefault(output.label, []).append(index)
    return list(groups.values())


def _of_sentences(source: Source, text: Analysis, order: Sequence[int]) -> Member:
    """Return the follow-up of these sentences in this order."""
    return Member("follow_up", Input((rearrange(text, order), *source.input.texts[1:]), source.input.languages))


# MR6.1 and MR6.2: sentences of known sentiment are added to a document one by one.
#
# The study took its sentences from its own data; ours are written for audit (data/sentences): their sentiment is beyond
# doubt, and they name nothing, so that they fit the review of a product as well as of a film. They are reviewers'
# sentences: a text without the writer's view, such as a contract, takes sentences of your own only.

_EXTENDING = "adding sentences"
_ADDED = 3


def wrong_sentences(params: Mapping[str, object], label: str) -> str | None:
    """Return what is wrong with the parameter `sentences`, a number or sentences of one's own; None: nothing."""
    own, available = params["sentences"], sentences_of(label)
    if isinstance(own, list):
        if not all(isinstance(text, str) and text.strip() for text in own):
            return "sentences has something that is no text"
        different = len(set(own))
        return None if different > 1 else f"sentences has {counted(different, 'different text')}; at least 2 are needed"
    if isinstance(own, int) and 2 <= own <= len(available):
        return None
    return f"sentences is {own}; the study adds at least 2, and there are {len(available)}"


def _extended(name: str, label: str, check: Check) -> Callable[[Callable[..., object]], object]:
    return of_documents(
        name,
        family=_EXTENDING,
        check=check,
        carry=stays(label),
        version="4",
        needs=("lemminflect",),
        params={"sentences": _ADDED},
        accepts={"sentences": (int, list)},
        check_params=partial(wrong_sentences, label=label),
    )


@_extended("MR6.1", "positive", goes_up)
def more_positive(text: Analysis, choices: random.Random, sentences: int | list[str] = _ADDED) -> list[str]:
    """Positive sentences are added to a review one by one; the sentiment keeps going up."""
    return _with_sentences_added(text, "positive", sentences, choices)


@_extended("MR6.2", "negative", goes_down)
def more_negative(text: Analysis, choices: random.Random, sentences: int | list[str] = _ADDED) -> list[str]:
    """Negative sentences are added to a review one by one; the sentiment keeps going down."""
    return _with_sentences_added(text, "negative", sentences, choices)


@cache
def sentences_of(label: str) -> tuple[str, ...]:
    """Return the sentences of this label, "positive" or "negative", from data/sentences."""
    return tuple(filter(None, data_file(f"sentences/{label}.txt").read_text(encoding="utf-8").splitlines()))


def _with_sentences_added(text: Analysis, label: str, own: int | list[str], choices: random.Random) -> list[str]:
    """Return the document with the first, the first two, ... of the sentences at its end."""
    if isinstance(own, int) and not tells_a_view(text.text):
        return []
    pool, number = (sentences_of(label), own) if isinstance(own, int) else (sorted(set(own)), _ADDED)
    documents, document = list[str](), text.text.rstrip()
    document += "." if document[-1:].isalnum() else ""
    gaps = [text.text[before[1] : after[0]] for before, after in zip(text.spans, text.spans[1:], strict=False)]
    # On a line of its own where the sentences of the document have such; in lower case where all of it is.
    between = "\n" if gaps and 2 * sum("\n" in gap for gap in gaps) > len(gaps) else " "
    for sentence in choices.sample(pool, min(number, len(pool))):
        document += between + (sentence.lower() if text.text == text.text.lower() else sentence)
        documents.append(document)
    return documents


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
    """Walk through a group; a document of one sentence makes none. The source runs alone first."""
    text = passages(source.analysis)
    if len(text.spans) < 2:
        return None
    (document_output,) = yield [Member("source", source.input)]
    if document_output.label == "neutral":
        return Verdict(Outcome.INAPPLICABLE, reason="the source output is neutral")
    sentence_outputs = yield [Member("probe", sentence) for sentence in sentence_inputs(text)]
    remaining = [index for index, output in enumerate(sentence_outputs) if keeps(document_output.label, output.label)]
    if len(remaining) in (0, len(sentence_outputs)):
        reason = "no sentence would be removed" if remaining else "every sentence would be removed"
        return Verdict(Outcome.INAPPLICABLE, reason=reason)
    return check([document_output, *(yield [_of_sentences(source, text, remaining)])])
