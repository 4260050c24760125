# SPDX-License-Identifier: Apache-2.0

"""Say what is missing for a release, and build one in a throw-away clone.

``make release-check`` calls this. It changes nothing in the checkout. The
clone has the tag of the version, if there is one, and the last commit
otherwise.
"""

import configparser
import hashlib
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: What stands for the address of the repository until there is one.
PLACEHOLDER = 'URL_OF_THIS_REPOSITORY'
#: The page that says which services and Pythons are tested.
MATRIX = ROOT / 'doc' / 'source' / 'support.rst'


def git(*arguments: str) -> str:
    """Return what git prints of the checkout."""
    return subprocess.run(
        ['git', '-C', ROOT, *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def find_missing(setup: configparser.ConfigParser) -> Iterator[str]:
    """Yield what is missing for a release, and what to do.

    :param setup: the content of setup.cfg.
    """
    metadata = setup['metadata']
    if PLACEHOLDER in metadata['project_urls']:
        yield 'address: set project_urls in setup.cfg'
    version = metadata['version']
    if git('status', '--porcelain'):
        yield 'clean checkout: commit what git status shows'
    if version not in git('tag', '--points-at', 'HEAD').split():
        yield f'tag: git tag --sign --message {version} {version}'
    notes = ROOT / 'releasenotes' / 'notes'
    if not list(notes.glob('*.yaml')):
        yield 'release notes: reno new a-few-words'
    yield from _find_untold(setup)


def _find_untold(setup: configparser.ConfigParser) -> Iterator[str]:
    """Yield the services and Pythons that the support matrix lacks."""
    matrix = MATRIX.read_text('utf-8')
    for extra, requirement in setup['options.extras_require'].items():
        if extra == 'client':
            continue
        oldest, _, limit = requirement.partition('>=')[2].partition(',<')
        for release in (oldest.partition('.')[0], str(int(limit) - 1)):
            if release not in matrix:
                yield f'support matrix: {MATRIX.name} lacks {extra} {release}'
    for line in setup['metadata']['classifiers'].splitlines():
        python = line.rpartition(' :: ')[2]
        if python.startswith('3.') and python not in matrix:
            yield f'support matrix: {MATRIX.name} lacks Python {python}'


def build(folder: pathlib.Path, version: str) -> None:
    """Build wheel, sdist and site, and print the sums to sign.

    :raises CalledProcessError: if something cannot be built.
    """
    reference = version if git('tag', '--list', version) else 'HEAD'
    print(f'Building {reference} in {folder} ...', flush=True)
    subprocess.run(['git', 'clone', '-q', ROOT, folder], check=True)
    subprocess.run(
        ['git', '-C', folder, 'checkout', '-q', git('rev-parse', reference)],
        check=True,
    )
    subprocess.run(['make', '-C', folder, 'dist', 'docs'], check=True)
    for file in sorted((folder / 'dist').iterdir()):
        print(hashlib.sha256(file.read_bytes()).hexdigest(), '', file.name)


def main() -> int:
    """Return 0 if nothing is missing and everything can be built."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / 'setup.cfg')
    missing = list(find_missing(setup))
    with tempfile.TemporaryDirectory(prefix='opp-release-') as name:
        try:
            build(pathlib.Path(name) / 'clone', setup['metadata']['version'])
        except subprocess.CalledProcessError as exc:
            missing.append(f'build: see above ({exc})')
    print('Above are the SHA-256 sums to sign.')
    for line in missing:
        print(f'missing: {line}')
    print(f'{len(missing)} missing')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
