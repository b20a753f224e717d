"""Cloud services, a file a vendor: what each is sent, what its answers and errors mean. They cost money, so none is
listed or chosen by itself: a user names it."""

from audit import registry

for _name, _where in {
    "comprehend": "amazon:Comprehend",
    "azure-language": "azure:AzureLanguage",
    "azure-translator": "azure:AzureTranslator",
    "google-language": "google:GoogleLanguage",
    "google-translate": "google:GoogleTranslate",
    "corenlp": "corenlp:CoreNlpSentiment",
    "baidu-sentiment": "baidu:BaiduSentiment",
    "baidu-similarity": "baidu:BaiduSimilarity",
    "baidu-translate": "baidu:BaiduTranslate",
    "alibaba-sentiment": "alibaba:AlibabaSentiment",
    "tencent-sentiment": "tencent:TencentSentiment",
    "youdao-translate": "youdao:YoudaoTranslate",
}.items():
    registry.systems.register(_name, f"audit.packs.cloud.{_where}", argument="[FILE.toml]", listed=False)
