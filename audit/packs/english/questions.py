"""Perturbations of a question, or of its context, by which the answer stays.

After TextFlint's PerturbQuestion, AddSent and ModifyPos (Wang et al. 2021, section 3), by rules instead of a model.
"""

import random
import re
from collections.abc import Sequence

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import SENTENCES, TOOLS, appended, ends, irrelevant_to
from audit.packs.english.tagging import forms, is_form
from audit.packs.english.vocabulary import BE_FINITE
from audit.relations.base import Rewritten
from audit.relations.perturbations import joint_perturbation, perturbation, uses
from audit.text import Analysis
from audit.text.tokens import words

_ASKING = "the question put otherwise"
_ANSWERED = uses("question-answering")


def _statement(text: Analysis) -> str | None:
    """One plain question that opens with a question word, as a statement orders it: "when the roof was replaced"; None
    of another."""
    tree = tree_of(text.tokens)
    if tree is None or len(text.spans) != 1 or not text.text.rstrip().endswith("?") or len(tree.roots()) != 1:
        return None
    root = tree.roots()[0]
    tensed = tree.tensed(root.index)
    if tensed is None or not any(word.tag[:1] == "W" for word in tree.words[:3]) or tensed.index == 0:
        return None
    if any(word.text in ",;:" for word in tree.words) or any(word.tag[0] == "W" for word in tree.words[tensed.index :]):
        return None
    if any(word.low in ("and", "or", "but", "not", "n't", "'s", "’s") and word.tag != "POS" for word in tree.words):
        return None
    end, opens = tree.words[-1].start, tree.words[: tensed.index]
    asked = text.text[: opens[-1].end]
    subject = _inverted_subject(tree, root, tensed)
    if subject is None:
        own = tree.subject(root.index)
        if own is None or own.index >= tensed.index or (tree.words[tensed.index + 1].low == "there"):
            return None
        is_copula = root.tag[:2] == "VB" and root.low in BE_FINITE
        if is_copula or tensed.low in ("do", "does", "did") or root.index - tensed.index > 2:
            return None
        if tensed.low in ("had", "has", "have") and tree.words[tensed.index + 1].tag != "VBN":
            return None
        return f"{asked} {text.text[tensed.start : end].rstrip()}"
    between = text.text[subject[-1].end : root.start].strip() if root is not tensed else ""
    behind = text.text[root.end if root is not tensed else subject[-1].end : end].strip()
    verb = _verb(root, tensed)
    if verb is None:
        return None
    helper, main = verb
    said = " ".join(part for part in (helper, between, main, behind) if part)
    return f"{asked} {text.text[subject[0].start : subject[-1].end]} {said}"


def _inverted_subject(tree: Parse, root: Word, tensed: Word) -> Sequence[Word] | None:
    """The words of a subject right behind the verb that has the tense."""
    following = tree.words[tensed.index + 1]
    if following.low == "there" and following.tag == "EX":
        return [following]
    subject = next(
        (
            word
            for word in tree.children(root.index)
            if word.index > tensed.index and word.relation in ("nsubj", "nsubjpass", "attr") and word.tag[0] != "W"
        ),
        None,
    )
    if subject is None or (root is not tensed and subject.index > root.index):
        return None
    under = tree.under(subject.index)
    if any(word.relation in ("acl", "relcl") for word in under) or under[-1].tag[:2] in ("JJ", "RB", "IN", "VB"):
        return None
    if root is tensed and len(under) > 1 and is_form(under[-1].low, "VBN"):
        return None  # "is a concert given", "is a piece worth"
    whole = [word.index for word in under] == list(range(tensed.index + 1, tensed.index + 1 + len(under)))
    return under if whole else None


def _verb(root: Word, tensed: Word) -> tuple[str, str] | None:
    """The helping verb, if any is left, and the main verb of the statement."""
    if tensed.low not in ("do", "does", "did"):
        return (tensed.text, root.text if root is not tensed else "")
    if root is tensed or root.tag != "VB":
        return None
    tag = {"does": "VBZ", "did": "VBD"}.get(tensed.low)
    if tag is None:
        return "", root.text
    inflected = "has" if (root.low, tag) == ("have", "VBZ") else next(iter(forms(root.low, tag)), None)
    return None if inflected is None else ("", inflected)


_INDIRECT = (
    "Can you tell me {}?", "Do you know {}?", "I would like to know {}.", "Could you tell me {}?", "Please tell me {}.",
)  # fmt: skip


@perturbation("indirect-question", family=_ASKING, tasks=_ANSWERED, needs=TOOLS, grammar=True)
def indirect_question(text: Analysis, choices: random.Random) -> str | None:
    """The question is asked indirectly: "Can you tell me where ...?".

    Keeps what is asked; may break the answer of whoever takes the frame at its word ("Can you tell me ...?" "Yes.").

    >>> indirect_question(Analysis("Where does Ann live?"), random.Random(0))
    'Could you tell me where Ann lives?'
    """
    asked = _statement(text)
    return choices.choice(_INDIRECT).format(asked[0].lower() + asked[1:]) if asked else None


# The context.

_PEOPLE = ("Mira Tolvane", "Jon Askeby", "Petra Olinski", "Sam Harrowgate", "Lida Marchbank", "Owen Trast")
_PLACES = ("Velmore", "Asterby", "Northwick", "Kelsane", "Drummel", "Ostrava Hill")


@joint_perturbation("distractor-sentence", family=SENTENCES, tasks=_ANSWERED)
def distractor_sentence(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence with the question's own words, a name, a place and a year stands at the end of the context.

    Keeps every sentence of the context; may break its thread, and the answer to a question that any name, place or year
    in it would answer.

    Somebody who is nowhere else asks the question there; it is not answered, so the answer stays. No group where the
    question is about asking, or the names are in the text.

    >>> texts = Analysis("Ann lives in Oslo."), Analysis("Where does Ann live?")
    >>> distractor_sentence(texts, random.Random(0)).texts[0]
    'Ann lives in Oslo. In 1952 Sam Harrowgate of Kelsane asked: "Where does Ann live?"'
    """
    context, question = texts
    asked = question.text.strip()
    if not ends(context.text) or not asked.endswith("?") or '"' in asked or re.search(r"\bask|question", asked.lower()):
        return None
    person, place = choices.choice(_PEOPLE), choices.choice(_PLACES)
    if any(name.split()[0] in f"{context.text} {asked}" for name in (person, place)):
        return None
    year = choices.randrange(1950, 1999)
    if str(year) in context.text:
        return None
    return Rewritten((appended(context, f'In {year} {person} of {place} asked: "{asked}"'), question.text))


@joint_perturbation(
    "irrelevant-opening", family=SENTENCES, tasks=uses("inference", "question-answering", "sentiment", "summarization")
)
def irrelevant_opening(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands before the first text, whose places all move.

    Keeps every sentence of the text; may break what "the" in its first sentence points to, answers that are places in
    the text, and a topic that is read off its beginning.

    It is one of `data/sentences/irrelevant.txt` that shares no word with any text of the input; no group where the text
    opens with a word that would point to it.

    >>> texts = Analysis("Ann lives in Oslo."), Analysis("Where does Ann live?")
    >>> irrelevant_opening(texts, random.Random(0)).texts[0]
    'The vending machine accepts coins. Ann lives in Oslo.'
    """
    candidates = irrelevant_to(texts)
    first, *others = texts
    opening = first.text.lstrip()
    if not candidates or not opening[:1].isalnum() or not _POINTING.isdisjoint(first.low[:6]):
        return None
    sentence = choices.choice(candidates)
    before = sentence.lower() if first.text.islower() else sentence
    return Rewritten((f"{before} {opening}", *(text.text for text in others)))


_POINTING = words(
    "it its he she they them his her their this that these those him and but or so because also however then there "
    "such another other both neither same here"
)
