"""Scripts that the peers' own Python runs; none of them imports prefixcache."""
