#!/usr/bin/env python3
"""Writes golden.jsonl: cases whose amounts follow from the providers' published price lists and rules.

    python3 golden.py

Written apart from the Rust code and from the price table: the rates below are typed from the lists, the rules are
the providers' own. Decimal arithmetic, no floats.
"""

import json
import pathlib
from decimal import Decimal as D

# Dollars for a million tokens, as the providers' pricing pages list them.
SONNET_4_5 = dict(input="3", read="0.30", write="3.75", hour="6", output="15")
SONNET_4_5_LONG = dict(input="6", read="0.60", write="7.50", hour="12", output="22.50")
OPUS_4_5 = dict(input="5", read="0.50", write="6.25", hour="10", output="25")
OPUS_4_1 = dict(input="15", read="1.50", write="18.75", hour="30", output="75")
GPT_5 = dict(input="1.25", read="0.125", output="10")
GPT_5_HALF = dict(input="0.625", read="0.0625", output="5")
GPT_5_PRIORITY = dict(input="2.5", read="0.25", output="20")
GEMINI_2_5_PRO = dict(input="1.25", read="0.125", output="10")
GEMINI_2_5_PRO_LONG = dict(input="2.50", read="0.25", output="15")
SONNET_4_5_REGION = dict(input="3.30", read="0.33", write="4.125", hour="6.60", output="16.50")
GROK_4_3 = dict(input="1.25", output="2.5")
GROK_4_3_LONG = dict(input="2.5", output="5")
SONNET_4_5_BATCH = dict(input="1.5", read="0.15", write="1.875", hour="3", output="7.5")


def dollars(rates, uncached=0, read=0, write=0, hour=0, output=0):
    tokens = dict(input=uncached, read=read, write=write, hour=hour, output=output)
    return sum((D(rates[name]) * count / 1_000_000 for name, count in tokens.items() if count), D(0))


def case(rule, model, rates, *, reasoning=None, provider=None, service=None, at="2026-11-15T12:00:00Z", **tokens):
    usage = {
        "uncached_input": tokens.get("uncached", 0),
        "cache_read": tokens.get("read", 0),
        "cache_write_5m": tokens.get("write", 0),
        "cache_write_1h": tokens.get("hour", 0),
        "output": tokens.get("output", 0),
    }
    if reasoning is not None:
        usage["reasoning"] = reasoning
    line = {"rule": rule, "model": model, "at": at, "usage": usage}
    line |= {"provider": provider} if provider else {}
    line |= {"service": service} if service else {}
    if rates is None:
        return line | {"status": "unpriced"}
    return line | {"status": "priced", "cost_usd": format(dollars(rates, **tokens).normalize(), "f")}


CASES = [
    case("plain input and output", "claude-sonnet-4-5-20250929", SONNET_4_5, uncached=1000, output=500),
    case("a cache read costs a tenth of input", "claude-sonnet-4-5-20250929", SONNET_4_5, uncached=3, read=40_000, output=7),
    case("writing for 5 minutes costs 1.25 of input", "claude-sonnet-4-5-20250929", SONNET_4_5, write=12_345, output=1),
    case("writing for an hour costs twice the input", "claude-sonnet-4-5-20250929", SONNET_4_5, hour=12_345, output=1),
    case("both lives in one request", "claude-opus-4-5-20251101", OPUS_4_5, uncached=9, read=8_888, write=777, hour=66, output=55),
    case("one token below the threshold", "claude-sonnet-4-5-20250929", SONNET_4_5, uncached=9, read=100_000, write=99_990, output=10),
    case("at the threshold", "claude-sonnet-4-5-20250929", SONNET_4_5, uncached=10, read=100_000, write=99_990, output=10),
    case("one token above: the whole request", "claude-sonnet-4-5-20250929", SONNET_4_5_LONG, uncached=11, read=100_000, write=99_990, output=10),
    case("below, Gemini", "gemini-2.5-pro", GEMINI_2_5_PRO, uncached=199_999, output=1000),
    case("at, Gemini", "gemini-2.5-pro", GEMINI_2_5_PRO, uncached=200_000, output=1000),
    case("above, Gemini: output too", "gemini-2.5-pro", GEMINI_2_5_PRO_LONG, uncached=200_001, output=1000),
    case("cached tokens count for the threshold", "gemini-2.5-pro", GEMINI_2_5_PRO_LONG, uncached=1, read=200_000, output=1),
    case("reasoning is output", "gpt-5-2025-08-07", GPT_5, uncached=1000, read=2000, output=900, reasoning=800),
    case("all of the output is reasoning", "gpt-5", GPT_5, uncached=1, output=64, reasoning=64),
    case("batch halves", "gpt-5", GPT_5_HALF, service="batch", uncached=1000, read=500, output=100),
    case("flex halves", "gpt-5", GPT_5_HALF, service="flex", uncached=1000, read=500, output=100),
    case("priority doubles", "gpt-5", GPT_5_PRIORITY, service="priority", uncached=1000, read=500, output=100),
    case("batch, Anthropic", "claude-sonnet-4-5", SONNET_4_5_BATCH, service="batch", uncached=1000, write=400, output=100),
    case("a region of Bedrock costs a tenth more", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", SONNET_4_5_REGION, uncached=1000, output=5),
    case("a name of Vertex AI", "claude-opus-4-1@20250805", OPUS_4_1, uncached=1000, output=5),
    case("a name of Bedrock, served by its maker", "us.anthropic.claude-opus-4-5-20251101-v1:0", OPUS_4_5, provider="anthropic", uncached=1000, output=5),
    case("a date without dashes", "gpt-5-20250807", GPT_5, uncached=1000, output=5),
    case("a resource of Google", "models/gemini-2.5-pro", GEMINI_2_5_PRO, provider="gemini", uncached=1000, output=5),
    case("from the threshold on, xAI: below", "grok-4.3", GROK_4_3, uncached=199_999, output=1000),
    case("from the threshold on, xAI: at", "grok-4.3", GROK_4_3_LONG, uncached=200_000, output=1000),
    case("the maker before a slash", "anthropic/claude-opus-4-5", OPUS_4_5, uncached=1000, output=5),
    case("dots for dashes", "claude-opus-4.5", OPUS_4_5, uncached=1000, output=5),
    case("capitals", "Claude-Opus-4-5", OPUS_4_5, uncached=1000, output=5),
    case("an alias of the provider", "gpt-5", GPT_5, provider="codex", uncached=1000, output=5),
    case("the older model is not the newer one", "claude-opus-4-1-20250805", OPUS_4_1, uncached=1000, output=5),
    case("no output is no missing price", "gpt-5", GPT_5, uncached=1000, output=0),
    case("one token", "gpt-5", GPT_5, read=1, output=0),
    case("an unknown model", "glow-worm-9000", None, uncached=1000, output=5),
    case("a known name with a word behind it is another model", "claude-opus-4-5-turbo", None, uncached=1, output=5),
    case("a service without a price", "claude-3-haiku-20240307", None, service="priority", uncached=1, output=1),
]


def main():
    path = pathlib.Path(__file__).with_name("golden.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in CASES))


if __name__ == "__main__":
    main()
