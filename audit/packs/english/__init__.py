"""English: words, tags, inflection, synonyms; the relations of sentiment; film reviews, and systems that rate them."""

from audit import registry

registry.languages.register("en", "audit.packs.english.tagging:ENGLISH")

for _name, _class in {
    "rotten-tomatoes": "RottenTomatoes",
    "imdb": "Imdb",
    "imdb-sentences": "ImdbSentences",
    "polarity-v2": "Polarity",
    "polarity-v2-sentences": "PolaritySentences",
    "treebank": "Treebank",
}.items():
    registry.corpora.register(_name, f"audit.packs.english.corpora:{_class}")

for _name, _class in {"vader": "Vader", "textblob": "TextBlob", "hiv4": "Hiv4", "tfidf-logreg": "TfidfLogreg"}.items():
    registry.systems.register(_name, f"audit.packs.english.systems:{_class}")
