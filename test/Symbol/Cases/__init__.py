# SPDX-License-Identifier: Apache-2.0
"""Cases of every operator, by family; this is what MXNet reads while it loads."""

import os
import sys

# The operators' own code, not that of a library with restrictions and faults;
# but recurrent layers, of which only the library's are right, and arithmetic on
# small integers, of which there is little else, in a process of their own.
USES_LIBRARY = len(sys.argv) > 2
os.environ["MXNET_MKLDNN_ENABLED"] = "1" if USES_LIBRARY else "0"
os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"
