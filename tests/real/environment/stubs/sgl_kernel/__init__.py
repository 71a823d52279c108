"""A stand-in for SGLang's kernels, which have no CPU build: whatever is imported from here may be named, not called."""

import importlib.abc
import importlib.machinery
import sys
import types

__path__: list[str] = []


class _Absent:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = _Absent(f"{self._name}.{name}")
        setattr(self, name, found)
        return found

    def __call__(self, *_, **__):
        raise RuntimeError(f"{self._name} has no CPU build and was called")


def _names_of(module):
    def find(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{module}.{name}")

    return find


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("sgl_kernel."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = _names_of(spec.name)
        return module

    def exec_module(self, module):
        pass


__getattr__ = _names_of(__name__)
sys.meta_path.append(_Finder())
