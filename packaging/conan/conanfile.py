"""perf.h for Conan 2: `conan create packaging/conan` from the top folder of the repository."""
import glob
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class Perfh(ConanFile):
    name = "perfh"
    description = "header-only performance instrumentation for C, C++, CUDA and Cython"
    license = "MIT"
    topics = ("performance", "profiling", "benchmark", "histogram", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def set_version(self):
        text = "".join(load(self, path) for path in glob.glob(os.path.join(self._top, "perf*.h")))
        number = int(re.search(r"^#define PERF_VERSION (\d+)", text, flags=re.M).group(1))
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    @property
    def _top(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def export_sources(self):
        copy(self, "perf*.h", self._top, self.export_sources_folder, excludes=("*/*",))
        copy(self, "LICENSE", self._top, self.export_sources_folder)
        copy(self, "perfh/*.pxd", os.path.join(self._top, "cython"),
             os.path.join(self.export_sources_folder, "cython"))

    def layout(self):
        basic_layout(self)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "perf*.h", self.source_folder, os.path.join(self.package_folder, "include"),
             keep_path=False)
        copy(self, "perfh/*.pxd", os.path.join(self.source_folder, "cython"),
             os.path.join(self.package_folder, "res", "cython"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.resdirs = ["res"]
        self.cpp_info.set_property("cmake_file_name", "perfh")
        self.cpp_info.set_property("cmake_target_name", "perfh::perfh")
        self.cpp_info.set_property("pkg_config_name", "perfh")
