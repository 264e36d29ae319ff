//! Lengths in Arrow's interprocess format, read before its library allocates by them: a file whose lengths are wrong is an error, not the end of the process.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

/// The first and last bytes of a file; a stream begins with others.
const MAGIC: &[u8] = b"ARROW1";
/// The footer's length and the magic at the end of a file.
const END: u64 = 10;
/// Stands before the length of a message since version 0.15 of the format.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// A compressed buffer that begins with this length is not compressed after all.
const NOT_COMPRESSED: i64 = -1;

/// How messages stand in a file.
#[derive(Clone, Copy)]
pub enum Layout {
    /// Their places stand in a footer.
    File,
    /// One follows the other.
    Stream,
}

impl Layout {
    /// The layout by the first bytes; the file is at its beginning afterwards.
    pub fn of(file: &mut (impl Read + Seek)) -> io::Result<Layout> {
        let mut start = Vec::new();
        file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
        file.rewind()?;
        Ok(if start == MAGIC { Layout::File } else { Layout::Stream })
    }
}

/// The bytes of the buffers of all messages, after decompression; the file is at its beginning afterwards.
///
/// # Errors
/// Where a message, its body or one of its buffers does not lie within the file, or a length is negative.
pub fn unpacked_size<R: Read + Seek>(file: &mut R, layout: Layout) -> Result<u64, ArrowError> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut messages = Messages { file, size };
    let unpacked = match layout {
        Layout::File => messages.of_file()?,
        Layout::Stream => messages.of_stream()?,
    };
    file.rewind()?;
    Ok(unpacked)
}

/// A file and its size.
struct Messages<'a, R> {
    file: &'a mut R,
    size: u64,
}

impl<R: Read + Seek> Messages<'_, R> {
    fn of_file(&mut self) -> Result<u64, ArrowError> {
        let end = self.size.checked_sub(END).ok_or_else(|| broken("no footer"))?;
        let length = self.bytes(end, END)?.try_into().map_err(|_| broken("no footer"))?;
        let length = read_footer_length(length)? as u64;
        let start = end.checked_sub(length).ok_or_else(|| broken("a footer before its start"))?;
        let footer = self.bytes(start, length)?;
        let footer = root_as_footer(&footer).map_err(|e| broken(&e.to_string()))?;
        let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
        blocks
            .map(|block| self.of_block(block))
            .try_fold(0u64, |sum, size| Ok(sum.saturating_add(size?)))
    }

    fn of_block(&mut self, block: &Block) -> Result<u64, ArrowError> {
        let start = length(block.offset())?;
        let metadata = self.bytes(start, length(block.metaDataLength().into())?)?;
        let body = start + metadata.len() as u64;
        let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        let message = metadata.get(prefix..).ok_or_else(|| broken("a message without a length"))?;
        self.of_message(message, body, length(block.bodyLength())?)
    }

    fn of_stream(&mut self) -> Result<u64, ArrowError> {
        let mut unpacked = 0u64;
        let mut at = 0;
        while at < self.size {
            let mut prefix = self.bytes(at, 4)?;
            at += 4;
            if prefix == CONTINUATION {
                prefix = self.bytes(at, 4)?;
                at += 4;
            }
            let metadata = prefix.try_into().map(i32::from_le_bytes);
            let metadata =
                length(metadata.map_err(|_| broken("a message without a length"))?.into())?;
            if metadata == 0 {
                break; // the end of the stream
            }
            let message = self.bytes(at, metadata)?;
            at += metadata;
            let body = root_as_message(&message).map_err(|e| broken(&e.to_string()))?.bodyLength();
            let body = length(body)?;
            unpacked = unpacked.saturating_add(self.of_message(&message, at, body)?);
            at += body;
        }
        Ok(unpacked)
    }

    /// The size of a message's buffers, which are the file's bytes from `start`, `length` of them.
    fn of_message(&mut self, message: &[u8], start: u64, length: u64) -> Result<u64, ArrowError> {
        if length > self.size.saturating_sub(start) {
            return Err(broken("a message goes on after the end of the file"));
        }
        let message = root_as_message(message).map_err(|e| broken(&e.to_string()))?;
        match batch(&message) {
            Some(batch) => self.of_batch(&batch, start, length),
            None => Ok(0),
        }
    }

    fn of_batch(&mut self, batch: &RecordBatch, body: u64, size: u64) -> Result<u64, ArrowError> {
        let mut unpacked = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (start, packed) = (length(buffer.offset())?, length(buffer.length())?);
            if packed > size.saturating_sub(start) {
                return Err(broken("a buffer goes on after the end of its message"));
            }
            let mut bytes = packed;
            if batch.compression().is_some() && packed >= 8 {
                let prefix = self.bytes(body + start, 8)?.try_into().map(i64::from_le_bytes);
                let stated = prefix.map_err(|_| broken("a buffer without a length"))?;
                if stated != NOT_COMPRESSED {
                    bytes = length(stated)?;
                }
            }
            unpacked = unpacked.saturating_add(bytes);
        }
        Ok(unpacked)
    }

    /// `length` bytes from `start`, which must lie within the file.
    fn bytes(&mut self, start: u64, length: u64) -> Result<Vec<u8>, ArrowError> {
        if length > self.size.saturating_sub(start) {
            return Err(broken("it ends too early"));
        }
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// The arrays that a message brings; a schema brings none.
fn batch<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    let dictionary = || message.header_as_dictionary_batch()?.data();
    message.header_as_record_batch().or_else(dictionary)
}

fn length(stated: i64) -> Result<u64, ArrowError> {
    u64::try_from(stated).map_err(|_| broken("a negative length"))
}

fn broken(why: &str) -> ArrowError {
    ArrowError::IpcError(why.to_string())
}
