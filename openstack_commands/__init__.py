# SPDX-License-Identifier: Apache-2.0

"""What the ``openstack`` shell runs; no service imports it.

``advice`` in a room is pure. The modules beside it ask the cloud and print.
"""
