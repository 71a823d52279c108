"""docs/engines.md is what the adapters say."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.engines.detect import ADAPTERS
from prefixcache.engines.frameworks.custom import __doc__ as custom_text
from prefixcache.engines.frameworks.custom import load_adapter
from prefixcache.engines.quantities import Quantity
from scripts.write_engines import PAGE, engines_page, main


def test_the_page_is_written_from_the_adapters() -> None:
    assert PAGE.read_text(encoding="utf-8") == engines_page(), "run scripts/write_engines.py"


def test_the_writer_says_where_it_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "engines.md"
    assert (main(["--check"], page), page.exists()) == (1, False)
    assert (main([], page), main(["--check"], page)) == (0, 0)
    assert "differs" in capsys.readouterr().out


def test_every_adapter_and_its_names_stand_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for adapter in ADAPTERS:
        assert f"`--engine {adapter.name}`" in text
        for quantity in adapter.metrics:
            for source in adapter.sources(quantity):
                assert all(name in text for name in source.all_names)


def test_the_pages_example_of_an_own_framework_is_one(tmp_path: Path) -> None:
    example = (custom_text or "").split("```yaml")[1].split("```")[0]
    path = tmp_path / "mine.yaml"
    path.write_text(example)
    adapter = load_adapter(path)
    assert adapter.name == "my-engine"
    assert len(adapter.sources(Quantity.EXTERNAL_HITS)) == 1
