"""What audit brings for languages: a pack each, registered as plug-ins are.

They come in one order, whichever of them is imported first: what has a name is listed in it.
"""

from importlib import import_module

from audit.registry import PACKS

for _pack in PACKS:
    import_module(_pack)
