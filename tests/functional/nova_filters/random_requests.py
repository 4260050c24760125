# SPDX-License-Identifier: Apache-2.0

"""Random flavors and hosts, as Nova's own objects."""

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

from testing.nova import states

_HOSTS = 8
#: Aggregates are shared by requests; after so many, there are new ones.
REUSED = 25


SCOPE = 'aggregate_instance_extra_specs:'
_KEYS = (
    'k', 'l', 'm', 'hw:k', 'q:l', ':k', 'k:', f'{SCOPE}k', f'{SCOPE}l',
    f'{SCOPE}hw:k', f'{SCOPE}{SCOPE}k', SCOPE,
)  # fmt: skip
#: Fewer, so that flavors and forced aggregates meet.
_FEW_KEYS = (
    'k', 'k', 'l', 'l', 'hw:k', 'q:l', f'{SCOPE}k', f'{SCOPE}{SCOPE}k',
    'force_metadata_check',
)  # fmt: skip
_METADATA_KEYS = (
    'k', 'k', 'k', 'l', 'l', 'm', 'hw:k', 'hw:k', 'q:l', ':k', 'k:', '',
    f'{SCOPE}k', f'{SCOPE}{SCOPE}k', f'{SCOPE}hw:k',
)  # fmt: skip
_FEW_METADATA_KEYS = (
    'k', 'k', 'k', 'k', 'l', 'l', 'hw:k', 'q:l', f'{SCOPE}k',
    f'{SCOPE}{SCOPE}k',
)  # fmt: skip
SENTINELS = ('*', '~', '!')
#: "1" more often than the rest, so that verdicts are mixed.
WORDS = (
    '1', '1', '1', '2', '2', '10', '2.5', '1e999', '-inf', 'nan', '\u0663',
    'two', 'x', '1x', '',
)  # fmt: skip
_OPERATORS = (
    '=', '==', '!=', '>=', '<=', 's==', 's!=', 's<', 's<=', 's>', 's>=',
    '<in>', '<all-in>',
)  # fmt: skip


def _text(rng: random.Random, words: tuple[str, ...]) -> str:
    """Return a value: a word, alternatives, or an operator expression."""
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(('', '', '', ' ')) + rng.choice(words)
    if kind < 0.7:
        count = rng.choice((0, 1, 2, 2, 3, 3))
        text = ' '.join(f'<or> {rng.choice(words)}' for _ in range(count))
        return text or rng.choice(('<or>', '<or> 1 <or>', '1 <or> 2'))
    count = rng.choice((0, 1, 1, 1, 1, 2))
    # The operands may be what stands for a sentinel elsewhere.
    operands = (rng.choice((*WORDS, '*', '~')) for _ in range(count))
    return ' '.join([rng.choice(_OPERATORS), *operands])


def _extra_specs(
    rng: random.Random, words: tuple[str, ...], keys: tuple[str, ...]
) -> dict[str, str]:
    """Return the extra specs of a flavor."""
    chosen = rng.sample(keys, rng.choice((0, 1, 1, 1, 2, 2, 3)))
    return {key: _text(rng, words) for key in chosen}


def _metadata(rng: random.Random, flagged: bool) -> dict[str, str]:
    """Return the metadata of an aggregate.

    :param flagged: whether the flag may be on.
    """
    words = (*WORDS, *SENTINELS, *SENTINELS) if flagged else WORDS
    keys = _FEW_METADATA_KEYS if flagged else _METADATA_KEYS
    data = {
        # Without the flag, this is plain text.
        key: rng.choice((',', ' , ')).join(
            _text(rng, words) if rng.random() < 0.4 else rng.choice(words)
            for _ in range(rng.choice((1, 1, 2)))
        )
        for key in rng.sample(keys, rng.randint(0, 4))
    }
    if rng.random() < 0.5:
        data['force_metadata_check'] = rng.choice(
            ('True', 'on', 'False') if flagged else ('False', 'Ture', '')
        )
    return data


@dataclasses.dataclass(frozen=True)
class Request:
    """A random flavor and hosts, as Nova's own objects."""

    spec: Any
    hosts: list[Any]

    @property
    def extra_specs(self) -> dict[str, str]:
        """The extra specs of the flavor."""
        return dict(self.spec.flavor.extra_specs)


def requests(
    rng: random.Random, words: tuple[str, ...], flagged: bool, number: int
) -> Iterator[Request]:
    """Yield random requests.

    :param words: the words of which extra specs consist.
    :param flagged: whether sentinels and flags are in use.
    :param number: how many hosts there are in all of them, at the least.
    """
    keys = _FEW_KEYS if flagged else _KEYS
    hosts = [states.host_state(f'h{n}') for n in range(_HOSTS)]
    spec = states.request({})
    aggregates: list[Any] = []
    for count in range(-(-number // _HOSTS)):
        if count % REUSED == 0:
            aggregates = states.aggregates(
                *(_metadata(rng, flagged) for _ in range(12))
            )
        for host in hosts:
            chosen = rng.choice((0, 1, 1, 2, 2, 3, 4))
            host.aggregates = rng.sample(aggregates, chosen)
        spec.flavor.extra_specs = _extra_specs(rng, words, keys)
        yield Request(spec, hosts)
