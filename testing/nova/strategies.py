# SPDX-License-Identifier: Apache-2.0

"""Random operator input: what is usual, what is odd, and anything."""

from typing import Any

from hypothesis import strategies as st

_SCOPE = 'aggregate_instance_extra_specs:'
_KEYS = st.sampled_from(
    ('k', 'l', 'ns:k', f'{_SCOPE}k', f'{_SCOPE}ns:k', 'force_metadata_check')
)
_WORDS = st.sampled_from(
    ('1', '2', 'two', '*', '~', '!', '<or>', '>=', '==', 's==', '<in>', '')
)
_TEXTS = st.one_of(
    st.sampled_from(
        (
            '1', '2', '*', '~', '!', '<or> 1 <or> 2', '<or> 1 <or> ~',
            '<or> * <or> ~', '<or> ! <or> 1', '<or>', '>= 2', '>= two',
            's!= 1', 's== *', '<all-in> 1 2',
        )
    ),
    st.lists(_WORDS, max_size=5).map(' '.join),
    st.text(max_size=8),
)  # fmt: skip
_VALUES = st.lists(_TEXTS, min_size=1, max_size=3).map(','.join)
_FLAGS = st.sampled_from(['True', 'False', 'on', 'Ture', '', 'no, yes'])
_MORE_KEYS = _KEYS | st.text(max_size=4)


def _mappings(
    keys: st.SearchStrategy[Any],
    values: st.SearchStrategy[Any],
    flags: st.SearchStrategy[Any],
) -> st.SearchStrategy[dict[Any, Any]]:
    """Return a strategy for mappings that may hold the flag."""
    plain = st.dictionaries(keys, values, max_size=4)
    flagged = st.builds(
        lambda data, flag: data | {'force_metadata_check': flag},
        plain,
        flags | st.just('on'),
    )
    return plain | flagged


#: The extra specs of a flavor.
EXTRA_SPECS = st.dictionaries(_MORE_KEYS, _TEXTS, max_size=4)
#: The metadata of an aggregate.
METADATA = _mappings(_MORE_KEYS, _VALUES, _FLAGS)

#: Texts that something is likely to stumble over.
_ODD = st.sampled_from(
    (
        'nan', 'inf', '-inf', '1e999', '>= 1e999', '== nan', '>= \u0663',
        '== \uff11', '== 1_0', '>= 0x10', '\x00', 'a\nb', '\r\n',
        '\x1b[31mred', '\u2028', '\x85', '\ud800', '<or> \udfff <or> ~', ',',
        ',,!', '%s %(x)d {}', 'x' * 10_000, '1' * 10_000,
        '>= ' + '9' * 10_000, '>= ' + 'x' * 10_000,
        '<or> 1 ' * 2_000, ',' * 10_000, '*,' * 5_000, '>= two,' * 1_500,
    )
)  # fmt: skip
_ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
_ODD_KEYS = st.sampled_from(
    (_SCOPE, f'{_SCOPE}{_SCOPE}k', f'{_SCOPE}force_metadata_check', ':', 'k:')
)
_ANY_KEYS = st.one_of(_KEYS, _ODD, _ANY_TEXT, _ODD_KEYS)
_NO_TEXTS = st.one_of(
    st.sampled_from(
        (
            None, 0, 1, -(10**400), 1.5, float('nan'), True, b'1', ['1'],
            {'1': '2'}, (), object(),
        )
    ),
    # Python writes no such number, and so hypothesis would not describe it.
    st.builds(lambda: 10**5_000),
)  # fmt: skip
_ANY_FLAGS = _FLAGS | _ODD | _NO_TEXTS
#: Extra specs or metadata of any text.
ANY_TEXTS = _mappings(
    _ANY_KEYS, _TEXTS | _VALUES | _ODD | _ANY_TEXT, _ANY_FLAGS
)
#: Mappings that no service should hand over.
ANYTHING = _mappings(
    _ANY_KEYS | st.sampled_from([None, 1, b'k', ()]),
    _TEXTS | _VALUES | _ODD | _NO_TEXTS,
    _ANY_FLAGS,
)
