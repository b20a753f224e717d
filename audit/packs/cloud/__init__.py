"""Cloud services: what each is sent, what its answers and errors mean. They cost money, so none is listed or chosen by
itself: a user names it."""

from audit import registry

for _name, _class in {
    "comprehend": "Comprehend",
    "azure-language": "AzureLanguage",
    "azure-translator": "AzureTranslator",
    "google-language": "GoogleLanguage",
    "google-translate": "GoogleTranslate",
    "corenlp": "CoreNlp",
    "baidu-sentiment": "BaiduSentiment",
    "baidu-similarity": "BaiduSimilarity",
    "baidu-translate": "BaiduTranslate",
    "alibaba-sentiment": "AlibabaSentiment",
    "tencent-sentiment": "TencentSentiment",
    "youdao-translate": "YoudaoTranslate",
}.items():
    registry.systems.register(_name, f"audit.packs.cloud.vendors:{_class}", argument="[FILE.toml]", listed=False)
