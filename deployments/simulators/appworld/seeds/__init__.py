"""The seeds: what people of the small world ask for, each with one right way to do it."""
