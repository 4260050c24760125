# SPDX-License-Identifier: Apache-2.0

"""What is shown of an exception."""

import unittest

import ddt

from os_placement_plugins import errors

PASSWORD = 's3cret'
#: The forms in which an exception may show a password, and whether the
#: password is hidden. SECURITY.rst tells those that are not.
FORMS = (
    ('https://admin:s3cret@inventory/', True),
    ('mysql+pymysql://nova:s3cret@db/nova', True),
    ('rabbit://openstack:s3cret@mq:5672//', True),
    # A password with signs that separate the parts of a URL.
    ('https://admin:x/s3cret@y@inventory/', True),
    ('https://inventory/?token=s3cret', True),
    ("{'password': 's3cret'}", True),
    ('{"auth": {"admin_password": "s3cret", "user": "x"}}', True),
    ("{'adminPass': 's3cret'}", True),
    ("{'X-Auth-Token': 's3cret'}", True),
    ('password=s3cret', True),
    ('user=nova password="s3cret" host=db', True),
    ('login --password s3cret', True),
    ('<password>s3cret</password>', True),
    ('password: s3cret', False),
    ('X-Auth-Token: s3cret', False),
    ('Authorization: Bearer s3cret', False),
    ('admin:s3cret@inventory', False),
    ('nova:s3cret@tcp(db:3306)/nova', False),
    ('pwd=s3cret', False),
)


def make(name, module, base=Exception, **attributes):
    """Return an exception of a library that is not installed here."""
    namespace = {'__module__': module, **attributes}
    return type(name, (base,), namespace)('s3cret', 1045)


class Raising(Exception):
    def __init__(self, raised):
        self.raised = raised

    def __str__(self):
        raise self.raised


class NoText(Exception):
    def __str__(self):
        return None


#: Exceptions whose text cannot be read.
UNREADABLE = (
    Raising(RuntimeError('s3cret')),
    Raising(SystemExit(3)),
    Raising(RecursionError()),
    NoText(),
)


@ddt.ddt
class ErrorsTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ('a\n\x1b[31mb\x85 c\x00', r'a \x1b[31mb c\x00'),
        ('x' * 20_421, 'x' * errors.SHOWN + '…'),
        (' ', 'ValueError'),
        ("no A (['Traceback (most recent call last)'])", 'no A'),
        ("no number: 'mysql://nova:pw@db'", "no number: 'mysql://***@db'"),
    )
    def test_an_exception_is_one_printable_line_of_some_length(
        self, text, line
    ):
        self.assertEqual(line, errors.one_line(ValueError(text)))

    @ddt.data(*FORMS)
    @ddt.unpack
    def test_a_password_is_hidden_in_the_usual_forms(self, text, is_hidden):
        for line in (
            errors.one_line(ValueError(f'it failed: {text}')),
            errors.hide_passwords(text),
        ):
            self.assertEqual(is_hidden, PASSWORD not in line, line)

    def test_a_password_at_the_end_of_what_is_shown_is_hidden(self):
        text = f'{"x" * (errors.SHOWN - 18)} https://admin:s3cret@inventory'
        line = errors.one_line(ValueError(text))
        self.assertNotIn(PASSWORD[:3], line)

    @ddt.data(*UNREADABLE)
    def test_the_class_is_told_if_there_is_no_text(self, exc):
        self.assertEqual('', errors.text_of(exc))
        self.assertEqual(type(exc).__name__, errors.one_line(exc))
        self.assertEqual(type(exc).__name__, errors.named_line(exc))

    def test_the_class_is_told_once(self):
        for exc, line in (
            (KeyError('rack'), "KeyError: 'rack'"),
            (KeyError(), 'KeyError'),
        ):
            self.assertEqual(line, errors.named_line(exc))

    def test_the_error_of_a_database_is_its_number(self):
        number = 'error 1045 of the database'
        of_driver = make('OperationalError', 'pymysql.err')
        of_driver.args = 1045, "Access denied for 'nova' (s3cret)"
        of_library = make('OperationalError', 'sqlalchemy.exc', orig=of_driver)
        wrapped = make(
            'DBError', 'oslo_db.exception', inner_exception=of_library
        )
        for exc in (of_library, wrapped):
            name = type(exc).__name__
            self.assertEqual(number, errors.one_line(exc))
            self.assertEqual(f'{name}: {number}', errors.named_line(exc))
        # No number, or none of a driver.
        of_driver.args = ('no such table: s3cret',)
        of_library.args = (7,)
        lost = make('ArgumentError', 'sqlalchemy.exc', orig=None)
        for exc in (of_library, wrapped, lost):
            self.assertEqual(type(exc).__name__, errors.named_line(exc))
