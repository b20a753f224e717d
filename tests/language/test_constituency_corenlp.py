"""CoreNLP over HTTP, against a local server that stands for it; its answers have the form of CoreNLP 4.5."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from audit.errors import Declined, Unanswered
from audit.packs.translation.constituency.corenlp import CoreNlp

pytest.importorskip("requests")

PARSES = {
    "Dogs bark (a lot).": [
        "(ROOT\n  (S (NP (NNS Dogs)) (VP (VBP bark) (-LRB- -LRB-) (NP (DT a) (NN lot)) (-RRB- -RRB-)) (. .)))"
    ],
    "Yes. No.": ["(ROOT (INTJ (UH Yes) (. .)))", "(ROOT (INTJ (UH No) (. .)))"],
    "Les chiens dorment.": ["(ROOT (SENT (NP (DET Les) (NOUN chiens)) (VN (VERB dorment)) (PUNCT .)))"],
    "1": ["(ROOT (NP (CD 1)))"],
    "": [],
}


@contextmanager
def server(languages=("en", "fr")):
    """What it was asked is in `asked`."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.reply(200, b"live")

        def do_POST(self):
            settings = json.loads(parse_qs(urlsplit(self.path).query)["properties"][0])
            text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
            requests.append((settings["pipelineLanguage"], settings["annotators"], text))
            if settings["pipelineLanguage"] not in languages or text not in PARSES:
                self.reply(500, b"java.lang.RuntimeException: no such model")
            else:
                found = {"sentences": [{"index": at, "parse": one} for at, one in enumerate(PARSES[text])]}
                self.reply(200, json.dumps(found).encode())

        def reply(self, status, content):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked = requests
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield httpd
    finally:
        httpd.shutdown()
        httpd.server_close()


def parser_at(httpd):
    return CoreNlp(f"http://127.0.0.1:{httpd.server_address[1]}")


def test_trees_of_one_and_of_several_sentences():
    with server() as httpd:
        parser = parser_at(httpd)
        assert parser.needs() is None
        first, second, none = parser.parse(["Dogs bark (a lot).", "Yes. No.", ""], "en")
        assert first.leaves() == ["Dogs", "bark", "(", "a", "lot", ")", "."]
        assert (first.label(), first[0].label()) == ("TOP", "S")
        assert [part.label() for part in second] == ["INTJ", "INTJ"]
        assert none is None
        (french,) = parser.parse(["Les chiens dorment."], "fr")
        assert french[0].label() == "SENT"
        assert httpd.asked[0] == ("en", "tokenize,ssplit,pos,parse", "Dogs bark (a lot).")
        assert httpd.asked[-1][0] == "fr"
        assert parser.version == f"CoreNLP at http://127.0.0.1:{httpd.server_address[1]}, rules 1"


def test_a_text_that_the_server_fails_at_has_no_tree():
    with server() as httpd:
        trees = parser_at(httpd).parse(["strange", "Yes. No.", "stranger", "\ud800"], "en")
        assert [tree is not None for tree in trees] == [False, True, False, False]
        # After the first failure a word that any server parses is asked for, once.
        assert [text for _, _, text in httpd.asked] == ["strange", "1", "Yes. No.", "stranger", "?"]


def test_a_server_without_the_language():
    with (
        server() as httpd,
        pytest.raises(Declined, match=r"parses no text of the language 'zh' \(.*500.*start it with"),
    ):
        parser_at(httpd).parse(["你好。"], "zh")


def test_nobody_answers():
    with server() as httpd:
        parser = parser_at(httpd)
    assert parser.needs().startswith("no CoreNLP server answers at http://127.0.0.1:")
    with pytest.raises(Unanswered, match=r"start one in CoreNLP's directory with: java"):
        parser.parse(["Dogs bark."], "en")
