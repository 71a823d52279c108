"""Faults by plan: what a server can do to its clients, request by request, as a YAML file of rules says.

ASGI knows no resets and no malformed HTTP, so with a plan the application stands behind an HTTP server of this room
(``front``) instead of uvicorn. Without a plan nothing of this is imported. The rules are described in docs/faults.md.
"""
