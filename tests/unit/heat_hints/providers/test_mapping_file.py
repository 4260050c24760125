# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

import ddt

from heat_hints.deciding import mapping
from heat_hints.providers import ProviderError, mapping_file
from tests import threads
from tests.unit.heat_hints import requests
from tests.unit.heat_hints.requests import REQUEST

GOOD = requests.MAPPING
#: Linux's user without rights.
NOBODY = 65534
BETTER = '- {stack: web, hints: {rack: r2}}\n- {hints: {tier: gold}}\n'


def version(number):
    """Return a file, of which no part says the same in another version."""
    return (
        f'- {{hints: {{first: v{number}}}}}\n'
        f'- {{hints: {{last: v{number}}}}}\n'
    )


@ddt.ddt
class TestMappingFileProvider(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'mapping.yaml'

    def provider(self, text=None):
        if text is not None:
            self.path.write_text(text)
        return mapping_file.MappingFileProvider(
            requests.configuration(self.path)
        )

    def test_the_file_gives_the_hints_and_is_read_again_when_it_changes(self):
        provider = self.provider(GOOD)
        self.assertEqual({'rack': 'r1'}, provider.hints(REQUEST))
        self.path.write_text(BETTER)
        self.assertEqual(
            {'rack': 'r2', 'tier': 'gold'}, provider.hints(REQUEST)
        )
        self.path.write_text('[]')
        self.assertEqual({}, provider.hints(REQUEST))

    @ddt.data(
        '010', '1.10', 'no', '12:30', '2024-01-01', '0x1F', '~', '1e3', '.inf',
        '!!int 7', '!!python/name:os.system x',
    )  # fmt: skip
    def test_a_value_is_the_text_that_stands_there(self, text):
        provider = self.provider(f'- {{hints: {{rack: {text}}}}}\n')
        # A tag makes no object.
        self.assertEqual({'rack': text.split()[-1]}, provider.hints(REQUEST))

    def test_while_one_thread_reads_the_old_rules_are_in_force(self):
        provider = self.provider(GOOD)
        parse = mapping.parse
        begun = threading.Event()
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def slowly(*args):
            begun.set()
            go_on.wait(threads.LIMIT)
            return parse(*args)

        self.path.write_text(BETTER)
        new_answers = []
        reader = threading.Thread(
            target=lambda: new_answers.append(provider.hints(REQUEST))
        )
        with mock.patch.object(mapping, 'parse', slowly):
            reader.start()
            self.assertTrue(begun.wait(threads.LIMIT))
            old_answers = [provider.hints(REQUEST) for _ in range(3)]
            go_on.set()
            threads.join([reader])
        self.assertEqual([{'rack': 'r1'}] * 3, old_answers)
        self.assertEqual([{'rack': 'r2', 'tier': 'gold'}], new_answers)

    def test_each_of_many_threads_gets_what_one_version_promises(self):
        provider = self.provider(version(1))
        answers = []

        def ask():
            for _ in range(50):
                answers.append(provider.hints(REQUEST))

        readers = [threading.Thread(target=ask) for _ in range(4)]
        for reader in readers:
            reader.start()
        for number in range(2, 40):
            part = self.path.with_suffix('.part')
            part.write_text(version(number))
            part.rename(self.path)
            answers.append(provider.hints(REQUEST))
        threads.join(readers)
        for hints in answers:
            self.assertEqual(hints['first'], hints['last'])
        self.assertEqual('v39', provider.hints(REQUEST)['first'])

    def test_what_was_read_at_the_start_is_not_read_in_each_worker(self):
        self.path.write_text(GOOD)
        conf = requests.configuration(self.path)
        mapping_file.MappingFileProvider.check(conf)
        with mock.patch.object(mapping, 'parse') as parse:
            provider = mapping_file.MappingFileProvider(conf)
            self.assertEqual({'rack': 'r1'}, provider.hints(REQUEST))
        parse.assert_not_called()
        self.path.write_text(BETTER)
        self.assertEqual('r2', provider.hints(REQUEST)['rack'])

    def assert_kept(self, provider, reason):
        """Fail unless the last good content is in force, told once."""
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            answers = [provider.hints(REQUEST) for _ in range(3)]
        self.assertEqual([{'rack': 'r1'}] * 3, answers)
        (record,) = logs.records
        for words in (reason, str(self.path), 'stay in force'):
            self.assertIn(words, record.getMessage())
        self.assertNotIn('\n', record.getMessage())

    @ddt.data(
        (b'', 'the file is empty'),
        (b'# empty\n', 'the file is empty'),
        (b'- {hints: {rack: r1, rack: r2}}', 'is given twice'),
        (b'- {hints: {a: b}, hints: {c: d}}', 'is given twice'),
        (b'\xff\xfe\x00', 'UnicodeDecodeError'),
        (b'- {hints: [', 'ParserError'),
        (b'rack: r2', 'must hold a list'),
        (b'[' * 2_000_000, 'more than 8 levels'),
        (b'- {hints: {rack: r2}}\n---\n- {hints: {a: b}}', 'several'),
        (b'- {hints: {[rack]: r2}}', 'is no text'),
        (b'- {hints: {}}', 'entry 1 has no "hints"'),
        (b'- {hints: {a: b}, type: os::nova::server}', 'os::nova::server'),
        (b'- {hints: {a: b}, project: }', 'an empty project'),
        (b'#' * (mapping_file.MAX_BYTES + 1), 'larger than 2097152 bytes'),
        # A "billion laughs": without aliases nothing is multiplied.
        (
            b'- &a [x, x]\n- &b [*a, *a]\n- &c [*b, *b]\n',
            'aliases ("*name") are not understood',
        ),
        (b'- &a {hints: {rack: r2, self: *a}}', 'aliases'),
    )
    @ddt.unpack
    def test_content_that_cannot_be_used_keeps_the_last_good_one(
        self, content, reason
    ):
        provider = self.provider(GOOD)
        self.path.write_bytes(content)
        self.assert_kept(provider, reason)

    def test_what_is_no_file_keeps_the_last_content(self):
        for put, reason in (
            (lambda: None, 'FileNotFoundError'),
            (self.path.mkdir, 'not a regular file'),
            # It is not waited for.
            (lambda: os.mkfifo(self.path), 'not a regular file'),
            (lambda: self.path.symlink_to(self.path), 'OSError'),
        ):
            with self.subTest(reason):
                provider = self.provider(GOOD)
                self.path.unlink()
                put()
                self.assert_kept(provider, reason)
                if self.path.is_dir():
                    self.path.rmdir()
                self.path.unlink(missing_ok=True)

    def test_a_file_that_may_not_be_read_keeps_the_last_content(self):
        provider = self.provider(GOOD)
        self.path.chmod(0)
        if os.geteuid() == 0:
            # Root may read every file; heat-engine does not run as root.
            # unittest imports what this needs late, maybe from a home of
            # root's.
            self.assertLogs()
            self.addCleanup(os.seteuid, 0)
            os.seteuid(NOBODY)
        self.assert_kept(provider, 'PermissionError')
        os.seteuid(os.getuid())
        self.path.chmod(0o600)
        self.assertEqual({'rack': 'r1'}, provider.hints(REQUEST))

    def test_a_file_that_another_takes_the_place_of_is_read_again(self):
        provider = self.provider(GOOD)
        other = self.path.with_suffix('.new')
        # Same size and time: only the file is another one.
        other.write_text(GOOD.replace('r1', 'r2'))
        status = os.stat(self.path)
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(other, self.path)
        self.assertEqual({'rack': 'r2'}, provider.hints(REQUEST))

    def test_without_a_good_file_at_the_start_it_fails_until_there_is_one(
        self,
    ):
        for text in (None, '- nonsense'):
            self.path.unlink(missing_ok=True)
            mapping_file._read_once.cache_clear()
            with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
                provider = self.provider(text)
            self.assertIn('There are no rules', logs.output[0])
            with self.assertRaisesRegex(ProviderError, 'not be read yet'):
                provider.hints(REQUEST)
            self.path.write_text(GOOD)
            self.assertEqual({'rack': 'r1'}, provider.hints(REQUEST))
