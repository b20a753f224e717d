"""Contractions of English and their full forms, each way only where the result reads as well as before.

`expand` and `contract` return replacements for `Analysis.replace` (token index -> text, which may be empty).
Contractions stand where the Penn Treebank splits them: do + n't, it + 's.
"""

import re
from collections.abc import Sequence

from audit.packs.english.tagging import is_form, is_word, known_as
from audit.packs.english.vocabulary import FUNCTION_WORDS, NOMINATIVES
from audit.text.tokens import Token, words

_NOT = frozenset({"n't", "n’t"})
# What stands before n't, and its full form; "ain't" has several and stays.
_AUXILIARIES = {
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    **{
        word: word
        for word in words(
            "do does did is are was were has have had could would should might must need"  # all take n't as they are
        )
    },
}
_WHOLE = {
    "dont": "do not",
    "doesnt": "does not",
    "didnt": "did not",
    "isnt": "is not",
    "wasnt": "was not",
    "werent": "were not",
    "couldnt": "could not",
    "wouldnt": "would not",
    "shouldnt": "should not",
    "hasnt": "has not",
    "havent": "have not",
    "gonna": "going to",
    "kinda": "kind of",
    "sorta": "sort of",
}
_PRONOUN_HOSTS = words("it he she that there here what who where how everything nothing something everyone everybody")
_ADVERBS = words(
    "also always never really just simply already ever even often only still truly actually certainly definitely "
    "probably clearly obviously all too so very quite pretty rather almost mostly not n't now merely finally"
)
_WH_ADVERBS = words("how when where why whenever wherever however whereby wherein")
_NO_ADVERBS = words(
    "a an the i you he she it we they me him her us them my your his its our their who whom whose which is are "
    "was were be been being do does did done has have had having can could will would must and or nor if at by "
    "for from of with to in into onto not no nothing something"
)
"""Words that no dictionary need be asked about."""
_OWNERS = words("everyone everybody everything nothing something")
"""Pronouns that own things, too: "everyone's problem"."""
# A noun's 's followed by one of these cannot be a possessive; "O. Henry's The Gift of the Magi" is one.
_CLEARLY_IS = words("a an not it he she they")
_PASSIVES = words(
    "supposed based meant intended called known named directed written made told set filled loaded packed played "
    "rated billed done bored confused worth"
)
_NAMING = words("called named titled told")
_WANTS_WOULD = words("rather like love hate prefer be have")
_SUBJECTS = words("i you he she it we they there this that these those")
_CLAUSE_STARTERS = words("and but or so yet why how when where because if while although though")
_BEFORE_SUBJECT = words(
    "and but or so yet that because if when while although though unless until once think know say says said believe "
    "feel guess hope suppose means realize sure wish maybe perhaps"
)
_NO_CONTRACTION_AFTER_NOT = words("only merely just so because least to and or but even")
_N_T = words("is are was were do does did has have had could would should")
_REDUCED = {"is": "'s", "are": "'re", "am": "'m", "will": "'ll", "have": "'ve", "has": "'s", "had": "'d", "would": "'d"}
_REDUCES = {
    "is": words("it he she that there who"),
    "has": words("it he she that there who"),
    "are": words("you we they"),
    "am": words("i"),
    "will": words("i you he she it we they"),
    "have": words("i you we they"),
    "had": words("i you he she we they"),
    "would": words("i you he she we they"),
}
_OPENS_PHRASE = words("a an the my your his its our their not no very too just also been being ever never only")
_CONTRACTED = _REDUCED.keys() | _N_T | {"cannot", "can"}
"""Words that a contraction may absorb, or that a "not" may be attached to."""
_APOSTROPHES = frozenset("'’")


_FULL_FORM = re.compile(
    rf"\b(?:{'|'.join(_N_T)}|can|will) not\b|\bcannot\b|"
    + "|".join(rf"\b(?:{'|'.join(hosts)}) {word}(?= \w)" for word, hosts in _REDUCES.items() if word != "have"),
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(
    rf"\w['’](?:t|m|re|ve|ll|d)\b|\b(?:{'|'.join(_PRONOUN_HOSTS - _OWNERS)}|let)['’]s\b|"
    rf"['’]s (?:been|got|a|an|about|not|it|he|she|they)\b|\b(?:{'|'.join(_WHOLE)}|ain['’]?t)\b",
    re.IGNORECASE,
)


def has_contraction(text: str) -> bool:
    """Whether a text has a contraction, as far as words alone tell: "Anna's" has none.

    >>> has_contraction("Let's go."), has_contraction("Anna's film is long.")
    (True, False)
    """
    return _SHORT_FORM.search(text) is not None


def has_full_form(text: str) -> bool:
    """Whether a text has what may be contracted.

    >>> has_full_form("They had paid."), has_full_form("They paid.")
    (True, False)
    """
    return _FULL_FORM.search(text) is not None


def expand(tokens: Sequence[Token]) -> dict[int, str]:
    """Replacements that write every contraction out whose full form is certain and reads well.

    >>> from audit.text import Analysis
    >>> text = Analysis("isn't it a film you can't miss?")
    >>> text.replace(expand(text.tokens))
    'is it not a film you cannot miss?'
    """
    new: dict[int, str] = {}
    present = [token.lower for token in tokens]
    if _WHOLE.keys().isdisjoint(present) and _APOSTROPHES.isdisjoint("".join(present)):
        return new
    for index, token in enumerate(tokens):
        word = token.lower
        if word in _WHOLE:
            new[index] = _like(token.text, _WHOLE[word])
        elif index and token.start == tokens[index - 1].end and word[0] in "'’n":
            if _is_hyphenated(tokens, index):
                continue
            if word in _NOT:
                new.update(_expand_not(tokens, index))
            elif len(word) > 1 and word[0] in "'’":
                full = _full(tokens, index)
                if full:
                    new[index] = " " + (full.upper() if token.text[1:].isupper() else full)
    return new


def apostrophe_s(tokens: Sequence[Token], index: int) -> str | None:
    """What the 's at `index` stands for: "is", "has", or None for a possessive and where it is not certain."""
    before = tokens[index - 1].lower
    if index + 1 >= len(tokens):
        return None
    if before not in _PRONOUN_HOSTS:
        direct = tokens[index + 1].lower
        if direct in ("been", "got"):
            return "has"
        return "is" if direct in _CLEARLY_IS and tokens[index - 1].tag[:2] in ("NN", "DT", "CD") else None
    following, after = _next(tokens, index)
    if after is None:
        return None
    if before in _OWNERS and (tokens[index + 1].tag[:2] in ("NN", "JJ") or tokens[index].tag == "POS"):
        return None
    if before == "it" and not _is_subject(tokens, index - 1) and tokens[index + 1].tag in ("NN", "NNS", "VBZ", "JJ"):
        return None  # "for it's time": a misspelt "its"
    if before in ("there", "here") and (
        after.lower in ("lots", "some", "many") or (after.lower not in _NO_ADVERBS and after.tag in ("NNS", "CD"))
    ):
        return None  # "there's lots of": neither reads well
    if after.lower in ("been", "got", "had", "become"):
        return "has"
    if before == "what" and after.lower != "it" and after.tag in ("PRP", "NN", "NNS"):
        return None  # "what's he got": is or has
    if is_form(after.lower, "VBN") and after.tag in ("VBN", "VBD"):
        beyond = tokens[following + 1] if following + 1 < len(tokens) else None
        if beyond is not None and beyond.tag in ("DT", "PRP", "PRP$") and after.lower not in _NAMING:
            return "has"
        if tokens[following - 1].lower == "ever":
            return "has"
        if after.lower in _PASSIVES:
            return "is"
        if beyond is not None and beyond.lower in ("by", "with"):
            return "is"
        return None
    if not (after.text[0].isalnum() or after.text in ("'", '"', "“", "$")):
        return None
    return "is"


def contract(tokens: Sequence[Token]) -> dict[int, str]:
    """Replacements that contract every full form whose contraction is common and reads well.

    >>> from audit.text import Analysis
    >>> text = Analysis("It is a film that does not work, bad as it is.")
    >>> text.replace(contract(text.tokens))
    "It's a film that doesn't work, bad as it is."
    """
    new: dict[int, str] = {}
    present = [token.lower for token in tokens]
    if _CONTRACTED.isdisjoint(present):
        return new
    last = len(tokens) - 1
    for index, word in enumerate(present):
        if word not in _CONTRACTED:
            continue
        if word == "cannot" and index < last and tokens[index + 1].text[0].isalnum():
            new[index] = _like(tokens[index].text, "can't")
        elif index < last and present[index + 1] == "not" and index not in new:
            new.update(_contract_not(tokens, index))
        elif word in _REDUCED and index and index < last and index not in new:
            new.update(_reduce(tokens, index))
    return new


def _expand_not(tokens: Sequence[Token], index: int) -> dict[int, str]:
    stem = tokens[index - 1]
    full = _AUXILIARIES.get(stem.lower)
    if full is None:
        return {}
    host = {} if full == stem.lower else {index - 1: _like(stem.text, full)}
    negation = _like(tokens[index].text, "not")
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    before = tokens[index - 2] if index > 1 else None
    if after is not None and after.lower in _SUBJECTS and _inverts(before, after):
        if after.lower in ("this", "that", "these", "those") and _starts_noun_phrase(tokens, index + 1):
            return {}
        return {**host, index: "", index + 1: f"{after.text} {negation}"}
    if _starts_clause(before) and tokens[-1].text == "?" and (after is None or after.tag[:2] not in ("VB", "RB")):
        return {}  # "Isn't the film great?": "not" would have to move behind the subject
    if before is not None and before.lower in _WH_ADVERBS and (after is None or after.tag[:2] != "VB"):
        return {}
    return {**host, index: negation if full == "can" else f" {negation}"}


def _inverts(before: Token | None, after: Token) -> bool:
    return after.lower in NOMINATIVES - {"it"} or _starts_clause(before)


def _starts_clause(before: Token | None) -> bool:
    return before is None or not before.text[0].isalnum() or before.lower in _CLAUSE_STARTERS


def _starts_noun_phrase(tokens: Sequence[Token], index: int) -> bool:
    return index + 1 < len(tokens) and tokens[index + 1].tag[:2] in ("NN", "JJ", "CD")


def _full(tokens: Sequence[Token], index: int) -> str | None:
    """The full form of the contraction at `index` after its apostrophe, or None where it is not certain."""
    kind, before = tokens[index].lower[1:], tokens[index - 1].lower
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is None or (not after.text[0].isalnum() and after.text not in ("'", '"', "“")):
        return None
    if kind == "s":
        return None if before == "let" else apostrophe_s(tokens, index)
    if kind == "re":
        return "are" if before in ("you", "we", "they", "there", "who", "these", "those") else None
    if kind == "ve":
        return "have"
    if kind == "ll":
        return "will"
    if kind == "m":
        return "am" if before == "i" else None
    return _had_or_would(tokens, index) if kind == "d" else None


def _had_or_would(tokens: Sequence[Token], index: int) -> str | None:
    _, after = _next(tokens, index)
    if after is None:
        return None
    if after.lower in ("better", "been", "had"):
        return "had"
    if after.lower in _WANTS_WOULD:
        return "would"
    is_base, is_participle = is_form(after.lower, "VB"), is_form(after.lower, "VBN")
    if is_base != is_participle:
        return "would" if is_base else "had"
    return None


def _next(tokens: Sequence[Token], index: int) -> tuple[int, Token | None]:
    """The first word after `index` that is no adverb."""
    at = index + 1
    while at < len(tokens) and _is_adverb(tokens[at]):
        at += 1
    if at >= len(tokens) or not (tokens[at].text[0].isalnum() or tokens[at].text[0] in "\"'“$"):
        # Only adverbs follow ("it's not."): the last of them says as much as a verb would.
        return (at - 1, tokens[at - 1]) if at - 1 > index else (at, None)
    return at, tokens[at]


def _is_adverb(token: Token) -> bool:
    word = token.lower
    if word in _ADVERBS:
        return True
    may_be = word[0] != "n" and word not in _NO_ADVERBS and (known_as(word, "ADV") or not is_word(word))
    return may_be and token.tag == "RB"


def _contract_not(tokens: Sequence[Token], index: int) -> dict[int, str]:
    word, at = tokens[index].lower, index + 1
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.lower in _NO_CONTRACTION_AFTER_NOT or not (after.text[0].isalnum() or after.text == "."):
        return {}
    if word in _SUBJECTS or _is_hyphenated(tokens, at):
        return {}
    if word == "can":
        contraction = "can't"
    elif word == "will":
        contraction = "won't"
    elif word in _N_T:
        contraction = word + "n't"
    else:
        return {}
    return {index: _like(tokens[index].text, contraction), at: ""}


def _reduce(tokens: Sequence[Token], index: int) -> dict[int, str]:
    verb, host, after = tokens[index], tokens[index - 1], tokens[index + 1]
    word = verb.lower
    if host.lower not in _REDUCES[word] or not after.text[0].isalnum():
        return {}
    if after.lower in ("than", "that", "indeed", "as"):
        return {}
    if not _is_subject(tokens, index - 1):
        return {}
    if after.lower in ("have", "be") and not (index + 2 < len(tokens) and tokens[index + 2].text[0].isalnum()):
        return {}  # "I would have."
    if word in ("has", "have", "had") and not _participle_follows(tokens, index):
        return {}
    if word in ("will", "would") and not is_form(_next(tokens, index)[1].lower, "VB"):  # type: ignore[union-attr]
        return {}
    if _may_go_on(after) and after.tag in ("CC", "MD", "VBZ", *(("IN",) if word != "is" else ())):
        return {}
    return {index - 1: host.text + _like(verb.text, _REDUCED[word]), index: ""}


def _may_go_on(after: Token) -> bool:
    """Whether a word may be a conjunction, a preposition or a verb that has the pronoun for its subject."""
    word = after.lower
    if word in FUNCTION_WORDS or not is_word(word):
        return word not in _OPENS_PHRASE
    return is_form(word, "VBZ")


def _is_subject(tokens: Sequence[Token], index: int) -> bool:
    """Whether the pronoun at `index` is the subject of the verb after it, and nothing was moved out of its clause."""
    if index == 0:
        return True
    before = tokens[index - 1]
    if tokens[index].lower in ("that", "who"):
        if not before.text[0].isalnum() or before.lower in _NO_ADVERBS - _OWNERS:
            return tokens[index].lower == "who" and before.text == ","
        return before.tag[:2] == "NN"
    if before.text in ("'", "’"):
        return False
    return not before.text[0].isalnum() or before.lower in _BEFORE_SUBJECT


def _participle_follows(tokens: Sequence[Token], index: int) -> bool:
    after = _next(tokens, index)[1]
    return after is not None and is_form(after.lower, "VBN") and after.tag in ("VBN", "VBD")


def _is_hyphenated(tokens: Sequence[Token], index: int) -> bool:
    """Whether the contraction at `index` is a part of a compound like "so-bad-it's-good"."""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    joined = after is not None and after.start == tokens[index].end and after.text[0] in "-–—'’"
    return joined or "-" in tokens[index - 1].text


def _like(example: str, text: str) -> str:
    """The text in the letter case of the example: upper, Capitalised or lower."""
    if example.isupper() and (len(example) > 1 or not text[0].isalpha()):
        return text.upper()
    return text[0].upper() + text[1:] if example[:1].isupper() else text
