//! The one place where secrets are taken out: before the journal, and so before everything else.

use crate::Record;

/// Takes secrets out of what comes in.
pub trait Redact: Send + Sync {
    /// Changes the record so that it may be kept for ever. It is called once for each record, before it is
    /// written anywhere.
    fn redact(&self, record: &mut Record);
}

/// Keeps everything: there are no rules yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepAll;

impl Redact for KeepAll {
    fn redact(&self, _record: &mut Record) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mappers, Position, RecordKind, SourceId, Store};

    struct Mask;

    impl Redact for Mask {
        fn redact(&self, record: &mut Record) {
            let text = String::from_utf8_lossy(&record.bytes).replace("hunter2", "[redacted]");
            record.bytes = text.into_bytes();
        }
    }

    #[test]
    fn nothing_is_written_before_it_is_redacted() {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            Store::open_redacting(folder.path(), Mappers::default(), Box::new(Mask)).expect("it opens");
        let record = |text: &str| Record {
            kind: RecordKind::Event,
            source: SourceId(0),
            number: 0,
            read_to: 0,
            bytes: text.as_bytes().to_vec(),
        };
        store.append(vec![record("my password is hunter2")]).expect("appended");
        let waiting = store.try_append(vec![record("hunter2, again")]).expect("taken");
        waiting.blocking_recv().expect("answered").expect("written");
        let read = |position| store.journal().read(Position(position)).expect("it is there").bytes;
        assert_eq!(read(1), b"my password is [redacted]");
        assert_eq!(read(2), b"[redacted], again");
    }
}
