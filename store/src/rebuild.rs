//! Making the tables again from the journal, in a file beside the old one, which goes on answering.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::projection::{Projection, SESSIONS_IN_MEMORY};
use crate::readers::Readers;
use crate::store::lock;
use crate::{Journal, Mappers, Position, ProjectionError, Store, StoreError};

/// Records in one batch.
const BATCH: usize = 50_000;
/// Records after which what was written goes from the log into the file.
const CHECKPOINT_EVERY: u64 = 120_000;

/// Is told how many records are done and how many there are.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

impl Store {
    /// Makes the tables of a folder that nobody has open again, and puts them in the place of the old ones.
    /// Returns how many records were read.
    pub fn rebuild(folder: &Path, mappers: Mappers, progress: Progress<'_>) -> Result<u64, StoreError> {
        let _lock = lock(folder)?;
        let (journal, _) = Journal::open(&folder.join("journal"))?;
        make_again(folder, &journal, &Arc::new(mappers), progress)?;
        Ok(journal.last().0)
    }

    /// Makes the tables again while the old ones answer and take in what comes; at the end readers wait for
    /// the moment in which the files change places. Returns how many records were read. Blocks; not for async
    /// threads.
    pub fn rebuild_while_open(&self, progress: Progress<'_>) -> Result<u64, StoreError> {
        let beside = Beside::claim(self.folder())?;
        let position = make_beside(&beside, self.journal(), self.mappers(), progress)?;
        let readers = Arc::clone(self.readers());
        self.worker().replace(Box::new(move |old| put_in_place(old, &beside, &readers)))?;
        Ok(position.0)
    }
}

/// Makes the tables again in a folder that nothing reads from.
pub(crate) fn make_again(
    folder: &Path,
    journal: &Journal,
    mappers: &Arc<Mappers>,
    progress: Progress<'_>,
) -> Result<(), StoreError> {
    let beside = Beside::claim(folder)?;
    make_beside(&beside, journal, mappers, progress)?;
    Ok(move_over(&beside.path, &database_path(folder))?)
}

/// The file that the new tables are made in, locked against a second rebuild.
struct Beside {
    path: PathBuf,
    _lock: fs::File,
}

impl Beside {
    /// Claims the file and removes what an unfinished rebuild has left of it.
    fn claim(folder: &Path) -> Result<Self, StoreError> {
        let path = database_path(folder).with_extension("rebuilding");
        let lock_path = path.with_extension("rebuilding.lock");
        let fail = |action, path: &Path| {
            let path = path.to_owned();
            move |cause| StoreError::Io { action, path, cause }
        };
        let lock = fs::File::create(&lock_path).map_err(fail("make", &lock_path))?;
        lock.try_lock().map_err(|_| StoreError::Rebuilding)?;
        for old in [path.clone(), wal(&path)] {
            if old.exists() {
                fs::remove_file(&old).map_err(fail("remove", &old))?;
            }
        }
        Ok(Self { path, _lock: lock })
    }
}

fn make_beside(
    beside: &Beside,
    journal: &Journal,
    mappers: &Arc<Mappers>,
    progress: Progress<'_>,
) -> Result<Position, StoreError> {
    let mut projection = Projection::open(&beside.path, journal, mappers, SESSIONS_IN_MEMORY)?
        .ok_or_else(|| StoreError::Stopped("an empty file is of another version".into()))?;
    let last = journal.last();
    let mut since_checkpoint = 0;
    while projection.position() < last {
        let before = projection.position().0;
        projection.advance(last, BATCH)?;
        since_checkpoint += projection.position().0 - before;
        if since_checkpoint > CHECKPOINT_EVERY {
            projection.checkpoint()?;
            since_checkpoint = 0;
        }
        progress(projection.position().0, last.0);
    }
    projection.checkpoint()?;
    Ok(projection.position())
}

/// Closes the old tables, moves the new file into their place and opens it; readers wait meanwhile. When the
/// new file cannot take the place, the old one is opened again.
fn put_in_place(
    old: Projection,
    beside: &Beside,
    readers: &Readers,
) -> Result<(Projection, Result<(), ProjectionError>), ProjectionError> {
    let pause = readers.pause();
    let (path, reached) = (old.path().to_owned(), old.position());
    let (mut new, moved) = old.reopened(|| move_over(&beside.path, &path))?;
    // Nobody is to see less than was there before.
    while new.position() < reached {
        new.advance(reached, BATCH)?;
    }
    pause.resume(|| new.reader())?;
    Ok((new, moved))
}

fn move_over(from: &Path, to: &Path) -> Result<(), ProjectionError> {
    let fail = |cause| ProjectionError::Replace { path: to.to_owned(), cause };
    if wal(to).exists() {
        fs::remove_file(wal(to)).map_err(fail)?;
    }
    fs::rename(from, to).map_err(fail)
}

/// Returns the file of the tables.
pub(crate) fn database_path(folder: &Path) -> PathBuf {
    folder.join("dashcam.duckdb")
}

fn wal(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".wal");
    PathBuf::from(name)
}

/// Keeps a file that cannot be opened under another name, so that it can be looked at.
pub(crate) fn set_aside(path: &Path) -> Result<(), StoreError> {
    for (from, to) in
        [(path.to_owned(), path.with_extension("broken")), (wal(path), wal(&path.with_extension("broken")))]
    {
        if from.exists() {
            fs::rename(&from, &to).map_err(|cause| StoreError::Io {
                action: "set aside",
                path: from,
                cause,
            })?;
        }
    }
    Ok(())
}
