"""One script a version; each leads from the one before it."""
