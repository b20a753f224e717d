"""English: words, tags, inflection, synonyms; the relations of sentiment; film reviews, and systems that rate them;
pairs and tickets that we wrote, and systems that tell them apart, infer, answer and summarise."""

from audit import registry

_CORPORA = {
    "rotten-tomatoes": "RottenTomatoes",
    "imdb": "Imdb",
    "imdb-sentences": "ImdbSentences",
    "polarity-v2": "Polarity",
    "polarity-v2-sentences": "PolaritySentences",
    "treebank": "Treebank",
    "inference-pairs": "inference_pairs",
    "question-pairs": "question_pairs",
    "support-tickets": "support_tickets",
    "similarity-pairs": "similarity_pairs",
}
_SYSTEMS = {
    "vader": "Vader",
    "textblob": "TextBlob",
    "hiv4": "Hiv4",
    "tfidf-logreg": "TfidfLogreg",
    "ticket-keywords": "ticket_keywords",
    "ticket-logreg": "ticket_logreg",
    "ticket-centroid": "ticket_centroid",
    "word-overlap": "Overlap",
    "pair-logreg": "PairLogreg",
    "sentence-window": "SentenceWindow",
    "sumy-lexrank-en": "lexrank",
    "sumy-lsa-en": "lsa",
    "sumy-luhn-en": "luhn",
}
for _name, _attribute in _CORPORA.items():
    registry.corpora.register(_name, f"audit.packs.english.corpora:{_attribute}")
for _name, _attribute in _SYSTEMS.items():
    registry.systems.register(_name, f"audit.packs.english.systems:{_attribute}")
