"""Guess what the columns of somebody's table are, from their names and from what stands in them; always shown."""

from dataclasses import dataclass

import pandas as pd

_TEXTS = (
    "text", "sentence", "review", "comment", "message", "content", "question", "utterance", "body", "title", "tweet",
    "premise", "hypothesis", "context", "文本", "内容", "评论", "句子", "正文", "标题", "留言", "前提", "假设",
)  # fmt: skip
_LABELS = (
    "label", "class", "category", "intent", "sentiment", "gold", "target", "topic", "polarity", "emotion", "answer",
    "标签", "类别", "情感", "意图", "分类", "标注",
)  # fmt: skip
_LONGEST_LABEL, _SHORTEST_TEXT = 30, 8
_PAIRS = {frozenset(("premise", "hypothesis")): "inference", frozenset(("context", "question")): "question-answering"}
_SENTIMENT = frozenset(
    ["positive", "negative", "neutral", "pos", "neg", "neu", "正面", "负面", "中性", "积极", "消极", "正向", "负向"]
)
_SHORT = 300
"""Characters of a text up to which relations on sentences are for it."""


@dataclass(frozen=True)
class Columns:
    """What was guessed: the columns of texts (two of pairs), and the column of right answers with its labels."""

    texts: tuple[str, ...]
    label: str | None = None
    labels: tuple[str, ...] = ()


def labels_in(table: pd.DataFrame, column: str | None) -> tuple[str, ...]:
    """Return the labels of a column, the most frequent first."""
    return () if column is None else tuple(value for value in table[column].value_counts().index if value.strip())


def guess_columns(table: pd.DataFrame) -> Columns:
    """Guess the columns of a table of texts.

    >>> guess_columns(pd.DataFrame({"text": ["It rains a lot.", "Money back!"], "intent": ["a", "b"]}))
    Columns(texts=('text',), label='intent', labels=('a', 'b'))
    """

    def named(column: str, names: tuple[str, ...]) -> bool:
        return any(name in column.lower() for name in names)

    def length(column: str) -> float:  # a Chinese sign says about as much as two letters
        return float(
            table[column].map(lambda cell: len(cell) + sum("\u4e00" <= sign <= "\u9fff" for sign in cell)).mean()
        )

    def weight(column: str) -> float:
        return float(table[column].nunique() / len(table) * length(column) * (3 if named(column, _TEXTS) else 1))

    most = max(2, min(30, len(table) // 3))
    few = [
        column
        for column in table
        if 2 <= table[column].nunique() <= most and length(column) <= _LONGEST_LABEL and not named(column, _TEXTS)
    ]
    label = max(few, key=lambda column: (named(column, _LABELS), -table[column].nunique()), default=None)
    long = [column for column in table if column != label and length(column) >= _SHORTEST_TEXT]
    ranked = sorted(long, key=weight, reverse=True)
    pair = [column for column in ranked[:2] if named(column, _TEXTS)]
    is_pair = len(pair) == 2 and weight(pair[1]) > weight(pair[0]) / 4 and not named(ranked[0], ("title", "标题"))
    texts = [column for column in table if column in pair] if is_pair else ranked[:1] or [table.columns[0]]
    return Columns(tuple(texts), label, labels_in(table, label))


def guess_task(columns: Columns) -> str:
    """Guess what a system does with such texts: classification, where nothing says otherwise.

    >>> guess_task(Columns(("review",), "label", ("pos", "neg"))), guess_task(Columns(("text",), "l", ("a", "b")))
    ('sentiment', 'classification')
    """
    if len(columns.texts) == 2:
        return _PAIRS.get(frozenset(name.lower() for name in columns.texts), "similarity")
    labels = {label.casefold() for label in columns.labels}
    return "sentiment" if not labels or labels <= _SENTIMENT else "classification"


def guess_language(table: pd.DataFrame, columns: Columns) -> str:
    """Return the code of Chinese where most letters are Chinese, else of English."""
    letters = [sign for cell in table[columns.texts[0]] for sign in cell if sign.isalpha()]
    return "zh" if sum("\u4e00" <= sign <= "\u9fff" for sign in letters) * 2 > len(letters) else "en"


def guess_unit(table: pd.DataFrame, columns: Columns) -> str:
    """Return "sentence" for short texts, though they may have several sentences; else "document"."""
    return "sentence" if table[columns.texts[0]].map(len).median() <= _SHORT else "document"
