# SPDX-License-Identifier: Apache-2.0

"""The whole demo as one page: all tables and checks, and pictures of them.

The page is one file. It needs no network.
"""

import datetime
import html
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto;
       padding: 0 1rem; color: #222; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left;
         vertical-align: top; }
th { background: #f2f2f2; }
.ok { color: #1a7f37; } .fail { color: #b00020; font-weight: bold; }
.bar { display: inline-block; height: .8rem; }
"""
#: Of the services without this package, and of each side in every picture.
_ALONE = '#ff7f0e'
_COLORS = {
    'wanted': '#999999',
    'with the plug-ins': '#1f77b4',
    'in-tree': _ALONE,
    'Nova alone': _ALONE,
}
#: Of what is a variant of the plug-ins.
_VARIANTS = ('#1f77b4', '#2ca02c')
#: Of each picture of boots.
_SIDES = ('wanted', 'with the plug-ins', 'in-tree')
#: What the parts run, whose versions the page tells.
_DISTRIBUTIONS = ('senlin', 'nova', 'openstack-heat', 'os-placement-plugins')


def _text(value: object) -> str:
    """Return a value as text of a page."""
    return html.escape('' if value is None else str(value))


def _element(name: str, content: str, **attributes: object) -> str:
    """Return an element; the content is markup."""
    told = ''.join(
        f' {key.rstrip("_")}="{_text(value)}"'
        for key, value in attributes.items()
    )
    return f'<{name}{told}>{content}</{name}>'


def _table(
    columns: Iterable[object], rows: Iterable[Iterable[str]], **what: object
) -> str:
    """Return a table; the cells below the columns are markup."""

    def line(name: str, cells: Iterable[str]) -> str:
        return _element('tr', ''.join(_element(name, one) for one in cells))

    lines = [line('th', map(_text, columns))]
    lines += [line('td', row) for row in rows]
    made = _element('table', '\n'.join(lines), **what)
    return _element('div', made, class_='scroll')


def table(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table."""
    return _table(columns, (map(_text, row) for row in rows))


def _colored(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return sides with their colours, the same in every picture."""
    return [
        (name, _COLORS.get(name, _VARIANTS[index % len(_VARIANTS)]))
        for index, name in enumerate(names)
    ]


def bars(series: Mapping[str, Mapping[str, int]]) -> str:
    """Return distributions as bars, one colour each.

    :param series: the number for each place, by the name of a distribution.
    """
    rows = []
    for place in next(iter(series.values())):
        own = ''
        for name, color in _colored(series):
            number = series[name][place]
            style = f'background: {color}; width: {1.5 * number}rem'
            bar = _element('span', '', class_='bar', style=style)
            own += _element('div', f'{bar} {number} {_text(name)}')
        rows.append([_text(place), own])
    return _table(('place', 'servers'), rows, class_='picture')


def boots(verdicts: Mapping[str, Mapping[str, Sequence[bool]]]) -> str:
    """Return where flavors boot: as the specification wants, and really.

    :param verdicts: by flavor and aggregate, whether a server is wanted
        there, is there with the plug-ins, and with the in-tree filter.
    """
    rows = []
    for flavor, cells in verdicts.items():
        told = [
            ' '.join(
                _element('b', '&#9632;' if passes else '&#9633;', title=name,
                         style=f'color: {color}')
                for (name, color), passes in zip(
                    _colored(_SIDES), cell, strict=True
                )
            )
            for cell in cells.values()
        ]  # fmt: skip
        rows.append([_text(flavor), *told])
    columns = ('boots', *next(iter(verdicts.values())))
    legend = ', '.join(
        _element('b', _text(name), style=f'color: {color}')
        for name, color in _colored(_SIDES)
    )
    made = _table(columns, rows, class_='picture')
    return made + _element('p', f'In each cell: {legend}.')


def _step(number: int, step: Mapping[str, Any]) -> str:
    """Return one step: its words, pictures, table and checks."""
    parts = [_element('h3', f'{number}. {_text(step["title"])}')]
    parts.append(_element('p', _text(step['note'])))
    if step.get('bars'):
        parts.append(bars(step['bars']))
    if step.get('boots'):
        parts.append(boots(step['boots']))
    parts.append(table(step['columns'], step['rows']))
    for check in step['checks']:
        kind, told = 'ok', _text(check['what'])
        if not check['ok']:
            kind = 'fail'
            told += f'; wanted {_text(check["wanted"])}'
            told += f', found {_text(check["found"])}'
        parts.append(_element('div', f'{kind}: {told}', class_=kind))
    return '\n'.join(parts)


def _version(name: str) -> str:
    """Return an installed version; not every environment has each."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return 'not installed'


def page(parts: Iterable[Mapping[str, Any]], broken: bool = False) -> str:
    """Return the page: first the verdict, last what was real.

    :param broken: whether a service broke off, so that parts are missing.
    """
    parts = list(parts)
    failed = sum(one['failed'] for one in parts)
    checks = sum(one['checks'] for one in parts)
    verdict = f'{checks - failed} of {checks} checks hold.'
    if broken:
        verdict += ' A service broke off: see its log beside this page.'
    today = datetime.datetime.now(datetime.UTC).strftime('%Y-%m-%d %H:%M UTC')
    body = [
        _element('h1', 'What the demo did'),
        _element('p', verdict, class_='fail' if failed or broken else 'ok'),
        _element('p', f'{today}, Python {platform.python_version()}'),
        table(('', 'version'), ((n, _version(n)) for n in _DISTRIBUTIONS)),
    ]
    for one in parts:
        body.append(_element('h2', _text(one['service'])))
        body.append(_element('p', _text(one['unit'])))
        body.append(table(('', *one['compared']), one['beside']))
        body += [_step(n, step) for n, step in enumerate(one['steps'], 1)]
    body.append(_element('h2', 'Real and stubbed'))
    rows = (
        (one['service'], '; '.join(one['real']), '; '.join(one['stubs']))
        for one in parts
    )
    body.append(table(('', 'real', 'stubbed'), rows))
    head = '<meta charset="utf-8"/>' + _element('title', 'demo')
    head += '<meta name="viewport" content="width=device-width"/>'
    head += _element('style', _STYLE)
    whole = _element('head', head) + _element('body', '\n'.join(body))
    return f'<!DOCTYPE html>\n{_element("html", whole, lang="en")}\n'
