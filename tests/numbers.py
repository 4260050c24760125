# SPDX-License-Identifier: Apache-2.0

"""The numbers on the pages: where they stand, and what each comes from.

:data:`PATTERNS` says where a number stands. A test of each suite gives the
values, from the code or from the service that the suite has. So a number that
is wrong on one page fails a test, and so does a number without a pattern.
"""

import re
import unittest
from collections.abc import Iterable, Iterator

from tests import pages

#: How the pages write small numbers.
WORDS = {
    'two': '2',
    'three': '3',
    'four': '4',
    'five': '5',
    'six': '6',
    'seven': '7',
    'eight': '8',
    'nine': '9',
    'ten': '10',
    'eleven': '11',
    'twelve': '12',
    'sixteen': '16',
    'twice': '2',
    'half': '0.5',
}
_WORD = '|'.join(WORDS)
#: A number on a page. "One" is too often no number.
NUMBER = re.compile(
    rf'(?<![\w.:/#=-])-?\d(?:[\d.,]*\d)?(?![\w./])|\b(?:{_WORD})\b', re.I
)
#: What ``{}`` stands for in a pattern.
_GROUP = rf'(-?\d(?:[\d.,]*\d)?|(?:{_WORD}))'

#: By the name of a fact, the patterns of the places where pages tell it.
PATTERNS = {
    # Versions.
    'oldest Python': (
        r'requires Python {} or later',
        r'Python {} or newer',
        r'is older than {}\.',
    ),
    'Pythons': (
        r'Python {}, {} (?:or|and) {}',
        r'\n{}, {}, {}\n',
    ),
    'Python of the older set': (
        r'uses Python {} if it is installed, because Nova and Heat of {}',
        r'You need Debian 12 or newer, Python {}',
    ),
    'sets': (r'OpenStack {} on Python {}, and those of {} on Python',),
    'Nova of the demo': (r'processes of Nova {} share',),
    'tested releases': (
        r'Nova {} and {}, Heat {} and {}, and Senlin {}',
        r'the scheduler of {} and of {}; both .*\n'
        r'Heat\n.*\n.*\nthe engine of {} and of {}; {} also',
    ),
    'tested together': (
        r'Nova {} and Heat {} \(release {}\) are tested on Python {}',
    ),
    'releases': (
        r'Nova {} to {}',
        r'\nNova\n{} to {}\n',
    ),
    'releases of Heat': (
        r'Heat {} to {},? which',
        r'\nHeat\n{} to {}\n',
    ),
    'threads of Heat': (
        r'In Heat {} to {}, the threads are green threads',
        r'In Heat {} to {}, the threads are native threads',
    ),
    'series': (r'OpenStack releases {} to {}',),
    'Senlin': (
        r'Senlin {}(?! and)',
        r'Senlin \(retired\)\n{}\n',
        r'and {} is its last release',
    ),
    'clients': (
        r'OpenStack client\n{} and newer\n.*\n'
        r'{} with SDK {}, and {} with SDK {}',
    ),
    'version': (
        r'If it is {}, a checkout has the version ``{}\.devN`` until a commit '
        r'has the tag ``{}``',
    ),
    # Debian's index of packages, which no code here knows.
    'Debian': (
        r'Debian {} \(trixie\) includes Nova {} and Heat {}\. The services of '
        r'Debian {} are too old',
    ),
    'other distributions': (
        r'Rocky Linux {}, CentOS Stream {} and Ubuntu {} is older',
    ),
    # The repository.
    'coverage': (r'is below {}%',),
    'commands': (r'adds {} commands',),
    'cloud': (
        r'Heat with {} engines of {} workers each; Senlin with {} engines',
    ),
    'regions': (
        r'a cloud with {} regions',
        r'Nova with {} schedulers and {} compute hosts',
    ),
    'regions from': (
        r'RegionTwo are from release {}, and',
        r'RegionOne, are from {}\.',
    ),
    'ports': (r'the ports {} to {} of 127',),
    # Options and constants of this package.
    'hints': (r'{} hints',),
    'key length': (r'at least {} characters',),
    'random bytes': (r'rand -hex {}``', r'a random key of {} characters'),
    'hints in a line': (r'names up to {} of these hints',),
    'reasons in a line': (r'names up to {} reasons',),
    'calls': (
        r'at most {} in one worker',
        r'{} calls to the provider hang',
    ),
    'provider_timeout': (r'later call, to {} seconds by default',),
    'region_timeout': (r'\({} seconds by default\) and one second',),
    'spare seconds': (r'at least {} seconds longer than',),
    'weights and caps': (
        r'The default is {}\. A region with weight {} gets nodes',
        r'The default of {} means no cap',
    ),
    'sentinels': (r'and {} \*sentinels\*',),
    'exit codes': (
        r'\n{}\nThe check found no problem',
        r'\n{}\nA warning:',
        r'\n{}\nA failure:.* The code is also {} if',
        r'\n{}\nThe command could not check anything',
    ),
    'exit code': (r'If the exit code is not {}, the output',),
    'exit codes of commands': (
        r'\n{}\nThe command judged everything',
        r'\n{}\nThe command failed',
        r'\n{}\nThe command found a problem',
    ),
    'points': (r'the same for {} points\. Any whole number from {} to {} is',),
    'weights of points': (
        r'is {} for {} point, {} for {} points and {} for {} points',
        r'points: {} plus the decimal',
    ),
    'multipliers': (
        r'\n{}\nThe default\. The weigher has no effect',
        r'\n{}\nOne point outweighs all of',
        r'stacks at {} or {}, or its weigher for server groups at {},',
        r'``preference_weight_multiplier = {}``',
    ),
    # Options of Nova.
    'host_subset_size': (r'is not {}, set it back to {}(?=[. ])',),
    'max_placement_results': (r'hosts \({} by default\)',),
    'strong weighers': (
        r'except the {} below',
        r'{} of Nova\'s weighers outw',
    ),
    'what is read': (
        r'of the first {}\. For a stack',
        r'a request of more than {} characters',
        r'has kept more than {} requests',
        r'``server_group_members``, which are {} by default',
    ),
    'hints for tenants': (r'With Nova {} or later',),
    'microversion of hints': (r'-api-version {} server show',),
    'microversion of extra specs': (r'microversion {}, Nova\'s API checks',),
    'microversion of flavors': (r'with microversion {} or newer',),
    'a Nova that passes all hints': (r'do not drop it, such as {}',),
    # Senlin.
    'versions of the deletion policy': (
        r'appears {}, because it has {} versions',
    ),
    'version of hooks': (r'before the deletion \(version {}\)',),
    'grace_period': (r'\n``grace_period``\n{}\n',),
    'conflict': (r'fails with status {}, another action',),
}

#: Numbers of examples, of steps and of lists, which are no facts.
EXAMPLES = re.compile(
    r"""
    # Examples that blocks of the page run.
    Nine\ servers | (?:on|of)\ (?:three|nine)\ hosts
    | Sixteen\ scheduler | for\ example\ two\ .*eight\ workers
    | --min\ 9\ --max\ 9 | --max\ 9 | with\ two\ hosts
    | half\ of\ the\ nodes,\ up\ to\ 4 | six\ nodes
    | [Tt]he\ three\ regions\ now\ have\ 1,\ 3\ and\ 2 | where\ three\ more
    | distribution\ is\ (?:now\ )?\d\ :\ \d\ :\ \d | all_tenants=1
    | ``(?:<or>|>=)[^`]*`` | ``1\ <or>\ 2``,\ ``<or>1``,\ ``>\ 2``
    | be\ at\ least\ 4 | value\ must\ be\ 1 | with\ ``1`` | ``true``,\ ``1``
    # Steps, and what a sentence itself counts.
    | steps?\ \d(?:\ and\ \d)? | th(?:e|ese)\ (?:two|three)\b | of\ the\ two
    | differs?\ in\ two | in\ two\ ways | has\ two\ fields | [Tt]wo\ faults
    | If\ two\ providers | two\ colons | two\ alternatives | These\ three
    | two\ regions\ on\ the | Two\ Senlin\ engines | of\ two\ filters
    # What was measured, and licenses.
    | four\ to\ nine\ minutes\ on\ two | 1%\ to\ 5%\ of | 4\ GiB
    | Version\ 2\.0 | below\ 1\.0 | retired\ in\ 2024 | Debian\ 12\ or\ newer
    | min_size``\ must\ be\ 0 | ``--adjustment``,\ twice
    | \n1\nOne\ point\ is | \n20\nOne\ point\ also | With\ 20\ or\ more
    | _multiplier\ =\ 1``
    """,
    re.X,
)

#: The pages on which each number has a pattern. On the others, most numbers
#: are results of the benchmarks.
AUDITED = (
    'README',
    'SECURITY',
    'CONTRIBUTING',
    'cloud',
    'commands',
    'heat',
    'heat-providers',
    'install',
    'nova',
    'preferences',
    'quickstart-nova',
    'senlin',
    'support',
    'upgrade-checks',
    'when-not-to-use',
)


def prose(name: str) -> str:
    """Return what a page says, with a line above the first one."""
    return f'\n{pages.prose(name)}\n'


def all_names() -> list[str]:
    """Return the pages that can tell a number."""
    names = [path.stem for path in pages.PAGES.glob('*.rst')]
    return [*names, 'README', 'SECURITY', 'CONTRIBUTING']


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a place, in which ``{}`` is a number."""
    return re.compile(pattern.replace('{}', _GROUP), re.I)


def read_number(text: str) -> str:
    """Return a number in figures, without commas between thousands."""
    text = text.replace(',', '').lower()
    return WORDS.get(text, text)


def find_told(pattern: str) -> set[tuple[str, ...]]:
    """Return the numbers of each place that a pattern finds."""
    return {
        tuple(map(read_number, match.groups()))
        for name in all_names()
        for match in compile_pattern(pattern).finditer(prose(name))
    }


def find_unknown(name: str) -> Iterator[str]:
    """Yield each number of a page that no pattern covers, in its place."""
    text = prose(name)
    covered = [match.span() for match in EXAMPLES.finditer(text)]
    for patterns in PATTERNS.values():
        for pattern in patterns:
            for match in compile_pattern(pattern).finditer(text):
                covered += [
                    match.span(group + 1) for group in range(match.re.groups)
                ]
    for match in NUMBER.finditer(text):
        if not any(
            a <= match.start() and match.end() <= b for a, b in covered
        ):
            around = text[match.start() - 30 : match.end() + 30]
            yield f'{name}: {match[0]} in {around!r}'


class NumbersCase(unittest.TestCase):
    def assert_told(self, fact: str, *values: object) -> None:
        """Fail unless all pages tell the values of a fact.

        :param values: for each pattern, the number or a tuple of numbers that
            each place tells. A list has what the places tell together.
        """
        patterns = PATTERNS[fact]
        for pattern, value in zip(patterns, values, strict=True):
            wanted = set()
            for told in value if isinstance(value, list) else [value]:
                told_numbers = told if isinstance(told, tuple) else (told,)
                wanted.add(tuple(map(str, told_numbers)))
            self.assertEqual(wanted, find_told(pattern), pattern)


def find_unread(sources: Iterable[str]) -> list[str]:
    """Return the facts that no test names."""
    text = '\n'.join(sources)
    return [fact for fact in PATTERNS if f"'{fact}'" not in text]
