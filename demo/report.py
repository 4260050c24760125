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
q { color: #444; }
.ok { color: #1a7f37; } .fail { color: #b00020; font-weight: bold; }
svg { margin: .5rem 0; max-width: 100%; height: auto; }
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
_VARIANTS = ('#1f77b4', '#2ca02c', '#9467bd', '#17becf')
#: What the parts run, whose versions the page tells.
_DISTRIBUTIONS = ('senlin', 'nova', 'openstack-heat', 'os-placement-plugins')
_ROW, _LABEL, _UNIT = 18, 210, 24


def _text(value: object) -> str:
    """Return a value as text of a page."""
    return html.escape('' if value is None else str(value))


def _element(name: str, content: str, **attributes: object) -> str:
    """Return an element; the content is markup."""
    told = ''.join(
        f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"'
        for key, value in attributes.items()
    )
    return f'<{name}{told}>{content}</{name}>'


def table(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table."""

    def line(name: str, cells: Iterable[object]) -> str:
        inner = ''.join(_element(name, _text(cell)) for cell in cells)
        return _element('tr', inner)

    lines = [line('th', columns), *(line('td', row) for row in rows)]
    return _element(
        'div', _element('table', '\n'.join(lines)), class_='scroll'
    )


def _svg(width: int, height: int, shapes: Sequence[str], title: str) -> str:
    """Return a picture."""
    return _element(
        'svg',
        _element('title', _text(title)) + '\n'.join(shapes),
        width=width,
        height=height,
        viewBox=f'0 0 {width} {height}',
        font_family='sans-serif',
        font_size=12,
        role='img',
    )


def _color(name: str, index: int) -> str:
    """Return the colour of a side; it is the same in every picture."""
    return _COLORS.get(name, _VARIANTS[index])


def _legend(names: Iterable[str], y: int) -> list[str]:
    """Return what the colours mean, below a picture."""
    shapes = []
    for index, name in enumerate(names):
        x = _LABEL + index * 170
        box = {'x': x, 'y': y, 'width': 12, 'height': 12}
        shapes.append(_element('rect', '', fill=_color(name, index), **box))
        shapes.append(_element('text', _text(name), x=x + 18, y=y + 11))
    return shapes


def bars(series: Mapping[str, Mapping[str, int]]) -> str:
    """Return distributions as bars, one colour each.

    :param series: the number for each place, by the name of a distribution.
    """
    places = list(next(iter(series.values())))
    shapes, y = [], 0
    for place in places:
        shapes.append(_element('text', _text(place), x=0, y=y + 14))
        for index, (name, numbers) in enumerate(series.items()):
            number, color = numbers[place], _color(name, index)
            box = {'x': _LABEL, 'y': y + 3, 'height': _ROW - 5}
            width = max(1, number * _UNIT)
            shapes.append(_element('rect', '', fill=color, width=width, **box))
            right = _LABEL + width + 6
            shapes.append(_element('text', str(number), x=right, y=y + 14))
            y += _ROW
        y += 6
    most = max(max(numbers.values()) for numbers in series.values())
    width = _LABEL + max(most * _UNIT + 40, 170 * len(series))
    shapes += _legend(series, y + 4)
    return _svg(width, y + 24, shapes, 'distribution')


def boots(verdicts: Mapping[str, Mapping[str, Sequence[bool]]]) -> str:
    """Return where flavors boot: as the specification wants, and really.

    :param verdicts: by flavor and aggregate, whether a server is wanted
        there, is there with the plug-ins, and with the in-tree filter.
    """
    names = ('wanted', 'with the plug-ins', 'in-tree')
    aggregates = list(next(iter(verdicts.values())))
    shapes = [
        _element('text', _text(name), x=_LABEL + index * 110, y=14)
        for index, name in enumerate(aggregates)
    ]
    y = 22
    for flavor, cells in verdicts.items():
        shapes.append(_element('text', _text(flavor), x=0, y=y + 14))
        for index, name in enumerate(aggregates):
            for number, passes in enumerate(cells[name]):
                color = _color(names[number], number)
                box = {'x': _LABEL + index * 110 + number * 20, 'y': y + 2}
                fill = color if passes else 'none'
                shapes.append(
                    _element(
                        'rect', '', width=14, height=14, fill=fill,
                        stroke=color, **box,
                    )
                )  # fmt: skip
        y += 22
    shapes += _legend(names, y + 6)
    width = _LABEL + max(110 * len(aggregates), 170 * len(names))
    return _svg(width, y + 26, shapes, 'which flavor boots where')


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
        kind = 'ok' if check['ok'] else 'fail'
        told = _text(check['what'])
        if not check['ok']:
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
    titles = [*(one['service'] for one in parts), 'Real and stubbed']
    links = (
        _element('li', _element('a', _text(title), href=f'#part-{number}'))
        for number, title in enumerate(titles)
    )
    body.append(_element('ul', ''.join(links)))
    for number, one in enumerate(parts):
        body.append(_element('h2', _text(one['service']), id=f'part-{number}'))
        body.append(_element('p', _text(one['unit'])))
        body.append(table(('', *one['compared']), one['beside']))
        body += [_step(n, step) for n, step in enumerate(one['steps'], 1)]
    body.append(_element('h2', titles[-1], id=f'part-{len(parts)}'))
    columns = ('', 'real', 'stubbed')
    rows = (
        (one['service'], '; '.join(one['real']), '; '.join(one['stubs']))
        for one in parts
    )
    body.append(table(columns, rows))
    head = '<meta charset="utf-8"/>' + _element('title', 'demo')
    head += '<meta name="viewport" content="width=device-width"/>'
    head += _element('style', _STYLE)
    whole = _element('head', head) + _element('body', '\n'.join(body))
    return f'<!DOCTYPE html>\n{_element("html", whole, lang="en")}\n'
