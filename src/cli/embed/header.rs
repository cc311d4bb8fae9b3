//! The header of C, C++ and assembler source: sizes, methods, operators and backends as macros.

use pte::firmware::MethodRequirements;

use super::source::{Source, comment, literal};
use crate::text;

/// Returns the header. Identifiers are unique: behind that of a method comes one of the suffixes below, of which none
/// ends in another.
pub(super) fn text(source: &Source<'_>) -> String {
    let Source { symbol, prefix, alignment, needs, sha256, .. } = source;
    let [made, about] = source.about();
    let bytes = needs.bytes;
    let mut text = format!(
        "/* {made} */\n/* {about} */\n\n#ifndef {prefix}_H\n#define {prefix}_H\n\n\
         #define {prefix}_SIZE {}\n#define {prefix}_ALIGNMENT {alignment}u\n\
         #define {prefix}_SHA256 \"{sha256}\"\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         extern const unsigned char {symbol}[{bytes}];\n\
         #ifdef __cplusplus\n}}\n#endif\n\n",
        number(bytes),
    );
    let usage = &needs.usage.total;
    let count = |name: &str, count: usize| format!("#define {prefix}_{name} {count}u\n");
    text.push_str(&count("METHOD_COUNT", needs.methods.len()));
    text.push_str(&count("OPERATOR_COUNT", usage.operators.len()));
    text.push_str(&count("BACKEND_COUNT", usage.backends.len()));
    for method in &needs.methods {
        write_method(prefix, method, &mut text);
    }
    text.push_str("\n/* X(name) for each operator to register. */\n");
    let names = usage.operators.keys().map(|name| format!("X({})", literal(name.raw().as_bytes())));
    list(prefix, "OPERATORS", names, &mut text);
    text.push_str("\n/* X(name, dtype) for each kernel to register: the code of a dtype in executorch::aten::ScalarType. */\n");
    let kernels = usage.operators.iter().flat_map(|(name, operator)| {
        operator.dtypes.iter().map(|&dtype| {
            let (name, code) = (literal(name.raw().as_bytes()), dtype.0);
            format!("X({name}, {code} /* {} */)", text::dtype(dtype))
        })
    });
    list(prefix, "KERNELS", kernels, &mut text);
    text.push_str("\n/* X(id) for each backend to register. */\n");
    let backends = usage.backends.keys().map(|id| format!("X({})", literal(id.raw().as_bytes())));
    list(prefix, "BACKENDS", backends, &mut text);
    text.push_str("\n#endif\n");
    text
}

fn write_method(prefix: &str, method: &MethodRequirements, text: &mut String) {
    let (summary, id) = (&method.summary, format!("{prefix}_METHOD_{}", method.identifier));
    text.push_str(&format!("\n#define {id}_NAME {}\n", literal(method.name().as_bytes())));
    text.push_str(&format!("#define {id}_ARENA_COUNT {}u\n", method.arenas.len()));
    for arena in &method.arenas {
        text.push_str(&format!("#define {id}_ARENA_{}_BYTES {}\n", arena.id, number(arena.bytes)));
    }
    // For pointers of 32 bits.
    let pools = [("METHOD", method.method_allocator), ("TEMPORARY", method.temporary_allocator)];
    for (pool, bytes) in pools {
        text.push_str(&format!("#define {id}_{pool}_ALLOCATOR_BYTES {}\n", number(bytes)));
    }
    for (kind, count, values) in [
        ("INPUT", summary.input_count, &summary.inputs),
        ("OUTPUT", summary.output_count, &summary.outputs),
    ] {
        text.push_str(&format!("#define {id}_{kind}_COUNT {count}u\n"));
        for (nth, value) in values.iter().enumerate() {
            let shown = comment(&text::value(value));
            text.push_str(&match MethodRequirements::bytes_of(value) {
                Some(bytes) => {
                    format!("#define {id}_{kind}_{nth}_BYTES {} /* {shown} */\n", number(bytes))
                }
                None => format!("/* {id}_{kind}_{nth} is {shown}. */\n"),
            });
        }
    }
}

/// Writes a macro that applies the macro X to each item.
fn list(prefix: &str, name: &str, items: impl Iterator<Item = String>, text: &mut String) {
    text.push_str(&format!("#define {prefix}_{name}(X)"));
    for item in items {
        text.push_str(&format!(" \\\n    {item}"));
    }
    text.push('\n');
}

/// Returns an unsigned constant of a type that has room for it.
fn number(value: u64) -> String {
    let suffix = if u32::try_from(value).is_ok() { "u" } else { "ull" };
    format!("{value}{suffix}")
}
