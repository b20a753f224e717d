"""Pure functions on numbers, arrays and frames. Knows nothing of the store."""
