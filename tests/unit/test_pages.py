# SPDX-License-Identifier: Apache-2.0

"""Each block of a page runs, or the page says why not."""

import pathlib
import re
import unittest
from collections.abc import Iterator

from tests import pages

_NAME = re.compile(r'[A-Za-z_][\w-]{3,}')
#: What the pages name, and nothing here uses: names of other projects, options
#: of other commands, examples, and words of messages and values.
FOREIGN = """
    ACTION adjustment AggregateMultiTenancyIsolation
    AggregateTypeAffinityFilter auth_type availability-zone beta
    blazar_filter BlazarFilter blazarnova causal_read_timeout cell_v2
    cell_worker_thread_pool_size check-capacity check_size_params
    cluster_node_id config-dir CUSTOM_LICENSED devstack
    disable_group_policy_check_upcall enable_isolated_aggregate_filtering
    Encountered evacuable failure_domain_filter FailureDomainFilter globals
    heat-etc heat-lines heat_helm_values heat_tag journalctl
    log_config_append max_connections max_overflow max_placement_results
    max_pool_size min-size no-such-key nova-manage nova_blazar_enabled
    nova_helm_values nova_scheduler_filters nova_tag one_stack_filter
    openrc openstack_deploy os-compute-api-version PCIWeigher
    ram_weight_multiplier repl rollback SECURITY senlin_program update_cell
    _user_pip_packages user_secrets user_variables VALUE volume_type
    workarounds destroy_after_deletion reduce_desired_capacity
"""
#: What the other names come from. A test that quotes a name does not use it.
SOURCES = """
    senlin_plugins nova_filters heat_hints os_placement_plugins
    osc_placement_plugins demo testing tools benchmarks
"""


def sources() -> Iterator[pathlib.Path]:
    """Yield the files that the pages speak of."""
    for folder in SOURCES.split():
        yield from (pages.ROOT / folder).rglob('*.py')
    for name in 'Makefile', 'tox.ini', 'setup.cfg', 'devstack/plugin.sh':
        yield pages.ROOT / name


class PagesTest(unittest.TestCase):
    def test_each_block_runs_or_says_why_not(self) -> None:
        self.assertEqual([], [*pages.problems()])

    def test_each_name_is_known(self) -> None:
        known = FOREIGN
        for page in pages.pages():
            known += ''.join(block.text for block in pages.read(page))
            known += f' {page} '
        for path in sources():
            known += path.read_text('utf-8')
        words = {*_NAME.findall(known)}
        for page in pages.pages():
            named = {*_NAME.findall(' '.join(pages.literals(page)))}
            self.assertEqual(set(), named - words, page)
