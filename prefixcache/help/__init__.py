"""Help for people: what every key, field, code and status means, and the command line's words in two languages."""
