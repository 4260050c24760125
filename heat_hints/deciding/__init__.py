# SPDX-License-Identifier: Apache-2.0

"""What is decided about the hints. Nothing in here knows Heat."""
