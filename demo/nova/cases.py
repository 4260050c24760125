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

"""Every example of the specification, written down as data.

What is wanted is copied from the sentences of the specification "Aggregate
Instance Type Filter", never from the evaluator. The unit tests ask the pure
evaluator for these cases, the functional tests and the demo ask a real
scheduler.

Nothing here imports a service.
"""

import dataclasses
from typing import Final

_ON: Final = {'force_metadata_check': 'True'}
_OFF: Final = {'force_metadata_check': 'False'}


@dataclasses.dataclass(frozen=True)
class Case:
    """One example: flavors, aggregates, and who may boot where.

    :param section: the section of the specification.
    :param slug: a short name, unique; hosts and flavors are named after it.
    :param quote: the sentences that say what is wanted.
    :param flavors: extra specs by flavor name.
    :param aggregates: metadata by aggregate name.
    :param wanted: for each flavor, the aggregates whose hosts pass.
    :param decision: what was decided where the specification is silent or
        contradicts itself; empty if it is neither.
    """

    section: str
    slug: str
    quote: str
    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, dict[str, str]]
    wanted: dict[str, frozenset[str]]
    decision: str = ''

    def passes(self, flavor: str, aggregate: str) -> bool:
        """Tell whether the specification lets ``flavor`` boot there.

        :param flavor: the flavor's name.
        :param aggregate: the aggregate's name.
        :returns: whether hosts of the aggregate pass.
        """
        return aggregate in self.wanted[flavor]


def _to(*aggregates: str) -> frozenset[str]:
    """Return the names of the aggregates whose hosts pass."""
    return frozenset(aggregates)


CASES: Final = (
    Case(
        section='Description',
        slug='description',
        quote=(
            'Flavor 1 can be booted in aggregate 2 and 3. '
            'Flavor 2 can be booted on all aggregates. '
            'Flavor 3 can be booted on aggregate 1 only. '
            'Flavor 4 can be booted on all aggregates.'
        ),
        flavors={
            'flavor 1': {'key': '~'},
            'flavor 2': {'key': '<or> * <or> ~'},
            'flavor 3': {'key': '*'},
            'flavor 4': {},
        },
        aggregates={
            'aggregate 1': {'key': '1', **_OFF},
            'aggregate 2': {},
            'aggregate 3': {'other key': '1', **_OFF},
        },
        wanted={
            'flavor 1': _to('aggregate 2', 'aggregate 3'),
            'flavor 2': _to('aggregate 1', 'aggregate 2', 'aggregate 3'),
            'flavor 3': _to('aggregate 1'),
            'flavor 4': _to('aggregate 1', 'aggregate 2', 'aggregate 3'),
        },
    ),
    Case(
        section='Use case 1',
        slug='uc1',
        quote=(
            'All hosts inside a host aggregate containing this key, despite '
            'of the value, will pass this check.'
        ),
        flavors={'flavor': {'key': '*'}},
        aggregates={
            'aggregate 1': {'key': '1'},
            'aggregate 2': {'key': 'two'},
            'aggregate 3': {},
        },
        wanted={'flavor': _to('aggregate 1', 'aggregate 2')},
        decision='The section names no aggregates; these three are ours.',
    ),
    Case(
        section='Use case 2',
        slug='uc2',
        quote='Hosts in aggregate 1 and 3 will pass this filter.',
        flavors={'flavor': {'key': '<or> 1 <or> ~'}},
        aggregates={
            'aggregate 1': {'key': '1'},
            'aggregate 2': {'key': '2'},
            'aggregate 3': {},
        },
        wanted={'flavor': _to('aggregate 1', 'aggregate 3')},
    ),
    Case(
        section='Use case 3',
        slug='uc3',
        quote='Only hosts in aggregate 2 will pass.',
        flavors={'flavor': {'key': '!'}},
        aggregates={
            'aggregate 1': {'key': '1'},
            'aggregate 2': {},
        },
        wanted={'flavor': _to('aggregate 2')},
    ),
    Case(
        section='Use case 4',
        slug='uc4',
        quote=(
            'In this example, hosts in this aggregate will pass only using '
            'the flavor 1. Without the key force_metadata_check set to '
            '"True", the flavor 3 will allow the use of hosts in the '
            'aggregate.'
        ),
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {},
        },
        aggregates={
            'forced': {'key': '1', **_ON},
            'not forced': {'key': '1'},
        },
        wanted={
            'flavor 1': _to('forced', 'not forced'),
            'flavor 2': _to(),
            'flavor 3': _to('not forced'),
        },
    ),
    Case(
        section='Use case 5, first example',
        slug='uc5a',
        quote=(
            'In this example, flavor 1 and 2 will pass hosts belonging to '
            'this aggregate.'
        ),
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {},
        },
        aggregates={'aggregate': {'key': '*', **_ON}},
        wanted={
            'flavor 1': _to('aggregate'),
            'flavor 2': _to('aggregate'),
            'flavor 3': _to(),
        },
    ),
    Case(
        section='Use case 5, second example',
        slug='uc5b',
        quote=(
            'Flavor 1 key value, "1", doesn\'t match the string "*". The '
            "same behaviour applies to flavor 2. Because flavor 3 doesn't "
            "have any requirement, it's accepted in this host aggregate. "
            'Flavor 4 won\'t pass because "key2" doesn\'t exists in the '
            'aggregate metadata.'
        ),
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {},
            'flavor 4': {'key': '*', 'key2': '2'},
        },
        aggregates={'aggregate': {'key': '*'}},
        wanted={
            'flavor 1': _to(),
            'flavor 2': _to(),
            'flavor 3': _to('aggregate'),
            'flavor 4': _to(),
        },
        decision='Flavor 4 fails on key2 alone; its "*" is met.',
    ),
    Case(
        section='Use case 5, third example',
        slug='uc5c',
        quote='Only flavor 3 will allow hosts in the aggregate.',
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {},
        },
        aggregates={'aggregate': {'key': '!', **_ON}},
        wanted={
            'flavor 1': _to(),
            'flavor 2': _to(),
            'flavor 3': _to('aggregate'),
        },
    ),
    Case(
        section='Use case 6, first example',
        slug='uc6a',
        quote=(
            "In this example, only flavor 4 won't pass the hosts inside the "
            'aggregate.'
        ),
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {'key': '<or> 2 <or> 3'},
            'flavor 4': {},
        },
        aggregates={'aggregate': {'key': '<or> 1 <or> 2', **_ON}},
        wanted={
            'flavor 1': _to('aggregate'),
            'flavor 2': _to('aggregate'),
            'flavor 3': _to('aggregate'),
            'flavor 4': _to(),
        },
    ),
    Case(
        section='Use case 6, second example',
        slug='uc6b',
        quote='In this second example, no flavor will pass the filter.',
        flavors={
            'flavor 1': {'key': '1'},
            'flavor 2': {'key': '2'},
            'flavor 3': {'key': '<or> 2 <or> 3'},
            'flavor 4': {},
            'flavor 5': {'key': '<or> 1 <or> 2'},
        },
        aggregates={'aggregate': {'key': '<or> 1 <or> 2'}},
        wanted={
            'flavor 1': _to(),
            'flavor 2': _to(),
            'flavor 3': _to(),
            'flavor 4': _to('aggregate'),
            'flavor 5': _to(),
        },
        decision=(
            'Flavor 4 asks for nothing and passes, as use cases 4 and 5 and '
            'the Description say of such flavors.'
        ),
    ),
    Case(
        section='Use case 7',
        slug='uc7a',
        quote=(
            'Hosts in aggregates 1 and 3 will pass. But hosts in aggregate 2 '
            "won't because namespace key is present in both extra specs and "
            'metadata and the value is different.'
        ),
        flavors={'flavor': {'hw:cpu_policy': 'shared'}},
        aggregates={
            'aggregate 1': {'hw:cpu_policy': 'shared'},
            'aggregate 2': {'hw:cpu_policy': 'dedicated'},
            'aggregate 3': {},
        },
        wanted={'flavor': _to('aggregate 1', 'aggregate 3')},
    ),
    Case(
        section='Use case 7, last paragraph',
        slug='uc7b',
        quote=(
            'In the aggregate metadata, if the key force_metadata_check is '
            'set, all keys, with or without namespace will be checked.'
        ),
        flavors={
            'linux': {'os:type': 'linux'},
            'windows': {'os:type': 'windows'},
            'plain': {},
        },
        aggregates={
            'forced': {'os:type': 'linux', **_ON},
            'not forced': {'os:type': 'linux'},
        },
        wanted={
            'linux': _to('forced', 'not forced'),
            'windows': _to(),
            'plain': _to('not forced'),
        },
        decision='The paragraph has no example; this one is ours.',
    ),
)
