//! Rebuilt prompts: what stands in them and what does not.

use std::path::Path;

use serde_json::{Value, json};
use store::SessionRow;

use crate::support::{Bench, session};

/// Returns the objects of a file, in order, those glued together too.
fn objects(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    serde_json::Deserializer::from_slice(&bytes).into_iter().map(Result::unwrap).collect()
}

/// Words of a row as they stand in JSON, long enough to occur nowhere else.
fn telling(text: &str) -> Option<String> {
    let quoted = Value::from(text).to_string();
    let inside = &quoted[1..quoted.len() - 1];
    (inside.len() >= 40).then(|| inside.to_owned())
}

enum Piece {
    /// A response, by its id.
    Response(String),
    /// What a person or a tool says.
    Said(String),
    /// The history before it is gone.
    Cut,
}

/// Reads the main thread of a file plainly.
fn pieces(path: &Path) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for row in objects(path) {
        let content = &row["message"]["content"];
        match row["type"].as_str() {
            Some("assistant") if row["message"]["model"] != "<synthetic>" => {
                pieces.push(Piece::Response(row["message"]["id"].as_str().unwrap().to_owned()));
            }
            Some("system") if row["subtype"] == "compact_boundary" => pieces.push(Piece::Cut),
            Some("user") => {
                let texts = content.as_str().map(str::to_owned).into_iter();
                let list = content.as_array().into_iter().flatten();
                let of_blocks = list.filter_map(|block| {
                    block["content"].as_str().or(block["text"].as_str()).map(str::to_owned)
                });
                pieces.extend(texts.chain(of_blocks).filter_map(|text| telling(&text)).map(Piece::Said));
            }
            _ => {}
        }
    }
    pieces
}

/// Checks the prompts of some turns against a plain reading of the file.
fn check_prompts(path: &Path, turns: &[u32]) {
    let bench = Bench::with(path);
    let row = bench.all().into_iter().find(|row| row.parent.is_none()).unwrap();
    let pieces = pieces(path);
    for &turn in turns {
        let mut seen = Vec::new();
        let (mut before, mut gone, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for piece in &pieces {
            match piece {
                Piece::Response(id) if !seen.contains(id) => seen.push(id.clone()),
                Piece::Response(_) => {}
                Piece::Said(text) if seen.len() < turn as usize => before.push(text),
                Piece::Said(text) => after.push(text),
                Piece::Cut if seen.len() < turn as usize => gone.append(&mut before),
                Piece::Cut => {}
            }
        }
        assert!(before.len() > 1 || turn == 1, "{} turn {turn}: something is to be seen", path.display());
        let prompt = bench.prompt(&row, turn);
        for text in &before {
            assert!(prompt.contains(text.as_str()), "{} turn {turn} lacks {text}", path.display());
        }
        // The same words may well be said again.
        let is_elsewhere = |text: &String| before.iter().any(|other| other.contains(text.as_str()));
        for text in gone.iter().chain(&after).filter(|text| !is_elsewhere(text)) {
            let in_response = prompt.contains(text.as_str()) && text.len() < 200;
            assert!(
                in_response || !prompt.contains(text.as_str()),
                "{} turn {turn} has {text}",
                path.display()
            );
        }
    }
}

#[test]
fn claude_prompts_hold_what_came_before_and_nothing_later() {
    for (mark, turns) in [
        ("v2.0.64", &[1, 2, 30, 66][..]),
        ("compact_boundary", &[1, 11, 12]),
        ("122msgs_glued", &[2, 60, 122]),
        ("v2.1.33", &[3, 90, 160, 184]),
        ("base64-image", &[5, 89]),
    ] {
        let Some(path) = session(mark) else { return };
        check_prompts(&path, turns);
    }
}

#[test]
fn claude_prompts_after_a_microcompact_lack_the_blanked_results() {
    let Some(path) = session("microcompact") else { return };
    let (mut blanked, mut responses, mut results) =
        (Vec::new(), Vec::new(), std::collections::BTreeMap::new());
    for row in objects(&path) {
        if row["subtype"] == "microcompact_boundary" {
            let ids = row["microcompactMetadata"]["compactedToolIds"].as_array().unwrap();
            let ids: Vec<String> = ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
            blanked.push((u32::try_from(responses.len()).unwrap(), ids));
        }
        if let Some(id) = row["message"]["id"].as_str()
            && !responses.contains(&id.to_owned())
        {
            responses.push(id.to_owned());
        }
        for block in row["message"]["content"].as_array().into_iter().flatten() {
            if let (Some(id), Some(text)) = (block["tool_use_id"].as_str(), block["content"].as_str()) {
                results.extend(telling(text).map(|text| (id.to_owned(), text)));
            }
        }
    }
    let bench = Bench::with(&path);
    let row = &bench.all()[0];
    let mut checked = 0;
    for (responses_before, ids) in blanked {
        let (before, after) = (bench.prompt(row, responses_before), bench.prompt(row, responses_before + 1));
        // A file that was read twice may stand there a second time.
        let stays =
            |text: &String| results.iter().any(|(id, other)| other.contains(text) && !ids.contains(id));
        let texts = ids.iter().filter_map(|id| results.get(id)).filter(|text| !stays(text));
        for text in texts.filter(|text| before.contains(text.as_str())) {
            assert!(!after.contains(text.as_str()), "{text}");
            checked += 1;
        }
        // Each stays a result of its call.
        let prompt: Value = serde_json::from_str(&after).unwrap();
        let blocks = prompt["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap());
        let cleared: Vec<&str> = blocks
            .filter(|block| block["type"] == "tool_result" && block["content"] == CLEARED)
            .map(|block| block["tool_use_id"].as_str().unwrap())
            .collect();
        for id in &ids {
            assert_eq!(cleared.iter().filter(|cleared| *cleared == id).count(), 1, "{id}");
        }
    }
    assert!(checked > 10, "{checked} results were blanked");
}

const CLEARED: &str = "[Old tool result content cleared]";

const SESSION: &str = "33333333-0000-4000-8000-00000000000a";

fn uuid(at: u32) -> String {
    format!("44444444-0000-4000-8000-{at:012}")
}

fn said(kind: &str, at: u32, after: u32, message: Value) -> Value {
    json!({
        "type": kind, "uuid": uuid(at), "parentUuid": if after == 0 { Value::Null } else { uuid(after).into() },
        "sessionId": SESSION, "isSidechain": false, "timestamp": "2031-02-03T04:05:06.000Z", "message": message,
    })
}

fn asks(at: u32, after: u32, text: &str) -> Value {
    said("user", at, after, json!({"role": "user", "content": text}))
}

fn answers(at: u32, after: u32, text: &str) -> Value {
    let message = json!({
        "id": format!("msg_{at}"), "role": "assistant", "model": "claude-sonnet-5", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    said("assistant", at, after, message)
}

fn import(rows: &[Value]) -> (Bench, SessionRow) {
    let bench = Bench::with_rows(&format!("{SESSION}.jsonl"), rows);
    let row = bench.one(SESSION);
    (bench, row)
}

/// Returns which of the words stand in the prompt of a turn.
fn holds<'a>(bench: &Bench, row: &SessionRow, turn: u32, words: &[&'a str]) -> Vec<&'a str> {
    let prompt = bench.prompt(row, turn);
    words.iter().copied().filter(|word| prompt.contains(word)).collect()
}

#[test]
fn claude_rewinds_drop_the_abandoned_branch() {
    let (bench, row) = import(&[
        asks(1, 0, "plum"),
        answers(2, 1, "pear"),
        asks(3, 2, "quince"),
        answers(4, 3, "medlar"),
        asks(5, 2, "cherry"),
        answers(6, 5, "sloe"),
        asks(7, 6, "rowan"),
        answers(8, 7, "elder"),
    ]);
    let words = ["plum", "pear", "quince", "medlar", "cherry", "sloe", "rowan", "elder"];
    assert_eq!(holds(&bench, &row, 2, &words), ["plum", "pear", "quince"]);
    assert_eq!(holds(&bench, &row, 3, &words), ["plum", "pear", "cherry"]);
    assert_eq!(holds(&bench, &row, 4, &words), ["plum", "pear", "cherry", "sloe", "rowan"]);
    assert_eq!((row.turns, row.runs), (4, 4));
}

#[test]
fn claude_rewinds_behind_a_compaction_bring_the_history_back() {
    let mut boundary = said("system", 5, 0, Value::Null);
    boundary["subtype"] = "compact_boundary".into();
    boundary["logicalParentUuid"] = uuid(4).into();
    let mut summary = asks(6, 5, "in short: fruit");
    summary["isCompactSummary"] = true.into();
    let (bench, row) = import(&[
        asks(1, 0, "plum"),
        answers(2, 1, "pear"),
        asks(3, 2, "quince"),
        answers(4, 3, "medlar"),
        boundary,
        summary,
        asks(7, 6, "cherry"),
        answers(8, 7, "sloe"),
        asks(9, 2, "rowan"),
        answers(10, 9, "elder"),
    ]);
    let words = ["plum", "pear", "quince", "medlar", "in short", "cherry", "sloe", "rowan", "elder"];
    assert_eq!(holds(&bench, &row, 3, &words), ["in short", "cherry"]);
    assert_eq!(holds(&bench, &row, 4, &words), ["plum", "pear", "rowan"]);
    assert_eq!((row.turns, row.compactions), (4, 1));
}

#[test]
fn claude_rewinds_into_what_a_fork_inherited_drop_the_abandoned_branch() {
    let first = [asks(1, 0, "plum"), answers(2, 1, "pear"), asks(3, 2, "quince"), answers(4, 3, "medlar")];
    let bench = Bench::with_rows(&format!("{SESSION}.jsonl"), &first);
    let fork = "33333333-0000-4000-8000-00000000000b";
    let mut rows = first.to_vec();
    rows.extend([asks(5, 2, "cherry"), answers(6, 5, "sloe")]);
    rows.iter_mut().for_each(|row| row["sessionId"] = fork.into());
    bench.import(&bench.write(&format!("{fork}.jsonl"), &crate::support::lines(&rows)));
    let row = bench.one(fork);
    assert_eq!((row.parent.as_deref(), row.turns), (Some(SESSION), 1));
    let words = ["plum", "pear", "quince", "medlar", "cherry", "sloe"];
    assert_eq!(holds(&bench, &row, 1, &words), ["plum", "pear", "cherry"]);
}

/// Returns the texts in the prompt of a call.
fn texts(bench: &Bench, session_key: u32, turn: u32, call: u32) -> Vec<String> {
    let body = bench.store.prompt(session_key, turn, call).unwrap().body();
    let prompt: Value = serde_json::from_slice(&body).unwrap();
    let messages = prompt["messages"].as_array().unwrap().iter();
    let blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
    blocks.map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn claude_prompts_lack_what_was_said_again_or_taken_back() {
    let mut again = answers(3, 2, "Oak is hard, and ash is tough.");
    again["supersedesUuids"] = json!([uuid(2)]);
    let mut refused = said("system", 6, 5, Value::Null);
    refused["subtype"] = "model_refusal_fallback".into();
    refused["retractedMessageUuids"] = json!([uuid(5)]);
    let (bench, row) = import(&[
        asks(1, 0, "which wood?"),
        answers(2, 1, "Oak is hard"),
        again,
        asks(4, 3, "go on"),
        answers(5, 4, "Never mind"),
        refused,
        asks(7, 6, "and now?"),
        answers(8, 7, "Elm"),
    ]);
    let key = row.session_key;
    let calls = bench.store.prompt_calls(key, row.turns).unwrap();
    let said: Vec<Vec<String>> = calls.iter().map(|&call| texts(&bench, key, row.turns, call)).collect();
    let before = ["which wood?", "Oak is hard, and ash is tough.", "go on"];
    assert_eq!(said, [&before[..], &[&before[..], &["and now?"]].concat()]);
    assert_eq!((row.turns, row.compactions), (4, 0));
}

#[test]
fn claude_slash_commands_ask_like_words_do() {
    let local = "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>";
    let request = "<command-message>carve</command-message>\n<command-name>/carve</command-name>\n<command-args>a spoon</command-args>";
    let mut expansion = asks(3, 2, "Carve what you are told: a spoon");
    expansion["isMeta"] = true.into();
    let (bench, row) = import(&[asks(1, 0, local), asks(2, 1, request), expansion, answers(4, 3, "Carved.")]);
    assert_eq!((row.title.as_deref(), row.runs, row.turns), (Some("/carve a spoon"), 1, 1));
    let parts = bench.store.prompt_parts(row.session_key, 1, 1).unwrap();
    let told: Vec<(&str, Option<&str>)> =
        parts.iter().map(|part| (part.kind.as_str(), part.source.as_deref())).collect();
    let command = ("user", Some("slash command"));
    assert_eq!(told, [command, command, ("insight", Some("client"))]);
}

#[test]
fn claude_prompts_hold_skills_reminders_and_snapshots() {
    let attachment = |at: u32, attachment: Value| {
        let mut row = said("attachment", at, at - 1, Value::Null);
        row["attachment"] = attachment;
        row
    };
    let mut skill =
        asks(4, 3, "Base directory for this skill: /home/ada/.claude/skills/whittle\n\n# Whittle");
    skill["isMeta"] = true.into();
    let (bench, row) = import(&[
        asks(1, 0, "carve a spoon"),
        attachment(
            2,
            json!({
                "type": "prompt_snapshot",
                "systemPrompt": ["You carve.", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "It is noon."],
                "tools": [{"name": "Knife", "description": "cuts", "input_schema": {"type": "object"}}],
            }),
        ),
        attachment(
            3,
            json!({
                "type": "nested_memory", "path": "/home/ada/wood/CLAUDE.md", "content": {"content": "raw words"},
                "rendered": [{"role": "user", "content": [{"type": "text", "text": "<system-reminder>oak only</system-reminder>"}]}],
            }),
        ),
        skill,
        answers(5, 4, "carved"),
    ]);
    let prompt: Value = serde_json::from_str(&bench.prompt(&row, 1)).unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        prompt,
        json!({
            "model": "claude-sonnet-5",
            "system": [text("You carve."), text("It is noon.")],
            "tools": [{"name": "Knife", "description": "cuts", "input_schema": {"type": "object"}}],
            "messages": [{"role": "user", "content": [
                text("carve a spoon"),
                text("<system-reminder>oak only</system-reminder>"),
                text("Base directory for this skill: /home/ada/.claude/skills/whittle\n\n# Whittle"),
            ]}],
        })
    );
    let key = row.session_key;
    let kinds: Vec<String> =
        bench.store.prompt_parts(key, 1, 1).unwrap().into_iter().map(|part| part.kind).collect();
    assert_eq!(kinds, ["system", "tool_schema", "user", "memory", "skill"]);
}

#[test]
fn claude_prompts_after_a_compaction_keep_the_messages_that_it_names() {
    let row = |kind: &str, at: u32, fields: Value| {
        let mut row = json!({
            "type": kind, "uuid": format!("44444444-0000-4000-8000-{at:012}"), "sessionId": "s-kept",
            "parentUuid": null,
        });
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        row
    };
    let id = |at: u32| format!("44444444-0000-4000-8000-{at:012}");
    let says = |at: u32, text: &str| row("user", at, json!({"message": {"role": "user", "content": text}}));
    let answers = |at: u32, text: &str| {
        let message = json!({"id": format!("msg_{at}"), "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}]});
        row("assistant", at, json!({"message": message}))
    };
    for (anchor, order) in
        [(6, ["in short", "third", "fourth", "fifth"]), (5, ["third", "fourth", "in short", "fifth"])]
    {
        let kept = json!({"anchorUuid": id(anchor), "uuids": [id(3)], "allUuids": [id(3), id(4)]});
        let mut summary = says(6, "in short");
        summary["isCompactSummary"] = true.into();
        let boundary = json!({"subtype": "compact_boundary", "compactMetadata": {
            "trigger": "auto", "preTokens": 9, "preservedMessages": kept,
        }});
        let rows = [
            says(1, "first"),
            answers(2, "second"),
            says(3, "third"),
            answers(4, "fourth"),
            row("system", 5, boundary),
            summary,
            says(7, "fifth"),
            answers(8, "sixth"),
        ];
        let bench = Bench::with_rows("s-kept.jsonl", &rows);
        let prompt = bench.prompt(&bench.one("s-kept"), 3);
        let places: Vec<_> = order.iter().map(|text| prompt.find(text)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{anchor}: {prompt}");
        assert!(!prompt.contains("first") && !prompt.contains("second"), "{anchor}: {prompt}");
    }
}
