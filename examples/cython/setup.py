"""Builds sums.pyx and stream.pyx beside itself: python3 setup.py build_ext --inplace"""
import perfh
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="examples", py_modules=[], ext_modules=cythonize(
    [Extension(name, [f"{name}.pyx"], include_dirs=[perfh.get_include()])
     for name in ("sums", "stream")]))
