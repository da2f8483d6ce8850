"""The `// fullwarp:` lines of a source as Kernel Tuner wants them: enough for the specifications in examples/tune."""
import itertools
import re


def split_top(text, mark):
    """Splits at a mark that stands in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == mark and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]]]


def close_of(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise ValueError(f"no end of parentheses: {text}")


def to_python(text):
    """A C expression of integers that are not negative, in Python."""
    while (at := text.find("ceil(")) >= 0:
        end = close_of(text, at + 4)
        above, below = split_top(text[at + 5:end], "/")
        text = f"{text[:at]}(-(-({above}) DIV ({below}))){text[end + 1:]}"
    question = split_top(text, "?")
    if len(question) == 2:
        yes, no = split_top(question[1], ":")
        return f"(({to_python(yes)}) if ({to_python(question[0])}) else ({to_python(no)}))"
    text = re.sub(r"!(?!=)\s*(\w+)", r"(not \1)", text).replace("&&", " and ").replace("||", " or ")
    return text.replace("/", "//").replace("DIV", "//")


def read_values(text):
    text, _, default = text.partition("default")
    values = []
    for part in text.split(","):
        span = re.match(r"\s*(\d+)\s*\.\.\s*(\d+)(?:\s*step\s*(\d+))?\s*$", part)
        if span:
            values += range(int(span[1]), int(span[2]) + 1, int(span[3] or 1))
        else:
            values += [int(v) for v in part.split()]
    return values, int(default) if default.strip() else values[0]


class Spec:
    def __init__(self, path):
        self.path = path
        self.source = open(path, encoding="utf-8").read()
        self.params, self.presets, self.sets = {}, {}, {}
        self.where, self.args, self.smem = [], [], None
        for line in re.findall(r"// fullwarp:(.*)", self.source):
            for item in split_top(line, ";"):
                self.take(item)

    def take(self, item):
        word, _, rest = item.partition(" ")
        name, _, value = (s.strip() for s in rest.partition("="))
        if word == "kernel":
            self.kernel = rest.strip()
        elif word in ("block", "grid", "smem"):
            exprs = [to_python(e) for e in split_top(rest.split("=", 1)[1], ",")]
            setattr(self, word, exprs if word != "smem" else exprs[0])
        elif word == "param":
            self.params[name], self.presets[name] = read_values(value)
        elif word == "set":
            self.sets[name] = eval(to_python(value), dict(self.sets))
        elif word == "where":
            self.where.append(to_python(rest))
        elif word == "arg":
            self.args.append(rest)

    def value(self, expr, config):
        return int(eval(expr, {**self.sets, **config}))

    def allows(self, config):
        names = {**self.sets, **config}
        return all(eval(w, names) for w in self.where)

    def restrictions(self):
        """The constraints as texts, with the numbers of the sets."""
        return [re.sub(r"\b[A-Za-z_]\w*\b", lambda m: str(self.sets.get(m[0], m[0])), w) for w in self.where]

    def count(self):
        """Valid configurations: to be compared with ours."""
        return sum(self.allows(dict(zip(self.params, values))) for values in itertools.product(*self.params.values()))

    def arrays(self, numpy, seed):
        """The arguments of the kernel: buffers as arrays, scalars as numbers."""
        random = numpy.random.default_rng(seed)
        types = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "u8": numpy.uint8}
        made = []
        for arg in self.args:
            match = re.match(r"(\w+) (\w+)((?:\[[^\]]*\])*)\s*(?:=\s*(\S+))?(.*)", arg)
            kind = types[match[2]]
            if not match[3]:
                made.append(kind(eval(match[4], dict(self.sets))))
                continue
            shape = [eval(to_python(d), dict(self.sets)) for d in re.findall(r"\[([^\]]*)\]", match[3])]
            span = re.search(r"random(?:\(([^,]*),([^)]*)\))?", match[5])
            if span:
                low, high = (float(span[1]), float(span[2])) if span[1] else (0, 1)
                made.append(random.uniform(low, high, shape).astype(kind))
            else:
                made.append(numpy.zeros(shape, kind))
        return made
