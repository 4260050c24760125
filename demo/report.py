# SPDX-License-Identifier: Apache-2.0

"""The whole demo as one page: all tables and checks, and pictures of them.

The page is one file. It needs no network.
"""

import datetime
import importlib.metadata
import pathlib
import platform
from collections.abc import Iterable, Mapping
from typing import Any

#: Of each side, the same in every picture.
_COLORS = {
    'wanted': '#999999',
    'with the plug-ins': '#1f77b4',
    'with the weigher': '#1f77b4',
    'in-tree': '#ff7f0e',
    'Nova alone': '#ff7f0e',
}
#: Of each cell in a picture of boots.
_SIDES = ('wanted', 'with the plug-ins', 'in-tree')
#: How many pictures the start page has.
_FIRST = 2
#: What the parts run, whose versions the page tells.
_DISTRIBUTIONS = ('senlin', 'nova', 'openstack-heat', 'os-placement-plugins')


def page(parts: Iterable[Mapping[str, Any]], broken: bool = False) -> str:
    """Return the page: first the verdict, last what was real.

    :param broken: whether a service broke off, so that parts are missing.
    """
    installed = {
        distribution.name: distribution.version
        for distribution in importlib.metadata.distributions()
    }
    now = datetime.datetime.now(datetime.UTC)
    page: str = _template('report.html').render(
        parts=[*parts],
        broken=broken,
        colors=_COLORS,
        sides=_SIDES,
        today=now.strftime('%Y-%m-%d %H:%M UTC'),
        python=platform.python_version(),
        # Not every environment has each.
        versions=[
            (name, installed.get(name, 'not installed'))
            for name in _DISTRIBUTIONS
        ],
    )
    return page


def pictures(part: Mapping[str, Any]) -> str:
    """Return the first pictures of a part, for the start page."""
    steps = [step for step in part['steps'] if step['bars']]
    text: str = _template('pictures.html').render(
        steps=steps[:_FIRST], colors=_COLORS
    )
    return f'{text}\n'


def _template(name: str) -> Any:
    """Return a template of this folder."""
    # Only here, as prettytable in the command.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
    )
    return environment.get_template(name)
