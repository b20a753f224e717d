"""A system of the task `entailment` that looks at words only."""


class Overlap:
    """Entailed where the premise has every word of the hypothesis, contradicted where only one of them has a "not"."""

    tasks = ("entailment",)
    languages = ("en",)
    version = "1"

    def __call__(self, texts):
        premise, hypothesis = (set(text.lower().rstrip(".").split()) for text in texts)
        if ("not" in premise) != ("not" in hypothesis):
            return "contradicted", 0.8
        return ("entailed", 0.9) if hypothesis <= premise else ("neutral", 0.6)
