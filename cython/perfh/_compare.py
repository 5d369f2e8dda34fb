"""What two functions returned, as two lists of numbers to compare.  Plain Python, used by perfh.ab.

Numbers are compared as numbers, within the tolerance that was asked for.  Everything else (str,
bytes, None, keys, dates) is equal or not: two that differ become 0 and NaN, which no tolerance
takes.  Containers are walked: what lies at the same place is compared.
"""
import array
import enum
import fractions
import math
import numbers as _numbers

_DEEPEST = 200                          # lists inside lists
_SEQUENCES = (list, tuple, range, array.array, memoryview)
_EXACT = (str, bytes, bytearray, type(None), type(Ellipsis))


class _Pairs:
    def __init__(self):
        self.left, self.right = array.array("d"), array.array("d")

    def number(self, a, b):
        self.left.append(a)
        self.right.append(b)

    def exact(self, same):
        self.number(0.0, 0.0 if same else float("nan"))


def _name(value):
    return type(value).__name__


def _differ(where, what):
    return ValueError(f"the outputs differ in form{where}: {what}")


def _plain(value):
    """NumPy, torch and pandas objects as lists, numbers and texts of Python; others as they are."""
    if hasattr(value, "detach") and hasattr(value, "cpu"):          # torch: off the device, no gradient
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":                    # NumPy knows none
            value = value.float()
        if str(getattr(value, "layout", "torch.strided")) != "torch.strided":
            value = value.to_dense()
        return value.tolist()
    if hasattr(value, "iloc") and hasattr(value, "index"):          # pandas: two columns of one name are two
        if not hasattr(value, "columns"):
            return {"index": value.index.tolist(), "values": value.tolist()}
        columns = list(value.columns)
        cells = [value.iloc[:, i].tolist() for i in range(len(columns))]
        return {"columns": columns, "index": value.index.tolist(), "values": cells}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):     # a table of polars and its like
        return {str(name): list(value[name]) for name in value.columns}
    if hasattr(value, "tolist"):                                    # NumPy; a column of pandas
        return value.tolist()
    if hasattr(value, "as_integer_ratio") and hasattr(value, "to_eng_string"):      # Decimal
        return fractions.Fraction(value) if value.is_finite() else float(value)
    return value


def _number(pairs, a, b):
    if isinstance(a, _numbers.Real) and isinstance(b, _numbers.Real):
        try:
            pairs.number(float(a), float(b))
        except OverflowError:                   # an int that no double holds
            pairs.exact(a == b)
        else:
            if isinstance(a, (int, fractions.Fraction)) and isinstance(b, (int, fractions.Fraction)) \
                    and a != b and pairs.left[-1] == pairs.right[-1]:
                pairs.number(1.0, float(fractions.Fraction(b) / fractions.Fraction(a)) if a else 0.0)
                if pairs.right[-1] == 1.0:      # nearer than doubles can tell, and not the same
                    pairs.number(1.0, 1.0 + 2.0 ** -52)
    else:
        a, b = complex(a), complex(b)
        pairs.number(a.real, b.real)
        pairs.number(a.imag, b.imag)


def _is_exact(array_):
    """Does each element of an array fit into a double?  Integers of 64 bits may not."""
    if array_.dtype.kind not in "iu" or array_.dtype.itemsize < 8 or not array_.size:
        return True
    return -2 ** 53 <= int(array_.min()) and int(array_.max()) <= 2 ** 53


def _arrays(pairs, a, b):
    """Two arrays of NumPy of one shape and of real numbers, without a walk.  False: they are none."""
    kinds = [getattr(getattr(x, "dtype", None), "kind", "") for x in (a, b)]
    if not all(kind and kind in "biuf" and hasattr(x, "ravel") for kind, x in zip(kinds, (a, b))):
        return False
    if getattr(a, "shape", None) != getattr(b, "shape", None) or "longdouble" in f"{a.dtype}{b.dtype}":
        return False
    if hasattr(a, "mask") or hasattr(b, "mask") or not _is_exact(a) or not _is_exact(b):
        return False
    if a.ravel().ndim != 1 or b.ravel().ndim != 1:          # a matrix stays one
        return False
    pairs.left.extend(a.ravel().tolist())
    pairs.right.extend(b.ravel().tolist())
    return True


def _walk(pairs, a, b, where, deep):
    if _arrays(pairs, a, b):
        return
    a, b = _plain(a), _plain(b)
    if deep > _DEEPEST:
        raise ValueError(f"the outputs are nested more than {_DEEPEST} deep")
    if isinstance(a, _numbers.Number) and isinstance(b, _numbers.Number) and \
            isinstance(a, _numbers.Complex) and isinstance(b, _numbers.Complex):
        _number(pairs, a, b)
    elif isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            odd = sorted(map(repr, a.keys() ^ b.keys()))
            raise _differ(where, f"keys that one alone has: {', '.join(odd[:5])}")
        for key in a:
            _walk(pairs, a[key], b[key], f"{where}[{key!r}]", deep + 1)
        pairs.exact(True)
    elif isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
        pairs.exact(a == b)
    elif isinstance(a, _SEQUENCES) and isinstance(b, _SEQUENCES):
        if len(a) != len(b) and where:
            raise _differ(where, f"{len(a)} and {len(b)} elements")
        if len(a) != len(b):
            raise ValueError(f"the baseline returned {len(a)} numbers and the candidate {len(b)}")
        for i, (x, y) in enumerate(zip(a, b)):
            _walk(pairs, x, y, f"{where}[{i}]", deep + 1)
    elif isinstance(a, _EXACT) and isinstance(b, _EXACT):
        pairs.exact(a == b)
    elif isinstance(a, enum.Enum) or isinstance(b, enum.Enum) or a is b:    # NaT and NA differ from themselves
        pairs.exact(a is b)
    elif type(a) is type(b) and hasattr(a, "__dataclass_fields__"):
        for name in a.__dataclass_fields__:
            _walk(pairs, getattr(a, name), getattr(b, name), f"{where}.{name}", deep + 1)
    elif type(a) is type(b) and type(a).__eq__ is not object.__eq__:
        same = a == b
        if not isinstance(same, bool):
            raise TypeError(f"close: outputs of the type {_name(a)}{where} cannot be compared; return "
                            "numbers, texts or containers of these, or pass close=None")
        pairs.exact(same)
    elif isinstance(a, _SEQUENCES) != isinstance(b, _SEQUENCES):
        n = [len(x) if isinstance(x, _SEQUENCES) else 1 for x in (a, b)]
        raise ValueError(f"the baseline returned {n[0]} numbers and the candidate {n[1]}: "
                         f"{_name(a)} and {_name(b)}{where}")
    elif type(a) is not type(b):
        pairs.exact(False)
    else:
        raise TypeError(f"close: outputs of the type {_name(a)}{where} cannot be compared; return "
                        "numbers, texts or containers of these, or pass close=None")


def alike(a, b, close):
    """Two numbers of pairs_of(), as perfh.ab takes them.  Nothing finite is close to an infinite one."""
    if a == b or (a != a and b != b):
        return True
    return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= close * abs(a)


def pairs_of(a, b):
    """Two arrays of doubles of one length, to be compared element by element."""
    pairs = _Pairs()
    _walk(pairs, a, b, "", 0)
    if not pairs.left:
        raise ValueError("both returned no number or text: there is nothing to compare")
    return pairs.left, pairs.right
