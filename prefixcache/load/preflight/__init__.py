"""Before the load: what contradicts the plan, what it will cost, and sizes that a service is asked for."""
