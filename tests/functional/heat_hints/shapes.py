# SPDX-License-Identifier: Apache-2.0

"""Random stacks of every shape, and what Heat can do to them."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from testing.heat import loopback
from testing.heat.templates import (
    autoscaling,
    group,
    instance,
    scaled,
    server,
    stack,
    template,
)
from tests.functional.heat_hints.specification import CLAIMED, CLAIMING

#: How deep stacks are nested, the root stack not counted.
DEPTH = 6
PROJECTS = ('first', 'second')
#: A launch configuration names no network, which Nova asks for. So each
#: instance becomes a stack with an instance that has a network.
ENVIRONMENT = {'resource_registry': {'AWS::EC2::Instance': 'instance.yaml'}}
INSTANCE = {
    **template(instance=instance()),
    'parameters': {
        'ImageId': {'type': 'string'},
        'InstanceType': {'type': 'string'},
        'NetworkInterfaces': {'type': 'comma_delimited_list', 'default': []},
        'Tags': {'type': 'comma_delimited_list', 'default': []},
    },
    # Heat asks for the attributes of an instance.
    'outputs': {
        name: {'value': ''}
        for name in (
            'AvailabilityZone',
            'PrivateDnsName',
            'PublicDnsName',
            'PrivateIp',
            'PublicIp',
        )
    },
}

Data = dict[str, Any]


def member(rng: random.Random) -> Data:
    """Return a server; half of them have hints of the template."""
    if rng.random() < 0.5:
        return server()
    return server(hints=CLAIMED, user_data=CLAIMING, user_data_format='RAW')


def instance_group(count: int) -> dict[str, Data]:
    """Return the resources of an InstanceGroup."""
    return {
        'instances': {
            'type': 'OS::Heat::InstanceGroup',
            'properties': {
                'AvailabilityZones': ['nova'],
                'LaunchConfigurationName': {'get_resource': 'launch'},
                'Size': count,
            },
        },
        'launch': {
            'type': 'AWS::AutoScaling::LaunchConfiguration',
            'properties': {
                'ImageId': 'cirros',
                'InstanceType': loopback.FLAVOR,
            },
        },
    }


class Shape:
    """The resources of one random stack, and the files that they name."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.files: dict[str, Data] = {'instance.yaml': INSTANCE}

    def resources(self, depth: int = 0) -> dict[str, Data]:
        """Return the resources of a stack.

        :param depth: how many stacks are above.
        """
        rng = self._rng
        made: dict[str, Data] = {}
        for number in range(rng.randint(1, 3)):
            make = rng.choice(
                [self._server, self._instance, self._group, self._instances]
                + [self._nested, self._nested] * (depth < DEPTH)
            )
            made |= make(f'part{number}', depth)
        return made

    def _server(self, name: str, depth: int) -> dict[str, Data]:
        return {name: member(self._rng)}

    def _instance(self, name: str, depth: int) -> dict[str, Data]:
        return {name: instance()}

    def _instances(self, name: str, depth: int) -> dict[str, Data]:
        return instance_group(self._rng.randint(1, 2))

    def _group(self, name: str, depth: int) -> dict[str, Data]:
        kind = self._rng.choice([group, scaled])
        return {name: kind(self._rng.randint(1, 3), member(self._rng))}

    def _nested(self, name: str, depth: int) -> dict[str, Data]:
        file = f'file{len(self.files)}.yaml'
        # The name is taken while the stack below takes others.
        self.files[file] = {}
        # A group is a stack of its own.
        kind = self._rng.choice([None, None, group, scaled])
        if kind is None or depth + 1 == DEPTH:
            self.files[file] = template(**self.resources(depth + 1))
            return {name: {'type': file}}
        self.files[file] = template(**self.resources(depth + 2))
        return {name: kind(self._rng.randint(1, 2), {'type': file})}


def chain(rng: random.Random) -> tuple[Data, dict[str, Data]]:
    """Return a template and its files: each nested stack has a server."""
    files = {}
    below: Data = template(here=member(rng))
    for level in range(DEPTH, 0, -1):
        files[f'level{level}.yaml'] = below
        below = template(
            here=member(rng), nested={'type': f'level{level}.yaml'}
        )
    return below, files


def two_servers(rng: random.Random) -> Data:
    """Return a template with two servers."""
    return template(kept=server(), changed=member(rng))


def nested(rng: random.Random, name: str) -> Data:
    """Return a stack of any shape, which is then updated to another."""
    shape, other = Shape(rng), Shape(rng)
    data = template(**shape.resources())
    change = template(**other.resources())
    return stack(
        name,
        data,
        files=shape.files,
        environment=ENVIRONMENT,
        steps=[
            (
                'update',
                change,
                {
                    'files': stack('', {}, files=other.files)['files'],
                    'environment': ENVIRONMENT,
                },
            )
        ]
        * (rng.random() < 0.5),
    )


def amazon(rng: random.Random, name: str) -> Data:
    """Return a stack in the words of Amazon's cloud."""
    made = instance()
    data = {
        'AWSTemplateFormatVersion': '2010-09-09',
        'Resources': {
            'one': {'Type': made['type'], 'Properties': made['properties']}
        },
    }
    return stack(name, data)


def deep(rng: random.Random, name: str) -> Data:
    """Return a stack with the most levels."""
    data, files = chain(rng)
    return stack(name, data, files=files)


def restored(rng: random.Random, name: str) -> Data:
    """Return a stack whose servers are replaced, and come back."""
    steps = [
        ('snapshot', None),
        ('update', template(kept=server(), changed=member(rng))),
        ('update', template(kept=member(rng), added=member(rng))),
        ('restore', None),
    ]
    return stack(name, two_servers(rng), steps=steps)


def adopted(rng: random.Random, name: str) -> Data:
    """Return a stack that is abandoned, adopted, and then replaced."""
    steps = [('abandon', None), ('update', template(kept=member(rng)))]
    return stack(name, two_servers(rng), steps=steps)


def grown(rng: random.Random, name: str) -> Data:
    """Return a group that a signal makes larger."""
    count = rng.randint(1, 2)
    steps = [('signal', ('out', count + 1)), ('signal', ('in', count))]
    return stack(name, autoscaling(count, member(rng)), steps=steps)


KINDS: tuple[Callable[[random.Random, str], Data], ...] = (
    deep,
    nested,
    restored,
    adopted,
    grown,
    amazon,
    nested,
    nested,
)


def stacks(rng: random.Random, count: int) -> Iterator[Data]:
    """Yield so many stacks, of all kinds in turn, of two projects."""
    for number in range(count):
        project = PROJECTS[number // 2 % 2]
        kind = KINDS[number % len(KINDS)]
        yield {
            **kind(rng, f'{kind.__name__}{number}'),
            'project': project,
        }
