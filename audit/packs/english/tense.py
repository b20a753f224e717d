"""From the present to the past and back, for all finite verbs of an English text at once."""

import re
from functools import lru_cache

from audit.packs.english.guard import number_of, protected, sound
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import forms
from audit.text.analysis import Analysis
from audit.text.tokens import words

_TENSES = {"VBZ": "present", "VBP": "present", "VBD": "past"}
_MODALS = {word: ("present", form) for word, form in (("can", "could"), ("will", "would"), ("ca", "could"))} | {
    "wo": ("present", "would"),
    "'ll": ("present", "'d"),
    "cannot": ("present", "could not"),
    "could": ("past", "can"),
    "would": ("past", "will"),
}
"""Modal -> its tense, and itself in the other one."""
_PAST = {
    "is": "was", "am": "was", "are": "were", "'m": " was", "'re": " were", "has": "had", "have": "had", "'ve": " had",
    "do": "did", "does": "did",
}  # fmt: skip
_UNSURE = words("'d may might must should shall sha ought ai lets got gotta gonna wanna dare ur u im dont")
"""Words without a past or a present of their own, or that no parser reads rightly."""
_REPORTING = words("think know say hope believe feel expect guess tell promise assume realize suspect fear")
_STATES = words(
    "be have like love hate enjoy think feel want find know believe need hope dislike prefer adore admire loathe "
    "despise appreciate understand agree wonder doubt care do could would expect fail remember see recommend"
)
"""What somebody feels: "I loved it" reads well in the present, "I rented it" does not."""


def _phrases(*lines: str) -> re.Pattern[str]:
    """Any of the phrases, in a text in lower case: without regard to case, looking takes five times as long."""
    return re.compile(rf"\b(?:{'|'.join(lines)})\b")


# Words of time that a sentence in the past, or in the present, would contradict.
_NOW = _phrases(
    r"now|nowadays|today|tonight|tomorrow|currently|presently|these days|so far|until now|to date|yet|recently|since",
    r"later this|any ?more|20\d\d|next (?:week|month|year|\w+day)|ago|already",
)
_THEN = _phrases(
    r"yesterday|ago|last (?:night|week|month|year|time|summer|weekend)|back (?:then|in)|used to|once|recently|since",
    r"the other day|1[89]\d\d|20\d\d|[1-9]0'?s|later|earlier|originally|previously|until|at the time|born|died|won",
    r"if|wish|wished|as though|(?:w|c)ould(?: have|'ve)|as a (?:kid|child|boy|girl|teenager)|first time|then|when i",
    r"c[ao]me out|lasted|just|better|ever|decades?|centur(?:y|ies)|ended up|happened to|before|after|morning|evening",
    r"(?:second|minute|hour|day|night|week|month|year)s?|summer|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    r"january|february|april|june|july|august|(?:sept|nov|dec)ember|october",
)
# Turns of phrase that keep their tense, and marks beside which no parser reads verbs rightly.
_FIXED = _phrases(
    r"as it (?:comes|gets|goes|were)|as they (?:get|go)|that is (?:to say|if)|if you will|i mean|you know|mind you",
    r"so to speak|please|hope|hopefully|here (?:ya|you|we) go|what's more|let's|that is,|i (?:guess|suppose|say|swear)",
    r"thank (?:god|goodness|you)|thanks|here's|i must|i dare|rest assured|no wonder|like it or not|come what|bless",
    r"trust me|how come|that's (?:right|it|all)|why not|go figure|i(?: am|'m) (?:sure|sorry|afraid)|this is one of",
)
_UNREAD = re.compile(r"[“”*<>]|\.\.|http")


def change_tense(text: Analysis) -> str | None:
    """The text with all finite verbs moved from the present to the past or from the past to the present.

    None where a verb's reading is unsure, the tenses are mixed, or a word of time contradicts the new tense.

    >>> change_tense(Analysis("The story isn't new, but they tell it well."))
    "The story wasn't new, but they told it well."
    >>> change_tense(Analysis("It is now on DVD.")) is None
    True
    """
    lower = text.text.lower()
    if text.words & _UNSURE or _FIXED.search(lower) or _UNREAD.search(lower) or (tree := tree_of(text.tokens)) is None:
        return None
    verbs = [word for word in tree if (word.tag in _TENSES or word.tag == "MD") and not _stays(tree, word)]
    tenses = {_TENSES.get(verb.tag) or _MODALS.get(verb.low, ("unsure",))[0] for verb in verbs}
    if tenses not in ({"present"}, {"past"}) or (_NOW if tenses == {"present"} else _THEN).search(lower):
        return None
    if not protected(text).isdisjoint(verb.index for verb in verbs) or not sound(tree):
        return None
    if {verb.low for verb in verbs} <= {"will", "wo", "'ll"} or (
        tenses == {"past"} and {v.tag for v in verbs} == {"MD"}
    ):
        return None  # "it would please you" is no past: it waits for an "if"
    new: dict[int, str] = {}
    for verb in verbs:
        form = _past(tree, verb) if tenses == {"present"} else _present(tree, verb, verbs)
        if form is None:
            return None
        new[verb.index] = (
            form.upper() if verb.text.isupper() else form[0].upper() + form[1:] if verb.text.istitle() else form
        )
        if form == "am" and text.low[verb.index + 1 : verb.index + 2] == ("n't",):
            new[verb.index + 1] = " not"
    return text.replace(new)


def _stays(tree: Parse, verb: Word) -> bool:
    """Whether a verb keeps its tense: that of a name, and that of "as bad as they come"."""
    around = tree[max(0, verb.index - 2) : verb.index + 2]
    if verb.index and verb.text.istitle():
        return all(word.text[0].isupper() for word in around[1:])  # "What Lies Beneath"
    return [word.lower for word in around[:3]] == ["as", "they", "come"]


@lru_cache(maxsize=50_000)
def _lemma(word: str, tag: str) -> str | None:
    """The verb that a word in lower case is this form of; None where it is none, or that of several verbs.

    >>> _lemma("saw", "VBD"), _lemma("tells", "VBZ"), _lemma("table's", "VBZ")
    ('see', 'tell', None)
    """
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word, upos="VERB").get("VERB", ())
    fit = [lemma for lemma in lemmas if (word == lemma if tag in ("VB", "VBP") else word in forms(lemma, tag))]
    return fit[0] if len(fit) == 1 else None


def _past(tree: Parse, verb: Word) -> str | None:
    if verb.low == "'s":
        return _was_or_had(tree, verb)
    if verb.low in _MODALS:
        return _MODALS[verb.low][1]
    lemma = _lemma(verb.lower, verb.tag)
    return _PAST.get(verb.low) or next(iter(forms(lemma, "VBD") if lemma else ()), None)


def _was_or_had(tree: Parse, verb: Word) -> str | None:
    """The past of 's: " was" or " had"."""
    if verb.relation not in ("aux", "auxpass"):
        return " was"
    head = tree[verb.head]
    if head.lower == "got" or (head.tag == "VBN" and tree.child(head.index, "dobj")):
        return None
    aided = {word.lower for word in [*tree.children(head.index), head] if word.index > verb.index}
    return " had" if aided & words("been had become gone come") else " was"


def _present(tree: Parse, verb: Word, verbs: list[Word]) -> str | None:
    subject = tree.subject_of(verb)
    number, after = number_of(tree, subject), tree[verb.index + 1].low if verb.index + 1 < len(tree) else ""
    if verb.lower in ("could", "would"):
        told = any(_lemma(other.lower, "VBD") in _REPORTING for other in verbs if other.index < verb.index)
        if verb.lower == "would" and not told:
            return None  # "I would get lost" is a habit or a condition, "I thought it would" has a present
        return {"can": "ca", "will": "wo"}[_MODALS[verb.lower][1]] if after == "n't" else _MODALS[verb.lower][1]
    if verb.lower in ("was", "were"):
        return "are" if verb.lower == "were" else "am" if number == "first" else "is"
    lemma = _lemma(verb.lower, "VBD")
    if number is None or lemma is None or subject is None or (subject.lower in ("i", "we") and lemma not in _STATES):
        return None
    return next(iter(forms(lemma, "VBZ")), None) if number == "singular" else lemma
