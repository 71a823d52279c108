"""Whatever a file holds, it is loaded or refused in one message."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from tests.config.sample import full
from tests.config.writing import MINIMAL

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["cold", "hot", "fixed", "explicit", "per_group", "shuffle", "1e400", "-0", "0x1", "~", "", "\0", "ä"]
    ),
    st.dates(),
    st.binary(max_size=4),
)
KEYS = st.one_of(
    st.sampled_from(
        ["mode", "value", "values", "file", "id", "groups", "hit_ratio", "prefix_cache_dataset", "target_prefix_ratio"]
    ),
    st.text(max_size=5),
    st.integers(-2, 2),
    st.booleans(),
    st.none(),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into nested dicts and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in places(item, (*path, key)))]


def changed(raw: Any, path: tuple[Any, ...], action: str, key: Any, value: Any) -> Any:
    """A copy with one place replaced, removed, or given one more entry."""
    raw = copy.deepcopy(raw)
    if not path:
        return value if action == "replace" else raw
    parent = raw
    for part in path[:-1]:
        parent = parent[part]
    if action == "remove":
        del parent[path[-1]]
    elif action == "add" and isinstance(parent[path[-1]], dict):
        parent[path[-1]][key] = value
    elif action == "add" and isinstance(parent[path[-1]], list):
        parent[path[-1]].append(value)
    else:
        parent[path[-1]] = value
    return raw


@given(st.data(), st.sampled_from(["full", "shorthand", "nested"]), st.booleans())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_configuration_loads_or_is_refused(
    load: Any, data: st.DataObject, kind: str, through_settings: bool
) -> None:
    raw: Any = full()
    if kind == "shorthand":
        raw = {**{key: raw[key] for key in ("request_count", "block_size", "input_length")}, "target_prefix_ratio": 0.5}
    elif kind == "nested":
        raw = {"prefix_cache_dataset": raw}
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(raw)))
        action = data.draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        raw = changed(raw, path, action, data.draw(KEYS), data.draw(TREES))
        if not isinstance(raw, (dict, list)):
            break
    try:
        text = yaml.safe_dump(raw, allow_unicode=True)
        flags = (
            {"settings": [f"{data.draw(st.text(max_size=9))}={data.draw(st.text(max_size=9))}"]}
            if through_settings
            else {}
        )
        loaded = load(text.encode("utf-8", "surrogatepass"), **flags)
    except InputError as error:
        assert error.exit_code == 2
        assert error.remedy
        assert "\n" not in str(error)
    else:
        assert isinstance(loaded.config, PrefixCacheDatasetConfig)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_loads_or_is_refused(load: Any, text: str) -> None:
    for whole in (text, MINIMAL + text, MINIMAL.replace("100", text)):
        try:
            assert load(whole.encode("utf-8", "surrogatepass"))
        except InputError as error:
            assert "\n" not in str(error)


@given(st.binary(max_size=40))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_load_or_are_refused(load: Any, content: bytes) -> None:
    try:
        load(content)
    except InputError as error:
        assert "\n" not in str(error)
