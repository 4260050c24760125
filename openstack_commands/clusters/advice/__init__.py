# SPDX-License-Identifier: Apache-2.0

"""What operators ask about clusters and their regions. Pure."""
