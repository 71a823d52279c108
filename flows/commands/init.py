"""`prefixcache init`: ask little, write a commented configuration that loads and plans."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from flows.commands.plan import show_plan
from flows.console import emit_json, err, out, reporting_errors
from flows.options import AsJson, Language
from prefixcache.errors import InputError, PrefixCacheError
from prefixcache.help.messages import finding_of, language_of, say

if TYPE_CHECKING:
    from prefixcache.engines.server import ServerFacts
    from prefixcache.help.words import Language as Chosen

T = TypeVar("T")
NO_SERVER = "-"
PATIENCE_S = 5.0
"""How long a server may take to say who it is."""


def init(
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")] = Path("prefixcache.yaml"),
    tokenizer: Annotated[str | None, typer.Option("--tokenizer", help="Folder or hub name; or embedded.")] = None,
    url: Annotated[str | None, typer.Option("--url", "-u", help="Server to ask for model and block size.")] = None,
    requests: Annotated[str | None, typer.Option("--requests", "-n", help="Number of requests.")] = None,
    length: Annotated[str | None, typer.Option("--length", "-l", help="Tokens: 4096, or 1024..8192.")] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="Target hit ratio, 0 to 1.")] = None,
    groups: Annotated[str | None, typer.Option("--groups", "-g", help="Number of prefix groups.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", "-m", help="Execution mode.")] = None,
    block_size: Annotated[str | None, typer.Option("--block-size", "-b", help="Tokens per KV-cache block.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: defaults for what is not given.")] = False,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Write a first configuration, every key explained, and say what to do with it."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.config.load import load_config, name_of
        from prefixcache.files import write_bytes
        from prefixcache.help.starter import next_commands, starter_config, starter_yaml
        from prefixcache.workload.plan import plan_dataset
        from prefixcache.workload.plan_report import FAIL, plan_report

        _check_free(output, force)
        given = {"tokenizer": tokenizer, "requests": requests, "length": length, "target": target, "groups": groups}
        given |= {"mode": mode, "block_size": block_size}
        answers = _answers(Asker(chosen, yes or as_json), url, given, as_json)
        dataset_id = name_of(output)
        starter_config(answers, dataset_id)  # answers that do not go together leave no file
        _check_free(output, force)
        write_bytes(output, starter_yaml(answers, dataset_id, output, chosen).encode())
        config = load_config(output).config
        report = plan_report(config, plan_dataset(config))
        commands = next_commands(answers, dataset_id, output)
        if report["status"] == FAIL:
            commands = commands[:1]  # nothing can be generated: the file is changed and planned again
        if as_json:
            emit_json({"output": str(output), "plan": report, "next": commands})
        else:
            out.print(say("init.written", chosen, path=output), soft_wrap=True, markup=False)
            show_plan(report, chosen)
            out.print(say("init.next", chosen))
            for command in commands:
                out.print(f"  {command}", soft_wrap=True, markup=False)
        if report["status"] == FAIL:
            raise typer.Exit(1)


def _check_free(output: Path, force: bool) -> None:
    if output.is_dir():
        raise InputError(f"{output} is a folder", field="--output", remedy="name a file.", stage="init")
    if output.exists() and not force:
        raise InputError(
            f"{output} exists", field="--output", remedy="name another file, or --force to replace it.", stage="init"
        )


@dataclass
class Asker:
    """Asks for what was not given, or takes the default where nothing may be asked.

    Args:
        silent: never ask.
    """

    lang: Chosen
    silent: bool
    begun: bool = False

    def ask(self, given: str | None, flag: str, question: str, default: str, read: Callable[[str], T]) -> T:
        """The answer that was given, typed, or the default, as ``read`` understands it.

        Raises:
            InputError: a given value that is wrong, or a question that nobody is there to answer.
        """
        if given is not None:
            return read(given)
        if self.silent:
            return read(default)
        if not sys.stdin.isatty():
            raise InputError(
                "there is no terminal to ask on",
                field=flag,
                remedy=f"give {flag}, or --yes to take the defaults (here: {default}).",
                stage="init",
            )
        if not self.begun:
            err.print(f"[dim]{say('init.intro', self.lang)}[/]")
            self.begun = True
        answer: T = typer.prompt(question, default=default, value_proc=_again_on_error(read), err=True)
        return answer


def _again_on_error(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        try:
            return read(text)
        except InputError as error:
            raise typer.BadParameter(f"{error.message}: {error.remedy}") from None

    return checked


def _answers(asker: Asker, url: str | None, given: dict[str, str | None], quiet: bool) -> Any:
    from prefixcache.help.starter import MODES, Answers, read_count, read_length, read_mode, read_target

    start = Answers()
    base, facts = asker.ask(
        url, "--url", say("init.url", asker.lang), NO_SERVER, lambda text: _server(text, asker.lang, quiet)
    )
    served = start.tokenizer if facts is None or facts.is_reference or not facts.model else facts.model
    block = start.block_size if facts is None or not facts.cache.block_size else facts.cache.block_size

    def ask(name: str, default: str, read: Callable[[str], T], **values: str) -> T:
        flag = f"--{name.replace('_', '-')}"
        return asker.ask(given[name], flag, say(f"init.{name}", asker.lang, **values), default, read)

    return Answers(
        tokenizer=ask("tokenizer", served, str.strip),
        url=base,
        requests=ask("requests", str(start.requests), lambda text: read_count(text, "--requests")),
        length=ask("length", "{}..{}".format(*start.length), read_length),
        target=ask("target", str(start.target), read_target),
        groups=ask("groups", str(start.groups), lambda text: read_count(text, "--groups")),
        mode=ask("mode", start.mode, read_mode, choices=", ".join(MODES)),
        block_size=ask("block_size", str(block), lambda text: read_count(text, "--block-size")),
    )


def _server(text: str, lang: Chosen, quiet: bool) -> tuple[str | None, ServerFacts | None]:
    """Base URL without credentials and what the server says of itself; a silent one is a remark, no error.

    Raises:
        InputError: not a URL.
    """
    from prefixcache.engines.endpoint import parse_endpoint
    from prefixcache.engines.server import NO_SUCH_API

    if text.strip() in ("", NO_SERVER):
        return None, None
    endpoint = parse_endpoint(text)
    try:
        facts = asyncio.run(_facts(text))
    except PrefixCacheError as error:
        if not quiet:
            why = finding_of(error.message, lang)
            err.print(say("init.server_silent", lang, url=endpoint.base, why=why), soft_wrap=True, markup=False)
        return (None if error.remedy == NO_SUCH_API else endpoint.base), None  # another kind of server is no address
    unknown = say("init.unknown", lang)
    model, block = facts.model or unknown, facts.cache.block_size or unknown
    if not quiet:
        said = say("init.server_said", lang, url=endpoint.base, model=model, block=block)
        err.print(said, soft_wrap=True, markup=False)
    return endpoint.base, facts


async def _facts(url: str) -> ServerFacts:
    from prefixcache.engines.detect import detect_adapter
    from prefixcache.engines.endpoint import parse_endpoint
    from prefixcache.engines.http import Timeouts, open_client
    from prefixcache.engines.server import reach, read_facts
    from prefixcache.engines.snapshot import scrape, source_of
    from prefixcache.errors import EnvironmentFailure
    from prefixcache.load.api_key import api_key_of

    key = api_key_of()
    endpoint = parse_endpoint(url)
    try:
        async with asyncio.timeout(PATIENCE_S), open_client(Timeouts(connect=PATIENCE_S)) as client:
            await reach(client, endpoint, key)
            page = await scrape(client, source_of(endpoint, api_key=key))
            return await read_facts(client, endpoint, page, detect_adapter(page, endpoint.base), key)
    except TimeoutError:
        raise EnvironmentFailure(f"no answer within {PATIENCE_S:g} s", field="url") from None
