"""The engines that the reference engine can pose as: their metrics pages, their routes, their answers."""
