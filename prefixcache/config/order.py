"""Send order (RFC 3.3.9; domain.md 4)."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from prefixcache.config.base import ConfigModel, RuleError

WithinGroup = Literal["generated", "shuffle", "input_len_asc", "input_len_desc", "prefix_len_asc", "prefix_len_desc"]
AcrossGroup = Literal[
    "interleave",
    "grouped",
    "weighted_interleave",
    "shuffle",
    "sequential",
    "input_len_asc",
    "input_len_desc",
    "prefix_len_asc",
    "prefix_len_desc",
]
# The RFC's flat names: (within, across); None keeps the default of the execution mode.
FLAT: dict[str, tuple[WithinGroup | None, AcrossGroup]] = {
    "sequential": ("generated", "sequential"),
    "shuffle": ("shuffle", "shuffle"),
    "grouped": (None, "grouped"),
    "interleave": (None, "interleave"),
    "weighted_interleave": (None, "weighted_interleave"),
    "input_len_asc": ("input_len_asc", "input_len_asc"),
    "input_len_desc": ("input_len_desc", "input_len_desc"),
    "prefix_len_asc": ("prefix_len_asc", "prefix_len_asc"),
    "prefix_len_desc": ("prefix_len_desc", "prefix_len_desc"),
}


class OrderConfig(ConfigModel):
    mode: AcrossGroup | None = None
    """One of the nine flat names; shorthand for the two keys below."""
    within_group: WithinGroup | None = None
    across_group: AcrossGroup | None = None
    preserve_group_dependency: bool = True
    """The merge decides which group sends at each position; the group's requests fill its positions in order."""

    @model_validator(mode="after")
    def _mode_or_parts(self) -> OrderConfig:
        if self.mode is not None and (self.within_group is not None or self.across_group is not None):
            raise RuleError(
                f"{self.mode} stands beside within_group or across_group",
                field="mode",
                remedy="give either `mode` or `within_group`/`across_group`",
            )
        return self

    def resolved(self, default_within: WithinGroup) -> tuple[WithinGroup, AcrossGroup]:
        """(within, across) with the execution mode's default filled in."""
        if self.mode is not None:
            within, across = FLAT[self.mode]
            return within or default_within, across
        return self.within_group or default_within, self.across_group or "interleave"
