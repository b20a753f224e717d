"""A server of Stanford CoreNLP that somebody started: sentiment of its sentences, over HTTP.

https://stanfordnlp.github.io/CoreNLP/corenlp-server.html: the text is the body, the properties are a parameter of the
address, and a server takes 100,000 characters unless it was started with another maxCharLength.
https://stanfordnlp.github.io/CoreNLP/sentiment.html: five words for each sentence, of a model of English.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from audit.errors import BadOutput
from audit.packs.cloud.connector import Outcome, OverHttps, entry, number, outcome_of
from audit.tasks import Input, Output

_WORDS = ("Very negative", "Negative", "Neutral", "Positive", "Very positive")
"""In the order of a sentence's sentimentDistribution."""
_VALUES = {"negative": -1, "neutral": 0, "positive": 1}


class CoreNlpSentiment(OverHttps):
    """The system `corenlp`: sentiment of a text, from that of its sentences.

    Each sentence is -1, 0 or 1 by its label. The text is neutral up to a mean of `neutral` (.25), so one sentence is
    what it is. The score is the mean of the probability that its sentences have the text's label.
    """

    spec = "corenlp"
    service = "Stanford CoreNLP"
    operation = "sentiment"
    api = "4"
    tasks = ("sentiment",)
    spoken = ("en",)
    labels: ClassVar[Mapping[str, str]] = dict(
        zip(_WORDS, ("negative", "negative", "neutral", "positive", "positive"), strict=True)
    )
    endpoint = "http://localhost:9000"
    neutral = 0.25
    options = frozenset({"neutral"})
    fixed: ClassVar[Mapping[str, object]] = {"annotators": "tokenize,ssplit,pos,parse,sentiment"}
    most = 100_000
    accepted = "the endpoint of its file: a server that asks for a name and password cannot be asked"

    async def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        properties = {"annotators": self.fixed["annotators"], "outputFormat": "json"}
        address = f"{self.address}/?properties={quote(json.dumps(properties))}&pipelineLanguage=en"
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        # A lone surrogate is in no encoding.
        sent = inputs[0].text.encode("utf-8", "replace")
        status, answer_headers, document = await self.post(address, sent, headers)
        if status >= 300:
            raise self.problem(f"HTTP {status}", str(document), status, answer_headers)
        return [outcome_of(lambda: self._read(document))]

    def _read(self, document: Any) -> Output:
        sentences = entry(document, "sentences")
        if not isinstance(sentences, list) or not sentences:
            raise BadOutput("the answer has no sentences")
        labels = [self.label(entry(sentence, "sentiment")) for sentence in sentences]
        mean = sum(_VALUES[label] for label in labels) / len(labels)
        label, confidence = self.label_of_number(mean)
        shares = [self._share(sentence, label) for sentence in sentences if "sentimentDistribution" in sentence]
        return Output(label, sum(shares) / len(shares) if shares else confidence)

    def _share(self, sentence: Any, label: str) -> float:
        distribution = entry(sentence, "sentimentDistribution")
        if not isinstance(distribution, list) or len(distribution) != len(_WORDS):
            raise BadOutput(f"sentimentDistribution must be {len(_WORDS)} numbers, the answer has {distribution!r}")
        return min(
            1.0,
            sum(
                number(share, "sentimentDistribution")
                for word, share in zip(_WORDS, distribution, strict=True)
                if self._words[word] == label
            ),
        )
