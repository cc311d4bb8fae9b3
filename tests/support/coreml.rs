//! Payloads of Core ML: messages of Protocol Buffers, and a file system around a model.

/// Returns a field with a length: its number, and its contents.
pub fn field(number: u32, contents: &[u8]) -> Vec<u8> {
    let mut out = varint(u64::from(number << 3 | 2));
    out.extend(varint(contents.len() as u64));
    out.extend(contents);
    out
}

/// Returns a number in groups of seven bits, the lowest first.
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// Returns a payload with an ML Program of one function, whose block has these fields.
pub fn program(block: &[u8]) -> Vec<u8> {
    package(&[function("main", &[], block)].concat(), r#"{"inputNames":[],"outputNames":[]}"#)
}

/// Returns a function of a program, with inputs and a block of these fields.
pub fn function(name: &str, inputs: &[Vec<u8>], block: &[u8]) -> Vec<u8> {
    let specialized = [field(1, b"CoreML7"), field(2, block)].concat();
    let inputs: Vec<u8> = inputs.iter().flat_map(|input| field(1, input)).collect();
    let function = [inputs, field(2, b"CoreML7"), field(3, &specialized)].concat();
    field(2, &[field(1, name.as_bytes()), field(2, &function)].concat())
}

/// Returns a payload with an ML Program of these functions, and with this metadata.
pub fn package(functions: &[u8], metadata: &str) -> Vec<u8> {
    let mut bytes = [vec![8, 8], field(502, functions)].concat();
    let (model, metadata) = (bytes.len(), metadata.as_bytes());
    bytes.extend(metadata);
    let node = |kind: u8, name: &str, children: &str, offset: usize, size: usize| {
        format!(
            r#"{{"name":"{name}","kind":{kind},"children":{{{children}}},"dataRegion":{{"offset":{offset},"size":{size}}}}}"#
        )
    };
    let nodes = [
        node(0, "model.mlmodel", "", 0, model),
        node(1, "com.apple.CoreML", r#""model.mlmodel":0"#, 0, 0),
        node(1, "Data", r#""com.apple.CoreML":1"#, 0, 0),
        node(1, "model.mlpackage", r#""Data":2"#, 0, 0),
        node(0, "metadata.json", "", model, metadata.len()),
        node(1, "", r#""model.mlpackage":3,"metadata.json":4"#, 0, 0),
    ];
    let contents = format!(r#"{{"nodes":[{}]}}"#, nodes.join(","));
    bytes.extend(contents.bytes().rev());
    bytes
}

/// Returns the message of a tensor of floats with one size, with its name.
pub fn named(name: &str, size: u8) -> Vec<u8> {
    [field(1, name.as_bytes()), field(2, &tensor(size))].concat()
}

pub fn tensor(size: u8) -> Vec<u8> {
    field(1, &[vec![8, 11], field(3, &field(1, &[8, size]))].concat())
}

/// Returns an operation that reads and writes values of these names.
pub fn operation(operator: &str, reads: &[&str], writes: &[(&str, u8)]) -> Vec<u8> {
    let bound = |name: &str| field(2, &field(1, &field(1, name.as_bytes())));
    let reads = reads.iter().flat_map(|name| field(2, &[field(1, b"x"), bound(name)].concat()));
    let writes = writes.iter().flat_map(|(name, size)| field(3, &named(name, *size)));
    [field(1, operator.as_bytes()), reads.collect(), writes.collect()].concat()
}

/// Returns an attribute of an operation, or the value of a constant: a float.
pub fn attribute(key: &str, value: f32) -> Vec<u8> {
    let elements = field(3, &field(1, &field(1, &field(1, &value.to_le_bytes()))));
    let scalar = field(2, &field(1, &[8, 11]));
    field(5, &[field(1, key.as_bytes()), field(2, &[scalar, elements].concat())].concat())
}
