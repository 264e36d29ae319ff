//! Frames of the protocol: `Content-Length: N`, an empty line, N bytes of JSON. Mistakes in a
//! frame cost that frame and not the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use lsp_server::Message;

/// Limit for the bytes of a message.
const LARGEST: usize = 1 << 26;

/// Limit for the bytes of a line of a header.
const LONGEST: u64 = 1 << 12;

/// Sends each message of a stream, then `None` at its end.
pub(crate) fn read<E: Send + 'static>(
    input: impl Read + Send + 'static,
    events: Sender<E>,
    event: impl Fn(Option<Message>) -> E + Send + 'static,
) {
    let read = move || {
        let mut input = BufReader::new(input);
        while let Some(frame) = next(&mut input) {
            match serde_json::from_slice(&frame) {
                Ok(message) => {
                    if events.send(event(Some(message))).is_err() {
                        return;
                    }
                }
                Err(error) => eprintln!("lambada lsp: a message is skipped: {error}"),
            }
        }
        _ = events.send(event(None));
    };
    std::thread::spawn(read);
}

/// The next frame; `None` at the end of the stream.
fn next(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length: Option<usize> = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        } else if line.is_empty()
            && let Some(length) = length.take()
        {
            if length > LARGEST {
                eprintln!("lambada lsp: a message of {length} bytes is skipped");
                std::io::copy(&mut input.by_ref().take(length as u64), &mut std::io::sink())
                    .ok()?;
                continue;
            }
            let mut frame = vec![0; length];
            input.read_exact(&mut frame).ok()?;
            return Some(frame);
        }
    }
}

/// Writes messages, each at once, on a thread of its own: a client that does not read must not stop
/// the server from reading.
pub(crate) fn write(mut output: impl Write + Send + 'static) -> (Sender<Message>, JoinHandle<()>) {
    let (sender, messages): (Sender<Message>, Receiver<Message>) = channel();
    let write = move || {
        for message in messages {
            if message.write(&mut output).is_err() {
                return;
            }
        }
    };
    (sender, std::thread::spawn(write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_after_nonsense() {
        let text = "nonsense\r\n\r\nContent-Length: x\r\n\r\ncontent-length: 2\r\nOther: 1\r\n\r\n{}\
                    Content-Length: 3\n\n[1]";
        let mut input = text.as_bytes();
        assert_eq!(next(&mut input).as_deref(), Some(&b"{}"[..]));
        assert_eq!(next(&mut input).as_deref(), Some(&b"[1]"[..]));
        assert_eq!(next(&mut input), None);
    }
}
