"""Words in the place of others that say the same: contractions and full forms, synonyms, the other number."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from audit.packs.english.guard import article, in_case_of, opens_sentence, protected
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, plural
from audit.packs.english.vocabulary import NEGATIONS, Lists
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

# Contractions: token index -> text, which may be empty. They stand where the Penn Treebank splits them: do + n't.

_CONTRACTIONS = Lists("contractions")
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_FULL = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}
_WHOLE = {
    **{f"{stem}nt": f"{stem} not" for stem in ("do", "does", "did", "is", "was", "were", "could", "would", "should")},
    **{"hasnt": "has not", "havent": "have not", "gonna": "going to", "kinda": "kind of", "sorta": "sort of"},
}
_SHORT = {"is": "'s", "are": "'re", "am": "'m", "will": "'ll", "have": "'ve", "has": "'s", "had": "'d", "would": "'d"}
_SHORTENED = {
    **dict.fromkeys(("is", "has"), words("it he she that there who")),
    **dict.fromkeys(("had", "would"), words("i you he she we they")),
    "are": words("you we they"),
    "am": words("i"),
    "will": words("i you he she it we they"),
    "have": words("i you we they"),
}


def expand(text: Analysis) -> dict[int, str]:
    """Return replacements that write every contraction out whose full form is certain and reads well."""
    tree, new = tree_of(text.tokens) or Parse(), dict[int, str]()
    for word in tree:
        if word.lower in _WHOLE:
            new[word.index] = in_case_of(word.text, _WHOLE[word.lower])
        elif word.low == "n't" and word.index:
            new |= _without_n_t(tree, word)
        elif word.low[0] == "'" and word.index and word.start == tree[word.index - 1].end:
            full = _full(tree, word)
            new |= {word.index: " " + (full.upper() if word.text[1:].isupper() else full)} if full else {}
    return new


def contract(text: Analysis) -> dict[int, str]:
    """Return replacements that contract every full form whose contraction is common and reads well."""
    tree, new = tree_of(text.tokens) or Parse(), dict[int, str]()
    for word, after in pairwise(tree):
        before = tree[word.index - 1] if word.index else None
        if not after.text[0].isalnum() and not (word.lower == "not" and after.text == "."):
            continue
        if word.lower == "cannot":
            new[word.index] = in_case_of(word.text, "can't")
        elif word.lower == "not" and before is not None and after.lower not in _CONTRACTIONS.no_n_t_before:
            stem = {"can": "ca", "will": "wo"}.get(before.lower) or (
                before.lower if before.lower in _CONTRACTIONS.n_t else ""
            )
            if stem and "-" not in (after.text[0], before.text[-1]):
                new |= {before.index: in_case_of(before.text, stem + "n't"), word.index: ""}
        elif before is not None and after.lower != "not" and _may_be_short(tree, before, word):
            new |= {before.index: before.text + in_case_of(word.text, _SHORT[word.lower]), word.index: ""}
    return new


def _without_n_t(tree: Parse, word: Word) -> dict[int, str]:
    stem, negation = tree[word.index - 1], in_case_of(word.text, "not")
    full = _STEMS.get(stem.low) or (stem.low if stem.low in _CONTRACTIONS.n_t | {"might", "must", "need"} else "")
    if not full:
        return {}  # "ain't" has several
    host = {} if full == stem.low else {stem.index: in_case_of(stem.text, full)}
    subject = tree.subject(stem.index if stem.relation not in ("aux", "auxpass") else stem.head)
    if subject is not None and subject.index > word.index:  # "isn't it", but not "Isn't the film great?"
        told = subject.index == word.index + 1 and subject.tag in ("PRP", "EX", "DT")
        return {**host, word.index: "", subject.index: f"{subject.text} {negation}"} if told else {}
    return {**host, word.index: negation if full == "can" else f" {negation}"}


def _full(tree: Parse, word: Word) -> str | None:
    """Return the full form of a contraction; None for a possessive and where it is not certain."""
    before, head, after = tree[word.index - 1], tree[word.head], tree[word.index + 1 : word.index + 2]
    if not after or not (after[0].text[0].isalnum() or after[0].text in "'\"“"):
        return None
    helps = word.relation in ("aux", "auxpass") and head.tag in ("VBN", "VBD")
    if word.low != "'s":
        return {"'d": "had" if helps else "would" if head.tag == "VB" else None, **_FULL}.get(word.low)
    is_host = before.lower in _CONTRACTIONS.hosts or after[0].low in _CONTRACTIONS.after_is
    if word.tag != "VBZ" or not is_host or before.relation in ("pobj", "poss"):
        return None  # "to it's nadir": a misspelt "its"
    beside = [*tree.children(head.index), head] if head is not word else []
    if {after[0].lower, *(child.lower for child in beside if child.index > word.index)} & _CONTRACTIONS.of_has:
        return "has"
    if not helps or (word.relation == "auxpass" and not tree.child(head.index, "dobj")):
        return "is"
    return "has" if tree.child(head.index, "dobj") else None  # "he's made a film"


def _may_be_short(tree: Parse, host: Word, verb: Word) -> bool:
    """Return whether a pronoun and its verb are said as one: not "bad as it is in parts", "he has a car"."""
    helps, head = verb.relation in ("aux", "auxpass"), tree[verb.head]
    of = head if helps else verb
    led = host.head != of.index or (
        host.index and tree[host.index - 1].lower in ("than", "as")
    )  # "higher than it is now"
    if (
        host.lower not in _SHORTENED.get(verb.lower, ())
        or led
        or (host.lower in ("who", "that") and of.relation != "relcl")
    ):
        return False
    if verb.lower in ("has", "have", "had", "will", "would"):
        return helps and (head.tag == "VBN" or verb.lower in ("will", "would"))
    # What the verb goes on with must stand behind it, or nothing may be left out of its clause.
    return helps or any(child.index > verb.index and child.text[0].isalnum() for child in tree.children(of.index))


# Synonyms of nouns: a short list that is safe in almost every context, with the contexts in which it is not; the head
# of data/lexicons/synonyms.tsv says what its columns and conditions mean.

_ACRONYMS = ("TV", "PC")
"""Their capitals say nothing."""


class Synonym(NamedTuple):
    """A form of a noun, its replacement and the contexts that allow it. `noun` is the singular that names the entry."""

    noun: str
    new: str
    tag: str
    contexts: Mapping[str, frozenset[str]]
    """Conditions of the list: name -> words; none where a name says all."""

    def suits(self, present: frozenset[str]) -> bool:
        """Return whether the words of a text allow it: a picture is a photo where there is a camera."""
        needed, barred = self.contexts.get("with"), self.contexts.get("without", frozenset())
        return (needed is None or not needed.isdisjoint(present)) and barred.isdisjoint(present)


@cache
def synonyms() -> Mapping[str, tuple[Synonym, ...]]:
    """Return lower-cased form (singular or plural) -> its synonyms."""
    by_form: dict[str, list[Synonym]] = {}
    for noun, direction, synonym, *conditions in data_rows("lexicons/synonyms.tsv"):
        parts = [condition.partition("=") for condition in " ".join(conditions).split()]
        contexts = {name: frozenset(filter(None, values.split(","))) for name, _, values in parts}
        for old, new in [(noun, synonym), (synonym, noun)][: 1 + (direction == "=")]:
            if "plural" not in contexts:
                by_form.setdefault(old, []).append(Synonym(old, new, "NN", contexts))
            if "singular" not in contexts:
                by_form.setdefault(_plural(old), []).append(Synonym(old, _plural(new), "NNS", contexts))
    return {form: tuple(words) for form, words in by_form.items()}


def _plural(noun: str) -> str:
    """Return the plural of a noun or of a phrase that ends in its noun; "people" stays."""
    head, space, last = noun.rpartition(" ")
    regular = f"{last}es" if last.endswith(("s", "sh", "ch", "x")) else f"{last}s"
    return noun if last == "people" else f"{head}{space}{plural(last) or regular}"


def replacements(text: Analysis, both_ways: bool = False) -> dict[str, dict[int, str]]:
    """Return, for each noun of the text that has a synonym here, token index -> text, a/an before it mended as well.

    `both_ways`: only synonyms that can themselves be replaced by the noun; others may be wider ("novel", "book").
    """
    entries, tokens, by_noun = synonyms(), text.tokens, dict[str, dict[int, str]]()
    present = frozenset([token.lower for token in tokens])
    if entries.keys().isdisjoint(present):
        return by_noun
    stems, apart = {word.rstrip("s") for word in present}, protected(text)
    for index, token in enumerate(tokens):
        if token.lower not in entries or index in apart or _is_name(tokens, index):
            continue
        for synonym in entries[token.lower]:
            back = not both_ways or any(other.new == token.lower for other in entries.get(synonym.new, ()))
            said = synonym.new.rstrip("s") in stems
            if back and not said and synonym.suits(present) and _fits(tokens, index, synonym):
                by_noun.setdefault(synonym.noun, {}).update(_replaced(tokens, index, synonym.new))
                break
    return by_noun


def _replaced(tokens: Sequence[Token], index: int, synonym: str) -> dict[int, str]:
    text = tokens[index].text
    if text.isupper() and len(text) > 2:
        synonym = synonym.upper()
    elif text[0].isupper() and text not in _ACRONYMS:
        synonym = synonym.capitalize()
    elif synonym == "tv" and any(token.text[0].isupper() for token in tokens):
        synonym = "TV"
    before = tokens[index - 1].text if index else ""
    other = article(before, synonym)
    return {index: synonym} | ({index - 1: other} if other != before else {})


def _fits(tokens: Sequence[Token], index: int, synonym: Synonym) -> bool:
    """Return whether the noun may be replaced here, by the words and marks beside it."""
    token, lists = tokens[index], synonym.contexts
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    left = before.lower if before is not None and (before.text[-1].isalnum() or before.lower == "'s") else "PUNCT"
    right = after.lower if after is not None and after.text[0].isalnum() else "PUNCT"
    if left in lists.get("not-after", ()) or right in lists.get("not-before", ()):
        return False
    if left not in lists.get("after", {left}) or right not in lists.get("before", {right}):
        return False
    if before is not None and before.end == token.start and before.text[-1] in "-–—/@#":
        return False  # "pre-film"
    if after is not None and after.start == token.end and _is_bound(tokens, index, synonym.new):
        return False
    if token.tag not in (synonym.tag, f"{synonym.tag[:2]}P{synonym.tag[2:]}"):
        return False
    if before is not None and "compound" not in lists and _is_compound(before, index):
        return False
    goes_on = after is not None and (
        after.tag in ("VBG", "CD") or (after.tag[:2] == "NN" and _is_compound(token, index))
    )
    return "modifier" in lists or not goes_on


def _is_bound(tokens: Sequence[Token], index: int, synonym: str) -> bool:
    """Return whether what is glued to the noun makes it a part of something: "film-maker", "pic.example.com"."""
    after = tokens[index + 1]
    if after.text[0] in "'’":
        return synonym.endswith("s") != tokens[index].lower.endswith("s")  # "children's" against "kids'"
    address = after.text == "." and index + 2 < len(tokens) and after.end == tokens[index + 2].start
    return after.text[0] in "-–/" or address


def _is_compound(token: Token, before: int) -> bool:
    """Return whether a noun is part of a compound with a noun at or behind an index, as the tree has it."""
    return (
        isinstance(token, Word)
        and token.tag.startswith("NN")
        and token.head >= before
        and token.relation in ("compound", "nmod", "amod", "poss")
    )


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a capital makes the word a part of a title or name: "Scary Movie"."""
    text = tokens[index].text
    if not text[0].isupper() or text in _ACRONYMS or (text.isupper() and len(text) > 2):
        return False
    return index > 0 or (len(tokens) > 1 and tokens[1].text[0].isupper())


# The other number of one noun phrase, with everything that agrees with it: its determiner, the verbs that it is the
# subject of, and what it is said to be ("this phone is a toy"). Nothing is offered for a noun that is not in the list
# of countable ones, nor where something else may refer to the phrase. The guard refuses what does not agree.

Change = dict[int, str]
_NUMBER = Lists("number")
_OTHER = {
    "NN": {"this": "these", "that": "those", "the": "the"},
    "NNS": {"these": "this", "those": "that", "the": "the", "some": "a"},
}
"""Determiners by the noun's tag; "a" has rules of its own."""
_BE_HAVE_DO = {
    "is": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "has": ("have", "has", "have"),
    "does": ("do", "does", "do"),
}
_SAME_VERB = {"are": "is", "am": "is", "'s": "is", "'re": "is", "'m": "is", "were": "was", "have": "has", "'ve": "has"}
_NUMBERS = ("first", "singular", "plural")


def agree(verb: Token, number: str) -> str | None:
    """Return a finite verb or auxiliary as it agrees with a subject: `first` (I), `singular` or `plural`. A
    contraction is written in full; None for what is no form of a verb in the dictionary."""
    full = _SAME_VERB.get(verb.low, verb.low)
    if full in _BE_HAVE_DO:
        new = _BE_HAVE_DO[full][_NUMBERS.index(number)]
    elif verb.tag in ("MD", "VBD"):
        new = verb.low
    else:
        lemma = base(verb.low) or ""
        new = lemma if number != "singular" else next(iter(forms(lemma, "VBZ")), "")
    return (new.upper() if verb.text.isupper() and len(verb.text) > 1 else new) or None


@cache
def countables() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return (singular -> plural, plural -> singular) of the nouns in data/lexicons/countables.tsv."""
    nouns = frozenset[str]().union(*_uses().values())
    many = {noun: plural(noun) or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s") for noun in sorted(nouns)}
    return many, {form: noun for noun, form in many.items()}


@cache
def _uses() -> Mapping[str, frozenset[str]]:
    """Return the nouns of each use, as data/lexicons/countables.tsv explains it."""
    return {use: words(nouns) for use, nouns in data_rows("lexicons/countables.tsv")}


def changes(text: Analysis) -> list[Change]:
    """Return one set of replacements (token index -> text) for each noun phrase whose number can be changed."""
    plurals, singulars = countables()
    numbered = text.words & (plurals.keys() | singulars.keys())
    tree = (tree_of(text.tokens) if numbered and "?" not in text.words else None) or Parse()
    nouns = [word for word in tree if _singular(word) and word.index not in protected(text)]
    changed = [(noun, _change(tree, noun)) for noun in nouns]
    return [change for noun, change in changed if change and not _referred_to(tree, noun, change)]


def _singular(word: Word) -> str | None:
    """Return the countable noun that a word is a form of."""
    plurals, singulars = countables()
    if word.tag == "NN":
        return word.text if word.text in plurals else None
    return singulars.get(word.text) if word.tag == "NNS" else None


def _change(tree: Parse, noun: Word) -> Change | None:
    head, change = tree[noun.head], Change()
    if noun.relation in ("nsubj", "nsubjpass"):
        fits = _predicates(tree, head, noun, change) and _phrase(tree, noun, change)
    elif noun.relation == "attr":
        fits = _said(tree, noun, head, change)
    else:
        several = head.lower == "of" and noun.tag == "NNS" and tree[head.head].tag != "NN"  # "one of the scenes"
        governed = noun.relation == "dobj" or (noun.relation == "pobj" and head.lower not in _NUMBER.no_number)
        fits = governed and not several and _phrase(tree, noun, change)
    return change if fits else None


def _phrase(tree: Parse, noun: Word, change: Change) -> bool:
    """Put the noun and its determiner in the other number; return whether they have one."""
    begin = [word for word in tree.under(noun.index) if word.index < noun.index]
    after = tree[noun.index + 1] if noun.index + 1 < len(tree) else None
    clause = tree.child(noun.index, "relcl", "acl")
    if any(
        child.relation not in _NUMBER.plain or child.lower in _NUMBER.counting for child in tree.children(noun.index)
    ):
        return False
    if after is not None and (
        after.tag[:2] in ("NN", "CD", "PO")
        or after.lower in _NUMBER.going_on
        or (after.tag in ("VBZ", "VBP") and not noun.relation.startswith("nsubj"))
    ):
        return False  # "the scene modes", "the song Running": the phrase is longer than the parser has seen
    led = tree.subject(clause.index) if clause is not None and clause.relation == "relcl" else None
    if clause is not None and led is None and (clause.relation == "relcl" or noun.relation not in ("dobj", "pobj")):
        return False
    if clause is not None and led is not None and led.tag[0] == "W" and not _predicates(tree, clause, noun, change):
        return False
    change[noun.index] = countables()[0][noun.text] if noun.tag == "NN" else _singular(noun) or ""
    if not begin or begin[0].relation not in ("det", "poss", "predet"):
        first = (begin or [noun])[0]
        change[first.index] = f"{article('a', first.text)} {change.get(first.index, first.text)}"
        return noun.relation == "attr" and noun.tag == "NNS"
    if any(word.tag in ("JJS", "RBS", "PRP$", "CC", "DT", ",") for word in begin[1:]):
        return False
    new = _determiner(tree, noun, begin[0], begin[1].text if begin[1:] else change[noun.index])
    if new is not None and new != begin[0].text:
        change[begin[0].index] = new.capitalize() if begin[0].text.istitle() else new
    return new is not None


def _determiner(tree: Parse, noun: Word, determiner: Word, first: str) -> str | None:
    """Return the determiner of the other number before the word `first`; None where none reads well."""
    uses, low, singular = _uses(), determiner.low, _singular(noun)
    subject, person = noun.relation.startswith("nsubj"), singular in uses["person"]
    denied = any(word.lower in NEGATIONS for word in tree[: noun.index])
    if determiner.relation == "poss":
        return low if singular in uses["own"] and determiner.tag == "PRP$" and noun.tag == "NN" else None
    if low in ("a", "an"):
        return _some(tree, noun, denied, person)
    if low == "the":
        bound = any(child.relation == "prep" and "NNS" in (noun.tag, child.tag) for child in tree.children(noun.index))
        of = bound or any(child.lower == "of" for child in tree.children(noun.index))
        fits = (subject if person else singular in uses["the"]) and not of
    else:
        fits = not person and (low != "some" or not (subject or denied or noun.relation == "pobj"))
    new = _OTHER[noun.tag].get(low) if fits else None
    return article("a", first) if new == "a" else new


def _some(tree: Parse, noun: Word, denied: bool, person: bool) -> str | None:
    """Return what stands for "a" before a plural: "some", nothing (""); None where none reads well."""
    head = tree[noun.head]
    subject = tree.subject(head.index)
    if noun.relation == "attr" and subject is not None and subject.lower != "there":
        return ""
    whole = any(word.lower == "of" or word.relation == "acl" for word in tree.children(noun.index))
    if noun.tag != "NN" or denied or whole or person or noun.relation not in ("dobj", "attr"):
        return None
    subjects = [subject, tree.subject(head.head)]  # not "people love a bargain"
    own = noun.relation == "attr" or any(word is not None and word.lower in ("i", "we") for word in subjects)
    supposed = any(word.lower in ("would", "'d", "if", "could") for word in tree.children(head.index))
    return "some" if own and not supposed else None


def _predicates(tree: Parse, verb: Word, noun: Word, change: Change) -> bool:
    """Let verbs that share a subject agree with it, and nouns that it is said to be; return whether they can."""
    joined = [word for word in tree.children(verb.index) if word.relation == "conj" and word.tag[:2] == "VB"]
    for said in [verb, *(word for word in joined if tree.subject(word.index) is None)]:
        finite, attribute = tree.tensed(said.index), tree.child(said.index, "attr", "oprd")
        new = agree(finite, "plural" if noun.tag == "NN" else "singular") if finite is not None else None
        if tree.child(said.index, "ccomp") is not None or (finite is not None and new is None):
            return False  # "the problem is that"
        if finite is not None and new is not None and new != finite.lower:
            glued = finite.index and tree[finite.index - 1].end == finite.start
            change[finite.index] = f" {new}" if glued else new
        if attribute is not None and attribute is not noun and not _attribute(tree, attribute, noun, change):
            return False
    return True


def _attribute(tree: Parse, said: Word, noun: Word, change: Change) -> bool:
    """Put what the noun is said to be in its number, or in none; return whether it has one."""
    if said.tag == noun.tag and _singular(said):
        return _phrase(tree, said, change)
    mass = noun.tag == said.tag == "NN" and tree.child(said.index, "det", "poss", "nummod") is None
    return (mass and said.text.islower()) or said.lower in _NUMBER.singular_of_several


def _said(tree: Parse, noun: Word, verb: Word, change: Change) -> bool:
    """Change "There is a toy", "this is a toy", with the subject; return whether it can be."""
    subject, inner = tree.subject(verb.index), tree.child(verb.index, "ccomp", "xcomp", "advcl", "csubj", "neg", "aux")
    if subject is None or inner is not None:
        return False
    if subject.lower != "there":
        new = (
            {"NN": "they", "NNS": "it"}[noun.tag]
            if subject.lower in ("it", "they")
            else _OTHER[noun.tag].get(subject.low)
        )
        after = tree[noun.index + 1].tag if noun.index + 1 < len(tree) else "."
        if new is None or not opens_sentence(tree, subject.index) or after not in (".", ",", "CC", "IN", "WDT"):
            return False  # "but it was a problem", of what was said before; "it is a sure bet to"
        change[subject.index] = in_case_of(subject.text, new)
    return _predicates(tree, verb, noun, change) and _phrase(tree, noun, change)


def _referred_to(tree: Parse, noun: Word, change: Change) -> bool:
    """Return whether another word may refer to the phrase, or repeats its noun."""
    singular = _singular(noun) or ""
    several, person = noun.tag == "NNS", singular in _uses()["person"]
    referring = _NUMBER.to_several if several else _NUMBER.to_persons if person else _NUMBER.to_things
    referring |= {singular, countables()[0][singular]}
    return any(
        word.lower in referring
        or (word.tag == "CD" and several)
        or (word.lower in ("any", "some", "this", "that") and word.tag == "DT" and word.relation != "det")
        for word in tree
        if word.index not in change
    )
