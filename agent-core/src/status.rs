//! How sessions, runs and tool calls stand and end.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// Returns the word used in JSON and on pages.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Returns the value that `word` names.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How a session or run stands.
    Status {
        /// Work is going on.
        Running = "running",
        /// It ended with its answer given.
        Completed = "completed",
        /// It ended by an error.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// It was given to another agent or a human.
        HandedOff = "handed_off",
        /// The source does not tell.
        Unknown = "unknown",
    }
}

words! {
    /// Why a session or run ended.
    EndReason {
        /// The task was answered.
        Done = "done",
        /// It waits for the user.
        NeedsUser = "needs_user",
        /// The user broke it off.
        UserInterrupt = "user_interrupt",
        /// A deadline passed.
        Timeout = "timeout",
        /// A budget ran out.
        Budget = "budget",
        /// It was stopped from outside.
        Stopped = "stopped",
        /// An error ended it.
        Failure = "failure",
        /// The process died.
        Crashed = "crashed",
        /// The source does not tell.
        Unknown = "unknown",
    }
}

words! {
    /// The one terminal state of a tool call.
    ToolStatus {
        /// It did what was asked.
        Succeeded = "succeeded",
        /// It ran and failed.
        Failed = "failed",
        /// It was broken off.
        Cancelled = "cancelled",
        /// It was refused before it ran.
        Rejected = "rejected",
        /// Nobody knows how it ended.
        Unknown = "unknown",
    }
}
