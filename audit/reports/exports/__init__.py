"""Exports: a whole database as files, back again, and the numbers of its report once more.

They are in this room because an export has the report in it; how tables become files and rows again is in
`audit.store.dump`, which knows nothing of reports.
"""
