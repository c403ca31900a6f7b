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
ENDS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")
NAMES = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
         "reasoning_output_tokens")


def rows(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def texts(output):
    """The texts that the model sees, in order."""
    if isinstance(output, str):
        return [output]
    if isinstance(output, dict):
        output = [output]
    return [part["text"] for part in output or [] if part.get("text") is not None]


def printed_codes(text):
    """The exit codes that a script printed: by a name of their own, or in whole results of commands."""
    named = re.fullmatch(r"exit(?:[ _]?(?:code|status))?\s*[:=]\s*(-?\d+)", text.strip(), re.IGNORECASE)
    if named:
        return [int(named.group(1))]
    try:
        results = json.loads(text)
    except ValueError:
        return []
    results = results if isinstance(results, list) else [results]
    return [result["exit_code"] for result in results
            if isinstance(result, dict) and type(result.get("exit_code")) is int and "output" in result]


def ending(item):
    """Whether the call failed, its exit code, and how long it ran in milliseconds."""
    output = item.get("output", item.get("result"))
    if isinstance(output, dict) and "exitCode" in output:
        return output["exitCode"] != 0, output["exitCode"], 0
    parts = texts(output) or [""]
    told, _, rest = parts[0].partition("Output:\n")
    wall = re.search(r"^Wall time:? ([\d.]+) seconds$", told, re.MULTILINE)
    wall_ms = int(float(wall.group(1)) * 1000 + 0.5) if wall else 0
    found = re.search(r"^(?:Process exited with code|Exit code:) (-?\d+)$", told, re.MULTILINE)
    codes = [int(found.group(1))] if found else []
    if told.startswith("Script "):
        codes = [code for part in [rest, *parts[1:]] for code in printed_codes(part)]
    # Of several commands the first that failed counts.
    code = next((code for code in codes if code), codes[-1] if codes else None)
    return bool(code) or told.startswith("Script failed"), code, wall_ms


def went_well(what, notice):
    """Whether the tool worked, by what the screen was told; nothing where that does not tell."""
    if what == "exec_command_end":
        return notice["exit_code"] == 0
    if what == "patch_apply_end":
        return notice["success"]
    result = notice.get("result")
    return None if result is None else "Ok" in result and not result["Ok"].get("isError")


def read(path):
    seen = dict.fromkeys(("calls", "results", "failed", "reports", "interrupts", "compactions", "answers",
                          "prompt", "cached", "written", "output", "reasoning", "wall_ms", "ends", "bad_ends",
                          "copies", "steps_back"), 0)
    codes = []
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
            if what in RESULTS:
                failed, code, wall_ms = ending(payload)
                seen["failed"] += failed
                seen["wall_ms"] += wall_ms
                codes += [] if code is None else [code]
            seen["answers"] += what == "message" and payload.get("role") == "assistant"
        elif what in ENDS:
            good = went_well(what, payload)
            seen["ends"] += good is not None
            seen["bad_ends"] += good is False
        elif what in ("user_message", "agent_message"):
            seen["copies"] += bool((payload.get("message") or "").strip())
        elif what == "thread_rolled_back":
            seen["steps_back"] += payload["num_turns"]
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
    return {**seen, "codes": codes, "models": sorted(models)}


for argument in sys.argv[1:]:
    print(json.dumps(read(argument)))
