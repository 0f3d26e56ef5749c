"""What calls do in a gold program: APIs, the program's own functions, builtins."""

import ast
from dataclasses import replace

from tasks.golds.expressions import Expressions
from tasks.golds.known_values import AUTH_APIS, DATE_CALLS, NOTHING, Site, Value, field_kind, joined
from tasks.golds.syntax import position_of, ranking

_DATE_METHODS = frozenset(
    ["weekday", "isoweekday", "isocalendar", "total_seconds", "replace", "shift"]
)
_GROWING = frozenset(["append", "extend", "add", "update", "insert", "setdefault", "appendleft"])


_AGGREGATES = frozenset(["sum", "len", "round", "abs", "mean", "median", "fsum", "prod"])
_SUPERLATIVES = frozenset(["min", "max", "sorted", "nlargest", "nsmallest", "most_common"])

_MOST_NESTED = 6
"""How deep the program's own functions are followed; recursion ends here."""

_MOST_FOLLOWED = 200
"""How many calls of the program's own functions are followed. Functions that call one another many times
over would keep the walk busy for ever; a gold follows a dozen."""


class Calls(Expressions):
    """What calls do; an API call is noted as a site."""

    depth = 0
    followed = 0

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        function = self.value(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2:
            return self._getattr(node)
        if function.api is not None and len(function.api) == 2:
            return self._api_call(node, function.api)
        if function.function is not None and not isinstance(node.func, ast.Attribute):
            return self._own_function(node, function.function)
        return self._builtin(node)

    def _getattr(self, node: ast.Call) -> Value:
        base, key = self.value(node.args[0]), node.args[1]
        if base.api is not None and len(base.api) < 2:
            name = key.value if isinstance(key, ast.Constant) else None
            return Value(api=(*base.api, name))
        return base

    def _arguments(self, node: ast.Call) -> dict[str, Value]:
        named = {str(number): self.value(part) for number, part in enumerate(node.args)}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            named[keyword.arg or "**"] = value
        return named

    def _api_call(self, node: ast.Call, path: tuple[str | None, ...]) -> Value:
        arguments = self._arguments(node)
        app, name = path
        if name in AUTH_APIS or app is None or name is None:
            return NOTHING
        api, place = (app, name), (position_of(node), (app, name))
        known = self.sites.get(place)
        if known is not None:
            arguments = {
                key: arguments.get(key, NOTHING) | known.arguments.get(key, NOTHING)
                for key in {*arguments, *known.arguments}
            }
        control = self.control.bare | (known.control if known else NOTHING)
        self.sites[place] = Site(api, position_of(node), arguments, control)
        operations = joined(arguments.values()).operations
        loops = joined(arguments.values()).loops
        kind = ranking(node)
        return Value(frozenset({api}), operations, loops, kind or "collection")

    def _own_function(self, node: ast.Call, function: ast.FunctionDef | ast.Lambda) -> Value:
        given = self._arguments(node)
        self.followed += 1
        if self.depth >= _MOST_NESTED or self.followed > _MOST_FOLLOWED:
            return joined(given.values()).bare
        positions = [value for name, value in given.items() if name.isdigit()]
        saved = self.names, self.returned, self.depth, self.paging, self.statement, self.control
        self.names, self.returned, self.depth = dict(self.names), NOTHING, self.depth + 1
        self._bind_parameters(function.args, positions, given)
        if isinstance(function, ast.Lambda):
            result = self.value(function.body)
        else:
            self.run(function.body)
            result = self.returned
        self.names, self.returned, self.depth, self.paging, self.statement, self.control = saved
        return result

    def _bind_parameters(
        self, parameters: ast.arguments, positions: list[Value], given: dict[str, Value]
    ) -> None:
        names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
        for name, default in zip(names[::-1], parameters.defaults[::-1], strict=False):
            self.names[name] = self.value(default)
        self.names.update(zip(names, positions, strict=False))
        if parameters.vararg is not None:
            self.names[parameters.vararg.arg] = joined(positions[len(names) :])
        known = {*names, *(one.arg for one in parameters.kwonlyargs)}
        self.names.update({name: value for name, value in given.items() if name in known})
        if parameters.kwarg is not None:
            rest = (v for n, v in given.items() if n not in known and not n.isdigit())
            self.names[parameters.kwarg.arg] = joined(rest).bare

    def _builtin(self, node: ast.Call) -> Value:
        """A call of something that the program did not write: builtins, methods, datetime."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        receiver = NOTHING
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
        arguments = [self.value(part) for part in node.args]
        arguments += [self.value(one.value) for one in node.keywords if one.arg != "key"]
        result = joined([receiver, *arguments])
        result = replace(result, api=None, function=None)
        if name in _GROWING and isinstance(node.func, ast.Attribute):
            self._grow(node.func.value, joined(arguments))
        if name == "sort" and isinstance(node.func, ast.Attribute):
            self.bind(node.func.value, self._ranked(node, receiver))
            return NOTHING
        if name == "filter" and len(node.args) == 2:
            return self._filtered(node, arguments[1])
        if name == "map" and node.args:
            return result | self._applied(node.args[0], result).bare
        if name in ("next", "any", "all") and node.args:
            return self._single(replace(result, kind=None))
        if name in _SUPERLATIVES and (len(node.args) == 1 or isinstance(node.func, ast.Attribute)):
            return self._ranked(node, result)
        return self._computed(node, name, receiver, result)

    def _computed(self, node: ast.Call, name: str, receiver: Value, result: Value) -> Value:
        if name in _AGGREGATES:
            return self._with(replace(result, kind="number"), "arithmetic", self.statement)
        if name == "get" and node.args and isinstance(node.args[0], ast.Constant):
            return replace(receiver, kind=field_kind(str(node.args[0].value)))
        if name in ("int", "float", "Decimal"):
            return replace(result, kind="number" if result.kind != "date" else "date")
        if name in ("strptime", "fromisoformat") or name in DATE_CALLS:
            return replace(result, kind="date")
        if name in _DATE_METHODS and receiver.kind == "date":
            # A birthday brought into this year is only made comparable.
            into_year = [one.arg for one in node.keywords] == ["year"]
            result = replace(result, kind="date")
            return result if into_year else self._with(result, "date", self.statement)
        if name in ("set", "frozenset"):
            return replace(result, kind="set")
        if name == "difference" or name == "intersection":
            kept = replace(result, kind="set")
            return self._with(kept, "selection", node, excludes=name == "difference")
        if name in ("join", "str", "strip", "title", "format") and result.kind != "date":
            return replace(result, kind="text")
        if receiver.kind == "date":
            return replace(result, kind="date")
        return result

    def _ranked(self, node: ast.Call, result: Value) -> Value:
        """sorted, min, max and their kin, by whatever key.

        Putting in order chooses nothing yet; taking the first of what is in order does.
        """
        keys = [one.value for one in node.keywords if one.arg == "key"]
        by = joined(self._applied(key, result) for key in keys)
        dates = by.kind == "date" or (not keys and result.kind == "date")
        value = replace(result | by.bare, kind=None)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) in ("sort", "sorted"):
            return replace(value, kind="ranked by date" if dates else "ranked")
        return self._with(value, "superlative", node, dates=dates)

    def _filtered(self, node: ast.Call, rows: Value) -> Value:
        function = self.value(node.args[0]).function
        if not isinstance(function, ast.Lambda):
            return self._with(rows | self._applied(node.args[0], rows).bare, "selection", node)
        outer = dict(self.names)
        self.loops.append(id(node))
        for parameter in function.args.args:
            self.names[parameter.arg] = replace(rows, kind=None, loops=rows.loops | {id(node)})
        reason = self.test(function.body, selects=True)
        self.loops.pop()
        self.names = outer
        return rows | reason.bare

    def _applied(self, function: ast.expr, element: Value) -> Value:
        """What a function that is handed over gives for an element."""
        known = self.value(function).function
        if not isinstance(known, ast.Lambda):
            return NOTHING
        outer = dict(self.names)
        for parameter in known.args.args:
            self.names[parameter.arg] = replace(element, kind=None)
        value = self.value(known.body)
        self.names = outer
        return value
