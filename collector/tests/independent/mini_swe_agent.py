"""Reads a mini-swe-agent trajectory the plain way and prints its sums as one JSON object."""

import json
import re
import sys
from decimal import Decimal

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file, parse_float=Decimal)

bare = isinstance(document, list)
messages = document if bare else document["messages"]
info = {} if bare else document["info"]
sums = dict.fromkeys(["responses", "calls", "results", "failed", "input", "cached", "output", "picousd"], 0)
response_ids, first_time = set(), None

for place, message in enumerate(messages):
    extra = message.get("extra", {})
    if message["role"] == "assistant":
        sums["responses"] += 1
        actions = re.findall(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", message["content"] or "", re.DOTALL)
        sums["calls"] += len(message["tool_calls"]) if "tool_calls" in message else int(len(actions) == 1)
        response = extra.get("response", {})
        response_ids.add(response.get("id"))
        usage = response.get("usage", {})
        sums["input"] += usage.get("prompt_tokens", 0)
        sums["cached"] += (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        sums["output"] += usage.get("completion_tokens", 0)
        # Each cost is cut to whole pico-dollars.
        sums["picousd"] += int(Decimal(extra.get("cost", 0)) * 10**12)
        first_time = first_time or extra.get("timestamp")
    elif message["role"] == "tool" or (message["role"] == "user" and place > 1):
        sums["results"] += 1
        code = extra.get("returncode")
        told = re.match(r"<returncode>(-?\d+)</returncode>", message["content"])
        code = int(told[1]) if code is None and told else code
        sums["failed"] += int(code not in (0, None))

sums["response_ids"] = len(response_ids - {None})
sums["first_second"] = int(first_time) if first_time else None
sums["exit"] = info.get("exit_status")
sums["patch_chars"] = len(info.get("submission") or "")
sums["title"] = None if bare else document.get("instance_id")
print(json.dumps(sums))
