"""The stages of a dataset's making, each a pure function from a job and artifacts to an artifact."""
