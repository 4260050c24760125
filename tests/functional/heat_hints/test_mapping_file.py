# SPDX-License-Identifier: Apache-2.0

"""The mapping file changes while servers are created."""

import tests
from testing.heat.templates import server, stack, template
from tests.functional.heat_hints import base

#: How many stacks are created, each with so many servers, and how many rules
#: the file has that no server needs.
STACKS, SERVERS, OTHERS = (20, 50, 20_000) if tests.ALL else (3, 10, 2_000)
#: The file changes each time that so many servers have been asked about.
EACH = 10

#: A provider that is asked first, and changes the file.
CHANGING = (
    f"""
COUNT, EACH = {OTHERS}, {EACH}
"""
    + """
import pathlib
import threading

OTHERS = ''.join(
    f'- {{project: {n:032x}, hints: {{rack: r{n}}}}}\\n'
    for n in range(COUNT)
)


def text(version):
    # A server that gets a part of a file has not both.
    return (
        f'- {{hints: {{first: v{version}}}}}\\n{OTHERS}'
        f'- {{hints: {{last: v{version}}}}}\\n'
    )


class Changing:
    def __init__(self, conf):
        self.path = pathlib.Path(conf.heat_hints.mapping_file)
        self.lock = threading.Lock()
        self.asked = 0

    def hints(self, request):
        with self.lock:
            number, rest = divmod(self.asked, EACH)
            self.asked += 1
            if rest == 0:
                self.change(number + 2)
        return {}

    def change(self, version):
        part = self.path.with_suffix('.part')
        part.write_text(text(version))
        part.rename(self.path)


class Truncating(Changing):
    # As "> file" of a shell does.
    def change(self, version):
        open(self.path, 'w').close()
"""
)


class _Changed:
    mapping = '- {hints: {first: v1}}\n- {hints: {last: v1}}\n'
    entry_points = {
        'heat_hints.providers': {
            'renaming': 'changing_for_tests:Changing',
            'truncating': 'changing_for_tests:Truncating',
        }
    }
    files = {'changing_for_tests.py': CHANGING, 'mapping.yaml': mapping}
    stacks = tuple(
        stack(
            f's{number}',
            template(**{f'r{name}': server() for name in range(SERVERS)}),
        )
        for number in range(STACKS)
    )

    def sent(self):
        """Return the hints of all servers."""
        self.assert_created(*(one['name'] for one in self.stacks))
        found = [request.hints for request in self.outcome.sent]
        self.assertEqual(STACKS * SERVERS, len(found))
        return found


class TestRenamed(_Changed, base.ScenarioCase):
    options = {
        'providers': 'renaming,mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
        'on_error': 'fail',
        # However busy this machine is.
        'provider_timeout': '600',
    }

    def test_each_server_gets_what_one_version_promises(self):
        versions = set()
        for hints in self.sent():
            self.assertEqual(hints['first'], hints['last'], hints)
            versions.add(hints['first'])
        self.assertGreater(len(versions), STACKS * SERVERS // EACH // 2)
        self.assert_quiet()


class TestTruncated(_Changed, base.ScenarioCase):
    options = {**TestRenamed.options, 'providers': 'truncating,mapping_file'}

    def test_the_last_good_rules_hold(self):
        for hints in self.sent():
            self.assertEqual(('v1', 'v1'), (hints['first'], hints['last']))
        self.assertIn('the file is empty', self.outcome.errors()[0])


class TestTruncatedIgnored(TestTruncated):
    options = {**TestTruncated.options, 'on_error': 'ignore'}
