"""Perturbations of English texts that keep what is said: case, marks, spelling, words, clauses, and sentences around.

Those of letters are in `noise.py`. Each is a relation of every task that it makes sense for; `EVERY` of
`audit.relations.uses` says what tasks usually make of one. docs/reference/relations.md lists them by task.
"""

import itertools
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial

from audit.packs.english.capitals import inside_sentence
from audit.packs.english.clauses import switch
from audit.packs.english.contractions import contract, expand, has_contraction, has_full_form
from audit.packs.english.coordination import swap, swappable
from audit.packs.english.guard import drawn
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.passages import passages, replaced
from audit.packs.english.synonyms import replacements
from audit.packs.english.tagging import split_words
from audit.packs.english.tense import change_tense
from audit.packs.english.vocabulary import BE_FINITE, FUNCTION_WORDS, QUOTES
from audit.relations.base import Rewritten, nothing
from audit.relations.uses import BOTH, EVERY, FIRST, relation, uses
from audit.resources import data_file, data_rows
from audit.text import Analysis
from audit.text.tokens import words

TOOLS = ("lemminflect", "spacy")
"""What the extra `english` brings for words and tags."""
parsed = partial(relation, needs=TOOLS, grammar=True)
"""The decorator of what reads a text's tags or trees."""
ANYWHERE = EVERY | uses("question-answering", texts=BOTH, changes="one")
SENTIMENT = uses("sentiment")
"""What sentiment makes of a perturbation that keeps what is felt."""
UNSURE = uses("classification", carry=nothing)
"""Labels may be about what changes: when, how many, where."""
STATED = uses("classification", "inference", "sentiment", "similarity", "summarization")
"""Not of questions."""
_UNLIKE_MRS = {task: use for task, use in EVERY.items() if task != "sentiment"}
"""For what sentiment has as a relation of its study."""

# Case, marks and spaces: no word changes.

_WRITING = "another way to write"
_CASED = words(
    "us it who aids may march august will bill mark rose grant drew frank sue jack rob pat bob polish turkey china "
    "chile jordan apple amazon target shell gap ford visa windows word excel oracle guinea china reading nice bath pin"
)
"""Words that are another word in lower case."""
_FINAL = re.compile(r"""(?P<mark>[.?])(?P<closers>["”'’)\]]*)\s*$""")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]\.|\.\.|\b(?:etc|inc|corp|co|ltd|jr|sr|no|st|mr|mrs|ms|dr)\.)\W*$", re.IGNORECASE
)
_PLAIN = re.compile(r"(?<![\w'’@#/.&-])[a-z][a-z'’]*(?![\w@/&]|\.\w)")
"""Words in small letters that are no part of an address or of a word with a hyphen."""


def ends_abbreviated(text: str) -> bool:
    """Whether the full stop at a text's end belongs to an abbreviation.

    >>> ends_abbreviated("He left the U.S."), ends_abbreviated("He left.")
    (True, False)
    """
    return _ABBREVIATED.search(text) is not None


@relation("upper-case", family=_WRITING, tasks=_UNLIKE_MRS | uses("question-answering", texts=BOTH, changes="one"))
def upper_case(text: Analysis, choices: random.Random) -> str | None:
    """All letters of a text are capitals.

    Keeps every letter but its case; may break labels of tone, since capitals shout, and words that only their case
    tells apart: "us", "US".

    >>> upper_case(Analysis("It isn't good."), random.Random(0))
    "IT ISN'T GOOD."
    """
    return text.text.upper()


@relation("lower-case", family=_WRITING, tasks=ANYWHERE)
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


@relation("title-case", family=_WRITING, tasks=ANYWHERE, version="2")
def title_case(text: Analysis, choices: random.Random) -> str | None:
    """Every word begins with a capital.

    Keeps what is said; may break labels of style, and which words are names.

    >>> title_case(Analysis("It isn't a good film."), random.Random(0))
    "It Isn't A Good Film."
    """
    return replaced(_PLAIN, lambda match: match.group()[0].upper() + match.group()[1:], text.text)


@relation("wide-spaces", family=_WRITING, tasks=ANYWHERE)
def wide_spaces(text: Analysis, choices: random.Random) -> str | None:
    """Two or three spaces stand between words where there was one, in a quarter of the places.

    Keeps every word; may break a layout that is made of spaces: tables, verse, code.

    >>> wide_spaces(Analysis("It is a very good film."), random.Random(0))
    'It is a very   good film.'
    """
    gaps = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text.text)]
    wide = {at: choices.choice((2, 3)) for at in choices.sample(gaps, min(len(gaps), max(1, len(gaps) // 4)))}
    return "".join(letter * wide.get(at, 1) for at, letter in enumerate(text.text))


@relation(
    "final-mark",
    family=_WRITING,
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
        return f"{body}." if not ends_abbreviated(f"{body}.") else None
    match = _FINAL.search(body)
    if match is None or ends_abbreviated(body) or body[match.start() - 1 : match.start()] in ("?", "!", "."):
        return None
    left = body[: match.start()] + match["closers"]
    return left if any(map(str.isalnum, left)) else None


@relation("punctuation-added", family=_WRITING, tasks=ANYWHERE)
def punctuation_added(text: Analysis, choices: random.Random) -> str | None:
    """Marks that say nothing are added: a dash, star or arrow before the text, or a second full stop behind it.

    Keeps every word; may break labels of form and tone: a star makes a list item, an arrow a quotation, two full stops
    a voice that trails off.

    No exclamation mark: it is MR1.4 of sentiment.

    >>> punctuation_added(Analysis("It is good."), random.Random(1))
    '* It is good.'
    """
    body = text.text.strip()
    if not body[:1].isalnum():
        return None
    kinds = [f"{mark} {body}" for mark in "-*>"]
    if body[-1] in ".?" and body[-2:-1].isalnum() and not ends_abbreviated(body):
        kinds += [body + body[-1]] * 3
    return choices.choice(kinds)


@relation("spelling", family=_WRITING, by="together", version="2")
def spelling(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """British spellings become American, or, where there are none, American ones British: "colour", "color".

    Keeps what is said; may break labels of where a text or its writer comes from, and the spelling of somebody who is
    quoted.

    The words are those of `data/lexicons/spellings.tsv` that mean the same in both; of two texts, both change alike.
    Names stay.

    >>> spelling([Analysis("The colour is grey."), Analysis("It's a color.")], random.Random(0)).texts
    ('The color is gray.', "It's a color.")
    """
    for table in spellings():
        new = tuple(_respelt(text.text, table) for text in texts)
        if new != tuple(text.text for text in texts):
            return Rewritten(new)
    return None


def _respelt(text: str, table: Mapping[str, str]) -> str:
    return _PLAIN.sub(lambda match: table.get(match.group(), match.group()), text)


@cache
def spellings() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """British to American, and back."""
    rows = [row[0].split() for row in data_rows("lexicons/spellings.tsv", 1)]
    american = {_with(row[0], end): _with(row[1], end) for row in rows for end in ("", *row[2:])}
    return american, {second: first for first, second in american.items()}


def _with(stem: str, ending: str) -> str:
    """An ending that begins with a vowel takes the place of a silent e: "realise", "realising"."""
    return (stem[:-1] if stem[-1] == "e" and ending[:1] in ("e", "i", "a") else stem) + ending


# The manner of a chat.

_MANNER = "another manner"
_SHORT: Mapping[str, str] = dict(
    re.findall(
        r"([^=;]+)=([^;]+)",
        "by the way=btw;to be honest=tbh;in my opinion=imo;as far as i know=afaik;as soon as possible=asap;"
        "i don't know=idk;are you=r u;you are=ur;your=ur;you=u;because=cuz;please=pls;thanks=thx;thank you=thx;"
        "people=ppl;tomorrow=tmrw;tonight=2nite;before=b4;without=w/o;with=w/;though=tho;although=altho;through=thru;"
        "probably=prob;something=smth;about=abt;really=rly;between=btwn;and=&;minutes=mins;message=msg;favorite=fave",
    )
)
_CHAT = re.compile(
    r"(?<![\w'’@#/&-])(?:" + "|".join(sorted(_SHORT, key=len, reverse=True)) + r")(?![\w'’@/&-])", re.IGNORECASE
)
_HANDLES = sorted(words("sam_k lena77 jo_reads the_mike tomtom_b annika_w dave_ok rita_o"))


@relation("social-media", family=_MANNER, version="2")
def social_media(text: Analysis, choices: random.Random) -> str | None:
    """Common words are written as in chats ("u", "cuz", "w/o"), in small letters and without the last full stop.

    Keeps what is said; may break labels of register and of the writer's age, and short words that stand for two ("ur":
    "your", "you are").

    Words with a capital inside a sentence stay: they may be names. Nothing is added that praises or blames ("lol",
    faces).

    >>> social_media(Analysis("Thanks for the film, I like it because you do."), random.Random(0))
    'thx for the film, I like it cuz u do'
    """

    def shortened(match: re.Match[str]) -> str:
        long = match.group()
        stranded = long.lower() in ("with", "and") and not re.match(r" \w", match.string[match.end() :])
        inside = any(letter.isupper() for letter in long[1:]) or (long[0].isupper() and match.start() > 0)
        return long if inside or stranded else _SHORT[long.lower()]

    body = text.text.strip()
    if body.isupper() or not QUOTES.isdisjoint(body.replace("'", "").replace("’", "")):
        return None
    new = replaced(_CHAT, shortened, body)
    if new == body:
        return None
    ended = new[-1:] == "." and not ends_abbreviated(new) and new[-2:-1].isalnum()
    return new[:-1] if ended else new


@relation("mention-and-link", family=_MANNER)
def mention_and_link(text: Analysis, choices: random.Random) -> str | None:
    """Somebody is addressed before the text and a link stands behind it, as in posts.

    Keeps every sentence of the text; may break whom it speaks to, and labels of source or of advertising, to which
    links belong.

    The name and the link are invented and say nothing.

    >>> mention_and_link(Analysis("I like it."), random.Random(0))
    '@the_mike I like it. https://example.org/p/876'
    """
    body = text.text.strip()
    if not ends(body) or body[0] == "@" or "http" in body:
        return None
    return f"@{choices.choice(_HANDLES)} {body} https://example.org/p/{choices.randrange(100, 999)}"


# Words: others in their place that mean the same, and some that say nothing.

_WORDS = "other words for the same"
_LOOSE = words("tune song drawing sketch headphone earphone")
"""Nouns whose synonyms of the list are near ones."""
_OPENINGS = ("By the way, ", "As a matter of fact, ", "For the record, ", "As it happens, ", "Just so you know, ")


@parsed("contractions", family=_WORDS, tasks=_UNLIKE_MRS, by="together", version="2")
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


@parsed("synonyms", family=_WORDS, tasks=_UNLIKE_MRS)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms.

    Keeps what is said, as near as two words come; may break set phrases, labels of style, and whatever hangs on the
    very word: a class, an answer, a quotation.

    Of `data/lexicons/synonyms.tsv` those that can take each other's place: an actor is a performer, but not every
    performer is an actor.

    >>> synonyms(Analysis("I want to buy a bike."), random.Random(0))
    'I want to buy a bicycle.'
    """
    by_noun = {noun: new for noun, new in replacements(text.tokens, both_ways=True).items() if noun not in _LOOSE}
    chosen = choices.sample(sorted(by_noun), min(2, len(by_noun)))
    return text.replace({at: word for noun in chosen for at, word in by_noun[noun].items()}) if chosen else None


@parsed("opening-phrase", family=_WORDS, tasks=STATED)
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


@parsed("adverbs", family="words around the text", tasks=STATED)
def adverbs(text: Analysis, choices: random.Random) -> str | None:
    """By the main verb of one sentence stands "actually", "in fact" or "indeed".

    Keeps what is true; may break tone: "actually" hints that somebody thought otherwise, "indeed" that somebody agrees.

    Only in a statement without negation, question or other adverb there.

    >>> adverbs(Analysis("The film opens in May."), random.Random(0))
    'The film actually opens in May.'
    """
    tree = tree_of(text.tokens)
    places = [place for root in tree.roots() if (place := _adverb_place(tree, root))] if tree else []
    if tree is None or not places:
        return None
    at, behind = choices.choice(places)
    word = tree.words[at]
    adverb = choices.choice(("actually", "in fact", "indeed") if behind and word.head == at else ("actually",))
    adverb = adverb.upper() if text.text.isupper() else adverb
    return text.replace({at: f"{word.text} {adverb}" if behind else f"{adverb} {word.text}"})


_SAID = words(
    "also always never often really still even just already actually indeed not n't only all both so too if unless "
    "let me got"
)
_LINKS = ("RB", "CC", "IN", "WRB", "WP", "WDT")
"""Tags before a verb that an adverb would not stand between."""
_TAKEN = ("RB", "RBR", "RBS", "TO", "PRP", "WRB", "WP")
"""Tags behind it likewise."""


def _adverb_place(tree: Parse, root: Word) -> tuple[int, bool] | None:
    """The word by whose side an adverb reads well, and whether it stands behind it; None: none does."""
    tensed, subject = tree.tensed(root.index), tree.subject(root.index)
    if root.tag[:2] != "VB" or tensed is None or subject is None or subject.index > tensed.index:
        return None
    under = tree.under(root.index)
    unsure = subject.tag[0] == "W" or (tensed.tag == "MD" and tensed.low not in ("will", "'ll"))
    if unsure or any(word.low in _SAID or word.text in '?"“”;:' for word in under):
        return None
    before, after = tree.words[tensed.index - 1], next(iter(tree.words[tensed.index + 1 :]), None)
    if not before.text[-1].isalnum() or before.tag in _LINKS:
        return None
    if after is None or not after.text[0].isalnum() or after.tag in _TAKEN:
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
    """What "and" or "or" joins swaps places, once in a sentence.

    Keeps what is joined; may break an order that says something (first this, then that), and a pronoun that pointed
    back into the first part.

    >>> swapped_conjuncts(Analysis("The film is wonderful and exciting."), random.Random(0))
    'The film is exciting and wonderful.'
    """
    return next(filter(None, (swap(text, pair) for pair in drawn(swappable(text), choices))), None)


_OUT_OF_PLACE = words("and but or so sorry thanks please bore spoil reveal give know")
"""Words of a first clause that is a remark on what is said: "sorry", "I won't give it away"."""


@parsed("but-although", family=_BUILDING, tasks=_TOLD, by="sentence", version="2")
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


_TIMED = words("? now today still already yet since ago yesterday tomorrow when until till cannot = times years old")


@parsed("tense", family="other forms of words", tasks=UNSURE, version="2")
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


# Sentences: more of them, beside those of the text.

SENTENCES = "sentences added or moved"
_READ = uses("inference", "question-answering", "sentiment", "summarization")


@cache
def sentences_of(name: str) -> tuple[str, ...]:
    """The sentences of a file of data/sentences.

    >>> len(sentences_of("irrelevant")) >= 40
    True
    """
    return tuple(filter(None, data_file(f"sentences/{name}.txt").read_text(encoding="utf-8").splitlines()))


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
    """A text with a sentence at its end, on a line of its own where the text's sentences have such; in lower case where
    the text is.

    >>> appended(Analysis("It is long"), "That is all.")
    'It is long. That is all.'
    """
    body, spans = text.text.rstrip(), text.spans
    body += "." if body[-1:].isalnum() else ""
    lines = len(spans) > 1 and all("\n" in text.text[a[1] : b[0]] for a, b in itertools.pairwise(spans))
    return body + ("\n" if lines else " ") + (sentence.lower() if text.text == text.text.lower() else sentence)


def ends(text: str) -> bool:
    """Whether a text ends as a sentence does, or with a word: not with a colon or dash."""
    body = text.rstrip().rstrip("\"”'’)]")
    return body[-1:].isalnum() or body[-1:] in (".", "!", "?", "…")


@relation("irrelevant-sentence", family=SENTENCES, tasks=_READ, by="input")
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


_POINTING = words(
    "it its he she they him his her their this that these those him and but or so because also however then there "
    "such another other both neither same here"
)


@relation("irrelevant-opening", family=SENTENCES, tasks=_READ, by="input")
def irrelevant_opening(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands before the first text, whose places all move.

    Keeps every sentence of the text; may break what "the" in its first sentence points to, answers that are places in
    the text, and a topic that is read off its beginning.

    It is one of `data/sentences/irrelevant.txt` that shares no word with any text of the input; no group where the text
    opens with a word that would point to it.

    >>> texts = Analysis("Ann lives in Oslo."), Analysis("Where does Ann live?")
    >>> irrelevant_opening(texts, random.Random(0)).texts[0]
    'The vending machine accepts coins. Ann lives in Oslo.'
    """
    candidates = irrelevant_to(texts)
    first, *others = texts
    opening = first.text.lstrip()
    if not candidates or not opening[:1].isalnum() or not _POINTING.isdisjoint(first.low[:6]):
        return None
    sentence = choices.choice(candidates)
    before = sentence.lower() if first.text.islower() else sentence
    return Rewritten((f"{before} {opening}", *(text.text for text in others)))


@relation(
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
_NOT_ONLY_FILMS = ("scary movie", "sin city", "friday the 13th", "american beauty", "home alone", "super size me")
"""Titles that are common words as well."""


@cache
def sentences_about(kind: str) -> Mapping[str, str]:
    """Name -> a plain sentence about it, of a file of data/sentences.

    >>> sentences_about("people")["Tom Hanks"]
    'Tom Hanks is an American actor who was born in California in 1956.'
    """
    lines = data_file(f"sentences/{kind}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


@cache
def _names(kind: str) -> re.Pattern[str]:
    names = sorted(sentences_about(kind), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])", re.IGNORECASE)


def _explained(kind: str, text: Analysis, choices: random.Random) -> str | None:
    """The text with a sentence on something that it names, spelt as in the file, or all in small letters in a text that
    is; None where it names nothing, or it may be something else."""
    by_name = {name.lower(): (name, sentence) for name, sentence in sentences_about(kind).items()}
    named = set()
    for match in _names(kind).finditer(text.text):
        low = match.group().lower()
        if (text.text.islower() and " " in low) or match.group() == by_name[low][0]:
            if kind == "films" and (low in _NOT_ONLY_FILMS or _OTHER_FILM.match(text.text, match.end())):
                return None
            named.add(low)
    return appended(text, by_name[choices.choice(sorted(named))][1]) if named and ends(text.text) else None


@relation("person-summary-added", family=_NAMED, tasks=SENTIMENT)
def person_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a person whom the text names stands at its end.

    Keeps every sentence of the review; may break its thread, and the reference where somebody else of that name is
    meant.

    The facts are those of `data/sentences/people.tsv`: where and when somebody was born. They praise and blame nothing,
    so the label stays.

    >>> person_summary_added(Analysis("Tom Hanks is wonderful here."), random.Random(0))
    'Tom Hanks is wonderful here. Tom Hanks is an American actor who was born in California in 1956.'
    """
    return _explained("people", text, choices)


@relation("film-summary-added", family=_NAMED, tasks=SENTIMENT, version="2")
def film_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a film that the text names stands at its end.

    Keeps every sentence of the review; may break its thread, and the reference where another film of the title or of
    its series is meant.

    The facts are those of `data/sentences/films.tsv`: who directed it, and when it came out. The label stays. Not of
    sequels, nor of titles that are common words as well.

    >>> film_summary_added(Analysis("It is no Blade Runner, but I liked it."), random.Random(0)).partition(". ")[2]
    '"Blade Runner" is an American film that was released in 1982 and directed by Ridley Scott.'
    """
    return _explained("films", text, choices)
