"""One noun phrase of an English sentence in the other number, with everything that agrees with it.

A noun, its determiner, the verbs that it is the subject of, the noun that it is said to be ("this phone is a toy") and
a following "who is" are changed together. Where something else may refer to the phrase ("it", "they", "each") nothing
is offered, nor for a noun that is not in the list of countable ones.
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
    "they their them theirs themselves each both other others together another between among many all most none half "
    "few one ones various different similar numerous mixed same alike"
)
_UNIQUE = words(
    "one single sole lone same whole entire only other first second third last next final main own right wrong very "
    "most such different similar various several many few numerous countless certain former latter previous"
)
_DETERMINERS = {
    True: {"this": "these", "that": "those", "the": "the", "any": "any"},
    False: {"these": "this", "those": "that", "the": "the", "any": "any", "some": "a"},
}
"""By whether the noun becomes a plural; "a" has rules of its own."""
_SUBJECTS = {
    True: {"this": "these", "that": "those", "it": "they"},
    False: {"these": "this", "those": "that", "they": "it"},
}
_PARTS = words(
    "kind sort type lot lots bit piece pair set series list number couple bunch group part half rest majority variety "
    "range collection size way alot"
)
_PREPOSITIONS = words("with about")
"""Those after which "some" of something may be one."""
_NO_NUMBER = words("as like than per between among amongst throughout across at behind")
_VERBS = words(
    "add be bring build buy contain create deliver design download draw eat feature find get give hear include "
    "install know like love make need notice offer order own play post provide read receive rent see sell send show "
    "start take try upload want watch win write"
)
"""Those whose object may be "a" or "some" of something."""
_SAID_OF_SEVERAL = words("mess joke pain waste shame must steal rip-off ripoff plus pleasure delight mystery")
"""Singular nouns that may be said of several: "these phones are a joke"."""
_OF_SEVERAL = words("include consist range vary differ compete gather number total")
_OF_FACTS = ("thing", "problem", "review")
"""What "this is a ..." says of what was said, or of the text."""
_BARRED = words("conj cc appos nummod ccomp preconj case neg advcl")
_VERB_FORMS = {"is": ("am", "is", "are"), "was": ("was", "was", "were")} | {
    word: (base_form, word, base_form) for word, base_form in (("has", "have"), ("does", "do"))
}
_SINGULARS = {"are": "is", "am": "is", "'s": "is", "'re": "is", "'m": "is", "were": "was", "have": "has", "'ve": "has"}
Change = dict[int, str]


def agree(verb: Token, number: str) -> str | None:
    """A finite verb or auxiliary as it agrees with a subject: `first` (I), `singular` or `plural`. A contraction is
    written in full; None for what is no form of a verb in the dictionary.

    >>> from audit.text import Analysis
    >>> [agree(Analysis(text).tokens[1], "plural") for text in ("It is", "It works", "It went")]
    ['are', 'work', 'went']
    """
    word = verb.low
    full = _SINGULARS.get(word, word)
    if full in _VERB_FORMS:
        new = _VERB_FORMS[full][("first", "singular", "plural").index(number)]
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
    nouns = frozenset[str]().union(*_uses().values())
    many = {noun: plural(noun) or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s") for noun in sorted(nouns)}
    return many, {form: noun for noun, form in many.items()}


@cache
def _uses() -> Mapping[str, frozenset[str]]:
    """The nouns of each use, as data/lexicons/countables.tsv explains it."""
    path = data_file("lexicons/countables.tsv")
    uses = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        use, tab, nouns = line.partition("\t")
        if line and not line.startswith("#"):
            if not tab or use not in ("the", "any", "person", "own"):
                raise AuditError(f"{path.name}, line {number}: need `the`, `any`, `person` or `own`, a tab, and nouns")
            uses[use] = words(nouns)
    return uses


def changes(tokens: Sequence[Token]) -> list[Change]:
    """One set of replacements (token index -> text) for each noun phrase whose number can be changed safely; none where
    the tokens have no trees.

    >>> from audit.text import Analysis
    >>> text = Analysis("The scenes are dull.")
    >>> [text.replace(change) for change in changes(text.tokens)]
    ['The scene is dull.']
    """
    plurals, singulars = countables()
    nouns = [token.start for token in tokens if token.lower in (singulars if token.tag == "NNS" else plurals)]
    tree = tree_of(tokens) if nouns and not any(token.text == "?" for token in tokens) else None
    if tree is None:
        return []
    found = [_Changing(tree, word).change() for word in tree.words if word.start in nouns and word.tag in ("NN", "NNS")]
    return [change for change in found if change]


class _Changing:
    """The change of one noun's number: `new` grows while what agrees is gone through, and a method that returns False
    has met what cannot be mended."""

    def __init__(self, tree: Parse, noun: Word):
        self.tree, self.noun = tree, noun
        self.to_plural = noun.tag == "NN"
        self.denied = any(word.lower in NEGATIONS for word in tree.words[: noun.index])
        self.new: Change = {}

    def change(self) -> Change | None:
        """The replacements, or None."""
        noun, head = self.noun, self.tree.words[self.noun.head]
        if sum(word.text in QUOTING for word in self.tree.words[: noun.index]) % 2:
            return None  # in a quotation
        if noun.relation in ("nsubj", "nsubjpass"):
            fits = noun.index < head.index and self._phrase(noun, "subject") and self._predicates(head)
        elif noun.relation == "attr":
            fits = self._said_of(head)
        elif noun.relation == "dobj":
            fits = head.tag.startswith("VB") and self._phrase(noun, "object")
        else:
            fits = noun.relation == "pobj" and self._governs(head) and self._phrase(noun, "object")
        return self.new if fits and not self._referred_to() else None

    def _singular(self, word: Word) -> str | None:
        """The countable noun that a word is a form of, if it has the number that is to be changed."""
        plurals, singulars = countables()
        if word.tag != self.noun.tag or not word.text.islower():
            return None
        return singulars.get(word.lower) if word.tag == "NNS" else word.lower if word.lower in plurals else None

    def _after(self, word: Word) -> Word | None:
        return self.tree.words[word.index + 1] if word.index + 1 < len(self.tree.words) else None

    def _governs(self, preposition: Word) -> bool:
        """Whether a preposition may stand before either number: not "between", "one of", "a lot of"."""
        whole = self.tree.words[preposition.head]
        several = preposition.lower == "of" and not self.to_plural and whole.tag not in ("NN", "NNP")
        return not several and preposition.lower not in _NO_NUMBER and whole.lower not in _PARTS

    def _phrase(self, noun: Word, role: str) -> bool:
        """The noun with its determiner and the relative clause that it is the subject of."""
        tree, singular = self.tree, self._singular(noun)
        inside, children = tree.under(noun.index), list(tree.children(noun.index))
        if singular is None or len(inside) != inside[-1].index - inside[0].index + 1 or self._goes_on(noun, role):
            return False
        before = [word for word in inside if word.index < noun.index]
        determiner = before.pop(0) if before and before[0].relation in ("det", "predet", "poss") else None
        if any(word.tag in ("JJS", "RBS", "PRP$", "CC", "DT", ",") for word in before):
            return False
        for word in children:
            certain = determiner is not None and determiner.lower == "the" and word.relation == "prep"
            if word.lower in _UNIQUE or word.relation in _BARRED or (word.relation == "poss" and word != determiner):
                return False
            if certain and (word.lower == "of" or not self.to_plural):
                return False
            if word.relation == "prep" and tree.child(word.index, "pcomp") is not None:
                return False  # "this habit of asking"
            if word.relation in ("relcl", "acl") and not self._clause(noun, word):
                return False
        self.new[noun.index] = countables()[0][singular] if self.to_plural else singular
        if determiner is not None:
            return self._determine(noun, singular, determiner, before, role)
        first = before[0] if before else noun
        self.new[first.index] = f"{article('a', first.text)} {self.new.get(first.index, first.text)}"
        return role == "said" and not self.to_plural

    def _goes_on(self, noun: Word, role: str) -> bool:
        """Whether the phrase is longer than the parser has seen ("the scene modes", "the song Running", "two-phone")
        or what follows says how many there are ("the buttons, such as play and pause")."""
        following = self.tree.words[noun.index + 1 : noun.index + 3]
        if any(word.lower in ("such", "including", "like") for word in following):
            return True
        if not following:
            return False
        after = following[0]
        if after.tag[:2] in ("NN", "CD", "PO") or after.lower in ("and", "or", "&", "/", "enough"):
            return True
        longer = after.tag in ("VBZ", "VBP") or after.lower == "as" or (after.text[0].isupper() and after.text != "I")
        return (role != "subject" and longer) or (after.start == noun.end and after.text not in ".,!;:)")

    def _determine(self, noun: Word, singular: str, determiner: Word, adjectives: list[Word], role: str) -> bool:
        """The determiner of the other number."""
        person, low, head = singular in _uses()["person"], determiner.lower, self.tree.words[noun.head].lower
        if determiner.relation == "poss":  # not "his book, Mayor", and not "it is his book"
            after = self._after(noun)
            own = singular in _uses()["own"] and determiner.tag == "PRP$" and (after is None or after.text != ",")
            return own and self.to_plural and noun.relation in ("nsubj", "nsubjpass", "dobj")
        if low == "the" and not (role == "subject" if person else singular in _uses()["the"]):
            return False  # "elected by the voters"; "the phone" is the one that the text is about
        if low == "the" and head in ("to", "from"):
            return False  # "from the scene"
        vague = role == "subject" or self.denied or (noun.relation == "pobj" and head not in _PREPOSITIONS)
        vague = vague or singular == "thing" or (person and not adjectives)
        if (low in ("this", "that") and person) or (low == "some" and vague):
            return False  # somebody certain: the writer, the actor; "some reviewers say": there are such
        if low == "any" and not (self.denied or head == "without"):
            return False  # "in any city"
        before = self.tree.words[determiner.index - 1]
        if determiner.index and role == "subject" and (before.tag[:2] == "NN" or (before.text == "," and low == "a")):
            return False  # "Strout the reporter", "Strout, a reporter"
        new = _DETERMINERS[self.to_plural].get(low)
        first = adjectives[0].text if adjectives else self.new[noun.index]
        if low in ("a", "an") and self.to_plural:
            new = self._some(noun, singular, role)
            if new == "some" and (self.denied or first == "more" or first[0].isdigit()):
                return False
        elif new == "a":
            new = article("a", first)
        if new is not None:
            self.new[determiner.index] = new.capitalize() if determiner.text[0].isupper() else new
        return new is not None

    def _some(self, noun: Word, singular: str, role: str) -> str | None:
        """What stands for "a" before a plural: "some", "any", nothing (""); None where none reads well."""
        head = self.tree.words[noun.head]
        if role in ("said", "subject"):
            return "" if role == "said" else "some" if head.tag == "VBD" else None
        if head.lower == "without":
            return None if any(word.lower in NEGATIONS for word in self.tree.words[: head.index]) else "any"
        if noun.relation == "pobj":  # not "a puzzle with a solution"
            fits = head.lower == "about"
        else:  # not "people love a bargain", "I'd get a phone"
            subjects = [self.tree.subject(verb.index) for verb in (head, self.tree.words[head.head])]
            own = any(subject is not None and subject.lower in ("i", "we") for subject in subjects)
            own = own or role == "there" or (head.tag in ("VBD", "VBG") and not any(subjects))  # "bought a shirt"
            supposed = any(word.lower in ("would", "'d", "if") for word in self.tree.children(head.index))
            fits = base(head.lower) in _VERBS and own and not supposed
        whole = any(word.lower == "of" or word.relation == "acl" for word in self.tree.children(noun.index))
        return "some" if fits and not whole and singular not in _uses()["person"] else None

    def _clause(self, noun: Word, clause: Word) -> bool:
        """A relative clause, or a participle, behind the noun."""
        if clause.relation == "acl":
            return noun.relation in ("dobj", "pobj") and clause.tag in ("VBN", "VBG")
        subject = self.tree.subject(clause.index)
        if subject is None or self.tree.words[self.tree.under(clause.index)[0].index - 1].text == ",":
            return False
        unclear = self.tree.words[noun.head].lower == "of"  # "a reading of the clause that is wrong"
        return subject.tag not in ("WDT", "WP") or (not unclear and self._predicates(clause))

    def _predicates(self, verb: Word) -> bool:
        """The verbs that share a subject agree with it, and so do the nouns that it is said to be."""
        if not verb.tag.startswith(("VB", "MD")) or verb.relation == "csubj":
            return False
        second = [word for word in self.tree.children(verb.index) if word.relation == "conj" and word.tag[:2] == "VB"]
        for said in [verb, *(word for word in second if self.tree.subject(word.index) is None)]:
            attribute = self.tree.child(said.index, "attr", "oprd")
            if base(said.lower) == "be" and self.tree.child(said.index, "ccomp") is not None:
                return False  # "the problem is that"
            after = self._after(said)
            if base(said.lower) in _OF_SEVERAL or (after is not None and after.tag == "NNP"):
                return False  # "the buyers included", "the man was Charles"
            if not self._agree(said, verb) or (attribute is not None and not self._attribute(attribute)):
                return False
        return True

    def _agree(self, verb: Word, first: Word) -> bool:
        """A verb, or its auxiliary, agrees; `first` is the first one of those with the same subject."""
        group = [verb, *(word for word in self.tree.children(verb.index) if word.relation in ("aux", "auxpass"))]
        finite = next((word for word in group if word.tag in ("VBZ", "VBP", "VBD", "MD")), None)
        if finite is None and verb.tag == "VB" and verb != first and first.tag in ("VBZ", "VBP"):
            finite = verb  # "who love me and send it"
        if finite is None:
            return verb != first or verb.tag in ("VB", "VBG")
        new = agree(finite, "plural" if self.to_plural else "singular")
        if new is None or (finite.lower in ("'s", "’s") and verb.tag == "VBN"):
            return False  # "it's been"
        if new != finite.lower:
            glued = finite.index and self.tree.words[finite.index - 1].end == finite.start
            self.new[finite.index] = f" {new}" if glued else new
        return True

    def _attribute(self, said: Word) -> bool:
        """What the noun is said to be, in its number, or in none."""
        if self._singular(said) is not None:
            return self._phrase(said, "said")
        mass = self.to_plural and said.tag == "NN" and self.tree.child(said.index, "det", "poss", "nummod") is None
        return mass or said.lower in _SAID_OF_SEVERAL or said.tag.startswith(("JJ", "VB", "IN"))

    def _said_of(self, verb: Word) -> bool:
        """ "There is a toy", "it is a toy": the subject changes, too."""
        tree, subject, after = self.tree, self.tree.subject(verb.index), self._after(self.noun)
        if subject is None or subject.index > verb.index or (base(verb.lower) != "be" and verb.text[0] not in "'’"):
            return False
        if any(tree.child(verb.index, relation) for relation in ("ccomp", "xcomp", "advcl", "csubj")):
            return False
        if subject.lower == "there":
            return self._agree(verb, verb) and self._phrase(self.noun, "there")
        new = _SUBJECTS[self.to_plural].get(subject.lower)
        opens = subject.index == 0 or tree.words[subject.index - 1].text in ".!:"
        opens = opens and not any(word.tag.startswith("VB") for word in tree.words[: subject.index])
        if (
            new is None
            or not opens
            or verb.relation in ("ccomp", "relcl", "acl")
            or self.noun.lower.startswith(_OF_FACTS)
        ):
            return False  # what was said before: "but it was a problem"
        if any(word.tag == "MD" or word.relation in ("neg", "aux") for word in tree.children(verb.index)):
            return False
        if after is not None and (
            after.text in ("that", "if", ":", "-", "–", "--")
            or (subject.lower == "it" and after.tag not in (".", ",", "CC", "IN"))
        ):
            return False  # "it is a sure bet to", "it's a good thing we came"
        self.new[subject.index] = new.capitalize() if subject.text[0].isupper() else new
        return self._predicates(verb)

    def _referred_to(self) -> bool:
        """Whether another word may refer to the phrase, repeats its noun, or may agree with it although the parser does
        not say so ("a factory in the Bronx that makes pads")."""
        singular = str(self._singular(self.noun))
        person = singular in _uses()["person"]
        referring = _TO_SEVERAL if not self.to_plural else _TO_PERSONS if person else _TO_THINGS
        same = (singular, countables()[0][singular])
        for word in self.tree.words:
            verb = self.tree.words[word.head]
            pronoun = word.relation in ("nsubj", "dobj", "pobj")
            relative = word.tag in ("WDT", "WP") and verb.tag in ("VBZ", "VBP") and verb.index not in self.new
            if word.index in self.new:
                continue
            if word.relation == "conj" and word.tag in ("VBZ", "VBP") and self.tree.subject(word.index) is None:
                return True
            if word.lower in referring or word.lower in same:
                return True
            if relative and word.relation == "nsubj" and word.index > self.noun.index:
                return True
            if self.to_plural:
                if pronoun and word.tag == "DT" and word.lower in ("this", "that"):
                    return True
            elif word.tag == "CD" or (word.lower in ("any", "some") and word.relation != "det"):
                return True
        return False
