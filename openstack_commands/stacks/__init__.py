# SPDX-License-Identifier: Apache-2.0

"""Commands about the scheduler hints of servers in Heat's stacks."""
