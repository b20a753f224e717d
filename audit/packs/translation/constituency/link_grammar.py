"""English by Debian's link-grammar: its program finds links between words, and makes constituents of them.

A text is parsed as one, whatever sentences it holds. Link grammar is robust: words that it cannot link stand in the
tree where they stand in the text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from audit.errors import NotInstalled
from audit.packs.translation.constituency.base import kind_of, spans_of
from audit.text.tokens import words
from audit.text.tools import tag

if TYPE_CHECKING:
    from nltk import Tree

PROGRAM = "link-parser"
MISSING = f"the program {PROGRAM} is not installed; run: apt-get install link-grammar"
RULES = "2"
"""Version of the treatment of the program's answer; part of the parser's version."""
OPTIONS = ("en", "-constituents=3", "-graphics=0", "-verbosity=0", "-spell=0", "-panic=0", "-timeout=30")
"""No guesses at words that it does not know, and no hasty second try, which would depend on how fast a machine is."""
TOGETHER = 50
"""Texts that one process is given: it starts in a third of a second."""
SECONDS = 60
"""For a process to start and to parse its texts, plus as long as the program's own limit for each text."""
MOST_WORDS = 100
MOST_BYTES = 1000
"""Limits of a text: the program takes no line that is much longer, and its time grows with the cube of the words."""
_FIRST_MARK = 20_000
_MARK = re.compile(r"^width set to (\d+)$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
# went.v-d, or.#nor-j-n, foo{!}.n, bar{?}.a
_GUESSED = re.compile(r"(?<=.)\{[!?~&]\}$")
_SUBSCRIPT = re.compile(r"(?<=.)\.#?[a-z][-#a-z0-9]*$")
_LINKED = {"n": "noun", "v": "verb", "a": "adjective", "e": "adverb"}
"""Part of speech by the first letter of a subscript; other subscripts are not used."""
_CLOSED = words("CC CD DT EX IN MD PDT POS PRP PRP$ RP TO WDT WP WP$ WRB")
"""Tags of words that no subscript makes another part of speech: links call *than* and *as* adverbs, *all* an adjective.
"""
_BRACKETS = [str.maketrans("{}", pair) for pair in ("()", "[]")]


class LinkGrammar:
    """Parses English. Parts of speech are the project's own tags of English (Penn's) where the links agree."""

    name = "link-grammar"
    languages: tuple[str, ...] = ("en",)
    shallow = False

    @property
    def version(self) -> str:
        """The program's version, and that of what is made of its answer. Raises NotInstalled."""
        return f"{_program_version()}, rules {RULES}"

    def needs(self) -> str | None:
        """The Debian package, where the program is absent."""
        return None if shutil.which(PROGRAM) else MISSING

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text; None for one that is too long, takes too long, or is no text at all."""
        if not shutil.which(PROGRAM):
            raise NotInstalled(MISSING)
        trees: list[Tree | None] = [None] * len(texts)
        lines = [_CONTROL.sub(" ", text).strip() for text in texts]
        parsable = [index for index, line in enumerate(lines) if _parsable(line)]
        for first in range(0, len(parsable), TOGETHER):
            batch = parsable[first : first + TOGETHER]
            for index, answer in zip(batch, answers([lines[position] for position in batch]), strict=True):
                trees[index] = read(texts[index], answer)
        return trees


def answers(lines: Sequence[str]) -> list[str]:
    """The program's answer to each line; empty where there is none in time. Where a batch fails, its halves are run, so
    that only the lines that fail alone have no answer."""
    # Numbered settings between the lines are marks that no text can imitate; behind a space no line is a command.
    commands = "".join(f"!width={_FIRST_MARK + index}\n {line}\n" for index, line in enumerate(lines))
    try:
        process = subprocess.run(
            [PROGRAM, *OPTIONS],
            input=commands.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS + 30 * len(lines),
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        outputs = _MARK.split(process.stdout.decode("utf-8", "replace"))[1:]
        if process.returncode == 0 and [int(mark) - _FIRST_MARK for mark in outputs[::2]] == list(range(len(lines))):
            return outputs[1::2]
    except (OSError, subprocess.TimeoutExpired):
        pass
    if len(lines) == 1:
        return [""]
    half = len(lines) // 2
    return answers(lines[:half]) + answers(lines[half:])


def read(text: str, answer: str) -> Tree | None:
    """The tree of an answer, with the words as the text has them and tags of Penn's; None where there is none.

    >>> print(read("He said so.", "(S (NP he) (VP said.q-d so.e) .)"))
    (S (NP (PRP He)) (VP (VBD said) (RB so)) (. .))
    """
    from nltk import Tree

    bracketed = next((line for line in answer.splitlines() if line.startswith("(")), None)
    if bracketed is None:
        return None
    try:
        tree = Tree.fromstring(bracketed)
    except ValueError:
        return None
    spans = spans_of(text, [tuple(_forms(leaf)) for leaf in tree.leaves()])
    if not spans:
        return None
    tokens = iter(tag(text, "en"))
    token = next(tokens)
    for place, (start, end) in zip(tree.treepositions("leaves"), spans, strict=True):
        while token.end <= start:
            token = next(tokens)
        tree[place] = Tree(agreed_tag(token.tag, tree[place]), [text[start:end]])
    return tree


def agreed_tag(tag: str, leaf: str) -> str:
    """The tagger's tag, unless that is one of a noun, verb, adjective or adverb, and the links say that the word is
    another of these.

    >>> agreed_tag("NNS", "jumps.v"), agreed_tag("VBD", "said.v-d"), agreed_tag("NN", "lazy.a")
    ('VBZ', 'VBD', 'JJ')
    >>> agreed_tag("VB", "walks.n"), agreed_tag("IN", "than.e"), agreed_tag("DT", "all.a")
    ('NNS', 'IN', 'DT')
    """
    subscript = _SUBSCRIPT.search(leaf)
    if not subscript:
        return tag
    linked, word = subscript.group()[1:], leaf[: subscript.start()]
    if tag in _CLOSED and word.isalpha():
        return tag
    plural = word.endswith("s")
    kind = _LINKED.get(linked[0]) if len(linked) == 1 or linked[1] == "-" else None
    if kind is None or kind == kind_of(tag, "en"):
        return tag
    if kind == "verb":
        return "VBD" if linked == "v-d" else "VBZ" if plural else "VB"
    if kind == "noun" and tag not in ("NNP", "NNPS", "VBG"):
        return "NNS" if plural else "NN"
    if kind == "adjective" and tag not in ("VBN", "VBG", "NNP"):
        return "JJ"
    return "RB" if kind == "adverb" else tag


def _forms(leaf: str) -> Iterator[str]:
    """How the text may have written a leaf: the program adds subscripts and marks of its guesses, puts words that no
    link reaches between braces, and writes all brackets as braces.

    >>> list(_forms("so.e")), "(" in _forms("{{}"), "and" in _forms("{and}")
    (['so.e', 'so'], True, True)
    """
    bare = _GUESSED.sub("", _SUBSCRIPT.sub("", leaf))
    forms = [leaf, bare, _GUESSED.sub("", leaf)]
    if len(bare) > 2 and bare[0] == "{" and bare[-1] == "}":
        forms.append(bare[1:-1])
    forms += [form.translate(table) for form in forms for table in _BRACKETS]
    yield from dict.fromkeys(forms)


def _parsable(line: str) -> bool:
    return bool(line) and len(line.split()) <= MOST_WORDS and len(line.encode("utf-8", "replace")) <= MOST_BYTES


@cache
def _program_version() -> str:
    if not shutil.which(PROGRAM):
        raise NotInstalled(MISSING)
    printed = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=SECONDS).stdout
    match = re.search(r"link-grammar-([\w.]+)", printed)
    return f"link-grammar {match.group(1) if match else 'of an unknown version'}"
