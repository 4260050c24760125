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

"""Random operator input: what is usual, what is odd, and anything."""

from hypothesis import strategies as st

_KEYS = st.sampled_from(
    [
        'k',
        'l',
        'ns:k',
        'aggregate_instance_extra_specs:k',
        'aggregate_instance_extra_specs:ns:k',
        'force_metadata_check',
    ]
)
_WORDS = st.sampled_from(
    ['1', '2', 'two', '*', '~', '!', '<or>', '>=', '==', 's==', '<in>', '']
)
_TEXTS = st.one_of(
    st.sampled_from(
        [
            '1',
            '2',
            '*',
            '~',
            '!',
            '<or> 1 <or> 2',
            '<or> 1 <or> ~',
            '<or> * <or> ~',
            '<or> ! <or> 1',
            '<or>',
            '>= 2',
            '>= two',
            's!= 1',
            's== *',
            '<all-in> 1 2',
        ]
    ),
    st.lists(_WORDS, max_size=5).map(' '.join),
    st.text(max_size=8),
)
_VALUES = st.lists(_TEXTS, min_size=1, max_size=3).map(','.join)
_FLAGS = st.sampled_from(['True', 'False', 'on', 'Ture', '', 'no, yes'])


def extra_specs() -> st.SearchStrategy[dict[str, str]]:
    """Return a strategy for the extra specs of a flavor."""
    keys = st.one_of(_KEYS, st.text(max_size=4))
    return st.dictionaries(keys, _TEXTS, max_size=4)


def metadata() -> st.SearchStrategy[dict[str, str]]:
    """Return a strategy for the metadata of an aggregate."""
    keys = st.one_of(_KEYS, st.text(max_size=4))
    plain = st.dictionaries(keys, _VALUES, max_size=4)
    return st.one_of(
        plain,
        st.builds(
            lambda data, flag: data | {'force_metadata_check': flag},
            plain,
            _FLAGS,
        ),
    )


def metadata_lists() -> st.SearchStrategy[list[dict[str, str]]]:
    """Return a strategy for the aggregates of one host."""
    return st.lists(metadata(), max_size=3)
