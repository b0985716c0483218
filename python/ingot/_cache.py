"""The cache of compiled networks: a folder for each network, named by the hash of everything that it is built from.

An entry is built in a temporary folder and renamed when it is complete, so that its final folder is never incomplete.
If several processes want the same entry, one builds it and the others wait (a file lock). Each entry lists the hashes of
its files; an entry whose files differ is removed and built again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_LIST = "entry.json"


def folder() -> Path:
    """Returns the folder of the cache: ``INGOT_CACHE``, or ``ingot`` in the user's cache folder."""
    named = os.environ.get("INGOT_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "ingot"


def key_of(*parts: str | bytes) -> str:
    """Returns a hash of the parts and of their boundaries."""
    hash_ = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hash_.update(len(data).to_bytes(8, "little"))
        hash_.update(data)
    return hash_.hexdigest()


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_whole(entry: Path) -> bool:
    try:
        files = json.loads((entry / _LIST).read_text())["files"]
        return bool(files) and all(_hash_of(entry / name) == expected for name, expected in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _fill(place: Path, build: Callable[[Path], None]) -> None:
    build(place)
    files = {path.name: _hash_of(path) for path in sorted(place.iterdir())}
    (place / _LIST).write_text(json.dumps({"files": files}, indent=1))


@contextmanager
def _locked(file: IO[str]) -> Iterator[None]:
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


# The entries of this process by key, for the case that the cache folder cannot be written.
_temporary: dict[str, tempfile.TemporaryDirectory[str]] = {}
_warned: set[Path] = set()


def _without_cache(key: str, build: Callable[[Path], None], cache: Path, error: OSError) -> Path:
    if cache not in _warned:
        _warned.add(cache)
        warnings.warn(
            f"the cache {cache} cannot be written ({error.strerror}); compiled networks are kept for this process only. "
            "The environment variable INGOT_CACHE names another folder",
            RuntimeWarning,
            stacklevel=4,
        )
    if key not in _temporary:
        scratch = tempfile.TemporaryDirectory(prefix="ingot-", ignore_cleanup_errors=True)
        _fill(Path(scratch.name), build)
        _temporary[key] = scratch
    return Path(_temporary[key].name)


def entry(key: str, build: Callable[[Path], None]) -> Path:
    """Returns the folder of the entry `key`; if there is none, `build` fills a new folder first."""
    cache = folder()
    place = cache / key[:2] / key[2:]
    if _is_whole(place):
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = (place.parent / (place.name + ".lock")).open("a")
    except OSError as error:
        return _without_cache(key, build, cache, error)
    with _locked(lock):
        if _is_whole(place):
            return place
        # Removes what a killed process left while it built this entry. The lock excludes any other builder.
        for left in place.parent.glob(f".new-{place.name}-*"):
            shutil.rmtree(left, ignore_errors=True)
        try:
            scratch = Path(tempfile.mkdtemp(prefix=f".new-{place.name}-", dir=place.parent))
        except OSError as error:
            return _without_cache(key, build, cache, error)
        try:
            _fill(scratch, build)
            scratch.chmod(0o755)
            if place.exists():
                # Moves the damaged entry aside and removes it. If a process has loaded a file of the entry, the file
                # lives until that process ends.
                broken = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
                os.replace(place, broken / "entry")
                shutil.rmtree(broken, ignore_errors=True)
            os.replace(scratch, place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return place


def clear() -> None:
    """Removes all entries of the cache. Loaded networks stay usable."""
    shutil.rmtree(folder(), ignore_errors=True)
