"""A framework that a user describes in YAML (``--engine FILE.yaml``), for servers that the product does not know.

```yaml
name: my-engine
engine_label: dp_rank          # optional: tells the ranks of one page apart
metrics:
  queries: {name: my:lookup_tokens, kind: cumulative, unit: token}
  hits: {name: [my:hit_tokens, my:old_hit_tokens], unit: token, labels: {tier: device}}
  external_hits: {sum: [{name: my:host_hits}, {name: my:disk_hits}]}
  prompt_tokens: {name: my:prompt_tokens}
  # of a ratio since the start: hits: {ratio: {name: my:hit_rate}, of: {name: my:prompt_tokens}}
block_size: {name: my:config, label: block_size}
reset: {path: /clear}
rank_header: X-Rank
salt_field: cache_salt
```
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, ResetAnswer, ResetRoute, Traits, no_reset, whole
from prefixcache.engines.page import MetricsPage, base_name
from prefixcache.engines.quantities import MOMENTARY, Kind, Quantity, Scope, Unit
from prefixcache.engines.series import Series, Share, Source, Sum
from prefixcache.errors import InputError

MOST_BYTES = 2**20
Name = Annotated[str, Field(min_length=1, max_length=200)]
Route = Annotated[str, Field(pattern="^/[!-~]*$", max_length=200)]
# What no user's rank or salt may replace in a request.
TAKEN_HEADERS = ("authorization", "host", "connection", "content-length", "content-type", "transfer-encoding", "cookie")
TAKEN_FIELDS = ("prompt", "messages", "model", "max_tokens", "stream", "stream_options", "temperature", "seed")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SeriesText(_Model):
    """One series: ``name`` (or several spellings), ``kind``, ``unit``, ``scope``, ``labels``."""

    name: Name | Annotated[list[Name], Field(min_length=1)]
    kind: Kind = "cumulative"
    unit: Unit = "token"
    scope: Scope = "engine"
    labels: dict[str, str | Annotated[list[str], Field(min_length=1)]] = {}
    lowest: Annotated[float, Field(allow_inf_nan=False)] | None = None

    def made(self) -> Series:
        names = self.name if isinstance(self.name, list) else [self.name]
        labels = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in self.labels.items()}
        return Series(tuple(base_name(n) for n in names), self.kind, self.unit, self.scope, labels, lowest=self.lowest)


class SumText(_Model):
    """A sum of series; ``minus`` are taken off."""

    sum: list[SeriesText] = Field(min_length=1)
    minus: list[SeriesText] = []

    def made(self) -> Sum:
        terms = (*((1, t.made()) for t in self.sum), *((-1, t.made()) for t in self.minus))
        units = {series.unit for _, series in terms}
        if len(units) > 1:
            raise ValueError(f"a sum of different units ({', '.join(sorted(units))})")
        return Sum(terms)


class ShareText(_Model):
    """A cumulative ratio times the counter that it is a ratio of."""

    ratio: SeriesText
    of: SeriesText

    def made(self) -> Share:
        ratio = self.ratio.model_copy(update={"unit": "ratio", "kind": "gauge"})
        return Share(ratio.made(), self.of.made())


SourceText = SeriesText | SumText | ShareText


class SizeText(_Model):
    """Where a size stands: the value of a metric, or one of its labels."""

    name: Name
    label: str | None = None


class ResetText(_Model):
    """A route that empties the cache by POST; HTTP 200 means that it was asked, which the run verifies."""

    path: Route


class AdapterText(_Model):
    """The file as a whole."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
    engine_label: Name = "engine"
    metrics: dict[Quantity, SourceText | Annotated[list[SourceText], Field(min_length=1)]]
    block_size: SizeText | None = None
    default_block_size: Annotated[int, Field(gt=0)] | None = None
    reset: ResetText | None = None
    rank_header: Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", max_length=200)] | None = None
    salt_field: Annotated[str, Field(pattern=r"^\S+$", max_length=200)] | None = None
    info_paths: list[Route] = ["/server_info"]
    tiers: Literal["counted", "none", "in_hits", "uncounted"] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> AdapterText:
        for one, other in ((Quantity.QUERIES, Quantity.HITS), (Quantity.EXTERNAL_QUERIES, Quantity.EXTERNAL_HITS)):
            units = [{s.unit for s in self.sources(q)} for q in (one, other)]
            if all(units) and units[0] != units[1]:
                raise ValueError(f"{one} and {other} are of different units")
        for quantity in self.metrics:
            for source in self.sources(quantity):
                if quantity not in MOMENTARY and (source.kind != "cumulative" or source.unit == "ratio"):
                    what = source.unit if source.unit == "ratio" else source.kind
                    raise ValueError(f"metrics.{quantity} is a {what}: only what is cumulative has a difference")
        if (self.rank_header or "").lower() in TAKEN_HEADERS:
            raise ValueError(f"rank_header {self.rank_header} has a meaning of its own")
        if self.salt_field in TAKEN_FIELDS:
            raise ValueError(f"salt_field {self.salt_field} has a meaning of its own")
        if Quantity.QUERIES not in self.metrics or Quantity.HITS not in self.metrics:
            raise ValueError("metrics must name queries and hits")
        return self

    def sources(self, quantity: Quantity) -> tuple[Source, ...]:
        found = self.metrics.get(quantity, [])
        return tuple(text.made() for text in (found if isinstance(found, list) else [found]))


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once: of two the first would be lost without a word."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Any:
    keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise yaml.MarkedYAMLError(None, None, f"key {key!r} stands twice", node.value[place][0].start_mark)
    return yaml.SafeLoader.construct_yaml_map(loader, node)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
# Parts of pydantic's paths that name a kind and no key.
_KIND = re.compile(r"Text$|^(constrained-)?str$|\[")


def load_adapter(path: Path) -> Adapter:
    """Read a description.

    Raises:
        InputError: no such file, no YAML, or a description that is none; the message names the key.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise _wrong(path, reason, "Give an existing file.") from None
    if len(data) > MOST_BYTES:
        raise _wrong(path, f"it has more than {MOST_BYTES:,} bytes", "Describe one framework in it.")
    try:
        text = yaml.load(data.decode("utf-8"), Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        # The latter ones: no text, a number of 5,000 digits, `!!int x`.
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        what = str(getattr(error, "problem", "")) if "stands twice" in str(error) else "it is no YAML"
        raise _wrong(path, f"{what}{where}", "Write it as in docs/engines.md.") from None
    if not isinstance(text, dict):
        raise _wrong(path, "it is no mapping", "Begin with `name:` and `metrics:`, as in docs/engines.md.")
    try:
        return _adapter(AdapterText.model_validate(text))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if not _KIND.search(str(part)))
        message = first["msg"].removeprefix("Value error, ")
        raise _wrong(path, f"{key or 'it'}: {message}", "Correct that key; docs/engines.md has an example.") from None


def _wrong(path: Path, message: str, remedy: str) -> InputError:
    return InputError(f"{path.name}: {message}", field="engine", remedy=remedy)


def _adapter(text: AdapterText) -> Adapter:
    metrics: dict[Quantity, Metric] = {q: text.sources(q) for q in text.metrics}
    counted = Quantity.EXTERNAL_HITS in metrics
    names = tuple(dict.fromkeys(n for sources in metrics.values() for s in _sources(sources) for n in s.all_names))
    return Adapter(
        name=text.name,
        marks=names,
        metrics=metrics,
        traits=Traits(title=text.name, default_block_size=text.default_block_size),
        engine_label=text.engine_label,
        cache_facts=_facts(text.block_size),
        reset=_reset(text.reset),
        rank_header=text.rank_header,
        info_paths=tuple(text.info_paths),
        salt_field=text.salt_field,
        tiers=text.tiers or ("counted" if counted else "uncounted"),
        described=True,
    )


def _sources(metric: Metric) -> tuple[Source, ...]:
    return metric if isinstance(metric, tuple) else ()


def _reset(text: ResetText | None) -> ResetRoute:
    if text is None:
        return no_reset("restart the server, or describe its route under `reset` of the file for --engine")

    def judge(status: int, body: bytes) -> ResetAnswer:
        if status in (404, 405):
            return "absent"
        return "unconfirmed" if status == 200 else "refused"

    return ResetRoute(text.path, {}, judge, f"look why {text.path} fails")


def _facts(size: SizeText | None) -> Any:
    def read(page: MetricsPage) -> CacheFacts:
        found = page.named(base_name(size.name)) if size is not None else ()
        if not found or size is None:
            return CacheFacts()
        return CacheFacts(block_size=whole(found[0].labels.get(size.label) if size.label else found[0].value))

    return read
