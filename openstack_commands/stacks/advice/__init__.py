# SPDX-License-Identifier: Apache-2.0

"""What operators ask about the hints of stacks. Pure."""
