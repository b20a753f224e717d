"""A small translator for tests: a text in a language is its words with that language's mark behind each.

Its languages are the codes it is given. Words of a class are lost or swapped on some ways, by content alone, so that
round trips and pivots agree with some texts and not with others.
"""

MODULE = '''
import hashlib

from audit.tasks import Output


class Toy:
    """Writes every word with a mark of its language; knows some pairs of languages only."""

    tasks, languages, version = ("translation",), ("*",), "1"
    summary = "a toy"
    name = {name!r}
    settings = {{"spoils": {spoils!r}}}
    pairs = {pairs!r}
    spoils = {spoils!r}
    log = {log!r}

    def needs(self):
        return None

    def prepare(self):
        pass

    def run(self, inputs):
        with open(self.log + ".calls", "a", encoding="utf-8") as file:
            file.write(" ".join(sorted({{"".join(one.languages) for one in inputs}})) + "\\n")
        with open(self.log, "a", encoding="utf-8") as file:
            file.write("".join(f"{{one.languages[0]}}>{{one.target}}\\t{{one.text}}\\n" for one in inputs))
        return [self._one(one) for one in inputs]

    def _one(self, one):
        pair = (one.languages[0], one.target)
        if self.pairs and pair not in self.pairs:
            return Output()
        words = [word.split("~")[0] for word in one.text.split()]
        kept = [word for word in words if not self._lost(word, pair)] or words[:1]
        mark = "" if one.target == "en" else "~" + one.target
        return Output(text=" ".join(word + mark for word in kept))

    def _lost(self, word, pair):
        number = hashlib.md5("|".join((word, *pair)).encode()).digest()[0]
        return number < 256 * self.spoils


class Slow(Toy):
    """Begins slowly, and knows what it lacks."""

    batch_seconds, call_size = 20.0, 4096

    def lacks(self, one):
        return bool(self.pairs) and (one.languages[0], one.target) not in self.pairs


class Empty(Toy):
    """Its translation is empty."""

    name = "empty"

    def _one(self, one):
        return Output(text=" ")
'''


def write(folder, module, name="toy", pairs=(), spoils=0.0):
    """Write the module into a folder; returns the spec of its system. `pairs` none: every pair; `spoils` is the share
    of words that a translation loses."""
    text = MODULE.format(name=name, pairs=tuple(pairs), spoils=spoils, log=str(folder / f"{module}.log"))
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return f"{module}:Toy"


def calls(folder, module):
    """What the system was asked, one `en>es<TAB>text` a call."""
    log = folder / f"{module}.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def batches(folder, module):
    """The pairs of languages in each call of `run`, as in `enes enfr`."""
    log = folder / f"{module}.log.calls"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
