"""Studies as they are planned: files of plans, their versions, carrying them out, and what became of them."""
