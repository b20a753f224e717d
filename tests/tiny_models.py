"""Tiny models of transformers, made here: they learn a handful of texts by heart in a second, and know nothing else."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

WORDS = (
    *("good", "bad", "fine", "film", "book", "is", "not", "the", "a", "it", "and", "was", "very", "dull", "lovely"),
    *("anna", "ben", "lives", "in", "paris", "rome", "where", "does", "live", "who", "what", "eats", "bread", "man"),
    *("sleeps", "rains", "today", "people", "walk", ".", ",", "?", "##s", "answer", "positive", "neutral", "negative"),
)


def save_tokenizer(folder: Path, longest: int = 64) -> Any:
    """A tokenizer of these words (letters are known, too), in the directory of a model."""
    import transformers

    letters = [mark + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789" for mark in ("", "##")]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys([*WORDS, *letters])]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.model_max_length = longest
    tokenizer.save_pretrained(folder)
    return tokenizer


def bert_config(tokenizer: Any, **more: Any) -> Any:
    """The configuration of a BERT of two layers."""
    import transformers

    return transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,  # else the first layers of so small a model learn nothing
        **more,
    )


def learn(model: Any, batch: Callable[[], dict[str, Any]] | dict[str, Any], steps: int = 600) -> None:
    """Until the batch is known by heart."""
    import torch

    torch.set_num_threads(1)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)
    for _ in range(steps):
        loss = model(**(batch() if callable(batch) else batch)).loss
        if loss.item() < 0.01:
            break
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    else:
        raise AssertionError(f"the model did not learn: {loss.item()}")
    model.eval()


def classifier(folder: Path, names: Iterable[str], texts: dict[Any, Any], **more: Any) -> Path:
    """A directory with a classifier that knows the label (its number, or a list of 0.0 and 1.0) of texts or pairs."""
    import torch
    import transformers

    tokenizer = save_tokenizer(folder)
    torch.manual_seed(0)
    config = bert_config(tokenizer, id2label=dict(enumerate(names)), **more)
    model = transformers.BertForSequenceClassification(config)
    pairs = [text if isinstance(text, tuple) else (text,) for text in texts]
    columns = [list(column) for column in zip(*pairs, strict=True)]
    whole = all(isinstance(label, int) for label in texts.values())
    labels = torch.tensor(list(texts.values()), dtype=torch.long if whole else torch.float)
    learn(model, {**tokenizer(*columns, return_tensors="pt", padding=True), "labels": labels})
    model.save_pretrained(folder)
    return folder


def bart(folder: Path, texts: dict[str, str]) -> Path:
    """A directory with a BART that knows what to make of these texts."""
    import torch
    import transformers

    tokenizer = save_tokenizer(folder)
    torch.manual_seed(0)
    sizes = {
        f"{part}_{name}": number
        for part in ("encoder", "decoder")
        for name, number in {"layers": 1, "attention_heads": 2, "ffn_dim": 32}.items()
    }
    config = transformers.BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        max_position_embeddings=64,
        dropout=0.0,
        init_std=0.1,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=3,
        **sizes,
    )
    model = transformers.BartForConditionalGeneration(config)
    batch = tokenizer(list(texts), return_tensors="pt", padding=True)
    labels = tokenizer(list(texts.values()), return_tensors="pt", padding=True)["input_ids"]
    labels[labels == 0] = -100
    learn(model, {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "labels": labels}, 600)
    model.save_pretrained(folder)
    return folder
