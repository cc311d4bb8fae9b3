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
    let specialized = [field(1, b"CoreML7"), field(2, block)].concat();
    let function = [field(2, b"CoreML7"), field(3, &specialized)].concat();
    let named = [field(1, b"main"), field(2, &function)].concat();
    let mut bytes = [vec![8, 8], field(502, &field(2, &named))].concat();
    let (model, metadata) = (bytes.len(), br#"{"inputNames":[],"outputNames":[]}"#);
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
