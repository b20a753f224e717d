"""Cloud services, each a row of `data/clouds.toml` and a class of `vendors`. They cost money, so none is listed or
chosen by itself: a user names it."""

from functools import partial
from importlib import import_module
from typing import Any

from audit import registry

_SYSTEMS = {
    "comprehend": "Amazon",
    "azure-language": "Azure",
    "azure-translator": "Azure",
    "google-language": "Google",
    "google-translate": "Google",
    "corenlp": "CoreNlp",
    "baidu-sentiment": "Baidu",
    "baidu-similarity": "Baidu",
    "baidu-translate": "Baidu",
    "alibaba-sentiment": "Alibaba",
    "tencent-sentiment": "Tencent",
    "youdao-translate": "Youdao",
}


def _connect(name: str, path: str = "") -> Any:
    return getattr(import_module("audit.packs.cloud.vendors"), _SYSTEMS[name])(name, path)


for _name in _SYSTEMS:
    registry.systems.register(_name, partial(_connect, _name), argument="[FILE.toml]", listed=False)
