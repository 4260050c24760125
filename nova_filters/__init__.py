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

"""Plug-ins for nova-scheduler: a host filter and a weigher.

Nova has no entry points for them; it calls the two functions below, which
``nova.conf`` names:

.. code-block:: ini

   [filter_scheduler]
   available_filters = nova.scheduler.filters.all_filters
   available_filters = nova_filters.all_filters
   weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers

Importing this package loads no service: the classes are imported when Nova
asks for them.
"""  # noqa: E501


def all_filters() -> list[type]:
    """Return the host filters of this package.

    :returns: classes, which ``enabled_filters`` chooses from by their names.
    """
    from nova_filters.filters import aggregate_instance_type

    return [aggregate_instance_type.AggregateInstanceTypeFilter]


def all_weighers() -> list[type]:
    """Return the host weighers of this package.

    :returns: classes; Nova uses every one of them.
    """
    from nova_filters.weighers import stack_affinity

    return [stack_affinity.StackAffinityWeigher]
