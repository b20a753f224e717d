"""MR5 and MR6 of the study of Chinese systems: nouns and verbs become synonyms."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.chinese.relations import nouns, verbs
from audit.packs.chinese.synonyms import LEAST, pairs, thesaurus
from audit.relations.expect import replace_words
from audit.text import Analysis


def follow_up_of(rewrite, *texts, seed=0, **params):
    return rewrite([Analysis(text, "zh") for text in texts], random.Random(seed), **params)


def texts_of(rewrite, *texts, **options):
    follow_up = follow_up_of(rewrite, *texts, **options)
    return None if follow_up is None else follow_up.texts


def test_a_noun_becomes_a_synonym_wherever_it_stands_in_a_pair():
    follow_up = follow_up_of(nouns, "医生来了，医生走了。", "他见到医生。")
    assert follow_up.texts == ("大夫来了，大夫走了。", "他见到大夫。")
    assert follow_up.words == (("医生", "大夫"),)


def test_a_verb_becomes_a_synonym():
    assert texts_of(verbs, "老师称赞了小明。") == ("老师夸赞了小明。",)
    assert texts_of(verbs, "他获悉此事。") == ("他得知此事。",)


def test_the_example_of_the_study_is_below_the_score_in_cilin():
    # Table 2 replaces 表扬 by 夸赞 (Synonyms); in Cilin they are in two classes of the same branch.
    assert thesaurus("cilin").score("表扬", "夸赞") == pytest.approx(0.405, abs=0.001)
    assert texts_of(verbs, "老师今天表扬了小明。") is None


def test_two_words_can_be_replaced():
    single, double = (follow_up_of(nouns, "医生问了患者。", words=number) for number in (1, 2))
    assert len(single.words) == 1
    assert double.texts == ("大夫问了病人。",)


WORDS = [
    "医生",
    "患者",
    "母亲",
    "资格",
    "召开",
    "会议",
    "获悉",
    "他",
    "了",
    "的",
    "，",
    "。",
    "“",
    "”",
    "iPhone",
    "😀",
    "精神",
    "得到",
]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map("".join), min_size=1, max_size=2), st.integers(0, 3))
def test_whole_words_everywhere_and_nothing_else(texts, seed):
    for kind, rewrite in (("n", nouns), ("v", verbs)):
        follow_up = follow_up_of(rewrite, *texts, seed=seed)
        if follow_up is None:
            continue
        assert follow_up == follow_up_of(rewrite, *texts, seed=seed)
        assert follow_up.texts == tuple(replace_words(text, follow_up.words) for text in texts)
        for old, new in follow_up.words:
            assert new in {pair.new for pair in pairs()[kind, old]}
            assert (new, 1.0) in thesaurus("cilin").synonyms(old)
            for text in texts:
                whole = [token for token in Analysis(text, "zh").tokens if token.text == old]
                assert len(whole) == len(re.findall(old, text))


def test_every_pair_of_the_list_scores_enough_in_cilin():
    for (_, word), entries in pairs().items():
        scored = dict(thesaurus("cilin").synonyms(word))
        assert all(scored.get(pair.new, 0) >= LEAST for pair in entries), word
