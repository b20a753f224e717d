"""The negation of an English sentence's main verb, where the result reads well."""

from collections.abc import Container
from itertools import pairwise

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.polarity import leaning, lexicon, polar_words
from audit.packs.english.tagging import base
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS, QUOTES
from audit.text.analysis import Analysis
from audit.text.tokens import words

_CLITICS = {"'ll": " will", "'ve": " have"}
"""Written in full before "not"; "it's not" and "you're not" stay short."""
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
_AFTER = words("kind sort to i he she we they")
"""What "not" cannot stand before: "sort of slow"; "is to leave"; "boy was I wrong"."""
_CERTAIN = BE_FINITE | words("do does did has have had can will 's 're 'm 've 'll")
"""What a strict negation may stand beside: "may not be good" is as unsure as "may be good"."""
_ASSENT = words("yes yeah yep yup sure ok okay thanks")
_KNOWN = words("the this that these those")


def negate(analysis: Analysis, strict: bool = True) -> str | None:
    """The sentence with its main verb negated; None where that would not read well.

    `strict`: only where each word that praises or blames is denied, so that the sentence no longer says what it said.

    >>> negate(Analysis("It makes good coffee."))
    'It does not make good coffee.'
    >>> negate(Analysis("It makes coffee.")) is None, negate(Analysis("It makes coffee."), strict=False)
    (True, 'It does not make coffee.')
    """
    if not _BARRING.isdisjoint(analysis.words) or (strict and not leaning(analysis)):
        return None
    tree = tree_of(analysis.tokens)
    verb = _main_verb(tree) if tree else None
    if tree is None or verb is None or (strict and not _is_denied(analysis, tree, verb)):
        return None
    new = _with_not(tree, verb)
    return analysis.replace(new) if new else None


def _main_verb(tree: Parse) -> Word | None:
    """The main verb of a text with one plain statement, with names and signs or without."""
    roots = [word for word in tree.roots() if not _is_call(tree, word)]
    if len(roots) != 1 or roots[0].tag[:2] not in ("VB", "MD") or base(roots[0].lower) in _REPORTING:
        return None
    verb = roots[0]
    tensed, subject, first = tree.tensed(verb.index), tree.subject(verb.index), tree.under(verb.index)[0]
    if tensed is None:
        return None
    before = [word for word in tree.children(verb.index) if word.index < tensed.index]
    if any(
        word.relation not in _BEFORE or (word.relation == "advmod" and word.tag not in ("RB", "RBS", "WRB"))
        for word in before
    ):
        return None
    if any(word.tag in ("WP", "WRB", "WDT") for word in before if word is not subject):
        return None  # "How times have changed."
    if any(word.relation == "intj" and word.lower in _ASSENT for word in before):
        return None
    for word, following in pairwise(tree.words):
        if (word.text in ("'", "’") and word.tag != "POS") or (word.text == "(" and word.index < tensed.index):
            return None  # a quotation; a remark
        if word.text in (".", "!", "...") and following.text[0].isalnum() and word.index > tensed.index:
            return None  # "It is great! Wow!"
        if (word.lower, following.lower) == ("as", "well"):
            return None
    if subject is None:
        # "works well": a review's sentence whose subject is the product.
        begun = all(word.relation == "advmod" or word.text[0] == "@" for word in tree.words[first.index : tensed.index])
        if not begun or not (tensed.tag == "VBZ" or (tensed.tag == "VBD" and tree.child(verb.index, "dobj"))):
            return None
    elif [word.text for word in tree.words[subject.index : tensed.index]].count(",") == 1:
        return None
    elif (subject.tag == "VBG" and tensed.lower in ("are", "were")) or tree.words[subject.index - 1].text == "@":
        return None  # "Missing from the box are the cables."
    clause = _clause(tree, verb)
    if not _JARRING.isdisjoint(word.lower for word in clause):
        return None
    return None if any(_goes_on(tree, word, verb) for word in tree.under(verb.index)) else verb


def _is_call(tree: Parse, root: Word) -> bool:
    """Whether nothing but signs and names as tweets have them hangs on a root."""
    under = tree.under(root.index)
    return all(not word.text[0].isalnum() or tree.words[word.index - 1].text in ("@", "#") for word in under)


def _goes_on(tree: Parse, word: Word, verb: Word) -> bool:
    """Whether a word after the verb heads what shares the verb's negation, or builds on what it would deny."""
    head = tree.words[word.head]
    if word.index < verb.index:
        return False
    if word.relation == "acomp" and tree.child(head.index, "acomp") is not word:
        return True  # "it is bright, easy to read"
    if word.relation == "conj":
        # "it is dull and shows it"; "it is a good camera and well worth the price"; "it is small and easy to carry"
        second = (head is verb and word.tag[:2] == "VB") or tree.tensed(word.index) is not None
        apart = head.relation == "acomp" and word.index != head.index + 2
        return second or apart or word.tag[:2] != head.tag[:2]
    if word.relation == "ccomp" and head is verb:
        # "it takes good pictures, that's clear"
        begin = tree.under(word.index)[0].index
        return "," in (tree.words[begin - 1].text, tree.words[begin].text) or tree.child(verb.index, "dobj") is not None
    if word.relation in ("relcl", "advcl") and head.tag[:2] in ("VB", "JJ"):
        subject = tree.subject(word.index)
        return subject is not None and subject.tag == "WDT"  # "it is small, which is nice"
    return (word.relation == "appos" and head.head == verb.index) or (word.relation == "mark" and word.lower == "as")


def _clause(tree: Parse, verb: Word) -> list[Word]:
    """The words of a verb's own clause, without those of the clauses inside it."""
    inner = {
        word.index
        for clause in tree.words
        if clause.relation in ("relcl", "ccomp")
        for word in tree.under(clause.index)
    }
    return [word for word in tree.under(verb.index) if word.index not in inner]


def _is_denied(analysis: Analysis, tree: Parse, verb: Word) -> bool:
    """Whether each word that praises or blames is in the scope of the verb's negation."""
    tensed, polar = tree.tensed(verb.index), polar_words(analysis)
    if tensed is None:
        return False
    plain = tensed is verb or tensed.low in _CERTAIN
    if not plain and (tensed.lower != "would" or verb.index not in polar):
        return False  # "I would not recommend it" is as plain as "I do not"
    for index in polar:
        word = tree.words[index]
        while word.index != verb.index:
            if word.relation not in _OPINION or _is_given(tree, word, verb, polar):
                return False
            word = tree.words[word.head]
    return True


def _is_given(tree: Parse, word: Word, verb: Word, polar: Container[int]) -> bool:
    """Whether a negation leaves what a word says as it is: "it does not use the ugly font"."""
    head = tree.words[word.head]
    if word.relation == "conj":
        return head.tag[:2] == "NN" and head.index not in polar  # "art, dance and danger"
    if word.relation == "prep":
        if word.lower == "of":
            return _is_known(tree, head)  # "the first of a great series"
        return word.lower != "with" or head.tag[:2] == "NN"
    return word.relation in ("dobj", "pobj") and base(verb.lower) != "have" and _is_known(tree, word)


def _is_known(tree: Parse, noun: Word) -> bool:
    """Whether a reader knows of a thing already: "the ugly font", but not "the best font"."""
    own = list(tree.children(noun.index))
    if any(child.tag in ("JJS", "RBS") for child in [noun, *own]):
        return False
    return any(child.lower in _KNOWN or child.relation == "poss" for child in own)


def _with_not(tree: Parse, verb: Word) -> dict[int, str] | None:
    tensed = tree.tensed(verb.index)
    if tensed is None:
        return None
    word, at = tensed.low, tensed.index
    after = tree.words[at + 1] if at + 1 < len(tree.words) else None
    if tensed is verb and base(word) != "be":
        return _with_do(tree, verb)
    subject = tree.subject(verb.index)
    if word == "'d" or after is None or not after.text[0].isalnum() or after.lower in _AFTER:
        return None
    if subject is not None and subject.relation == "expl" and after.lower not in ("a", "an", "many", "much", "enough"):
        return None  # "there are not problems"
    negation = "NOT" if tensed.text.isupper() and tensed.text[0].isalpha() else "not"
    if after.lower in _SENTENCE_ADVERBS and tensed is verb:
        return {after.index: f"{after.text} {negation}"}
    if word == "can":
        return {at: tensed.text + negation}
    new = {at: f"{_CLITICS.get(word, tensed.text)} {negation}"}
    if after.lower in ("'ve", "’ve"):
        new[after.index] = " have"  # "would've been"
    return new


def _with_do(tree: Parse, verb: Word) -> dict[int, str] | None:
    """do-support: "makes" -> "does not make"; adverbs right before the verb come after "not"."""
    lemma, support = base(verb.lower), {"VBZ": "does", "VBD": "did", "VBP": "do"}.get(verb.tag)
    if lemma is None or support is None or (lemma == "have" and tree.child(verb.index, "xcomp")):
        return None
    if lemma == "do" and not tree.child(verb.index, "dobj"):
        return None
    start = verb.index
    while (
        start
        and tree.words[start - 1].relation == "advmod"
        and tree.words[start - 1].head == verb.index
        and tree.words[start - 1].lower not in _SENTENCE_ADVERBS
    ):
        start -= 1
    if any("RB" in lexicon().get(word.lower, ()) for word in tree.words[start : verb.index]):
        return None  # "does not nicely serve"
    first = tree.words[start]
    negation = "not"
    if verb.text.isupper() and len(verb.text) > 1:
        support, negation, lemma = support.upper(), "NOT", lemma.upper()
    opening = f"{support} {negation}"
    if first.index == 0 and first.text[0].isupper() and not first.text.isupper():
        opening = opening.capitalize()
    if start == verb.index:
        return {start: f"{opening} {lemma}"}
    return {start: f"{opening} {first.text}", verb.index: lemma}
