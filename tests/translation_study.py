"""A study of translations that was run, for tests of what is made of it: five toy systems, two targets, two domains."""

import toy_translator

from audit.corpora import get_corpus
from audit.relations import get_relation
from audit.relations.registry import configured
from audit.runner.executors import InProcess
from audit.runner.run import run

SPOILS = {"ta": 0.05, "tb": 0.1, "tc": 0.15, "td": 0.2, "te": 0.3}
"""The share of words that each system loses."""
RELATIONS = ("RTT", "MCMT", "MGMT-sentence")
NOUNS = ("rain", "snow", "wind", "a storm", "the sun")
TEXTS = [f"Day {number} brought {NOUNS[number % 5]} and {NOUNS[number // 8]} to us all." for number in range(40)]


def write_files(folder):
    """The corpus days.csv (text, domain), and references.csv: the translation of a toy that loses no word, for all
    texts but the first, whose second text has two references."""
    rows = [f"{text},{'news' if number % 4 else 'law'}" for number, text in enumerate(TEXTS)]
    (folder / "days.csv").write_text("\n".join(["text,domain", *rows]), encoding="utf-8")
    lines = [f"{text},{marked(text, target)},{target}" for text in TEXTS[1:] for target in ("es", "fr")]
    lines += [f"{TEXTS[1]},another one,es", lines[0], "Not there.,No,es"]
    (folder / "references.csv").write_text("\n".join(["source,reference,target_language", *lines]), encoding="utf-8")


def marked(text, target):
    return " ".join(f"{word}~{target}" for word in text.split())


def run_study(engine, folder, systems=tuple(SPOILS), params=None):
    """Run it; the current directory must be the folder. `params` as in `audit run --set`, by relation."""
    specs = [toy_translator.write(folder, f"toys_{name}", name=name, spoils=SPOILS[name]) for name in systems]
    relations = [configured(get_relation("translation", name), (params or {}).get(name, {})) for name in RELATIONS]
    corpus = get_corpus("days.csv@es,fr", "translation", "sentence")
    return run(engine, corpus, specs, relations, InProcess())
