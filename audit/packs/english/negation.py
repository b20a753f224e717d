"""The negation of an English sentence's main clause, where it is certain which verb that is and the result reads well.

`negate` returns replacements for `Analysis.replace`, or None. It looks for the first finite verb that can only be the
main clause's; whatever makes that doubtful (a question, a relative clause before the verb, a word that is negative
already, a "some" or an "also" that a "not" would jar with, a "but" that would contrast with nothing) means None.
"""

from collections.abc import Sequence
from itertools import pairwise

from audit.packs.english.tagging import base, is_form
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS, QUOTES, SUBORDINATORS
from audit.text.tokens import Token, words

_MODALS = words("can could will would should may might must")
_HAVE = words("has have had")
_DO = words("does do did")
_CLITICS = {
    "'s": "'s",
    "’s": "’s",
    "'re": "'re",
    "’re": "’re",
    "'m": "'m",
    "’m": "’m",
    "'ll": " will",
    "’ll": " will",
    "'ve": " have",
    "’ve": " have",
}
_PRONOUNS = words("i he she it we they you this that there these those everything everyone one")
# Words that a negation makes wrong or turns into something else than the opposite.
_JARRING = words(
    "some someone something somehow sometimes somewhere somebody somewhat also too already still just only merely "
    "indeed course right far bottom likewise another reason reasons every everything everyone everybody each most "
    "even both quite rather pretty almost nearly look whoever "
    "practically virtually simply but yet although though however while whereas unless until any anything anyone "
    "anybody ever either or perhaps maybe such so nonetheless nevertheless always again occasionally fairly plenty "
    "several lots instead unfortunately sadly luckily fortunately otherwise once rarely bit alone mostly largely "
    "partly partially ultimately all as if because since"
)
_BARRING = NEGATIONS | _JARRING | {"?"}
# Adverbs of the whole sentence: "not" follows them.
_SENTENCE_ADVERBS = words(
    "certainly definitely probably clearly obviously surely undoubtedly actually basically frankly really truly "
    "honestly"
)
_IMPERATIVES = words("see watch rent buy go check give take read expect consider save stay run skip avoid miss forget")
"""Verbs of advice that open a review's sentence without a subject."""
_REPORTING = words("think thinks believe guess suppose say says feel hope know wish bet suspect")
"""Negating these negates what follows, or changes the meaning; no group."""
_DASHES = words("- -- – —")
_IDIOMS = ("time will tell", "rumor has it", "rumour has it", "word has it", "legend has it", "i rest my case")
_NOUN_PHRASE = frozenset({"DT", "PRP$", "JJ", "NN", "NNS", "NNP", "NNPS", "CD", "POS", "JJR", "VBG", "RB", "CC", "PDT"})


def negate(tokens: Sequence[Token]) -> dict[int, str] | None:
    """Replacements (token index -> text) that negate the main clause, or None where that would not read well.

    >>> from audit.text import Analysis
    >>> text = Analysis("It makes sense.")
    >>> text.replace(negate(text.tokens))
    'It does not make sense.'
    """
    if not tokens or _is_barred(tokens):
        return None
    at = _main_verb(tokens)
    return None if at is None or _goes_on(tokens, at) else _negate_verb(tokens, at)


def _is_barred(tokens: Sequence[Token]) -> bool:
    """Whether the text is negative already, a question, several sentences, or holds a word that jars with "not"."""
    if not _BARRING.isdisjoint([token.lower for token in tokens]):
        return True
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        word = token.lower
        if word in (".", "!", "...", ";", ":") and index < last and index:
            return True
        if word == "and" and index < last and tokens[index + 1].tag == "PRP":
            return True  # "it is dull and it shows": the second clause speaks of what the first denies
        if token.text in QUOTES and (token.text not in "'’" or not index or token.start > tokens[index - 1].end):
            return True
    return False


def _goes_on(tokens: Sequence[Token], at: int) -> bool:
    """Whether a later clause or afterthought builds on what the negation would deny.

    "It is not dull, and that is what saves it"; "the actors are not superb -- the best there are".
    """
    joined = False
    for token in tokens[at + 1 :]:
        word = token.lower
        if word in _DASHES:
            return True
        if joined and (token.tag in ("VBZ", "VBP", "VBD", "MD") or word in BE_FINITE or word in _MODALS):
            return True
        joined = joined or word in (",", "and", "than", "thats")
    before = " ".join(token.lower for token in tokens[max(0, at - 1) : at + 3])
    return before.startswith(_IDIOMS)


def _main_verb(tokens: Sequence[Token]) -> int | None:
    """Index of the main clause's finite verb, or None where that is not certain."""
    first = tokens[0].lower
    if first in SUBORDINATORS or tokens[0].tag in ("TO", "WRB", "WP"):
        return None
    if first in _IMPERATIVES and tokens[0].tag in ("VB", "VBP", "NN"):
        return None
    for index, token in enumerate(tokens):
        word = token.lower
        if word in SUBORDINATORS and not (word == "that" and index == 0):
            return None
        if word in (",", "-", "--", "–", "—", "(", ")", "/", "[", "]", "*"):
            return None
        if word in BE_FINITE or word in _MODALS or word in _CLITICS:
            return index if _has_subject(tokens, index) and (word not in ("'s", "’s") or token.tag == "VBZ") else None
        if word in _HAVE or word in _DO:
            return index if _has_subject(tokens, index) else None
        if token.tag in ("VBZ", "VBP", "VBD", "MD", "VB"):
            return index if _is_finite(tokens, index) else None
        if token.tag in ("VBN", "VBG") and index and tokens[index - 1].tag not in ("DT", "JJ", "PRP$", "IN", "RB"):
            return None
    return None


def _has_subject(tokens: Sequence[Token], index: int) -> bool:
    """Whether everything before the verb can be its subject and adverbs: no inversion, no infinitive."""
    if index == 0:
        return tokens[0].lower in ("is", "has", "was", "does", "will") and tokens[0].text.islower()
    before = tokens[index - 1]
    if before.lower == "here":
        return False
    if _relative(tokens[:index]):
        return False
    if before.tag in ("TO", "IN", "VBG") and before.lower not in ("that", "this"):
        return False
    return before.lower not in ("and", ",") and all(
        token.tag in _NOUN_PHRASE or token.tag in ("PRP", "IN", "EX", "RBR", "JJS", "RBS", "VBN")
        for token in tokens[:index]
    )


def _relative(tokens: Sequence[Token]) -> bool:
    """Whether a second noun phrase follows the first without a comma: "the effect a fool (has)"."""
    return any(token.tag[:2] == "NN" and next_token.tag in ("DT", "PRP$") for token, next_token in pairwise(tokens))


def _is_finite(tokens: Sequence[Token], index: int) -> bool:
    """Whether a full verb is certainly finite: a pronoun or a plain noun phrase that agrees stands before it."""
    token, word = tokens[index], tokens[index].lower
    if base(word) is None or word in _REPORTING or _relative(tokens[:index]):
        return False
    if index == 0:
        next_tag = tokens[1].tag if len(tokens) > 1 else "."
        return token.tag == "VBZ" and token.text.islower() and next_tag in ("DT", "PRP", "PRP$", "IN", "RB", "JJ", "TO")
    subject = index - 1
    while subject >= 0 and tokens[subject].tag == "RB":
        subject -= 1
    if subject < 0:
        return False
    head = tokens[subject]
    third = is_form(word, "VBZ") and word != base(word)
    past = is_form(word, "VBD")
    bare = word == base(word)
    if head.tag == "PRP" or head.lower in ("this", "that"):
        if subject != 0 and not all(t.tag in ("RB", "CC", "UH") for t in tokens[:subject]):
            return False
        singular = head.lower in ("he", "she", "it", "this", "that")
        return past or (third if singular else bare)
    if head.tag not in ("NN", "NNS", "NNP", "NNPS") or not _noun_phrase(tokens[: subject + 1]):
        return False
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if past and token.tag == "VBD":
        # "the film directed by": a participle; "the film offered a" and "the film went to" are finite.
        return not is_form(word, "VBN") or (after is not None and after.tag in ("DT", "PRP", "PRP$"))
    if third:
        return token.tag == "VBZ" and head.tag in ("NN", "NNP")
    return bare and token.tag in ("VBP", "VB") and head.tag == "NNS" and after is not None


def _noun_phrase(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are one noun phrase without a second noun phrase attached that the verb might belong to."""
    return tokens[0].tag in ("DT", "PRP$", "NN", "NNS", "NNP", "JJ") and all(
        token.tag in _NOUN_PHRASE and token.tag not in ("CC", "VBG") for token in tokens
    )


def _negate_verb(tokens: Sequence[Token], at: int) -> dict[int, str] | None:
    token, word = tokens[at], tokens[at].lower
    after = at + 1
    if after >= len(tokens) or tokens[after].text in ".!,":
        if (
            (after >= len(tokens) or tokens[after].text != ",")
            and word not in BE_FINITE
            and word not in _HAVE
            and word not in _DO
            and word not in _MODALS
            and word[0].isalpha()
        ):
            return _with_do_support(tokens, at)
        return None  # nothing left to negate with: "he is."
    if tokens[after].text[0] in "([-–—" or tokens[after].lower in ("got", "what", "kind", "sort"):
        return None
    if (
        at
        and tokens[at - 1].lower == "there"
        and (word in ("are", "were") or tokens[after].tag not in ("DT", "NN", "JJ"))
    ):
        return None  # "there are not moments", "there is not Anne Bancroft"
    if at and tokens[at - 1].lower == "there" and tokens[after].lower == "the":
        return None
    if word in _DO and tokens[after].tag in ("VB", "VBP"):
        return {at: f"{token.text} not"}
    if word in _HAVE and not _is_auxiliary(tokens, at):
        if tokens[after].lower in ("to", "got") or any(follower.tag == "VBN" for follower in tokens[after : after + 5]):
            return None  # "has at last decisively broken": an auxiliary after all
        return _with_do_support(tokens, at)
    if word in BE_FINITE or word in _MODALS or word in _CLITICS or word in _HAVE:
        return _with_not(tokens, at)
    return _with_do_support(tokens, at)


def _is_auxiliary(tokens: Sequence[Token], at: int) -> bool:
    follow = at + 1
    while follow < len(tokens) and tokens[follow].tag == "RB":
        follow += 1
    return follow < len(tokens) and tokens[follow].tag in ("VBN", "VBD") and is_form(tokens[follow].lower, "VBN")


def _with_not(tokens: Sequence[Token], at: int) -> dict[int, str]:
    token, word = tokens[at], tokens[at].lower
    behind = at
    if tokens[at + 1].lower in _SENTENCE_ADVERBS:
        behind = at + 1
    negation = "NOT" if token.text.isupper() and len(token.text) > 1 and token.text[0].isalpha() else "not"
    if behind > at:
        return {behind: f"{tokens[behind].text} {negation}"}
    if word == "can":
        return {at: f"{token.text}{negation}"}
    new = {at: f"{_CLITICS.get(word, token.text)} {negation}"}
    if tokens[at + 1].lower in ("'ve", "’ve"):
        new[at + 1] = " have"  # "would've been"
    return new


def _shares_subject(tokens: Sequence[Token], at: int) -> bool:
    """Whether a second finite verb shares the subject: "it does not grab you and shakes you" would be wrong."""
    for index in range(at + 1, len(tokens) - 1):
        if tokens[index].tag != "CC" and tokens[index].text != ",":
            continue
        follow = index + 1
        while follow < len(tokens) - 1 and (
            tokens[follow].tag in ("RB", "CC") or tokens[follow].lower in ("sort", "kind", "of")
        ):
            follow += 1
        if tokens[follow].tag in ("VBZ", "VBD", "VBP") or tokens[follow].lower in BE_FINITE:
            return True
        verbal = tokens[follow].tag == "NNS" and is_form(tokens[follow].lower, "VBZ") and follow + 1 < len(tokens)
        if verbal and tokens[follow + 1].tag in ("DT", "PRP", "PRP$", "IN", "RB", "TO"):
            return True
    return False


def _with_do_support(tokens: Sequence[Token], at: int) -> dict[int, str] | None:
    """do-support: "makes" -> "does not make"; adverbs right before the verb come after "not"."""
    token, word = tokens[at], tokens[at].lower
    lemma = base(word)
    if lemma is None or _shares_subject(tokens, at):
        return None
    if word == lemma:
        support = "do"
    elif is_form(word, "VBZ"):
        support = "does"
    elif is_form(word, "VBD"):
        support = "did"
    else:
        return None
    start = at
    while start and tokens[start - 1].tag == "RB":
        start -= 1
    if token.text.isupper() and len(token.text) > 1:
        support, negation, lemma = support.upper(), "NOT", lemma.upper()
    else:
        negation = "not"
    if token.text[0].isupper() and not token.text.isupper() and start == at:
        support = support.capitalize()
    if start == at:
        return {at: f"{support} {negation} {lemma}"}
    return {start: f"{support} {negation} {tokens[start].text}", at: lemma}
