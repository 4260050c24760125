# SPDX-License-Identifier: Apache-2.0

"""Make the virtual environments that the tests, the demo and the checks use.

They live in ``.venv/`` of the checkout. Standard library only: this runs on a
machine that has nothing but Python. An environment that is ready is left as
it is, so a second call is quick; one whose inputs changed is made anew.
"""

import argparse
import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / '.venv'

#: The series whose version sets the functional tests run on.
OLDEST = '2024.1'
NEWEST = '2026.2'


class EnvironmentFailed(Exception):
    """An environment could not be made; the text says what to do."""


@dataclasses.dataclass(frozen=True)
class Environment:
    """What one virtual environment holds.

    :param name: the folder below ``.venv``.
    :param series: whose libraries it gets (a file in ``constraints/``).
    :param purpose: what it is for, printed while it is made.
    :param packages: what pip installs, besides the requirements.
    :param requirements: requirement files of the checkout.
    :param project: whether the checkout itself is installed (editable).
    """

    name: str
    series: str
    purpose: str
    packages: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ('requirements.txt',)
    project: bool = True

    @property
    def path(self) -> pathlib.Path:
        """Return the folder of the environment."""
        return FOLDER / self.name

    @property
    def python(self) -> pathlib.Path:
        """Return the environment's interpreter."""
        return self.path / 'bin' / 'python'

    @property
    def constraints(self) -> tuple[pathlib.Path, ...]:
        """Return the files that pin every version in it."""
        folder = ROOT / 'constraints'
        return (
            folder / f'{self.series}.txt',
            folder / f'{self.series}-services.txt',
            folder / 'tools.txt',
        )


TESTS = ('requirements.txt', 'test-requirements.txt')
SERVICES = ('senlin', 'nova', 'openstack-heat', 'openstack-placement')
#: What a service of the loopback cloud is run with: a driver for MariaDB, and
#: a server for those that are WSGI applications.
RUNNING = ('PyMySQL', 'waitress')
#: What stands around the services in a cloud.
CLOUD = ('keystone', 'glance', 'neutron', *RUNNING)

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment(
            'unit',
            NEWEST,
            'unit tests, without any service',
            # Builds the wheel that the packaging tests look at.
            packages=('build',),
            requirements=TESTS,
        ),
        Environment(
            OLDEST,
            OLDEST,
            'Senlin, Nova and Heat of the oldest supported series',
            # Not every tool that makes environments puts setuptools in, and
            # Nova 29 needs it.
            packages=(*SERVICES, 'setuptools'),
            requirements=TESTS,
        ),
        Environment(
            NEWEST,
            NEWEST,
            'Senlin, Nova and Heat of the newest supported series',
            # The loopback cloud takes the Nova of one region from here.
            packages=(*SERVICES, *RUNNING),
            requirements=TESTS,
        ),
        Environment(
            'client',
            NEWEST,
            'the openstack command, without any service',
            packages=('python-openstackclient',),
            requirements=TESTS,
        ),
        Environment(
            'cloud',
            OLDEST,
            'a whole cloud of the oldest supported series',
            packages=(*SERVICES, *CLOUD, 'setuptools'),
            requirements=TESTS,
        ),
        # A service as an operator has it: alone. The tests install the wheel
        # there themselves.
        Environment(
            'only-senlin',
            NEWEST,
            'Senlin and nothing else',
            packages=('senlin',),
            project=False,
        ),
        Environment(
            'only-nova',
            NEWEST,
            'Nova and nothing else',
            packages=('nova',),
            project=False,
        ),
        Environment(
            'only-heat',
            NEWEST,
            'Heat and nothing else',
            packages=('openstack-heat',),
            project=False,
        ),
        Environment(
            'only-client',
            NEWEST,
            'the openstack command and nothing else',
            packages=('python-openstackclient',),
            requirements=(),
            project=False,
        ),
        Environment(
            'charts',
            NEWEST,
            'what draws the charts of the documentation',
            # This very version: another one draws other bytes.
            packages=('matplotlib==3.11.2',),
            requirements=(),
            project=False,
        ),
        Environment(
            'check',
            NEWEST,
            'style, types, documentation and release notes',
            requirements=('requirements.txt', 'doc/requirements.txt'),
            packages=('ruff', 'mypy', 'doc8', 'types-PyYAML'),
        ),
    )
}


def fingerprint(environment: Environment) -> str:
    """Return what changes whenever the environment must be made anew.

    :param environment: the environment in question.
    :returns: a digest over its definition, the files it is made from, the
        interpreter and the place of the checkout.
    """
    digest = hashlib.sha256()
    digest.update(repr(environment).encode())
    digest.update(sys.version.encode())
    digest.update(str(ROOT).encode())
    files = [ROOT / name for name in environment.requirements]
    files += environment.constraints
    if environment.project:
        # The entry points and the packages are written down at install time.
        files += [ROOT / 'setup.cfg', ROOT / 'pyproject.toml']
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def make(environment: Environment) -> pathlib.Path:
    """Make an environment unless it is ready.

    :param environment: the environment to make.
    :returns: its interpreter.
    :raises EnvironmentFailed: when a step fails; the text names the log.
    """
    stamp = environment.path / 'ready'
    wanted = fingerprint(environment)
    if stamp.exists() and stamp.read_text() == wanted:
        return environment.python
    started = time.monotonic()
    print(
        f'.venv/{environment.name}: installing {environment.purpose} ...',
        file=sys.stderr,
        flush=True,
    )
    shutil.rmtree(environment.path, ignore_errors=True)
    FOLDER.mkdir(exist_ok=True)
    log = FOLDER / f'{environment.name}.log'
    log.write_text('')
    try:
        venv.create(environment.path, with_pip=True, symlinks=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        raise EnvironmentFailed(
            f'cannot create .venv/{environment.name}: {exc}. On Debian and '
            'Ubuntu, install the package python3.11-venv.'
        ) from exc
    pip = [str(environment.python), '-m', 'pip', 'install']
    pip += ['--disable-pip-version-check', '--quiet']
    for file in environment.constraints:
        pip += ['--constraint', str(file)]
    wanted_packages = list(environment.packages)
    for name in environment.requirements:
        wanted_packages += ['--requirement', str(ROOT / name)]
    run_logged([*pip, *wanted_packages], log, environment)
    if environment.project:
        command = [*pip, '--no-deps', '--editable', str(ROOT)]
        run_logged(command, log, environment)
    stamp.write_text(wanted)
    seconds = time.monotonic() - started
    print(
        f'.venv/{environment.name}: ready after {seconds:.0f} s',
        file=sys.stderr,
        flush=True,
    )
    return environment.python


def run_logged(
    command: list[str], log: pathlib.Path, environment: Environment
) -> None:
    """Run a command with its output in a file.

    :param command: the program and its arguments.
    :param log: the file that the output is added to.
    :param environment: named in the error.
    :raises EnvironmentFailed: when the command fails.
    """
    env = dict(os.environ)
    # Whoever calls this from inside another environment means this one.
    env.pop('PYTHONPATH', None)
    env.pop('VIRTUAL_ENV', None)
    with log.open('a') as stream:
        result = subprocess.run(
            command, stdout=stream, stderr=subprocess.STDOUT, env=env
        )
    if result.returncode:
        errors = [
            line
            for line in log.read_text().splitlines()
            if not line.startswith('WARNING')
        ]
        tail = '\n'.join(errors[-15:])
        raise EnvironmentFailed(
            f'{tail}\npip failed in .venv/{environment.name}: see above, or '
            f'{log} for all of it. Check that the package index is reachable '
            'and run the same command again.'
        )


def main(argv: list[str] | None = None) -> int:
    """Make the named environments.

    :param argv: the command line without the program's name.
    :returns: 0, or 1 when one could not be made.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        'names',
        nargs='+',
        choices=sorted(ENVIRONMENTS),
        metavar='NAME',
        help=f'one or more of: {", ".join(sorted(ENVIRONMENTS))}',
    )
    args = parser.parse_args(argv)
    for name in args.names:
        try:
            make(ENVIRONMENTS[name])
        except EnvironmentFailed as exc:
            print(exc, file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
