"""English: words, tags, inflection, synonyms; the relations of sentiment; film reviews, and systems that rate them;
pairs and tickets that we wrote, and systems that tell them apart, infer, answer and summarise."""

from audit import registry

for _name, _class in {
    "rotten-tomatoes": "RottenTomatoes",
    "imdb": "Imdb",
    "imdb-sentences": "ImdbSentences",
    "polarity-v2": "Polarity",
    "polarity-v2-sentences": "PolaritySentences",
    "treebank": "Treebank",
}.items():
    registry.corpora.register(_name, f"audit.packs.english.corpora:{_class}")

for _name in ("inference-pairs", "question-pairs", "support-tickets", "similarity-pairs"):
    registry.corpora.register(_name, f"audit.packs.english.hand_written:{_name.replace('-', '_')}")

for _name, _class in {"vader": "Vader", "textblob": "TextBlob", "hiv4": "Hiv4", "tfidf-logreg": "TfidfLogreg"}.items():
    registry.systems.register(_name, f"audit.packs.english.systems:{_class}")
for _name, _where in {
    "ticket-keywords": "ticket_systems:ticket_keywords",
    "ticket-logreg": "ticket_systems:ticket_logreg",
    "ticket-centroid": "ticket_systems:ticket_centroid",
    "word-overlap": "inference_systems:Overlap",
    "pair-logreg": "inference_systems:PairLogreg",
    "sentence-window": "answering_systems:SentenceWindow",
    "sumy-lexrank-en": "summary_systems:lexrank",
    "sumy-lsa-en": "summary_systems:lsa",
    "sumy-luhn-en": "summary_systems:luhn",
}.items():
    registry.systems.register(_name, f"audit.packs.english.{_where}")
