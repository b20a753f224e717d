"""Contractions of English and their full forms, each way only where the result reads as well as before.

`expand` and `contract` return replacements for `Analysis.replace` (token index -> text, which may be empty).
Contractions stand where the Penn Treebank splits them: do + n't, it + 's.
"""

import re
from collections.abc import Sequence

from audit.packs.english.parser import Parse, Word, tree_of
from audit.text.tokens import Token, words

_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_N_T = words("is are was were do does did has have had could would should")
"""What n't is put to; it is taken from a few more."""
_FULL = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}
_WHOLE = {
    **{f"{stem}nt": f"{stem} not" for stem in ("do", "does", "did", "is", "was", "were", "could", "would", "should")},
    **{"hasnt": "has not", "havent": "have not", "gonna": "going to", "kinda": "kind of", "sorta": "sort of"},
}
_HOSTS = words("it he she that there here what who where how everything nothing something everyone everybody")
_OWNERS = words("everyone everybody everything nothing something")
"""Pronouns that own things, too: "everyone's problem"."""
_SHORT = {"is": "'s", "are": "'re", "am": "'m", "will": "'ll", "have": "'ve", "has": "'s", "had": "'d", "would": "'d"}
_SHORTENED = {
    **dict.fromkeys(("is", "has"), words("it he she that there who")),
    **dict.fromkeys(("had", "would"), words("i you he she we they")),
    "are": words("you we they"),
    "am": words("i"),
    "will": words("i you he she it we they"),
    "have": words("i you we they"),
}
_NO_N_T_BEFORE = words("only merely just so because least to and or but even")
_FULL_FORM = re.compile(
    rf"\b(?:{'|'.join(_N_T)}|can|will) not\b|\bcannot\b|"
    + "|".join(rf"\b(?:{'|'.join(hosts)}) {word}(?= \w)" for word, hosts in _SHORTENED.items() if word != "have"),
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(
    rf"\w['’](?:t|m|re|ve|ll|d)\b|\b(?:{'|'.join(_HOSTS - _OWNERS)}|let)['’]s\b|"
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
    tree = tree_of(tokens)
    new: dict[int, str] = {}
    for word in tree or ():
        if word.lower in _WHOLE:
            new[word.index] = _like(word.text, _WHOLE[word.lower])
        elif word.low == "n't" and word.index and tree is not None:
            new |= _without_n_t(tree, word)
        elif tree is not None and word.low[0] == "'" and word.index and word.start == tree[word.index - 1].end:
            full = _full(tree, word)
            new |= {word.index: " " + (full.upper() if word.text[1:].isupper() else full)} if full else {}
    return new


def contract(tokens: Sequence[Token]) -> dict[int, str]:
    """Replacements that contract every full form whose contraction is common and reads well.

    >>> from audit.text import Analysis
    >>> text = Analysis("It is a film that does not work, bad as it is.")
    >>> text.replace(contract(text.tokens))
    "It's a film that doesn't work, bad as it is."
    """
    tree = tree_of(tokens)
    new: dict[int, str] = {}
    for word, after in zip(tree or (), (tree or ())[1:], strict=False):
        before = tree[word.index - 1] if tree and word.index else None
        if not after.text[0].isalnum() and not (word.lower == "not" and after.text == "."):
            continue
        if word.lower == "cannot":
            new[word.index] = _like(word.text, "can't")
        elif word.lower == "not" and before is not None and after.lower not in _NO_N_T_BEFORE:
            stem = {"can": "ca", "will": "wo"}.get(before.lower, before.lower if before.lower in _N_T else "")
            if stem and "-" not in (after.text[0], before.text[-1]):
                new |= {before.index: _like(before.text, stem + "n't"), word.index: ""}
        elif tree and before is not None and after.lower != "not" and _may_be_short(tree, before, word, after):
            new |= {before.index: before.text + _like(word.text, _SHORT[word.lower]), word.index: ""}
    return new


def _without_n_t(tree: Parse, word: Word) -> dict[int, str]:
    stem, after = tree[word.index - 1], tree[word.index + 1] if word.index + 1 < len(tree) else None
    full = _STEMS.get(stem.low) or (stem.low if stem.low in _N_T | {"might", "must", "need"} else "")
    if not full:
        return {}  # "ain't" has several
    host = {} if full == stem.low else {stem.index: _like(stem.text, full)}
    verb = stem if stem.relation not in ("aux", "auxpass") else tree[stem.head]
    subject, negation = tree.subject(verb.index), _like(word.text, "not")
    if subject is not None and subject.index > word.index:  # "isn't it"
        if after is not subject or after.tag not in ("PRP", "EX", "DT"):
            return {}  # "Isn't the film great?"
        return {**host, word.index: "", after.index: f"{after.text} {negation}"}
    return {**host, word.index: negation if full == "can" else f" {negation}"}


def _full(tree: Parse, word: Word) -> str | None:
    """The full form of a contraction; None where it is not certain."""
    before, after = tree[word.index - 1], tree[word.index + 1] if word.index + 1 < len(tree) else None
    if after is None or not (after.text[0].isalnum() or after.text in "'\"“") or "-" in before.text:
        return None
    head = tree[word.head]
    participle = head.tag in ("VBN", "VBD") and word.relation in ("aux", "auxpass")
    if word.low == "'d":
        if after.lower == "better" or participle:
            return "had"
        return "would" if head.tag == "VB" and word.relation == "aux" else None
    if word.low == "'s":
        return _is_or_has(tree, word, before, after)
    hosts = {"'m": words("i"), "'re": words("you we they there who these those")}.get(word.low)
    return _FULL.get(word.low) if hosts is None or before.lower in hosts else None


def _is_or_has(tree: Parse, word: Word, before: Word, after: Word) -> str | None:
    """What 's stands for; None for a possessive and where it is not certain."""
    head = tree[word.head]
    if word.tag != "VBZ" or before.lower == "let":
        return None
    if before.lower not in _HOSTS:
        if after.lower in ("been", "got"):
            return "has"
        return "is" if after.low in words("a an not it he she they") and before.tag[:2] in ("NN", "DT", "CD") else None
    if before.lower in ("there", "here") and (after.tag in ("NNS", "CD") or after.lower in words("lots some many")):
        return None  # "there's lots of": neither reads well
    if before.lower == "it" and before.relation in ("pobj", "poss"):
        return None  # "for it's time": a misspelt "its"
    helped = {after.lower}
    if head is not word:
        helped |= {head.lower, *(child.lower for child in tree.children(head.index) if child.index > word.index)}
    if helped & words("been got had become gotten"):
        return "has"
    if word.relation not in ("aux", "auxpass") or head.tag not in ("VBN", "VBD") or "being" in helped:
        return "is"
    if "ever" in helped or (tree.child(head.index, "dobj") and head.lower not in words("called named titled told")):
        return "has"  # "he's made a film"
    return None if word.relation == "aux" else "is"


def _may_be_short(tree: Parse, host: Word, verb: Word, after: Word) -> bool:
    """Whether a pronoun and its verb are said as one: not "bad as it is in parts", "he has a car"."""
    if host.lower not in _SHORTENED.get(verb.lower, ()) or after.lower in words("than that indeed as"):
        return False
    helps, head = verb.relation in ("aux", "auxpass"), tree[verb.head]
    of = head if helps else verb
    if host.relation not in ("nsubj", "nsubjpass", "expl") or host.head != of.index:
        return False
    if host.lower in ("who", "that") and of.relation != "relcl":
        return False
    if (host.index and tree[host.index - 1].lower in ("than", "as")) or (host.lower == "there" and after.tag == "TO"):
        return False  # "higher than it is today", "all there is to love"
    if verb.lower in ("has", "have", "had", "will", "would"):
        return helps and (head.tag == "VBN" or verb.lower in ("will", "would")) and head.index > verb.index
    # What the verb goes on with must stand behind it, or nothing may be left out of its clause.
    following = [child for child in tree.children(of.index) if child.index > verb.index and child.text[0].isalnum()]
    return bool(following) or helps


def _like(example: str, text: str) -> str:
    """The text in the letter case of the example: upper, Capitalised or lower."""
    if example.isupper() and (len(example) > 1 or not text[0].isalpha()):
        return text.upper()
    return text[0].upper() + text[1:] if example[:1].isupper() else text
