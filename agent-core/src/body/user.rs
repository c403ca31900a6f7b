//! What people say and do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::status::words;
use crate::{Block, ChunkKind};

words! {
    /// Whose words a message in the user's place is.
    Origin {
        /// A person typed it; it starts a run.
        Human = "human",
        /// The agent's runtime put it in.
        Injected = "injected",
        /// A slash command or its expansion.
        Command = "command",
        /// What a local command printed.
        CommandOutput = "command_output",
        /// The summary that stands for compacted history.
        CompactSummary = "compact_summary",
        /// The parent agent's order to a sub-agent; it starts a run.
        Agent = "agent",
    }
}

payload! {
    /// A message in the user's place of the conversation.
    UserMessaged {
        /// Whose words it is; a person's when absent.
        origin: Option<Origin>,
        /// The words.
        text: String,
        /// What is not words: pictures and files.
        media: Vec<Block>,
        /// What the person typed, where the text is what a runtime made of it.
        typed: Option<String>,
        /// What it is in the prompt, where the origin alone does not tell.
        kind: Option<ChunkKind>,
        /// Where it comes from: a file, a hook, a command.
        source: Option<String>,
        /// Why it is in front of the model.
        reason: Option<String>,
        /// Whether the source as a rule tells it once more, and better: it counts only where it does not.
        is_copy: bool,
        /// Whether it came in while the agent worked: it is of the run that goes on.
        joins_run: bool,
    }
}

impl UserMessaged {
    /// Returns whether the message asks for something.
    pub fn is_request(&self) -> bool {
        matches!(self.origin, None | Some(Origin::Human | Origin::Agent))
    }

    /// Returns whether the message asks for new work and so starts a run.
    pub fn starts_run(&self) -> bool {
        self.is_request() && !self.joins_run
    }

    /// Returns the words for lists and titles: those that were typed.
    pub fn shown(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.text)
    }
}

words! {
    /// How a message left the queue.
    QueueExit {
        /// It came before the model in the run that went on; no other message says it.
        Delivered = "delivered",
        /// A message of its own says it.
        Repeated = "repeated",
        /// It was taken back: the model never got it.
        Withdrawn = "withdrawn",
    }
}

payload! {
    /// A message left the queue that messages wait in while the agent works: the first one, unless it is
    /// named by its words.
    Unqueued {
        /// How.
        how: Option<QueueExit>,
        /// What it says, where the source says it again.
        message: Option<UserMessaged>,
        /// The id of the delivery, where the source writes down each: news for another agent wait in the
        /// same queue.
        delivery: Option<String>,
        /// Whether all that waited left with it.
        all: bool,
    }
}

payload! {
    /// The user broke the agent off.
    UserInterrupted {
        /// What was going on: `response` or `tool`.
        during: Option<String>,
    }
}

payload! {
    /// The user asked for the same again.
    UserRetried {
        /// The turn that did not please.
        of_turn: Option<String>,
    }
}

payload! {
    /// The user judged.
    UserRated {
        /// The judgement, -1 to 1.
        rating: Option<f64>,
        /// In words.
        comment: Option<String>,
    }
}

payload! {
    /// How much of the agent's work the user kept.
    UserEdited {
        /// The file.
        path: Option<String>,
        /// Lines of the agent that stayed.
        lines_kept: Option<u64>,
        /// Lines of the agent that the user changed.
        lines_changed: Option<u64>,
    }
}
