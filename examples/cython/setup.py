"""Builds sums.pyx beside itself: python3 setup.py build_ext --inplace"""
import perfh
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(name="sums", ext_modules=cythonize(
    [Extension("sums", ["sums.pyx"], include_dirs=[perfh.get_include()])]))
