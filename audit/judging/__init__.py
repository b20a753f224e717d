"""Whatever changes an answer, or puts a question off: each in one unit of work, with the queue that follows from it."""
