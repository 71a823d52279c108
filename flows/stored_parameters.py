"""A flow's parameters as Prefect may keep them, and the real ones again: it stores parameters and shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from flows.addresses import real, shown
from flows.secrets import secret, unveiled, unveiled_body, veiled, veiled_body

ADDRESSES = ("url", "metrics_url")
SINGLE = ("proxy", "prometheus")
FILES = ("ca_file", "probe_report")


def stored(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """What a command hands to a flow: paths absolute, no credential in addresses, headers and
    the extra body.

    Args:
        given: the command's parameters, checked.
        names: those that the flow has.
    """
    kept = {name: _absolute(name, value) for name, value in given.items() if name in names}
    kept |= {name: shown(kept[name]) for name in ADDRESSES if kept.get(name)}
    kept |= {name: shown([kept[name]])[0] for name in SINGLE if kept.get(name)}
    if kept.get("header"):
        kept["header"] = veiled(kept["header"])
    if kept.get("extra_body"):
        kept["extra_body"] = veiled_body(kept["extra_body"])
    return kept


def _absolute(name: str, value: Any) -> Any:
    if isinstance(value, Path) or (name in FILES and value):
        return str(Path(value).resolve())
    return value


def recalled(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`stored` was given; values of Secret blocks are fetched, and a dataset behind an address.

    Raises:
        InputError: there is no such block or folder.
        EnvironmentFailure: the dataset could not be fetched.
    """
    from flows.paths import dataset_folder

    given = dict(parameters)
    given |= {name: real(given[name]) for name in ADDRESSES if given.get(name)}
    given |= {name: real([given[name]])[0] for name in SINGLE if given.get(name)}
    if given.get("variant_dataset"):
        given["variant_dataset"] = dataset_folder(given["variant_dataset"], "variant_dataset")
    if given.get("api_key"):
        given["api_key"] = secret(given["api_key"], "api_key")
    given["header"] = unveiled(given.get("header") or ())
    if given.get("extra_body"):
        given["extra_body"] = unveiled_body(given["extra_body"])
    return given
