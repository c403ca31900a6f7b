//! Who may read: whoever shows the token, or the cookie that a one-time link gave for it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use blake3::Hash;

/// One-time links that wait to be used; when there are more, the oldest goes.
const WAITING_LINKS: usize = 16;

/// Knows the token by its hash only, and the one-time codes that were given out.
///
/// Hashes are compared, never the words themselves: `blake3::Hash` compares in constant time.
#[derive(Debug)]
pub(crate) struct Access {
    key: Hash,
    cookie: Hash,
    versions: Hash,
    /// Grows with each code, so that no two are equal.
    given: AtomicU64,
    /// A plain lock: held to move a few words, never across an await.
    waiting: Mutex<VecDeque<Hash>>,
}

impl Access {
    pub(crate) fn new(token: &str) -> Self {
        let key = blake3::hash(token.as_bytes());
        let cookie = blake3::hash(cookie_value(&key).as_bytes());
        let process = format!("versions {} {}", std::process::id(), agent_core::Timestamp::now().micros());
        let versions = blake3::keyed_hash(key.as_bytes(), process.as_bytes());
        Self { key, cookie, versions, given: AtomicU64::new(0), waiting: Mutex::new(VecDeque::new()) }
    }

    /// Returns whether `token` is the token.
    pub(crate) fn is_token(&self, token: &str) -> bool {
        blake3::hash(token.as_bytes()) == self.key
    }

    /// Returns whether a `Cookie` header holds the cookie.
    pub(crate) fn is_let_in_by(&self, cookies: &str) -> bool {
        let name = self.cookie_name();
        cookies
            .split(';')
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && blake3::hash(value.as_bytes()) == self.cookie)
    }

    /// Returns the key under which versions of pages are named: another for each token and each process.
    pub(crate) const fn version_key(&self) -> Hash {
        self.versions
    }

    /// Returns a new code that lets a browser in once.
    pub(crate) fn new_code(&self) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let now = agent_core::Timestamp::now().micros();
        let code = derive(&self.key, &format!("once {number} {now}"));
        let mut waiting = self.waiting.lock().expect("no holder of this lock panics");
        if waiting.len() == WAITING_LINKS {
            waiting.pop_front();
        }
        waiting.push_back(blake3::hash(code.as_bytes()));
        code
    }

    /// Takes a code back; returns whether it was a good one.
    pub(crate) fn redeem(&self, code: &str) -> bool {
        let hash = blake3::hash(code.as_bytes());
        let mut waiting = self.waiting.lock().expect("no holder of this lock panics");
        let at = waiting.iter().position(|known| *known == hash);
        at.is_some_and(|at| waiting.remove(at).is_some())
    }

    /// Returns the `Set-Cookie` header that lets a browser in for thirty days.
    pub(crate) fn set_cookie(&self) -> String {
        let (name, value) = (self.cookie_name(), cookie_value(&self.key));
        format!("{name}={value}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict")
    }

    /// Browsers share cookies between ports of one host: each installation has a name of its own.
    fn cookie_name(&self) -> String {
        format!("dashcam_{}", &derive(&self.key, "cookie name")[..8])
    }
}

fn cookie_value(key: &Hash) -> String {
    derive(key, "cookie value")
}

/// Returns a word that nobody can guess who does not know the token.
fn derive(key: &Hash, purpose: &str) -> String {
    blake3::keyed_hash(key.as_bytes(), purpose.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_lets_in_once() {
        let access = Access::new("secret");
        let (first, second) = (access.new_code(), access.new_code());
        assert_ne!(first, second);
        assert!(access.redeem(&first));
        assert!(!access.redeem(&first));
        assert!(!access.redeem("made up"));
        assert!(access.redeem(&second));
    }

    #[test]
    fn the_oldest_of_too_many_codes_goes() {
        let access = Access::new("secret");
        let codes: Vec<String> = (0..=WAITING_LINKS).map(|_| access.new_code()).collect();
        assert!(!access.redeem(&codes[0]));
        assert!(access.redeem(&codes[1]));
    }

    #[test]
    fn the_cookie_is_known_among_others() {
        let access = Access::new("secret");
        let set = access.set_cookie();
        let cookie = set.split(';').next().expect("there is a first part");
        assert!(access.is_let_in_by(&format!("theme=dark; {cookie}")));
        assert!(!access.is_let_in_by(&format!("{cookie}x")));
        assert!(!Access::new("another").is_let_in_by(cookie));
        assert!(!set.contains("secret"));
    }
}
