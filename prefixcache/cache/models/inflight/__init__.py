"""Requests in flight: what a scheduler with a bounded pool does with requests that overlap."""

from __future__ import annotations

from prefixcache.cache.models.inflight.gating import GatePlan
from prefixcache.cache.models.inflight.model import InflightModel, InflightServed, Usage, simulate_inflight
from prefixcache.cache.models.inflight.settings import Pace, SchedulerSettings

__all__ = ["GatePlan", "InflightModel", "InflightServed", "Pace", "SchedulerSettings", "Usage", "simulate_inflight"]
