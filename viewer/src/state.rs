//! What the pages work with.

use std::net::SocketAddr;
use std::sync::Arc;

use agent_core::Timestamp;
use jiff::tz::TimeZone;
use store::{Store, StoreError};
use tokio::sync::watch;

use crate::access::Access;
use crate::errors::PageError;
use crate::times::Clock;

/// What the pages work with. Cheap to clone.
#[derive(Clone)]
pub struct AppState {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    access: Access,
    /// Names beyond those of the loopback that the server answers to, without port.
    hosts: Vec<String>,
    zone: TimeZone,
    /// Set when the server ends: followers of live pages then go.
    closing: watch::Sender<bool>,
}

/// The names of the loopback.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl AppState {
    /// Returns the state over a store. `token` is what a reader must show; `hosts` are names, without port,
    /// that the server answers to besides those of the loopback. Times are shown in the machine's zone.
    pub fn new(store: Store, token: &str, hosts: Vec<String>) -> Self {
        Self::with_zone(store, token, hosts, TimeZone::system())
    }

    /// Returns the state with times shown in `zone`.
    pub fn with_zone(store: Store, token: &str, hosts: Vec<String>, zone: TimeZone) -> Self {
        let (closing, _) = watch::channel(false);
        Self { inner: Arc::new(Inner { store, access: Access::new(token), hosts, zone, closing }) }
    }

    pub(crate) fn access(&self) -> &Access {
        &self.inner.access
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the clock of one page: all its times are relative to one instant.
    pub(crate) fn clock(&self) -> Clock {
        Clock::new(self.inner.zone.clone(), Timestamp::now())
    }

    /// Returns whether the server goes by the name in a `Host` header.
    pub(crate) fn knows_host(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let same = |known: &str| known.eq_ignore_ascii_case(name);
        LOOPBACK.iter().any(|known| same(known)) || self.inner.hosts.iter().any(|known| same(known))
    }

    /// Tells whoever follows a live page that the server ends.
    pub(crate) fn close(&self) {
        self.inner.closing.send_replace(true);
    }

    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.inner.closing.subscribe()
    }

    /// Asks the store on a thread where waiting is allowed.
    pub(crate) async fn ask<T, E>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, PageError>
    where
        T: Send + 'static,
        E: Into<PageError> + Send + 'static,
    {
        let store = self.inner.store.clone();
        match tokio::task::spawn_blocking(move || question(&store)).await {
            Ok(answer) => answer.map_err(Into::into),
            Err(_) => Err(PageError::Broken("the question to the store was broken off".to_owned())),
        }
    }
}

/// Returns a link to the server at `address` that lets a browser in, once.
pub fn one_time_link(state: &AppState, address: SocketAddr) -> String {
    format!("http://{address}/login?once={}", state.access().new_code())
}

/// A store error has its page.
impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
