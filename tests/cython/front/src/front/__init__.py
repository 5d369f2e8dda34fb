from front._front import Problem

__all__ = ["Problem"]
