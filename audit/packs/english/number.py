"""One noun phrase of an English sentence in the other number, with everything that agrees with it.

A noun, its determiner, the verbs that it is the subject of, the noun that it is said to be ("this phone is a toy") and a
following "who is" are changed together. Where something else may refer to the phrase ("it", "they", "each") nothing is
offered, nor for nouns that are not in the list of countable ones.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from audit.errors import AuditError
from audit.packs.english.emphasis import article
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, plural
from audit.packs.english.vocabulary import NEGATIONS, QUOTING
from audit.resources import data_file
from audit.text.tokens import Token, words

# What may refer to a phrase. Changed to a plural, "it" no longer fits; changed to a singular, "they" does not.
_TO_THINGS = words("it its itself one another")
_TO_PERSONS = words("he his him himself she her hers herself they them their one another")
_TO_SEVERAL = words(
    "they their them theirs themselves each both other others together another between among many all most none half few "
    "one ones two three various different similar numerous mixed same alike"
)
_UNIQUE = words(
    "one single sole lone same whole entire only other first second third last next final main own right wrong very most "
    "such different similar various several many few numerous countless certain favorite former latter previous"
)
_TO_PLURAL = {"this": "these", "that": "those", "the": "the", "any": "any"}
_TO_SINGULAR = {"these": "this", "those": "that", "the": "the", "any": "any", "some": "a"}
_PRONOUNS = {"this": "these", "that": "those", "it": "they"}
_PARTS = words(
    "kind sort type lot lots bit piece pair set series list number couple bunch group part half rest majority variety "
    "range collection size way alot"
)
_SOME_AFTER = words("with about from into against")
_NO_NUMBER = words("as like than per between among amongst throughout across at behind")
_SOME_VERBS = words(
    "add bring build buy contain create deliver design download draw eat feature find get give hear include install know "
    "like love make need notice offer order own play post provide read receive rent see sell send show start take "
    "try upload want watch win write"
)
_SAID_OF_SEVERAL = words("mess joke pain waste shame must steal rip-off ripoff plus pleasure delight mystery")
"""Singular nouns that may be said of several: "these phones are a joke"."""
_FORMS = {
    "is": ("am", "is", "are"), "was": ("was", "was", "were"), "has": ("have", "has", "have"), "does": ("do", "does", "do"),
}  # fmt: skip
_FULL = {
    "are": "is", "am": "is", "'s": "is", "'re": "is", "'m": "is", "were": "was", "have": "has", "'ve": "has", "do": "does",
}  # fmt: skip
Change = dict[int, str]


def agree(verb: Token, number: str) -> str | None:
    """A finite verb or auxiliary as it agrees with a subject: `first` (I), `singular` or `plural`. A contraction is
    written in full; None for what is no form of a verb in the dictionary.

    >>> from audit.text import Analysis
    >>> [agree(Analysis(text).tokens[1], "plural") for text in ("It is", "It works", "It went")]
    ['are', 'work', 'went']
    """
    word = verb.lower.replace("’", "'")
    full = _FULL.get(word, word)
    if full in _FORMS:
        new = _FORMS[full][("first", "singular", "plural").index(number)]
    elif verb.tag in ("MD", "VBD"):
        new = word
    else:
        lemma = base(word)
        spellings = (lemma,) if number != "singular" else forms(lemma or "", "VBZ")
        if not lemma or not spellings:
            return None
        new = str(spellings[0])
    return new.upper() if verb.text.isupper() and len(verb.text) > 1 else new


@cache
def countables() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """(singular -> plural, plural -> singular) of the nouns in data/lexicons/countables.tsv."""
    many = {noun: plural(noun) or _regular(noun) for _, noun in _rows()}
    return many, {form: noun for noun, form in many.items()}


def _regular(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


@cache
def _used_as(use: str) -> frozenset[str]:
    return frozenset(noun for column, noun in _rows() if column == use)


def _rows() -> list[tuple[str, str]]:
    path = data_file("lexicons/countables.tsv")
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        use, tab, nouns = line.partition("\t")
        if not tab or use not in ("the", "any", "person", "own"):
            raise AuditError(f"{path.name}, line {number}: need `the`, `any`, `person` or `own`, a tab, and nouns")
        rows += [(use, noun) for noun in nouns.split()]
    return rows


def changes(tokens: Sequence[Token]) -> list[Change]:
    """One set of replacements (token index -> text) for each noun phrase whose number can be changed safely.

    >>> from audit.text import Analysis
    >>> text = Analysis("The scenes are dull.")
    >>> [text.replace(change) for change in changes(text.tokens)]
    ['The scene is dull.']
    """
    plurals, singulars = countables()
    present = [token.lower for token in tokens]
    if "?" in present or not any(word in plurals or word in singulars for word in present):
        return []
    tree = tree_of(tokens)
    if tree is None:
        return []
    nouns = [word for word in tree.words if word.tag == "NN" and word.lower in plurals]
    nouns += [word for word in tree.words if word.tag == "NNS" and word.lower in singulars]
    found = [_Changing(tree, noun).change() for noun in sorted(nouns, key=lambda word: word.index)]
    return [change for change in found if change]


class _Changing:
    """The change of one noun's number: `new` grows while what agrees is gone through; a method that returns False has
    met what cannot be mended."""

    def __init__(self, tree: Parse, noun: Word):
        self.tree, self.noun = tree, noun
        self.to_plural = noun.tag == "NN"
        self.number = "plural" if self.to_plural else "singular"
        self.new: Change = {}

    def change(self) -> Change | None:
        """The replacements, or None."""
        noun, head = self.noun, self.tree.words[self.noun.head]
        quotes = sum(word.text in QUOTING for word in self.tree.words[: noun.index])
        if quotes % 2 or not noun.text.islower():
            return None
        if noun.relation in ("nsubj", "nsubjpass"):
            fits = self._phrase(noun, "subject") and noun.index < head.index and self._predicates(head)
        elif noun.relation == "attr":
            fits = self._said_of(head)
        elif noun.relation == "dobj":
            fits = head.tag.startswith("VB") and self._phrase(noun, "object")
        else:
            fits = noun.relation == "pobj" and self._governs(head) and self._phrase(noun, "object")
        return self.new if fits and not self._referred_to() else None

    def _governs(self, preposition: Word) -> bool:
        """Whether a preposition may stand before either number: not "between", "one of", "a lot of"."""
        whole = self.tree.words[preposition.head]
        if preposition.lower == "of" and not self.to_plural:
            return whole.tag in ("NN", "NNP") and whole.lower not in _PARTS
        return preposition.lower not in _NO_NUMBER and whole.lower not in _PARTS

    def _singular(self, word: Word) -> str | None:
        """The countable noun that a word is a form of, if it has the number that is to be changed."""
        plurals, singulars = countables()
        if self.to_plural:
            return word.lower if word.tag == "NN" and word.lower in plurals else None
        return singulars.get(word.lower) if word.tag == "NNS" else None

    def _phrase(self, noun: Word, role: str) -> bool:
        """The noun with its determiner and the relative clause that it is the subject of."""
        tree, singular = self.tree, self._singular(noun)
        if singular is None or not noun.text.islower():
            return False
        inside, children = tree.under(noun.index), list(tree.children(noun.index))
        if inside[-1].index - inside[0].index + 1 != len(inside):
            return False
        after = tree.words[noun.index + 1 : noun.index + 2]
        if any(word.start == noun.end and word.text not in ".,!;:)" for word in after):
            return False  # a part of a longer word
        if any(word.tag[:2] in ("NN", "CD", "PO") or word.lower in ("and", "or", "&", "/") for word in after):
            return False
        if noun.relation not in ("nsubj", "nsubjpass") and any(
            word.tag in ("VBZ", "VBP") or word.lower == "as" or (word.text[0].isupper() and word.text != "I")
            for word in after
        ):
            return False  # a part of a longer phrase that the parser has not seen: "the scene modes", "the song Running"
        if any(word.lower in ("such", "including", "like") for word in tree.words[noun.index + 1 : noun.index + 3]):
            return False  # "the buttons, such as play and pause"
        before = [word for word in inside if word.index < noun.index]
        determiner = before[0] if before and before[0].relation in ("det", "predet", "poss") else None
        modifiers = before[determiner is not None :]
        if any(word.lower in _UNIQUE or word.tag in ("JJS", "RBS", "PRP$", "CC", "DT", ",") for word in modifiers):
            return False
        if any(word.lower in _UNIQUE for word in children):
            return False
        for word in children:
            if word.relation in ("conj", "cc", "appos", "nummod", "poss", "ccomp", "preconj", "case", "neg", "advcl") and word != determiner:
                return False
            if word.relation in ("relcl", "acl") and not self._clause(noun, word):
                return False
            certain = determiner is not None and determiner.lower == "the"
            if word.relation == "prep" and certain and (word.lower == "of" or not self.to_plural):
                return False
        new = plural_of(singular) if self.to_plural else singular
        self.new[noun.index] = new
        return self._determine(noun, singular, determiner, [word.text for word in modifiers] + [new], role)

    def _determine(self, noun: Word, singular: str, determiner: Word | None, following: list[str], role: str) -> bool:
        person, low = singular in _used_as("person"), determiner.lower if determiner is not None else ""
        if determiner is None:
            if role != "said" or self.to_plural:
                return False
            self.new[noun.index - len(following) + 1] = f"{article('a', following[0])} " + (
                following[0] if len(following) > 1 else self.new[noun.index]
            )
            return True
        if low == "the" and not person and singular not in _used_as("the"):
            return False
        if low == "the" and person and not self.to_plural and role != "subject":
            return False  # "elected by the voters"
        if low in ("this", "that") and person:
            return False  # somebody certain: the writer of the review, the actor
        if determiner.relation == "poss":
            after = self.tree.words[noun.index + 1 : noun.index + 2]
            named = any(word.text == "," for word in after)  # "his book, Mayor"
            return self.to_plural and role != "said" and singular in _used_as("own") and low.isalpha() and not named
        denied = any(word.lower in NEGATIONS for word in self.tree.words[: noun.index])
        if low == "some" and (role == "subject" or denied):
            return False  # "some reviewers say": there are such
        if low in ("a", "an") and self.to_plural:
            some = self._some(noun, role)
            if some is None or some == "some" and denied or some and (following[0] == "more" or following[0][0].isdigit()):
                return False
            self.new[determiner.index] = some
        elif low not in (_TO_PLURAL if self.to_plural else _TO_SINGULAR):
            return False
        else:
            self.new[determiner.index] = (_TO_PLURAL if self.to_plural else _TO_SINGULAR)[low]
        if self.new[determiner.index] == "a":
            self.new[determiner.index] = article("a", following[0])
        if determiner.text[0].isupper() and self.new[determiner.index]:
            self.new[determiner.index] = self.new[determiner.index].capitalize()
        return True

    def _some(self, noun: Word, role: str) -> str | None:
        """What stands for "a" before a plural: "some", "any", nothing (""); None where none reads well."""
        head = self.tree.words[noun.head]
        if role == "said":
            return ""
        if role == "subject":
            return "some" if self.tree.words[noun.head].tag == "VBD" else None
        if head.lower == "without":
            return "any"
        if str(self._singular(noun)) in _used_as("person") or self.tree.child(noun.index, "acl"):
            return None
        if head.lower not in _SOME_AFTER if noun.relation == "pobj" else base(head.lower) not in _SOME_VERBS | {"have", "be"}:
            return None
        if noun.relation == "pobj" and head.index and self.tree.words[head.index - 1].text == ",":
            return None  # "a puzzle, with a solution"
        return "some"

    def _clause(self, noun: Word, clause: Word) -> bool:
        """A relative clause, or a participle, behind the noun."""
        subject = self.tree.subject(clause.index)
        if clause.relation == "acl":
            return noun.relation in ("dobj", "pobj") and clause.tag in ("VBN", "VBG")
        if subject is None or self.tree.words[self.tree.under(clause.index)[0].index - 1].text == ",":
            return False
        return subject.tag not in ("WDT", "WP") or self._predicates(clause)

    def _predicates(self, verb: Word) -> bool:
        """The verbs that share a subject agree with it, and so do the nouns that it is said to be."""
        if not verb.tag.startswith(("VB", "MD")):
            return False
        finite = verb.tag in ("VBZ", "VBP", "VBD") and self.tree.is_finite(verb.index)
        for said in [verb, *self._second_verbs(verb)]:
            if not self._agree(said, finite) or self.tree.child(said.index, "ccomp") and base(said.lower) == "be":
                return False
            attribute = self.tree.child(said.index, "attr", "oprd")
            if attribute is not None and not self._attribute(attribute):
                return False
        return True

    def _second_verbs(self, verb: Word) -> list[Word]:
        joined = [word for word in self.tree.children(verb.index) if word.relation == "conj" and word.tag.startswith("VB")]
        return [word for word in joined if self.tree.subject(word.index) is None]

    def _agree(self, verb: Word, alone: bool = False) -> bool:
        group = [verb, *(word for word in self.tree.children(verb.index) if word.relation in ("aux", "auxpass"))]
        finite = [word for word in group if word.tag in ("VBZ", "VBP", "VBD", "MD")]
        if not finite and verb.relation == "conj" and alone and verb.tag == "VB":
            finite = [verb]  # "who love me and send it"
        if not finite:
            return verb.relation == "conj" or verb.tag in ("VB", "VBG")
        new = agree(finite[0], self.number)
        if finite[0].lower in ("'s", "’s") and verb.tag == "VBN":
            return False  # "is" or "has"
        if new is None:
            return False
        glued = finite[0].index and self.tree.words[finite[0].index - 1].end == finite[0].start
        if new != finite[0].lower:
            self.new[finite[0].index] = f" {new}" if glued else new
        return True

    def _attribute(self, said: Word) -> bool:
        if not said.tag.startswith("NN"):
            return said.tag.startswith(("JJ", "VB", "IN"))
        if self._singular(said) is not None:
            return self._phrase(said, "said")
        bare = self.tree.child(said.index, "det", "poss", "nummod") is None
        return said.lower in _SAID_OF_SEVERAL or (self.to_plural and bare and said.tag == "NN")

    def _said_of(self, verb: Word) -> bool:
        """ "It is a toy": the subject changes, too."""
        subject = self.tree.subject(verb.index)
        if subject is None or base(verb.lower) != "be" and verb.text[0] not in "'’" or subject.index > verb.index:
            return False
        if any(self.tree.child(verb.index, relation) for relation in ("ccomp", "xcomp", "advcl", "csubj")):
            return False
        low = subject.lower
        if subject.relation == "expl":
            return low == "there" and self._agree(verb) and self._phrase(self.noun, "there")
        after = self.tree.words[self.noun.index + 1 : self.noun.index + 2]
        if verb.relation in ("relcl", "acl") or any(word.text in ("that", "if", ":", "-", "–", "--") for word in after):
            return False
        if low == "it" and not all(word.tag in (".", ",", "CC", "IN") for word in after):
            return False  # "it is a sure bet to", "it's a good thing we came"
        opens = subject.index < 2 or self.tree.words[subject.index - 1].text in ".!"
        if not opens or verb.relation == "ccomp" or self.noun.lower in ("thing", "things"):
            return False  # what was said before: "it wasn't a big problem"
        if any(word.tag == "MD" or word.relation == "neg" for word in self.tree.children(verb.index)):
            return False
        pairs = _PRONOUNS if self.to_plural else {many: single for single, many in _PRONOUNS.items()}
        if low not in pairs or len(self.tree.under(subject.index)) > 1:
            return False
        self.new[subject.index] = pairs[low].capitalize() if subject.text[0].isupper() else pairs[low]
        return self._predicates(verb)

    def _referred_to(self) -> bool:
        """Whether another word may refer to the phrase, or repeats its noun."""
        plurals, _ = countables()
        singular = str(self._singular(self.noun))
        for word in self.tree.words[self.noun.index + 1 :]:
            verb = self.tree.words[word.head]
            if word.tag in ("WDT", "WP") and word.relation == "nsubj" and verb.tag in ("VBZ", "VBP") and verb.index not in self.new:
                return True  # "a factory in the Bronx that makes pads": the parser may have taken the wrong noun
        person = singular in _used_as("person")
        referring = _TO_SEVERAL if not self.to_plural else _TO_PERSONS if person else _TO_THINGS
        both = (singular, plurals[singular])
        return any(
            word.lower in referring
            or word.lower in both
            or (self.to_plural and word.lower in ("this", "that") and word.relation in ("nsubj", "dobj", "pobj") and word.tag == "DT")
            or (not self.to_plural and (word.tag == "CD" or word.lower in ("any", "some") and word.relation != "det"))
            for word in self.tree.words
            if word.index not in self.new
        )


def plural_of(noun: str) -> str:
    """The plural of a noun of the list."""
    return countables()[0][noun]
