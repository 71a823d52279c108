"""Parameters of the flows run and search as the UI's form gives them: described, and they take effect."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.blocks.system import Secret
from prefect.client.orchestration import get_client
from prefect.utilities.callables import parameter_schema

from flows.results import value_of
from flows.run import run
from flows.search import search
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("prefect")]
KEY, HEADER = "sk-of-the-form-7", "header-of-the-form-7"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("form") / "set", [Wish("a", 16)] * 12)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """The fourth request gets no answer, the seventh an error: their second attempts are answered."""
    ways = {4: "silent", 7: "http_500"}
    with FakeServer(behave=lambda number, prompt: ways.get(number, "ok")) as fake:
        yield fake


@pytest.fixture(scope="module")
def blocks(prefect: None) -> None:
    Secret(value=KEY).save("form-key", overwrite=True)  # type: ignore[arg-type]
    Secret(value=HEADER).save("form-header", overwrite=True)  # type: ignore[arg-type]


SENDING: dict[str, Any] = {
    "gating": "none",
    "isolation": "none",
    "allow_residue": True,
    "processes": 2,
    "api_key": "form-key",
    "header": ["X-Plain: seen", "X-Secret: secret:form-header"],
    "extra_body": '{"top_k": 3}',
    "retries": 1,
    "retry_wait": 0.01,
    "engine_warmup": 2,
    "timeout": 20.0,
    "connect_timeout": 3.0,
    "first_byte_timeout": 0.4,
    "total_timeout": 30.0,
}
TIMEOUTS = {"connect": 3.0, "idle": 20.0, "first_byte": 0.4, "total": 30.0}


def check_sending(server: FakeServer, run_dir: Path) -> dict[str, Any]:
    """What a run's folder and the server saw of SENDING; the run's options."""
    options = read_json(run_dir / "runtime" / "run.json")["options"]
    assert isinstance(options, dict)
    assert options["timeouts_s"] == TIMEOUTS
    assert (options["processes"], options["retries"], options["engine_warmup"]) == (2, 1, 2)
    assert options["headers"] == ["X-Plain", "X-Secret"]
    for headers, body in server.requests("/v1/completions"):
        assert (headers["x-plain"], headers["x-secret"]) == ("seen", HEADER)
        assert headers["authorization"] == f"Bearer {KEY}"
        assert body["top_k"] == 3
    return options


def nothing_kept(folder: Path) -> None:
    for path in folder.rglob("*"):
        assert not (path.is_file() and (KEY.encode() in path.read_bytes() or HEADER.encode() in path.read_bytes()))
    with get_client(sync_client=True) as client:
        kept = json.dumps([each.parameters for each in client.read_flow_runs()], default=str)
    assert KEY not in kept
    assert HEADER not in kept


def test_a_run_obeys_its_form(server: FakeServer, blocks: None, dataset: Path, tmp_path: Path) -> None:
    report = value_of(
        run(
            dataset=str(dataset),
            url=[server.url],
            run_dir=str(tmp_path / "run"),
            load="poisson:100",
            max_in_flight=5,
            limit=10,
            duration=30.0,
            slo="e2e=50",
            return_state=True,
            **SENDING,
        )
    )
    options = check_sending(server, tmp_path / "run")
    assert (options["load"], options["max_in_flight"], options["limit"]) == ("poisson:100", 5, 10)
    assert report["slo"] == {"e2e_s": 50.0}
    (measured,) = report["passes"]
    assert measured["sending"]["sent"] == 10
    assert (measured["goodput"]["good_requests"], measured["goodput"]["only_by_retry"]) == (8, 2)
    rows = list(read_jsonl(tmp_path / "run" / "runtime" / "request_results.jsonl"))
    assert sorted(reason for row in rows for reason in row["retried"]) == ["first_byte_timeout", "http_500"]
    moments = [row["scheduled_s"] for row in rows]
    assert len(set(moments)) == 10, "an open load gives each request a moment of its own"
    nothing_kept(tmp_path)


def test_a_search_obeys_its_form(server: FakeServer, blocks: None, dataset: Path, tmp_path: Path) -> None:
    report = value_of(
        search(
            dataset=str(dataset),
            url=[server.url],
            run_dir=str(tmp_path / "search"),
            slo="e2e=50",
            over="rate",
            low=100,
            high=200,
            resolution=100,
            attainment=0.5,
            max_in_flight=6,
            return_state=True,
            **SENDING,
        )
    )
    assert [(point["value"], point["meets"]) for point in report["points"]] == [(100, True), (200, True)]
    for value in (100, 200):
        options = check_sending(server, tmp_path / "search" / "points" / f"rate-{value}")
        assert (options["load"], options["max_in_flight"]) == (f"poisson:{value}", 6)
    nothing_kept(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kv_events": ["tcp://*:1"]}, "kv_events"),
        ({"slo": "nonsense"}, "slo"),
        ({"first_byte_timeout": 0}, "first_byte_timeout"),
        ({"load": "closed:3", "max_in_flight": 3}, "max_in_flight"),
        ({"header": ["X: secret:no-such-block"]}, "header"),
        ({"api_key": "no-such-block"}, "api_key"),
        ({"url": ["ftp://h"]}, "url"),
    ],
)
def test_a_mistake_is_named_as_the_form_names_it(
    wrong: dict[str, Any], field: str, dataset: Path, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    given: dict[str, Any] = {"dataset": str(dataset), "url": [url], "run_dir": str(tmp_path / "run")}
    state = run(**given | wrong, return_state=True)
    assert state.is_failed()
    assert f"{field}: " in (state.message or "")
    with pytest.raises(InputError) as caught:
        value_of(state)
    assert caught.value.field == field
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("flow", [run, search], ids=["run", "search"])
def test_every_field_of_the_form_is_described(flow: Any) -> None:
    fields = parameter_schema(flow).model_dump()["properties"]
    for name, field in fields.items():
        text = field.get("description") or ""
        assert text.endswith("."), name
        assert "Repeatable" not in text
        assert not any(f"--{known.replace('_', '-')}" in text.split() for known in fields), text
    assert "secret:BLOCK" in fields["header"]["description"]
    assert fields["isolation"]["enum"] == ["auto", "reset", "salt", "variant", "none"]
    assert fields["retries"]["type"] == "integer"
