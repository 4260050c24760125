# SPDX-License-Identifier: Apache-2.0

"""The names of Nova that the weighers know, held against Nova itself."""

import inspect
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import ddt
from nova import exception, objects, scheduler
from nova.api.openstack.compute.schemas import servers
from nova.compute import instance_actions, vm_states
from nova.scheduler import filters, host_manager, request_filter, utils
from nova.scheduler.filters import image_props_filter
from nova.virt import hardware
from oslo_utils import uuidutils

from nova_filters.members import reader, rows, server_records
from nova_filters.spread import teams
from os_placement_plugins import signature, stack_hints
from testing.nova import engine
from tests.functional.nova_filters import base

#: Values for image properties of all types.
_VALUES = (True, 1, [1], 'x', '>=9.0', ['CUSTOM_X'], [{'x': 'y'}])
#: Properties without which Nova does not look at some others.
_BESIDE = {
    'hw_cpu_policy': 'dedicated',
    'hw_ephemeral_encryption': True,
    'hw_firmware_type': 'uefi',
    'hw_machine_type': 'q35',
    'hw_tpm_version': '2.0',
    'img_hv_type': 'kvm',
}
#: How Nova's scheduler reads a hint.
_READS_HINT = re.compile(
    r"(?:scheduler_hints?\.get|get_scheduler_hint)\('(\w+)'"
)
#: How Nova names the status of a migration.
_STATUS = re.compile(r"status\s*=\s*'([\w-]+)'")
_NOVA = pathlib.Path(scheduler.__path__[0]).parent


def read_sources(folder: str) -> Iterator[str]:
    """Yield the text of each module of Nova that is no test."""
    for file in (_NOVA / folder).rglob('*.py'):
        if 'tests' not in file.parts:
            yield file.read_text('utf-8')


class ImageTest(base.StackTestCase):
    """Which properties of images decide the candidates."""

    def setUp(self) -> None:
        super().setUp()
        for name in (
            'image_metadata_prefilter',
            'query_placement_for_image_type_support',
        ):
            self.set_option(name, True, 'scheduler')
        self.filter = image_props_filter.ImagePropertiesFilter()
        self.host = host_manager.HostState('host', 'node', None)
        self.host.supported_instances = [['x86_64', 'kvm', 'hvm']]
        self.host.hypervisor_version = 1_000_000
        self.host.cpu_info = {}

    def make_request(self, properties: dict[str, Any]) -> Any:
        """Return a request for a server from an image.

        :raises ValueError: if Nova does not take a property.
        """
        image = objects.ImageMeta(
            id=uuidutils.generate_uuid(),
            disk_format='qcow2',
            properties=objects.ImageMetaProps(**properties),
        )
        return objects.RequestSpec(
            self.cloud.context,
            availability_zone=None,
            flavor=self.flavor,
            force_hosts=None,
            force_nodes=None,
            image=image,
            instance_group=None,
            is_bfv=False,
            numa_topology=hardware.numa_get_constraints(self.flavor, image),
            pci_requests=objects.InstancePCIRequests(requests=[]),
            project_id=engine.PROJECT,
            requested_destination=None,
            requested_resources=[],
            scheduler_hints={},
        )

    def read_kind(self, request: Any) -> str:
        """Return the kind of the server."""
        text = json.dumps(request.obj_to_primitive())
        keys = signature.Keys([])
        return server_records.read_request(text, keys, images=False).kind

    def ask_nova(self, request: Any) -> str:
        """Return what decides the candidates of the server."""
        request_filter.process_reqspec(self.cloud.context, request)
        question = utils.ResourceRequest.from_request_spec(request)
        passes = self.filter.host_passes(self.host, request)
        topology = request.numa_topology
        if topology:
            topology = [cell.obj_to_primitive() for cell in topology.cells]
        return f'{question.to_querystring()} {passes} {topology}'

    def test_what_changes_novas_question_changes_the_kind(self) -> None:
        asked, missed = set(), set()
        for name, field in objects.ImageMetaProps.fields.items():
            values = getattr(field, 'valid_values', _VALUES)
            for beside in ({}, _BESIDE):
                plain = self.make_request(beside)
                kind, question = self.read_kind(plain), self.ask_nova(plain)
                for value in values:
                    try:
                        request = self.make_request(beside | {name: value})
                        other_kind = self.read_kind(request)
                        other_question = self.ask_nova(request)
                    except (exception.NovaException, TypeError, ValueError):
                        # Nova refuses such an image.
                        continue
                    if question != other_question:
                        asked.add(name)
                        if kind == other_kind:
                            missed.add(name)
        self.assertIn('img_hv_requested_version', asked)
        self.assertGreater(len(asked), 19, asked)
        self.assertEqual(set(), missed)


@ddt.ddt
class ListTest(base.StackTestCase):
    """Names that are copied from Nova."""

    def test_hints(self) -> None:
        self.assertEqual(
            {*servers._hints['properties']}, {*stack_hints.OF_NOVA}
        )
        read = set()
        for text in read_sources('scheduler'):
            read.update(_READS_HINT.findall(text))
        self.assertGreater(len(read), 4)
        self.assertEqual(
            {'_nova_check_type'}, read.difference(stack_hints.OF_NOVA)
        )

    def test_filters_that_look_at_images(self) -> None:
        names = set()
        for filter_class in filters.all_filters():
            if 'image' in inspect.getsource(inspect.getmodule(filter_class)):
                names.add(filter_class.__name__)
        # These two look at the properties that all kinds have.
        names -= {'ImagePropertiesFilter', 'NUMATopologyFilter'}
        self.assertEqual({*reader._IMAGE_FILTERS}, names)

    def test_moves(self) -> None:
        names = {
            value
            for name, value in vars(instance_actions).items()
            if name.isupper()
        }
        self.assertLessEqual({*teams.MOVES}, names)
        self.assertEqual(vm_states.BUILDING, server_records.BUILDING)

    def test_migrations_that_are_over(self) -> None:
        request = self.request({})
        host = self.hosts[0]
        self.cloud.place(request, host, 'active')
        statuses = {*rows._OVER}
        for folder in 'compute', 'conductor':
            for text in read_sources(folder):
                statuses.update(_STATUS.findall(text))
        for status in statuses:
            self.cloud.start_migration(
                request, host, host, 'migration', status
            )
            self.cloud.migrations(request, source_node=host, dest_node=host)
        with self.cloud.in_cell() as context:
            going_on = objects.MigrationList.get_in_progress_by_host_and_node(
                context, host, host
            )
        running = {migration.status for migration in going_on}
        # A resize that waits to be confirmed has reached its host.
        self.assertEqual({'finished'}, running.intersection(rows._OVER))
        self.assertEqual({*rows._OVER} - {'finished'}, statuses - running)

    def test_fields_of_a_request_for_a_device(self) -> None:
        fields = {*objects.InstancePCIRequest.fields}
        self.assertLessEqual({*server_records._PORT}, fields)
