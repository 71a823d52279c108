"""What a user writes: the configuration model, read from YAML and checked."""

from prefixcache.config.dataset import PrefixCacheDatasetConfig
from prefixcache.config.load import LoadedConfig, load_config, parse_config

__all__ = ["LoadedConfig", "PrefixCacheDatasetConfig", "load_config", "parse_config"]
