# SPDX-License-Identifier: Apache-2.0

"""Build the source archive and the wheel of a commit in dist/.

Each build of a commit makes the same bytes. setuptools does this for the
wheel. Into the source archive, it writes the time of the build.
"""

import gzip
import io
import os
import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_time() -> int:
    """Return SOURCE_DATE_EPOCH; by default, the time of the commit."""
    command = ['git', '-C', str(ROOT), 'log', '-1', '--format=%ct']
    time = os.environ.get('SOURCE_DATE_EPOCH')
    return int(time or subprocess.check_output(command))


def normalize(path: pathlib.Path, time: int) -> None:
    """Write a source archive again, without what differs between builds.

    :param time: the time that each file gets.
    """
    buffer = io.BytesIO()
    with (
        tarfile.open(path) as old,
        tarfile.open(fileobj=buffer, mode='w') as new,
    ):
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            member.mtime = time
            member.uid = member.gid = 0
            member.uname = member.gname = ''
            member.mode = 0o755 if member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member))
    path.write_bytes(gzip.compress(buffer.getvalue(), mtime=time))


def main(folder: str = 'dist') -> None:
    """Build both archives.

    :param folder: where to write them.
    """
    time = read_time()
    subprocess.run(
        [sys.executable, '-m', 'build', '--outdir', folder, ROOT],
        env={**os.environ, 'SOURCE_DATE_EPOCH': str(time)},
        check=True,
    )
    for path in pathlib.Path(folder).glob('*.tar.gz'):
        normalize(path, time)


if __name__ == '__main__':
    main(*sys.argv[1:])
