# SPDX-License-Identifier: Apache-2.0

"""Build what users install, from what a fresh clone would hold."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from tools import environments

#: The top-level packages of the distribution, and nothing else.
PACKAGES = {'senlin_plugins', 'nova_filters', 'heat_hints'}


def git(*arguments: str) -> str:
    """Return what git prints for the checkout."""
    result = subprocess.run(
        ['git', '-C', str(environments.ROOT), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def clone_checkout(target: pathlib.Path) -> None:
    """Clone the checkout, and add what is not committed yet.

    A build in the checkout itself would write there, and would find what an
    earlier build left.

    :param target: the folder to create.
    """
    git('clone', '--quiet', '--no-hardlinks', '.', str(target))
    changed = git('ls-files', '-z', '-m', '-o', '--exclude-standard')
    for name in filter(None, changed.split('\0')):
        source = environments.ROOT / name
        copy = target / name
        if source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
        else:
            copy.unlink(missing_ok=True)
    subprocess.run(['git', '-C', str(target), 'add', '--all'], check=True)


def clean_environment() -> dict[str, str]:
    """Return the variables of this process less those of its own Python."""
    ours = ('PYTHON', 'PYTHONPATH', 'VIRTUAL_ENV')
    return {key: os.environ[key] for key in os.environ if key not in ours}


class DistributionTestCase(unittest.TestCase):
    """Base of tests on the built distribution; builds it once a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='opp-dist-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        clone = cls.folder / 'clone'
        clone_checkout(clone)
        # The wheel is made from the sdist, so both are known to be whole.
        result = subprocess.run(
            [sys.executable, '-m', 'build', '--outdir', cls.folder, clone],
            capture_output=True,
            text=True,
            env=clean_environment(),
        )
        if result.returncode:
            raise AssertionError(f'{result.stdout}\n{result.stderr}')
        (cls.sdist,) = cls.folder.glob('*.tar.gz')
        (cls.wheel,) = cls.folder.glob('*.whl')

    @classmethod
    def names_in_wheel(cls) -> list[str]:
        """Return the paths of the files that the wheel holds."""
        with zipfile.ZipFile(cls.wheel) as wheel:
            return wheel.namelist()
