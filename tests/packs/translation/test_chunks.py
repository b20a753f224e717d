"""The parser `shallow`: what is read of Apertium's tagger, and chunks of real sentences in four languages.

The trees were read and found right by us; there is no treebank of these languages here to measure against. Sentences
are ours and, with "Wikipedia", of the MCMT study's translations.
"""

from apertium_here import fake_apertium, needs_apertium, no_apertium  # noqa: F401

from audit.packs.translation.parsers import Tagged, words_of
from audit.packs.translation.tools import get_tool
from audit.packs.translation.trees import leaf_spans

# Reading the tagger


def test_contractions_clitics_and_words_of_several_words():
    stream = (
        "^Del/de<pr>+el<det><def><m><sg>$ ^vecino/vecino<n><m><sg>$ ^no/no<adv>$ "
        "^dárselo/dar<vblex><inf>+le<prn><enc><p3><mf><sp>+lo<prn><enc><p3><m><sg>$ "
        "^a pesar de/a pesar de<pr>$ ^Nueva York/Nueva York<np><loc>$^./.<sent>$[]"
    )
    assert words_of(stream) == [
        Tagged("Del", "pr+det", "OFDET"),
        Tagged("vecino", "n", "N"),
        Tagged("no", "adv", "NOT"),
        Tagged("dárselo", "vblex.inf", "INF"),
        Tagged("a", "pr", "PR"),
        Tagged("pesar", "pr", "PR"),
        Tagged("de", "pr", "PR"),
        Tagged("Nueva", "np", "NAME"),
        Tagged("York", "np", "NAME"),
    ]


# Trees


def tree(text, language):
    parsed = get_tool("parser", "shallow").parse([text], language)[0]
    assert parsed is not None
    assert leaf_spans(text, parsed.leaves()) is not None
    return parsed


def phrases(text, language, *labels):
    """Label and words of every phrase, in the order of their first words, larger ones first."""
    wanted = labels or ("NP", "VP", "PP", "ADVP")
    return [
        (subtree.label(), " ".join(subtree.leaves()))
        for subtree in tree(text, language).subtrees(lambda one: one.label() in wanted and one.height() > 2)
    ]


@needs_apertium
def test_spanish():
    text = "El viejo perro del vecino no quería dárselo a la niña rubia en Nueva York."
    assert phrases(text, "es") == [
        ("NP", "El viejo perro del vecino"),
        ("NP", "El viejo perro"),
        ("PP", "del vecino"),
        ("NP", "vecino"),
        ("VP", "no quería dárselo a la niña rubia en Nueva York"),
        ("PP", "a la niña rubia"),
        ("NP", "la niña rubia"),
        ("PP", "en Nueva York"),
        ("NP", "Nueva York"),
    ]
    assert tree(text, "es").pformat(10**6).endswith("(sent .))")
