//! Payloads of OpenVINO's CPU plugin: a header, custom data, constants, and a model.

/// Returns a payload with these constants and a model in XML.
pub fn payload(constants: &[u8], model: &str) -> Vec<u8> {
    let (text, custom) = (b"meta=1.0;ov=2026.4.1;isa=AVX", b"<cnndata></cnndata>");
    let mut bytes = b"RR_UPCVO\x01\0\0\0".to_vec();
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text);
    let mut start = 48u64;
    for len in [custom.len(), constants.len(), model.len()] {
        bytes.extend([start, len as u64].map(u64::to_le_bytes).concat());
        start += len as u64;
    }
    let model: Vec<u8> = model.bytes().zip(KEY.into_iter().cycle()).map(|(a, b)| a ^ b).collect();
    bytes.extend([&custom[..], constants, &model].concat());
    bytes
}

/// Returns a model with these inputs and outputs, each a type and a shape.
pub fn model(inputs: &[(&str, &str)], outputs: &[(&str, &[i64])]) -> String {
    let mut layers = String::new();
    for (element, shape) in inputs {
        layers += &format!(
            r#"<layer type="Parameter"><data element_type="{element}" shape="{shape}"/></layer>"#
        );
    }
    for (element, dims) in outputs {
        let dims: String = dims.iter().map(|dim| format!("<dim>{dim}</dim>")).collect();
        layers += &format!(
            r#"<layer type="Result"><input><port precision="{element}">{dims}</port></input></layer>"#
        );
    }
    format!(r#"<?xml version="1.0"?><net><layers>{layers}</layers><edges/></net>"#)
}

const KEY: [u8; 12] = [0x30, 0x60, 0x70, 0x02, 0x04, 0x08, 0x3f, 0x6f, 0x72, 0x74, 0x78, 0x7f];
