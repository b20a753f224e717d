"""Streamlit's settings for this app: what `audit app` passes to `streamlit run`."""

LARGEST_UPLOAD = 5
"""MB of a file that somebody uploads."""
FLAGS: dict[str, str] = {
    # Streamlit collects garbage after every rerun otherwise: 100 ms of a core for each answer (hidden option).
    "runner.postScriptGC": "false",
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "minimal",
    # Tracebacks belong in the server's log, not on an annotator's screen.
    "client.showErrorDetails": "none",
    # Streamlit's own limits are 200 MB for files and messages, 25 MB for the state of a page's widgets.
    "server.maxUploadSize": str(LARGEST_UPLOAD),
    "server.maxMessageSize": "10",
    "server.maxWidgetStateSize": "2",
    "theme.light.primaryColor": "#0b6b74",
    "theme.dark.primaryColor": "#4db4bd",
}


def arguments(port: int) -> list[str]:
    """The arguments after `streamlit run app.py`.

    >>> arguments(8501)[:4]
    ['--server.port', '8501', '--runner.postScriptGC', 'false']
    """
    return [part for name, value in {"server.port": str(port), **FLAGS}.items() for part in (f"--{name}", value)]
