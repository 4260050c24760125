# SPDX-License-Identifier: Apache-2.0

"""Say how many lines and branches the tests run, and check the branches.

``make cover`` calls this with the file that ``coverage json`` writes. The
limit in ``pyproject.toml`` is for lines and branches together.
"""

import json
import pathlib
import sys

#: The smallest share of the branches that the tests may run, in percent.
LEAST = 97.0


def main(report: pathlib.Path) -> int:
    """Print the totals of a report.

    :param report: the file that ``coverage json`` writes.
    :returns: 0 if the tests run enough branches.
    """
    totals = json.loads(report.read_text())['totals']
    lines, all_lines = totals['covered_lines'], totals['num_statements']
    branches, all_branches = totals['covered_branches'], totals['num_branches']
    share = 100 * branches / all_branches
    print(
        f'The tests run {lines:,} of {all_lines:,} lines '
        f'({100 * lines / all_lines:.2f} %) and {branches:,} of '
        f'{all_branches:,} branches ({share:.2f} %).'
    )
    if share < LEAST:
        print(f'The tests must run {LEAST:g} % of the branches.')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
