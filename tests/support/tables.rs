//! Builds hostile files whose parts are shared, which no writer makes.

use std::collections::BTreeMap;

use pte::Ptd;
use pte::Pte;
use pte::file::header::{ExtendedHeader, FlatTensorHeader};
use pte::flat::desc::{Kind, Schema, TableDesc};
use pte::schema::{
    flat_tensor, flat_tensor_legacy, mlx, native, program, qnn, tosa, vgf, vulkan, xnnpack,
};

/// The place of a written table, vector or string, as an offset from the end of the FlatBuffer.
/// Tables and vectors that are written later may refer to it any number of times.
pub type At = u32;

/// The contents of a field.
#[derive(Clone, Copy)]
pub enum Field {
    To(At),
    Number(i64),
    /// The tag of a union, and its table.
    One(u8, At),
}

/// Writes a FlatBuffer from its end to its beginning.
pub struct Builder {
    schema: &'static Schema,
    pub version: Version,
    /// The bytes so far, in reverse order.
    out: Vec<u8>,
    /// The elements of vectors that are the same table as the element before.
    repeated: usize,
    vtables: BTreeMap<Vec<u8>, At>,
}

/// One of two versions of the same file, which differ in every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    First,
    Second,
}

impl Version {
    fn of(self, schema: &'static Schema) -> Builder {
        Builder { schema, version: self, out: Vec::new(), repeated: 0, vtables: BTreeMap::new() }
    }

    pub fn pte(self) -> Builder {
        self.of(&program::desc::SCHEMA)
    }

    pub fn ptd(self) -> Builder {
        self.of(&flat_tensor::desc::SCHEMA)
    }

    pub fn legacy_ptd(self) -> Builder {
        self.of(&flat_tensor_legacy::desc::SCHEMA)
    }

    pub fn graph(self) -> Builder {
        self.of(&xnnpack::desc::SCHEMA)
    }

    pub fn mlx(self) -> Builder {
        self.of(&mlx::desc::SCHEMA)
    }

    pub fn vulkan(self) -> Builder {
        self.of(&vulkan::desc::SCHEMA)
    }

    pub fn native(self) -> Builder {
        self.of(&native::desc::SCHEMA)
    }

    pub fn tosa(self) -> Builder {
        self.of(&tosa::desc::SCHEMA)
    }

    pub fn vgf(self) -> Builder {
        self.of(&vgf::desc::SCHEMA)
    }

    pub fn qnn(self) -> Builder {
        self.of(&qnn::desc::SCHEMA)
    }
}

impl Builder {
    fn desc(&self, table: &str) -> &'static TableDesc {
        self.schema.tables.iter().find(|desc| desc.name == table).unwrap()
    }

    fn write(&mut self, bytes: &[u8]) -> At {
        self.out.extend(bytes.iter().rev());
        self.out.len() as At
    }

    /// Adds zeros until the length after `more` further bytes is a multiple of `align`.
    fn align(&mut self, align: usize, more: usize) {
        while !(self.out.len() + more).is_multiple_of(align) {
            self.out.push(0);
        }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> At {
        self.align(4, bytes.len());
        self.write(bytes);
        self.write(&(bytes.len() as u32).to_le_bytes())
    }

    /// Returns a text. Its first character is another one in the second version of a file.
    pub fn text(&mut self, text: &str) -> At {
        let mut text = String::from(text);
        if self.version == Version::Second {
            text.replace_range(..text.chars().next().map_or(0, char::len_utf8), "~");
        }
        self.align(4, text.len() + 1);
        self.write(&[0]);
        self.write(text.as_bytes());
        self.write(&(text.len() as u32).to_le_bytes())
    }

    /// Returns a vector of i32.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = usize>) -> At {
        let numbers: Vec<_> = numbers.into_iter().collect();
        let bytes: Vec<_> = numbers.iter().flat_map(|n| (*n as u32).to_le_bytes()).collect();
        self.align(4, 0);
        self.write(&bytes);
        self.write(&(numbers.len() as u32).to_le_bytes())
    }

    /// Returns a vector of i64 or u64.
    pub fn longs(&mut self, numbers: impl IntoIterator<Item = usize>) -> At {
        let numbers: Vec<_> = numbers.into_iter().collect();
        let bytes: Vec<_> = numbers.iter().flat_map(|n| (*n as u64).to_le_bytes()).collect();
        self.align(8, 0);
        self.write(&bytes);
        self.write(&(numbers.len() as u32).to_le_bytes())
    }

    /// Returns a vector of tables. A table may be in it several times.
    pub fn tables(&mut self, tables: impl IntoIterator<Item = At>) -> At {
        let tables: Vec<_> = tables.into_iter().collect();
        self.repeated += tables.windows(2).filter(|pair| pair[0] == pair[1]).count();
        self.align(4, 0);
        for &table in tables.iter().rev() {
            let here = self.out.len() as At + 4;
            self.write(&(here - table).to_le_bytes());
        }
        self.write(&(tables.len() as u32).to_le_bytes())
    }

    /// Returns what `make` makes for each number.
    pub fn each(
        &mut self,
        numbers: impl IntoIterator<Item = usize>,
        mut make: impl FnMut(&mut Self, usize) -> At,
    ) -> Vec<At> {
        numbers.into_iter().map(|nth| make(self, nth)).collect()
    }

    pub fn table(&mut self, name: &str, fields: &[(&str, Field)]) -> At {
        let (mut parts, desc) = (Vec::new(), self.desc(name));
        for &(field, given) in fields {
            let field = desc.field(field).unwrap_or_else(|| panic!("no {field} in {name}"));
            match (given, field.kind) {
                (Field::Number(n), Kind::Scalar(scalar)) => {
                    parts.push((scalar.prim.size(), field.slot, Field::Number(n)));
                }
                (Field::One(tag, at), Kind::Union(_)) => {
                    parts.push((1, field.slot, Field::Number(tag.into())));
                    parts.push((4, field.slot + 1, Field::To(at)));
                }
                (Field::To(at), _) => parts.push((4, field.slot, Field::To(at))),
                _ => panic!("{}", field.name),
            }
        }
        parts.sort_by_key(|&(size, slot, _)| (core::cmp::Reverse(size), slot));
        let slots = parts.iter().map(|part| part.1 + 1).max().unwrap_or(0);
        let mut words = vec![0u16; usize::from(slots) + 2];
        let mut size = 4;
        for part in &parts {
            words[usize::from(part.1) + 2] = size;
            size += part.0;
        }
        (words[0], words[1]) = (slots * 2 + 4, size);
        let vtable = self.vtable(&words);
        // The largest field comes directly after the offset to the vtable.
        let largest = parts.first().map_or(4, |part| part.0).max(4);
        self.align(largest.into(), (size - 4).into());
        for &(size, _, field) in parts.iter().rev() {
            let bytes = match field {
                Field::Number(n) => n.to_le_bytes(),
                Field::To(at) => {
                    let here = self.out.len() as At + 4;
                    i64::from(here - at).to_le_bytes()
                }
                Field::One(..) => panic!("a union is two parts"),
            };
            self.write(&bytes[..usize::from(size)]);
        }
        let here = self.out.len() as At + 4;
        self.write(&(i64::from(vtable) - i64::from(here)).to_le_bytes()[..4])
    }

    /// Returns a table whose fields are lists and tables.
    pub fn lists(&mut self, name: &str, lists: &[(&str, At)]) -> At {
        let fields: Vec<_> = lists.iter().map(|&(field, at)| (field, Field::To(at))).collect();
        self.table(name, &fields)
    }

    /// Returns a table of the type `name` whose union holds `member`.
    pub fn held(&mut self, name: &str, member: &str, fields: &[(&str, Field)]) -> At {
        let desc = self.desc(name);
        let (slot, union) = desc.union.unwrap();
        let mut members = (1..).zip(union.members);
        let (tag, member) = members.find(|(_, known)| known.name == member).unwrap();
        let held = self.table(member.table.name, fields);
        let field = desc.fields.iter().find(|field| field.slot == slot).unwrap();
        self.table(name, &[(field.name, Field::One(tag, held))])
    }

    fn vtable(&mut self, words: &[u16]) -> At {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Some(&at) = self.vtables.get(&bytes) {
            return at;
        }
        self.align(4, bytes.len());
        let at = self.write(&bytes);
        self.vtables.insert(bytes, at);
        at
    }

    /// Writes a table that has its own vtable with an unknown field.
    pub fn with_own_vtable(&mut self, name: &str) -> At {
        let slots = self.desc(name).slots() + 1;
        let mut words = vec![0u16; usize::from(slots) + 2];
        (words[0], words[1], words[usize::from(slots) + 1]) = (slots * 2 + 4, 8, 4);
        self.vtables.clear();
        let vtable = self.vtable(&words);
        self.align(4, 4);
        self.write(&[0; 4]);
        let here = self.out.len() as At + 4;
        self.write(&(i64::from(vtable) - i64::from(here)).to_le_bytes()[..4])
    }

    /// Returns the FlatBuffer alone, such as a payload without a header. Unused bytes are added, since
    /// a list may have a table for each 16 bytes.
    pub fn alone(&self, root: At) -> Vec<u8> {
        let end = (self.out.len() + 8 + 12 * self.repeated).next_multiple_of(16);
        let mut buffer = (end as u32 - root).to_le_bytes().to_vec();
        buffer.extend(self.schema.identifier);
        buffer.resize(end - self.out.len(), 0);
        buffer.extend(self.out.iter().rev());
        buffer
    }

    /// Returns the file, with `data` after the FlatBuffer. Unused bytes are added until the work
    /// budget allows all visits of shared parts.
    pub fn finish(&self, root: At, data: &[u8]) -> Vec<u8> {
        let mut idle = 0;
        loop {
            let file = self.file(root, data, idle);
            let read = match self.schema.extension {
                "pte" => Pte::read(&file).err(),
                _ => Ptd::read(&file).err(),
            };
            match read {
                Some(error) if error.code() == "work-limit" => {
                    idle += ((self.out.len() + idle) / 4).max(64);
                }
                Some(error) => panic!("{error}"),
                None => return file,
            }
        }
    }

    fn file(&self, root: At, data: &[u8], idle: usize) -> Vec<u8> {
        let chunk: u32 = if self.schema.extension == "pte" { 32 } else { 48 };
        let front = chunk + 8;
        let end = (self.out.len() + idle + front as usize).next_multiple_of(16);
        let (program_size, segment_data_size) = (end as u64, data.len() as u64);
        let segment_base_offset = program_size;
        let header = match chunk {
            32 => {
                ExtendedHeader { length: 32, program_size, segment_base_offset, segment_data_size }
                    .to_bytes()
            }
            _ => FlatTensorHeader {
                length: 40,
                flatbuffer_offset: chunk.into(),
                flatbuffer_size: program_size - u64::from(chunk),
                segment_base_offset,
                segment_data_size,
            }
            .to_bytes(),
        };
        let mut file = (end as u32 - root).to_le_bytes().to_vec();
        file.extend(self.schema.identifier);
        file.extend(header);
        file.resize(end - self.out.len(), 0);
        file.extend(self.out.iter().rev());
        file.extend_from_slice(data);
        file
    }
}

/// Returns a count as the number in a field.
pub fn number(count: usize) -> Field {
    Field::Number(count as i64)
}
