"""Recorded translations: what is read, what is wrong with files, chains, and runs of several engines at once."""

import csv
from pathlib import Path
from time import process_time

import pytest

from audit.corpora import get_corpus
from audit.corpora.recordings import read_recording, unescape_entities
from audit.errors import AuditError
from audit.systems import get_system, systems_of
from audit.tasks import Input, Output

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "mcmt"
HEADER = "system,source_language,target_language,source,translation"
ROWS = [
    "google,en,es,It rains.,Llueve.",
    "google,en,fr,It rains.,Il pleut.",
    'bing,en,es,"It snows, again.","Nieva, otra vez."',
]


def recorded(folder, rows=(), name="past.csv", header=HEADER):
    (folder / name).write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return folder / name


def answer_to(system, text, target="es", language="en"):
    (output,) = system.run([Input.of(text, language=language, target=target)])
    return output


def test_an_engine_says_what_is_recorded_and_nothing_else(tmp_path):
    path = recorded(tmp_path, ROWS)
    assert systems_of(f"recorded:{path}") == [f"recorded:{path}#bing", f"recorded:{path}#google"]
    with pytest.raises(AuditError, match=r"has several systems \(bing, google\); name one"):
        get_system(f"recorded:{path}")
    system = get_system(f"recorded:{path}#google")
    assert (system.name, system.tasks, system.languages) == ("google", ("translation",), ("en",))
    assert answer_to(system, "It rains.") == Output(text="Llueve.")
    assert answer_to(system, "It rains.", "fr") == Output(text="Il pleut.")
    for text, target, language in (
        ("It snows, again.", "es", "en"), ("It rains.", "de", "en"), ("Llueve.", "en", "es"),
    ):  # fmt: skip
        assert answer_to(system, text, target, language).absent
    lines = path.read_text("utf-8").splitlines()
    (tmp_path / "other.csv").write_bytes("\r\n".join([lines[0], *reversed(lines[1:]), lines[1], ""]).encode())
    assert get_system(f"recorded:{tmp_path / 'other.csv'}#google").version == system.version
    recorded(tmp_path, [ROWS[0].replace("Llueve", "Lluvia"), *ROWS[1:]], "other.csv")
    assert get_system(f"recorded:{tmp_path / 'other.csv'}#google").version != system.version


def test_what_is_wrong_is_counted_and_left_out(tmp_path):
    rows = [
        *ROWS,
        ROWS[0],
        "google,en,es,It rains.,Está lloviendo.",
        "google,en,es,It is late.,",
        ",en,es,It is late.,Es tarde.",
        "google,en,es,&nbsp;,Nada.",
        "google,jp,es,x,y",
        "google,en,Spanish,x,y",
        "google,en,EN,x,y",
        "google,en,es,too,many,fields",
        "google,en,pt_BR,L&#39;x &amp; R&D,&quot;y&quot;",
    ]
    recording = read_recording(recorded(tmp_path, rows))
    assert {kind: rows for kind, rows in recording.problems.items() if rows} == {
        "duplicate": 1,
        "contradictory": 1,
        "unusable": 7,
        "entities": 1,
    }
    assert "1 row with another translation of the same text (the first one counts)" in recording.remark
    google = get_system(f"recorded:{tmp_path / 'past.csv'}#google")
    assert answer_to(google, "It rains.") == Output(text="Llueve.")
    assert answer_to(google, "L'x & R&D", "pt-BR") == Output(text='"y"')
    assert answer_to(google, "L&#39;x  & R&D", "pt-BR") == Output(text='"y"')


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        (HEADER.replace("translation", "output"), ROWS, "past.csv: the first line has no column 'translation'"),
        ("system,source,pivot,target,direct,alternate", ["a,b,es,fr,c,d"], "chains alone do not say"),
        (HEADER, ['google,en,es,"It is late.,x'], "quotation mark"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, header, rows, says):
    with pytest.raises(AuditError, match=says):
        read_recording(recorded(tmp_path, rows, header=header))


CHAINS = "system,source,pivot,target,direct,alternate,levenshtein"
SOME_CHAINS = [
    "google,It rains.,es,fr,Il pleut.,Il pleuvait.,0.8",
    "google,It rains.,es,en,It rains.,It is raining.,0.7",  # a round trip
    "google,It rains.,fr,de,Es regnet.,Es regnet &quot;so&quot;.,0.9",
    "google,It hails.,es,en,It hails.,Hail.,0.7",  # of a text that nobody recorded
    "bing,It rains.,es,fr,Il pleut.,Il pleut.,1",  # of an engine that did not translate it
]


def test_chains_complete_the_translations(tmp_path):
    recorded(tmp_path, ROWS)
    recorded(tmp_path, SOME_CHAINS, "chains.csv", CHAINS)
    google = get_system(f"recorded:{tmp_path}#google")
    assert answer_to(google, "Llueve.", "fr", "es") == Output(text="Il pleuvait.")
    assert answer_to(google, "Llueve.", "en", "es") == Output(text="It is raining.")
    assert answer_to(google, "Il pleut.", "de", "fr") == Output(text='Es regnet "so".')
    assert answer_to(google, "It rains.", "de") == Output(text="Es regnet.")  # said by a chain alone
    assert answer_to(google, "It rains.", "en").absent
    problems = {kind: rows for kind, rows in read_recording(tmp_path).problems.items() if rows}
    assert problems == {"no_middle": 2, "entities": 1}


def test_the_originals_are_a_corpus(tmp_path):
    recorded(tmp_path, ROWS)
    recorded(tmp_path, SOME_CHAINS, "chains.csv", CHAINS)
    corpus = get_corpus(f"recorded:{tmp_path}", "translation")
    rows = list(corpus.rows())
    assert [row.input for row in rows] == [
        Input.of("It rains.", target="es"),
        Input.of("It rains.", target="fr"),
        Input.of("It snows, again.", target="es"),
        Input.of("It rains.", target="de"),
    ]
    assert len({row.key for row in rows}) == len(rows) == corpus.size() == 4
    assert [len({row.cluster for row in rows}), rows[0].cluster == rows[3].cluster] == [2, True]
    assert dict(rows[1].attributes) == {"target_language": "fr"}
    spanish = get_corpus(f"recorded:{tmp_path}@es", "translation")
    assert [row.input.target for row in spanish.rows()] == ["es", "es"]
    assert spanish.fingerprint() != corpus.fingerprint()
    with pytest.raises(AuditError, match="has translations into 'zh'; known are: de, es, fr"):
        get_corpus(f"recorded:{tmp_path}@zh", "translation")
    path = recorded(tmp_path, [*ROWS, "google,es,en,Llueve.,It rains."], "both.csv")
    with pytest.raises(AuditError, match="has texts in en, es; say which of them are the originals, as in language="):
        get_corpus(f"recorded:{path}", "translation")
    assert get_corpus(f"recorded:{path}", "translation", language="es").size() == 1


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the MCMT study's recordings are not there")
def test_the_recordings_of_the_mcmt_study():
    began = process_time()
    recording = read_recording(REAL)
    assert process_time() - began < 5
    # Counted in the files with csv and Counter alone.
    assert (recording.rows, recording.systems) == (17_463 + 3_752, ["bing", "google", "youdao"])
    assert {kind: rows for kind, rows in recording.problems.items() if rows} == {
        "duplicate": 112,
        "entities": 857 + 281,
    }
    assert all(not translation.count("&quot;") for said in recording.outputs.values() for translation in said.values())
    corpus = get_corpus(f"recorded:{REAL}", "translation")
    assert (corpus.size(), len({row.cluster for row in corpus.rows()}), corpus.language) == (5_952, 746, "en")
    # Every chain of the study is answered step by step as it was recorded.
    with (REAL / "pivot_runs.csv").open(encoding="utf-8", newline="") as file:
        chains = list(csv.DictReader(file))
    engines = {name: get_system(f"recorded:{REAL}#{name}") for name in recording.systems}
    assert len(chains) == 3_752
    for chain in chains:
        engine, source, target = engines[chain["system"]], chain["source"], chain["target"]
        middle = answer_to(engine, source, chain["pivot"])
        assert answer_to(engine, middle.text, target, chain["pivot"]).text == unescape_entities(chain["alternate"])
        direct = answer_to(engine, source, target)
        assert direct.absent if target == "en" else direct.text == unescape_entities(chain["direct"])
