# SPDX-License-Identifier: Apache-2.0

"""Run scenarios on real heat-engines, each in a process of its own.

Nothing of this package is named anywhere but in ``heat.conf``: Heat finds the
hook by its entry point.
"""

import atexit
import contextlib
import dataclasses
import functools
import json
import pathlib
import tempfile
import unittest
import uuid
from collections.abc import Mapping
from typing import Any

from testing.heat import configuration, loopback, process, stack_hints
from testing.heat.templates import server, stack, template

#: A stack with one server.
ONE = stack('root', template(web=server(name='web')))
#: What an engine says of an option's wrong value.
REFUSED = ('Value for option', 'is not valid')
#: What an engine says that cannot do what ``on_error = fail`` promises.
NOT_STARTED = 'on_error is "fail", so heat-engine does not start'
PASSWORD = 's3cret'
#: How services fail: the text of an error, and of its cause, shows a password.
AWAY = f"""
class AwayError(Exception):
    pass


def fail(what, error=AwayError):
    url = 'https://admin:{PASSWORD}@inventory'
    try:
        raise OSError(url)
    except OSError as exc:
        raise error(f'{{what}}: {{url}}') from exc
"""
#: What the providers of the tests have in common.
PROVIDER = """
class Provider:
    def __init__(self, conf):
        pass
"""


@functools.cache
def launcher() -> process.Launcher:
    """Return this test process's own process that has imported Heat."""
    made = process.Launcher()
    atexit.register(made.close)
    return made


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What an engine did with a scenario, and logged."""

    #: What Heat says about each stack, by its name.
    stacks: dict[str, dict[str, Any]]
    #: What the cloud was asked for.
    sent: list[loopback.Request]
    log: str

    def sent_for(self, stack: str) -> list[loopback.Request]:
        """Return the requests for a stack, which has a project of its own."""
        project = self.stacks[stack]['project']
        return [r for r in self.sent if r.project == project]

    def hints(self, name: str) -> dict[str, Any] | None:
        """Return the hints sent with the only request for this name."""
        (request,) = (r for r in self.sent if r.name == name)
        return request.hints

    def lines(self, level: str) -> list[str]:
        """Return the lines of this package in the log, of one level."""
        mark = f' {level} heat_hints'
        return [line for line in self.log.splitlines() if mark in line]

    def expected_hints(
        self, stack: str, resource: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the six hints as Heat itself tells the facts."""
        return stack_hints.expected(self.stacks[stack]['root'], resource)

    def only(self, stack: str, name: str) -> dict[str, Any]:
        """Return what Heat tells of the only resource of this name."""
        resources = self.stacks[stack]['resources']
        (resource,) = (r for r in resources if r['name'] == name)
        return resource


class ScenarioCase(unittest.TestCase):
    """A class of tests that look at one engine's work."""

    #: Lines of heat.conf below ``[heat_hints]``, which is enabled;
    #: ``{folder}`` is replaced.
    options: Mapping[str, str] = {}
    #: Lines of heat.conf in other sections.
    settings: Mapping[str, Mapping[str, str]] = {}
    #: Modules and other files in a folder that the engine imports from.
    files: Mapping[str, str] = {}
    #: Entry points of those modules, by namespace.
    entry_points: Mapping[str, Mapping[str, str]] = {}
    #: What :func:`testing.heat.worker.work_on` takes, without a project.
    stacks: tuple[Mapping[str, Any], ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Return what the engine of the class did.

        Not in ``setUpClass``: stestr measures tests only, and shares them
        out between its workers by the time they took before.
        """
        return outcome_of(type(self))

    @classmethod
    def run_scenario(
        cls,
        options: Mapping[str, str] | None = None,
        *,
        blocked: bool = False,
    ) -> Outcome:
        """Run the scenario on a new engine, of which nothing stays.

        :param options: instead of those of the class.
        :param blocked: have the import of this package fail, so that the
            engine is stock Heat.
        """
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.closing(loopback.Cloud()) as cloud,
        ):
            path = pathlib.Path(folder, 'path')
            path.mkdir()
            write_modules(path, cls.files, cls.entry_points)
            if blocked:
                (path / 'heat_hints.py').write_text(
                    'raise ImportError("not installed here")\n'
                )
            settings = dict(cls.settings)
            if not blocked:
                own = {'enabled': 'true', **(options or cls.options)}
                settings['heat_hints'] = own
            text = json.dumps(settings).replace('{folder}', str(path))
            log = pathlib.Path(folder, 'heat.log')
            scenario = {'cloud': cloud.url, 'settings': json.loads(text)}
            scenario['stacks'] = [
                {'project': uuid.uuid4().hex, **stack} for stack in cls.stacks
            ]
            # stevedore scans again for each new path that it is told of.
            used = any(path.iterdir())
            try:
                reports = launcher().run(scenario, log, *[path] * used)
            except RuntimeError as exc:
                text = f'{exc}\n...{log.read_text()[-20_000:]}'
                raise AssertionError(text) from exc
            stacks = {report['name']: report for report in reports}
            return Outcome(stacks, cloud.requests, log.read_text())

    def assert_created(self, *names: str) -> None:
        for name in names:
            stack = self.outcome.stacks[name]
            self.assertEqual('CREATE_COMPLETE', stack['status'], stack)

    def assert_not_started(self, *reasons: str, **options: str) -> str:
        """Fail unless the engine says why it does not start.

        :param options: beside those of the class.
        :returns: all that it says.
        """
        with self.assertRaises(AssertionError) as caught:
            self.run_scenario({**self.options, **options})
        text = str(caught.exception)
        lines = [line for line in text.splitlines() if ' CRITICAL ' in line]
        for reason in reasons:
            self.assertIn(reason, ' '.join(lines), text)
        return text


@functools.cache
def outcome_of(case: type[ScenarioCase]) -> Outcome:
    """Return what the engine of a class of tests did."""
    return case.run_scenario()


def write_modules(
    path: pathlib.Path,
    files: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
) -> None:
    """Write modules, and publish their entry points."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    if entry_points:
        info = path / 'providers_for_tests-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: providers-for-tests\nVersion: 1.0\n'
        )
        configuration.write_sections(info / 'entry_points.txt', entry_points)
