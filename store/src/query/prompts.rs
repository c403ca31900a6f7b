//! Prompts, put together again.

use agent_core::{Body, ChunkKind, Event, Fidelity, LeftOut};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::body::BodyWriter;
use super::events::Hydrator;
use super::summary::{PromptSummary, left_out};
use crate::projection::ranges::Ranges;
use crate::projection::tables::{PartRow, PromptRow};
use crate::{ApiShape, Mapper, SessionRow, Store, StoreError};

pub use crate::projection::tables::PartRow as PromptPartRow;

/// A prompt: its bytes are the chunks one after the other.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// How near it is to what the model saw.
    pub fidelity: Fidelity,
    /// What the source lacks of it.
    pub missing: Vec<String>,
    /// BLAKE3 of the bytes given here, in hex.
    pub body_hash: String,
    /// Set when the bytes are not what was recorded: an error to be shown.
    pub damaged: Option<String>,
    /// The chunks in order.
    pub chunks: Vec<PromptChunk>,
    /// What was left out of it, and why.
    pub left_out: Vec<LeftOut>,
}

/// A piece of a prompt.
#[derive(Clone, Debug)]
pub struct PromptChunk {
    /// What it is.
    pub kind: ChunkKind,
    /// Where it comes from.
    pub source: Option<String>,
    /// Why it is in front of the model.
    pub reason: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its size in tokens.
    pub tokens: Option<u64>,
    /// How the tokens were counted.
    pub tokens_basis: Option<String>,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
}

impl Prompt {
    /// Returns the bytes of the whole body.
    pub fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
    }
}

impl Store {
    /// Returns the parts of a call's prompt in order, without their bytes.
    pub fn prompt_parts(&self, session_key: u32, turn: u32, call: u32) -> Result<Vec<PartRow>, StoreError> {
        let prompt = self.prompt_row(session_key, turn, call)?;
        self.parts_of(session_key, &prompt)
    }

    /// Returns the prompt of a call with all its bytes, verified where they were recorded.
    pub fn prompt(&self, session_key: u32, turn: u32, call: u32) -> Result<Prompt, StoreError> {
        let row = self.prompt_row(session_key, turn, call)?;
        let parts = self.parts_of(session_key, &row)?;
        match &row.body_hash {
            Some(hash) => self.recorded(left_out(&row)?, hash, &parts),
            None => {
                let (shape, model) = (self.api_shape(session_key)?, self.model_of(session_key, turn, call)?);
                self.rebuilt(shape, model, parts)
            }
        }
    }

    /// Returns the prompt of the summary with all its bytes, as [`Self::prompt`] does; nothing where it has too
    /// many parts to be read for a page.
    pub fn small_prompt(
        &self,
        session: &SessionRow,
        turn: u32,
        summary: &PromptSummary,
    ) -> Result<Option<Prompt>, StoreError> {
        let Some(parts) = &summary.all else { return Ok(None) };
        let prompt = match &summary.body_hash {
            Some(hash) => self.recorded(summary.left_out.clone(), hash, parts),
            None => {
                let model = self.model_of(session.session_key, turn, summary.call)?;
                self.rebuilt(self.shape_of(session.source.as_deref()), model, parts.clone())
            }
        };
        prompt.map(Some)
    }

    /// Returns the event that brought a part into the context.
    pub fn part_event(&self, session_key: u32, part: u32) -> Result<(PartRow, Event), StoreError> {
        let row: Option<PartRow> = self.select("session_key = ? AND part = ?", [session_key, part])?.pop();
        let row = row.ok_or_else(|| StoreError::NotFound { what: "part", name: part.to_string() })?;
        let event = self.event_at(row.position, row.sub)?;
        Ok((row, event))
    }

    fn prompt_row(&self, session_key: u32, turn: u32, call: u32) -> Result<PromptRow, StoreError> {
        self.select("session_key = ? AND turn = ? AND call = ?", [session_key, turn, call])?.pop().ok_or_else(
            || StoreError::NotFound { what: "prompt of turn", name: format!("{turn}, call {call}") },
        )
    }

    fn parts_of(&self, session_key: u32, prompt: &PromptRow) -> Result<Vec<PartRow>, StoreError> {
        let ranges = Ranges::from_text(&prompt.parts).ok_or_else(|| StoreError::Unreadable {
            position: 0,
            reason: format!("the part list {:?} of turn {} is damaged", prompt.parts, prompt.turn),
        })?;
        let (Some(low), Some(high)) = (ranges.iter().min(), ranges.iter().max()) else {
            return Ok(Vec::new());
        };
        let rows: Vec<PartRow> =
            self.select("session_key = ? AND part BETWEEN ? AND ? ORDER BY part", [session_key, low, high])?;
        let by_number =
            |part: u32| rows.binary_search_by_key(&part, |row| row.part).ok().map(|at| rows[at].clone());
        ranges
            .iter()
            .map(|part| {
                by_number(part).ok_or_else(|| StoreError::NotFound { what: "part", name: part.to_string() })
            })
            .collect()
    }

    fn recorded(
        &self,
        left_out: Vec<LeftOut>,
        expected: &str,
        parts: &[PartRow],
    ) -> Result<Prompt, StoreError> {
        let mut hydrator = Hydrator::new(self);
        let mut chunks = Vec::with_capacity(parts.len());
        let mut missing = Vec::new();
        let mut body = blake3::Hasher::new();
        for part in parts {
            let bytes = match chunk_bytes(&mut hydrator, part)? {
                Some(bytes) => bytes,
                None => {
                    missing.push(format!("chunk {}", part.hash.as_deref().unwrap_or("without a hash")));
                    Vec::new()
                }
            };
            body.update(&bytes);
            chunks.push(chunk_of(part, bytes));
        }
        let body_hash = body.finalize().to_hex().to_string();
        let damaged = (body_hash != expected)
            .then(|| format!("the bytes hash to {body_hash}, but {expected} was recorded"));
        let fidelity = if damaged.is_none() { Fidelity::Exact } else { Fidelity::Partial };
        Ok(Prompt { fidelity, missing, body_hash, damaged, chunks, left_out })
    }

    fn rebuilt(
        &self,
        shape: ApiShape,
        model: Option<String>,
        mut parts: Vec<PartRow>,
    ) -> Result<Prompt, StoreError> {
        shape.order(&mut parts);
        let mut hydrator = Hydrator::new(self);
        let mut writer = BodyWriter::new(shape, model.as_deref());
        for part in &parts {
            let event = hydrator.event(part.position, part.sub)?;
            writer.add(part, &event);
        }
        Ok(writer.finish())
    }

    /// Returns the shape of the API that the session's agent speaks, as its format tells.
    fn api_shape(&self, session_key: u32) -> Result<ApiShape, StoreError> {
        let format = self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT source FROM main.sessions WHERE session_key = ?")?;
            Ok(statement.query_row([session_key], |row| row.get::<_, Option<String>>(0))?)
        })?;
        Ok(self.shape_of(format.as_deref()))
    }

    fn shape_of(&self, format: Option<&str>) -> ApiShape {
        let mapper = format.and_then(|format| self.mappers().get(format));
        mapper.map_or_else(ApiShape::default, Mapper::api_shape)
    }

    fn model_of(&self, session_key: u32, turn: u32, call: u32) -> Result<Option<String>, StoreError> {
        let sql = "SELECT model FROM cost.model_calls WHERE session_key = ? AND turn = ? AND call = ?";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([session_key, turn, call])?;
            Ok(rows.next()?.map(|row| row.get(0)).transpose()?.flatten())
        })
    }
}

fn chunk_bytes(hydrator: &mut Hydrator<'_>, part: &PartRow) -> Result<Option<Vec<u8>>, StoreError> {
    if part.position == 0 {
        return Ok(None);
    }
    let Body::ChunkDefined(chunk) = hydrator.event(part.position, part.sub)?.body else { return Ok(None) };
    Ok(match (chunk.text, chunk.base64) {
        (Some(text), _) => Some(text.into_bytes()),
        (None, Some(encoded)) => STANDARD.decode(encoded).ok(),
        (None, None) => None,
    })
}

pub(super) fn chunk_of(part: &PartRow, bytes: Vec<u8>) -> PromptChunk {
    PromptChunk {
        kind: ChunkKind::from_word(&part.kind).unwrap_or(ChunkKind::State),
        source: part.source.clone(),
        reason: part.reason.clone(),
        hash: blake3::hash(&bytes).to_hex().to_string(),
        tokens: part.tokens,
        tokens_basis: part.tokens_basis.clone(),
        bytes,
    }
}
