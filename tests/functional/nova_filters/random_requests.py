# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Random flavors and hosts, as Nova's own objects."""

import dataclasses
import random
from typing import Any

from nova import objects
from nova.scheduler import host_manager

#: How many requests a test judges.
CASES = 5000
_KEYS = ('k', 'l', 'm', 'aggregate_instance_extra_specs:k', 'hw:k', 'q:l')
_METADATA_KEYS = ('k', 'l', 'm', 'hw:k', 'q:l')
_WORDS = ('1', '2', '10', '2.5', 'two', 'x', '', 'nan')
_OPERATORS = (
    '=', '==', '!=', '>=', '<=', 's==', 's!=', 's<', 's<=', 's>', 's>=',
    '<in>', '<all-in>', '<or>',
)  # fmt: skip


def text(rng: random.Random, sentinels: bool) -> str:
    """Return the value of an extra spec."""
    words = (*_WORDS, '*', '~', '!') if sentinels else _WORDS
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(words)
    if kind < 0.7:
        count = rng.randint(0, 3)
        return ' '.join(f'<or> {rng.choice(words)}' for _ in range(count))
    count = rng.randint(0, 2)
    return ' '.join(
        [rng.choice(_OPERATORS), *(rng.choice(words) for _ in range(count))]
    )


def _extra_specs(rng: random.Random, sentinels: bool) -> dict[str, str]:
    """Return the extra specs of a flavor."""
    keys = rng.sample(_KEYS, rng.randint(0, 3))
    return {key: text(rng, sentinels) for key in keys}


def _metadata(rng: random.Random, sentinels: bool) -> dict[str, str]:
    """Return the metadata of an aggregate."""
    data = {
        key: ','.join(
            text(rng, True) if sentinels else rng.choice(_WORDS)
            for _ in range(rng.randint(1, 2))
        )
        for key in rng.sample(_METADATA_KEYS, rng.randint(0, 4))
    }
    if sentinels and rng.random() < 0.5:
        data['force_metadata_check'] = rng.choice(('True', 'False'))
    return data


@dataclasses.dataclass(frozen=True)
class Request:
    """A random flavor and hosts, as Nova's own objects."""

    spec: Any
    hosts: list[Any]


def request(rng: random.Random, sentinels: bool) -> Request:
    """Return a random request."""
    aggregates = [
        objects.Aggregate(
            id=number, name=f'a{number}', metadata=_metadata(rng, sentinels)
        )
        for number in range(rng.randint(0, 3))
    ]
    hosts = []
    for number in range(3):
        state = host_manager.HostState(f'h{number}', f'h{number}', None)
        state.aggregates = rng.sample(
            aggregates, rng.randint(0, len(aggregates))
        )
        hosts.append(state)
    spec = objects.RequestSpec(
        flavor=objects.Flavor(extra_specs=_extra_specs(rng, sentinels)),
        scheduler_hints={},
    )
    return Request(spec, hosts)
