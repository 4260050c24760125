# SPDX-License-Identifier: Apache-2.0

"""Find the members of a stack or server group, and their hosts."""
