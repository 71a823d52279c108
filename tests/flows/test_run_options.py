"""Commands and flows make a run's options in one place: no parameter is lost, and defaults are the library's."""

from __future__ import annotations

import json
import re
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from flows import service_options
from flows.cli import app
from flows.commands.run import run as run_command
from flows.commands.search import search as search_command
from flows.field_names import name_flags, name_parameters
from flows.run import run as run_flow
from flows.run_options import options_of, search_of
from flows.search import search as search_flow
from prefixcache.analysis.slo_search import Loads
from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.options import Isolation, RunOptions, SendChoice
from prefixcache.load.sending.gate import GATINGS
from prefixcache.load.sending.options import Api

URL = "http://127.0.0.1:1"
CHOSEN: dict[str, Any] = {
    "url": ["http://127.0.0.1:2"],
    "metrics_url": [f"{URL}/metrics"],
    "model": "m",
    "concurrency": 3,
    "load": "poisson:5",
    "max_in_flight": 7,
    "duration": 9.0,
    "limit": 5,
    "gating": "none",
    "send": "ids",
    "isolation": "salt",
    "variant_dataset": Path("other"),
    "allow_residue": True,
    "overwrite": True,
    "without_prompts": True,
    "insecure": True,
    "proxy": "http://127.0.0.1:3",
    "kv_events": ["tcp://127.0.0.1:5"],
    "kv_events_replay": ["tcp://127.0.0.1:6"],
    "slo": "e2e=3",
    "processes": 2,
    "api": "generate",
    "api_key": "k",
    "header": ["X-A: b"],
    "extra_body": '{"top_k": 1}',
    "retries": 2,
    "retry_wait": 0.25,
    "engine_warmup": 4,
    "rank_field": "rank",
    "connect_timeout": 1.0,
    "first_byte_timeout": 2.0,
    "total_timeout": 3.0,
    "timeout": 4.0,
    "engine": "sglang",
    "role": ["prefill"],
    "metrics_model": "m",
    "prometheus": "http://127.0.0.1:9",
    "selector": '{job="a"}',
    "probe_report": "probe.json",
    "allow_misfit": True,
    "no_predict": True,
    "prefill_tps": 5.0,
    "decode_tps": 6.0,
}
BESIDE: dict[str, dict[str, Any]] = {
    "max_in_flight": {"load": "poisson:5"},
    "kv_events_replay": {"kv_events": ["tcp://127.0.0.1:5"]},
    "selector": {"prometheus": "http://127.0.0.1:9"},
}
NO_OPTION = {"dataset", "run_dir", "language", "lang", "live", "dry_run", "no_prefect", "as_json", "ca_file"}
OF_SEARCH = {"over", "low", "high", "resolution", "attainment", "confirm", "pass_name", "points"}
ALL = (run_command, search_command, run_flow.fn, search_flow.fn)


def defaults_of(function: Any) -> dict[str, Any]:
    parameters = signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not Parameter.empty}


@pytest.mark.parametrize("name", CHOSEN)
def test_every_parameter_changes_the_options(name: str) -> None:
    beside = {"url": [URL]} | BESIDE.get(name, {})
    assert options_of(beside | {name: CHOSEN[name]}) != options_of(beside)


def test_no_parameter_was_forgotten_above() -> None:
    for function in ALL:
        assert set(signature(function).parameters) - NO_OPTION - OF_SEARCH <= set(CHOSEN)


@pytest.mark.parametrize("function", [run_command, run_flow.fn], ids=["command", "flow"])
def test_defaults_are_those_of_the_library(function: Any) -> None:
    assert options_of(defaults_of(function) | {"url": [URL]}) == options_of({"url": [URL]}) == RunOptions(urls=(URL,))


@pytest.mark.parametrize("function", [search_command, search_flow.fn], ids=["command", "flow"])
def test_a_search_has_the_options_of_a_run_but_for_its_load(function: Any, tmp_path: Path) -> None:
    given = defaults_of(function) | {"url": [URL], "slo": "e2e=3", "over": "rate", "max_in_flight": 9}
    points, bounds = search_of(given, tmp_path, tmp_path, None)
    assert points.options == RunOptions(urls=(URL,))
    assert (points.max_in_flight, str(points.slo), bounds.attainment) == (9, "e2e=3", 0.99)
    alone = {"concurrency", "load", "overwrite", "without_prompts", "kv_events", "kv_events_replay", "dry_run"}
    alone |= {"prefill_tps", "decode_tps"}
    assert set(signature(search_command).parameters) - OF_SEARCH == set(signature(run_command).parameters) - alone
    assert set(signature(search_flow.fn).parameters) - OF_SEARCH == set(signature(run_flow.fn).parameters) - alone


def test_given_loads_instead_of_a_range(tmp_path: Path) -> None:
    given = defaults_of(search_command) | {"url": [URL], "slo": "e2e=3", "points": "8, 1,2.0"}
    _, loads = search_of(given, tmp_path, tmp_path, None)
    assert isinstance(loads, Loads)
    assert ([int(value) for value in loads.values], loads.attainment) == ([1, 2, 8], 0.99)
    for wrong, field in (
        ({"points": ""}, "--points"),
        ({"points": "1,two"}, "--points"),
        ({"points": "1,1"}, "--points"),
        ({"points": "0,1"}, "--points"),
        ({"points": "1,2.5"}, "--points"),
        ({"points": "1,200000"}, "--points"),
        ({"points": ",".join(map(str, range(1, 1002)))}, "--points"),
        ({"low": 2}, "low"),
        ({"resolution": 2}, "resolution"),
        ({"confirm": 0}, "confirm"),
        ({"attainment": 2}, "--attainment"),
    ):
        with pytest.raises(InputError) as caught:
            search_of(given | wrong, tmp_path, tmp_path, None)
        assert (caught.value.field, bool(caught.value.remedy)) == (field, True)
        assert re.search(r"[\u4e00-\u9fff]", chinese_of(caught.value.message)) or field == "--attainment"
    _, loads = search_of(given | {"points": "1,2.5", "over": "rate"}, tmp_path, tmp_path, None)
    assert isinstance(loads, Loads) and str(loads.high) == "2.5"


def test_command_and_flow_share_their_options() -> None:
    """One annotation for both, so that one help text and one set of choices; only places have forms of their own."""
    for command, flow in ((run_command, run_flow.fn), (search_command, search_flow.fn)):
        of_command, of_flow = (get_type_hints(each, include_extras=True) for each in (command, flow))
        shared = set(of_command) & set(of_flow) - {"return", "dataset", "run_dir", "variant_dataset"}
        assert {name for name in shared if of_command[name] != of_flow[name]} == set()
        assert defaults_of(command) | defaults_of(flow) == defaults_of(flow) | defaults_of(command)


def test_choices_are_those_of_the_library() -> None:
    hints = get_type_hints(run_command)
    assert get_args(hints["send"]) == get_args(SendChoice)
    assert get_args(hints["isolation"]) == get_args(Isolation)
    assert get_args(hints["api"]) == get_args(Api)
    assert get_args(get_args(service_options.Gating)[0])[0].__args__ == GATINGS


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("url", "ftp://h", "url"),
        ("metrics_url", "ftp://h", "metrics_url"),
        ("timeout", 0, "timeout"),
        ("total_timeout", -1, "total_timeout"),
        ("retry_wait", float("nan"), "retry_wait"),
        ("header", "no colon", "header"),
        ("extra_body", "[]", "extra_body"),
        ("slo", "nonsense", "--slo"),
        ("kv_events", "tcp://*:1", "--kv-events"),
        ("kv_events_replay", "tcp://h:1", "--kv-events-replay"),
        ("load", "poisson", "load"),
        ("rank_field", "prompt", "rank_field"),
    ],
)
def test_a_mistake_names_the_flag_on_the_command_line_and_the_parameter_in_a_form(
    name: str, value: Any, field: str, tmp_path: Path
) -> None:
    listed = name in ("url", "metrics_url", "header", "kv_events", "kv_events_replay")
    given = {"url": [URL], name: [value] if listed else value}
    with pytest.raises(InputError) as caught:
        options_of(given)
    assert caught.value.field == field
    flag = "--" + name.replace("_", "-")
    name_flags(caught.value, CHOSEN)
    assert caught.value.field == flag
    name_parameters(caught.value, CHOSEN)
    assert caught.value.field == name
    arguments = ["run", "-d", str(tmp_path), "--json", f"{flag}={value}"]
    told = CliRunner().invoke(app, [*arguments, *([] if name == "url" else ["-u", URL])])
    assert (told.exit_code, json.loads(told.stdout)["error"]["field"]) == (2, flag)


@pytest.mark.parametrize("name", ["concurrency", "max_in_flight", "limit", "retries", "processes", "engine_warmup"])
@pytest.mark.parametrize("number", [-1, 1 << 64, 10**40])
def test_whole_numbers_have_bounds(name: str, number: int) -> None:
    """Files and messages to other processes hold 64 bits."""
    with pytest.raises(InputError) as caught:
        options_of({"url": [URL], "load": "poisson:5" if name == "max_in_flight" else None, name: number})
    assert (caught.value.field, caught.value.message.startswith(f"{number} is not ")) == (name, True)
    assert re.search(r"[\u4e00-\u9fff]", chinese_of(caught.value.message))


@pytest.mark.parametrize(
    ("name", "value", "field"), [("max_in_flight", 1 << 64, "--max-in-flight"), ("confirm", 1 << 64, "--confirm")]
)
def test_those_of_a_search_have_too(name: str, value: int, field: str, tmp_path: Path) -> None:
    given = defaults_of(search_command) | {"url": [URL], "slo": "e2e=3", "over": "rate", name: value}
    with pytest.raises(InputError, match=" is not ") as caught:
        search_of(given, tmp_path, tmp_path, None)
    assert caught.value.field == field


@pytest.mark.parametrize("flag", ["--concurrency", "--limit", "--retries", "--max-in-flight"])
def test_a_number_of_more_than_64_bits_is_one_message(flag: str, tmp_path: Path) -> None:
    arguments = ["run", "-d", str(tmp_path), "-u", URL, "--json", flag, str(1 << 70)]
    told = CliRunner().invoke(app, [*arguments, *(["--load", "poisson:5"] if flag == "--max-in-flight" else [])])
    error = json.loads(told.stdout)["error"]
    assert (told.exit_code, error["field"]) == (2, flag)
    assert " is not " in error["message"]


def test_fields_that_are_no_parameter_stay_as_they_are() -> None:
    error = InputError("x", field="target.hit_ratio")
    name_flags(error, CHOSEN)
    name_parameters(error, CHOSEN)
    assert error.field == "target.hit_ratio"
    several = InputError("x", field="--low, --high")
    name_parameters(several, OF_SEARCH)
    assert several.field == "low, high"
    name_flags(several, OF_SEARCH)
    assert several.field == "--low, --high"
    judged = InputError("x", field="--pass")
    name_parameters(judged, OF_SEARCH)
    assert judged.field == "pass_name"


@pytest.mark.parametrize("command", ["run", "search"])
def test_a_secret_block_needs_prefect(command: str, tmp_path: Path) -> None:
    """Else its name would be sent as if it were the secret."""
    arguments = [command, "-d", tmp_path, "-u", URL, "--header", "X-Key: secret:mine", "--no-prefect", "--json"]
    arguments += ["-r", tmp_path / "new", "--slo", "e2e=1"]
    told = CliRunner().invoke(app, [str(argument) for argument in arguments])
    error = json.loads(told.stdout)["error"]
    assert (told.exit_code, error["field"]) == (2, "--header")
    assert "--no-prefect" in error["remedy"]
    place = arguments.index("--header")
    arguments[place : place + 2] = ["--extra-body", '{"user": {"key": "secret:mine"}}']
    told = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert (told.exit_code, json.loads(told.stdout)["error"]["field"]) == (2, "--extra-body")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["run", "-u", URL, "--slo", ""], "--slo"),
        (["search", "-u", URL, "--slo", "e2e=1", "--pass", ""], "--pass"),
        (["search", "-u", URL, "--slo", ""], "--slo"),
    ],
)
def test_an_empty_value_is_not_taken_for_none(arguments: list[str], field: str, tmp_path: Path) -> None:
    places = ["-d", str(tmp_path), "-r", str(tmp_path / "new"), "--json", "--no-prefect"]
    told = CliRunner().invoke(app, [*arguments, *places])
    error = json.loads(told.stdout)["error"]
    assert (told.exit_code, error["field"]) == (2, field)
    assert error["remedy"]


@pytest.mark.parametrize(("flag", "value"), [("--gating", "x"), ("--send", "x"), ("--isolation", "x"), ("--api", "x")])
def test_a_wrong_choice_is_told_with_the_right_ones(flag: str, value: str) -> None:
    told = CliRunner().invoke(app, ["run", "-d", "x", "-u", URL, flag, value, "--json"])
    error = json.loads(told.stdout)["error"]
    assert (told.exit_code, error["field"], error["message"]) == (2, flag, "'x' is not allowed")
    assert error["remedy"].startswith("write ") and " or " in error["remedy"]
