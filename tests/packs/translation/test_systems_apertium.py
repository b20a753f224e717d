"""The system `apertium`: its pairs and chains, each text for itself, and what happens when the engine fails.

The engine is the real one of Debian where it is installed. For failures it is a fake, and named so.
"""

import pickle
import subprocess

import pytest
from apertium_here import PAIRS, fake_apertium, needs_apertium, no_apertium  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.translation import apertium as apertium
from audit.packs.translation.apertium import _paths
from audit.systems import get_system
from audit.tasks import Input, Output

# The first two are from the MCMT study's sentences (Wikipedia). On "known" the tagger of eng-spa keeps other tags for
# unknown words from then on, so that a file with both lines, in this order, has another second line.
KNOWN = (
    "An accident, also known as an unintentional injury, is an undesirable, incidental, and unplanned event that could "
    "have been prevented had circumstances leading up to the accident been recognized, and acted upon, prior to its "
    "occurrence."
)
SOCIAL = (
    "Social adroitness is a personality trait measured in the Jackson Personality Inventory and the Jackson "
    "Personality Inventory-Revised."
)
QUICK = ("eng-spa", "spa-eng", "fr-es")


def once(name, text):
    """What the command line of Apertium makes of one text."""
    done = subprocess.run(["apertium", "-u", "-f", "txt", name], input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


# The real engine


@needs_apertium
def test_pairs_chains_and_what_it_says_of_itself():
    system = get_system("apertium:" + "+".join(PAIRS))
    assert (system.tasks, system.languages, system.needs()) == (("translation",), ("*",), None)
    assert system.version.startswith(f"{apertium.engine_version()} data ")
    assert system.settings["modes"]["en-es"] == "eng-spa"
    assert system.settings["modes"]["fr-es"] == "fr-es"
    assert system.settings["chains"] == {"en-fr": "eng-cat + cat-fra", "fr-en": "fra-cat + cat-eng"}
    by_pair = {(pair.source, pair.target): pair for pair in system.pairs()}
    assert by_pair["en", "fr"].through == ("ca",)
    assert by_pair["en", "ca"].through == ()
    assert len(by_pair) == 12  # of four languages, each into each other one
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert (again.version, again.settings) == (system.version, system.settings)


@pytest.mark.slow
@needs_apertium
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAIRS]
)
def test_a_text_is_the_same_alone_in_a_batch_and_as_the_command_line_has_it(name):
    mode = next(mode for mode in apertium.installed_modes() if mode.name == name)
    own = {
        "en": [KNOWN, SOCIAL, "Frogfishes are any member of the anglerfish family Antennariidae."],
        "es": ["El perro conocido no quería dárselo a la niña.", "Blorf es la guía, según dijo.", "¿Qué hora es?"],
        "ca": ["L'home que va venir ahir n'ha comprat dos.", "Blorf és la guia coneguda.", "Quina hora és?"],
        "fr": ["L'homme qu'on a vu hier n'a pas acheté la voiture.", "Blorf est le guide connu.", "Quelle heure ?"],
    }[mode.source]
    together = apertium.translate(mode, [*own, *reversed(own), *own])
    alone = [apertium.translate(mode, [text])[0] for text in own]
    assert together == [*alone, *reversed(alone), *alone]
    assert alone == [once(name, text) for text in own]


@needs_apertium
@settings(max_examples=15, deadline=None)
@given(st.text(st.sampled_from([*"[]^$/\\{}@#~*+<>&;. a\n\t\r", "é"]), max_size=12))
def test_the_format_is_that_of_apertium_s_own_program(text):
    text = text.strip(" \n\t\r~")  # white space at the end (and `~` counts as such) it puts behind the full stop
    done = subprocess.run(["apertium-destxt"], input=text.encode(), capture_output=True, check=True)
    assert apertium.to_stream(text) == (done.stdout.decode() if text else ".[]")


# Failures, with fakes


def test_not_installed(no_apertium):  # noqa: F811
    system = get_system("apertium")
    assert system.needs().startswith("apt-get install apertium apertium-eng-spa ")
    assert system.version == "absent"
    assert (system.pairs(), system.settings["chains"]) == ([], {})
    assert system.run([Input.of("A dog.", target="es")]) == [Output()]
    assert get_system("apertium:eng-spa").needs().startswith("apt-get install apertium ")


def test_a_program_that_fails_costs_the_others_nothing(fake_apertium):  # noqa: F811
    fake_apertium.mode("eng-spa", "fake-engine $1 fails")
    system = get_system("apertium")
    assert system.version.startswith("0.0.fake data ")
    outputs = system.run([Input.of(text, target="es") for text in ("a", "b", "bad", "d", "e", "f")])
    assert [output.text for output in outputs] == ["A", "B", None, "D", "E", "F"]
    assert outputs[2].error == "eng-spa: Apertium ended with 3: fake engine: cannot read the data"
    assert len(fake_apertium.batches()) == 7  # 6; 3 and 3; 1 and 2 of the first; then 1 and 1


# Names, paths, formats


def test_chains_are_shortest_and_of_the_first_languages():
    line = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("b", "a")]
    paths = _paths(line)
    assert paths["a", "d"] == ("a", "b", "c", "d")
    assert ("a", "e") not in paths  # four steps are too many
    assert ("a", "a") not in paths
    assert _paths([("a", "z"), ("z", "t"), ("a", "m"), ("m", "t")])["a", "t"] == ("a", "m", "t")
