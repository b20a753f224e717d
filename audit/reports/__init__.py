"""Tables, charts and files of results: one report document, and its forms for terminal, browser and other tools."""
