# SPDX-License-Identifier: Apache-2.0

"""Each remedy is followed to the letter, and the rest of the cloud watched."""

import collections
import copy
import dataclasses
import random
import shlex
import unittest

import ddt

import tests
from nova_filters import conf
from nova_filters.matching import inputs
from osc_placement_plugins.inventory import Inventory, create_matcher
from osc_placement_plugins.lint import mistakes, remedies
from osc_placement_plugins.lint.findings import ERROR, Finding
from osc_placement_plugins.lint.findings import FindingCode as Code
from osc_placement_plugins.source.records import (
    ComputeHost,
    Flavor,
    HostAggregate,
)

_FLAG = inputs.FLAG
_ON = {_FLAG: 'True'}
_SCOPE = inputs.SCOPE
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_CLOUDS = 600 if tests.ALL else 60
_SEED = 73

#: Extra specs of random flavors, and metadata of random aggregates.
_NAMES = (
    *(f'{_SCOPE}gpu', f'{_SCOPE}disk', f'{_SCOPE}Disk ', 'gpu', 'hw:disk'),
    *('aggregate_instance_extra_spec:gpu', f'hw:{_SCOPE}disk', f'{_SCOPE}gPU'),
    *('aggregate_prefer10:gpu', 'evacuable', 'host_fraction', _FLAG),
    *('force_metadata_chek', 'AggregateInstanceExtraSpecs:disk'),
)
_VALUES = (
    *('a', 'b', 'A', 'a,b', 'a <or> b', '<or> a <or> b', '<or> a <or> b,c'),
    *('~', '*', '!', '<or> a <or> ~', '/root', ' b', '>=2', '>= 2', '<or>'),
)
_KEYS = (
    *('gpu', 'disk', 'disk', 'GPU', 'evacuable', f'{_SCOPE}gpu', 'hw:disk'),
    *('blazar:owner', 'force_metadata_chek', f'hw:{_SCOPE}disk'),
)
_PIECES = ('a', 'b', 'c', 'a,b', '~', '*', '!', 'a,~', '!,~', '>= 2', '/root')


@dataclasses.dataclass
class Cloud:
    """Flavors and aggregates that an operator may change."""

    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, tuple[dict[str, str], list[str]]]
    states: dict[str, str] | None
    exempt: inputs.Exempt = _EXEMPT

    def read_flavors(self) -> list[Flavor]:
        return [Flavor(name, specs) for name, specs in self.flavors.items()]

    def inventory(self) -> Inventory:
        services = None
        if self.states is not None:
            services = [
                ComputeHost(name, (), state)
                for name, state in self.states.items()
            ]
        aggregates = [
            HostAggregate(name, metadata, tuple(hosts))
            for name, (metadata, hosts) in self.aggregates.items()
        ]
        return Inventory(aggregates, self.exempt, services)

    def find(self) -> list[Finding]:
        return mistakes.find_mistakes(self.read_flavors(), self.inventory())

    def pairs(self) -> set[tuple[str, str]]:
        """Return each flavor with each host that takes the flavor."""
        inventory = self.inventory()
        pairs = set()
        for flavor in self.read_flavors():
            passed, _ = create_matcher(flavor, inventory).match_hosts(
                inventory.hosts.values()
            )
            pairs.update((flavor.name, host.name) for host in passed)
        return pairs

    def follow(self, remedy: str) -> 'Cloud':
        """Return the cloud after an operator has copied a remedy."""
        cloud = copy.deepcopy(self)
        command: list[str] = []
        for word in [*shlex.split(remedy), '&&']:
            if word == '&&':
                cloud.type(*command)
                command = []
            else:
                command.append(word)
        return cloud

    def type(self, *words: str) -> None:
        shell, noun, verb, option, change, name = words
        assert (shell, option) == ('openstack', '--property'), words
        properties = self.flavors.get(name, {})
        if noun == 'aggregate':
            properties, _ = self.aggregates[name]
        if verb == 'unset':
            del properties[change]
            return
        assert (noun, verb) == ('flavor', 'set'), words
        key, _, value = change.partition('=')
        properties[key] = value


def draw_cloud(rng: random.Random) -> Cloud:
    """Return a random cloud with many mistakes."""
    hosts = [f'h{number}' for number in range(5)]
    states: dict[str, str] | None = None
    if rng.random() < 0.7:
        states = {host: rng.choice(['up', 'up', 'down']) for host in hosts}
    flavors = {}
    for number in range(4):
        names = rng.sample(_NAMES, rng.randint(0, 2))
        flavors[f'f{number}'] = {n: rng.choice(_VALUES) for n in names}
    aggregates = {}
    for number in range(4):
        keys = rng.sample(_KEYS, rng.randint(0, 3))
        metadata = {key: rng.choice(_PIECES) for key in keys}
        if rng.random() < 0.4:
            metadata |= _ON
        members = rng.sample(hosts, rng.randint(0, 3))
        aggregates[f'a{number}'] = metadata, members
    return Cloud(flavors, aggregates, states)


def errors(findings: list[Finding]) -> set[tuple[str, ...]]:
    return {
        (finding.code, finding.owner, finding.name, finding.key)
        for finding in findings
        if finding.severity == ERROR
    }


def codes_of(findings: list[Finding], other: Finding) -> set[tuple[str, ...]]:
    """Return what is wrong with the object of another finding."""
    return {
        (finding.code, finding.key)
        for finding in findings
        if (finding.owner, finding.name) == (other.owner, other.name)
    }


#: Public set-ups in which other programs read extra specs or metadata: the
#: extra specs of flavors, and the metadata of aggregates.
_PUBLIC = (
    # Mistakes in keys that may be somebody else's.
    ([{' gpu': 'a'}], [{'gpu': 'a'}]),
    ([{'gpu': 'a <or> b'}], [{'gpu': 'a,b'}]),
    ([{'gpu': '/root'}, {}], [{'disk': 'a'}, {'gpu': 'x'}]),
    ([{'hw:gpu': '/root'}], [{'hw:gpu': 'a'}]),
    # Instance HA evacuates what is tagged.
    ([{'evacuable': 'true'}], [{'evacuable': 'true'}]),
    ([{'evacuable': 'true'}], [{'gpu': 'a'}]),
    (
        [{f'{_SCOPE}os': 'windows'}, {}],
        [{'os': 'windows', 'evacuable': 'true', **_ON}],
    ),
    # Blazar's host reservations.
    (
        [{f'{_SCOPE}gpu': 'a'}],
        [{'blazar:owner': 'p1', 'gpu': 'a', 'availability_zone': 'z', **_ON}],
    ),
    ([{f'{_SCOPE}reservation:b1': 'true'}], [{'reservation:b1': 'true'}]),
    # SAP's schedulers.
    ([{'host_fraction': '1,0.5'}], [{'host_fraction': '1'}]),
    ([{'cpu_arch': 'x86_64,amd64'}], [{'cpu_arch': 'x86_64'}]),
    ([{'capabilities:cpu_arch': 's390x'}], [{'cpu_arch': 's390x', **_ON}]),
    # TripleO's bare metal.
    (
        [{'capabilities:profile': 'compute', 'baremetal': ' true'}],
        [{'baremetal': 'true', **_ON}],
    ),
    # ONAP's hardware capabilities, and PCI devices.
    (
        [{f'{_SCOPE}sriov': 'true', 'pci_passthrough:alias': 'a:1,b:2'}],
        [{'sriov': 'true', 'hpa:numa': '1', **_ON}],
    ),
    # The flavor of an accelerator, and a tenant's own hosts.
    (
        [{'accel:device_profile': 'fpga', 'trait:CUSTOM_X': 'required'}],
        [{'filter_tenant_id': 'p1', 'acme:rack': '~', **_ON}],
    ),
)


@ddt.ddt
class FollowedTest(unittest.TestCase):
    def assert_harmless(self, cloud: Cloud, finding: Finding) -> None:
        """Follow a remedy, and see what has changed."""
        followed = cloud.follow(finding.remedy)
        findings = followed.find()
        told = finding, cloud
        meant_keys = dict(finding.changes)
        keys = {finding.key, *meant_keys}
        for each in findings:
            if (each.code, each.name) == (finding.code, finding.name):
                # The same mistake may be in another key of a flavor.
                self.assertEqual('flavor', each.owner, told)
                self.assertNotIn(each.key, keys, told)
        old_findings = cloud.find()
        self.assertEqual(set(), errors(findings) - errors(old_findings), told)
        # Nothing else is wrong with the object.
        new_codes = codes_of(findings, finding) - codes_of(
            old_findings, finding
        )
        self.assertEqual(set(), new_codes, told)
        hosts = {*cloud.inventory().hosts}
        flavors = {finding.name}
        if finding.owner == 'aggregate':
            flavors = {*cloud.flavors}
            _, members = cloud.aggregates[finding.name]
            hosts = {*members}
        for flavor, host in cloud.pairs() ^ followed.pairs():
            self.assertIn(flavor, flavors, told)
            self.assertIn(host, hosts, told)

    def test_no_remedy_does_harm(self) -> None:
        rng = random.Random(_SEED)
        counts: collections.Counter[str] = collections.Counter()
        for _ in range(_CLOUDS):
            cloud = draw_cloud(rng)
            for finding in cloud.find():
                if finding.remedy:
                    self.assert_harmless(cloud, finding)
                    counts[finding.code] += 1
        # Each kind of remedy was followed.
        self.assertEqual(
            {
                *(Code.NAMESPACE_WITHOUT_EFFECT, Code.MISSPELLED_FLAG),
                *(Code.FLAG_WITHOUT_EFFECT, Code.MISREAD_VALUE),
                *(Code.OUTER_SPACE, Code.NOT_OFFERED, Code.EXPANDED_TILDE),
                Code.CLOSED_AGGREGATE,
            },
            {*counts},
            counts,
        )

    @ddt.data(*_PUBLIC)
    @ddt.unpack
    def test_what_another_program_reads_stays(self, specs, metadata) -> None:
        cloud = Cloud(
            {f'f{number}': each for number, each in enumerate(specs)},
            {f'a{n}': (each, [f'h{n}']) for n, each in enumerate(metadata)},
            {'h0': 'up', 'h1': 'up'},
        )
        for finding in cloud.find():
            if not finding.remedy:
                continue
            self.assert_harmless(cloud, finding)
            followed = cloud.follow(finding.remedy)
            self.assertEqual(cloud.flavors, followed.flavors)
            for name, (each, _) in followed.aggregates.items():
                old, _ = cloud.aggregates[name]
                # The flag is the filter's own.
                self.assertEqual({**old, **_ON}, {**each, **_ON})

    def test_a_key_of_another_program_is_made_exempt(self) -> None:
        windows = {'os': 'windows', 'evacuable': 'true', **_ON}
        cloud = Cloud(
            {'win': {f'{_SCOPE}os': 'windows'}, 'm1': {}},
            {'licensed': (windows, ['h0'])},
            {'h0': 'up', 'h1': 'up'},
        )
        closed, _ = sorted(cloud.find(), key=lambda each: each.code)
        self.assertEqual(('evacuable', ''), (closed.key, closed.remedy))
        # As the page says.
        cloud.exempt = *_EXEMPT, 'evacuable'
        self.assertEqual([], cloud.find())
        # The hosts are still closed to flavors without the licence.
        pairs = {('win', 'h0'), ('m1', 'h1')}
        self.assertEqual(pairs, cloud.pairs())

    def test_a_namespace_of_its_own_is_skipped(self) -> None:
        cloud = Cloud(
            {'f': {'ha:evacuable': 'true'}},
            {'a': ({'gpu': 'a'}, ['h0'])},
            {'h0': 'up', 'h1': 'up'},
        )
        self.assertEqual([], cloud.find())
        self.assertEqual({('f', 'h0'), ('f', 'h1')}, cloud.pairs())

    def test_a_remedy_would_overwrite_another_extra_spec(self) -> None:
        specs = {f'{_SCOPE}k ': '1', f'{_SCOPE}k': '1'}
        cloud = Cloud({'f': specs}, {'a': ({'k': '1'}, ['h'])}, None)
        (finding,) = cloud.find()
        self.assertEqual(Code.OUTER_SPACE, finding.code)
        self.assertEqual('', finding.remedy)


@ddt.ddt
class CommandTest(unittest.TestCase):
    """A shell, the client and Nova take a remedy as it is printed."""

    @ddt.data(
        ('f', {'k': "<or> a's <or> ~"}, True),
        # The client reads another ID, another option or another key.
        ('7', {'k': '1'}, False),
        ('-f', {'k': '1'}, False),
        ('f', {'-k': '1'}, False),
        ('f', {'k=': '1'}, False),
        # Nova refuses it, or a terminal shows it escaped.
        ('f', {'k': 255 * '1'}, True),
        ('f', {'k': 256 * '1'}, False),
        ('f', {'k': '\x1b'}, False),
    )
    @ddt.unpack
    def test_change_flavor(self, name, specs, is_told) -> None:
        cloud = Cloud({name: {'old': '1'}}, {}, None)
        changes = *specs.items(), ('old', None)
        command = remedies.change_flavor(name, changes)
        self.assertEqual(is_told, bool(command))
        if command:
            self.assertEqual({name: specs}, cloud.follow(command).flavors)
