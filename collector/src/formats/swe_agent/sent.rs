//! The list of messages in a step: what the model was sent, where that is not what the history tells.
//!
//! The history tells each message once and as it came. What is sent differs in two ways. Old results may be
//! elided, more of them with each step: the list has other words in their place. And an answer that the agent
//! could not use is sent back once, with a complaint, and then forgotten: neither ever comes into the history.
//!
//! The places in the list are those of the history, so a result's place names its call: it answers the
//! message before it.

use agent_core::{Body, ChunkKind, ContextCompacted, Json};

use super::super::chat::text_of;
use super::super::emit::{Emit, call_id};
use super::wire::{Message, Step};

/// How the words begin that stand in the place of an elided result.
const ELIDED: &str = "Old environment output: (";

/// The place in the context of the complaint about the last answer; it is empty again after the next one.
const COMPLAINT: &str = "complaint";

/// The list in a step.
pub(super) struct Sent<'a> {
    messages: &'a [Message],
    /// Whether the step's own answer is in it, so that it is what the next step is sent.
    is_after: bool,
}

impl<'a> Sent<'a> {
    /// Returns the list, where the step has one.
    pub(super) fn of(step: &'a Step) -> Option<Self> {
        let present = |list: &'a Option<Vec<Message>>| list.as_deref().filter(|list| !list.is_empty());
        if let Some(messages) = present(&step.query) {
            return Some(Self { messages, is_after: false });
        }
        let messages = present(&step.messages)?;
        let last = messages.iter().rfind(|message| message.role.as_deref() == Some("assistant"));
        let is_own =
            |message: &Message| step.response.as_deref() == Some(&*text_of(message.content.as_deref()));
        Some(Self { messages, is_after: last.is_some_and(is_own) })
    }

    /// Returns the place of the step's own answer in the history.
    pub(super) fn place(&self) -> u64 {
        let place = match (self.is_after, self.complaint()) {
            (true, _) => {
                self.messages.iter().rposition(|message| message.role.as_deref() == Some("assistant"))
            }
            (false, Some(_)) => Some(self.messages.len() - 2),
            (false, None) => Some(self.messages.len()),
        };
        place.unwrap_or_default() as u64
    }

    /// Returns the step's own answer as it came into the history, and its result.
    pub(super) fn own(&self) -> Option<(&'a Message, Option<&'a Message>)> {
        let place = self.place() as usize;
        let own = self.messages.get(place).filter(|_| self.is_after)?;
        Some((own, self.messages.get(place + 1)))
    }

    /// Returns the complaint about the answer of the step before, which stands at the end with that answer.
    fn complaint(&self) -> Option<&'a Message> {
        let [.., answer, complaint] = self.messages else { return None };
        let is = |message: &Message, word: &str| message.message_type.as_deref() == Some(word);
        (!self.is_after && is(answer, "assistant") && is(complaint, "user")).then_some(complaint)
    }

    /// Tells what is in it for the step itself, before its answer.
    pub(super) fn tell_before(&self, emit: &mut Emit<'_>) {
        if self.is_after {
            return;
        }
        self.tell_elided(emit);
        if let Some(complaint) = self.complaint() {
            let content = complaint.content.as_deref().map(Json::copy);
            emit.context(ChunkKind::Insight, Some("the answer was refused"), Some(COMPLAINT), content);
        }
    }

    /// Tells what is in it for the next step, or is so no longer, after the step's answer and result.
    pub(super) fn tell_after(&self, emit: &mut Emit<'_>) {
        if self.is_after {
            self.tell_elided(emit);
        }
        if self.complaint().is_some() {
            let refused = emit.index.saturating_sub(1).to_string();
            let taken_back =
                ContextCompacted { dropped_steps: Some(vec![refused]), ..ContextCompacted::default() };
            emit.push(None, Body::ContextCompacted(taken_back));
            emit.context(ChunkKind::Insight, None, Some(COMPLAINT), None);
        }
    }

    /// Tells of each elided result what stands in its place. Later steps tell it again, and it is one event.
    fn tell_elided(&self, emit: &mut Emit<'_>) {
        for (message, place) in self.messages.iter().zip(0_u64..).skip(1) {
            let is_result = matches!(message.role.as_deref(), Some("user" | "tool"));
            if !is_result || message.is_demo == Some(true) {
                continue;
            }
            let words = text_of(message.content.as_deref());
            if !words.starts_with(ELIDED) {
                continue;
            }
            let call = call_id(place - 1, 0);
            let name: [&[u8]; 3] = [b"elided", call.as_bytes(), words.as_bytes()];
            let elided = ContextCompacted {
                dropped_calls: Some(vec![call.clone()]),
                placeholder: Some(Json::string(&words)),
                in_text: message.role.as_deref() == Some("user"),
                ..ContextCompacted::default()
            };
            emit.push_once(&name, Body::ContextCompacted(elided));
        }
    }
}
