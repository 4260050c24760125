# SPDX-License-Identifier: Apache-2.0

"""Find lines of configuration files that have no effect."""

import difflib
import pathlib
from collections.abc import Iterable, Iterator
from typing import Final

from oslo_config import cfg

from os_placement_plugins import options

#: The options that a file may set in several lines, one line for each value.
SEVERAL_LINES: Final = frozenset({'available_filters'})


def find_unread(
    config: cfg.ConfigOpts,
    of_package: options.Options,
    of_service: options.Options = (),
) -> tuple[list[str], list[str]]:
    """Find options in the files that do not exist, or that are set twice.

    Only the sections of the two parameters are checked. Any other section is
    reported as misspelled if the service does not know the section, and if the
    name is similar to the name of a checked section.

    :param config: the configuration, read from files.
    :returns: two lists of texts. The first list has the options that do not
        exist, and the misspelled sections. The second list has the options
        that a file sets twice, although only the last line counts.
    """
    sections: dict[str, set[str]] = {'DEFAULT': set()}
    homes = {}
    for group, opts in [*of_service, *of_package]:
        names = {opt.dest for opt in opts}
        sections[group.name] = names
        homes.update(dict.fromkeys(names, group.name))
    package_sections = {group.name for group, _ in of_package}
    unread, repeated = set(), set()
    for title, name, values in _lines(config):
        section = title if title == 'DEFAULT' else title.lower()
        option = f'[{title}] {name}'
        if section not in sections:
            near = _nearest(section, sections, cutoff=0.85)
            if near and section not in config:
                unread.add(f'section [{title}]{near}')
        elif name in options.section_of(config, section):
            once = name in sections[section] and name not in SEVERAL_LINES
            if once and len(values) > 1:
                repeated.add(f'{option} has {len(values)} lines')
        elif name in homes:
            unread.add(f'{option} (it belongs to [{homes[name]}])')
        else:
            near = _nearest(name, sections[section], cutoff=0.8)
            if near or section in package_sections:
                unread.add(f'{option}{near}')
    return sorted(unread), sorted(repeated)


def _lines(
    config: cfg.ConfigOpts,
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the section, the name and the values of each option of a file."""
    files = [pathlib.Path(name) for name in config.config_file or ()]
    for folder in config.config_dir or ():
        files += sorted(pathlib.Path(folder).glob('*.conf'))
    for file in files:
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(str(file), sections).parse()
        for title, options_of_section in sections.items():
            for name, values in options_of_section.items():
                yield title, name, values


def _nearest(name: str, names: Iterable[str], cutoff: float) -> str:
    """Return a text with the most similar name; empty without one."""
    for match in difflib.get_close_matches(name, names, n=1, cutoff=cutoff):
        return f' (the nearest is {match})'
    return ''
