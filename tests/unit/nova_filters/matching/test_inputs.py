# SPDX-License-Identifier: Apache-2.0

"""What the filter reads of extra specs and of metadata."""

import fnmatch
import unittest

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import inputs


class ExemptionTest(unittest.TestCase):
    """The patterns of keys that no aggregate may demand."""

    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_may_stand_in_the_option(self, key, pattern) -> None:
        patterns = (pattern, f'[{pattern}', f'[!{pattern}', f'*{pattern}]')
        self.assertEqual(
            any(fnmatch.fnmatchcase(key, one) for one in patterns),
            bool(inputs.exemption(patterns)(key)),
        )
