"""Link grammar: what is made of its answers, the program itself where it is installed, and programs that fail."""

import shutil
import stat

import pytest

from audit.errors import NotInstalled
from audit.packs.translation.constituency import get_parser, leaf_spans, link_grammar
from audit.packs.translation.constituency.link_grammar import LinkGrammar, answers, read

real = pytest.mark.skipif(not shutil.which("link-parser"), reason="link-parser is not installed")


def flat(tree):
    return " ".join(str(tree).split())


@pytest.mark.parametrize(
    ("text", "answer", "tree"),
    [
        # Answers of link-grammar 5.12.0.
        (
            'He said "go (now)".',
            '\n(S (NP he) (VP said.q-d " {go} (PP { now.r } ")) .)\n',
            '(S (NP (PRP He)) (VP (VBD said) (" ") (VB go) (PP (( () (RB now) () )) (" "))) (. .))',
        ),
        ("Hello world", "(S (VP hello.ij (S (VP world.p))))", "(S (VP (UH Hello) (S (VP (NN world)))))"),
        ("a.b baz", "(S (VP a.b{?}.n baz{!}))", "(S (VP (NNP a.b) (NNP baz)))"),
        ("and/or", "(S {and/or})", "(S (CC and/or))"),
        # Subscripts say adverb (than.e) and adjective (all.a) of words that are neither.
        (
            "All are older than us.",
            "(S (NP all.a) (VP are.v (ADJP older.a (PP than.e (NP us)))) .)",
            "(S (NP (DT All)) (VP (VBP are) (ADJP (JJR older) (PP (IN than) (NP (PRP us))))) (. .))",
        ),
    ],
)
def test_trees_have_the_words_of_the_text(text, answer, tree):
    result = read(text, answer)
    assert result.pformat(margin=10**6) == tree
    assert [text[a:b] for a, b in leaf_spans(text, result)] == result.leaves()


@pytest.mark.parametrize("answer", ["", "\nNo complete linkages found.\n", "(S (NP he)", "(S)", "(S (NP she) .)"])
def test_no_tree(answer):
    assert read("He runs.", answer) is None


@real
def test_sentences_are_parsed():
    parser = get_parser("link-grammar")
    assert parser.needs() is None
    assert parser.version.startswith("link-grammar 5.")
    first, second, third = parser.parse(
        ["The quick brown fox jumps over the lazy dog.", "I like fish.\nThey swim.", "Cats"], "en"
    )
    # Made by link-grammar 5.12.0.
    assert flat(first) == (
        "(S (NP (DT The) (JJ quick) (JJ brown) (NN fox)) (VP (VBZ jumps) (PP (IN over) (NP (DT the) (JJ lazy) "
        "(NN dog)))) (. .))"
    )
    assert second.leaves() == ["I", "like", "fish", ".", "They", "swim", "."]
    assert third.leaves() == ["Cats"]


def fake_program(folder, monkeypatch, script):
    """A program of this name that is none."""
    program = folder / "link-parser"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_program_that_hangs_has_no_answer(tmp_path, monkeypatch):
    fake_program(tmp_path, monkeypatch, "exec sleep 30")
    monkeypatch.setattr(link_grammar, "SECONDS", -29.8)
    assert answers(["one"]) == [""]


def test_the_package_is_named_where_the_program_is_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    link_grammar._program_version.cache_clear()
    parser = LinkGrammar()
    assert parser.needs() == "the program link-parser is not installed; run: apt-get install link-grammar"
    with pytest.raises(NotInstalled, match="apt-get install link-grammar"):
        parser.parse(["Dogs bark."], "en")
    with pytest.raises(NotInstalled, match="apt-get install link-grammar"):
        _ = parser.version
