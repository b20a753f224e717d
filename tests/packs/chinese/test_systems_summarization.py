"""Chinese systems of summarization: what they choose is what the packages choose, and the same in every process."""

import pytest

from audit.errors import BadOutput
from audit.systems import get_system
from audit.tasks import Input, get_task

NAMES = ["sumy-lexrank", "sumy-lsa"]
NEWS = (
    "北京市教育局昨天宣布，全市中小学从下周一开始放假。教育局局长张伟说，今年的假期比去年长三天。许多家长认为假期太长。"
    "也有老师表示，学生需要更多休息时间。专家李娜建议，家长应当安排孩子多读书。上海市的中小学下个月放假。"
    "广州的学校还没有宣布放假时间。教育局提醒学生，假期外出要注意交通安全。天气预报说，下周北京有大雪。交通部门已经做好准备。"
)
"""Ten sentences, 196 characters (written for this test)."""


def input_of(text):
    return Input.of(text, language="zh")


def summary(name, text):
    return get_system(name).run([input_of(text)])[0].text


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_parts_and_an_empty_text_is_an_error_of_its_own(name):
    texts = [NEWS, NEWS + "谢谢。", NEWS * 2]
    outputs = get_system(name).run([input_of(text) for text in texts])
    assert [output.text for output in outputs] == [summary(name, text) for text in texts]
    assert get_system(name).run([]) == []
    with pytest.raises(BadOutput, match="the summary is empty"):
        get_task("summarization").checked(get_system(name).run([input_of(" ")])[0])


@pytest.mark.parametrize("name", ["sumy-lexrank", "sumy-lsa"])
def test_sumy_chooses_three_sentences_as_the_package_does(name):
    from sumy.nlp.tokenizers import Tokenizer
    from sumy.parsers.plaintext import PlaintextParser
    from sumy.summarizers.lex_rank import LexRankSummarizer
    from sumy.summarizers.lsa import LsaSummarizer
    from sumy.utils import get_stop_words

    plain = {"sumy-lexrank": LexRankSummarizer, "sumy-lsa": LsaSummarizer}[name]()
    plain.stop_words = get_stop_words("chinese")
    chosen = plain(PlaintextParser.from_string(NEWS, Tokenizer("chinese")).document, 3)
    assert summary(name, NEWS) == "".join(map(str, chosen))
    assert summary(name, NEWS).count("。") == 3
