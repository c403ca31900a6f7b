//! A Dashcam that runs on the data folder, and how other subcommands reach it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use collector::http::{ImportNews, ImportRequest};
use serde::{Deserialize, Serialize};
use viewer::reports::{AskRequest, Notes, read_answer};

/// Where a running Dashcam answers; kept in the data folder while it runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Running {
    /// The viewer's address, such as `http://127.0.0.1:7117`.
    pub viewer: String,
    /// The reader's token.
    #[serde(skip)]
    pub token: String,
}

/// The file that holds the address; removed when it is dropped.
pub struct Announced(PathBuf);

impl Running {
    /// Writes the address down for other subcommands.
    pub fn announce(&self, folder: &Path) -> anyhow::Result<Announced> {
        let path = folder.join("running.json");
        store::secret::write_private(&path, &serde_json::to_vec(self)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Announced(path))
    }

    /// Finds the Dashcam that runs on the data folder.
    pub fn find(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("running.json");
        let bytes = fs::read(&path).with_context(|| {
            format!(
                "{} is in use by a dashcam that serves no pages (an import?); wait until it ends",
                folder.display()
            )
        })?;
        let mut running: Self =
            serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", path.display()))?;
        running.token = token(folder)?;
        Ok(running)
    }

    /// Asks a question and writes the answer to `out`.
    pub fn ask(&self, request: &AskRequest, out: &mut dyn Write) -> anyhow::Result<Notes> {
        let answer = self.post("/api/ask", &serde_json::to_vec(request)?)?;
        Ok(read_answer(answer, out)?)
    }

    /// Has files imported and gives each piece of news to `take`.
    pub fn import(
        &self,
        request: &ImportRequest,
        take: &mut dyn FnMut(ImportNews) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let answer = self.post("/api/import", &serde_json::to_vec(request)?)?;
        for line in BufReader::new(answer).lines() {
            take(serde_json::from_str(&line?)?)?;
        }
        Ok(())
    }

    /// Returns a fresh link that lets one browser in, once.
    pub fn link(&self) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Answer {
            link: String,
        }
        let answer: Answer = serde_json::from_reader(self.post("/api/link", b"{}")?)
            .context("the running dashcam is of another version; restart it")?;
        Ok(answer.link)
    }

    fn post(&self, path: &str, body: &[u8]) -> anyhow::Result<impl Read + use<>> {
        let response = ureq::post(format!("{}{path}", self.viewer))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .send(body)
            .map_err(|error| anyhow!("the running dashcam at {} does not answer: {error}", self.viewer))?;
        Ok(response.into_body().into_reader())
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // The next start writes it anew; a stale file is found out by the lock, which is free then.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns the reader's token, made at the first start.
pub fn token(folder: &Path) -> anyhow::Result<String> {
    let path = folder.join("token");
    match fs::read_to_string(&path) {
        Ok(token) if !token.trim().is_empty() => Ok(token.trim().to_owned()),
        _ => {
            let token: String =
                store::secret::random_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
            store::secret::write_private(&path, token.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            Ok(token)
        }
    }
}
