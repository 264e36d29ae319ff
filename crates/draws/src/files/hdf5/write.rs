//! Writes groups and arrays. Arrays come before the headers that mention them; headers of dimension
//! scales mention the arrays along them and the reverse, so that their addresses are fixed first.

use super::{Attribute, NOWHERE, Numbers, SIGNATURE, checksum, message};

/// Size of the superblock.
const SUPERBLOCK: usize = 48;

/// Least size of a collection of the global heap, which libraries read at once.
const COLLECTION: usize = 4096;

/// Entries of an attribute that a header can hold: 64 KiB.
const ENTRIES: usize = 4000;

/// A group.
#[derive(Clone, Debug, Default)]
pub(in crate::files) struct Group {
    /// The name.
    pub name: String,
    /// Attributes by name.
    pub attributes: Vec<(String, Attribute)>,
    /// Groups in it.
    pub groups: Vec<Group>,
    /// Arrays in it.
    pub datasets: Vec<Dataset>,
}

/// An array.
#[derive(Clone, Debug)]
pub(in crate::files) struct Dataset {
    /// The name.
    pub name: String,
    /// Lengths of its axes.
    pub dims: Vec<usize>,
    /// Its elements.
    pub numbers: Numbers,
    /// Whether it is the scale of a dimension of its name.
    pub scale: bool,
    /// For each axis its scale, by place in the group. Empty for scales.
    pub axes: Vec<usize>,
    /// Attributes by name.
    pub attributes: Vec<(String, Attribute)>,
}

/// The contents of a file with this root.
pub(in crate::files) fn write(root: &Group) -> Vec<u8> {
    let mut out = vec![0; SUPERBLOCK];
    let root = group(&mut out, root);
    let mut superblock = SIGNATURE.to_vec();
    superblock.extend([2, 8, 8, 0]);
    for address in [0, NOWHERE, out.len() as u64, root] {
        superblock.extend(address.to_le_bytes());
    }
    superblock.extend(checksum(&superblock).to_le_bytes());
    out[..SUPERBLOCK].copy_from_slice(&superblock);
    out
}

/// Adds a group with all in it, and returns the address of its header.
fn group(out: &mut Vec<u8>, group: &Group) -> u64 {
    let mut links: Vec<(&str, u64)> = datasets(out, &group.datasets);
    for inner in &group.groups {
        links.push((&inner.name, self::group(out, inner)));
    }
    // Flags: the order of creation is kept, and could be indexed.
    let mut info = vec![0, 3];
    info.extend((links.len() as u64).to_le_bytes());
    (0..3).for_each(|_| info.extend(NOWHERE.to_le_bytes()));
    let mut messages = vec![(message::LINK_INFO, info), (message::GROUP_INFO, vec![0, 0])];
    for (k, (name, address)) in links.iter().enumerate() {
        // Version, flags: order of creation, character set, two bytes for the length of the name.
        let mut link = vec![1, 0x15];
        link.extend((k as u64).to_le_bytes());
        link.push(1);
        link.extend((name.len() as u16).to_le_bytes());
        link.extend(name.bytes());
        link.extend(address.to_le_bytes());
        messages.push((message::LINK, link));
    }
    messages.extend(group.attributes.iter().map(|(name, value)| attribute(name, value)));
    place(out, &header(&messages))
}

/// Adds arrays, and returns their names and the addresses of their headers.
fn datasets<'a>(out: &mut Vec<u8>, datasets: &'a [Dataset]) -> Vec<(&'a str, u64)> {
    let data: Vec<u64> = datasets.iter().map(|dataset| place(out, &elements(dataset))).collect();
    // Sizes of headers do not depend on addresses.
    let none = vec![0; datasets.len()];
    let built = |k: usize, addresses: &[u64], heap: u64| {
        header(&messages(datasets, k, data[k], addresses, heap))
    };
    let mut next = aligned(out.len());
    let mut addresses = Vec::new();
    for k in 0..datasets.len() {
        addresses.push(next as u64);
        next = aligned(next + built(k, &none, 0).len());
    }
    for k in 0..datasets.len() {
        let there = place(out, &built(k, &addresses, next as u64));
        debug_assert_eq!(there, addresses[k]);
    }
    let references = datasets.iter().flat_map(|dataset| &dataset.axes).map(|k| addresses[*k]);
    let heap = collection(&references.collect::<Vec<u64>>());
    place(out, &heap);
    datasets.iter().map(|dataset| &dataset.name[..]).zip(addresses).collect()
}

/// A collection of the global heap: the references that lists of variable length hold.
fn collection(references: &[u64]) -> Vec<u8> {
    if references.is_empty() {
        return Vec::new();
    }
    let size = (16 + 24 * references.len() + 16).max(COLLECTION);
    let mut heap = b"GCOL\x01\0\0\0".to_vec();
    heap.extend((size as u64).to_le_bytes());
    for (k, reference) in references.iter().enumerate() {
        heap.extend((k as u16 + 1).to_le_bytes());
        heap.extend([1, 0, 0, 0, 0, 0]);
        heap.extend(8_u64.to_le_bytes());
        heap.extend(reference.to_le_bytes());
    }
    // Free space is object 0.
    let free = (size - heap.len()) as u64;
    heap.extend([0; 8]);
    heap.extend(free.to_le_bytes());
    heap.resize(size, 0);
    heap
}

fn messages(
    datasets: &[Dataset],
    k: usize,
    data: u64,
    addresses: &[u64],
    heap: u64,
) -> Vec<(u16, Vec<u8>)> {
    let dataset = &datasets[k];
    let size = elements(dataset).len() as u64;
    let mut layout = vec![3, 1];
    layout.extend(if size == 0 { NOWHERE } else { data }.to_le_bytes());
    layout.extend(size.to_le_bytes());
    let mut messages = vec![
        (message::DATASPACE, dataspace(&dataset.dims)),
        (message::DATATYPE, datatype(&dataset.numbers)),
        // Version 3: space allocated late, a value written if set, none set.
        (message::FILL_VALUE, vec![3, 0x0a]),
        (message::LAYOUT, layout),
    ];
    if dataset.scale {
        messages.push(terminated("CLASS", "DIMENSION_SCALE"));
        messages.push(terminated("NAME", &dataset.name));
        let users: Vec<(u64, u32)> = datasets
            .iter()
            .zip(addresses)
            .flat_map(|(user, address)| {
                let axes = user.axes.iter().zip(0..).filter(|(scale, _)| **scale == k);
                axes.map(move |(_, axis)| (*address, axis))
            })
            .collect();
        if !users.is_empty() && users.len() <= ENTRIES {
            messages.push(reference_list(&users));
        }
    }
    if !dataset.axes.is_empty() {
        let before: usize = datasets[..k].iter().map(|other| other.axes.len()).sum();
        messages.push(dimension_list(dataset.axes.len(), before, heap));
    }
    messages.extend(dataset.attributes.iter().map(|(name, value)| attribute(name, value)));
    messages
}

/// The arrays along a scale, as its attribute.
fn reference_list(users: &[(u64, u32)]) -> (u16, Vec<u8>) {
    let mut ty = vec![0x36, 2, 0, 0];
    ty.extend(16_u32.to_le_bytes());
    ty.extend(b"dataset\0\0");
    ty.extend(reference());
    ty.extend(b"dimension\0\x08");
    ty.extend(integer(4, false));
    let entry = |(address, axis): &(u64, u32)| {
        let mut entry = address.to_le_bytes().to_vec();
        entry.extend(axis.to_le_bytes());
        entry.extend([0; 4]);
        entry
    };
    let data: Vec<u8> = users.iter().flat_map(entry).collect();
    raw_attribute("REFERENCE_LIST", &ty, &dataspace(&[users.len()]), &data)
}

/// The scales of an array, as its attribute. Each is a list of variable length in the global heap.
fn dimension_list(axes: usize, before: usize, heap: u64) -> (u16, Vec<u8>) {
    let mut ty = vec![0x19, 0, 0, 0];
    ty.extend(16_u32.to_le_bytes());
    ty.extend(reference());
    let mut data = Vec::new();
    for axis in 0..axes {
        data.extend(1_u32.to_le_bytes());
        data.extend(heap.to_le_bytes());
        data.extend(((before + axis + 1) as u32).to_le_bytes());
    }
    raw_attribute("DIMENSION_LIST", &ty, &dataspace(&[axes]), &data)
}

/// A text that ends in a zero, as the library demands it of the marks of scales.
fn terminated(name: &str, text: &str) -> (u16, Vec<u8>) {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    let mut ty = vec![0x13, 0, 0, 0];
    ty.extend((bytes.len() as u32).to_le_bytes());
    raw_attribute(name, &ty, &dataspace(&[]), &bytes)
}

fn attribute(name: &str, value: &Attribute) -> (u16, Vec<u8>) {
    let scalar = dataspace(&[]);
    match value {
        Attribute::Text(text) => {
            // A text of no letters has one byte, since no type has the size 0.
            let mut bytes = text.as_bytes().to_vec();
            bytes.truncate(text.floor_char_boundary(60_000));
            bytes.resize(bytes.len().max(1), 0);
            let mut ty = vec![0x13, 0x11, 0, 0];
            ty.extend((bytes.len() as u32).to_le_bytes());
            raw_attribute(name, &ty, &scalar, &bytes)
        }
        Attribute::Int(n) => raw_attribute(name, &integer(8, true), &scalar, &n.to_le_bytes()),
        Attribute::Real(x) => raw_attribute(name, &real(), &scalar, &x.to_le_bytes()),
        Attribute::Objects(addresses) => {
            let data: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
            raw_attribute(name, &reference(), &dataspace(&[addresses.len()]), &data)
        }
    }
}

fn raw_attribute(name: &str, ty: &[u8], space: &[u8], data: &[u8]) -> (u16, Vec<u8>) {
    let mut bytes = vec![3, 0];
    for length in [name.len() + 1, ty.len(), space.len()] {
        bytes.extend((length as u16).to_le_bytes());
    }
    bytes.push(1);
    bytes.extend(name.bytes().chain([0]));
    bytes.extend(ty.iter().chain(space).chain(data));
    (message::ATTRIBUTE, bytes)
}

fn dataspace(dims: &[usize]) -> Vec<u8> {
    let mut bytes = vec![2, dims.len() as u8, 0, u8::from(!dims.is_empty())];
    dims.iter().for_each(|length| bytes.extend((*length as u64).to_le_bytes()));
    bytes
}

fn datatype(numbers: &Numbers) -> Vec<u8> {
    match numbers {
        Numbers::Real(_) => real(),
        Numbers::Int(_) => integer(8, true),
        Numbers::Byte(_) => integer(1, true),
    }
}

fn real() -> Vec<u8> {
    // Version and class; an implied leading bit, the sign at 63; the size.
    let mut ty = vec![0x11, 0x20, 63, 0, 8, 0, 0, 0];
    // Bits, places and sizes of exponent and mantissa; the bias.
    ty.extend([0, 0, 64, 0, 52, 11, 0, 52, 0xff, 0x03, 0, 0]);
    ty
}

fn integer(size: u8, signed: bool) -> Vec<u8> {
    vec![0x10, 8 * u8::from(signed), 0, 0, size, 0, 0, 0, 0, 0, 8 * size, 0]
}

fn reference() -> Vec<u8> {
    vec![0x17, 0, 0, 0, 8, 0, 0, 0]
}

fn elements(dataset: &Dataset) -> Vec<u8> {
    match &dataset.numbers {
        Numbers::Real(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Numbers::Int(values) => values.iter().flat_map(|n| n.to_le_bytes()).collect(),
        Numbers::Byte(values) => values.iter().flat_map(|n| n.to_le_bytes()).collect(),
    }
}

/// An object header of version 2 in one piece.
fn header(messages: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (ty, data) in messages {
        body.push(*ty as u8);
        body.extend((data.len() as u16).to_le_bytes());
        body.push(0);
        body.extend(data);
    }
    // Four bytes for the size.
    let mut header = b"OHDR\x02\x02".to_vec();
    header.extend((body.len() as u32).to_le_bytes());
    header.extend(body);
    header.extend(checksum(&header).to_le_bytes());
    header
}

fn aligned(place: usize) -> usize {
    place.next_multiple_of(8)
}

/// Adds bytes at the next aligned address.
fn place(out: &mut Vec<u8>, bytes: &[u8]) -> u64 {
    out.resize(aligned(out.len()), 0);
    let address = out.len() as u64;
    out.extend(bytes);
    address
}
