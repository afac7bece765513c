"""Reads models written by kernelect's write_model() and predicts with them.

The standard library alone is needed. As a module:

    import kernelect_model
    model = kernelect_model.read_model("model.json")
    model.predict([{"wt": 2.6, "hp": 110}])

and as a program, which prints a CSV table:

    python3 kernelect_model.py model.json rows.csv [type]

Rows are dictionaries by column name (numbers, strings for factors, dates, None for missing
values), or sequences of numbers for models fitted to columns without names. For a model of a Gram
matrix a row holds the kernel values against the training rows, in their order; for a fusion of
several Gram matrices it is a dictionary of such sequences. A prediction is a number, a list of
numbers, or the name of a class; None for a row with missing values.

The format is described field by field in ?model_format of the R package.
"""

import csv
import datetime
import json
import math
import operator
import sys

FORMAT, VERSION = "kernelect-model", 1


# ---- values ------------------------------------------------------------------------------------


class Vector(list):
    """Elements of a vector of R, with its names (or None)."""

    names = None


def read_model(path):
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    if whole.get("format") != FORMAT:
        raise ValueError("no model written by kernelect")
    if whole.get("format_version") != VERSION:
        raise ValueError("format version %r is not %d" % (whole.get("format_version"), VERSION))
    return make_model(whole["model"])


def make_model(value):
    kind = decode(value["attributes"]["class"])[0]
    if kind not in MODELS:
        raise ValueError("no model of a known class: " + kind)
    if kind == "kernel_tune":
        return make_model(value["fields"]["model"])
    return MODELS[kind](decode(value))


def decode(value):
    """null, number vectors (matrices as lists of rows), strings, factors and lists."""
    if value is None:
        return None
    attributes = value.get("attributes", {})
    if "fields" in value:
        fields = {name: decode(v) for name, v in value["fields"].items()}
        return filled(fields) if decode(attributes.get("class")) == [SPARSE] else fields
    if "list" in value:
        return named([decode(v) for v in value["list"]], attributes)
    if "call" in value or "symbol" in value:
        return expression(value)
    if "double" in value:
        out = [number(v) for v in value["double"]]
    else:
        out = next(value[k] for k in ("integer", "logical", "character") if k in value)
    if "levels" in attributes:
        levels = decode(attributes["levels"])
        out = [None if i is None else levels[i - 1] for i in out]
    if "dim" in attributes:
        rows, columns = decode(attributes["dim"])
        return [[out[i + rows * j] for j in range(columns)] for i in range(rows)]
    return named(out, attributes)


SPARSE = "kernelect_sparse"


def filled(sparse):
    """Rows that were kept by their entries alone, with the zeros between them."""
    rows, columns = sparse["size"]
    out = [[0.0] * columns for _ in range(rows)]
    for i, row in enumerate(out):
        for e in range(sparse["start"][i], sparse["start"][i + 1]):
            row[sparse["column"][e]] = sparse["value"][e]
    return out


def named(out, attributes):
    out = Vector(out)
    if "names" in attributes:
        out.names = list(decode(attributes["names"]))
    return out


SPECIAL = {"NA": math.nan, "NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


def number(v):
    if isinstance(v, str):
        return SPECIAL[v] if v in SPECIAL else float.fromhex(v)
    return float(v)


def is_missing(v):
    return v is None or (isinstance(v, float) and math.isnan(v))


# ---- formulas ----------------------------------------------------------------------------------


def expression(value):
    """A call as (function, arguments, their names), a symbol as ("name", it), else a constant."""
    if value is not None and "symbol" in value:
        return ("name", value["symbol"])
    if value is None or "call" not in value:
        return ("value", decode(value))
    parts = [expression(v) for v in value["call"]]
    head = parts[0]
    if head[0] == "name":
        function = head[1]
    else:  # package::name
        function = head[2][1][1]
    names = value.get("names") or [""] * len(parts)
    result = ("call", function, parts[1:], names[1:])
    predvars = value.get("attributes", {}).get("predvars")
    return result if predvars is None else result + (expression(predvars), decode_response(value))


def decode_response(value):
    return decode(value["attributes"]["response"])[0]


def power(a, b):
    return a**b if a >= 0 or b == int(b) else math.nan


def logarithm(x, base=math.e):
    if x <= 0:
        return -math.inf if x == 0 else math.nan
    if base == math.e:
        return math.log(x)
    return math.log2(x) if base == 2 else math.log10(x) if base == 10 else math.log(x) / math.log(base)


def root(x):
    return math.sqrt(x) if x >= 0 else math.nan


def minus(a, b=None):
    return -a if b is None else a - b


def plus(a, b=0.0):
    return a + b


def sign(x):
    return float((x > 0) - (x < 0))


def rounded(x, digits=0):
    return float(round(x, int(digits)))


def scaled(x, center=0.0, scale=1.0):
    single = lambda v: v[0] if isinstance(v, list) else v
    return (x - single(center)) / single(scale)


def polynomials(x, degree=1.0, coefs=None, raw=False, simple=False):
    """Orthogonal polynomials by the recursion that poly() keeps the coefficients of."""
    if raw:
        return [x ** (j + 1) for j in range(int(degree))]
    if coefs is None:
        raise ValueError("poly() without its coefficients")
    alpha, norm2 = coefs["alpha"], coefs["norm2"]
    values, before = [1.0], 0.0
    for j in range(int(degree)):
        last = values[-1]
        values.append((x - alpha[j]) * last - (norm2[j + 1] / norm2[j] * before if j else 0.0))
        before = last
    return [values[j + 1] / math.sqrt(norm2[j + 2]) for j in range(int(degree))]


def lists(*parts, names=None):
    if names and any(names):
        return dict(zip(names, parts))
    return Vector(parts)


FUNCTIONS = {
    "+": plus, "-": minus, "*": operator.mul, "/": operator.truediv, "^": power,
    "(": lambda x: x, "I": lambda x: x, "%%": lambda a, b: a - math.floor(a / b) * b,
    "%/%": lambda a, b: float(math.floor(a / b)), "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "!": operator.not_, "&": lambda a, b: bool(a) and bool(b), "|": lambda a, b: bool(a) or bool(b),
    "abs": abs, "sqrt": root, "exp": math.exp, "expm1": math.expm1, "log": logarithm,
    "log10": lambda x: logarithm(x, 10), "log2": lambda x: logarithm(x, 2),
    "log1p": math.log1p, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "sign": sign, "floor": lambda x: float(math.floor(x)), "ceiling": lambda x: float(math.ceil(x)),
    "round": rounded, "trunc": lambda x: float(math.trunc(x)), "pmin": min, "pmax": max,
    "ifelse": lambda test, yes, no: yes if test else no, "as.numeric": float,
    "as.integer": lambda x: float(math.trunc(x)), "as.character": str, "factor": lambda x: x,
    "ordered": lambda x: x, "cbind": lambda *parts: [v for p in parts for v in flat(p)],
    "scale": scaled, "poly": polynomials,
}


def flat(v):
    return v if isinstance(v, list) else [v]


def evaluate(tree, row):
    """The value of a term for one row; None where it needs a value that is missing."""
    if tree[0] == "name":
        return cell(row, tree[1])
    if tree[0] == "value":
        value = tree[1]
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    function, arguments, names = tree[1:4]
    values = [evaluate(a, row) for a in arguments]
    if function in ("list", "c"):
        return lists(*values, names=names)
    if function == "is.na":
        return is_missing(values[0])
    if any(is_missing(v) for v in values):
        return None
    if function not in FUNCTIONS:
        raise ValueError("this reader does not know %s() in a formula" % function)
    plain = [v for v, n in zip(values, names) if not n]
    return FUNCTIONS[function](*plain, **{n: v for v, n in zip(values, names) if n})


# ---- new rows ----------------------------------------------------------------------------------


def cell(row, name):
    if name not in row:
        raise ValueError("a row lacks the column " + name)
    value = row[name]
    if isinstance(value, str):
        if value in ("", "NA"):
            return None
        try:
            return float(value)
        except ValueError:
            return {"TRUE": True, "FALSE": False}.get(value, value)
    return value


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def as_number(value, kind=None):
    """Numbers, truth values, and dates as R counts them: days, or seconds, since 1970."""
    if isinstance(value, str) and kind:
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        seconds = (zoned - EPOCH).total_seconds()
        return math.floor(seconds / 86400.0) if kind == "Date" else seconds
    if isinstance(value, datetime.date):
        days = (value - EPOCH.date()).days
        return float(days if kind == "Date" else 86400 * days)
    return float(value)


def design(row, blueprint):
    """The numbers of one row, a column a level for factors; None where one is missing."""
    if not isinstance(row, dict):
        if blueprint.get("columns"):
            raise ValueError("columns are matched by name: give dictionaries")
        out = [math.nan if v is None else float(v) for v in row]
    else:
        names = blueprint.get("variables") or blueprint.get("columns")
        terms = blueprint.get("terms")
        out = []
        for name, value in zip(names, variables(row, names, terms)):
            out.extend(columns_of(name, value, blueprint))
    if len(out) != blueprint["width"][0]:
        raise ValueError("a row must have %d columns" % blueprint["width"][0])
    return None if any(is_missing(v) for v in out) else out


def variables(row, names, terms):
    if not terms:
        return [cell(row, name) for name in names]
    predvars, response = terms[4], terms[5]
    return [evaluate(tree, row) for tree in predvars[2][response:]]


def columns_of(name, value, blueprint):
    levels = (blueprint.get("levels") or {}).get(name) if has(blueprint, "levels", name) else None
    if levels is not None:
        if is_missing(value):
            return [None] * len(levels)
        label = level_name(value)
        if label not in levels:
            raise ValueError("%s has no level %s" % (name, label))
        return [float(label == level) for level in levels]
    width = matrix_width(name, blueprint)
    if value is None:
        return [None] * width
    if isinstance(value, list):
        return [None if is_missing(v) else float(v) for v in value]
    kind = blueprint["times"][name][0] if has(blueprint, "times", name) else None
    return [as_number(value, kind)]


def has(blueprint, field, name):
    return isinstance(blueprint.get(field), dict) and name in blueprint[field]


def matrix_width(name, blueprint):
    if not has(blueprint, "matrices", name):
        return 1
    shape = blueprint["matrices"][name]
    return len(shape) if isinstance(shape[0], str) else int(shape[0])


def level_name(value):
    """Labels as as.character() writes them: 4 for 4.0, TRUE for true."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return str(value)


# ---- kernels -----------------------------------------------------------------------------------


def kernel_value(kernel, x, z, outer=None):
    kind = kernel["type"][0]
    if kind == "function":
        raise ValueError("a function of R cannot be evaluated here")
    weights = kernel.get("weights") or outer
    if kernel.get("weights") and outer:
        weights = [a * b for a, b in zip(outer, kernel["weights"])]
    if kind in ("sum", "product"):
        parts = [kernel_value(part, x, z, weights) for part in kernel["parts"]]
        total = math.fsum(parts) if kind == "sum" else math.prod(parts)
        return kernel["scale"][0] * total
    if weights:
        x = [w * v for w, v in zip(weights, x)]
        z = [w * v for w, v in zip(weights, z)]
    return KERNELS[kind](kernel, x, z)


def inner(x, z):
    return math.fsum(a * b for a, b in zip(x, z))


def squared_distance(x, z):
    return math.fsum((a - b) * (a - b) for a, b in zip(x, z))


def affine(kernel, x, z):
    return kernel["scale"][0] * inner(x, z) + kernel["offset"][0]


def spline(kernel, x, z):
    out = 1.0
    for a, b in zip(x, z):
        m = min(a, b)
        out *= 1 + a * b + a * b * m - (a + b) / 2 * m**2 + m**3 / 3
    return out


KERNELS = {
    "rbf": lambda k, x, z: math.exp(-k["gamma"][0] * squared_distance(x, z)),
    "laplace": lambda k, x, z: math.exp(-math.sqrt(squared_distance(x, z)) / k["sigma"][0]),
    "linear": lambda k, x, z: inner(x, z),
    "polynomial": lambda k, x, z: affine(k, x, z) ** int(k["degree"][0]),
    "sigmoid": lambda k, x, z: math.tanh(affine(k, x, z)),
    "spline": spline,
}


# ---- a basis -----------------------------------------------------------------------------------


class Basis:
    """Rows that new ones are compared with: (centred) kernel values, coordinates, residuals."""

    def __init__(self, fields):
        self.fields = fields
        self.size = len(fields["index"])
        self.factor = fields["cholesky"]

    def prepare(self, row):
        """What is compared with the basis: scaled numbers, or kernel values as they are given."""
        if self.fields["kernel"] is None:
            return self.given(row)
        x = design(row, self.fields["input"])
        return None if x is None else scale_row(x, self.fields["scaling"])

    def given(self, row):
        omitted = self.fields.get("na.action") or []
        if isinstance(row, dict):
            names = list(self.fields["row_names"]) + list(self.fields["center_names"] or [])
            values = [cell(row, name) for name in names]
        else:
            if omitted and len(row) == self.fields["n"][0] + len(omitted):
                row = [v for i, v in enumerate(row, 1) if i not in omitted]
            if len(row) != self.fields["n"][0]:
                raise ValueError("a row must have %d kernel values" % self.fields["n"][0])
            if any(is_missing(v) for v in row):
                return None
            index = list(self.fields["index"]) + list(self.fields["center_index"] or [])
            values = [row[i - 1] for i in index]
        return None if any(is_missing(v) for v in values) else [float(v) for v in values]

    def values(self, x):
        """Kernel values against the rows, centred where the basis is."""
        own, centre = self.raw(x)
        if not centre:
            return own
        mean, shift = sum(centre) / len(centre), self.fields["shift"]
        return [k - mean - (shift[j] - shift[self.size]) for j, k in enumerate(own)]

    def raw(self, x):
        if self.fields["kernel"] is None:
            return x[: self.size], x[self.size :]
        kernel = self.fields["kernel"]
        centre = self.fields["center_vectors"] or []
        return (
            [kernel_value(kernel, x, v) for v in self.fields["vectors"]],
            [kernel_value(kernel, x, v) for v in centre],
        )

    def coordinates(self, x):
        """The solution z of cholesky z = kernel values."""
        z = []
        for j, k in enumerate(self.values(x)):
            row = self.factor[j]
            z.append((k - math.fsum(row[i] * z[i] for i in range(j))) / row[j])
        return z

    def residual(self, x):
        own = kernel_value(self.fields["kernel"], x, x)
        centre = self.raw(x)[1]
        if centre:
            own += self.fields["shift"][self.size] - 2 * sum(centre) / len(centre)
        return max(own - math.fsum(z * z for z in self.coordinates(x)), 0.0)


def scale_row(x, scaling):
    if not scaling:
        return x
    return [(v - c) / s for v, c, s in zip(x, scaling["center"], scaling["scale"])]


def times(x, matrix):
    """The row x times a matrix."""
    return [math.fsum(a * b for a, b in zip(x, column)) for column in zip(*matrix)]


def as_matrix(m):
    return m if m and isinstance(m[0], list) else [[v] for v in m]


# ---- from decisions to classes -----------------------------------------------------------------


def softmax(values):
    top = max(values)
    shares = [math.exp(v - top) for v in values]
    return [s / sum(shares) for s in shares]


def calibrated(calibration, decisions):
    if len(decisions) == 1:
        decisions = [0.0] + decisions
    slope = calibration["slope"][0]
    return softmax([slope * d + o for d, o in zip(decisions, calibration["offset"])])


def largest(values, levels):
    return levels[values.index(max(values))]


class Model:
    """`types`: what may be asked for, the default first."""

    types = ("response",)
    on_basis = True

    def __init__(self, fields):
        self.fields = fields
        self.basis = Basis(fields["basis"]) if self.on_basis and "basis" in fields else None
        self.levels = fields.get("levels")

    def predict(self, rows, type=None):
        wanted = self.types[0] if type is None else type
        if wanted not in self.types:
            raise ValueError("type must be one of " + ", ".join(self.types))
        return [self.one(row, wanted) for row in rows]

    def one(self, row, type):
        x = self.prepare(row)
        return None if x is None else self.answer(x, type)

    def prepare(self, row):
        return self.basis.prepare(row)

    def classify(self, decisions, type):
        if type == "decision":
            return decisions
        if type == "prob":
            return calibrated(self.fields["calibration"], decisions)
        return largest(decisions, self.levels)


class KernelBasis(Model):
    types = ("orthonormal", "kernel", "residual")

    def __init__(self, fields):
        super().__init__(fields)
        self.basis = Basis(fields)

    def answer(self, x, type):
        ask = {"orthonormal": "coordinates", "kernel": "values", "residual": "residual"}[type]
        return getattr(self.basis, ask)(x)


class KernelPCA(Model):
    types = ("scores",)

    def answer(self, x, type):
        scores = times(self.basis.values(x), self.fields["loadings"])
        return [s - o for s, o in zip(scores, self.fields["offset"])]


class KernelLM(Model):
    def __init__(self, fields):
        super().__init__(fields)
        if self.levels:
            self.types = ("class", "prob", "decision", "response")

    def answer(self, x, type):
        intercept = as_matrix(self.fields["coefficients"])[0]
        values = times(self.basis.values(x), self.fields["expansion"]["dual"])
        values = [v + b for v, b in zip(values, intercept)]
        if self.levels and type != "response":
            return self.classify(values, type)
        return values if isinstance(self.fields["coefficients"][0], list) else values[0]


class KernelLDA(Model):
    types = ("class", "prob", "decision", "scores")

    def __init__(self, fields):
        super().__init__(fields)
        self.white = whitening(fields["within"])
        center = fields["center"]
        self.offset = times(center, fields["scaling"])
        means = [[v - c for v, c in zip(row, center)] for row in fields["means"]]
        self.means = [times(times(row, fields["scaling"]), self.white) for row in means]
        total = sum(fields["counts"])
        self.shares = [c / total for c in fields["counts"]]

    def answer(self, x, type):
        scores = times(self.basis.values(x), self.fields["expansion"]["dual"])
        scores = [s - o for s, o in zip(scores, self.offset)]
        if type == "scores":
            return scores
        if type == "prob":
            p = calibrated(self.fields["calibration"], self.densities(scores, self.shares))
            moved = zip(p, self.fields["prior"], self.shares)
            return softmax([logarithm(a) + logarithm(b / c) for a, b, c in moved])
        return self.classify(self.densities(scores, self.fields["prior"]), type)

    def densities(self, scores, prior):
        s = times(scores, self.white)
        return [logarithm(p) - squared_distance(s, m) / 2 for p, m in zip(prior, self.means)]


def whitening(within):
    """Eigenvectors over the roots of the eigenvalues, which count as at least 1e-10 (Jacobi)."""
    n = len(within)
    a = [list(row) for row in within]
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(60):
        if all(a[i][j] == 0.0 for i in range(n) for j in range(n) if i != j):
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                rotate(a, v, p, q)
    roots = [math.sqrt(max(a[j][j], 1e-10)) for j in range(n)]
    return [[v[i][j] / roots[j] for j in range(n)] for i in range(n)]


def rotate(a, v, p, q):
    """The turn of rows and columns p and q that makes a[p][q] vanish."""
    small = abs(a[p][q]) <= 1e-18 * math.sqrt(abs(a[p][p] * a[q][q]))
    if a[p][q] == 0.0 or small:
        a[p][q] = a[q][p] = 0.0
        return
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1))
    c = 1 / math.sqrt(t * t + 1)
    s = t * c
    for k in range(len(a)):
        a[k][p], a[k][q] = c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]
    for k in range(len(a)):
        a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
        v[k][p], v[k][q] = c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]
    a[p][q] = a[q][p] = 0.0


class KernelTakes(Model):
    types = ("class", "prob", "decision", "scores")

    def __init__(self, fields):
        super().__init__(fields)
        kept = [int(d) - 1 for d in fields["directions"]]
        self.kept = kept
        moved = [fields["rounding"][d] * fields["weights"][d] for d in kept]
        self.tolerance = math.sqrt(math.fsum(m * m for m in moved))

    def answer(self, x, type):
        scores = self.scores(x)
        if type == "scores":
            return scores
        labels = self.fields["y"]
        if not scores:
            return max(self.class_levels(), key=labels.count) if type == "class" else None
        distance = [math.sqrt(squared_distance(scores, row)) for row in self.fields["scores"]]
        if type == "class":
            near = min(distance) + self.tolerance
            votes = [label for label, d in zip(labels, distance) if d <= near]
            return max(votes, key=votes.count)  # of as many the first
        least = [
            -min(d for label, d in zip(labels, distance) if label == level)
            for level in self.class_levels()
        ]
        return self.classify(least, type)

    def class_levels(self):
        return self.fields["calibration"]["offset"].names

    def scores(self, x):
        z = self.basis.coordinates(x)
        turn = self.fields["rotation"]
        if turn is not None:
            z = times([a - b for a, b in zip(z, turn["center"])], turn["vectors"])
        return [z[d] * self.fields["weights"][d] for d in self.kept]


class KernelFusion(Model):
    on_basis = False  # its field `basis` counts rows

    def __init__(self, fields):
        super().__init__(fields)
        if self.levels:
            self.types = ("class", "prob", "decision", "response")

    def prepare(self, row):
        if self.fields["input"] is None:
            return self.given(row)
        x = design(row, self.fields["input"])
        return None if x is None else scale_row(x, self.fields["scaling"])

    def active(self):
        names = self.fields["weights"].names
        return [(n, w) for n, w in zip(names, self.fields["weights"]) if w > 0]

    def given(self, row):
        out = {}
        for name, _ in self.active():
            if not isinstance(self.fields["kernels"][name], list):
                continue  # noise
            if any(is_missing(v) for v in row[name]):
                return None
            out[name] = [row[name][i - 1] for i in self.fields["support"]]
        return out

    def answer(self, x, type):
        out = [sum(p) for p in zip(self.fields["intercept"], *self.parts(x))]
        if type in ("class", "prob"):
            if type == "class" and len(out) == 1:
                return self.levels[1 if out[0] > 0 else 0]
            return self.classify(out, type)
        return out if len(out) > 1 else out[0]

    def parts(self, x):
        """The share of every kernel in the decisions."""
        if self.fields["kernels"] is None:
            yield times(x, as_matrix(self.fields["coefficients"]))
            return
        shared = self.fields["expansion"]
        for name, weight in self.active():
            values = self.compared(self.fields["kernels"][name], name, x)
            expansion = as_matrix(shared[name] if isinstance(shared, dict) else shared)
            if values is not None and expansion:
                yield [weight * v for v in times(values, expansion)]

    def compared(self, spec, name, x):
        if self.fields["input"] is None:
            return x.get(name)
        if spec.get("kernel") is None:
            return None  # noise is new with every row
        columns = self.numbers(spec["columns"])
        mine = [x[c] for c in columns]
        return [
            kernel_value(spec["kernel"], mine, [row[c] for c in columns])
            for row in self.fields["vectors"]
        ]

    def numbers(self, columns):
        names = self.fields["input"].get("columns")
        return [names.index(c) if isinstance(c, str) else int(c) - 1 for c in columns]


class KernelRank(Model):
    """The best columns of a row."""

    types = ("columns",)

    def prepare(self, row):
        return design(row, self.fields["input"])

    def answer(self, x, type):
        return [x[int(j) - 1] for j in self.fields["ranking"][: int(self.fields["n"][0])]]


MODELS = {
    "kernel_basis": KernelBasis, "kernel_pca": KernelPCA, "kernel_lm": KernelLM,
    "kernel_lda": KernelLDA, "kernel_takes": KernelTakes, "kernel_fusion": KernelFusion,
    "kernel_rank": KernelRank, "kernel_tune": None,
}


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit("usage: kernelect_model.py model.json rows.csv [type]")
    try:
        model = read_model(arguments[0])
        with open(arguments[1], newline="", encoding="utf-8") as file:
            values = model.predict(list(csv.DictReader(file)), *arguments[2:])
    except (ValueError, KeyError, OSError) as problem:
        sys.exit("kernelect_model: %s" % problem)
    write = csv.writer(sys.stdout, lineterminator="\n")
    for value in values:
        write.writerow(["NA"] if value is None else [format_value(v) for v in flat(value)])


def format_value(v):
    return repr(v) if isinstance(v, float) else str(v)


if __name__ == "__main__":
    main(sys.argv[1:])
