//! Reads trajectory files in the plainest way, to compare with what was recorded.

#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use agent_core::{Body, Event, PromptChange};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the lines of the file, which must end with a line break.
pub fn lines(file: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(file).unwrap();
    let whole = bytes.strip_suffix(b"\n").expect("the last line is closed");
    whole.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Returns the events of the file, each line of which must be one.
pub fn events(file: &Path) -> Vec<Event> {
    lines(file).iter().map(|line| Event::from_json(line).unwrap()).collect()
}

/// Returns how many parts a prompt lists anew.
pub fn listed_parts(event: &Event) -> usize {
    let Body::PromptAssembled(prompt) = &event.body else { return 0 };
    let added = prompt.changes.iter().map(|change| match change {
        PromptChange::Add(uses) => uses.len(),
        PromptChange::Keep { .. } => 0,
    });
    added.sum()
}

/// Puts prompts together again, event by event.
#[derive(Default)]
pub struct Prompts {
    chunks: HashMap<String, Vec<u8>>,
    list: Vec<(String, Option<String>)>,
}

impl Prompts {
    /// Takes in an event; returns the body when it is a prompt.
    pub fn take(&mut self, event: &Event) -> Option<Vec<u8>> {
        self.define(event);
        match &event.body {
            Body::PromptAssembled(prompt) => {
                let before = std::mem::take(&mut self.list);
                for change in &prompt.changes {
                    match change {
                        PromptChange::Keep { from, to } => {
                            self.list.extend_from_slice(&before[*from as usize..*to as usize]);
                        }
                        PromptChange::Add(uses) => {
                            self.list
                                .extend(uses.iter().map(|used| (used.hash.clone(), used.source.clone())));
                        }
                    }
                }
                Some(self.parts().into_iter().flat_map(|(bytes, _)| bytes).collect())
            }
            _ => None,
        }
    }

    /// Takes in a chunk, whose hash must be that of its bytes; returns whether the event is one.
    pub fn define(&mut self, event: &Event) -> bool {
        let Body::ChunkDefined(chunk) = &event.body else { return false };
        let bytes = match (&chunk.text, &chunk.base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).unwrap(),
            other => panic!("a chunk is text or base64, not {other:?}"),
        };
        assert_eq!(chunk.hash, blake3::hash(&bytes).to_hex().to_string());
        assert_eq!(self.chunks.insert(chunk.hash.clone(), bytes), None, "a chunk is written once");
        true
    }

    /// Returns the parts of the last prompt: bytes and source.
    pub fn parts(&self) -> Vec<(Vec<u8>, Option<String>)> {
        self.list.iter().map(|(hash, source)| (self.chunks[hash].clone(), source.clone())).collect()
    }
}
