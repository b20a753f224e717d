"""Perturbations of a question, or of its context: the answer stays, or there is none any more.

After TextFlint's PerturbQuestion, AddSent and PerturbAnswer (Wang et al. 2021, section 3), by rules instead of a model;
ModifyPos is `irrelevant-opening` of `perturbations.py`.
"""

import random
import re
from collections.abc import Sequence

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import SENTENCES, appended, content_stems, ends, irrelevant_to, parsed
from audit.packs.english.tagging import forms, is_form
from audit.packs.english.vocabulary import BE_FINITE
from audit.relations.base import Carry, Outcome, Rewritten, Seen, Verdict
from audit.relations.expect import regardless
from audit.relations.uses import Use, relation, uses
from audit.tasks import Output
from audit.tasks.question_answering import UNANSWERABLE, normalised
from audit.text import Analysis

_ASKING = "the question put otherwise"
_ANSWERED = uses("question-answering")
_FRAMES = ("Can you tell me:", "I would like to know:", "Please answer this:", "My question is:", "Please tell me:")
_INDIRECT = (
    "Can you tell me {}?", "Do you know {}?", "I would like to know {}.", "Could you tell me {}?", "Please tell me {}.",
)  # fmt: skip


@relation("polite-question", family=_ASKING, tasks=_ANSWERED)
def polite_question(text: Analysis, choices: random.Random) -> str | None:
    """The question stands in a polite frame: "Can you tell me: ...?".

    Keeps the question, word for word; may break labels of politeness, and the answer of whoever replies to the request
    first.

    >>> polite_question(Analysis("Where does Ann live?"), random.Random(0))
    'My question is: Where does Ann live?'
    """
    if not text.text.rstrip().endswith("?"):
        return None
    frame = choices.choice(_FRAMES)
    return f"{frame.lower() if text.text.islower() else frame} {text.text}"


@parsed("indirect-question", family=_ASKING, tasks=_ANSWERED)
def indirect_question(text: Analysis, choices: random.Random) -> str | None:
    """The question is asked indirectly: "Can you tell me where ...?".

    Keeps what is asked; may break the answer of whoever takes the frame at its word ("Can you tell me ...?" "Yes.").

    >>> indirect_question(Analysis("Where does Ann live?"), random.Random(0))
    'Could you tell me where Ann lives?'
    """
    asked = _statement(text)
    return choices.choice(_INDIRECT).format(asked[0].lower() + asked[1:]) if asked else None


def _statement(text: Analysis) -> str | None:
    """One plain question that opens with a question word, as a statement orders it: "when the roof was replaced"; None
    of another."""
    tree = tree_of(text.tokens)
    if tree is None or len(text.spans) != 1 or not text.text.rstrip().endswith("?") or len(tree.roots()) != 1:
        return None
    root = tree.roots()[0]
    tensed = tree.tensed(root.index)
    if (
        tensed is None
        or tensed.index == 0
        or not any(word.tag[0] == "W" for word in tree.words[: min(3, tensed.index)])
    ):
        return None
    joining = ("and", "or", "but", "not", "n't", "'s", ",", ";", ":")
    if any(word.low in joining and word.tag != "POS" for word in tree.words):
        return None
    if any(word.tag[0] == "W" for word in tree.words[tensed.index :]):
        return None
    end, asked = tree.words[-1].start, text.text[: tree.words[tensed.index - 1].end]
    subject = _inverted_subject(tree, root, tensed)
    if subject is None:
        return f"{asked} {text.text[tensed.start : end].rstrip()}" if _is_in_order(tree, root, tensed) else None
    verb = _verb(root, tensed)
    if verb is None:
        return None
    said = subject[-1].end
    between = text.text[said : root.start].strip() if root is not tensed else ""
    behind = text.text[root.end if root is not tensed else said : end].strip()
    parts = (asked, text.text[subject[0].start : said], verb[0], between, verb[1], behind)
    return " ".join(filter(None, parts))


def _is_in_order(tree: Parse, root: Word, tensed: Word) -> bool:
    """Whether the question word is the subject, so that nothing is inverted: "Who built it?"."""
    subject, after = tree.subject(root.index), tree.words[tensed.index + 1]
    if subject is None or subject.index >= tensed.index or after.low == "there" or root.index - tensed.index > 2:
        return False
    if root.low in BE_FINITE or tensed.low in ("do", "does", "did"):
        return False
    return tensed.low not in ("had", "has", "have") or after.tag == "VBN"


def _inverted_subject(tree: Parse, root: Word, tensed: Word) -> Sequence[Word] | None:
    """The words of a subject right behind the verb that has the tense."""
    after = tree.words[tensed.index + 1]
    if after.low == "there" and after.tag == "EX":
        return [after]
    behind = [word for word in tree.children(root.index) if word.index > tensed.index and word.tag[0] != "W"]
    subject = next((word for word in behind if word.relation in ("nsubj", "nsubjpass", "attr")), None)
    if subject is None or (root is not tensed and subject.index > root.index):
        return None
    under = tree.under(subject.index)
    if any(word.relation in ("acl", "relcl") for word in under) or under[-1].tag[:2] in ("JJ", "RB", "IN", "VB"):
        return None
    if root is tensed and len(under) > 1 and is_form(under[-1].low, "VBN"):
        return None  # "is a concert given", "is a piece worth"
    whole = [word.index for word in under] == list(range(after.index, after.index + len(under)))
    return under if whole else None


def _verb(root: Word, tensed: Word) -> tuple[str, str] | None:
    """The helping verb, if any is left, and the main verb of the statement."""
    if tensed.low not in ("do", "does", "did"):
        return tensed.text, root.text if root is not tensed else ""
    if root is tensed or root.tag != "VB":
        return None
    if tensed.low == "do":
        return "", root.text
    inflected = forms(root.low, "VBZ" if tensed.low == "does" else "VBD")
    return ("", "has" if (root.low, tensed.low) == ("have", "does") else inflected[0]) if inflected else None


# The context.

_PEOPLE = ("Mira Tolvane", "Jon Askeby", "Petra Olinski", "Sam Harrowgate", "Lida Marchbank", "Owen Trast")
_PLACES = ("Velmore", "Asterby", "Northwick", "Kelsane", "Drummel", "Ostrava Hill")


@relation("distractor-sentence", family=SENTENCES, tasks=_ANSWERED, by="input")
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
    person, place, year = choices.choice(_PEOPLE), choices.choice(_PLACES), choices.randrange(1950, 1999)
    if any(name in f"{context.text} {asked}" for name in (person.split()[0], place.split()[0], str(year))):
        return None
    return Rewritten((appended(context, f'In {year} {person} of {place} asked: "{asked}"'), question.text))


@regardless
def _unanswered(outputs: Sequence[Output]) -> Verdict:
    """The follow-up's answer is that there is none."""
    none = all(normalised(str(output.text)) == UNANSWERABLE for output in outputs[1:])
    return Verdict(Outcome.SATISFIED if none else Outcome.VIOLATED)


def _only_unanswerable(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """Whatever is right of the source: no answer but that there is none is right of a context on something else."""
    if follow_up is None or follow_up.output.text is None:
        return None
    return frozenset({"right" if normalised(follow_up.output.text) == UNANSWERABLE else "wrong"})


@relation(
    "other-context",
    family="the answer taken away",
    tasks={
        "question-answering": Use(
            check=_unanswered, expects="the question cannot be answered", carry=Carry(_only_unanswerable, reads=True)
        )
    },
    by="input",
)
def other_context(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The context becomes four sentences about something else.

    Keeps the question; may break the label "unanswerable" for whoever answers from what everybody knows.

    They are of `data/sentences/irrelevant.txt` and share no word with the context or the question, of which at least
    two name something: "What is he?" may be answered by anything.

    >>> texts = Analysis("Ann Lee lives in Oslo."), Analysis("Where does Ann Lee live?")
    >>> other_context(texts, random.Random(0)).texts[1]
    'Where does Ann Lee live?'
    """
    _, question = texts
    candidates = irrelevant_to(texts)
    if len(candidates) < 4 or len(content_stems(question.text)) < 2:
        return None
    return Rewritten((" ".join(choices.sample(candidates, 4)), question.text))
