# SPDX-License-Identifier: Apache-2.0

"""The pages say what the benchmark of the spread has measured."""

import functools

from tests import pages

FILE = pages.PAGES / 'benchmarks-spread.out'

ERRORS = 'Servers in ERROR'
UNCHECKED = 'Servers that break the policy of their group, if nova-compute'
ROLLOUT = 'A rolling restart, by the number of processes without the weigher'
FULLEST = 'Servers on the host that has most.'


@functools.cache
def read_rows() -> list[tuple[str, dict[str, str]]]:
    """Return the title of its table and the cells by head, for each row."""
    rows = []
    title = ''
    heads: list[str] = []
    for line in FILE.read_text('utf-8').splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if not line:
            title = ''
            heads = []
        elif line[0] == '|' and not heads:
            heads = cells
        elif line[0] == '|':
            rows.append((title, dict(zip(heads, cells, strict=True))))
        elif line[0] != '+':
            title += f'{line} '
    return rows


def find(title: str, case: str) -> dict[str, str]:
    """Return the only row of a case in the tables with a title."""
    (cells,) = (
        cells
        for name, cells in read_rows()
        if name.startswith(title) and cells['case'] == case
    )
    return cells


def pair(title: str, case: str) -> list[str]:
    """Return the numbers for 16 processes: Nova alone, and the weigher."""
    return find(title, case)['16'].split(' / ')


class MeasuredTest(pages.PageTestCase):
    def assert_seeds(self, title: str, says: str) -> None:
        """Fail unless a title, or the first one, has this mean."""
        titles = [name for name, _ in read_rows() if name.startswith(title)]
        self.assertIn(says, titles[0])

    def test_more_hosts_do_not_help(self) -> None:
        soft, soft_ours = pair(FULLEST, 'soft group of 9 on 300')
        strict, strict_ours = pair(ERRORS, 'anti-affinity: 9 on 300')
        self.assertEqual(('1.0', '0.0'), (soft_ours, strict_ours))
        self.assert_seeds('Most servers on a host', 'the mean of 5 seeds')
        self.assert_page_says(
            'soft-anti-affinity',
            f'On 300 hosts, Nova alone put {soft} of the nine servers of a '
            f'soft group on one host. With ``anti-affinity``, {strict} of the '
            'nine servers ended in ERROR. Both numbers are means of five '
            'simulations with 16 scheduler processes. With the weigher, each '
            'server had a host of its own.',
        )

    def test_where_nobody_checks(self) -> None:
        alone, ours = pair(FULLEST, 'anti-affinity: 9 on 9')
        self.assertEqual('1.0', ours)
        self.assert_page_says(
            'soft-anti-affinity',
            'Of nine servers with ``anti-affinity`` on nine hosts, Nova alone '
            f'put {alone} on one host, all of them ACTIVE.',
        )
        failing = '9 on 12, 20 % of builds fail once'
        alone, ours = pair(UNCHECKED, failing)
        self.assert_page_says(
            'soft-anti-affinity',
            'Example: nobody checks, and 20% of the builds fail once. Of nine '
            f'servers on 12 hosts, {ours} then broke the policy, and {alone} '
            'with Nova alone.',
        )

    def test_a_rolling_restart(self) -> None:
        self.assert_seeds(ROLLOUT, 'the mean of 20 seeds')
        self.assert_page_says('roll-out', 'All numbers are means of 20 sim')
        (numbers,) = (
            row
            for row in pages.table_rows('roll-out')
            if row[0] == 'Processes without the weigher'
        )
        for case, label in (
            (
                'soft group of 9 on 3, most less fewest',
                '``soft-anti-affinity``: most servers on a host less fewest',
            ),
            (
                'anti-affinity: 9 on 9, in ERROR',
                '``anti-affinity``: servers in ERROR',
            ),
            (
                'the same, nobody checks, break the policy',
                'the same, and nobody checks: servers that share a host',
            ),
        ):
            cells = find(ROLLOUT, case)
            measured = [cells[f'{number} of 16'] for number in numbers[1:]]
            self.assertIn((label, *measured), pages.table_rows('roll-out'))
            means = [float(mean) for mean in measured]
            self.assertEqual(sorted(means, reverse=True), means)
        self.assert_page_says('roll-out', 'So each step improves the mean')
