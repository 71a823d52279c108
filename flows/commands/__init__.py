"""The commands of `prefixcache`, one file each."""
