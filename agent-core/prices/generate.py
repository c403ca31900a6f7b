#!/usr/bin/env python3
"""Writes table.jsonl and NOTICE, the vendored price table, from two public sources pinned in sources.lock.json.

    python3 generate.py             download the pinned wheels, write the files, report what was left out
    python3 generate.py --check     the same, but only compare with the files that are there
    python3 generate.py --wheels D  read the wheels from folder D instead of downloading them

genai-prices wins where it knows the model: it has dates, match rules and windows of the day. LiteLLM adds the
models that genai-prices lacks and the service tiers that it lacks while both agree on the standard rates.
The same pins give the same bytes. Whatever cannot be represented is counted and named on stdout.

Rates are decimal strings in US dollars per million tokens, at most twelve decimal places: one in the last place
is a pico-dollar per million tokens. The sources carry binary-float noise (0.13999999999999999) which that
precision rounds away, and thirds of a cent (0.0833333333333333) which it cuts at the thirteenth place.

Standard library only. The sources' Python is read as a syntax tree and never run.
"""

import argparse
import ast
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from decimal import ROUND_HALF_EVEN, Decimal

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = 1
STEP = Decimal("1e-12")

# genai-prices' unit names -> ours. The units that are no tokens of text, sound or image are counted as left out.
GENAI_RATES = {
    "input_mtok": "input",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
    "output_mtok": "output",
    "output_reasoning_mtok": "reasoning",
    "input_audio_mtok": "input_audio",
    "cache_audio_read_mtok": "cache_read_audio",
    "output_audio_mtok": "output_audio",
    "input_image_mtok": "input_image",
    "cache_image_read_mtok": "cache_read_image",
    "output_image_mtok": "output_image",
}
RATE_ORDER = {name: place for place, name in enumerate(GENAI_RATES.values())}
LITELLM_RATES = {
    "input_cost_per_token": "input",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
    "output_cost_per_token": "output",
    "output_cost_per_reasoning_token": "reasoning",
    "input_cost_per_audio_token": "input_audio",
    "cache_read_input_audio_token_cost": "cache_read_audio",
    "output_cost_per_audio_token": "output_audio",
    "input_cost_per_image_token": "input_image",
    "cache_read_input_image_token_cost": "cache_read_image",
    "output_cost_per_image_token": "output_image",
}
LITELLM_FIELD = re.compile(
    r"^(?P<base>[a-z_]*?cost(?:_per_[a-z]+?)?(?:_token)?(?:_above_1hr)?)"
    r"(?:_above_(?P<above>\d+)k_tokens)?(?:_(?P<service>batches|flex|priority))?$"
)
LITELLM_MODES = {"chat", "responses", "completion", "embedding", "realtime"}
SERVICES = {
    ("processing", "batch"): "batch",
    ("service_tier", "flex"): "flex",
    ("service_tier", "priority"): "priority",
    ("service_tier", "fast"): "fast",
    ("speed", "fast"): "fast",
}


class Report:
    """Counts and names what the table does not carry."""

    def __init__(self):
        self.lines = collections.defaultdict(list)

    def add(self, reason, name):
        self.lines[reason].append(name)

    def print(self, all_names):
        for reason, names in sorted(self.lines.items()):
            shown = names if all_names else names[:8]
            more = "" if len(shown) == len(names) else f", and {len(names) - len(shown)} more (--all names them)"
            print(f"{reason}: {len(names)}: {', '.join(shown)}{more}")


REPORT = Report()


# --- reading the sources ---------------------------------------------------------------------------------------


def wheel(source, folder):
    """Returns the path of the pinned wheel in `folder`, downloaded when it is not there, its digest checked."""
    path = folder / source["file"]
    if not path.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        if "platform" in source:
            command += ["--platform", source["platform"]]
        subprocess.run([*command, "-d", str(folder), f"{source['name']}=={source['version']}"], check=True)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != source["sha256"]:
        sys.exit(f"{path.name}: sha256 is {digest}, pinned is {source['sha256']}; look why before you pin it anew")
    return zipfile.ZipFile(path)


def read_genai(archive):
    """Returns the providers of genai-prices as plain dictionaries; the class of each is under `_`."""
    tree = ast.parse(archive.read("genai_prices/data.py"))
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.target.id == "providers":
            return plain(node.value)
    sys.exit("genai-prices: no `providers` in data.py: its layout has changed")


def plain(node):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List):
        return [plain(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {plain(key): plain(value) for key, value in zip(node.keys, node.values)}
    if isinstance(node, ast.Attribute):
        return ast.unparse(node)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        args = [plain(item) for item in node.args]
        if name == "Decimal":
            return Decimal(args[0])
        if name == "datetime.date":
            return "{:04}-{:02}-{:02}".format(*args)
        if name == "datetime.time":
            zone = next((plain(key.value) for key in node.keywords if key.arg == "tzinfo"), "datetime.UTC")
            if zone != "datetime.UTC" or len(args) > 2:
                sys.exit(f"genai-prices: a time of day that is not whole minutes of UTC: {ast.unparse(node)}")
            return "{:02}:{:02}".format(*args)
        return {"_": name} | {key.arg: plain(key.value) for key in node.keywords}
    sys.exit(f"genai-prices: cannot read {ast.unparse(node)}: its layout has changed")


def read_litellm(archive):
    text = archive.read("litellm/model_prices_and_context_window_backup.json")
    entries = json.loads(text, parse_float=Decimal)
    entries.pop("sample_spec", None)
    return entries


# --- rates -----------------------------------------------------------------------------------------------------


def rate(per_million, name):
    """Writes a rate in dollars per million tokens; names the ones that twelve places cannot hold exactly."""
    value = Decimal(per_million)
    rounded = value.quantize(STEP, rounding=ROUND_HALF_EVEN)
    if rounded != value:
        REPORT.add("rates rounded at the twelfth decimal place of dollars per million tokens", f"{name} {value}")
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def price(rates, above, **condition):
    """Makes one price: its conditions, its rates, and the rates above each threshold, in a fixed order."""
    out = {key: value for key, value in condition.items() if value is not None}
    out["rates"] = in_order(rates)
    steps = [{"tokens": tokens, "rates": in_order(above[tokens])} for tokens in sorted(above) if above[tokens]]
    return out | ({"above": steps} if steps else {})


def in_order(rates):
    return dict(sorted(rates.items(), key=lambda item: RATE_ORDER[item[0]]))


def genai_price(prices, name, **condition):
    rates, above = {}, collections.defaultdict(dict)
    for unit, value in prices.items():
        if unit == "_":
            continue
        if unit not in GENAI_RATES:
            REPORT.add(f"genai-prices: unit {unit} is no token rate", name)
            continue
        ours = GENAI_RATES[unit]
        if isinstance(value, dict):
            rates[ours] = rate(value["base"], name)
            for tier in value["tiers"]:
                above[tier["start"]][ours] = rate(tier["price"], name)
        else:
            rates[ours] = rate(value, name)
    return price(rates, above, **condition)


def genai_condition(constraint):
    if constraint is None:
        return {}
    if "start_date" in constraint:
        return {"from": constraint["start_date"]}
    return {"hours": [constraint["start_time"], constraint["end_time"]]}


def genai_prices_of(model, name):
    """Returns a model's prices in the order of rising precedence: of those that apply, the last one counts."""
    entries = model["prices"]
    if not isinstance(entries, list):
        entries = [{"prices": entries}]
    out = [genai_price(entry["prices"], name, **genai_condition(entry.get("constraint"))) for entry in entries]
    variants = collections.defaultdict(list)
    for variant in model.get("price_variants") or []:
        when = tuple(variant["when"].items())
        if when == (("service_tier", "default"),):
            if set(variant["prices"]) != {"_"}:
                REPORT.add("genai-prices: standard service with rates of its own", name)
            continue
        service = SERVICES.get(when[0]) if len(when) == 1 else None
        if service is None:
            REPORT.add(f"genai-prices: variant {dict(when)} is no service tier", name)
            continue
        condition = genai_condition(variant.get("constraint"))
        made = genai_price(variant["prices"], name, service=service, **condition)
        if made["rates"]:
            variants[service].append(made)
    for service in sorted(variants):
        # The source takes the first variant that applies, we the last one.
        out += reversed(variants[service])
    return [entry for entry in out if entry["rates"]]


# --- names -----------------------------------------------------------------------------------------------------


def clause(match, name):
    """Translates a match clause; regular expressions become the few shapes that they are written for."""
    kind = match["_"]
    simple = {"ClauseEquals": "equals", "ClauseStartsWith": "starts_with"}
    simple |= {"ClauseEndsWith": "ends_with", "ClauseContains": "contains"}
    if kind in simple:
        return {simple[kind]: match[simple[kind]].lower()}
    if kind == "ClauseOr":
        return {"any": [made for part in match["or_"] if (made := clause(part, name))]}
    if kind == "ClauseAnd":
        parts = [clause(part, name) for part in match["and_"]]
        return {"all": parts} if all(parts) else None
    return regex_clause(match["regex"], name)


def regex_clause(pattern, name):
    if pattern == "^(?!.*-[tT][tT][sS](?:$|-))":
        return {"not": {"any": [{"ends_with": "-tts"}, {"contains": "-tts-"}]}}
    if pattern == "^o[134]":
        return {"any": [{"starts_with": digit} for digit in ("o1", "o3", "o4")]}
    if pattern.startswith("^(?![^/]+/)(?:labs-)?(?:(?:mi|code|dev|magi|mini)stral|mixtral"):
        heads = ["mistral", "codestral", "devstral", "magistral", "ministral", "mixtral", "pixtral", "voxtral"]
        heads += ["open-mistral", "open-mixtral"]
        return {"any": [{"starts_with": lead + head} for lead in ("", "labs-") for head in heads]}
    day = r"(?:\[-@\]|-)?(?:\\d\{8\}|-?\\d\{4\}-\\d\{2\}-\\d\{2\}|\\d)"
    found = re.fullmatch(r"\^(?P<head>(?:[a-z0-9/=-]|\\[.\[\]])+?)" + day + r"\$?", pattern)
    if found:
        return {"dated": found["head"].replace("\\", "").removesuffix("-")}
    found = re.fullmatch(r"\^(?P<whole>(?:[a-z0-9/=-]|\\[.\[\]])+)\$", pattern)
    if found:
        return {"equals": found["whole"].replace("\\", "")}
    found = re.fullmatch(r"\^\((?P<lead>[a-z]+/)\)\?(?P<head>(?:[a-z0-9-]|\\\.)+)\(-\\d\{8\}\)\?\$", pattern)
    if found:
        head = found["head"].replace("\\", "")
        return {"any": [{kind: lead + head} for lead in ("", found["lead"]) for kind in ("equals", "dated")]}
    REPORT.add("genai-prices: regular expression not translated", f"{name} {pattern}")
    return None


def names_and_rest(match, name):
    """Splits a clause into the names that it equals and what is left of it."""
    made = clause(match, name)
    names, rest, open_parts = [], [], [made]
    while open_parts:
        part = open_parts.pop(0)
        if part is None:
            continue
        if "any" in part:
            open_parts = part["any"] + open_parts
        elif "equals" in part:
            names.append(part["equals"])
        else:
            rest.append(part)
    return sorted(set(names)), (None if not rest else rest[0] if len(rest) == 1 else {"any": rest})


# What may follow a name without making it another model: a date, a revision of a host, a window. The Rust side
# has the same rule (src/price/clause.rs).
REVISION = re.compile(
    r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{3}|-v\d+|(?:-\d)?:\d+k?"
    r"|[-@]latest|@default|-preview|\[1m\])*"
)
DATE = re.compile(r"[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{3}")


def fits(part, name):
    """Says whether a clause fits a name, as the Rust side does."""
    (kind, value), = part.items()
    if kind == "any":
        return any(fits(inner, name) for inner in value)
    if kind == "all":
        return all(fits(inner, name) for inner in value)
    if kind == "not":
        # Inside a negation a clause is plain: it has to find more, not less.
        return not finds(value, name)
    if kind == "equals":
        return name == value
    if kind == "dated":
        return name.startswith(value) and DATE.fullmatch(name[len(value):]) is not None
    if kind == "ends_with":
        return name.endswith(value) and bounded(name[: -len(value)])
    at = 0 if kind == "starts_with" else name.find(value)
    if at < 0 or not name.startswith(value, at) or not bounded(name[:at]):
        return False
    return REVISION.fullmatch(name[at + len(value.rstrip("-:@")):]) is not None


def finds(part, name):
    """Says whether the text of a clause stands in a name, whatever else does: genai-prices' own rule."""
    (kind, value), = part.items()
    if kind in ("any", "all"):
        return (any if kind == "any" else all)(finds(inner, name) for inner in value)
    if kind == "not":
        return not finds(value, name)
    if kind in ("starts_with", "dated"):
        return name.startswith(value)
    return {"equals": name == value, "ends_with": name.endswith(value), "contains": value in name}[kind]


def bounded(before):
    return before == "" or before[-1] in "/.:"


# --- joining ---------------------------------------------------------------------------------------------------


def genai_models(providers):
    out = []
    for provider in providers:
        for model in provider["models"]:
            name = f"{provider['id']}/{model['id']}"
            prices = genai_prices_of(model, name)
            if not prices:
                REPORT.add("genai-prices: models without any token rate", name)
                continue
            names, rest = names_and_rest(model["match"], name)
            own = model["id"].lower()
            # Our clauses are narrower; a model's own id stays its name if theirs say so.
            if rest and own not in names and finds(rest, own) and not fits(rest, own):
                names = sorted([*names, own])
            line = {"provider": provider["id"], "model": own, "names": names}
            if rest:
                line["match"] = rest
            if model.get("deprecated"):
                line["deprecated"] = True
            out.append(line | {"prices": prices})
    return out


def litellm_prices_of(entry, name):
    rates = collections.defaultdict(lambda: collections.defaultdict(dict))
    for field, value in entry.items():
        if not isinstance(value, (Decimal, int)) or isinstance(value, bool) or "cost" not in field:
            continue
        if field == "input_cost_per_token_cache_hit":
            if "cache_read_input_token_cost" not in entry:
                rates[None][0]["cache_read"] = rate(value * 10**6, name)
            continue
        found = LITELLM_FIELD.fullmatch(field)
        ours = LITELLM_RATES.get(found["base"]) if found else None
        if ours is None:
            REPORT.add(f"litellm: field {field} is no token rate we know", name)
            continue
        service = {"batches": "batch"}.get(found["service"], found["service"])
        rates[service][int(found["above"] or 0) * 1000][ours] = rate(value * 10**6, name)
    for step in entry.get("tiered_pricing") or []:
        above = int(step["range"][0])
        for field, value in step.items():
            if field in LITELLM_RATES:
                rates[None][above][LITELLM_RATES[field]] = rate(Decimal(value) * 10**6, name)
    if "off_peak_pricing" in entry:
        REPORT.add("litellm: off-peak windows by weekday; the peak rate stands for all hours", name)
    made = []
    for service in sorted(rates, key=lambda word: word or ""):
        base = rates[service].pop(0, {})
        condition = {"service": service} if service else {}
        if base or service is None:
            made.append(price(base, rates[service], **condition))
        else:
            REPORT.add("litellm: service tier with rates above a threshold only", f"{name} {service}")
    return made


def litellm_provider(entry, aliases):
    """Returns our word for LiteLLM's provider; the ones that we do not know keep theirs."""
    theirs = entry.get("litellm_provider")
    if theirs is None:
        return None
    if theirs.startswith("vertex_ai-"):
        return "google"
    return aliases.get(theirs, theirs)


def litellm_models(entries, aliases):
    for key, entry in sorted(entries.items()):
        provider = litellm_provider(entry, aliases)
        if provider is None or entry.get("mode") not in LITELLM_MODES:
            REPORT.add(f"litellm: mode {entry.get('mode')} is no language or embedding model", key)
            continue
        name = key.lower()
        head, slash, tail = name.partition("/")
        if slash and aliases.get(head, head) == provider:
            name = tail
        prices = litellm_prices_of(entry, key)
        standard = prices[0] if prices and "service" not in prices[0] else None
        if standard is None or not standard["rates"].keys() & {"input", "output"}:
            REPORT.add("litellm: models without a token rate", key)
            continue
        if all(Decimal(value) == 0 for value in standard["rates"].values()):
            REPORT.add("litellm: models whose rates are all 0 (own hardware or a flat plan, no list price)", key)
            continue
        yield key, provider, name, prices, entry.get("deprecation_date")


def find(models, name):
    """Returns the line whose rules fit a name: by name first, then by the clauses."""
    for line in models:
        if name in line["names"]:
            return line
    return next((line for line in models if "match" in line and fits(line["match"], name)), None)


def standard_now(line, made):
    """Returns the standard prices on the day of making: the one for the whole day first, then those for hours."""
    entries = [entry for entry in line["prices"] if "service" not in entry and entry.get("from", "") <= made]
    return [[entry for entry in entries if "hours" not in entry][-1], *(entry for entry in entries if "hours" in entry)]


def join(models, entries, aliases, made):
    by_provider = collections.defaultdict(list)
    for line in models:
        by_provider[line["provider"]].append(line)
    added = collections.OrderedDict()
    for key, provider, name, prices, retired in litellm_models(entries, aliases):
        line = find(by_provider[provider], name)
        if line is None:
            merge_new(added, provider, name, prices, retired)
        else:
            compare(line, name, prices, retired, made)
    return models + list(added.values())


def merge_new(added, provider, name, prices, retired):
    line = {"provider": provider, "model": name, "names": [name]}
    if retired:
        line["retired"] = retired
    line |= {"by": "litellm", "prices": prices}
    if added.setdefault((provider, name), line) != line:
        REPORT.add("litellm: one name with two prices, the first kept", f"{provider}/{name}")


def compare(line, name, prices, retired, made):
    """Notes where LiteLLM differs by more than 1 %, and takes service tiers from it where it does not."""
    now = standard_now(line, made)
    theirs, ours = prices[0]["rates"], now[0]["rates"]
    shared = [bucket for bucket in theirs if bucket in ours]
    far = [bucket for bucket in shared if all(differs(entry["rates"].get(bucket), theirs[bucket]) for entry in now)]
    if far:
        # One name a model is enough to send a reader to both price lists; its own id is the best one.
        note = {"name": name} | in_order({bucket: theirs[bucket] for bucket in far})
        if "differs" not in line or name == line["model"]:
            line["differs"] = note
    if retired and (name == line["model"] or "retired" not in line):
        line["retired"] = retired
    if any(ours[bucket] != theirs[bucket] for bucket in shared) or not shared:
        return
    start = now[0].get("from")
    for entry in prices:
        if "service" in entry:
            fill(line["prices"], ({"from": start} if start else {}) | {"by": "litellm"} | entry)


def fill(prices, entry):
    """Adds LiteLLM's rates for a service tier where genai-prices has none, or has none so early."""
    places = [place for place, known in enumerate(prices) if known.get("service") == entry["service"]]
    if not places:
        prices.append(entry)
        return
    if any(prices[place].get("from", "") <= entry.get("from", "") for place in places):
        return
    known = prices[places[0]]
    if entry["rates"].items() <= known["rates"].items() and "above" not in entry:
        # LiteLLM has the same rates without their date; genai-prices gives them for more buckets.
        entry |= {key: known[key] for key in ("rates", "above") if key in known}
    # Of the prices that apply the last one counts, so the earlier one stands before the dated ones.
    prices.insert(places[0], entry)


def differs(ours, theirs):
    if ours is None:
        return True
    ours, theirs = Decimal(ours), Decimal(theirs)
    return abs(ours - theirs) * 100 > max(ours, theirs)


# --- writing ---------------------------------------------------------------------------------------------------


def provider_lines(providers, models, words):
    ids = {line["provider"] for line in models}
    known = {provider["id"]: provider for provider in providers}
    for provider in sorted(ids):
        line = {"provider": provider, "aliases": sorted(words.get(provider, {}).get("names", []))}
        theirs = known.get(provider, {})
        if theirs.get("model_match"):
            names, rest = names_and_rest(theirs["model_match"], provider)
            parts = [{"equals": name} for name in names] + ([rest] if rest else [])
            line["makes"] = parts[0] if len(parts) == 1 else {"any": parts}
        if theirs.get("fallback_model_providers"):
            line["fallback"] = theirs["fallback_model_providers"]
        yield line


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def build(folder):
    lock = json.loads((HERE / "sources.lock.json").read_text())
    words = json.loads((HERE / "providers.json").read_text())
    aliases = {name: provider for provider, entry in words.items() for name in [provider, *entry["names"]]}
    genai_wheel, litellm_wheel = (wheel(source, folder) for source in lock["sources"])
    providers = read_genai(genai_wheel)
    models = join(genai_models(providers), read_litellm(litellm_wheel), aliases, lock["made"])
    sources = [{key: source[key] for key in ("name", "version", "sha256")} for source in lock["sources"]]
    head = {"schema": SCHEMA, "made": lock["made"], "unit": "USD per million tokens", "sources": sources}
    models.sort(key=lambda line: (line["provider"], line["model"], dump(line["names"])))
    for line in models:
        if line["names"] == [line["model"]]:
            del line["names"]
    lines = [head, *provider_lines(providers, models, words), *models]
    notice = "\n".join(notices(genai_wheel, litellm_wheel, lock))
    return "".join(dump(line) + "\n" for line in lines), notice


def notices(genai_wheel, litellm_wheel, lock):
    yield "table.jsonl is made from the price data of two projects. Both are under the MIT licence;"
    yield "of LiteLLM only a file outside its enterprise folder is used.\n"
    for source, archive in zip(lock["sources"], (genai_wheel, litellm_wheel)):
        licence = next(name for name in archive.namelist() if name.endswith("dist-info/licenses/LICENSE"))
        yield f"=== {source['name']} {source['version']} ===\n\n{archive.read(licence).decode().strip()}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    parser.add_argument("--wheels", type=pathlib.Path, help="a folder that has the pinned wheels")
    parser.add_argument("--all", action="store_true", help="name everything that was left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, notice = build(options.wheels or pathlib.Path(folder))
    made = {"table.jsonl": table, "NOTICE": notice}
    if options.check:
        stale = [name for name, text in made.items() if (HERE / name).read_text() != text]
        sys.exit(f"not what the pinned sources give: {', '.join(stale)}" if stale else 0)
    for name, text in made.items():
        (HERE / name).write_text(text)
    REPORT.print(options.all)
    print(f"table.jsonl: {table.count(chr(10))} lines, {len(table.encode())} bytes")


if __name__ == "__main__":
    main()
