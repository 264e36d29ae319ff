//! Reads objects: their messages, links, attributes and elements.

use super::chunks::{Chunked, Filter};
use super::cursor::{Cursor, Result, cut};
use super::types::{Class, Datatype};
use super::{Attribute, NOWHERE, SIGNATURE, dense, message};
use crate::draws::Wrong;

/// Limits for the messages of an object, the blocks that hold them, and the nodes of a group:
/// files that contain themselves.
const MESSAGES: usize = 1 << 17;
const BLOCKS: usize = 1 << 14;
const DEPTH: usize = 32;

/// Limit for the elements of an array.
const ELEMENTS: usize = 1 << 34;

/// A file in memory.
#[derive(Clone, Copy)]
pub(in crate::files) struct File<'a> {
    bytes: &'a [u8],
    root: u64,
}

impl<'a> File<'a> {
    /// The file of these bytes.
    pub fn of(bytes: &'a [u8]) -> Result<File<'a>> {
        if bytes.starts_with(b"CDF") {
            return Err(Wrong::format(
                "it is NetCDF of version 3, which has no groups; NetCDF-4 is read",
            ));
        }
        let mut start = 0;
        while !bytes.get(start..).is_some_and(|rest| rest.starts_with(SIGNATURE)) {
            // A block of the user's precedes the file, of a size that is a power of two.
            start = if start == 0 { 512 } else { 2 * start };
            if start >= bytes.len() {
                return Err(Wrong::format("it is no NetCDF-4 or HDF5 file"));
            }
        }
        let bytes = &bytes[start..];
        let mut at = Cursor::at(bytes, 8)?;
        let version = at.number(1)?;
        let sizes = match version {
            0 | 1 => {
                at.skip(4)?;
                let sizes = (at.number(1)?, at.number(1)?);
                // Fan-outs and flags, then the base and the free space.
                at.skip(9 + if version == 1 { 4 } else { 0 } + 2 * 8)?;
                sizes
            }
            2 | 3 => {
                let sizes = (at.number(1)?, at.number(1)?);
                at.skip(1 + 2 * 8)?;
                sizes
            }
            _ => {
                return Err(Wrong::format(format!(
                    "its HDF5 superblock has the version {version}"
                )));
            }
        };
        if sizes != (8, 8) {
            return Err(Wrong::format("its addresses have another size than 8 bytes"));
        }
        if at.number(8)? > bytes.len() as u64 {
            return Err(cut());
        }
        // The driver, and the name of the root.
        at.skip(if version < 2 { 16 } else { 0 })?;
        Ok(File { bytes, root: at.number(8)? })
    }

    /// The object at the root.
    pub fn root(self) -> Result<Object<'a>> {
        self.object(self.root)
    }

    /// The object at an address.
    pub fn object(self, address: u64) -> Result<Object<'a>> {
        self.nested(address, 1)
    }

    /// The object at an address, whose messages may refer to other objects to this depth.
    fn nested(self, address: u64, depth: usize) -> Result<Object<'a>> {
        let mut messages = Vec::new();
        let mut at = Cursor::at(self.bytes, address)?;
        if at.rest().starts_with(b"OHDR") {
            at.skip(5)?;
            let flags = at.number(1)?;
            at.skip(if flags & 0x20 != 0 { 16 } else { 0 })?;
            at.skip(if flags & 0x10 != 0 { 4 } else { 0 })?;
            let size = at.number(1 << (flags & 3))? as usize;
            let ordered = flags & 4 != 0;
            let mut blocks = vec![at.take(size)?];
            let mut budget = BLOCKS;
            while let Some(block) = blocks.pop() {
                budget = budget.checked_sub(1).ok_or_else(cut)?;
                self.messages_of_2(block, ordered, depth, &mut messages, &mut blocks)?;
            }
        } else {
            if at.number(1)? != 1 {
                return Err(cut());
            }
            at.skip(7)?;
            let size = at.number(4)? as usize;
            at.skip(4)?;
            let mut blocks = vec![at.take(size)?];
            let mut budget = BLOCKS;
            while let Some(block) = blocks.pop() {
                budget = budget.checked_sub(1).ok_or_else(cut)?;
                self.messages_of_1(block, depth, &mut messages, &mut blocks)?;
            }
        }
        Ok(Object { file: self, messages })
    }

    fn messages_of_2(
        self,
        block: &'a [u8],
        ordered: bool,
        depth: usize,
        messages: &mut Vec<Message<'a>>,
        blocks: &mut Vec<&'a [u8]>,
    ) -> Result<()> {
        let mut at = Cursor::new(block);
        let head = if ordered { 6 } else { 4 };
        // A gap at the end is shorter than a message.
        while at.rest().len() >= head {
            let (ty, size) = (at.number(1)? as u16, at.number(2)? as usize);
            let flags = at.number(1)?;
            at.skip(head - 4)?;
            let data = at.take(size)?;
            if let Some((start, length)) = continuation(ty, data)? {
                let mut block = Cursor::at(self.bytes, start)?;
                block.signature(b"OCHK")?;
                blocks.push(block.take(length.checked_sub(8).ok_or_else(cut)?)?);
            }
            self.push(messages, ty, flags, data, depth)?;
        }
        Ok(())
    }

    fn messages_of_1(
        self,
        block: &'a [u8],
        depth: usize,
        messages: &mut Vec<Message<'a>>,
        blocks: &mut Vec<&'a [u8]>,
    ) -> Result<()> {
        let mut at = Cursor::new(block);
        while at.rest().len() >= 8 {
            let (ty, size, flags) = (at.number(2)? as u16, at.number(2)? as usize, at.number(1)?);
            at.skip(3)?;
            let data = at.take(size)?;
            if let Some((start, length)) = continuation(ty, data)? {
                blocks.push(Cursor::at(self.bytes, start)?.take(length)?);
            }
            self.push(messages, ty, flags, data, depth)?;
        }
        Ok(())
    }

    /// Adds a message, or the message of another object that it refers to.
    fn push(
        self,
        messages: &mut Vec<Message<'a>>,
        ty: u16,
        flags: u64,
        data: &'a [u8],
        depth: usize,
    ) -> Result<()> {
        if messages.len() > MESSAGES {
            return Err(cut());
        }
        if flags & 2 == 0 {
            messages.push(Message { ty, data });
            return Ok(());
        }
        let mut at = Cursor::new(data);
        let version = at.number(1)?;
        at.skip(if version == 1 { 7 } else { 1 })?;
        // Only committed datatypes are shared by other than exotic files.
        if ty == message::DATATYPE && depth > 0 {
            let other = self.nested(at.number(8)?, depth - 1)?;
            messages.extend(other.messages.into_iter().filter(|message| message.ty == ty));
        }
        Ok(())
    }

    /// The object `index` of a collection of the global heap.
    fn global(self, address: u64, index: u64) -> Result<&'a [u8]> {
        let mut at = Cursor::at(self.bytes, address)?;
        at.signature(b"GCOL")?;
        at.skip(4)?;
        let size = at.number(8)? as usize;
        let mut at = Cursor::new(at.take(size.checked_sub(16).ok_or_else(cut)?)?);
        while at.rest().len() >= 16 {
            let found = at.number(2)?;
            at.skip(6)?;
            let length = at.number(8)? as usize;
            if found == 0 {
                break;
            }
            let object = at.take(length)?;
            at.skip((length.next_multiple_of(8) - length).min(at.rest().len()))?;
            if found == index {
                return Ok(object);
            }
        }
        Err(cut())
    }
}

fn continuation(ty: u16, data: &[u8]) -> Result<Option<(u64, usize)>> {
    if ty != message::CONTINUATION {
        return Ok(None);
    }
    let mut at = Cursor::new(data);
    Ok(Some((at.number(8)?, at.number(8)? as usize)))
}

/// A message of an object header.
#[derive(Clone, Copy)]
struct Message<'a> {
    ty: u16,
    data: &'a [u8],
}

/// A group or an array.
pub(in crate::files) struct Object<'a> {
    file: File<'a>,
    messages: Vec<Message<'a>>,
}

impl<'a> Object<'a> {
    fn message(&self, ty: u16) -> Option<&'a [u8]> {
        self.messages.iter().find(|message| message.ty == ty).map(|message| message.data)
    }

    /// Names and addresses of the objects in a group, in the order of their creation if the file
    /// keeps it.
    pub fn links(&self) -> Result<Vec<(String, u64)>> {
        let mut links: Vec<(u64, String, u64)> = Vec::new();
        for message in self.messages.iter().filter(|message| message.ty == message::LINK) {
            links.extend(link(message.data)?);
        }
        if let Some(data) = self.message(message::LINK_INFO) {
            let mut at = Cursor::new(data);
            at.skip(1)?;
            let flags = at.number(1)?;
            at.skip(if flags & 1 == 1 { 8 } else { 0 })?;
            let (heap, tree) = (at.number(8)?, at.number(8)?);
            if heap != NOWHERE {
                for message in dense::messages(self.file.bytes, heap, tree, 4)? {
                    links.extend(link(&message)?);
                }
            }
        }
        if let Some(data) = self.message(message::SYMBOL_TABLE) {
            let mut at = Cursor::new(data);
            let (tree, heap) = (at.number(8)?, at.number(8)?);
            let mut at = Cursor::at(self.file.bytes, heap)?;
            at.signature(b"HEAP")?;
            at.skip(4)?;
            let size = at.number(8)? as usize;
            at.skip(8)?;
            let names = Cursor::at(self.file.bytes, at.number(8)?)?.take(size)?;
            let mut budget = self.file.bytes.len() / 16;
            self.symbols(tree, names, DEPTH, &mut budget, &mut links)?;
        }
        links.sort_by_key(|(order, ..)| *order);
        Ok(links.into_iter().map(|(_, name, address)| (name, address)).collect())
    }

    /// Adds the links of an old group: a B-tree of tables of symbols.
    fn symbols(
        &self,
        node: u64,
        names: &[u8],
        depth: usize,
        budget: &mut usize,
        links: &mut Vec<(u64, String, u64)>,
    ) -> Result<()> {
        *budget = budget.checked_sub(1).ok_or_else(cut)?;
        let mut at = Cursor::at(self.file.bytes, node)?;
        if at.rest().starts_with(b"SNOD") {
            at.skip(6)?;
            for _ in 0..at.number(2)? {
                let (name, address) = (at.number(8)?, at.number(8)?);
                at.skip(24)?;
                let name = Cursor::at(names, name)?.rest();
                links.push((0, text(name), address));
            }
            return Ok(());
        }
        at.signature(b"TREE")?;
        at.skip(2)?;
        let entries = at.number(2)?;
        at.skip(16)?;
        for _ in 0..entries {
            at.skip(8)?;
            let child = at.number(8)?;
            self.symbols(child, names, depth.checked_sub(1).ok_or_else(cut)?, budget, links)?;
        }
        Ok(())
    }

    /// Attributes that can be read, by name.
    pub fn attributes(&self) -> Result<Vec<(String, Attribute)>> {
        let here = self.messages.iter().filter(|message| message.ty == message::ATTRIBUTE);
        let mut all: Vec<Vec<u8>> = here.map(|message| message.data.to_vec()).collect();
        if let Some(data) = self.message(message::ATTRIBUTE_INFO) {
            let mut at = Cursor::new(data);
            at.skip(1)?;
            let flags = at.number(1)?;
            at.skip(if flags & 1 == 1 { 2 } else { 0 })?;
            let (heap, tree) = (at.number(8)?, at.number(8)?);
            if heap != NOWHERE {
                all.extend(dense::messages(self.file.bytes, heap, tree, 0)?);
            }
        }
        let mut attributes = Vec::new();
        for bytes in &all {
            attributes.extend(self.attribute(bytes)?);
        }
        Ok(attributes)
    }

    fn attribute(&self, bytes: &[u8]) -> Result<Option<(String, Attribute)>> {
        let mut at = Cursor::new(bytes);
        let (version, flags) = (at.number(1)?, at.number(1)?);
        let sizes = [at.number(2)?, at.number(2)?, at.number(2)?].map(|size| size as usize);
        at.skip(usize::from(version == 3))?;
        let padded = |size: usize| if version == 1 { size.next_multiple_of(8) } else { size };
        let name = text(at.take(padded(sizes[0]))?);
        let (ty, space) = (at.take(padded(sizes[1]))?, at.take(padded(sizes[2]))?);
        // Shared datatypes are those of structures.
        if version > 1 && flags & 1 == 1 {
            return Ok(None);
        }
        let ty = Datatype::of(ty)?;
        let count = dims(space)?.iter().try_fold(1_usize, |count, n| count.checked_mul(*n));
        let count = count.ok_or_else(cut)?;
        let size = count.checked_mul(ty.size).ok_or_else(cut)?;
        let data = at.take(size)?;
        let value = match (&ty.class, count) {
            (Class::Text, 1) => Some(Attribute::Text(text(data))),
            (Class::LongText, 1) => Some(Attribute::Text(text(self.listed(data, 1)?))),
            (Class::Int { .. }, 1) => Some(Attribute::Int(ty.numbers(data)?[0] as i64)),
            (Class::Real { .. }, 1) => Some(Attribute::Real(ty.numbers(data)?[0])),
            (Class::Reference, _) => Some(Attribute::Objects(addresses(data)?)),
            // The scales of an array: one for each axis.
            (Class::List(element), _) if element.class == Class::Reference => {
                let each = |entry| addresses(self.listed(entry, 8)?);
                let lists = data.chunks_exact(16).map(each).collect::<Result<Vec<_>>>()?;
                Some(Attribute::Objects(
                    lists.iter().map(|list| list.first().copied().unwrap_or(NOWHERE)).collect(),
                ))
            }
            _ => None,
        };
        Ok(value.map(|value| (name, value)))
    }

    /// The bytes of a list of variable length.
    fn listed(&self, entry: &[u8], element: usize) -> Result<&'a [u8]> {
        let mut at = Cursor::new(entry);
        let (length, heap, index) = (at.number(4)? as usize, at.number(8)?, at.number(4)?);
        if length == 0 {
            return Ok(&[]);
        }
        let size = length.checked_mul(element).ok_or_else(cut)?;
        self.file.global(heap, index)?.get(..size).ok_or_else(cut)
    }

    /// Lengths of the axes of an array; none for a group.
    pub fn dims(&self) -> Result<Option<Vec<usize>>> {
        match self.message(message::LAYOUT) {
            None => Ok(None),
            Some(_) => dims(self.message(message::DATASPACE).ok_or_else(cut)?).map(Some),
        }
    }

    /// Whether the elements are numbers.
    pub fn is_numeric(&self) -> bool {
        let ty = self.message(message::DATATYPE).map(Datatype::of);
        ty.is_some_and(|ty| ty.is_ok_and(|ty| ty.is_numeric()))
    }

    /// The elements of an array, row-major.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        let dims = self.dims()?.ok_or_else(cut)?;
        let ty = Datatype::of(self.message(message::DATATYPE).ok_or_else(cut)?)?;
        let count = dims.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
        let size = count.filter(|n| *n <= ELEMENTS).and_then(|n| n.checked_mul(ty.size));
        let size = size.ok_or_else(cut)?;
        if size == 0 {
            return Ok(Vec::new());
        }
        // A deflated chunk is at most about 1000 times as large as its bytes.
        if size / 2048 > self.file.bytes.len() {
            return Err(cut());
        }
        let mut at = Cursor::new(self.message(message::LAYOUT).ok_or_else(cut)?);
        let (version, class) = (at.number(1)?, at.number(1)?);
        match (version, class) {
            (3 | 4, 0) => {
                let length = at.number(2)? as usize;
                ty.numbers(at.take(length)?.get(..size).ok_or_else(cut)?)
            }
            (3 | 4, 1) => match at.number(8)? {
                NOWHERE => Ok(vec![0.0; size / ty.size]),
                address => ty.numbers(Cursor::at(self.file.bytes, address)?.take(size)?),
            },
            (3, 2) => {
                let rank = at.number(1)? as usize;
                let tree = at.number(8)?;
                if rank != dims.len() + 1 {
                    return Err(cut());
                }
                let chunk = dims.iter().map(|_| at.number(4).map(|n| n as usize));
                let chunk = chunk.collect::<Result<Vec<usize>>>()?;
                let whole = chunk.iter().try_fold(ty.size, |size, n| size.checked_mul(*n));
                if whole.is_none_or(|whole| whole == 0 || whole > u32::MAX as usize) {
                    return Err(cut());
                }
                let filters = self.message(message::FILTERS).map_or(Ok(Vec::new()), filters)?;
                let element = ty.size;
                let chunked = Chunked { bytes: self.file.bytes, dims, chunk, element, filters };
                ty.numbers(&chunked.elements(tree, size)?)
            }
            (4, 2) => Err(Wrong::format(
                "its chunks have an index of HDF5 1.10, which cannot be read; write it without `libver=\"latest\"`",
            )),
            _ => Err(Wrong::format(format!("its layout of version {version} cannot be read"))),
        }
    }
}

/// A link's place in the order of creation, its name, and the address of its object. Links to other
/// files and by path lead nowhere.
fn link(data: &[u8]) -> Result<Option<(u64, String, u64)>> {
    let mut at = Cursor::new(data);
    at.skip(1)?;
    let flags = at.number(1)?;
    let kind = if flags & 8 != 0 { at.number(1)? } else { 0 };
    let order = if flags & 4 != 0 { at.number(8)? } else { 0 };
    at.skip(if flags & 0x10 != 0 { 1 } else { 0 })?;
    let length = at.number(1 << (flags & 3))? as usize;
    let name = text(at.take(length)?);
    Ok(if kind == 0 { Some((order, name, at.number(8)?)) } else { None })
}

/// Lengths of the axes of a dataspace.
fn dims(data: &[u8]) -> Result<Vec<usize>> {
    let mut at = Cursor::new(data);
    let (version, rank) = (at.number(1)?, at.number(1)?);
    at.skip(if version == 1 { 6 } else { 2 })?;
    (0..rank).map(|_| usize::try_from(at.number(8)?).map_err(|_| cut())).collect()
}

/// The filters of an array.
fn filters(data: &[u8]) -> Result<Vec<Filter>> {
    let mut at = Cursor::new(data);
    let (version, count) = (at.number(1)?, at.number(1)?);
    at.skip(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let filter = at.number(2)? as u16;
        let name = if version == 1 || filter >= 256 { at.number(2)? as usize } else { 0 };
        at.skip(2)?;
        let parameters = at.number(2)?;
        at.skip(if version == 1 { name.next_multiple_of(8) } else { name })?;
        let mut first = 0;
        for k in 0..parameters {
            let parameter = at.number(4)? as u32;
            first = if k == 0 { parameter } else { first };
        }
        at.skip(if version == 1 && parameters % 2 == 1 { 4 } else { 0 })?;
        filters.push((filter, first));
    }
    Ok(filters)
}

fn addresses(data: &[u8]) -> Result<Vec<u64>> {
    data.chunks_exact(8).map(|bytes| Cursor::new(bytes).number(8)).collect()
}

/// A text up to its end or a zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
