# SPDX-License-Identifier: Apache-2.0

"""The whole demo as one page: all tables and checks, and pictures of them.

The page is one file. It needs no network.
"""

import html
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
#: Of the wanted distribution or verdict, that of the plug-ins, and the other.
_COLORS = ('#999999', '#1f77b4', '#ff7f0e', '#2ca02c')
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


def _legend(names: Iterable[str], y: int) -> list[str]:
    """Return what the colours mean, below a picture."""
    shapes = []
    for index, name in enumerate(names):
        x = _LABEL + index * 170
        box = {'x': x, 'y': y, 'width': 12, 'height': 12}
        shapes.append(_element('rect', '', fill=_COLORS[index], **box))
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
        for color, numbers in zip(_COLORS, series.values(), strict=False):
            number = numbers[place]
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
                color = _COLORS[number]
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


def page(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return the page."""
    body = [_element('h1', 'What the demo did')]
    for one in parts:
        body.append(_element('h2', _text(one['service'])))
        for title, names in ('real', one['real']), ('STUBBED', one['stubs']):
            items = ''.join(_element('li', _text(name)) for name in names)
            body.append(_element('p', title) + _element('ul', items))
        body.append(_element('p', _text(one['unit'])))
        body.append(table(('', *one['compared']), one['beside']))
        body += [_step(n, step) for n, step in enumerate(one['steps'], 1)]
    head = '<meta charset="utf-8"/>' + _element('title', 'demo')
    head += '<meta name="viewport" content="width=device-width"/>'
    head += _element('style', _STYLE)
    whole = _element('head', head) + _element('body', '\n'.join(body))
    return f'<!DOCTYPE html>\n{_element("html", whole, lang="en")}\n'
