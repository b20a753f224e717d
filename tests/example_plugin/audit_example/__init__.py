"""A plug-in of audit. Installed, its entry points are found; otherwise `audit_example.plugin` is loaded by its name."""
