# SPDX-License-Identifier: Apache-2.0

"""Put MariaDB and RabbitMQ of Debian on the machine, without daemons."""

import contextlib
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

#: What the cloud needs beside Python, and a program that tells whether it is
#: there. The core of MariaDB is its programs alone, without a system daemon;
#: one that mariadb-install-db calls lies in that of the client, on which it
#: does not depend.
PACKAGES = {
    'mariadb-server-core': '/usr/sbin/mariadbd',
    'mariadb-client-core': '/usr/bin/my_print_defaults',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
}

#: Debian's maintainer scripts ask this program whether they may start a
#: daemon; 101 stands for "no".
POLICY = pathlib.Path('/usr/sbin/policy-rc.d')
REFUSAL = '#!/bin/sh\nexit 101\n'

#: How long apt may take, in seconds.
TIMEOUT = 600


class InstallFailed(Exception):
    """A package is missing and cannot be installed; says what to do."""


def missing() -> list[str]:
    """Return the packages whose programs are not on this machine."""
    return [
        package
        for package, program in PACKAGES.items()
        if not pathlib.Path(program).exists()
    ]


def install() -> list[str]:
    """Install what is missing.

    :returns: the names of the packages that were installed.
    :raises InstallFailed: when that needs root or apt, or apt fails.
    """
    packages = missing()
    if not packages:
        return []
    wanted = ' '.join(packages)
    if not shutil.which('apt-get'):
        raise InstallFailed(
            f'the cloud needs {wanted} of Debian 12 or a later one, and there '
            'is no apt-get on this machine'
        )
    if os.geteuid() != 0:
        raise InstallFailed(
            f'installing {wanted} needs root: run "apt-get install '
            f'--no-install-recommends {wanted}" as root once, and stop the '
            'daemon that rabbitmq-server starts if you have no use for it'
        )
    with daemons_refused():
        run('apt-get', '--quiet', 'update')
        run(
            'apt-get',
            '--quiet',
            '--yes',
            '--no-install-recommends',
            'install',
            *packages,
        )
    if missing():
        raise InstallFailed(f'apt-get did not bring {" ".join(missing())}')
    return packages


@contextlib.contextmanager
def daemons_refused() -> Iterator[None]:
    """Keep what is installed meanwhile from starting daemons.

    A machine that has a rule of its own keeps it.
    """
    if POLICY.exists():
        yield
        return
    POLICY.write_text(REFUSAL)
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def run(*command: str) -> None:
    """Run a program of the package manager.

    :param command: the program and its arguments.
    :raises InstallFailed: when it fails or takes too long.
    """
    env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    try:
        result = subprocess.run(
            command,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired as exc:
        raise InstallFailed(
            f'"{" ".join(command)}" took more than {TIMEOUT} s'
        ) from exc
    if result.returncode:
        tail = '\n'.join(result.stdout.splitlines()[-15:])
        raise InstallFailed(f'{tail}\n"{" ".join(command)}" failed')
