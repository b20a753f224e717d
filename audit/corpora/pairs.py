"""Pairs of Chinese texts for similarity: `inews-pairs` and `cluener-pairs`, made from the corpora of single texts.

No pair has gold: how similar two texts are is for people to say. How a pair was made is its attribute `pair`, which
says what to expect, and no more than that.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from audit.corpora.base import Row, Unit
from audit.corpora.chinese_text import has_chinese, letters, sentences
from audit.corpora.envtext import CLUENER, FromEnvtext, cluener
from audit.corpora.inews import Article, FromInews, articles
from audit.keys import uniform
from audit.language.chinese_sentences import RULES
from audit.tasks import Input

_SHORTEST = 6
"""Letters that a text of a pair has at least: less says too little to be compared."""
_SENTENCES = 20
"""Sentences of a body of which pairs are made, so that a few long ones do not fill the corpus."""
_EACH = 3
"""Pairs that are made from one entity at most, so that a few famous ones do not fill the corpus."""


def _row(key: str, first: str, second: str, pair: str, cluster: str) -> Row:
    return Row(key, Input.of(first, second, language="zh"), cluster=cluster, attributes={"pair": pair})


def _comparable(first: str, second: str) -> bool:
    """Whether two texts say enough, and are not copies of each other."""
    one, other = letters(first), letters(second)
    return min(len(one), len(other)) >= _SHORTEST and one != other and has_chinese(first) and has_chinese(second)


def _strangers(keys: Sequence[str], seed: str) -> Iterator[tuple[int, int]]:
    """Each place with another one, drawn by the keys: every place is once a first and once a second.

    >>> sorted(_strangers(["a", "b", "c"], "pairs")) in ([(0, 1), (1, 2), (2, 0)], [(0, 2), (1, 0), (2, 1)])
    True
    """
    order = sorted(range(len(keys)), key=lambda at: uniform(seed, keys[at]))
    return zip(order, [*order[1:], *order[:1]], strict=True)


class InewsPairs(FromInews):
    """Of each article its title with its first sentence and with that of another article, and each sentence of its body
    with the next one; and two titles that were written above one body."""

    name = "inews-pairs"
    task = "similarity"
    unit: Unit = "sentence"
    summary = "pairs of titles and sentences of Chinese web news, of one article or of two, without gold"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}.{RULES}"

    def rows(self) -> Iterator[Row]:
        known = articles()
        bodies = [[text for _, text in islice(sentences(article.body), _SENTENCES)] for article in known]
        other = dict(_strangers([article.key for article in known], "inews-pairs"))
        titled: dict[str, Article] = {}
        for at, article in enumerate(known):
            made = [
                *(("title-first", article.title, first) for first in bodies[at][:1]),
                *(("random", article.title, first) for first in bodies[other[at]][:1]),
                *((f"next.{number}", *couple) for number, couple in enumerate(pairwise(bodies[at]), start=1)),
            ]
            if same := letters(article.body):
                made.append(("titles", titled.setdefault(same, article).title, article.title))
            for name, first, second in made:
                if _comparable(first, second):
                    yield _row(f"{article.key}.{name}", first, second, name.partition(".")[0], article.key)


class CluenerPairs(FromEnvtext):
    """Two sentences of CLUENER that name the same person, company, place or other entity, and as many that were drawn
    together at random."""

    name = "cluener-pairs"
    task = "similarity"
    unit: Unit = "sentence"
    has_gold = False
    summary = "pairs of sentences of CLUENER 2020 that name the same, or were drawn at random, without gold"
    member = CLUENER

    def rows(self) -> Iterator[Row]:
        known = list(cluener())
        texts = {number: text for number, text, _ in known}
        naming: dict[tuple[str, str], list[int]] = {}
        for number, _, entities in known:
            for kind, names in entities.items():
                for name in dict.fromkeys(names):
                    naming.setdefault((kind, name), []).append(number)
        related = dict.fromkeys(couple for numbers in naming.values() for couple in [*pairwise(numbers)][:_EACH])
        yield from self._made("same-entity", related, texts)
        numbers = sorted(texts)
        strangers = ((numbers[one], numbers[other]) for one, other in _strangers([*map(str, numbers)], self.name))
        apart = (couple for couple in strangers if couple not in related and couple[::-1] not in related)
        yield from self._made("random", islice(apart, len(related)), texts)

    def _made(self, pair: str, couples: Iterable[tuple[int, int]], texts: dict[int, str]) -> Iterator[Row]:
        for one, other in couples:
            if _comparable(texts[one], texts[other]):
                yield _row(f"{one}.{other}.{pair}", texts[one], texts[other], pair, str(one))
