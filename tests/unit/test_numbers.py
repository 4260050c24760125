# SPDX-License-Identifier: Apache-2.0

"""The numbers on the pages, from this repository and this package."""

import configparser
import contextlib
import re
import tomllib

import ddt

from heat_hints import conf as heat_conf
from heat_hints import hints, providers
from nova_filters import conf as nova_conf
from nova_filters.matching import preferences, requirement
from os_placement_plugins import signature, text
from os_placement_plugins import upgrade_check as check
from senlin_plugins import conf as senlin_conf
from senlin_plugins.planning import spec, values
from tests import numbers, pages
from tests.unit.heat_hints import requests


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (pages.ROOT / path).read_text('utf-8')


SETUP = configparser.ConfigParser()
SETUP.read_string(read('setup.cfg'))

#: The oldest and the newest series, each with its own set of versions.
OLD, NEW = sorted(
    path.name.removesuffix('-services.txt')
    for path in pages.ROOT.glob('constraints/*-services.txt')
)


def version(series: str, package: str) -> str:
    """Return the version of a package in the set of a series."""
    pins = read(f'constraints/{series}.txt')
    pins += read(f'constraints/{series}-services.txt')
    (found,) = re.findall(rf'^{package}===?(\S+)$', pins, re.M)
    return found


def major(series: str, package: str) -> str:
    """Return the first part of a version."""
    return version(series, package).partition('.')[0]


def minor(series: str, package: str) -> str:
    """Return the first two parts of a version."""
    return version(series, package).rpartition('.')[0]


def default(options: object, name: str) -> object:
    """Return the default of an option."""
    (option,) = (option for option in options if option.name == name)
    return option.default


def takes_hooks(number: str) -> bool:
    """Return whether a version of the deletion policy takes a hook."""
    hook = {'type': 'zaqar', 'timeout': 1, 'params': {'queue': 'q'}}
    with contextlib.suppress(values.WrongValue):
        spec.check_deletion({'hooks': hook}, number)
        return True
    return False


def regions() -> dict[str, tuple[int, str]]:
    """Return the number of hosts of each region, and its environment."""
    found = re.findall(
        r"Region\('(\w+)', \(([^)]*)\), (\w+)\)",
        read('tests/cloud/layout.py'),
    )
    return {name: (hosts.count(',') + 1, env) for name, hosts, env in found}


NOVA = major(OLD, 'nova'), major(NEW, 'nova')
HEAT = major(OLD, 'openstack-heat'), major(NEW, 'openstack-heat')
SENLIN = version(NEW, 'senlin')
PYTHONS = re.findall(r':: (3\.\d+)', SETUP['metadata']['classifiers'])
(OLDEST_PYTHON,) = re.findall(r'2024\.1,cloud: python(.+)', read('tox.ini'))
LAYOUT = read('tests/cloud/layout.py')
SERVICES = read('tests/cloud/services.py')
PORTS = sorted(re.findall(r"': (\d+),", LAYOUT))
SCHEDULERS = re.findall(r"'scheduler-\d'", LAYOUT)
(HOSTS,) = {hosts for hosts, _ in regions().values()}
(WORKERS,) = re.findall(
    'num_engine_workers = (.+)', read('tests/cloud/etc/heat.conf')
)
SIX_HINTS = hints.identifiers(requests.REQUEST)
POINTS = [
    number
    for number in range(200)
    if not preferences.read_preferences(
        {f'aggregate_preferred.{number}:k': '1'}
    )[1]
]
#: The default switches the weigher off.
OFF = f'{nova_conf.DEFAULTS["preference_weight_multiplier"]:g}'
#: What the pages say to write.
WRITTEN = configparser.ConfigParser(strict=False)
WRITTEN.read_string(read('doc/source/examples/deployment/nova.conf'))
STACKS, GROUPS = (
    f'{float(WRITTEN["nova_filters"][name]):g}'
    for name in (
        'stack_affinity_weight_multiplier',
        'server_group_weight_multiplier',
    )
)
KEY_BYTES = signature.MIN_KEY_LENGTH
WEIGHTS = [f'{preferences.weight(10**n):g}' for n in range(3)]

FACTS = (
    ('oldest Python', *[SETUP['options']['python_requires'].strip('>=')] * 3),
    ('Pythons', *[tuple(PYTHONS)] * 2),
    ('Python of the older set', (OLDEST_PYTHON, OLD), OLDEST_PYTHON),
    ('sets', (OLD, OLDEST_PYTHON, NEW)),
    ('Nova of the demo', NOVA[1]),
    (
        'tested releases',
        (*NOVA, *HEAT, SENLIN),
        (*NOVA, *HEAT, HEAT[0]),
    ),
    (
        'tested together',
        [
            (NOVA[0], HEAT[0], OLD, OLDEST_PYTHON),
            (NOVA[1], HEAT[1], NEW, PYTHONS[0]),
        ],
    ),
    ('releases', NOVA, NOVA),
    ('releases of Heat', HEAT, HEAT),
    # Heat 25 is the first one that asks for native threads.
    ('threads of Heat', (HEAT[0], 24), (25, HEAT[1])),
    ('series', (OLD, NEW)),
    ('Senlin', *[SENLIN] * 3),
    (
        'clients',
        (
            minor(OLD, 'python-openstackclient'),
            minor(OLD, 'python-openstackclient'),
            minor(OLD, 'openstacksdk'),
            minor(NEW, 'python-openstackclient'),
            minor(NEW, 'openstacksdk'),
        ),
    ),
    ('version', (SETUP['metadata']['version'],) * 3),
    # See packages.debian.org/trixie/nova-scheduler and /heat-engine.
    ('Debian', (13, 31, 24, 12)),
    ('other distributions', (9, 9, '22.04')),
    (
        'coverage',
        tomllib.loads(read('pyproject.toml'))['tool']['coverage']['report'][
            'fail_under'
        ],
    ),
    (
        'commands',
        SETUP['options.entry_points'][
            'openstack.os_placement_plugins.v1'
        ].count('='),
    ),
    (
        'cloud',
        (
            SERVICES.count("'heat-engine-"),
            WORKERS,
            SERVICES.count("'senlin-engine-"),
        ),
    ),
    ('regions', len(regions()), (len(SCHEDULERS), HOSTS)),
    ('regions from', NEW, OLD),
    ('ports', (PORTS[0], PORTS[-1])),
    ('hints', len(SIX_HINTS)),
    ('key length', signature.MIN_KEY_LENGTH),
    # A byte is two characters.
    ('random bytes', KEY_BYTES, 2 * KEY_BYTES),
    ('hints in a line', text.LISTED),
    ('calls', *[providers.MAX_CALLS] * 2),
    ('provider_timeout', default(heat_conf.OPTS, 'provider_timeout')),
    ('region_timeout', default(senlin_conf.OPTS, 'region_timeout')),
    ('spare seconds', spec.SPARE),
    ('weights and caps', (spec.DEFAULT_WEIGHT, 0), spec.NO_CAP),
    (
        'version of hooks',
        *(number for number in ('1.0', '1.1') if takes_hooks(number)),
    ),
    ('sentinels', len(requirement._SENTINELS)),
    (
        'exit codes',
        int(check.SUCCESS),
        int(check.WARNING),
        # argparse ends with 2, too.
        (int(check.FAILURE), 2),
        check.NOTHING_CHECKED,
    ),
    ('exit code', int(check.SUCCESS)),
    ('points', (10, POINTS[0], POINTS[-1])),
    (
        'weights of points',
        (WEIGHTS[0], 1, WEIGHTS[1], 10, WEIGHTS[2], 100),
        WEIGHTS[0],
    ),
    (
        'multipliers',
        OFF,
        GROUPS,
        (STACKS, GROUPS, GROUPS),
        OFF,
    ),
    (
        'exit codes of commands',
        *re.findall(
            r'^(?:FINE|UNJUDGED|PROBLEM): Final = (\d)$',
            read('osc_placement_plugins/output.py'),
            re.M,
        ),
    ),
)


@ddt.ddt
class NumbersTest(numbers.NumbersCase):
    @ddt.data(*FACTS)
    def test_the_pages_tell_the_number(self, row):
        self.assert_told(*row)

    @ddt.data(*numbers.AUDITED)
    def test_each_number_of_the_page_has_a_pattern(self, name):
        self.assertEqual([], [*numbers.find_unknown(name)])

    def test_each_fact_is_read_by_a_test(self):
        files = (pages.ROOT / 'tests').rglob('test_*.py')
        sources = [
            file.read_text('utf-8')
            for file in files
            if 'numbers.NumbersCase' in file.read_text('utf-8')
        ]
        self.assertEqual([], numbers.find_unread(sources))

    def test_a_region_has_the_nova_of_its_environment(self):
        newest = {'NEWEST': NEW, 'ENVIRONMENT': OLD}
        self.assertIn(f"'functional-{NEW}'", LAYOUT)
        self.assertEqual(
            {'RegionOne': OLD, 'RegionTwo': NEW},
            {name: newest[env] for name, (_, env) in regions().items()},
        )
