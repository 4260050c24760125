# SPDX-License-Identifier: Apache-2.0

"""Put MariaDB and RabbitMQ of Debian on the machine, without daemons."""

import os
import pathlib
import subprocess
import sys

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


def missing() -> list[str]:
    """Return the packages whose programs are not on this machine."""
    return [
        package
        for package, program in PACKAGES.items()
        if not pathlib.Path(program).exists()
    ]


def install() -> None:
    """Install what is missing; say what to do if that is impossible here."""
    packages = missing()
    if not packages:
        return
    apt = ['apt-get', '-qy', '-o', 'Acquire::Retries=5']
    install = [*apt, '--no-install-recommends', 'install']
    if os.geteuid() != 0:
        sys.exit(
            f'run "{" ".join(install + packages)}" as root once, on Debian 12 '
            'or a later one, and stop the daemon that rabbitmq-server starts '
            'if you have no use for it'
        )
    env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    # A machine that has a rule of its own keeps it.
    if ours := not POLICY.exists():
        POLICY.write_text(REFUSAL)
        POLICY.chmod(0o755)
    try:
        for command in [*apt, 'update'], install + packages:
            subprocess.run(command, env=env, timeout=1800, check=True)
    finally:
        if ours:
            POLICY.unlink()
