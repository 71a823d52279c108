"""The programming interface of RFC 3.5: its objects, its functions, and the classes of its sequence.

Thin views over the rooms that do the work; `import prefixcache` offers all names without loading them.
"""
