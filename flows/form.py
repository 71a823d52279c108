"""The form that Prefect draws for a flow: what an option's help says on the command line describes its field here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from flows.field_names import flag_of

Function = TypeVar("Function", bound=Callable[..., Any])


def described(function: Function) -> Function:
    """Adds the parameters that are annotated with an option to the docstring, where Prefect reads descriptions.

    The docstring ends with its section ``Args:``; a parameter that stands there already is described by that alone.
    """
    text = inspect.cleandoc(function.__doc__ or "")
    hints = get_type_hints(function, include_extras=True)
    flags = {flag_of(name): name for name in hints}
    for name, hint in hints.items():
        if (told := _help_of(hint)) and f"\n    {name}: " not in text:
            text += f"\n    {name}: {_of_form(told, flags)}"
    function.__doc__ = text
    return function


def _help_of(hint: Any) -> str | None:
    if get_origin(hint) is not Annotated:
        return None
    return next((each.help for each in get_args(hint)[1:] if isinstance(each, OptionInfo)), None)


def _of_form(text: str, flags: dict[str, str]) -> str:
    """Fields have names without dashes, and a list is seen to be one."""
    text = text.removesuffix(" Repeatable.")
    return re.sub(r"--[a-z]+(?:-[a-z]+)*", lambda found: flags.get(found[0], found[0]), text)
