//! Requests of other sites are refused. A site can send requests to the loopback from a visitor's
//! browser: under the name of the loopback, which the header `Origin` shows, or, by DNS rebinding,
//! under its own name, which `Host` shows. Other users and programs of the machine lack the token.

use tiny_http::Request;

use crate::messages;

/// The checks of all requests.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    port: u16,
    token: String,
}

/// Names of the loopback.
const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];

/// Bytes of randomness in a token.
const LENGTH: usize = 24;

impl Guard {
    /// A guard with a new token.
    pub fn new(port: u16) -> Result<Guard, String> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|error| messages::failed("draw a random token", &error))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { port, token })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Refuses requests under another name than the loopback's, and those of other sites.
    pub fn site(&self, request: &Request) -> Result<(), &'static str> {
        if !header(request, "Host").is_some_and(|host| self.is_own(host)) {
            return Err(messages::OTHER_HOST);
        }
        let origin = header(request, "Origin");
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|h| self.is_own(h));
        if origin.is_none_or(own) { Ok(()) } else { Err(messages::OTHER_SITE) }
    }

    /// Refuses requests without the token.
    pub fn secret(&self, request: &Request) -> Result<(), &'static str> {
        let given = header(request, "Authorization").and_then(|text| text.strip_prefix("Bearer "));
        match given.is_some_and(|given| is_same(given.as_bytes(), self.token.as_bytes())) {
            true => Ok(()),
            false => Err(messages::NO_TOKEN),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        NAMES.contains(&name) && port == self.port.to_string()
    }
}

/// The value of a header that the request has exactly once.
fn header<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    let mut values = request.headers().iter().filter(|header| header.field.equiv(name));
    let first = values.next()?;
    values.next().is_none().then(|| first.value.as_str())
}

/// Compares in a time that does not depend on the place of a difference.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let differences = given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}
