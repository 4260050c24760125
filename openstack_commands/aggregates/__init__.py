# SPDX-License-Identifier: Apache-2.0

"""Commands about aggregates, flavors and hosts."""
