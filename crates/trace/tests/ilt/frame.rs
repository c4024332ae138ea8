//! Files taken apart and put together by the document, not by the code that is tested.

pub(crate) const FILE_HEADER: usize = 20;
pub(crate) const CHUNK_HEADER: usize = 20;

pub(crate) struct Chunk<'a> {
    pub(crate) kind: u8,
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// As stored.
    pub(crate) payload: &'a [u8],
}

impl Chunk<'_> {
    /// How many events an uncompressed chunk holds.
    pub(crate) fn event_count(&self) -> usize {
        if self.kind == b'E' { u32::from_le_bytes(self.payload[8..12].try_into().unwrap()) as usize } else { 0 }
    }
}

/// Takes a file apart by the document, not by the reader.
pub(crate) fn chunks(file: &[u8]) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut begin = FILE_HEADER;
    while begin < file.len() {
        let stored = u32::from_le_bytes(file[begin + 4..begin + 8].try_into().unwrap()) as usize;
        let payload = begin + CHUNK_HEADER;
        let end = payload + stored;
        chunks.push(Chunk { kind: file[begin], begin, end, payload: &file[payload..end] });
        begin = end;
    }
    chunks
}

/// A chunk, not compressed.
pub(crate) fn framed(kind: u8, flags: u16, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    let mut chunk = vec![kind, 0];
    chunk.extend(flags.to_le_bytes());
    chunk.extend(length);
    chunk.extend(length);
    chunk.extend(crc32fast::hash(payload).to_le_bytes());
    chunk.extend(crc32fast::hash(&chunk).to_le_bytes());
    chunk.extend_from_slice(payload);
    chunk
}

pub(crate) fn file_header(major: u16, minor: u16, flags: u32) -> Vec<u8> {
    let mut header = b"\x89ILT\r\n\x1a\n".to_vec();
    header.extend(major.to_le_bytes());
    header.extend(minor.to_le_bytes());
    header.extend(flags.to_le_bytes());
    header.extend(crc32fast::hash(&header).to_le_bytes());
    header
}
