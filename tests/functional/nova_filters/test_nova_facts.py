# SPDX-License-Identifier: Apache-2.0

"""What the commands say about Nova, held against the Nova that is there."""

import collections
import inspect
import pathlib
import re
import unittest
from typing import Any

import ddt
from nova import exception, objects, scheduler
from nova.api.openstack.compute import flavors_extraspecs
from nova.api.validation.extra_specs import validators
from nova.scheduler import filters, weights

import nova_filters
from nova_filters import conf
from nova_filters.matching import inputs
from testing.nova import states
from tests import pages
from tests.functional.nova_filters import base

#: How Nova reads a key of the metadata of aggregates.
_READS = re.compile(
    r'(?:get_weight_multiplier|aggregate_values_from_key)\('
    r"\s*host_state,\s*'(\w+)'"
)


class AggregateTest(unittest.TestCase):
    """What the evaluator needs of Nova's Aggregates."""

    def test_a_dictionary_tells_them_apart_by_identity(self) -> None:
        base.cloud()
        aggregate, same = states.aggregates({'k': '1'}, {'k': '1'})
        same.id, same.name = aggregate.id, aggregate.name
        self.assertEqual(2, len({aggregate, same}))

    def test_what_nova_reads_from_aggregates_is_exempt(self) -> None:
        patterns = tuple(conf.DEFAULTS['exempt_metadata_keys'])
        is_exempt = inputs.compile_exemption(patterns)
        keys = set()
        for file in pathlib.Path(scheduler.__path__[0]).rglob('*.py'):
            keys.update(_READS.findall(file.read_text('utf-8')))
        self.assertGreater(len(keys), 10)
        self.assertEqual(set(), {key for key in keys if not is_exempt(key)})

    def test_exempt_image_properties_are_those_of_nova(self) -> None:
        for key in conf.DEFAULTS['exempt_metadata_keys']:
            if key.startswith(('os_', 'hw_', 'img_')):
                self.assertIn(key, objects.ImageMetaProps.fields)


@ddt.ddt
class SeamTest(pages.PageTestCase):
    """What Nova asks our classes for is on the page about seams."""

    @ddt.data(filters.BaseHostFilter, weights.BaseHostWeigher)
    def test_the_page_names_what_the_base_class_has(self, base_class) -> None:
        prose = pages.prose('contributor/seams')
        for name in dir(base_class):
            if name[0] != '_':
                self.assertIn(name, prose)

    @ddt.data(*nova_filters.all_filters(), *nova_filters.all_weighers())
    def test_a_class_takes_what_its_base_class_takes(self, cls) -> None:
        base_class = filters.BaseHostFilter
        if not issubclass(cls, base_class):
            base_class = weights.BaseHostWeigher
        for name, method in inspect.getmembers(base_class, callable):
            if name[:2] != '__':
                ours = inspect.signature(getattr(cls, name))
                # Nova's own classes have other names for their parameters.
                self.assertEqual(
                    len(inspect.signature(method).parameters),
                    len(ours.parameters),
                    name,
                )


class ApiTest(pages.PageTestCase):
    """What Nova's API makes of extra specs."""

    def test_the_page_lists_the_namespaces_that_the_api_checks(self) -> None:
        page = (pages.PAGES / 'nova.rst').read_text('utf-8')
        start = page.index("Nova's API checks the keys in these namespaces:")
        listed = re.findall('``([a-z_]+):``', page[start:].split('. ')[0])
        # Behind some names, Nova has a pattern for the number of a group.
        names = {re.sub(r'[({].*', '', name) for name in validators.NAMESPACES}
        # The scope of the filter accepts any key and value.
        self.assertEqual({*listed}, names - {'aggregate_instance_extra_specs'})
        source = inspect.getsource(flavors_extraspecs)
        (version,) = re.findall(r"is_supported\([^)]*'([\d.]+)'", source)
        self.assert_page_says('nova', f'Since microversion {version}, Nova')

    def test_the_api_refuses_most_sentinels(self) -> None:
        kinds: collections.Counter[bool] = collections.Counter()
        for validator in validators.VALIDATORS.values():
            key = _example(validator)
            for text in ('*', '~', '!', '<or> 1 <or> ~'):
                kinds[_refused(key, text)] += 1
        self.assertGreater(kinds[True], kinds[False])
        # The scope that the page recommends.
        key = 'aggregate_instance_extra_specs:quota:no_such_key'
        self.assertFalse(_refused(key, '~'))


def _example(validator: Any) -> str:
    """Return a key that a validator is for."""
    for part in ('1', '_A', ':x', 'HW_CPU_X86_VMX'):
        key = re.sub(r'{\w+}', part, validator.name)
        if re.fullmatch(validator.name_regex, key):
            return key
    raise AssertionError(validator.name)


def _refused(key: str, text: str) -> bool:
    """Tell whether Nova's API refuses an extra spec."""
    try:
        validators.validate(key, text)
    except exception.ValidationError:
        return True
    return False
