"""Reads a SWE-agent trajectory the plain way and prints its sums as one JSON object."""

import json
import sys
from decimal import Decimal

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    document = json.load(file, parse_float=Decimal)

history = document["history"]
steps = document.get("trajectory")
info = document.get("info", {})
stats = info.get("model_stats", {})
asked = [message for message in history if message["role"] == "user" and not message.get("is_demo")]
answers = [message for message in history if message["role"] == "assistant" and not message.get("is_demo")]

if steps is None or "messages" not in steps[0]:
    responses = calls = len(answers)
    # The first message of the user is the task; what a submission gave stands only in its step.
    results = [message["content"] for message in asked[1:]]
    results += [message["content"] for message in history if message["role"] == "tool"]
    results += [step["observation"] for step in steps or [] if step["action"].startswith("submit")]
    names = [
        message["tool_calls"][0]["function"]["name"] if "tool_calls" in message else message["action"].split()[0]
        for message in answers
    ]
    response_chars = sum(len(message["content"]) for message in answers)
    milliseconds = 0
else:
    responses, calls = len(steps), sum(1 for step in steps if step["action"].strip())
    # In 1.0 a step holds the conversation after it: its last two messages are the answer and the result as sent.
    results = [step["messages"][-1]["content"] for step in steps]
    names = [step["messages"][-2]["tool_calls"][0]["function"]["name"] for step in steps]
    response_chars = sum(len(step["response"]) for step in steps)
    milliseconds = sum(int(step.get("execution_time", 0) * 1000 + Decimal("0.5")) for step in steps)

print(
    json.dumps(
        {
            "responses": responses,
            "calls": calls,
            "results": len(results),
            "result_chars": sum(map(len, results)),
            "response_chars": response_chars,
            "names": sorted(names),
            "milliseconds": milliseconds,
            "task_chars": len(asked[0]["content"]),
            "demonstrations": sum(1 for message in history if message.get("is_demo")),
            "exit": info.get("exit_status"),
            "patch_chars": len(info.get("submission") or ""),
            # A replay counts nothing, which is not the same as zero.
            "picousd": int(Decimal(stats.get("instance_cost", 0)) * 10**12) or None,
            "tokens_sent": stats.get("tokens_sent") or None,
            "tokens_received": stats.get("tokens_received") or None,
        }
    )
)
