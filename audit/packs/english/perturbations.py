"""Perturbations of English texts that keep what is said: case, marks, spelling, words, clauses, and sentences around.

Those of letters are in `noise.py`. Each is a relation of every task that it makes sense for; `EVERY` of
`audit.relations.uses` says what tasks usually make of one. docs/reference/relation-list.md lists them by task.
"""

import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from audit.packs.english.guard import drawn, inside_sentence, passages, replaced_outside
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.replacing import contract, expand, replacements
from audit.packs.english.restructuring import change_tense, swap, swappable, switch
from audit.packs.english.tagging import split_words
from audit.packs.english.vocabulary import BE_FINITE, FUNCTION_WORDS, QUOTES, Lists, kept_and_broken, lines
from audit.relations.base import Rewritten, nothing
from audit.relations.uses import BOTH, EVERY, FIRST, Function, relation, uses
from audit.resources import data_file, data_rows
from audit.text import Analysis

TOOLS = ("lemminflect", "spacy")
"""What the extra `english` brings for words and tags."""


def perturbation(name: str, **settings: Any) -> Callable[[Function], Function]:
    """Register a function as `relation` does, with what data/lexicons/english_keeps.toml says of it."""

    def keep(function: Function) -> Function:
        function.__doc__ = f"{function.__doc__}\n\n{kept_and_broken(function.__name__)}"
        return relation(name, **settings)(function)

    return keep


parsed = partial(perturbation, needs=TOOLS, grammar=True)
"""The decorator of what reads a text's tags or trees."""
ANYWHERE = EVERY | uses("question-answering", texts=BOTH, changes="one")
SENTIMENT = uses("sentiment")
UNSURE = uses("classification", carry=nothing)
"""Labels may be about what changes: when, how many, where."""
_STATED = uses("classification", "inference", "sentiment", "similarity", "summarization")
"""Not of questions."""
_UNLIKE_MRS = {task: use for task, use in EVERY.items() if task != "sentiment"}
"""For what sentiment has as a relation of its study."""
_LISTS = Lists("perturbations")

# Case, marks and spaces: no word changes.

_WRITING = "another way to write"
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]\.|\.\.|\b(?:etc|inc|corp|co|ltd|jr|sr|no|st|mr|mrs|ms|dr)\.)\W*$", re.IGNORECASE
)
_MARKED = r"\u0300-\u036f"
"""Marks of decomposed letters, which belong to the word that they stand in."""
_PLAIN = re.compile(rf"(?<![\w{_MARKED}'’@#/.&-])[^\W\d_][\w{_MARKED}'’]*(?![\w{_MARKED}@/&]|\.\w)")
"""Words that are no part of an address or of a word with a hyphen."""


def ends_abbreviated(text: str) -> bool:
    """Return whether the full stop at a text's end belongs to an abbreviation."""
    return _ABBREVIATED.search(text) is not None


@perturbation("upper-case", family=_WRITING, tasks=_UNLIKE_MRS | uses("question-answering", texts=BOTH, changes="one"))
def upper_case(text: Analysis, choices: random.Random) -> str | None:
    """All letters of a text are capitals."""
    return text.text.upper()


@perturbation("lower-case", family=_WRITING, tasks=ANYWHERE)
def lower_case(text: Analysis, choices: random.Random) -> str | None:
    """No letter of a text is a capital."""
    capitals = re.finditer(r"(?<![^\W\d_])[A-Z][^\W\d_]*", text.text)
    named = [
        capital.group().lower()
        for capital in capitals
        if capital.start() or (len(capital.group()) > 1 and capital.group().isupper())
    ]
    return text.text.lower() if text.text.isupper() or _LISTS.cased.isdisjoint(named) else None


@perturbation("title-case", family=_WRITING, tasks=ANYWHERE, version="3")
def title_case(text: Analysis, choices: random.Random) -> str | None:
    """Every word begins with a capital."""
    return replaced_outside(_PLAIN, lambda match: match.group()[0].upper() + match.group()[1:], text.text)


@perturbation("wide-spaces", family=_WRITING, tasks=ANYWHERE)
def wide_spaces(text: Analysis, choices: random.Random) -> str | None:
    """Two or three spaces stand between words where there was one, in a quarter of the places."""
    gaps = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text.text)]
    wide = {at: choices.choice((2, 3)) for at in choices.sample(gaps, min(len(gaps), max(1, len(gaps) // 4)))}
    return "".join(letter * wide.get(at, 1) for at, letter in enumerate(text.text))


@perturbation(
    "final-mark",
    family=_WRITING,
    tasks=uses("classification", "inference", "question-answering", "sentiment", "similarity"),
)
def final_mark(text: Analysis, choices: random.Random) -> str | None:
    """The last full stop or question mark is left out, or a full stop is put where there is no mark."""
    body = text.text.rstrip()
    if body[-1:].isalnum():
        return f"{body}." if not ends_abbreviated(f"{body}.") else None
    left = re.sub(r"""(?<![?!.])[.?](?=["”'’)\]]*$)""", "", body)
    return left if left != body and not ends_abbreviated(body) and any(map(str.isalnum, left)) else None


@perturbation("punctuation-added", family=_WRITING, tasks=ANYWHERE)
def punctuation_added(text: Analysis, choices: random.Random) -> str | None:
    """Marks that say nothing are added: a dash, star or arrow before the text, or a second full stop behind it."""
    body = text.text.strip()
    if not body[:1].isalnum():
        return None
    kinds = [f"{mark} {body}" for mark in "-*>"]
    if body[-1] in ".?" and body[-2:-1].isalnum() and not ends_abbreviated(body):
        kinds += [body + body[-1]] * 3
    return choices.choice(kinds)


@perturbation("spelling", family=_WRITING, by="together", version="3")
def spelling(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """British spellings become American, or, where there are none, American ones British: "colour", "color"."""
    for table in spellings():
        respelt = partial(_respelt, table)
        new = tuple(replaced_outside(_PLAIN, respelt, text.text) for text in texts)
        if new != tuple(text.text for text in texts):
            return Rewritten(new)
    return None


def _respelt(table: Mapping[str, str], match: re.Match[str]) -> str:
    return table.get(match.group(), match.group())


@cache
def spellings() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return British to American, and back, of `data/lexicons/spellings.tsv`: what means the same in both."""
    rows = [row[0].split() for row in data_rows("lexicons/spellings.tsv", 1)]
    american = {_with(row[0], end): _with(row[1], end) for row in rows for end in ("", *row[2:])}
    return american, {second: first for first, second in american.items()}


def _with(stem: str, ending: str) -> str:
    """Return stem and ending; one that begins with a vowel takes the place of a silent e: "realise", "realising"."""
    return (stem[:-1] if stem[-1] == "e" and ending[:1] in ("e", "i", "a") else stem) + ending


# The manner of a chat.

_MANNER = "another manner"
_SHORT = dict(entry.split("=") for entry in lines("perturbations.chat"))
_CHAT = re.compile(
    r"(?<![\w'’@#/&-])(?:" + "|".join(sorted(_SHORT, key=len, reverse=True)) + r")(?![\w'’@/&-])", re.IGNORECASE
)


@perturbation("social-media", family=_MANNER, version="2")
def social_media(text: Analysis, choices: random.Random) -> str | None:
    """Common words are written as in chats ("u", "cuz", "w/o"), in small letters and without the last full stop."""

    def shortened(match: re.Match[str]) -> str:
        long = match.group()
        stranded = long.lower() in ("with", "and") and not re.match(r" \w", match.string[match.end() :])
        inside = any(letter.isupper() for letter in long[1:]) or (long[0].isupper() and match.start() > 0)
        return long if inside or stranded else _SHORT[long.lower()]

    body = text.text.strip()
    if body.isupper() or not QUOTES.isdisjoint(body.replace("'", "").replace("’", "")):
        return None
    new = replaced_outside(_CHAT, shortened, body)
    ended = new[-1:] == "." and not ends_abbreviated(new) and new[-2:-1].isalnum()
    return None if new == body else new[:-1] if ended else new


@perturbation("mention-and-link", family=_MANNER)
def mention_and_link(text: Analysis, choices: random.Random) -> str | None:
    """Somebody is addressed before the text and a link stands behind it, as in posts."""
    body = text.text.strip()
    if not ends(body) or body[0] == "@" or "http" in body:
        return None
    return f"@{choices.choice(sorted(_LISTS.handles))} {body} https://example.org/p/{choices.randrange(100, 999)}"


# Words: others in their place that mean the same, and some that say nothing.

_WORDS = "other words for the same"
_SHORT_FORMS = ("n't", "'s", "'m", "'re", "'ve", "'ll", "'d")
_OPENINGS = ("By the way, ", "As a matter of fact, ", "For the record, ", "As it happens, ", "Just so you know, ")


@parsed("contractions", family=_WORDS, tasks=_UNLIKE_MRS, by="together", version="3")
def contractions(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Contractions are written in full, or, where there are none, full forms contracted."""
    for change in (expand, contract):
        if any(new := [change(text) for text in texts]):
            both = list(zip(texts, new, strict=True))
            left = (token for text, own in both for at, token in enumerate(text.tokens) if at not in own)
            if change is expand and any(token.low in _SHORT_FORMS and token.tag != "POS" for token in left):
                return None
            return Rewritten(tuple(text.replace(own) if own else text.text for text, own in both))
    return None


@parsed("synonyms", family=_WORDS, tasks=_UNLIKE_MRS)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms."""
    by_noun = {
        noun: new for noun, new in replacements(text, both_ways=True).items() if noun not in _LISTS.loose_synonyms
    }
    chosen = choices.sample(sorted(by_noun), min(2, len(by_noun)))
    return text.replace({at: word for noun in chosen for at, word in by_noun[noun].items()}) if chosen else None


@parsed("opening-phrase", family=_WORDS, tasks=_STATED, version="2")
def opening_phrase(text: Analysis, choices: random.Random) -> str | None:
    """A phrase that says nothing stands before the text: "By the way, ..."."""
    follows = inside_sentence(text)
    if follows is None or text.text.isupper() or "?" in text.text:
        return None
    opening = choices.choice(_OPENINGS)
    return (opening.lower() if text.text.islower() else opening) + follows


@parsed("adverbs", family="words around the text", tasks=_STATED)
def adverbs(text: Analysis, choices: random.Random) -> str | None:
    """By the main verb of one sentence stands "actually", "in fact" or "indeed"."""
    tree = tree_of(text.tokens) or Parse()
    places = [place for root in tree.roots() if (place := _adverb_place(tree, root))]
    if not places:
        return None
    at, behind = choices.choice(places)
    word = tree[at]
    adverb = choices.choice(("actually", "in fact", "indeed") if behind and word.head == at else ("actually",))
    adverb = adverb.upper() if text.text.isupper() else adverb
    return text.replace({at: f"{word.text} {adverb}" if behind else f"{adverb} {word.text}"})


def _adverb_place(tree: Parse, root: Word) -> tuple[int, bool] | None:
    """Return the word by whose side an adverb reads well, and whether it stands behind it."""
    tensed, subject = tree.tensed(root.index), tree.subject(root.index)
    if root.tag[:2] != "VB" or tensed is None or subject is None or subject.index > tensed.index:
        return None
    unsure = subject.tag[0] == "W" or (tensed.tag == "MD" and tensed.low not in ("will", "'ll"))
    if unsure or any(word.low in _LISTS.said or word.text in '?"“”;:' for word in tree.under(root.index)):
        return None
    before, after = tree[tensed.index - 1], next(iter(tree[tensed.index + 1 :]), None)
    if not before.text[-1].isalnum() or before.tag in _LISTS.link_tags:
        return None
    if after is None or not after.text[0].isalnum() or after.tag in _LISTS.taken_tags:
        return None
    if tensed is not root or tensed.low in BE_FINITE | {"'s", "'re", "'m"}:
        return (tensed.index, True) if tensed.low not in ("do", "does", "did", "'d") else None
    return (tensed.index, False) if tensed.tag in ("VBZ", "VBD") else None


# Clauses: the same parts, put together otherwise.

_BUILDING = "the sentence put together otherwise"
_TOLD = uses("classification", "inference", "similarity", "summarization")
"""Not of questions and contexts: what was asked for may be a list, whose order changes."""


@parsed("swapped-conjuncts", family=_BUILDING, tasks=_TOLD, by="sentence")
def swapped_conjuncts(text: Analysis, choices: random.Random) -> str | None:
    """What "and" or "or" joins swaps places, once in a sentence."""
    return next(filter(None, (swap(text, pair) for pair in drawn(swappable(text), choices))), None)


@parsed("but-although", family=_BUILDING, tasks=_TOLD, by="sentence", version="3")
def but_although(text: Analysis, choices: random.Random) -> str | None:
    """Two clauses joined by "but" are joined by "although" instead, or the other way round."""
    if not re.search(r"\b(?:but|though|although)\b", text.text, re.IGNORECASE):
        return None
    low = text.low
    joint = next((at for at, word in enumerate(low) if word in ("but", "although", "though")), None)
    if joint is None or (low[joint] != "but" and joint > 1) or low[0] in ("and", "or", "so") or "sorry" in low:
        return None
    remark = low[joint] == "but" and not _LISTS.out_of_place.isdisjoint(low[:joint]) and "i" in low[:joint]
    return None if remark else switch(text)


@parsed("tense", family="other forms of words", tasks=UNSURE, version="2")
def tense(text: Analysis, choices: random.Random) -> str | None:
    """Finite verbs change from the present to the past, or from the past to the present."""
    tenses = {token.tag == "VBD" for token in text.tokens if token.tag in ("VBD", "VBZ", "VBP")}
    if not _LISTS.timed.isdisjoint(text.words) or len(tenses) > 1:
        return None
    new = {at: changed for at, sentence in enumerate(text.sentences) if (changed := change_tense(sentence))}
    return text.replace_sentences(new) if new and len(new) == len(text.sentences) else None


# Sentences: more of them, beside those of the text.

SENTENCES = "sentences added or moved"
_READ = uses("inference", "question-answering", "sentiment", "summarization")


@cache
def irrelevant_sentences() -> Mapping[str, frozenset[str]]:
    """Return the sentences of everyday life of data/sentences, with their stems."""
    text = data_file("sentences/irrelevant.txt").read_text(encoding="utf-8")
    return {sentence: content_stems(sentence) for sentence in filter(None, text.splitlines())}


def irrelevant_to(texts: Sequence[Analysis]) -> list[str]:
    """Return those that share no word but function words with any of these texts, by its stem."""
    stems = frozenset[str]().union(*(content_stems(text.text) for text in texts))
    return [sentence for sentence, own in irrelevant_sentences().items() if stems.isdisjoint(own)]


def content_stems(text: str) -> frozenset[str]:
    """Return the words of a text that name something, without endings: enough to see whether two texts share one."""
    low = [word.lower() for word in split_words(text) if word[0].isalnum()]
    return frozenset(_stem(word) for word in low if word not in FUNCTION_WORDS)


def _stem(word: str) -> str:
    for ending in ("ing", "ers", "ies", "ed", "es", "er", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("i" if ending in ("ies", "y") else "")
    return word


def appended(text: Analysis, sentence: str) -> str:
    """Return a text with a sentence at its end, on a line of its own where the text's sentences have such; in lower
    case where the text is."""
    body, spans = text.text.rstrip(), text.spans
    body += "." if body[-1:].isalnum() else ""
    lines = len(spans) > 1 and all("\n" in text.text[a[1] : b[0]] for a, b in itertools.pairwise(spans))
    return body + ("\n" if lines else " ") + (sentence.lower() if text.text == text.text.lower() else sentence)


def ends(text: str) -> bool:
    """Return whether a text ends as a sentence does, or with a word: not with a colon or dash."""
    body = text.rstrip().rstrip("\"”'’)]")
    return body[-1:].isalnum() or body[-1:] in (".", "!", "?", "…")


@perturbation("irrelevant-sentence", family=SENTENCES, tasks=_READ, by="input")
def irrelevant_sentence(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text."""
    candidates = irrelevant_to(texts)
    if not candidates or not ends(texts[0].text):
        return None
    return Rewritten((appended(texts[0], choices.choice(candidates)), *(text.text for text in texts[1:])))


@perturbation("irrelevant-opening", family=SENTENCES, tasks=_READ, by="input")
def irrelevant_opening(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands before the first text, whose places all move."""
    candidates, first = irrelevant_to(texts), texts[0]
    opening = first.text.lstrip()
    if not candidates or not opening[:1].isalnum() or not _LISTS.pointing.isdisjoint(first.low[:6]):
        return None
    sentence = choices.choice(candidates)
    before = sentence.lower() if first.text.islower() else sentence
    return Rewritten((f"{before} {opening}", *(text.text for text in texts[1:])))


@perturbation(
    "repeated-sentence",
    family=SENTENCES,
    tasks=uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def repeated_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other."""
    spans = passages(text).spans
    whole = [span for span in spans if ends(part := text.text[slice(*span)]) and len(part.split()) > 2]
    if not whole:
        return None
    start, end = choices.choice(whole)
    sentence = text.text[start:end]
    return text.text[:end] + ("." if sentence[-1].isalnum() else "") + " " + sentence + text.text[end:]


# What a review of a film names is explained, by sentences of ours in the place of the encyclopaedia that TextFlint's
# AddSum takes its summaries from (Wang et al. 2021, section 3).

_NAMED = "facts about what is named"
_OTHER_FILM = re.compile(
    r"""["']?\s+(?:\d|[IVX]+\b|(?:part|trilogy|series|films|movies|saga|episode|and the)\b)""", re.IGNORECASE
)
"""What follows a title where another film, or several, are meant."""


@cache
def sentences_about(kind: str) -> Mapping[str, str]:
    """Return name -> a plain sentence about it, of a file of data/sentences."""
    return {name: sentence for name, sentence, *_ in data_rows(f"sentences/{kind}.tsv", 2)}


@cache
def _names(kind: str) -> re.Pattern[str]:
    names = sorted(sentences_about(kind), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])", re.IGNORECASE)


def _explained(kind: str, text: Analysis, choices: random.Random) -> str | None:
    """Return the text with a sentence on something that it names, spelt as in the file, or all in small letters in a
    text that is; None where it names nothing, or it may be something else."""
    by_name = {name.lower(): (name, sentence) for name, sentence in sentences_about(kind).items()}
    named = set()
    for match in _names(kind).finditer(text.text):
        low = match.group().lower()
        if (text.text.islower() and " " in low) or match.group() == by_name[low][0]:
            if kind == "films" and (
                low in lines("perturbations.not_only_films") or _OTHER_FILM.match(text.text, match.end())
            ):
                return None
            named.add(low)
    return appended(text, by_name[choices.choice(sorted(named))][1]) if named and ends(text.text) else None


@perturbation("person-summary-added", family=_NAMED, tasks=SENTIMENT)
def person_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a person whom the text names stands at its end."""
    return _explained("people", text, choices)


@perturbation("film-summary-added", family=_NAMED, tasks=SENTIMENT, version="2")
def film_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a film that the text names stands at its end."""
    return _explained("films", text, choices)
