"""For tests of cloud services: waits between tries that take no time, and no credentials of whoever runs them."""

import pytest

from audit.systems.asking import Asking


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    defaults = Asking.__init__.__defaults__
    monkeypatch.setattr(Asking.__init__, "__defaults__", (*defaults[:-2], 0.001, None))


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "GOOGLE_CLOUD_PROJECT", "GCE_METADATA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "CLOUDSDK_CONFIG"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
