# Convoke as a Spack package; docs/install.md says how to use it and what was tried.

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Convoke(CMakePackage):
    """Trains convolutional networks on CPU clusters with MPI: one model of all ranks, or ensembles that vote."""

    homepage = "https://example.org/convoke"  # where you have the sources from
    # `spack develop --path /path/to/convoke convoke@main` builds your own folder of sources.
    git = "file:///path/to/convoke"

    license("Apache-2.0")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("openmpi@4.1:5")
    depends_on("onednn@2.6: cpu_runtime=omp")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("eigen@3.4")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:")
    depends_on("tomlplusplus")
    depends_on("nlohmann-json@3.10:")
    depends_on("hwloc@2.5:")
    depends_on("utf8proc")
    depends_on("zlib-api")
    depends_on("jpeg")

    # Spack has no package of these headers.
    resource(
        name="stb",
        git="https://github.com/nothings/stb.git",
        commit="31c1ad37456438565541f4919958214b6e762fb4",
        destination="external",
        placement="stb",
    )

    conflicts("%gcc@:11", msg="Convoke needs C++20: GCC 12 or newer")

    def cmake_args(self):
        return [
            self.define("CONVOKE_TESTS", False),
            self.define("STB_INCLUDE_DIR", join_path(self.stage.source_path, "external")),
        ]
