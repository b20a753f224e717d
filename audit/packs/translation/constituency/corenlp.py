"""Trees by a server of Stanford CoreNLP that somebody started, over HTTP, through NLTK's client."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from audit.errors import Declined, NotInstalled, Unanswered, first_line
from audit.packs.english.vocabulary import BRACKETS

if TYPE_CHECKING:
    from nltk import Tree

RULES = "1"
"""Version of the treatment of texts and trees; part of the parser's version."""
SECONDS = 60
"""Limit for an answer to one text."""
_ANNOTATORS = "tokenize,ssplit,pos,parse"


class CoreNlp:
    """A parser by the server at this address, as http://localhost:9000; it splits and tags the texts itself.

    A server does not say its version: the address stands for it, so start another version at another one. The
    sentences of a text stand under one TOP.
    """

    languages: tuple[str, ...] = ("ar", "de", "en", "es", "fr", "zh")
    """Languages that CoreNLP has constituency models of; the server must run with the model that is asked for."""
    shallow = False

    def __init__(self, address: str):
        self.name = f"corenlp:{address}"
        self._address = address if "://" in address else f"http://{address}"
        self._answered: set[str] = set()

    @property
    def version(self) -> str:
        """The address, and the version of what is made of the answers."""
        return f"CoreNLP at {self._address}, rules {RULES}"

    def needs(self) -> str | None:
        """How to start a server, where nothing answers at the address; else None."""
        import requests

        try:
            requests.get(f"{self._address.rstrip('/')}/live", timeout=5)
        except requests.RequestException as problem:
            return _no_server(self._address, problem)
        return None

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, under TOP; None for one that the server fails at.

        Raises Unanswered where nothing answers at the address, Declined where the server parses nothing at all of the
        language.
        """
        import requests

        trees: list[Tree | None] = []
        for text in texts:
            try:
                trees.append(self._tree(text, language))
                self._answered.add(language)
            except (requests.ConnectionError, requests.Timeout) as problem:
                raise Unanswered(_no_server(self._address, problem)) from problem
            except (requests.RequestException, ValueError, KeyError, TypeError) as problem:
                if language not in self._answered:
                    self._try(language, problem)
                trees.append(None)
        return trees

    def _tree(self, text: str, language: str) -> Tree | None:
        from nltk import Tree

        settings = {"annotators": _ANNOTATORS, "pipelineLanguage": language}
        # A lone surrogate is in no encoding.
        plain = text.encode("utf-8", "replace").decode("utf-8")
        answer = self._client.api_call(plain, properties=settings, timeout=SECONDS)
        parts = [Tree.fromstring(sentence["parse"]) for sentence in answer["sentences"]]
        if not parts:
            return None
        tree = Tree("TOP", [part[0] if part.label() == "ROOT" and len(part) == 1 else part for part in parts])
        for place in tree.treepositions("leaves"):
            tree[place] = BRACKETS.get(tree[place], tree[place])
        return tree

    def _try(self, language: str, problem: Exception) -> None:
        """Parse a word that any server parses; raise Declined where even that fails: the text was not at fault."""
        import requests

        try:
            self._tree("1", language)
        except (requests.RequestException, ValueError, KeyError, TypeError):
            raise Declined(
                f"the CoreNLP server at {self._address} parses no text of the language {language!r} "
                f"({first_line(problem)}); start it with the models of this language"
            ) from problem
        self._answered.add(language)

    @cached_property
    def _client(self) -> Any:
        try:
            from nltk.parse.corenlp import CoreNLPParser

            return CoreNLPParser(url=self._address)
        except ImportError as problem:
            raise NotInstalled("this needs the package requests; run: pip install requests") from problem


def _no_server(address: str, problem: Exception) -> str:
    return (
        f"no CoreNLP server answers at {address} ({type(problem).__name__}); start one in CoreNLP's directory with: "
        "java -mx4g -cp '*' edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000"
    )
