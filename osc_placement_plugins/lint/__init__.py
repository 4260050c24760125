# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint``."""
