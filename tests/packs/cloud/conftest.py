"""For tests of cloud services: waits between tries that take no time, and no credentials of whoever runs them."""

import pytest


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("audit.systems.asking.FIRST_WAIT", 0.001)


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "GOOGLE_CLOUD_PROJECT", "GCE_METADATA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "CLOUDSDK_CONFIG"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
