import perfh
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(packages=["front"], package_dir={"": "src"}, ext_modules=cythonize(
    [Extension("front._front", ["src/front/_front.pyx"], include_dirs=[perfh.get_include()])]))
