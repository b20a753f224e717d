"""English: words, tags, inflection, synonyms; the relations of sentiment; film reviews, and systems that rate them;
pairs and tickets that we wrote, and systems that tell them apart, infer, answer and summarise."""

from audit import registry
from audit.resources import data_rows

_SYSTEMS = {
    "vader": "vader",
    "textblob": "textblob",
    "hiv4": "hiv4",
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
for _name in (row[0] for row in data_rows("corpora/english.tsv", 6)):
    registry.corpora.register(_name, f"audit.packs.english.corpora:{_name.replace('-v2', '').replace('-', '_')}")
for _name, _attribute in _SYSTEMS.items():
    registry.systems.register(_name, f"audit.packs.english.systems:{_attribute}")
