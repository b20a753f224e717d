"""Pure functions on numbers, arrays and frames, one estimator a file. Knows nothing of the store."""
