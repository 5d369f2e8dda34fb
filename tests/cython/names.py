"""A .pyx that uses every name of the .pxd files: types, fields, constants, and a call of each
function with arguments of the declared types, so that the C or C++ compiler compares them with the
header's.  Prints it.     names.py PXD..."""
import pathlib
import re
import sys

modules, body = [], []
for path in map(pathlib.Path, sys.argv[1:]):
    text = re.sub(r",\n\s+", ", ", path.read_text())
    modules.append(path.stem)
    block = None
    for line in text.splitlines():
        code = line.split("#")[0].rstrip()
        if match := re.match(r"    ctypedef (struct|enum) (\w+)(:?)$", code):
            block = match.group(2)
            if match.group(1) == "struct" and match.group(3):
                body.append(("struct", block, []))
            elif match.group(1) == "enum":
                body.append(("enum", block, []))
        elif re.match(r"    enum:$", code):
            body.append(("enum", "int", []))
        elif match := re.match(r"        (\w+)$", code):
            if match.group(1) != "pass":
                body[-1][2].append(match.group(1))
        elif match := re.match(r"        [^(]*\(\*(\w+)\)\(.*\) noexcept nogil$", code):
            body[-1][2].append(match.group(1))
        elif match := re.match(r"        .*?(\w+)(\[\d*\])?$", code):
            body[-1][2].append(match.group(1))
        elif match := re.match(r"    const (\w+) (\w+)$", code):
            body.append(("enum", match.group(1), [match.group(2)]))
        elif match := re.match(r"    (.*?)(\w+)\((.*)\) noexcept$", code):
            body.append(("function", match.group(2), match.group(1).strip(), match.group(3)))

print("# cython: language_level=3\nfrom libc.stdint cimport *\nfrom libc.stdio cimport FILE, fopen, fclose")
print("from libc.string cimport memset")
for module in modules:
    print(f"from perfh.{module} cimport *")
print("""
cdef void *sink
cdef void use(const void *p) noexcept nogil:
    global sink
    sink = <void *>p

pointers = []
""")
for i, item in enumerate(body):
    if item[0] == "enum":
        print(f"def constants_{i}():\n    return [" +
              ", ".join(f"<double>{n}" for n in item[2]) + "]\n")
    elif item[0] == "struct":
        print(f"cdef void fields_{i}({item[1]} *s) noexcept nogil:")
        for field in item[2]:
            print(f"    use(&s.{field})")
        print(f"    use(s)\n\npointers.append(<size_t><void *>&fields_{i})\n")
    else:
        _, name, result, params = item
        params = [p for p in params.split(", ") if p]
        types = [] if params == ["..."] else params
        head = ", ".join(types)
        args = [re.search(r"\(\*(\w+)\)|(\w+)(\[\d*\])?$", p) for p in types]
        call = f"{name}({', '.join((a.group(1) or a.group(2)) for a in args)})"
        if params == ["..."]:
            head, call = "int n, double x, char *p", f"{name}(n), {name}(x), {name}(p)"
        if params == ["..."]:
            print(f"cdef void call_{i}({head}) noexcept nogil:")
            print("".join(f"    {c.strip()}\n" for c in call.split(", ")))
        elif result == "void":
            print(f"cdef void call_{i}({head}) noexcept nogil:\n    {call}\n")
        else:
            plain = result.replace("const ", "") if "*" not in result else result
            print(f"cdef {plain} call_{i}({head}) noexcept nogil:\n    return {call}\n")
        print(f"pointers.append(<size_t><void *>&call_{i})\n")
