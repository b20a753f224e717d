"""A plug-in of audit: installed, it is found by its entry point; else `audit_example.plugin` is loaded by its name."""
