"""From the present to the past and back, for all finite verbs of an English sentence at once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.packs.english.tagging import forms
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

# Which words of an English sentence are finite verbs, and in which tense. Says "unsure" rather than guess.
#
# A tagger confuses finite verbs with participles ("the film made ..."), infinitives, imperatives and plural nouns. What
# stands before and after the word decides here; where it does not, the sentence gets None, and no relation touches it.

BE = words("am is are was were be been being 's 're 'm")
HAVE = words("have has had having 've")
DO = words("do does did")
_AUXILIARY = {
    **dict.fromkeys(words("is are am has have do does can will ca wo 're 'm 've 'll cannot"), "present"),
    **dict.fromkeys(words("was were had did could would"), "past"),
}
_UNSURE = words("'d may might must should shall sha ought ai let lets got gotta dare")
NOMINATIVE = words("i he she we they")
_PRONOUN = NOMINATIVE | {"it", "you"}
_LEADERS = NOMINATIVE | {"it", "who"}
"""Right behind these, a word may be a verb whatever its tag is."""
_PASSED = words("n't not all both no")
_RELATIVE = words("who which that")
_PARTICIPLE_LEADER = BE | HAVE | words("get gets got getting seem seems feel feels look looks")
_CAUSATIVE = words(
    "make makes made making let lets letting help helps helped helping see sees saw seen seeing watch watches watched "
    "watching hear hears heard hearing feel feels felt have has had having"
)
_REPORTING_FORMS = words("think thinks thought say says said feel feels felt believe guess hope know knew")
_BASE_PARTICIPLES = words("come become overcome run outrun beat")
_BOUNDARIES = words(', ; : and but or ( ) " - -- ...')
_NAMING = words("call name title entitle dub")
_NOUNISH = words("NN NNS NNP NNPS")
_BEFORE_NOUN = words("DT PRP$ JJ JJR JJS POS CD PDT")
_OBJECT = words("DT PRP PRP$")
_SUBORDINATORS = words(
    "that because if when while although though since unless until before after as where why how what than so "
    "whether once whenever wherever like"
)


@dataclass(frozen=True, slots=True)
class Finite:
    """A finite verb: index of its token, tense, dictionary form, and its word as spelled in the lexicon."""

    index: int
    tense: str
    lemma: str
    word: str


_LEMMAS = {
    "found": "find",
    "saw": "see",
    "fell": "fall",
    "left": "leave",
    "felt": "feel",
    "sees": "see",
    "bore": "bear",
}


@lru_cache(maxsize=50_000)
def lemma(word: str) -> str | None:
    """Dictionary form of a verb form, or None for a word that is no verb form or one of several verbs.

    >>> lemma("tells"), lemma("table's")
    ('tell', None)
    """
    from lemminflect import getAllLemmas

    if word in _LEMMAS:
        return _LEMMAS[word]
    lemmas = getAllLemmas(word, upos="VERB").get("VERB", ())
    return lemmas[0] if len(lemmas) == 1 else None


@lru_cache(maxsize=50_000)
def _kinds(word: str) -> tuple[str, ...]:
    """Which of VB, VBZ, VBD, VBN a word can be."""
    base = lemma(word)
    if base is None:
        return ()
    # Regular forms are told by their endings, which saves most look-ups.
    if word == base:
        past = ("VBD",) if word.endswith(("t", "d")) and word in forms(base, "VBD") else ()
        return ("VB", *past, "VBN") if past or word in _BASE_PARTICIPLES else ("VB",)
    if word.endswith("s"):
        return ("VBZ",)
    if word.endswith("ed"):
        return ("VBD", "VBN")
    return tuple(tag for tag in ("VBD", "VBN") if word in forms(base, tag))


class _Reader:
    """One pass over a sentence's tokens."""

    def __init__(self, tokens: Sequence[Token]):
        self.words = [token.lower.replace("’", "'") for token in tokens]
        self.tags = [token.tag for token in tokens]
        self.tokens = tokens
        self.verbs: list[Finite] = []
        self.kind: dict[int, str] = {}
        """Index -> how the verb there was read: present, past, infinitive, participle, gerund."""

    def word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def tag(self, index: int) -> str:
        return self.tags[index] if 0 <= index < len(self.tags) else ""

    def back(self, index: int) -> int:
        """The nearest token on the left that is no adverb or negation; -1 at the start."""
        index -= 1
        while index >= 0 and (self.tags[index].startswith("RB") or self.words[index] in ("n't", "not", "all", "both")):
            longer = self.words[index] in ("longer", "more") and index and self.words[index - 1] == "no"
            index -= 2 if longer else 1
        return index

    def ahead(self, index: int) -> int:
        """The nearest token on the right that is no adverb or negation; the length at the end."""
        index += 1
        while index < len(self.words) and (self.tags[index].startswith("RB") or self.words[index] in ("n't", "not")):
            index += 1
        return index

    def last_kind(self, index: int) -> str:
        for at in range(index - 1, -1, -1):
            if at in self.kind:
                return self.kind[at]
        return ""

    def add(self, index: int, tense: str, base: str) -> None:
        self.kind[index] = tense
        self.verbs.append(Finite(index, tense, base, self.words[index]))

    def read(self) -> list[Finite] | None:
        if self.words[-1:] == ["?"] or not _UNSURE.isdisjoint(self.words):
            return None
        led = False  # whether a leader stands before, with nothing but adverbs between
        for index, (word, mark) in enumerate(zip(self.words, self.tags, strict=True)):
            if word in _AUXILIARY or word == "'s":
                if not self.auxiliary(index, word):
                    return None
            elif (led or mark[:2] in ("VB", "MD")) and not self.full_verb(index, word):
                return None
            led = word in _LEADERS or (led and (mark[:2] == "RB" or word in _PASSED))
        adjacent = any(
            next_verb.index - verb.index == 1 for verb, next_verb in zip(self.verbs, self.verbs[1:], strict=False)
        )
        if not self.verbs or adjacent:
            return None
        return self.verbs if self.subjects_served() and self.nouns_are_nouns() else None

    def auxiliary(self, index: int, word: str) -> bool:
        before = self.back(index)
        if word == "'s":
            return self.apostrophe_s(index)
        if word in ("have", "do", "can", "will") or (word in ("had", "did") and self.word(before) in HAVE):
            if self.tag(index) in _NOUNISH or self.tag(before) in _BEFORE_NOUN:
                return False
            if word in ("have", "do") and not self.plural_subject(before):
                return self.is_infinitive(index, before)
        base = {"is": "be", "are": "be", "am": "be", "was": "be", "were": "be", "'re": "be", "'m": "be"}.get(word)
        base = base or {"has": "have", "had": "have", "'ve": "have", "does": "do", "did": "do"}.get(word, word)
        self.add(index, _AUXILIARY[word], base)
        return True

    def apostrophe_s(self, index: int) -> bool:
        """is, has, or a genitive."""
        before, after = self.tag(index - 1), self.tag(self.ahead(index))
        if self.word(index - 1) == "it" and self.word(index - 2) in ("at", "of", "in", "for", "on", "by", "with", "to"):
            return False  # its, misspelled
        if self.word(index - 2) == "and" and self.tag(index + 1) in _NOUNISH and self.tag(index - 3) in _NOUNISH:
            return False  # "the ship and it's crew"
        if self.word(index - 1) in ("it", "he", "she", "that", "there", "who", "what", "this", "where", "how"):
            self.add(index, "present", "'s")
            return True
        if before not in _NOUNISH:
            return False
        if self.tag(index + 1) in ("DT", "IN", "PRP", "PRP$", "VBG", "RB"):
            return False
        return after in _NOUNISH or after.startswith("JJ") or after in ("VBN", "CD")

    def plural_subject(self, before: int) -> bool:
        """Whether the token before a base form can be its subject."""
        word, mark = self.word(before), self.tag(before)
        if word in ("i", "we", "they"):
            return True
        if (
            word == "you"
            or mark in ("NNS", "NNPS")
            or word in ("these", "those", "some", "many", "most", "few", "people")
        ):
            start = before
            while start > 0 and (self.tag(start - 1) in _BEFORE_NOUN or self.tag(start - 1) in _NOUNISH):
                start -= 1
            return self.word(start - 1) not in _CAUSATIVE
        if word in _RELATIVE:
            return self.tag(before - 1) in ("NNS", "NNPS") or self.word(before - 1) in ("those", "people")
        return False

    def is_infinitive(self, index: int, before: int) -> bool:
        """Whether a base form is surely an infinitive."""
        word = self.word(before)
        inverted = word in _PRONOUN and self.word(before - 1) in DO | {"can", "will", "could", "would", "n't"}
        if word in DO or inverted or word in ("to", "can", "will", "ca", "wo", "could", "would", "'ll", "cannot"):
            self.kind[index] = "infinitive"
            return True
        if word in ("and", "or", ",", "but", "than") and self.last_kind(index) == "infinitive":
            self.kind[index] = "infinitive"
            return True
        start = before
        while start > 0 and (
            self.tag(start) in _NOUNISH or self.tag(start) in _BEFORE_NOUN or self.tag(start) == "PRP"
        ):
            start -= 1
        if self.word(start) in _CAUSATIVE and start != before:
            self.kind[index] = "infinitive"
            return True
        return False

    def full_verb(self, index: int, word: str) -> bool:
        mark = self.tags[index]
        if mark in ("VBG", "MD"):
            if mark == "VBG":
                self.kind[index] = "gerund"
            return mark == "VBG"
        before = self.back(index)
        leader = self.word(before)
        if not (
            mark.startswith("VB") or leader in NOMINATIVE or (leader in ("who", "it") and mark in ("NN", "NNS", "JJ"))
        ):
            return True
        kinds = _kinds(word)
        if mark.startswith("VB") and (self.tag(before) == "CD" or leader == "her"):
            return False
        if mark.startswith("VB") and self.word(index - 1) == "'s" and self.kind.get(index - 1) is None:
            return True
        if mark.startswith("VB") and (self.tag(before) in _BEFORE_NOUN and leader not in _RELATIVE | {"this", "all"}):
            return True
        if not kinds:
            return (
                not mark.startswith("VB")
                or word in ("be", "been", "done", "gone")
                or self.tokens[index].text[0].isupper()
            )
        base = str(lemma(word))
        if "VB" in kinds and ("VBD" in kinds) and not self.is_infinitive(index, before):
            return leader in _PARTICIPLE_LEADER
        if "VBZ" in kinds:
            return self.third_person(index, before, base)
        if "VBD" in kinds:
            return self.past(index, before, base, "VBN" in kinds)
        if "VB" in kinds and index not in self.kind:
            return self.base_form(index, before, base)
        return True

    def base_form(self, index: int, before: int, base: str) -> bool:
        leader = self.word(before)
        if leader in _PARTICIPLE_LEADER and "VBN" in _kinds(base):
            return True
        if self.is_infinitive(index, before):
            return True
        joined = leader in ("and", "or") and self.last_kind(index) == "present"
        joined = joined and "," not in self.words[self.verbs[-1].index : index - 1]
        if joined and self.verbs[-1].word not in ("'s", "is", "has", "does") and not self.verbs[-1].word.endswith("s"):
            self.add(index, "present", base)
            return True
        if self.plural_subject(before):
            self.add(index, "present", base)
            return True
        return False

    def third_person(self, index: int, before: int, base: str) -> bool:
        mark, leader = self.tag(before), self.word(before)
        if self.word(index + 1) in ("who", "which"):
            return False  # "the action fans who ..."
        if mark in _NOUNISH and self.is_object(before):
            return False  # "it provides third-rate laughs"
        if mark in _NOUNISH or leader in ("it", "he", "she", "this", ")", "everyone", "one") or leader in _RELATIVE:
            self.add(index, "present", base)
            return True
        if leader in ("and", "or", ",", "but") and self.last_kind(index) == "present":
            follows = self.tag(index + 1)
            if follows in _OBJECT or follows in ("IN", "TO", "RB"):
                self.add(index, "present", base)
                return True
        return False

    def is_object(self, index: int) -> bool:
        """Whether the noun here is the object of a verb before it, so that no verb can follow it."""
        for at in range(index - 1, -1, -1):
            word = self.words[at]
            inside = word == "," and self.tag(at - 1) in ("JJ", "CD") and self.tag(at + 1) in ("JJ", "CD", "NN")
            if self.kind.get(at) in ("present", "past", "infinitive"):
                return word not in _REPORTING_FORMS
            if (word in _BOUNDARIES and not inside) or word in _SUBORDINATORS or word in _RELATIVE:
                return False
        return False

    def past(self, index: int, before: int, base: str, ambiguous: bool) -> bool:
        leader, mark, follows = self.word(before), self.tag(before), self.tag(index + 1)
        if leader in _PARTICIPLE_LEADER or (leader == "'s" and ambiguous):
            self.kind[index] = "participle"
            return True
        if not ambiguous or leader in NOMINATIVE or leader in _RELATIVE:
            if before < 0:
                return False
            self.add(index, "past", base)
            return True
        if leader in ("it", "you"):
            if before and self.tag(before - 1).startswith("VB") and self.word(before - 1) not in _REPORTING_FORMS:
                return False
            self.add(index, "past", base)
            return True
        if mark in _NOUNISH:
            if follows in _OBJECT and base not in _NAMING:
                self.add(index, "past", base)
                return True
            if self.word(index + 1) == "by" or base in _NAMING or self.clause_has_finite(index):
                self.kind[index] = "participle"
                return True
            return False
        if leader in ("and", "or", ",", "but"):
            kind = self.last_kind(index)
            if kind == "past" and follows in _OBJECT:
                self.add(index, "past", base)
                return True
            if follows in _OBJECT or follows.startswith("NN"):
                return False
            self.kind[index] = "participle"
            return kind in ("participle", "present") or self.word(index + 1) in ("by", "with")
        if before < 0:
            return self.word(index + 1) in ("by", "on", "in", "with")
        self.kind[index] = "participle"
        return mark.startswith(("IN", "VB", "RB")) and follows not in _OBJECT

    def clause_has_finite(self, index: int) -> bool:
        """Whether the clause around this word has another verb that is surely finite."""
        for step in (-1, 1):
            at = index + step
            while 0 <= at < len(self.words):
                word = self.words[at]
                if word in _BOUNDARIES or word in _SUBORDINATORS or word in _RELATIVE:
                    break
                if word in _AUXILIARY or self.kind.get(at) in ("present", "past") or self.tags[at] == "VBZ":
                    return True
                at += step
        return False

    def subjects_served(self) -> bool:
        """Whether every pronoun that must be a subject is followed by a finite verb."""
        finite = {verb.index for verb in self.verbs}
        for index, word in enumerate(self.words):
            if word in NOMINATIVE and self.ahead(index) not in finite:
                before = self.word(index - 1)
                if not (before in ("n't", "and") or index - 1 in finite):
                    return False
        return True

    def adverb_or_thing(self, index: int) -> bool:
        word = self.word(index)
        return word.endswith("ly") or word in (
            "everything",
            "everyone",
            "everybody",
            "nothing",
            "never",
            "always",
            "often",
            "neither",
            "nor",
        )

    def nouns_are_nouns(self) -> bool:
        """Whether no word tagged as a noun or adjective stands where a verb of its spelling would stand."""
        return not any(
            self.hides_verb(index, mark)
            for index, mark in enumerate(self.tags)
            if mark in ("NN", "NNS", "JJ") and index not in self.kind
        )

    def hides_verb(self, index: int, mark: str) -> bool:
        before, after = self.tag(index - 1), self.tag(index + 1)
        suspects: set[str] = set()
        if self.word(index + 1) in ("it", "him", "them", "me", "us", "you") and before not in _BEFORE_NOUN:
            suspects |= {"VB", "VBZ", "VBD"}
        if mark == "NNS" and ((before in ("NN", "NNP") and after in _OBJECT) or self.adverb_or_thing(index - 1)):
            suspects.add("VBZ")
        if mark == "NNS" and before in ("NN", "NNP", ")", '"', "''", "POS") and not self.clause_has_finite(index):
            suspects.add("VBZ")  # "the film founders on ..."
        if mark == "NN" and before in ("NNS", "NNPS") and not self.clause_has_finite(index):
            suspects.add("VB")  # "your relatives swap stories"
        if mark == "NNS" and after in _OBJECT and before not in _BEFORE_NOUN and before != "IN":
            suspects.add("VBZ")  # "it defines and overwhelms the film"
        if mark == "NNS" and before in ("", ".") and after in ("IN", "RP", "TO", "VBG", "RB", "JJ", *_OBJECT):
            suspects.add("VBZ")  # "ends up being ..."
        if mark == "NN" and before == "," and after in ("RB", "RP", "IN"):
            suspects.add("VB")
        if mark in ("NN", "JJ") and before in _NOUNISH and after in _OBJECT:
            suspects |= {"VB", "VBD"}
        return bool(suspects) and not suspects.isdisjoint(_kinds(self.words[index]))


def finite_verbs(tokens: Sequence[Token]) -> list[Finite] | None:
    """Finite verbs of one sentence in order, or None where the reading is not sure or there is none.

    >>> from audit.text import Analysis
    >>> [(verb.word, verb.tense) for verb in finite_verbs(Analysis("The story is old, but she tells it well.").tokens)]
    [('is', 'present'), ('tells', 'present')]
    """
    return _Reader(tokens).read()


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
        new = _all_or_none([_to_past(tokens, verb) for verb in verbs])
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


def _all_or_none(new_forms: Sequence[str | None]) -> list[str] | None:
    complete = [form for form in new_forms if form is not None]
    return complete if len(complete) == len(new_forms) else None


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
    past_forms = forms(verb.lemma, "VBD")
    return past_forms[0] if past_forms else None


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
    new_forms: list[str] = []
    singular: bool | None = None
    modal_only = all(verb.word in ("could", "would") for verb in verbs)
    for verb in verbs:
        subject, joined = _subject(tokens, verb, verbs)
        if not joined:
            singular = None if subject is None else subject != "plural"
        first = subject == "i" or (joined and new_forms and new_forms[-1] == "am")
        form: str | None
        if verb.word == "was":
            singular = True
            form = "am" if subject == "i" else "is"
        elif verb.word == "were":
            singular = False
            form = "are"
        elif verb.word in ("could", "would"):
            if modal_only or (verb.word == "would" and not _follows_reporting(new_forms, verbs)):
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
        new_forms.append(form)
    return new_forms


def _follows_reporting(new_forms: Sequence[str], verbs: Sequence[Finite]) -> bool:
    """Whether a verb of saying or thinking stands before the verb whose form is next."""
    return any(verb.lemma in _REPORTING for verb in verbs[: len(new_forms)])


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
