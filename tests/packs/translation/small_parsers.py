"""Parsers for tests of relations that need one: `small-parser`, English by chunks over the project's own tags, and
Spanish words by a list of twenty. No parser of any use, registered for the tests alone."""

from collections.abc import Sequence

import nltk

from audit.errors import NotInstalled
from audit.packs.translation import parsers, tools
from audit.text.tokens import words
from audit.text.tools import tag

GRAMMAR = """
NP: {<DT|PRP\\$>?<RB.*|JJ.*>*<NN.*>+}
PP: {<IN|TO><NP>}
VP: {<RB.*>*<VB.*><RB.*>*<NP|PP>*}
"""
SPANISH = {
    **dict.fromkeys(words("el la un una"), "DT"),
    **dict.fromkeys(words("perro gato jardín casa película día"), "NN"),
    **dict.fromkeys(words("viejo grande pequeño bueno mucho"), "JJ"),
    **dict.fromkeys(words("ve duerme es corre"), "VBZ"),
    **dict.fromkeys(words("en de"), "IN"),
}


class SmallParser(parsers.Parser):
    """Chunks of noun, verb and prepositional phrases under one root. Texts that say "unparsable" have no tree."""

    name, version, languages = "small-parser", "small-parser 1", ("en", "es")

    def __init__(self):
        self.asked: list[tuple[str, list[str]]] = []
        """Language and texts of every call."""

    def trees(self, texts: Sequence[str], language: str):
        self.asked.append((language, list(texts)))
        return [None if "unparsable" in text else self._tree(text, language) for text in texts]

    def _tree(self, text: str, language: str):
        if language == "en":
            tagged = [(token.text, token.tag) for token in tag(text, "en")]
        else:
            tagged = [
                (one, SPANISH.get(one.lower(), "." if one == "." else "FW")) for one in text.replace(".", " .").split()
            ]
        tree = nltk.RegexpParser(GRAMMAR).parse(tagged)
        for place in tree.treepositions("leaves"):
            word, mark = tree[place]
            tree[place] = nltk.Tree(mark, [word])
        return tree


class AbsentParser(SmallParser):
    name, version, languages = "absent-parser", "1", ("fr",)

    def needs(self):
        return "apt-get install nothing"

    def trees(self, texts, language):
        raise NotInstalled("must not be asked")


def register(monkeypatch) -> SmallParser:
    """Make both parsers known for one test; the one that can be asked."""
    parser = SmallParser()
    for name, made in {"small-parser": parser, "absent-parser": AbsentParser()}.items():
        monkeypatch.setitem(tools.PARSERS, name, (lambda made=made: made, ""))
    tools.get_tool.cache_clear()
    return parser
