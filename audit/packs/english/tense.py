"""From the present to the past and back, for all finite verbs of an English text at once."""

import re
from functools import lru_cache

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import forms, known_as
from audit.text.analysis import Analysis
from audit.text.tokens import words

_TENSES = {"VBZ": "present", "VBP": "present", "VBD": "past"}
_MODALS = {
    **dict.fromkeys(words("can will ca wo 'll cannot"), "present"),
    **dict.fromkeys(words("could would"), "past"),
}
_TO_PAST = {
    "is": "was", "am": "was", "are": "were", "'m": " was", "'re": " were", "has": "had", "have": "had", "'ve": " had",
    "do": "did", "does": "did", "can": "could", "will": "would", "ca": "could", "wo": "would", "'ll": "'d",
    "cannot": "could not",
}  # fmt: skip
_UNSURE = words("'d may might must should shall sha ought ai lets got gotta gonna wanna dare ur u im dont")
"""Words without a past or a present of their own, or that no parser reads rightly."""
_VERBAL = words("VB VBD VBG VBN VBP VBZ MD")
_NOMINAL = words("dobj pobj amod compound nsubj nsubjpass poss nummod det appos npadvmod attr dative")
"""Relations that no finite verb has."""
_SINGULAR = words("he she it this that everything everyone everybody nothing nobody each one")
_PLURAL = words("we you they these those both many few people")
_OF_MANY = words(
    "some most none lot lots number couple half majority all any rest plenty more less percent who which what"
)
"""Subjects whose number is that of other words."""
_CAUSATIVES = words("make let help see watch hear feel have go come do be")
"""Verbs that a bare infinitive follows."""
_AUXILIARIES = words("is are am 's 're 'm was were has have 've had do does did get gets")
_REPORTING = words("think know say hope believe feel expect guess tell promise assume realize suspect fear")


def _phrases(*lines: str) -> re.Pattern[str]:
    """Any of the phrases, in a text in lower case: without regard to case, looking takes five times as long."""
    return re.compile(rf"\b(?:{'|'.join(lines)})\b")


# Words of time that a sentence in the past, or in the present, would contradict.
_NOW = _phrases(
    r"now|nowadays|today|today's|tonight|tomorrow|currently|presently|these days|so far|until now|to date|yet|recently",
    r"since|later this|any ?more|20\d\d|next (?:week|month|year|\w+day)|ago|already",
)
_THEN = _phrases(
    r"yesterday|ago|last (?:night|week|month|year|time|summer|weekend)|back (?:then|in)|used to|once|recently|since",
    r"the other day|1[89]\d\d|20\d\d|[1-9]0'?s|years? (?:later|earlier|before)|originally|previously|until|at the time",
    r"if|wish|wished|as though|would have|could have|would've|could've|as a (?:kid|child|boy|girl|teenager)|first time",
    r"when i was|earlier|born|then|c[ao]me out|died|lasted|just|better|ever|decades?|centur(?:y|ies)|won|day|night",
    r"ended up|happened to|before|after|(?:second|minute|hour|week|month|year)s?|morning|evening|summer|winter",
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|april|june|july|august|(?:sept|nov|dec)ember|october",
)
# Turns of phrase that keep their tense.
_FIXED = _phrases(
    r"as it (?:comes|gets|goes)|as they (?:get|go)|that is (?:to say|if)|if you will|i mean|you know|mind you",
    r"so to speak|please|hope|hopefully|here (?:ya|you|we) go",
    r"what's more|let's|that is,|i guess|i suppose|needless to say|thank (?:god|goodness|you)|here's|i must|i dare",
    r"as it were|i say|i repeat|i kid you not|rest assured|no wonder|believe it or not|like it or not|come what",
    r"god bless|i swear|trust me|how come|that's right|that's it|that's all|why not|go figure|i am sure|i'm sure",
    r"i'm sorry|i'm afraid|thanks|this is one of",
)
_UNREAD = re.compile(r"[“”*<>]|\.\.|http")
_QUOTES = ('"', "''")
# Verbs that say what somebody feels or how things are: "I loved it" reads well in the present, "I rented it" does not.
_STATES = words(
    "be have like love hate enjoy think feel want find know believe need hope dislike prefer adore admire loathe "
    "despise appreciate understand agree wonder doubt care do could would expect fail remember see recommend"
)


def change_tense(analysis: Analysis) -> str | None:
    """The text with all finite verbs moved from the present to the past or from the past to the present.

    None where a verb's reading is unsure, the tenses are mixed, or a word of time contradicts the new tense.

    >>> change_tense(Analysis("The story isn't new, but they tell it well."))
    "The story wasn't new, but they told it well."
    >>> change_tense(Analysis("It is now on DVD.")) is None
    True
    """
    lower = analysis.text.lower()
    if not _UNSURE.isdisjoint(analysis.words) or _FIXED.search(lower) or _UNREAD.search(lower):
        return None
    tree = tree_of(analysis.tokens)
    if tree is None:
        return None
    verbs = [word for word in tree.words if (word.tag in _TENSES or word.tag == "MD") and not _is_fixed(tree, word)]
    tenses = {_TENSES.get(verb.tag) or _MODALS.get(verb.low, "unsure") for verb in verbs}
    if tenses not in ({"present"}, {"past"}) or (_NOW if tenses == {"present"} else _THEN).search(lower):
        return None
    if any(lower[: verb.start].count(mark) % 2 for verb in verbs for mark in _QUOTES):
        return None
    if any(_is_doubtful(tree, word) for word in tree.words):
        return None
    new = _to_past(tree, verbs) if tenses == {"present"} else _to_present(tree, verbs)
    replaced: dict[int, str] = {}
    for verb, form in zip(verbs, new, strict=True):
        if form is None:
            return None
        capital = form.upper() if verb.text.isupper() else form[0].upper() + form[1:]
        replaced[verb.index] = capital if verb.text.isupper() or verb.text.istitle() else form
        if form == "am" and analysis.low[verb.index + 1 : verb.index + 2] == ("n't",):
            replaced[verb.index + 1] = " not"
    return analysis.replace(replaced)


def _is_fixed(tree: Parse, verb: Word) -> bool:
    """Whether a verb stays: that of a name, and that of "as bad as they come"."""
    around = tree.words[max(0, verb.index - 2) : verb.index + 2]
    if verb.index and verb.text.istitle():
        return all(word.text[0].isupper() for word in around[1:])  # "What Lies Beneath"
    return [word.lower for word in around[:3]] == ["as", "they", "come"]


def _is_doubtful(tree: Parse, word: Word) -> bool:
    """Whether the parser may have taken a finite verb for another word, or another word for a finite verb."""
    following = tree.words[word.index + 1].tag if word.index + 1 < len(tree.words) else "."
    if word.tag == "POS":
        return following in ("RB", "DT", "VBG")  # "the film's not bad"
    if word.tag == "PRP$":
        return following in ("DT", "VBG", "IN", "PRP", "MD")  # "its a film"
    relations = {child.relation for child in tree.children(word.index)}
    if (word.relation in _NOMINAL and word.tag in _TENSES) or (word.relation == "relcl" and word.tag[:2] == "NN"):
        return True
    has_subject = not relations.isdisjoint(("nsubj", "nsubjpass"))
    if word.tag not in _VERBAL:
        hidden = word.tag == "NNS" and known_as(word.lower, "VERB") and not known_as(word.lower, "NOUN")
        return hidden or "dobj" in relations or (has_subject and word.relation != "ccomp")
    before = tree.words[word.index - 1].text if word.index else ""
    if word.text.istitle() and before[:1].isalnum() and not _is_fixed(tree, word):
        return True
    head, is_auxiliary = tree.words[word.head], word.relation in ("aux", "auxpass")
    if [child.relation for child in tree.children(word.index)].count("nsubj") > 1:
        return True  # "hope all is well"
    aided = not relations.isdisjoint(("aux", "auxpass"))
    if word.tag == "VBG" and word.relation == "ROOT" and not aided:
        return any(below.tag in _TENSES for below in tree.under(word.index))  # "going to leave when he gets home"
    if word.tag in ("MD", "VBG") or (is_auxiliary and word.tag in ("VB", "VBN")):
        return False
    if word.tag == "VB":
        joined = word.relation == "conj" and head.tag == "VB"
        led = word.relation in ("xcomp", "ccomp") and _lemma(head.lower, head.tag) in _CAUSATIVES
        return not (aided or joined or led) or (word.relation == "ROOT" and tree.subject(word.index) is None)
    if word.tag == "VBN":
        joined = word.relation == "conj" and head.tag != "VBN"
        return not aided and (word.relation == "ROOT" or joined or (has_subject and word.relation != "ccomp"))
    subject = _subject(tree, word)
    if subject is None and word.tag == "VBP":
        return True  # "Don't be late"
    if is_auxiliary:
        return word.low not in _AUXILIARIES
    if aided or _lemma(word.lower, "VBD") == word.lower:
        return True  # "they put it on" may be either tense
    if word.relation == "conj" and not has_subject and (head.tag, word.tag) in (("VBN", "VBD"), ("VB", "VBP")):
        return True  # "was displayed and fathomed", "will come and see": the form says nothing
    if word.tag == "VBD" and word.relation == "ROOT" and relations <= {"nsubj", "punct"} and subject is not None:
        return subject.tag[:2] == "NN" and next(tree.children(subject.index), None) is None  # "Mystery solved."
    number = _number(tree, subject)
    return number is not None and word.tag != "VBD" and (number == "singular") != (word.tag == "VBZ")


def _subject(tree: Parse, verb: Word) -> Word | None:
    """The subject of a finite verb, be it that of the verb it is joined with or helps."""
    subject = tree.subject(verb.index)
    while subject is None and verb.relation in ("conj", "aux", "auxpass"):
        verb = tree.words[verb.head]
        subject = tree.subject(verb.index)
    return subject


def _number(tree: Parse, subject: Word | None) -> str | None:
    """i, singular or plural; None where it cannot be told."""
    if subject is None or subject.relation == "expl":
        return "singular" if subject is not None and subject.lower == "it" else None
    word = subject.lower
    if word in ("who", "which", "that") and subject.tag in ("WDT", "WP"):
        verb = tree.words[subject.head]
        while verb.relation == "conj":
            verb = tree.words[verb.head]
        noun = tree.words[verb.head]
        of = noun.relation == "pobj" or tree.child(noun.index, "prep")
        return None if verb.relation != "relcl" or of else _number(tree, noun)
    if word in _OF_MANY:
        return None
    joint = tree.child(subject.index, "conj")
    if joint is not None:
        together = tree.child(subject.index, "cc")
        return "plural" if together is not None and together.lower == "and" else None
    if word == "i":
        return word
    if word in _SINGULAR or subject.relation == "csubj":
        return "singular"
    if word in _PLURAL:
        return "plural"
    return {"NN": "singular", "NNP": "singular", "NNS": "plural", "NNPS": "plural"}.get(subject.tag)


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


def _to_past(tree: Parse, verbs: list[Word]) -> list[str | None]:
    if all(verb.low in ("will", "wo", "'ll") for verb in verbs):
        return [None] * len(verbs)  # "it would please you" is no past: it waits for an "if"
    return [_is_or_has(tree, verb) if verb.low == "'s" else _past(verb) for verb in verbs]


def _past(verb: Word) -> str | None:
    lemma = _lemma(verb.lower, verb.tag)
    return _TO_PAST.get(verb.low) or next(iter(forms(lemma, "VBD") if lemma else ()), None)


def _is_or_has(tree: Parse, verb: Word) -> str | None:
    """The past of 's: " was" or " had"."""
    if verb.relation not in ("aux", "auxpass"):
        return " was"
    head = tree.words[verb.head]
    aided = {word.lower for word in [*tree.children(head.index), head] if word.index > verb.index}
    if head.lower == "got" or (head.tag == "VBN" and tree.child(head.index, "dobj")):
        return None
    return " had" if not aided.isdisjoint(("been", "had", "become", "gone", "come")) else " was"


def _to_present(tree: Parse, verbs: list[Word]) -> list[str | None]:
    if all(verb.tag == "MD" for verb in verbs):
        return [None] * len(verbs)  # "you could see": the past, or a condition
    return [_present(tree, verb, verbs) for verb in verbs]


def _present(tree: Parse, verb: Word, verbs: list[Word]) -> str | None:
    word, number = verb.lower, _number(tree, _subject(tree, verb))
    lemma = "be" if word in ("was", "were") else _lemma(word, "VBD")
    if word in ("could", "would"):
        reported = any(_lemma(other.lower, "VBD") in _REPORTING for other in verbs if other.index < verb.index)
        if word == "would" and not reported:
            return None  # "I would get lost" is a habit or a condition, "I thought it would" has a present
        following = tree.words[verb.index + 1].lower if verb.index + 1 < len(tree.words) else ""
        negated = following in ("n't", "n’t")
        return {"could": "ca" if negated else "can", "would": "wo" if negated else "will"}[word]
    if lemma == "be":
        return "are" if word == "were" else "am" if number == "i" else "is"
    subject = _subject(tree, verb)
    if number is None or lemma is None or subject is None or (subject.lower in ("i", "we") and lemma not in _STATES):
        return None
    return next(iter(forms(lemma, "VBZ")), None) if number == "singular" else lemma
