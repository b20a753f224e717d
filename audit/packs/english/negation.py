"""The negation of an English sentence's main verb, where the result reads well."""

from itertools import pairwise

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.polarity import leaning, polar_words
from audit.packs.english.tagging import base
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS, QUOTES
from audit.text.analysis import Analysis
from audit.text.tokens import words

_BARRING = (
    NEGATIONS
    | (QUOTES - {"'", "’"})
    | words(
        "? ; : * [ - -- – — any anything anyone anybody ever either but yet although though however while "
        "whereas unless until whether nonetheless nevertheless maybe perhaps unfortunately sadly luckily fortunately "
        "hopefully otherwise instead"
    )
)
"""Words and signs anywhere in the text beside which a new "not" reads badly, or denies something else."""
_JARRING = words(
    "some someone something somehow sometimes somewhere somebody somewhat also too already still just only merely "
    "indeed always again once often occasionally usually fairly rather quite pretty almost nearly practically "
    "virtually simply mostly largely partly plenty several lots such so both most all each every everything everyone "
    "everybody another even likewise first right far originally finally soon recently now then here thus hence "
    "therefore apparently reportedly thankfully rightly justly wisely half enough since till because if unlike like"
)
"""Words of the main clause that jar with "not", or that "not" would make mean something else."""
_SENTENCE_ADVERBS = words(
    "certainly definitely probably clearly obviously surely undoubtedly actually basically frankly"
)
"""They speak of the whole sentence, so that "not" comes after them: "is certainly not", "certainly does not work"."""
_REPORTING = words(
    "think believe guess suppose say feel hope know wish bet suspect seem appear mean tend imagine turn thank"
)
"""Their negation speaks of the clause that follows, or changes the meaning."""
_BEFORE = words("nsubj nsubjpass csubj csubjpass expl aux auxpass advmod prep npadvmod punct cc advcl intj")
"""Relations to a verb of what may stand before it: nothing is inverted, or said about somebody's words."""
_OPINION = words("acomp attr dobj oprd xcomp advmod amod prep pobj conj agent prt dative")
"""Relations to a head whose negation is that of the word, too."""
_CERTAIN = BE_FINITE | words("do does did has have had can will 's 're 'm 've 'll")
"""What a strict negation may stand beside: "may not be good" is as unsure as "may be good"."""
_ASKING = ("WP", "WRB", "WDT")
_ASSENT = words("yes yeah yep yup sure ok okay thanks")
_KNOWN = words("the this that these those")


def negate(text: Analysis, strict: bool = True) -> str | None:
    """The sentence with its main verb negated; None where that would not read well.

    `strict`: only where each word that praises or blames is denied, so that the sentence no longer says what it said.

    >>> negate(Analysis("It makes good coffee."))
    'It does not make good coffee.'
    >>> negate(Analysis("It makes coffee.")) is None, negate(Analysis("It makes coffee."), strict=False)
    (True, 'It does not make coffee.')
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
    """The main verb of a text with one plain statement, with names and signs or without."""
    roots = [root for root in tree.roots() if any(_is_word(tree, word) for word in tree.under(root.index))]
    if len(roots) != 1 or roots[0].tag[:2] not in ("VB", "MD") or base(roots[0].lower) in _REPORTING:
        return None
    verb = roots[0]
    tensed, subject = tree.tensed(verb.index), tree.subject(verb.index)
    if tensed is None or (subject is None and (tensed.tag != "VBZ" or tree.under(verb.index)[0] is not tensed)):
        return None  # but "works well": a review's sentence whose subject is the product
    before = [word for word in tree.children(verb.index) if word.index < tensed.index]
    if any(word.relation not in _BEFORE or (word is not subject and word.tag in _ASKING) for word in before):
        return None  # "How times have changed."
    if any(word.relation == "intj" and word.lower in _ASSENT for word in before) or not _is_one(tree, tensed):
        return None
    under = tree.under(verb.index)
    inner = {below.index for word in under if word.relation in ("relcl", "ccomp") for below in tree.under(word.index)}
    if any(word.lower in _JARRING for word in under if word.index not in inner):
        return None
    return None if any(_goes_on(tree, word, verb) for word in under if word.index > verb.index) else verb


def _is_word(tree: Parse, word: Word) -> bool:
    """Whether it is no sign and no handle."""
    return word.text[0].isalnum() and tree[word.index - 1].text not in ("@", "#")


def _is_one(tree: Parse, tensed: Word) -> bool:
    """Whether the text is no more than a statement: no quotation, no second sentence, no "as well"."""
    for word, after in pairwise(tree):
        ended = word.text in (".", "!", "...") and word.index > tensed.index and after.text[0].isalnum()
        quoted = word.text in ("'", "’") and word.tag != "POS"
        if ended or quoted or (word.lower, after.lower) == ("as", "well"):
            return False
    return True


def _goes_on(tree: Parse, word: Word, verb: Word) -> bool:
    """Whether a word after the verb heads what shares the verb's negation, or builds on what it would deny."""
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
    """Whether each word that praises or blames is in the scope of the verb's negation."""
    if (
        tensed is not verb
        and tensed.low not in _CERTAIN
        and (tensed.lower != "would" or verb.index not in polar_words(text))
    ):
        return False  # "I would not recommend it" is as plain as "I do not"
    for index in polar_words(text):
        word = tree[index]
        while word is not verb:
            head = tree[word.head]
            given = word.relation in ("dobj", "pobj") and _is_known(tree, word)
            if word.relation == "prep":
                given = _is_known(tree, head) if word.lower == "of" else word.lower != "with" or head.tag[:2] == "NN"
            if word.relation not in _OPINION or given:
                return False  # "it does not use the ugly font", "the first of a great series"
            word = head
    return True


def _is_known(tree: Parse, noun: Word) -> bool:
    """Whether a reader knows of a thing already: "the ugly font", but not "the best font"."""
    own = list(tree.children(noun.index))
    best = any(child.tag in ("JJS", "RBS") for child in own)
    return not best and any(child.lower in _KNOWN or child.relation == "poss" for child in own)


def _with_not(tree: Parse, verb: Word, tensed: Word) -> dict[int, str] | None:
    """ "not" behind the verb that has the tense; "it's not" and "you're not" stay short."""
    after, subject = tree[tensed.index + 1] if tensed.index + 1 < len(tree) else None, tree.subject(verb.index)
    if tensed.low == "'d" or after is None or not after.text[0].isalnum() or after.tag in ("PRP", "TO"):
        return None
    if subject is not None and subject.relation == "expl" and after.lower not in words("a an many much enough"):
        return None  # "there are not problems"
    negation = "NOT" if tensed.text.isupper() and tensed.text[0].isalpha() else "not"
    if after.lower in _SENTENCE_ADVERBS:
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
        if tree[start - 1].lower in _SENTENCE_ADVERBS:
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
