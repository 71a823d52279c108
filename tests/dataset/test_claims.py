"""No claim of a manifest can be edited unseen, and none makes validate fail in another way than by saying so."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.contents import read_manifest
from prefixcache.dataset.form_check import form_problems, seal_problems
from prefixcache.dataset.manifest import manifest_digest
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from prefixcache.schemas.versions import VERSIONS
from tests.support.datasets import made

Path_ = tuple[str | int, ...]
DELETED = object()

# Claims that nothing else in the folder tells of: only the digest of the whole manifest guards them.
SEALED_ONLY = {
    r"generator_version|package_version": "who wrote it",
    r"tokenizer\.name": "a name; its content is compared by sha256",
    r"sources\[.*": "of texts that are not in the folder",
    r"execution\.warmup_rounds": "by the mode where the configuration does not say",
    r"request_order\.(within|across)_group": "by the mode where the configuration does not say; order_digest guards it",
    r"routing\.policy": "the configuration does not say; the rows' domains are what counts",
    r"config\..*": "how it came about; what of it shapes the rows is compared with them where they show it",
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    made(
        folder,
        request_count=6,
        block_size=4,
        input_length={"mode": "uniform", "min": 40, "max": 120},
        target={"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.2}, {"id": "b", "hit_ratio": 0.3}]},
        execution={"mode": "compare"},
        prefix={"groups": [{"id": "a"}, {"id": "b"}]},
    )
    return folder


@pytest.fixture(scope="module")
def dataset(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy whose manifest each case replaces."""
    return Path(shutil.copytree(good, tmp_path_factory.mktemp("copy") / "dataset"))


def leaves(value: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Every scalar and every empty container."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = list(members)
    if not inner:
        yield place
    for key, item in inner:
        yield from leaves(item, (*place, key))


def named(place: Path_) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")


def other_values(value: Any) -> Iterator[Any]:
    """Another value of the same kind, one of another kind, and none."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str):
        yield "0" * 64 if re.fullmatch("[0-9a-f]{64}", value) else f"{value}x"
    else:
        yield "something"
    yield {"no": ["such", "thing"]}
    yield None if value is not None else 7
    yield DELETED


def changed(manifest: dict[str, Any], place: Path_, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(manifest)
    block: Any = result
    for key in place[:-1]:
        block = block[key]
    if value is DELETED:
        del block[place[-1]]
    else:
        block[place[-1]] = value
    return result


def found_out(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """The problems named; a clean refusal counts as one. Anything else that is raised fails the test."""
    write_json(folder / "manifest.json", manifest)
    try:
        result = check_dataset(folder)
    except InputError as error:
        assert error.remedy
        return [error.message]
    problems = [text for check in result["checks"] for text in check.get("problems", ())]
    assert (result["validation_status"] == "FAIL") is bool(problems)
    return problems


def test_every_edited_claim_is_found(good: Path, dataset: Path) -> None:
    """Every leaf, three other values and gone: FAIL with a named problem or a clean refusal, never a PASS."""
    manifest = read_json(good / "manifest.json")
    places = list(leaves(manifest))
    assert len(places) > 200
    unseen = [
        (named(place), value)
        for place in places
        for value in other_values(value_at(manifest, place))
        if not refused_or_found(dataset, changed(manifest, place, value))
    ]
    assert unseen == []


def refused_or_found(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """The part of the check that does not look at the rows."""
    write_json(folder / "manifest.json", manifest)
    try:
        return form_problems(read_manifest(folder), None) + seal_problems(manifest)
    except InputError as error:
        assert error.remedy
        return [error.message]


def value_at(manifest: Any, place: Path_) -> Any:
    for key in place:
        manifest = manifest[key]
    return manifest


def test_an_edited_claim_is_found_even_under_a_new_seal(good: Path, dataset: Path) -> None:
    """Whoever computes the digest anew is found out by the rows, the report or the configuration."""
    manifest = read_json(good / "manifest.json")
    unseen = []
    for place in leaves(manifest):
        edited = changed(manifest, place, next(other_values(value_at(manifest, place))))
        if place != ("manifest_digest",):
            edited["manifest_digest"] = manifest_digest(edited)
        if not found_out(dataset, edited):
            unseen.append(named(place))
    exempt = [name for name in unseen if any(re.fullmatch(pattern, name) for pattern in SEALED_ONLY)]
    assert [name for name in unseen if name not in exempt] == []
    unneeded = [pattern for pattern in SEALED_ONLY if not any(re.fullmatch(pattern, name) for name in exempt)]
    assert unneeded == []


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("passes", 0, "name"), "lukewarm", "passes are lukewarm, hot"),
        (("execution_mode",), "warmup", "which execution_mode warmup does not have"),
        (("routing", "cache_domains"), 3, "routing: cache_domains is 3, it should be 1"),
        (("execution", "gating"), "none", "execution: gating is none"),
        (("files", "data.jsonl", "rows"), 7, "files data.jsonl: rows is 7, it should be 6"),
        (("tokenizer", "sha256"), "0" * 64, "tokenizer: sha256 is 000"),
        (("hit_unit",), 0, "hit_unit is 0"),
        (("groups",), 3, "groups is 3, not array"),
    ],
)
def test_the_problem_names_the_claim(place: Path_, value: Any, words: str, good: Path, dataset: Path) -> None:
    problems = found_out(dataset, changed(read_json(good / "manifest.json"), place, value))
    assert any(words in text for text in problems), problems


@pytest.mark.parametrize("version", [99, 0, "1", None, 1.5])
def test_unknown_versions_are_refused_before_anything_else(version: Any, dataset: Path) -> None:
    (dataset / "manifest.json").write_text(json.dumps({"schema_version": version, "of": "another form"}))
    with pytest.raises(InputError, match=f"1 to {VERSIONS['manifest']}"):
        check_dataset(dataset)


def test_the_first_version_had_no_digest(good: Path, dataset: Path) -> None:
    manifest = {**read_json(good / "manifest.json"), "schema_version": 1}
    del manifest["manifest_digest"]
    assert found_out(dataset, manifest) == []


@pytest.mark.parametrize("report", ["[]", "3", "{}", '{"schema_version": 1}'])
def test_a_report_of_another_form_is_a_finding(report: str, good: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "dataset"))
    (folder / "validation_report.json").write_text(report)
    assert any("validation_report.json" in text for text in found_out(folder, read_json(good / "manifest.json")))
