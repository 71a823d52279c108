"""JSON Schemas (draft 2020-12) of the configuration and of every JSON artifact, and the versions readers accept."""
