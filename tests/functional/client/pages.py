# SPDX-License-Identifier: Apache-2.0

"""What the page of the commands says: its examples, and how to save files."""

import re

from tests import console

PAGE = console.PAGES / 'commands.rst'
FILES = console.PAGES / 'examples'


def saving() -> dict[str, str]:
    """Return the commands of the page that save what a cloud has.

    :returns: the words after ``openstack`` by the name of the file.
    """
    pattern = re.compile(r'openstack (.*) > (\w+\.json)')
    return {
        match[2]: match[1]
        for example in console.examples(PAGE.name)
        if (match := pattern.fullmatch(example.command))
    }


def saving_servers() -> tuple[str, list[str]]:
    """Return how the page saves servers, which it does in a loop.

    :returns: the words between ``openstack`` and a server's name, and the
        names.
    """
    (loop,) = (
        example.command
        for example in console.examples(PAGE.name)
        if example.command.startswith('for ')
    )
    (names,) = re.findall(r'in (.*); do', loop)
    (words,) = re.findall(r'openstack (.*) \$server', loop)
    return words, names.split()
