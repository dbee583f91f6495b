"""Says whether the tests and places that the manifest names are there, by reading their files; nothing is imported.

A test counts if pytest would collect it and nothing skips it whatever happens: a promise that is only checked on
another day is not kept. Skips under a condition count as run.
"""

import ast
import re
from pathlib import Path

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_PARAMETRIZE = "parametrize"


class Bindings:
    """Looks references up below ``root``. Each file is parsed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[str, ast.Module | None] = {}

    def problem_with_test(self, node_id: str) -> str | None:
        """Why ``path::[Class::]test[parameters]`` is no test that is run, or None.

        The part in brackets is compared if the values are literal strings, else it only has to be possible.
        """
        base, bracket, parameter = node_id.partition("[")
        path, *names = base.split("::")
        if not re.fullmatch(r"tests/(?:.*/)?test_\w+\.py", path) or not names:
            return "is not of the form tests/…/test_….py::test_…"
        module = self._module(path)
        if module is None:
            return f"is missing: there is no {path}"
        scopes: list[ast.Module | ast.ClassDef] = [module]
        for name in names[:-1]:
            found = _last(scopes[-1], name)
            if not isinstance(found, ast.ClassDef) or not name.startswith("Test"):
                return f"is missing: {path} has no test class {name}"
            scopes.append(found)
        function = _last(scopes[-1], names[-1])
        if not isinstance(function, Definition) or not names[-1].startswith("test"):
            return f"is missing: {path} has no test {'::'.join(names)}"
        if never := _never_run(module, scopes, function):
            return never
        return _wrong_parameter(module, scopes, function, parameter.removesuffix("]")) if bracket else None

    def problem_with_place(self, reference: str) -> str | None:
        """Why ``reference`` shows nothing, or None.

        A test, ``module.py::Class.method``, ``page.md#heading`` as GitHub writes it, or just a file.
        """
        if reference.startswith("tests/"):
            return self.problem_with_test(reference)
        path, separator, name = reference.partition("#" if "#" in reference else "::")
        if not (self._root / path).is_file():
            return f"is missing: there is no {path}"
        if separator == "#":
            text = (self._root / path).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            return None if name in anchors else f"is missing: {path} has no such heading"
        if separator:
            scope: ast.AST | None = self._module(path)
            for part in name.split("."):
                scope = _last(scope, part) if isinstance(scope, ast.Module | ast.ClassDef) else None
            return None if scope is not None else f"is missing: {path} defines no {name}"
        return None

    def _module(self, path: str) -> ast.Module | None:
        if path not in self._modules:
            file = self._root / path
            self._modules[path] = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else None
        return self._modules[path]


def _last(scope: ast.Module | ast.ClassDef, name: str) -> ast.stmt | None:
    """The definition of ``name`` that counts: the last one."""
    found: ast.stmt | None = None
    for statement in scope.body:
        if isinstance(statement, Definition | ast.ClassDef) and statement.name == name:
            found = statement
    return found


def _marks(node: ast.Module | ast.ClassDef | Definition) -> list[ast.expr]:
    """Decorators, and what ``pytestmark`` holds."""
    marks = [] if isinstance(node, ast.Module) else list(node.decorator_list)
    for statement in node.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            value = statement.value
            marks += value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    return marks


def _called(expression: ast.expr) -> tuple[str, list[ast.expr]]:
    """``pytest.mark.skipif(a, b)`` → "skipif" and its positional arguments."""
    call = expression if isinstance(expression, ast.Call) else None
    target = call.func if call is not None else expression
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return name, call.args if call is not None else []


def _never_run(
    module: ast.Module, scopes: list[ast.Module | ast.ClassDef], function: Definition
) -> str | None:
    for mark in [mark for node in [*scopes, function] for mark in _marks(node)]:
        name, arguments = _called(mark)
        always = name == "skipif" and bool(arguments) and isinstance(arguments[0], ast.Constant) and arguments[0].value
        if name == "skip" or always:
            return "is always skipped"
        if name == "xfail":
            return "is expected to fail"
    given_up = {"pytest.skip", "pytest.xfail"}
    statements = [statement.value for statement in [*module.body, *function.body] if isinstance(statement, ast.Expr)]
    if any(isinstance(call, ast.Call) and ast.unparse(call.func) in given_up for call in statements):
        return "is always skipped"
    return None


def _wrong_parameter(
    module: ast.Module, scopes: list[ast.Module | ast.ClassDef], function: Definition, parameter: str
) -> str | None:
    marks = [_called(mark) for node in [*scopes, function] for mark in _marks(node)]
    sets = [arguments for name, arguments in marks if name == _PARAMETRIZE]
    if not sets:
        return f"is missing: {function.name} has no parameters"
    known = _literals(module, sets[0][1]) if len(sets) == 1 and len(sets[0]) == 2 else None
    return None if known is None or parameter in known else f"is missing: {parameter!r} is none of its parameters"


def _literals(module: ast.Module, values: ast.expr) -> list[str] | None:
    """The strings of a literal list, also of one that has a name in the module; None if they are anything else."""
    if isinstance(values, ast.Name):
        assigned = [
            statement.value
            for statement in module.body
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == values.id
        ]
        values = assigned[-1] if assigned else values
    if not isinstance(values, ast.List | ast.Tuple):
        return None
    strings = [item.value for item in values.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return strings if len(strings) == len(values.elts) else None
