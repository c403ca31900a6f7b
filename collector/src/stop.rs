//! The wish to end soon, for work that takes long.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells work in hand to end at the next place where nothing is lost by it. Clones tell the same work.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    told: Arc<AtomicBool>,
    /// Work of a wider reach, whose end is this one's too.
    wider: Option<Arc<Stop>>,
}

impl Stop {
    /// Returns a stop of its own that is also told when `self` is.
    pub fn narrower(&self) -> Self {
        Self { told: Arc::default(), wider: Some(Arc::new(self.clone())) }
    }

    /// Tells the work to end.
    pub fn tell(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work is to end.
    pub fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed) || self.wider.as_ref().is_some_and(|wider| wider.is_told())
    }
}

/// A file that cannot be read any further once its reader is told to stop.
pub(crate) struct StoppableFile {
    pub(crate) file: File,
    pub(crate) stop: Stop,
}

impl Read for StoppableFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // `Interrupted` would be tried again by whoever reads.
        if self.stop.is_told() {
            return Err(io::Error::other("told to stop"));
        }
        self.file.read(buffer)
    }
}

impl Seek for StoppableFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_stop_ends_with_the_wider_one_and_not_the_other_way() {
        let wide = Stop::default();
        let (one, other) = (wide.narrower(), wide.narrower());
        one.tell();
        assert_eq!((wide.is_told(), one.is_told(), other.is_told()), (false, true, false));
        wide.clone().tell();
        assert_eq!((wide.is_told(), other.is_told()), (true, true));
    }
}
