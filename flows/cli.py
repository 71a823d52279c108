"""The command line `prefixcache`. Prefect is imported only inside the commands that run a flow: it takes seconds."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.compare import compare
from flows.commands.demo import demo
from flows.commands.explain import explain
from flows.commands.export import export
from flows.commands.generate import generate
from flows.commands.init import init
from flows.commands.inspect import inspect
from flows.commands.metrics import metrics
from flows.commands.plan import plan
from flows.commands.probe import probe
from flows.commands.reorder import reorder
from flows.commands.replay import replay
from flows.commands.report import report
from flows.commands.run import run
from flows.commands.search import search
from flows.commands.serve import serve
from flows.commands.simulate import simulate
from flows.commands.validate import validate
from flows.help_view import Command
from flows.signals import end_on_sigterm
from flows.usage import Commands, end_interrupted

HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="prefixcache",
    cls=Commands,
    help="Request datasets whose prefix-cache hit rate is planned and proven, run and explained.",
    no_args_is_help=True,
    add_completion=False,
    context_settings=HELP,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        from prefixcache.version import GENERATOR_VERSION, PACKAGE_VERSION

        typer.echo(f"prefixcache {PACKAGE_VERSION} (generator {GENERATOR_VERSION})")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what each stage found, on stderr.")] = False,
) -> None:
    """Request datasets whose prefix-cache hit rate is planned and proven, run and explained."""
    if verbose:
        import logging

        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
        logging.getLogger("prefixcache").setLevel(logging.INFO)


for command in (
    init,
    plan,
    generate,
    validate,
    inspect,
    reorder,
    simulate,
    probe,
    run,
    replay,
    metrics,
    report,
    search,
    compare,
    export,
    explain,
    serve,
    demo,
):
    app.command(cls=Command, context_settings=HELP)(command)


def main() -> None:
    """Console script."""
    end_on_sigterm()
    _check_packages()
    try:
        app()
    except KeyboardInterrupt as error:  # while the commands were built: then nobody below has told it
        end_interrupted(error)


def _check_packages() -> None:
    """`tasks` and `flows` are common names: say plainly when another package of that name was imported."""
    from pathlib import Path

    import flows
    import prefixcache

    home = Path(prefixcache.__file__).parents[1]
    if Path(flows.__file__ or "").parents[1] != home:
        raise SystemExit(
            f"error: the package `flows` was imported from {Path(flows.__file__ or '').parent}, not from beside "
            "prefixcache. Remedy: install prefixcache in an environment of its own."
        )


if __name__ == "__main__":
    main()
