"""From the present to the past and back, for all finite verbs of an English sentence at once."""

import re
from collections.abc import Sequence

from audit.language.finite import NOMINATIVE, Finite, finite_verbs
from audit.language.inflection import forms
from audit.language.text import Analysis, Token
from audit.language.wordsets import words

_TO_PAST = {
    "is": "was", "am": "was", "are": "were", "'m": " was", "'re": " were", "has": "had", "have": "had", "'ve": " had",
    "do": "did", "does": "did", "can": "could", "will": "would", "ca": "could", "wo": "would", "'ll": "'d",
    "cannot": "could not",
}  # fmt: skip


def _phrases(*lines: str) -> re.Pattern[str]:
    """Any of the phrases, in a text in lower case: without regard to case, looking takes five times as long."""
    return re.compile(rf"\b(?:{'|'.join(lines)})\b")


# Words of time that a sentence in the past, or in the present, would contradict.
_NOW = _phrases(
    r"now|nowadays|today|today's|tonight|tomorrow|currently|presently|these days|so far|until now|to date|yet|recently",
    r"since|any ?more|20\d\d|next (?:week|month|year)|ago|already",
)
_THEN = _phrases(
    r"yesterday|ago|last (?:night|week|month|year|time|summer|weekend)|back (?:then|in)|used to|once|recently|since",
    r"the other day|1[89]\d\d|20\d\d|[1-9]0'?s|years? (?:later|earlier|before)|originally|previously|until|at the time",
    r"if|wish|wished|as though|would have|could have|would've|could've|as a (?:kid|child|boy|girl|teenager)|first time",
    r"when i was|earlier|born|then|c[ao]me out|died|just|better|ever|decades?|centur(?:y|ies)|won|day|night|ended up",
    r"happened to|before|after",
)
# Turns of phrase that keep their tense.
_FIXED = _phrases(
    r"as it (?:comes|gets|goes)|as they (?:get|go)|that is (?:to say|if)|if you will|i mean|you know|mind you",
    r"so to speak",
    r"what's more|let's|that is,|i guess|i suppose|needless to say|thank (?:god|goodness|you)|here's|i must|i dare",
    r"as it were|i say|i repeat|i kid you not|rest assured|no wonder|believe it or not|like it or not|come what",
    r"god bless|i swear|trust me|how come|that's right|that's it|that's all|why not|go figure|i am sure|i'm sure",
    r"i'm sorry|i'm afraid|thanks|this is one of",
)
_QUOTED = re.compile(r"[\"“”*<>@]|\.\.|http")
# Verbs that say what somebody feels or how things are: "I loved it" reads well in the present, "I rented it" does not.
_STATES = words(
    "be have like love hate enjoy think feel want find know believe need hope dislike prefer adore admire loathe "
    "despise appreciate understand agree wonder doubt care do could would expect fail remember see recommend"
)


def change_tense(analysis: Analysis) -> str | None:
    """The sentence with all finite verbs moved from the present to the past or from the past to the present.

    None where a verb's reading is unsure, the tenses are mixed, or a word of time contradicts the new tense.

    >>> change_tense(Analysis("The story isn't new, but they tell it well."))
    "The story wasn't new, but they told it well."
    >>> change_tense(Analysis("It is now on DVD.")) is None
    True
    """
    lower = analysis.text.lower()
    if _FIXED.search(lower) or _QUOTED.search(lower):
        return None
    tokens = analysis.tokens
    verbs = [verb for verb in finite_verbs(tokens) or () if not _as_they_come(tokens, verb.index)]
    if not verbs or any(_looks_like_title(tokens, verb.index) for verb in verbs):
        return None
    tenses = {verb.tense for verb in verbs}
    if all(verb.word in ("will", "wo", "'ll") for verb in verbs):
        return None  # "it would please you" is no past: it waits for an "if"
    if tenses == {"present"} and not _NOW.search(lower):
        new = _complete([_to_past(tokens, verb) for verb in verbs])
    elif tenses == {"past"} and not _THEN.search(lower):
        new = _to_present_all(tokens, verbs)
    else:
        return None
    if new is None:
        return None
    replaced: dict[int, str] = {}
    for verb, form in zip(verbs, new, strict=True):
        spelled = form[0].upper() + form[1:] if tokens[verb.index].text[0].isupper() else form
        if spelled == "am" and verb.index + 1 < len(tokens) and tokens[verb.index + 1].lower.replace("’", "'") == "n't":
            replaced[verb.index + 1] = " not"
        replaced[verb.index] = spelled
    return analysis.replace(replaced)


def _complete(made: Sequence[str | None]) -> list[str] | None:
    found = [form for form in made if form is not None]
    return found if len(found) == len(made) else None


def _as_they_come(tokens: Sequence[Token], index: int) -> bool:
    """Whether the verb is that of "as bad as they come", which is said in any tense."""
    return index > 1 and [token.lower for token in tokens[index - 2 : index + 1]] == ["as", "they", "come"]


def _looks_like_title(tokens: Sequence[Token], index: int) -> bool:
    text = tokens[index].text
    return (index > 0 and text[0].isupper()) or (len(text) > 1 and text.isupper())


def _to_past(tokens: Sequence[Token], verb: Finite) -> str | None:
    if verb.lemma == "'s":
        return _is_or_has(tokens, verb.index)
    if verb.word in _TO_PAST:
        return _TO_PAST[verb.word]
    made = forms(verb.lemma, "VBD")
    return made[0] if made else None


def _is_or_has(tokens: Sequence[Token], index: int) -> str | None:
    """The past of 's: " was" or " had"."""
    rest = [token for token in tokens[index + 1 : index + 5] if not token.tag.startswith("RB")]
    if not rest:
        return None
    if rest[0].lower in ("been", "got", "had", "become", "gone", "come"):
        return " had" if rest[0].lower != "got" else None
    if rest[0].tag in ("VBN", "VBD") and len(rest) > 1 and rest[1].tag in ("DT", "PRP", "PRP$"):
        return None
    return " was"


def _to_present_all(tokens: Sequence[Token], verbs: Sequence[Finite]) -> list[str] | None:
    made: list[str] = []
    singular: bool | None = None
    modal_only = all(verb.word in ("could", "would") for verb in verbs)
    for verb in verbs:
        subject, joined = _subject(tokens, verb, verbs)
        if not joined:
            singular = None if subject is None else subject != "plural"
        first = subject == "i" or (joined and made and made[-1] == "am")
        form: str | None
        if verb.word == "was":
            singular = True
            form = "am" if subject == "i" else "is"
        elif verb.word == "were":
            singular = False
            form = "are"
        elif verb.word in ("could", "would"):
            if modal_only or (verb.word == "would" and not _reported(made, verbs)):
                return None  # "I would get lost" is a habit or a condition, "I thought it would" has a present
            negated = verb.index + 1 < len(tokens) and tokens[verb.index + 1].lower.replace("’", "'") == "n't"
            form = {"could": "ca" if negated else "can", "would": "wo" if negated else "will"}[verb.word]
        elif singular is None:
            return None
        else:
            if subject in ("i", "we") and verb.lemma not in _STATES:
                return None
            plain = subject == "i" or first or not singular
            form = verb.lemma if plain else next(iter(forms(verb.lemma, "VBZ")), None)
        if form is None:
            return None
        made.append(form)
    return made


def _reported(made: Sequence[str], verbs: Sequence[Finite]) -> bool:
    """Whether a verb of saying or thinking stands before the verb whose form is next."""
    return any(verb.lemma in _REPORTING for verb in verbs[: len(made)])


_REPORTING = words("think know say hope believe feel expect guess tell promise assume realize suspect fear")
_STOP = words(", ; : ( ) - -- … and but or")
_OPENERS = words("that because when while although though as where why how what than so whether which who")


def _subject(tokens: Sequence[Token], verb: Finite, verbs: Sequence[Finite]) -> tuple[str | None, bool]:
    """("i", "we", "singular", "plural" or None for unsure; whether it is the subject of the verb before)."""
    at = verb.index - 1
    while at >= 0 and (tokens[at].tag.startswith("RB") or tokens[at].lower in ("all", "both")):
        at -= 1
    if at < 0:
        return None, False
    word, tag = tokens[at].lower, tokens[at].tag
    if word in ("and", "but", "or") and any(other.index < at for other in verbs):
        return _subject_before(tokens, verb, verbs), True
    if word in ("i", "we"):
        return word, False
    if word in NOMINATIVE or word in ("it", "you"):
        return ("plural" if word in ("they", "you") else "singular"), False
    if word in ("who", "which", "that") and at > 0:
        return _relative(tokens, at), False
    if not tag.startswith("NN"):
        return None, False
    start = at
    finite = {other.index for other in verbs}
    while start > 0:
        before = tokens[start - 1]
        stop = before.lower in _STOP or before.lower in _OPENERS or start - 1 in finite
        if stop or before.tag in ("VBG", "VBN", "VBD", "TO", "PRP", "WDT", "WP"):
            break
        start -= 1
    phrase = tokens[start : at + 1]
    edge = tokens[start - 1].lower if start else ""
    if (edge not in _OPENERS and edge not in ("", ",", "but")) or edge in ("who", "which"):
        return None, False
    return _number(phrase), False


def _subject_before(tokens: Sequence[Token], verb: Finite, verbs: Sequence[Finite]) -> str | None:
    before = [other for other in verbs if other.index < verb.index]
    subject, _ = _subject(tokens, before[-1], verbs)
    return subject


def _relative(tokens: Sequence[Token], at: int) -> str | None:
    noun = at - 1
    if tokens[noun].lower == ",":
        return None
    mark = tokens[noun].tag
    if noun >= 2 and any(token.lower in ("of", "and", "or") for token in tokens[max(0, noun - 4) : noun]):
        return None
    return _noun_number(mark)


def _noun_number(mark: str) -> str | None:
    return {"NN": "singular", "NNP": "singular", "NNS": "plural", "NNPS": "plural"}.get(mark)


def _number(phrase: Sequence[Token]) -> str | None:
    """Number of a noun phrase without conjunctions: that of the noun before its first preposition."""
    head: str | None = None
    for token in phrase:
        if token.lower in ("some", "most", "none", "lot", "lots", "number", "couple", "half", "majority", "people"):
            return "plural" if token.lower == "people" else None
        if token.tag == "IN" or token.lower == "of":
            break
        if token.tag.startswith("NN"):
            head = _noun_number(token.tag)
        elif head is not None:
            return None
    return head if phrase and phrase[0].tag != "IN" else None
