"""The group of all commands: wrong usage and interruptions end like every other error, with `--json` as JSON too."""

from __future__ import annotations

import difflib
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from flows.console import begin, fail, interrupted, language_now
from flows.help_view import show_commands
from flows.signals import signal_of
from prefixcache.errors import InputError
from prefixcache.help.words import ENVIRONMENT, LANGUAGES

JSON_FLAG, LANGUAGE_FLAG = "--json", "--lang"
# Where typer keeps the class is its own affair; that a bad parameter is one is documented.
USAGE_ERROR = cast(type[Exception], typer.BadParameter.__mro__[1])


class Commands(TyperGroup):
    """Typer's group, but for how errors are told and its help reads."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Typer's page in English, one of our own in Chinese."""
        if language_now() == "zh":
            show_commands(self, ctx)
        else:
            super().format_help(ctx, formatter)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)
        names = (prog_name, complete_var)
        if not standalone_mode:
            return super().main(arguments, *names, False, windows_expand_args, **extra)
        as_json = JSON_FLAG in arguments
        begin(_language(arguments))
        try:
            code = super().main(arguments, *names, False, windows_expand_args, **extra)
        except USAGE_ERROR as error:
            if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
                typer.echo(str(error), err=True)
                sys.exit(2)
            wrong = usage_error(error, arguments)
            code = _code_of(lambda: fail(wrong, as_json=as_json))
        except typer.Abort:
            code = _code_of(lambda: interrupted(signal.SIGINT, as_json=as_json))
        except BaseException as error:
            number = signal_of(error)
            if number is None:
                raise
            code = _code_of(lambda: interrupted(number, as_json=as_json))
        sys.exit(code if isinstance(code, int) else 0)


def end_interrupted(error: KeyboardInterrupt) -> NoReturn:
    """Tell of a signal that came before the command line was read, and end with 128 + its number."""
    begin(_language(sys.argv[1:]))
    number = signal_of(error) or signal.SIGINT
    sys.exit(_code_of(lambda: interrupted(number, as_json=JSON_FLAG in sys.argv)))


def _code_of(end: Any) -> int:
    try:
        end()
    except typer.Exit as error:
        return int(error.exit_code)
    return 1


def _language(arguments: list[str]) -> str:
    """The language asked for, wherever the flag stands; a wrong one, which the command refuses, counts for nothing."""
    value = os.environ.get(ENVIRONMENT, "en")
    for number, argument in enumerate(arguments):
        if argument == LANGUAGE_FLAG:
            value = arguments[number + 1] if number + 1 < len(arguments) else value
        elif argument.startswith(f"{LANGUAGE_FLAG}="):
            value = argument.partition("=")[2]
    return value if value in LANGUAGES else os.environ.get(ENVIRONMENT, "en")


def usage_error(error: Any, arguments: list[str]) -> InputError:
    """Typer's finding as an error with field and remedy."""
    context = error.ctx
    path = context.command_path if context is not None else " ".join(["prefixcache", *arguments[:1]])
    parameter, option = getattr(error, "param", None), getattr(error, "option_name", None)
    listing = f"`{path} --help` lists what can be given."
    if parameter is not None:
        names = list(parameter.opts)
        flag = max(names, key=len)
        if type(error).__name__ == "MissingParameter":
            hint = f"give {' or '.join(names)}" if flag.startswith("-") else "give it"
            return InputError("is missing", field=_field(flag), remedy=f"{hint}; {listing}")
        value = _given(arguments, names)
        found = "is not allowed" if value is None else f"{value!r} is not allowed"
        return InputError(found, field=_field(flag), remedy=f"{_wanted(error.message)}; {listing}")
    if option is not None and "requires an argument" in error.message:
        return InputError("has no value", field=option, remedy=f"write a value behind it; {listing}")
    if option is not None and hasattr(error, "possibilities"):
        if option == JSON_FLAG:
            return InputError("stands before the command", field=option, remedy=f"write it behind; {listing}")
        known = [name for item in context.command.params for name in item.opts] if context is not None else []
        return InputError("is no option of this command", field=option, remedy=_near(option, known, listing))
    if option is not None:
        return InputError(error.message, field=option, remedy=listing)
    commands = getattr(context.command, "commands", {}) if context is not None else {}
    wrong = next((name for name in arguments if not name.startswith("-")), None)
    if commands and wrong is not None:
        return InputError(f"there is no command {wrong!r}", field="COMMAND", remedy=_near(wrong, commands, listing))
    return InputError(error.format_message(), remedy=listing)


def _field(name: str) -> str:
    return name if name.startswith("-") else name.upper()


def _wanted(finding: str) -> str:
    """What to write instead, from pydantic's finding."""
    for said, wanted in (
        ("Input should be greater than or equal to", "write a number that is at least"),
        ("Input should be less than or equal to", "write a number that is at most"),
        ("Input should be a valid integer", "write a whole number"),
        ("Input should be a valid number", "write a number"),
    ):
        if finding.startswith(said):
            return wanted + (finding.removeprefix(said) if "equal to" in said else "")
    if found := re.fullmatch(r"Value error, .+ is not one of ('.+')\.?", finding):
        return "write " + " or ".join(re.findall(r"'([^']+)'", found[1]))
    return finding


def _given(arguments: list[str], names: list[str]) -> str | None:
    """The last value that stands behind one of an option's names."""
    found = None
    for number, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names and equals:
            found = value
        elif argument in names and number + 1 < len(arguments):
            found = arguments[number + 1]
    return found


def _near(wrong: str, known: Any, listing: str) -> str:
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f"write {near[0]}; {listing}" if near else listing
