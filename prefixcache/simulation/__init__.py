"""What a dataset or a request trace would hit in a cache of a given engine, size and routing."""
