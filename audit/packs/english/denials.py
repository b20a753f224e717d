"""Negations of English texts put in, taken out, doubled, and words denied that say the opposite.

What stays true hangs on the logic of each: docs/reference/relations.md says what is carried for which task.
"""

import random
from collections.abc import Mapping
from functools import cache

from audit.packs.english.negation import negate
from audit.packs.english.pairs import DENYING, OPPOSITE, deniable
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import TOOLS
from audit.packs.english.tagging import base, forms
from audit.packs.english.vocabulary import NEGATIONS
from audit.relations.base import nothing
from audit.relations.expect import different
from audit.relations.perturbations import Use, perturbation, uses
from audit.resources import data_file
from audit.text import Analysis
from audit.text.tokens import words

_BY_SCHEME = uses("classification", carry=nothing)
"""Whether a label stays hangs on the labels: some are about what did not happen."""
_BARRING = words(
    "any anything anyone anybody anywhere ever either yet until till much many but nor neither because only just "
    "merely too enough even unless if whether so necessarily quite exactly particularly especially really very all "
    "every always both at alone ? ; : mind help doubt why how what such need simply believe imagine foggiest slightest "
    "almost nearly unlike that least"
)
"""Words beside which a negation means something else, or that need it."""


@perturbation(
    "negation-removed",
    family=DENYING,
    tasks=_BY_SCHEME | OPPOSITE,
    version="2",
    needs=TOOLS,
    grammar=True,
)
def negation_removed(text: Analysis, choices: random.Random) -> str | None:
    """The negation of a main verb is left out, where it is the only one in its sentence.

    Keeps subject and topic; may break every label about what fails or is missing, and a word that leaned on the
    negation.

    For inference the denied sentence's label follows as of negated-hypothesis; elsewhere nothing is carried. Only of
    one sentence, since others may build on it. No group where a word needs the negation ("any", "yet"), or is denied
    with it ("not very").

    >>> negation_removed(Analysis("The printer does not work."), random.Random(0))
    'The printer works.'
    """
    return _without_negation(text) if len(text.spans) == 1 else None


@perturbation(
    "negation-removed",
    family=DENYING,
    tasks={"sentiment": Use(check=different, expects="another label", carry=nothing, unit="sentence", default=False)},
    version="2",
    needs=TOOLS,
    grammar=True,
)
def opinion_affirmed(text: Analysis, choices: random.Random) -> str | None:
    """The negation of a main verb is left out, where it is the only one in its sentence.

    Keeps what is judged; may break the turn of the label where the denial was polite or ironic, or where words outside
    our lists decide.

    Only where it denies each word that praises or blames.

    >>> opinion_affirmed(Analysis("The film is not good."), random.Random(0))
    'The film is good.'
    >>> opinion_affirmed(Analysis("The shop is not open."), random.Random(0)) is None
    True
    """
    affirmed = _without_negation(text) if len(text.spans) == 1 else None
    return affirmed if affirmed and negate(Analysis(affirmed)) else None


def _without_negation(text: Analysis) -> str | None:
    if not _BARRING.isdisjoint(text.words):
        return None
    tree = tree_of(text.tokens)
    verb = next(iter(tree.roots()), None) if tree else None
    if tree is None or verb is None or not deniable(text):
        return None
    denied = [word for word in tree.words if word.low in NEGATIONS]
    if len(denied) != 1 or denied[0].low not in ("not", "n't", "cannot"):
        return None
    new = _affirmed(tree, verb, denied[0])
    return text.replace(new) if new else None


def _affirmed(tree: Parse, verb: Word, denial: Word) -> dict[int, str] | None:
    """Tokens that change where a main verb's negation goes."""
    tensed = tree.tensed(verb.index)
    if tensed is None or denial.head != verb.index:
        return None
    if denial.low == "cannot":
        return {denial.index: "can"}
    follows = tree.words[denial.index + 1].text if denial.index + 1 < len(tree.words) else "."
    if denial.index != tensed.index + 1 or denial.relation != "neg" or not follows[0].isalnum():
        return None
    new = {denial.index: ""}
    if tensed.low in ("do", "does", "did"):
        if verb is tensed or verb.tag != "VB":
            return None
        tag = {"does": "VBZ", "did": "VBD"}.get(tensed.low)
        inflected = forms(verb.low, tag) if tag else (verb.text,)
        if not inflected or verb.low in ("be", "have", "need"):
            return None
        return {**new, tensed.index: "", verb.index: inflected[0]}
    whole = {"ca": "can", "wo": "will"}.get(tensed.low)
    return {**new, tensed.index: whole} if whole else new


_COMPARING = words("as either than if unless")
"""Words by which a sentence weighs the blame against something."""


@perturbation(
    "double-denial",
    family=DENYING,
    tasks=uses("classification", "sentiment", "similarity"),
    version="2",
    needs=TOOLS,
    grammar=True,
)
def double_denial(text: Analysis, choices: random.Random) -> str | None:
    """A word that blames becomes "not" and its opposite: "boring", "not interesting"; "lacks", "does not have".

    Keeps the blame; may break its strength: "not interesting" is milder than "boring", and neutral to some.

    Praise is not put so: "not bad" says less than "good". The adjectives are those of `data/lexicons/denied.tsv`,
    behind a form of "be", without an adverb of degree or another negation.

    >>> double_denial(Analysis("The film is boring."), random.Random(0))
    'The film is not interesting.'
    """
    tree = tree_of(text.tokens)
    if tree is None or (len(text.spans) == 1 and not _COMPARING.isdisjoint(text.low)):
        return None
    if "yes" in text.low:
        return None
    new = [{word.index: f"not {_denied()[word.low]}"} for word in tree.words if _can_be_denied(tree, word)]
    new += [{word.index: denied} for word in tree.words if (denied := _denied_verb(tree, word))]
    return text.replace(choices.choice(new)) if new else None


def _can_be_denied(tree: Parse, word: Word) -> bool:
    """Whether an adjective is what a positive clause says of its subject, alone. "Everything is not good" is open."""
    if word.low not in _denied() or word.relation != "acomp" or word.text != word.low:
        return False
    if sum(other.low == word.low for other in tree.words) > 1:
        return False  # "it's bad, really bad"
    verb = tree.words[word.head]
    if verb.low not in ("is", "are", "was", "were", "'s", "'re", "am", "'m"):
        return False
    subject = tree.subject(verb.index)
    if subject is not None and not _QUANTIFIED.isdisjoint(one.low for one in tree.under(subject.index)):
        return False
    own = {child.relation for child in tree.children(word.index)}
    beside = [*tree.children(verb.index)]
    follows = [one.low for one in tree.words[word.index + 1 :]]
    after = tree.words[word.index + 1].text if word.index + 1 < len(tree.words) else "."
    return (
        not own & {"advmod", "conj", "cc", "npadvmod", "neg", "ccomp", "advcl"}
        and all(child.relation not in ("neg", "advmod") for child in beside)
        and tree.words[word.index - 1] is verb
        and (after in ".,!;)" or after in ("and", "but", "in", "for", "to", "at"))
        and after != "to"
        and NEGATIONS.isdisjoint(follows)
        and verb.relation in ("ROOT", "conj", "ccomp", "relcl")
    )


_QUANTIFIED = words(
    "any some both all every each everything everyone everybody whole most many half whatever whoever even"
)
_COUNTS = words("times time once twice ever more most only just until till because since when")
"""Words that "not" may be read with: "did not like it ten times"."""
_VERBS = {"hate": "like", "dislike": "like", "loathe": "like", "detest": "like", "despise": "like", "lack": "have"}
"""Verbs that blame or miss something, and those whose denial says so, too."""


def _denied_verb(tree: Parse, word: Word) -> str | None:
    """A finite verb that is denied by "do" and "not", where it has an object and nothing else speaks of it."""
    opposite, helper = _VERBS.get(base(word.low) or ""), {"VBZ": "does", "VBP": "do", "VBD": "did"}.get(word.tag)
    thing = tree.child(word.index, "dobj")
    if opposite is None or helper is None or thing is None or thing.index < word.index or word.text != word.low:
        return None
    jarring = any(child.relation in ("neg", "advmod", "aux", "mark") for child in tree.children(word.index))
    subject = tree.subject(word.index)
    beside = [*tree.under(thing.index), *(tree.under(subject.index) if subject else ())]
    scoped = not (NEGATIONS | _QUANTIFIED).isdisjoint(one.low for one in beside)
    scoped |= not NEGATIONS.isdisjoint(one.low for one in tree.words[max(0, word.index - 6) : word.index])
    scoped |= not (_QUANTIFIED | _COUNTS).isdisjoint(one.low for one in tree.words[max(0, word.index - 6) :])
    return None if jarring or scoped else f"{helper} not {opposite}"


@cache
def _denied() -> Mapping[str, str]:
    """Adjective -> the one whose denial says much the same."""
    lines = data_file("lexicons/denied.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))
