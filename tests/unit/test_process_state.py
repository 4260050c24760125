# SPDX-License-Identifier: Apache-2.0

"""What a test, or a class of tests, leaves behind is told by its name."""

import functools
import io
import logging
import os
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable

import ddt
from oslo_config import cfg

from tests import leaks, process_state

#: Where the tests leave something, so that it can be taken away again.
_LOGGER = 'tests.unit.test_process_state'
_VARIABLE = 'OPP_LEFT_BY_A_TEST'

#: Takes away what a test has left.
Undo = Callable[[], object]


def leave_option() -> Undo:
    """Override an option."""
    cfg.CONF.set_override('size', 7, group='left')
    return lambda: cfg.CONF.clear_override('size', group='left')


def leave_default() -> Undo:
    """Give an option another default."""
    cfg.CONF.set_default('size', 7, group='left')
    return lambda: cfg.CONF.clear_default('size', group='left')


def leave_variable() -> Undo:
    """Set an environment variable."""
    os.environ[_VARIABLE] = 'yes'
    return lambda: os.environ.pop(_VARIABLE)


def leave_folder() -> Undo:
    """Go to another folder."""
    before = os.getcwd()
    os.chdir(tempfile.gettempdir())
    return lambda: os.chdir(before)


def leave_path() -> Undo:
    """Have Python look for modules in one more folder."""
    sys.path.append('/nowhere')
    return lambda: sys.path.remove('/nowhere')


def leave_level() -> Undo:
    """Set the level of a logger."""
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(logging.DEBUG)
    return lambda: logger.setLevel(logging.NOTSET)


def leave_handler() -> Undo:
    """Give a logger a handler."""
    logger = logging.getLogger(_LOGGER)
    handler = logging.StreamHandler(io.StringIO())
    logger.addHandler(handler)
    return lambda: logger.removeHandler(handler)


def leave_silence() -> Undo:
    """Have nobody log anything."""
    logging.disable(logging.ERROR)
    return lambda: logging.disable(logging.NOTSET)


def leave_thread() -> Undo:
    """Start a thread that waits."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name='left', daemon=True)
    thread.start()

    def undo() -> None:
        end.set()
        thread.join()

    return undo


LEAKS = (
    (leave_option, 'override of option [left] size is new: 7'),
    (leave_default, 'default of option [left] size is new: 7'),
    (leave_variable, f"environment variable {_VARIABLE} is new: 'yes'"),
    (leave_folder, f'current folder is {tempfile.gettempdir()!r}; it was'),
    (leave_path, "'/nowhere']; it was ["),
    (leave_level, f'level of logger "{_LOGGER}" is new: \'DEBUG\''),
    (leave_handler, f'handlers of logger "{_LOGGER}" is new: [<Stream'),
    (leave_silence, 'logging.disable is 40; it was 0'),
    (leave_thread, 'thread "left" still runs'),
)


@ddt.ddt
class LeakTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        option = cfg.IntOpt('size')
        cfg.CONF.register_opt(option, group='left')
        self.addCleanup(cfg.CONF.unregister_opt, option, group='left')

    def undoing(self, leave: Callable[[], Undo]) -> Callable[[], None]:
        """Return a function that leaves something until this test ends."""
        return lambda: self.addCleanup(leave())

    @ddt.idata(LEAKS)
    @ddt.unpack
    def test_a_test_fails_by_its_name(self, leave, words) -> None:
        ((name, text),) = leaks.planted(in_test=self.undoing(leave))
        self.assertTrue(name.endswith('.Planted.test_first'), name)
        self.assertIn(words, text)

    @ddt.idata(LEAKS)
    @ddt.unpack
    def test_a_class_fails_by_its_name(self, leave, words) -> None:
        ((name, text),) = leaks.planted(in_class=self.undoing(leave))
        self.assertRegex(name, r'^tearDownClass \(.*\.Planted\)$')
        self.assertIn(words, text)

    @ddt.idata(LEAKS)
    @ddt.unpack
    def test_a_clean_test_passes(self, leave, _words) -> None:
        self.assertEqual([], leaks.planted(in_test=lambda: leave()()))

    @ddt.idata(LEAKS)
    @ddt.unpack
    def test_a_class_may_undo_in_its_last_cleanup(self, leave, _words) -> None:
        class Clean(unittest.TestCase):
            @classmethod
            def setUpClass(cls) -> None:
                super().setUpClass()
                cls.addClassCleanup(leave())

            def test_nothing(self) -> None:
                pass

        self.assertEqual([], leaks.reports(Clean))

    def test_what_a_test_takes_away_is_told(self) -> None:
        os.environ[_VARIABLE] = 'yes'
        take_away = functools.partial(os.environ.pop, _VARIABLE)
        ((name, text),) = leaks.planted(in_test=take_away)
        self.assertTrue(name.endswith('.Planted.test_first'), name)
        self.assertIn(f"{_VARIABLE} is gone; it was 'yes'", text)

    def test_a_thread_may_end(self) -> None:
        self.assertEqual([], leaks.planted(in_test=leave_thread()))

    def test_a_logger_may_be_asked_for_first(self) -> None:
        get_logger = functools.partial(logging.getLogger, f'{_LOGGER}.new')
        self.assertEqual([], leaks.planted(in_test=get_logger))

    def test_a_class_that_cannot_be_compared_fails(self) -> None:
        class Forgetful(unittest.TestCase):
            @classmethod
            def setUpClass(cls) -> None:
                """Do not call the base class."""

            def test_nothing(self) -> None:
                pass

        ((name, text),) = leaks.reports(Forgetful)
        self.assertTrue(name.endswith('.Forgetful.test_nothing'), name)
        self.assertIn('does not call super().setUpClass()', text)

    def test_a_class_of_another_base_is_refused(self) -> None:
        process_state.check_base(type(self))
        with self.assertRaisesRegex(TypeError, 'FunctionTestCase'):
            process_state.check_base(unittest.FunctionTestCase)
