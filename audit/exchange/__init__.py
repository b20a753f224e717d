"""What leaves a database and what comes from elsewhere: exports, imports, replays, training data, totals of others."""
