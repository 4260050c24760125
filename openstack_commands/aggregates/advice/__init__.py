# SPDX-License-Identifier: Apache-2.0

"""What operators ask about flavors, aggregates and servers. Pure."""
