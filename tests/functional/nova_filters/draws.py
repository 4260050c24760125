# SPDX-License-Identifier: Apache-2.0

"""Random extra specs and metadata, with odd keys and values."""

import random

from tests.functional.nova_filters import oracle

_KEYS = (
    'k', 'k', 'k', 'k', 'l', 'l', 'ns:k', 'ns:k', 'availability_zone',
)  # fmt: skip
_ODD_KEYS = (
    'aggregate_preferred:k', 'aggregate_preferredx:k', oracle.FORCE,
    oracle.PREFER, ':k', 'k:', '', 'L', 'k ', '[abc', f'{oracle.SCOPE}k',
)  # fmt: skip
_PREFIXES = ('', '', '', oracle.SCOPE)
_PREFERENCES = (
    'aggregate_preferred', 'aggregate_preferred', 'aggregate_avoided',
    'aggregate_preferred.2', 'aggregate_avoided.3', 'aggregate_avoided.100',
)  # fmt: skip
_MALFORMED_PREFERENCES = (
    'aggregate_preferred.0', 'aggregate_avoided.101', 'aggregate_preferred.x',
    'aggregate_avoided.', 'aggregate_preferred.1.5', 'aggregate_avoided.+5',
)  # fmt: skip
_FLAGS = ('True', 'True', 'on', 'no, YES', ' 1', 'False', 'Ture', '', ',')
_FREQUENT = (
    '1', '1', '*', '~', '!', '!', '<or> 1 <or> ~', '<or> * <or> ~', '<or>',
    '<or> ! <or> 1',
)  # fmt: skip
_TEXTS = (
    '1', '1', '1', '2', '2', '3', ' 1', ' * ', '', '**', '<or> 1 <or> 2',
    '<or> 2 <or> 3', '<or> 2 <or> ~', '<or> * <or> ~ <or> 1', '<or> !',
    '<or> ~', '<or> ! <or> !', '<or> 1 <or>', '<or>1', '1 <or> 2', '! 1',
    '<OR> 1', '\t*', '<or>\u00a01', 'a,b', '>= 2', '>=  2', '>= 3', '>= 2 3',
    '= 1', '== 1.0', '!= 1', '<= 2', '>= two', '>= nan', '>=', '> 2', '1e999',
    '\u0663', 's== *', 's== 1', 's!= 1', 's< 2', 's>= 2', 's==', '<in> 1',
    '<all-in> 1 2', '<in>', '<all-in>', '== two', '<= -inf', 'nan', 's<= 1',
    's> 1', 's<', '2.5',
)  # fmt: skip


def _text(rng: random.Random) -> str:
    return rng.choice(rng.choice((_FREQUENT, _TEXTS)))


def _key(rng: random.Random) -> str:
    keys = _KEYS if rng.random() < 0.9 else _ODD_KEYS
    return rng.choice(_PREFIXES) + rng.choice(keys)


def flavor(rng: random.Random) -> dict[str, str]:
    specs = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        key = _key(rng)
        specs[key] = _text(rng)
        if rng.random() < 0.2:
            specs[oracle.SCOPE + key] = _text(rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        names = _PREFERENCES
        if rng.random() < 0.1:
            names = _MALFORMED_PREFERENCES
        specs[f'{rng.choice(names)}:{_key(rng)}'] = _text(rng)
    return specs


def metadata(rng: random.Random) -> dict[str, str]:
    data = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        texts = [_text(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        data[_key(rng)] = rng.choice((',', ' , ')).join(texts)
    for flag in (oracle.FORCE, oracle.PREFER):
        if rng.random() < 0.5:
            data[flag] = rng.choice(_FLAGS)
    return data
