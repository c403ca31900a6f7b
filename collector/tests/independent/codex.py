#!/usr/bin/env python3
"""Reads Codex rollouts plainly and prints what is in them, one JSON object a file.

It shares nothing with the importer: it reads whole rows as trees and counts by the rules that the format's
own writer follows. Usage: codex.py FILE...
"""

import json
import re
import sys

CALLS = {
    "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
    "image_generation_call", "tool_call",
}
# The provider runs these; call and result are one item.
AT_PROVIDER = {"web_search_call", "image_generation_call"}
RESULTS = {
    "function_call_output", "custom_tool_call_output", "tool_search_output", "tool_result", "function_result",
}
NAMES = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
         "reasoning_output_tokens")


def rows(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def head(output):
    """The text that the model sees first."""
    if isinstance(output, list):
        output = next((part["text"] for part in output if part.get("text")), "")
    if isinstance(output, dict):
        output = output.get("text", "")
    return output if isinstance(output, str) else ""


def failed(item):
    output = item.get("output", item.get("result"))
    if isinstance(output, dict) and "exitCode" in output:
        return output["exitCode"] != 0
    told = head(output).split("Output:\n")[0]
    found = re.search(r"^(?:Process exited with code|Exit code:) (-?\d+)$", told, re.MULTILINE)
    if found:
        return int(found.group(1)) != 0
    return told.startswith("Script failed")


def read(path):
    seen = dict.fromkeys(("calls", "results", "failed", "reports", "interrupts", "compactions", "answers",
                          "prompt", "cached", "written", "output", "reasoning"), 0)
    models = set()
    last_total = None
    for row in rows(path):
        kind, payload = row.get("type"), row.get("payload")
        if payload is None:
            kind, payload = "response_item", row
        what = payload.get("type") or ("message" if "role" in payload else None)
        if kind == "turn_context":
            models.add(payload["model"])
        elif kind == "compacted":
            seen["compactions"] += 1
        elif kind == "response_item":
            seen["calls"] += what in CALLS
            seen["results"] += what in RESULTS or what in AT_PROVIDER
            seen["failed"] += what in RESULTS and failed(payload)
            seen["answers"] += what == "message" and payload.get("role") == "assistant"
        elif what == "turn_aborted":
            seen["interrupts"] += payload["reason"] == "interrupted"
        elif what == "token_count" and payload["info"]:
            info = payload["info"]
            if "prompt" in info:
                call = {"input_tokens": info["prompt"], "output_tokens": info["completion"]}
            else:
                total = [info["total_token_usage"].get(name) for name in NAMES]
                if total == last_total or not any(total):
                    continue
                last_total, call = total, info["last_token_usage"]
            seen["reports"] += 1
            for key, name in zip(("prompt", "cached", "written", "output", "reasoning"), NAMES):
                seen[key] += call.get(name) or 0
    return {**seen, "models": sorted(models)}


for argument in sys.argv[1:]:
    print(json.dumps(read(argument)))
