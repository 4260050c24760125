# SPDX-License-Identifier: Apache-2.0

"""Random stacks, nested and grouped, and what Heat does to them."""

import random
from collections.abc import Iterator
from typing import Any

from testing.heat.templates import (
    group,
    instance,
    scaled,
    server,
    stack,
    template,
    texts,
)

#: What the tests' templates set themselves: two reserved names, and a hint.
CLAIMED = {
    'heat_root_stack_id': 'claimed',
    'heat_resource_name': 'claimed',
    'tier': 'gold',
}
#: The user data of a server whose template sets :data:`CLAIMED`.
CLAIMING = 'claiming'
#: How deep stacks are nested, the root stack not counted.
DEPTH = 6
PROJECTS = ('first', 'second')

Data = dict[str, Any]


def member(rng: random.Random) -> Data:
    """Return a server; half of them have hints of the template."""
    if rng.random() < 0.5:
        return server()
    return server(hints=CLAIMED, user_data=CLAIMING, user_data_format='RAW')


class Shape:
    """A random template, and the files that it names."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.files: dict[str, Data] = {}
        self.template = self._template(depth=0)

    def _template(self, depth: int) -> Data:
        resources = {}
        for number in range(self._rng.randint(1, 3)):
            resources[f'part{number}'] = self._resource(depth)
        return template(**resources)

    def _resource(self, depth: int) -> Data:
        rng = self._rng
        kind = rng.choice(['server', 'instance', 'group', 'nested', 'nested'])
        if kind == 'instance':
            return instance()
        if kind == 'group':
            grouped = rng.choice([group, scaled])
            return grouped(rng.randint(1, 3), member(rng))
        if kind == 'server' or depth >= DEPTH - 1:
            return member(rng)
        file = f'file{len(self.files)}.yaml'
        # The name is taken while the stack below takes others.
        self.files[file] = {}
        grouped = rng.choice([None, None, group, scaled])
        if grouped is None:
            self.files[file] = self._template(depth + 1)
            return {'type': file}
        # A group is a stack of its own.
        self.files[file] = self._template(depth + 2)
        return grouped(rng.randint(1, 2), {'type': file})


def make_deep(rng: random.Random, name: str) -> Data:
    """Return a stack with the most levels, and a server in each."""
    files = {}
    below: Data = template(here=member(rng))
    for level in range(DEPTH, 0, -1):
        files[f'level{level}.yaml'] = below
        nested = {'type': f'level{level}.yaml'}
        below = template(here=member(rng), nested=nested)
    return stack(name, below, files=files)


def make_changed(rng: random.Random, name: str) -> Data:
    """Return a stack that is updated to another one."""
    before, after = Shape(rng), Shape(rng)
    update = ('update', after.template, {'files': texts(after.files)})
    return stack(name, before.template, files=before.files, steps=[update])


def stacks(rng: random.Random, count: int) -> Iterator[Data]:
    """Yield so many stacks, of all kinds in turn, of two projects."""
    kinds = (make_deep, make_changed)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        made = kind(rng, f'{kind.__name__}{number}')
        yield {**made, 'project': PROJECTS[number % len(PROJECTS)]}
