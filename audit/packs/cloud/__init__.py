"""Cloud services: what each is sent, what its answers and errors mean. They cost money, so none is listed or chosen by
itself: a user names it."""

from functools import partial
from importlib import import_module
from typing import Any

from audit import registry

_SYSTEMS = {
    "Amazon": ("comprehend",),
    "Azure": ("azure-language", "azure-translator"),
    "Google": ("google-language", "google-translate"),
    "CoreNlp": ("corenlp",),
    "Baidu": ("baidu-sentiment", "baidu-similarity", "baidu-translate"),
    "Alibaba": ("alibaba-sentiment",),
    "Tencent": ("tencent-sentiment",),
    "Youdao": ("youdao-translate",),
}


def _connect(company: str, name: str, path: str = "") -> Any:
    return getattr(import_module("audit.packs.cloud.vendors"), company)(name, path)


for _company, _names in _SYSTEMS.items():
    for _name in _names:
        registry.systems.register(_name, partial(_connect, _company, _name), argument="[FILE.toml]", listed=False)
