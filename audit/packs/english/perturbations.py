"""Perturbations of English texts that keep what is said: letters' case, marks and spaces, words, clauses, sentences.

Those of letters are in `noise.py`. Each is a relation of every task that it makes sense for; `EVERY` of
`audit.relations.perturbations` says what tasks usually make of one. docs/reference/relations.md lists them by task.
"""

import random
import re
from collections.abc import Sequence
from functools import cache, lru_cache

from audit.packs.english.capitals import inside_sentence
from audit.packs.english.clauses import switch
from audit.packs.english.contractions import contract, expand, has_contraction, has_full_form
from audit.packs.english.coordination import swap, swappable
from audit.packs.english.guard import drawn
from audit.packs.english.passages import passages
from audit.packs.english.synonyms import replacements
from audit.packs.english.tagging import split_words
from audit.packs.english.tense import change_tense
from audit.packs.english.vocabulary import FUNCTION_WORDS
from audit.relations.base import Rewritten, nothing
from audit.relations.perturbations import BOTH, EVERY, FIRST, joint_perturbation, perturbation, uses
from audit.resources import data_file
from audit.text import Analysis
from audit.text.tokens import words

TOOLS = ("lemminflect", "spacy")
"""What the extra `english` brings for words and tags."""

# Case, marks and spaces: no word changes.

WRITING = "another way to write"
ANYWHERE = EVERY | uses("question-answering", texts=BOTH, changes="one")
_UNLIKE_MRS = {task: use for task, use in EVERY.items() if task != "sentiment"}
"""For what sentiment has as a relation of its study."""
_CASED = words(
    "us it who aids may march august will bill mark rose grant drew frank sue jack rob pat bob polish turkey china "
    "chile jordan apple amazon target shell gap ford visa windows word excel oracle guinea china reading nice bath pin"
)
"""Words that are another word in lower case."""
_FINAL = re.compile(r"""(?P<mark>[.?])(?P<closers>["”'’)\]]*)\s*$""")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]\.|\.\.|\b(?:etc|inc|corp|co|ltd|jr|sr|no|st|mr|mrs|ms|dr)\.)\W*$", re.IGNORECASE
)


def ends_abbreviated(text: str) -> bool:
    """Whether the full stop at a text's end belongs to an abbreviation.

    >>> ends_abbreviated("He left the U.S."), ends_abbreviated("He left.")
    (True, False)
    """
    return _ABBREVIATED.search(text) is not None


@perturbation("upper-case", family=WRITING, tasks=_UNLIKE_MRS | uses("question-answering", texts=BOTH, changes="one"))
def upper_case(text: Analysis, choices: random.Random) -> str | None:
    """All letters of a text are capitals.

    Keeps every letter but its case; may break labels of tone, since capitals shout, and words that only their case
    tells apart: "us", "US".

    >>> upper_case(Analysis("It isn't good."), random.Random(0))
    "IT ISN'T GOOD."
    """
    return text.text.upper()


@perturbation("lower-case", family=WRITING, tasks=ANYWHERE)
def lower_case(text: Analysis, choices: random.Random) -> str | None:
    """No letter of a text is a capital.

    Keeps every letter but its case; may break labels of register, and names on none of our lists that are words in
    small letters.

    No group where a word of our list means something else then: "US", "Polish".

    >>> lower_case(Analysis("Paris is in France."), random.Random(0))
    'paris is in france.'
    >>> lower_case(Analysis("He left the US."), random.Random(0)) is None
    True
    """
    capitals = re.finditer(r"(?<![^\W\d_])[A-Z][^\W\d_]*", text.text)
    named = [
        match.group() for match in capitals if match.start() or (len(match.group()) > 1 and match.group().isupper())
    ]
    if not text.text.isupper() and not _CASED.isdisjoint(word.lower() for word in named):
        return None
    return text.text.lower()


@perturbation("wide-spaces", family=WRITING, tasks=ANYWHERE)
def wide_spaces(text: Analysis, choices: random.Random) -> str | None:
    """Two or three spaces stand between words where there was one, in a quarter of the places.

    Keeps every word; may break a layout that is made of spaces: tables, verse, code.

    >>> wide_spaces(Analysis("It is a very good film."), random.Random(0))
    'It is a very   good film.'
    """
    gaps = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text.text)]
    wide = {at: choices.choice((2, 3)) for at in choices.sample(gaps, min(len(gaps), max(1, len(gaps) // 4)))}
    return "".join(letter * wide.get(at, 1) for at, letter in enumerate(text.text))


@perturbation(
    "final-mark",
    family=WRITING,
    tasks=uses("classification", "inference", "question-answering", "sentiment", "similarity"),
)
def final_mark(text: Analysis, choices: random.Random) -> str | None:
    """The last full stop or question mark is left out, or a full stop is put where there is no mark.

    Keeps every word; may break what tells a question from a statement ("He came?"), and labels of register.

    >>> final_mark(Analysis("It is good."), random.Random(0)), final_mark(Analysis("it is good"), random.Random(0))
    ('It is good', 'it is good.')
    """
    body = text.text.rstrip()
    if body[-1:].isalnum():
        return f"{body}." if not _ABBREVIATED.search(f"{body}.") else None
    match = _FINAL.search(body)
    if match is None or _ABBREVIATED.search(body) or body[match.start() - 1 : match.start()] in ("?", "!", "."):
        return None
    left = body[: match.start()] + match["closers"]
    return left if any(map(str.isalnum, left)) else None


# Words: others in their place that mean the same.

_WORDS = "other words for the same"
_LOOSE = words("tune song drawing sketch headphone earphone")
"""Nouns whose synonyms of the list are near ones."""
_OPENINGS = ("By the way, ", "As a matter of fact, ", "For the record, ", "As it happens, ", "Just so you know, ")


_SHORTENED = "contractions"
_ASKED = uses("question-answering")


@joint_perturbation(
    _SHORTENED,
    family=_WORDS,
    tasks={task: use for task, use in _UNLIKE_MRS.items() if task not in _ASKED},
    version="2",
    needs=TOOLS,
    grammar=True,
)
def contractions(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Contractions are written in full, or, where there are none, full forms contracted.

    Keeps what is said; may break labels of register, and emphasis: "I do not like it" insists, or sounds formal.

    Of two texts, both change alike. No group where one of them would be left as it was: "ain't", "who'd".

    >>> contractions([Analysis("It isn't good."), Analysis("It is bad.")], random.Random(0)).texts
    ('It is not good.', 'It is bad.')
    """
    for change, is_left in ((expand, has_contraction), (contract, has_full_form)):
        if any(new := [change(text.tokens) for text in texts]):
            changed = [text.replace(own) if own else text.text for text, own in zip(texts, new, strict=True)]
            return None if any(map(is_left, changed)) else Rewritten(tuple(changed))
    return None


@perturbation(_SHORTENED, family=_WORDS, tasks=_ASKED, version="2", needs=TOOLS, grammar=True)
def question_contractions(text: Analysis, choices: random.Random) -> str | None:
    """Contractions are written in full, or, where there are none, full forms contracted.

    Keeps what is asked; may break the tone of the question, which full forms make formal.

    >>> question_contractions(Analysis("Who isn't there?"), random.Random(0))
    'Who is not there?'
    """
    changed = contractions([text], choices)
    return changed.texts[0] if changed else None


@perturbation("synonyms", family=_WORDS, tasks=_UNLIKE_MRS, needs=TOOLS, grammar=True)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms.

    Keeps what is said, as near as two words come; may break set phrases, labels of style, and whatever hangs on the
    very word: a class, an answer, a quotation.

    Of `data/lexicons/synonyms.tsv` those that can take each other's place: an actor is a performer, but not every
    performer is an actor.

    >>> synonyms(Analysis("I want to buy a bike."), random.Random(0))
    'I want to buy a bicycle.'
    """
    by_noun = replacements(text.tokens, both_ways=True)
    for noun in _LOOSE & by_noun.keys():
        del by_noun[noun]
    new: dict[int, str] = {}
    for noun in choices.sample(sorted(by_noun), min(2, len(by_noun))):
        new.update(by_noun[noun])
    return text.replace(new) if new else None


@perturbation(
    "opening-phrase",
    family=_WORDS,
    tasks=uses("classification", "inference", "sentiment", "similarity", "summarization"),
    needs=TOOLS,
    grammar=True,
)
def opening_phrase(text: Analysis, choices: random.Random) -> str | None:
    """A phrase that says nothing stands before the text: "By the way, ...".

    Keeps what is said; may break labels of urgency or weight, since "By the way" makes an aside of what follows.

    >>> opening_phrase(Analysis("The film is long."), random.Random(0))
    'As it happens, the film is long.'
    """
    follows = inside_sentence(text)
    if follows is None or text.text.isupper() or "?" in text.text:
        return None
    opening = choices.choice(_OPENINGS)
    return (opening.lower() if text.text.islower() else opening) + follows


# Clauses: the same parts, put together otherwise.

_BUILDING = "the sentence put together otherwise"
_TOLD = uses("classification", "inference", "similarity", "summarization")
"""Not of questions and contexts: what was asked for may be a list, whose order changes."""


@perturbation("swapped-conjuncts", family=_BUILDING, tasks=_TOLD, by="sentence", needs=TOOLS, grammar=True)
def swapped_conjuncts(text: Analysis, choices: random.Random) -> str | None:
    """What "and" or "or" joins swaps places, once in a sentence.

    Keeps what is joined; may break an order that says something (first this, then that), and a pronoun that pointed
    back into the first part.

    >>> swapped_conjuncts(Analysis("The film is wonderful and exciting."), random.Random(0))
    'The film is exciting and wonderful.'
    """
    return next(filter(None, (swap(text, pair) for pair in drawn(swappable(text), choices))), None)


_OUT_OF_PLACE = words("and but or so sorry thanks please bore spoil reveal give know")
"""Words of a first clause that is a remark on what is said: "sorry", "I won't give it away"."""


@perturbation("but-although", family=_BUILDING, tasks=_TOLD, by="sentence", version="2", needs=TOOLS, grammar=True)
def but_although(text: Analysis, choices: random.Random) -> str | None:
    """Two clauses joined by "but" are joined by "although" instead, or the other way round.

    Keeps both clauses and their order; may break which of them weighs more, and the grammar where "but" joins more than
    two.

    Since the order stays, no pronoun comes before what it stands for.

    >>> but_although(Analysis("Although I like it, I will not buy it."), random.Random(0))
    'I like it, but I will not buy it.'
    """
    low = text.low
    joint = next((at for at, word in enumerate(low) if word in ("but", "although", "though")), None)
    if joint is None or (low[joint] != "but" and joint > 1) or low[0] in ("and", "or", "so"):
        return None
    remark = low[joint] == "but" and not _OUT_OF_PLACE.isdisjoint(low[:joint]) and "i" in low[:joint]
    return None if remark or "sorry" in low else switch(text)


_INFLECTING = "other forms of words"
_BY_SCHEME = uses("classification", carry=nothing)
"""Whether a label stays hangs on the labels: some are about when, or how many."""


@perturbation("tense", family=_INFLECTING, tasks=_BY_SCHEME, version="2", needs=TOOLS, grammar=True)
def tense(text: Analysis, choices: random.Random) -> str | None:
    """Finite verbs change from the present to the past, or from the past to the present.

    Keeps who did what; may break whether it still holds, and with it labels of time: a report, a plan, a fault that
    lasts.

    In all sentences of a text or none, and only where they have one tense, ask nothing and tell no time.

    >>> tense(Analysis("The storyline is as cliched as they come."), random.Random(0))
    'The storyline was as cliched as they come.'
    """
    tenses = {token.tag == "VBD" for token in text.tokens if token.tag in ("VBD", "VBZ", "VBP")}
    if not _TIMED.isdisjoint(text.words) or len(tenses) > 1:
        return None
    changed = [change_tense(sentence) for sentence in text.sentences]
    new = {at: sentence for at, sentence in enumerate(changed) if sentence}
    return text.replace_sentences(new) if new and len(new) == len(changed) else None


_TIMED = words("? now today still already yet since ago yesterday tomorrow when until till cannot = times years old")


# Sentences: more of them, or in another order.

SENTENCES = "sentences added or moved"


@cache
def sentences_of(name: str) -> tuple[str, ...]:
    """The sentences of a file of data/sentences.

    >>> len(sentences_of("irrelevant")) >= 40
    True
    """
    lines = data_file(f"sentences/{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line)


def irrelevant_to(texts: Sequence[Analysis]) -> list[str]:
    """Sentences of everyday life that share no word but function words with any of these texts, by its stem."""
    stems = set().union(*(content_stems(text.text) for text in texts))
    return [sentence for sentence in sentences_of("irrelevant") if stems.isdisjoint(content_stems(sentence))]


@lru_cache(maxsize=4096)
def content_stems(text: str) -> frozenset[str]:
    """The words of a text that name something, without endings: enough to see whether two texts share one.

    >>> sorted(content_stems("The bakeries closed at six."))
    ['bakeri', 'clos', 'six']
    """
    low = [word.lower() for word in split_words(text) if word[0].isalnum()]
    return frozenset(_stem(word) for word in low if word not in FUNCTION_WORDS)


def _stem(word: str) -> str:
    for ending in ("ing", "ers", "ies", "ed", "es", "er", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("i" if ending in ("ies", "y") else "")
    return word


def appended(text: Analysis, sentence: str) -> str:
    """A text with a sentence at its end, on a line of its own where the text's last sentences have such; in lower case
    where the text is.

    >>> appended(Analysis("It is long"), "That is all.")
    'It is long. That is all.'
    """
    body = text.text.rstrip()
    body += "." if body[-1:].isalnum() else ""
    low = text.text == text.text.lower()
    gap = "\n" if "\n" in body and len(text.spans) > 1 and _lines(text) else " "
    return body + gap + (sentence.lower() if low else sentence)


def _lines(text: Analysis) -> bool:
    """Whether each sentence has its own line."""
    return all(
        "\n" in text.text[before[1] : after[0]] for before, after in zip(text.spans, text.spans[1:], strict=False)
    )


@joint_perturbation(
    "irrelevant-sentence",
    family=SENTENCES,
    tasks=uses("inference", "question-answering", "sentiment", "summarization"),
)
def irrelevant_sentence(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text.

    Keeps every sentence of the text; may break its thread, since hardly anybody would write such a text, and a summary
    that has to cover all of it.

    It is one of `data/sentences/irrelevant.txt` that shares no word with any text of the input, so that it cannot
    answer a question or say anything of a hypothesis.

    >>> texts = Analysis("Ann lives in Oslo."), Analysis("Where does Ann live?")
    >>> irrelevant_sentence(texts, random.Random(0)).texts[0]
    'Ann lives in Oslo. The vending machine accepts coins.'
    """
    candidates = irrelevant_to(texts)
    if not candidates or not ends(texts[0].text):
        return None
    first, *others = texts
    return Rewritten((appended(first, choices.choice(candidates)), *(text.text for text in others)))


def ends(text: str) -> bool:
    """Whether a text ends as a sentence does, or with a word: not with a colon or dash."""
    body = text.rstrip().rstrip("\"”'’)]")
    return body[-1:].isalnum() or body[-1:] in (".", "!", "?", "…")


@perturbation(
    "repeated-sentence",
    family=SENTENCES,
    tasks=uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def repeated_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other.

    Keeps what is said; may break emphasis, since what stands twice insists, and how real the text looks.

    >>> repeated_sentence(Analysis("It is long. I like it."), random.Random(0))
    'It is long. I like it. I like it.'
    """
    parts = [text.text[start:end] for start, end in passages(text).spans]
    whole = [place for place, part in enumerate(parts) if ends(part) and len(part.split()) > 2]
    if not whole:
        return None
    place = choices.choice(whole)
    start, end = passages(text).spans[place]
    sentence = text.text[start:end]
    return text.text[:end] + ("." if sentence[-1].isalnum() else "") + " " + sentence + text.text[end:]
