//! What each type of attachment is in the prompt, and why it is there.

use agent_core::ChunkKind;

/// Returns what an attachment of this type is, and why it is in front of the model.
pub(super) fn kind_and_reason(attachment: &str) -> (ChunkKind, String) {
    let (kind, reason) = match attachment {
        "nested_memory" => (ChunkKind::Memory, "memory file of a folder that was touched"),
        "relevant_memories" | "current_session_memory" => (ChunkKind::Memory, "memory that fits the request"),
        "skill_listing" | "skill_discovery" => (ChunkKind::Skill, "skills on offer"),
        "dynamic_skill" => (ChunkKind::Skill, "skills of a folder that was touched"),
        "invoked_skills" => (ChunkKind::Skill, "text of skills that were called"),
        "todo" | "todo_reminder" | "task_reminder" => (ChunkKind::Plan, "reminder of the todo list"),
        "plan_mode" | "plan_mode_reentry" => (ChunkKind::Plan, "what plan mode asks for"),
        "plan_mode_exit" => (ChunkKind::Plan, "plan mode ended"),
        "plan_file_reference" | "verify_plan_reminder" => (ChunkKind::Plan, "reminder of the plan"),
        "deferred_tools_delta" => (ChunkKind::ToolSchema, "tools that can be loaded"),
        "agent_listing_delta" => (ChunkKind::ToolSchema, "sub-agents on offer"),
        "mcp_instructions_delta" => (ChunkKind::Insight, "instructions of tool servers"),
        "output_style" => (ChunkKind::Insight, "style that the user chose"),
        "auto_mode" | "auto_mode_exit" => (ChunkKind::Insight, "what the mode asks for"),
        "file" | "already_read_file" | "pdf_reference" => (ChunkKind::State, "file that the user named"),
        "directory" => (ChunkKind::State, "folder that the user named"),
        "mcp_resource" => (ChunkKind::State, "resource that the user named"),
        "compact_file_reference" => (ChunkKind::State, "file read before the compaction"),
        "edited_text_file" | "edited_image_file" => (ChunkKind::State, "file that was changed from outside"),
        "selected_lines_in_ide" => (ChunkKind::State, "lines selected in the editor"),
        "opened_file_in_ide" => (ChunkKind::State, "file open in the editor"),
        "diagnostics" => (ChunkKind::State, "problems that the editor shows"),
        "task_status" => (ChunkKind::State, "state of a background task"),
        "date_change" => (ChunkKind::State, "the date changed"),
        "environment" | "model" => (ChunkKind::State, "what the agent runs on"),
        "budget_usd" => (ChunkKind::State, "money spent and left"),
        "token_usage" | "output_token_usage" | "total_tokens_reminder" => {
            (ChunkKind::State, "tokens used and left")
        }
        "hook_additional_context" => (ChunkKind::Insight, "what a hook adds"),
        "hook_blocking_error" => (ChunkKind::Insight, "a hook refused"),
        hook if hook.starts_with("hook_") || hook == "async_hook_response" => {
            (ChunkKind::Insight, "output of a hook")
        }
        reminder if reminder.contains("reminder") => (ChunkKind::Insight, "reminder of the client"),
        other => return (ChunkKind::State, format!("attachment {other}")),
    };
    (kind, reason.to_owned())
}
