#!/usr/bin/env python3
"""Reads session files of Claude Code plainly and prints what is in them, one JSON object a file.

It shares nothing with the importer: it reads whole rows as trees, collects them, and counts at the end.
The object maps a sub-agent's name (the empty one is the main session) to its figures.
Usage: claude_code.py FILE...
"""

import json
import re
import sys
from collections import OrderedDict
from datetime import datetime, timedelta, timezone

DECODER = json.JSONDecoder()
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
BUCKETS = ("uncached", "read", "write_5m", "write_1h", "output")
MARKERS = {"[Request interrupted by user]", "[Request interrupted by user for tool use]"}


def rows(path):
    """Every object in the file, also of those that share a line."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            line = line.strip()
            while line:
                try:
                    row, end = DECODER.raw_decode(line)
                except ValueError:
                    break
                yield row
                line = line[end:].lstrip()


def blocks(message):
    content = message.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def tokens(usage):
    write = usage.get("cache_creation_input_tokens") or 0
    hour = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
    return dict(zip(BUCKETS, (usage.get("input_tokens") or 0, usage.get("cache_read_input_tokens") or 0,
                              write - hour, hour, usage.get("output_tokens") or 0)))


def micros(text):
    """The time as a list of microseconds; published files have some blanked."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return []
    return [(time - EPOCH) // timedelta(microseconds=1)]


class Conversation:
    """The messages of one agent."""

    def __init__(self):
        self.responses = {}
        self.models = set()
        self.calls = OrderedDict()
        self.results = OrderedDict()
        self.said = {}
        self.times = []
        self.interrupts = self.compactions = self.failures = 0
        self.learning = []
        self.queue, self.came_in = [], []

    def assistant(self, row):
        message = row["message"]
        if message.get("model") == "<synthetic>":
            text = "".join(block.get("text", "") for block in blocks(message))
            self.failures += bool(row.get("isApiErrorMessage")) or text.startswith("API Error")
            return
        name = message.get("id") or row.get("requestId") or row["uuid"]
        # One model serves a response; ids that were blanked in a published file run together under the first.
        if name not in self.responses and message.get("model"):
            self.models.add(message["model"])
        seen = self.responses.setdefault(name, dict.fromkeys(BUCKETS, 0))
        for bucket, count in tokens(message.get("usage") or {}).items():
            seen[bucket] = max(seen[bucket], count)
        for at, block in enumerate(blocks(message)):
            if block["type"] in ("tool_use", "server_tool_use"):
                self.calls.setdefault(block.get("id") or (row["uuid"], at), block)

    def user(self, row):
        for block in blocks(row["message"]):
            if block["type"] == "tool_result":
                name = block.get("tool_use_id") or row.get("sourceToolUseID")
                broken_off = isinstance(row.get("toolUseResult"), dict) and row["toolUseResult"].get("interrupted")
                self.results.setdefault(name, bool(block.get("is_error") or broken_off))
                self.said.setdefault(name, str(block.get("content")))
            elif block["type"] == "text":
                self.interrupts += block["text"] in MARKERS
        self.learn_from_user(row)

    def learn_from_user(self, row):
        text = "\n\n".join(block["text"] for block in blocks(row["message"]) if block["type"] == "text")
        if row.get("isMeta") and text.startswith("Base directory for this skill: ") and "sourceToolUseID" not in row:
            self.learning.append(("skill.matched", text.splitlines()[0].rsplit("/", 1)[-1]))
        for reminder in re.findall(r"<system-reminder>(.*?)</system-reminder>", text, re.DOTALL):
            for path in re.findall(r"Contents of (\S*(?:CLAUDE|CLAUDE\.local|MEMORY|AGENTS)\.md)", reminder):
                self.learning.append(("memory.recalled", path))

    def attachment(self, attachment):
        kind = attachment["type"]
        if kind == "nested_memory":
            self.learning.append(("memory.recalled", attachment["path"]))
        for key in {"skill_listing": "names", "dynamic_skill": "skillNames"}.get(kind, "").split():
            self.learning += [("skill.listed", name) for name in attachment[key]]
        if kind == "queued_command" and attachment.get("commandMode") == "prompt" and "origin" not in attachment:
            # No file here has such a message and a removed one of the same words.
            self.joins(attachment["prompt"])
        if kind == "invoked_skills":
            self.learning += [("skill.matched", skill["name"]) for skill in attachment["skills"]]

    def joins(self, text):
        self.came_in.append([len(self.responses) + 1, text])

    def queued(self, row):
        """A message that is removed from the queue has come before the model; it is the first, if none is named."""
        said = row.get("content")
        if isinstance(said, list):
            said = "\n\n".join(block.get("text", "") for block in said)
        if row["operation"] == "enqueue":
            self.queue.append(said)
            return
        if row["operation"] == "popAll" and not said:
            self.queue.clear()
        named = said if said in self.queue else None
        if named:
            self.queue.remove(named)
        elif self.queue and not said:
            said = self.queue.pop(0)
        if row["operation"] == "remove" and row.get("reason") in (None, "absorbed_mid_turn") and said:
            if not said.startswith("<task-notification>"):
                self.joins(said)

    def learned(self):
        found = list(self.learning)
        for call in self.calls.values():
            # A call that failed, or that nobody knows the end of, taught nothing.
            if self.results.get(call.get("id"), True):
                continue
            tool, given = call["name"], call.get("input") or {}
            path = given.get("file_path") or ""
            name = path.rsplit("/", 1)[-1]
            if tool == "Skill":
                found.append(("skill.matched", given["skill"]))
            elif tool not in ("Read", "Write", "Edit", "MultiEdit"):
                continue
            elif name in ("CLAUDE.md", "CLAUDE.local.md", "MEMORY.md", "AGENTS.md") or (
                    "/.claude/" in path and "/memory/" in path):
                found.append(("memory.recalled" if tool == "Read" else "memory.written", path))
            elif name == "SKILL.md" and "/skills/" in path:
                is_new = self.said[call["id"]].startswith("File created")
                what = "matched" if tool == "Read" else "created" if is_new else "updated"
                found.append(("skill." + what, path[path.rindex("/skills/") + 8:-len("/SKILL.md")]))
        return sorted(map(list, found))

    def figures(self):
        sums = {bucket: sum(each[bucket] for each in self.responses.values()) for bucket in BUCKETS}
        return {
            "turns": len(self.responses), "model_calls": len(self.responses), "failed_model_calls": self.failures,
            "tool_calls": len(self.calls), "failed_tool_calls": sum(self.results.values()),
            "interrupts": self.interrupts, "compactions": self.compactions, "models": sorted(self.models),
            "learning": self.learned(), "came_in": self.came_in, "started": min(self.times, default=None),
            "ended": max(self.times, default=None), **sums,
        }


def read(path):
    conversations, seen = {"": Conversation()}, set()
    for row in rows(path):
        kind, agent = row.get("type"), ""
        if row.get("isSidechain"):
            agent = row.get("agentId") or "sidechain"
        if kind == "progress" and row["data"]["type"] == "agent_progress":
            agent, row = row["data"]["agentId"], row["data"]["message"]
            kind = row["type"]
        uuid = row.get("uuid") or ""
        if UUID.fullmatch(uuid):
            if uuid in seen:
                continue
            seen.add(uuid)
        conversation = conversations.setdefault(agent, Conversation())
        conversation.times += micros(row.get("timestamp"))
        if kind == "assistant":
            conversation.assistant(row)
        elif kind == "user":
            conversation.user(row)
        elif kind == "queue-operation":
            conversation.queued(row)
        elif kind == "attachment":
            conversation.attachment(row["attachment"])
        elif kind == "system":
            what = row.get("subtype")
            conversation.compactions += what == "compact_boundary"
            conversation.failures += what in ("api_error", "error", "api_refusal", "model_refusal_fallback")
    return {agent: conversation.figures() for agent, conversation in conversations.items()}


for argument in sys.argv[1:]:
    print(json.dumps(read(argument)))
