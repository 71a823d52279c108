"""Secrets in a flow's parameters: Prefect's records hold names, never values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prefect.blocks.system import Secret

from flows.secrets import secret, unveiled, unveiled_body, veiled, veiled_body
from flows.stored_parameters import recalled, stored
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


BODY = '{"top_k": 1, "flag": true, "user": {"key": "sk-PLANTED1", "also": ["sk-PLANTED2", "short", 0.5, null]}}'


def test_longer_texts_of_the_body_are_veiled_and_come_back() -> None:
    shown = veiled_body(BODY)
    assert "PLANTED" not in shown
    found = json.loads(shown)
    assert (found["top_k"], found["flag"], found["user"]["also"][1:]) == (1, True, ["short", 0.5, None])
    assert found["user"]["key"] != found["user"]["also"][0]
    assert veiled_body(BODY) == shown
    assert json.loads(unveiled_body(shown)) == json.loads(BODY)
    plain = '{ "top_k" : 1,  "n": "secret:my-block" }'
    assert veiled_body(plain) == plain
    assert veiled_body('{"key": "sk-PLANTED') == ""
    assert unveiled_body("{") == "{"  # told later, as wherever it is given


def test_what_prefect_stores_of_a_command(tmp_path: Path) -> None:
    given = {"url": ["http://h:1"], "extra_body": BODY, "header": ["X-Key: sk-PLANTED3"], "dataset": tmp_path}
    kept = stored(given, set(given))
    assert "PLANTED" not in repr(kept)
    back = recalled(kept)
    assert json.loads(back["extra_body"]) == json.loads(BODY)
    assert list(back["header"]) == given["header"]


@pytest.mark.usefixtures("prefect")
def test_a_secret_block_within_the_body() -> None:
    Secret(value="sk-BODY-BLOCK").save("prefixcache-test-body", overwrite=True)  # type: ignore[arg-type]
    given = '{"user": {"key": "secret:prefixcache-test-body"}}'
    assert json.loads(unveiled_body(given)) == {"user": {"key": "sk-BODY-BLOCK"}}
    with pytest.raises(InputError) as caught:
        unveiled_body('{"key": "secret:no-such-block"}')
    assert (caught.value.field, "no-such-block" in str(caught.value)) == ("extra_body", True)
