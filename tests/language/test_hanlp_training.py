"""A tagger is trained for real, saved, loaded by HanLP itself, and tags text; what cannot be trained leaves nothing."""

import json
import shutil

import pytest

from audit.errors import AuditError, BadFile, NotInstalled
from audit.packs.chinese.hanlp_training import SCORES, characters, scores, train
from audit.packs.chinese.taggers import chinese
from audit.text import Analysis
from audit.text.tokens import Token
from audit.text.tools import version_of

SIMPLE = "我/r  爱/v  北京/ns  。/w\n李/nr  鹏/nr  来/v  了/u  。/w\n他/r  在/p  中国/ns  ，/w  很/d  高兴/a  。/w\n"


@pytest.fixture
def corpus(tmp_path):
    """600 paragraphs, that is, 12 documents, in 199801.txt."""
    file = tmp_path / "199801.txt"
    file.write_text(SIMPLE * 200, encoding="utf-8")
    return file


def test_each_character_has_the_label_of_its_place():
    assert characters([("人民日报", "nz"), ("好", "a"), ("李鹏", "nr")]) == [
        *[("人", "B-nz"), ("民", "I-nz"), ("日", "I-nz"), ("报", "E-nz")],
        *[("好", "S-a"), ("李", "B-nr"), ("鹏", "E-nr")],
    ]


def test_scores_are_of_each_sentence_on_its_own():
    held_out = [(("李鹏", "nr"), ("好", "a")), (("来", "v"),)] * 150

    def tagger(text):
        """Every sign is a verb: 来 and 好 are found, of 450 words 300, among 600."""
        return [Token(sign, "v", at, at + 1) for at, sign in enumerate(text) if not sign.isspace()]

    segmentation, tags = scores(tagger, held_out)
    assert (segmentation.there, segmentation.precision, segmentation.recall) == (450, 0.5, 0.6667)
    assert segmentation.f1 == 0.5714  # 2 * 300 / (450 + 600)
    assert (tags["v"].precision, tags["v"].recall) == (0.25, 1.0)
    assert (tags["nr"].there, tags["nr"].precision, tags["nr"].recall, tags["nr"].f1) == (150, None, 0.0, 0.0)
    assert (tags["ns"].there, tags["ns"].f1) == (0, None)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"held_out": 0.0}, "a number between 0 and 1 is allowed"),
        ({"held_out": 1.0}, "a number between 0 and 1 is allowed"),
        ({"held_out": float("nan")}, "a number between 0 and 1 is allowed"),
        ({"epochs": 0}, "at least 1 is needed"),
        ({"limit": 0}, "at least 1 is needed"),
        ({"limit": 50}, "too few to hold a part out"),
        ({"limit": 100}, "too few to hold a part out"),
    ],
)
def test_numbers_that_train_nothing_are_refused(tmp_path, corpus, numbers, says):
    with pytest.raises(AuditError, match=says):
        train(tmp_path / "tagger", corpus=corpus, **numbers)
    assert [file.name for file in tmp_path.iterdir()] == ["199801.txt"]


def test_a_directory_that_holds_something_is_left_alone(tmp_path, corpus):
    with pytest.raises(BadFile, match="is there already and not empty"):
        train(tmp_path, corpus=corpus)
    with pytest.raises(BadFile, match="is there already and not empty"):
        train(corpus, corpus=corpus)
    assert corpus.read_text(encoding="utf-8") == SIMPLE * 200


def test_a_training_that_fails_leaves_nothing(tmp_path, corpus, monkeypatch):
    def broken(folder, *_):
        (folder / "model.pt").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.packs.chinese.hanlp_training._fit", broken)
    monkeypatch.setattr("audit.packs.chinese.hanlp_training.hanlp", lambda: None)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "tagger", corpus=corpus)
    assert [file.name for file in tmp_path.iterdir()] == ["199801.txt"]


@pytest.mark.slow
def test_a_tagger_is_trained_and_loaded_by_hanlp(tmp_path, corpus, capsys):
    hanlp = pytest.importorskip("hanlp")
    said = []
    (tmp_path / "tagger").mkdir()
    trained = train(tmp_path / "tagger", corpus=corpus, held_out=0.2, epochs=2, seed=3, say=said.append)
    # Twelve documents of 50 paragraphs, each a sentence: 2 held out, 1 for choosing the epoch.
    assert (trained.sentences, trained.held_out_sentences) == (450, 100)
    assert trained.segmentation.f1 == trained.tags["nr"].f1 == 1.0
    assert said[0] == "450 sentences are learned from, 100 are held out; 2 epochs."
    assert [line for line in said if line.startswith("Epoch")] == ["Epoch 1 / 2:", "Epoch 2 / 2:"]
    assert capsys.readouterr().out == ""
    assert sorted(file.name for file in (tmp_path / "tagger").iterdir()) == [
        *["config.json", "model.pt", SCORES, "vocabs.json"]
    ]
    assert json.loads((tmp_path / "tagger" / SCORES).read_text(encoding="utf-8"))["seed"] == 3
    component = hanlp.load(str(tmp_path / "tagger"), devices=-1, verbose=False)
    assert component(list("李鹏来了。")) == ["B-nr", "E-nr", "S-v", "S-u", "S-w"]
    name = f"hanlp:{tmp_path / 'tagger'}"
    text = Analysis("李鹏 爱中国。", "zh").tagged_by(name)
    assert [(token.text, token.tag) for token in text.tokens] == [
        *[("李鹏", "nr"), ("爱", "v"), ("中国", "ns"), ("。", "w")]
    ]
    assert sum(len(token.text) for token in chinese("李鹏很高兴" * 7_000, name)) == 35_000  # 105 kB, no mark
    before = version_of(name)
    again = train(tmp_path / "again", corpus=corpus, held_out=0.2, epochs=2, seed=3)
    assert (again.segmentation, again.tags) == (trained.segmentation, trained.tags)
    assert version_of(f"hanlp:{tmp_path / 'again'}") == before
    shutil.copytree(tmp_path / "again", tmp_path / "damaged")
    (tmp_path / "damaged" / "model.pt").write_bytes(b"half")
    with pytest.raises(BadFile, match="HanLP cannot load this model"):
        chinese("好", f"hanlp:{tmp_path / 'damaged'}")
    with pytest.raises(NotInstalled, match="HanLP has no model of this name"):
        chinese("好", "hanlp:NO_SUCH_MODEL")
