"""Secrets in a flow's parameters: Prefect's records hold names, never values."""

from __future__ import annotations

import pytest
from prefect.blocks.system import Secret

from flows.secrets import secret, unveiled, veiled
from prefixcache.errors import InputError


def test_headers_are_veiled_and_come_back() -> None:
    lines = ["X-Key: sk-ONE", "X-Key: sk-TWO", "Authorization: secret:my-block"]
    shown = veiled(lines)
    assert not any("sk-" in line for line in shown)
    assert len(set(shown)) == 3 and shown[2] == lines[2]
    assert veiled(lines) == shown
    assert unveiled(shown[:2]) == tuple(lines[:2])


def test_a_line_without_a_name_is_no_header() -> None:
    assert veiled(["sk-SECRET"]) == [""]


@pytest.mark.usefixtures("prefect")
def test_values_of_secret_blocks_are_fetched() -> None:
    Secret(value="sk-BLOCK").save("prefixcache-test-key", overwrite=True)  # type: ignore[arg-type]
    assert secret("prefixcache-test-key", "api_key") == "sk-BLOCK"
    assert unveiled(["X-Key: secret:prefixcache-test-key"]) == ("X-Key: sk-BLOCK",)
    with pytest.raises(InputError) as caught:
        secret("no-such-block", "api_key")
    assert (caught.value.field, "no-such-block" in str(caught.value)) == ("api_key", True)
