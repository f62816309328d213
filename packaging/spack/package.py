# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Spack recipe of the command ibfattree, without the plugin for OpenSM.

The plugin must be built for the OpenSM of the management node, and is loaded from the directories
of the dynamic linker; use the packages of the distribution for it.  The recipe names no address: place ibfattree-VERSION.tar.xz in a source
mirror or in the present directory, and add the checksum of the archive.
"""

import os

from spack.package import *


class Ibfattree(AutotoolsPackage):
    """Routing, checking and simulation of InfiniBand fat-trees."""

    license("GPL-2.0-only OR Linux-OpenIB")

    manual_download = True

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("json-c@0.14:")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("rdma-core")
    depends_on("python@3.11:", type="run")

    def url_for_version(self, version):
        return "file://{0}/ibfattree-{1}.tar.xz".format(os.getcwd(), version)

    def configure_args(self):
        return ["--without-opensm"]
