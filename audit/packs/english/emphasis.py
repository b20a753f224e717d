"""Feelings made stronger, or denied: emphasizing adverbs, capitals, and the negation of the main verb."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from audit.packs.english.guard import opens_sentence, protected, put
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.polarity import feelings, leaning, polar_words
from audit.packs.english.tagging import base, forms, known_as
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS, QUOTES, Lists
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import words

# Emphasizing adverbs.

_EMPHASIS = Lists("emphasis")
ADVERBS: Mapping[str, tuple[str, ...]] = {
    "very": ("very", "really", "extremely"),
    "absolutely": ("absolutely", "truly", "utterly"),
    "truly": ("truly", "really"),
    "really": ("really",),
}
_UNREAL = NEGATIONS - {"little", "few"} | _EMPHASIS.unreal
"""What is under these, or after them in the same phrase, is not stated: it is wished, asked, compared or not there."""


@cache
def gradable() -> Mapping[str, tuple[str, str]]:
    """Return adjective, or form of a verb of liking -> (degree, place), from data/lexicons/gradable.tsv."""
    entries: dict[str, tuple[str, str]] = {}
    for degree, place, line in data_rows("lexicons/gradable.tsv"):
        for word in line.split() if degree != "never" else ():
            inflected = [form for tag in ("VBZ", "VBD") for form in forms(word, tag)] if place == "verb" else []
            for form in (word, *inflected):
                entries.setdefault(form, (degree, place))
    return entries


@cache
def _fixed() -> Mapping[str, frozenset[str]]:
    """Return adjective -> nouns with which it names one thing, from the same file."""
    rows = data_rows("lexicons/gradable.tsv")
    return {adjective: words(nouns) for degree, adjective, nouns in rows if degree == "never"}


def places(text: Analysis, strict: bool = True) -> dict[int, str]:
    """Return the index of each word before which an adverb reads well and makes the sentiment stronger -> which ones
    (a key of ADVERBS), in order.

    Nothing that is negated, compared, conceded, only wished, or already modified is emphasized: "not very good" is
    weaker than "not good". `strict`: only words that praise or blame, and only where all that are not conceded do the
    same.
    """
    entries = gradable()
    tree = (None if entries.keys().isdisjoint(text.words) else tree_of(text.tokens)) or Parse()
    fit = [word for word in tree if word.lower in entries and _reads(tree, word, entries[word.lower][1])]
    fit = [word for word in fit if _is_stated(tree, word)]
    apart = _conceded(tree) | protected(text) if fit else set()
    by_place = {word.index: entries[word.lower][0] for word in fit if word.index not in apart}
    if not (strict and by_place):
        return by_place
    poles = {at: 1 for at in by_place if text.low[at].startswith("like")}
    poles |= {index: pole for index, pole in polar_words(text).items() if index not in apart}
    return {at: by_place[at] for at in by_place if at in poles} if len({*poles.values()}) == 1 else {}


def emphasized(text: Analysis, at: int, adverb: str) -> str:
    """Return the text with the adverb before this word."""
    word = text.tokens[at].text
    if word.isupper() and len(word) > 1:
        adverb = adverb.upper()
    elif opens_sentence(text.tokens, at) and word[0].isupper():
        adverb, word = adverb.capitalize(), word.lower()
    return text.replace(put(text.tokens, {at: f"{adverb} {word}"}))


def _reads(tree: Parse, word: Word, place: str) -> bool:
    """Return whether an adverb reads well before an adjective or a verb of liking."""
    before = tree[word.index - 1] if word.index else None
    after = tree[word.index + 1] if word.index + 1 < len(tree) else None
    if word.text.istitle() and not opens_sentence(tree, word.index):
        return False
    if before is not None and (
        before.lower in _EMPHASIS.barred_before
        or before.text[-1] in "-/#@"
        or (before.tag.startswith("RB") and before.lower not in _EMPHASIS.before_adverbs)
    ):
        return False
    if after is not None and (
        after.lower in _EMPHASIS.barred_after or (after.text[0] in "-/'’" and after.start == word.end)
    ):
        return False
    return (_verb_reads if place == "verb" else _adjective_reads)(tree, word, place, after)


def _adjective_reads(tree: Parse, word: Word, place: str, after: Word | None) -> bool:
    if word.tag not in ("JJ", "VBN", "VBG") or (word.tag != "JJ" and tree.child(word.index, "aux", "auxpass", "dobj")):
        return False  # "is appealing the decision"
    first = word
    while first.relation == "conj" and tree[first.head].tag[:2] in ("JJ", "VB") and not tree.subject(first.index):
        first = tree[first.head]
    if first is not word and tree.child(first.index, "advmod", "neg"):
        return False  # "so clear and bright"
    noun = tree[first.head]
    if first.relation == "amod" and noun.index > word.index:
        before = tree[word.index - 1] if word.index else None  # "the other good one"
        alone = before is None or before.head != noun.index or before.relation not in ("amod", "compound", "nummod")
        fixed = after is not None and {after.lower, noun.lower} & _fixed().get(word.lower, frozenset())
        return place == "any" and alone and not fixed and noun.tag[:3] != "NNP"
    goes_on = after is not None and after.tag.startswith(("NN", "JJ", "VBN", "VBG", "CD"))
    return first.relation in _EMPHASIS.predicates and noun.index <= first.index and not goes_on


def _verb_reads(tree: Parse, word: Word, place: str, after: Word | None) -> bool:
    helpers = {child.lower for child in tree.children(word.index) if child.relation in ("aux", "auxpass")}
    subject = tree.subject(word.index)
    if word.tag[:2] != "VB" or word.tag == "VBG" or after is None or after.tag == "TO" or helpers - _EMPHASIS.helpers:
        return False
    if subject is None:  # "Love this place."
        return word.relation == "ROOT" and opens_sentence(tree, word.index) and after.tag in ("DT", "PRP", "PRP$")
    return subject.tag not in ("WP", "WDT") and (word.tag != "VB" or bool(helpers))


def _is_stated(tree: Parse, word: Word) -> bool:
    """Return whether the text states the word: nothing above it is negated, wished or compared."""
    if next((token.text[-1] for token in tree[word.index :] if token.text[-1] in ".!?"), "") == "?":
        return False
    node = word
    while True:
        head = tree[node.head]
        lemma, above, mark = base(node.lower), base(head.lower) or head.lower, tree.child(node.index, "mark")
        reported = node.relation == "ccomp" and node.index > head.index  # else a sentence with a comma after it
        depends = node.relation in ("advcl", "acl") and (mark.lower != "because" if mark else node.tag != "VBG")
        wished = node is not word and (lemma or node.lower) in _UNREAL
        if depends or wished or node.relation in ("pcomp", "csubj") or (reported and above not in _EMPHASIS.reporting):
            return False
        for child in tree.children(node.index):
            unreal = child.low in _UNREAL and child.relation not in ("prep", "cc") and child.index < word.index
            to_be = child.tag == "TO" and child.relation == "aux" and above not in _EMPHASIS.seeming
            if child.relation == "neg" or to_be or (unreal and (lemma != "recommend" or child.relation != "aux")):
                return False
        if head is node:
            return True
        node = head


def _conceded(tree: Parse) -> set[int]:
    """Return the indices of words that the text says less for than for others: before "but", under "although"."""
    conceded: set[int] = set()
    for word in tree:
        if word.lower not in _EMPHASIS.adversative | _EMPHASIS.concessive:
            continue
        start = next(at for at in range(word.index, -1, -1) if opens_sentence(tree, at))
        if word.lower in _EMPHASIS.adversative:
            conceded |= {*range(0 if word.index == start else start, word.index)} if word.relation != "prep" else set()
        elif word.lower == "though" and word.relation == "advmod":
            conceded |= {*range(start)}
        else:
            conceded |= {under.index for under in tree.under(word.index if word.relation == "prep" else word.head)}
    return conceded


# Nouns and adjectives in capitals.

_CAPITALS = Lists("capitalized")


def in_capitals(text: Analysis) -> dict[int, str]:
    """Return the index of each noun and adjective that is not in upper case -> the word in upper case, with its 's."""
    tree, apart, new = tree_of(text.tokens) or Parse(), protected(text, quotations=False), dict[int, str]()
    for word in tree:
        follows = word.index - 1 in new and word.low == "'s" and word.start == tree[word.index - 1].end
        fits = word.index not in apart and word.text.upper() != word.text
        if fits and (follows or _is_noun_or_adjective(tree, word)):
            new[word.index] = word.text.upper()
    return new


def praise_or_blame(text: Analysis, shouted: Mapping[int, str]) -> bool:
    """Return whether one of these words tells a feeling, other than in a title."""
    told = feelings(text).keys() & shouted.keys()
    return any(not text.tokens[index].text.istitle() or opens_sentence(text.tokens, index) for index in told)


def _is_noun_or_adjective(tree: Parse, word: Word) -> bool:
    low, after = word.lower, tree[word.index + 1] if word.index + 1 < len(tree) else None
    if len(low) == 1 or not low[0].isalpha() or low in _CAPITALS.plain:
        return False
    if after is not None and (after.low == "n't" or (low == "way" and after.lower in ("too", "more"))):
        return False
    is_verb = known_as(low, "VERB")
    if word.tag.startswith(("NN", "JJ")):
        only = word.tag == "NN" and is_verb and not known_as(low, "NOUN", "ADJ")
        # "Love this place", "Sounds like fun", "tried to contact them"
        opens = after is not None and opens_sentence(tree, word.index)
        led = opens and after is not None and (after.tag in _CAPITALS.after_verbs or after.lower == "like")
        governs = led or tree.child(word.index, "dobj", "aux", "dative") is not None
        return not (only or (is_verb and governs and word.tag in ("NN", "NNS")) or word.relation == "intj")
    if not word.tag.startswith("VB") or known_as(low, "ADV"):
        return False
    before = tree[word.index - 1] if word.index else None
    modifies = word.head > word.index and word.relation in ("amod", "compound", "nmod")
    modified = before is not None and before.head == word.index and before.relation == "amod"
    return modifies or modified or (word.tag == "VBN" and word.relation in ("acomp", "oprd"))  # "seems overloaded"


# The negation of a sentence's main verb, where the result reads well.

_NEGATION = Lists("negation")
_BARRING = NEGATIONS | (QUOTES - {"'", "’"}) | _NEGATION.barring
"""Words and signs anywhere in the text beside which a new "not" reads badly, or denies something else."""


def negate(text: Analysis, strict: bool = True) -> str | None:
    """Return the sentence with its main verb negated; None where that would not read well.

    `strict`: only where each word that praises or blames is denied, so that the sentence no longer says what it said.
    """
    tree = None if text.words & _BARRING or (strict and not leaning(text)) else tree_of(text.tokens)
    verb = _main_verb(tree) if tree else None
    tensed = tree.tensed(verb.index) if tree and verb else None
    if tree is None or verb is None or tensed is None or (strict and not _is_denied(text, tree, verb, tensed)):
        return None
    plain = tensed is verb and base(tensed.low) != "be"
    new = _with_do(tree, verb) if plain else _with_not(tree, verb, tensed)
    return text.replace(new) if new else None


def _main_verb(tree: Parse) -> Word | None:
    """Return the main verb of a text with one plain statement, with names and signs or without."""
    said = [word for word in tree if word.text[0].isalnum() and tree[word.index - 1].text not in ("@", "#")]
    roots = [root for root in tree.roots() if any(word in said for word in tree.under(root.index))]
    if len(roots) != 1 or roots[0].tag[:2] not in ("VB", "MD") or base(roots[0].lower) in _NEGATION.reporting:
        return None
    verb = roots[0]
    tensed, subject = tree.tensed(verb.index), tree.subject(verb.index)
    if tensed is None or (subject is None and (tensed.tag != "VBZ" or tree.under(verb.index)[0] is not tensed)):
        return None  # but "works well": a review's sentence whose subject is the product
    before = [word for word in tree.children(verb.index) if word.index < tensed.index]
    asks = any(word is not subject and word.tag in ("WP", "WRB", "WDT") for word in before)  # "How times have changed."
    answers = any(word.relation == "intj" and word.lower in _NEGATION.assent for word in before)
    more = any(
        (word.text in (".", "!", "...") and word.index > tensed.index and after.text[0].isalnum())
        or (word.text in ("'", "’") and word.tag != "POS")
        or (word.lower, after.lower) == ("as", "well")
        for word, after in pairwise(tree)
    )
    if more or asks or answers or any(word.relation not in _NEGATION.before for word in before):
        return None
    under = tree.under(verb.index)
    inner = {below.index for word in under if word.relation in ("relcl", "ccomp") for below in tree.under(word.index)}
    if any(word.lower in _NEGATION.jarring for word in under if word.index not in inner):
        return None
    return None if any(_goes_on(tree, word, verb) for word in under if word.index > verb.index) else verb


def _goes_on(tree: Parse, word: Word, verb: Word) -> bool:
    """Return whether a word after the verb heads what shares the verb's negation, or builds on what it would deny."""
    head = tree[word.head]
    if word.relation == "conj":  # "it is dull and shows it"; "it is small and easy to carry"
        apart = head.relation == "acomp" and word.index != head.index + 2
        return word.tag[:2] in ("VB", "MD") or apart or word.tag[:2] != head.tag[:2]
    if word.relation in ("relcl", "advcl") and head.tag[:2] in ("VB", "JJ"):
        subject = tree.subject(word.index)
        return subject is not None and subject.tag == "WDT"  # "it is small, which is nice"
    if word.relation == "ccomp" and head is verb:  # "it takes good pictures, that's clear"
        return tree.child(verb.index, "dobj") is not None or tree[tree.under(word.index)[0].index - 1].text == ","
    return word.relation == "acomp" and tree.child(head.index, "acomp") is not word  # "it is bright, easy to read"


def _is_denied(text: Analysis, tree: Parse, verb: Word, tensed: Word) -> bool:
    """Return whether each word that praises or blames is in the scope of the verb's negation."""
    poles = polar_words(text)
    certain = tensed is verb or tensed.low in BE_FINITE | _NEGATION.certain
    if not certain and (tensed.lower != "would" or verb.index not in poles):
        return False  # "I would not recommend it" is as plain as "I do not"
    for index in poles:
        word = tree[index]
        while word is not verb:
            head = tree[word.head]
            is_definite = word.relation in ("dobj", "pobj") and _is_known(tree, word)
            if word.relation == "prep":
                is_definite = (
                    _is_known(tree, head) if word.lower == "of" else word.lower != "with" or head.tag[:2] == "NN"
                )
            if word.relation not in _NEGATION.opinion or is_definite:
                return False  # "it does not use the ugly font", "the first of a great series"
            word = head
    return True


def _is_known(tree: Parse, noun: Word) -> bool:
    """Return whether a reader knows of a thing already: "the ugly font", but not "the best font"."""
    own: Sequence[Word] = list(tree.children(noun.index))
    best = any(child.tag in ("JJS", "RBS") for child in own)
    return not best and any(child.lower in _NEGATION.known or child.relation == "poss" for child in own)


def _with_not(tree: Parse, verb: Word, tensed: Word) -> dict[int, str] | None:
    """ "not" behind the verb that has the tense; "it's not" and "you're not" stay short."""
    after, subject = tree[tensed.index + 1] if tensed.index + 1 < len(tree) else None, tree.subject(verb.index)
    if tensed.low == "'d" or after is None or not after.text[0].isalnum() or after.tag in ("PRP", "TO"):
        return None
    if subject is not None and subject.relation == "expl" and after.lower not in words("a an many much enough"):
        return None  # "there are not problems"
    negation = "NOT" if tensed.text.isupper() and tensed.text[0].isalpha() else "not"
    if after.lower in _NEGATION.sentence_adverbs:
        return {after.index: f"{after.text} {negation}"}
    if tensed.low == "can":
        return {tensed.index: tensed.text + negation}
    full = {"'ll": " will", "'ve": " have"}.get(tensed.low, tensed.text)
    return {tensed.index: f"{full} {negation}"} | ({after.index: " have"} if after.low == "'ve" else {})


def _with_do(tree: Parse, verb: Word) -> dict[int, str] | None:
    """do-support: "makes" -> "does not make"; adverbs right before the verb come after "not"."""
    lemma, support = base(verb.lower), {"VBZ": "does", "VBD": "did", "VBP": "do"}.get(verb.tag)
    if lemma is None or support is None or (lemma == "have" and tree.child(verb.index, "xcomp")):
        return None  # "has to be"
    start = verb.index
    while start and tree[start - 1].relation == "advmod" and tree[start - 1].head == verb.index:
        if tree[start - 1].lower in _NEGATION.sentence_adverbs:
            break
        start -= 1
    first, opening = tree[start], f"{support} not"
    if verb.text.isupper() and len(verb.text) > 1:
        opening, lemma = opening.upper(), lemma.upper()
    elif first.index == 0 and first.text.istitle():
        opening = opening.capitalize()
    return (
        {start: f"{opening} {lemma}"} if start == verb.index else {start: f"{opening} {first.text}", verb.index: lemma}
    )
