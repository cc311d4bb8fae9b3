//! The schema of the native backend's graphs: `backends/native/serialization/native_graph.fbs`.
//!
//! It is recursive: an argument of a higher-order operator may be a graph. Values are referred to
//! by name, not by index.

use pte_flat::schema;

schema! {
    root Program b"NPTG" "ptg" "native_backend";

    enums:

    /// The datatypes of tensors. They differ from those of programs.
    enum ScalarType: i8 {
        BYTE = 0,
        CHAR = 1,
        SHORT = 2,
        INT = 3,
        LONG = 4,
        HALF = 5,
        FLOAT = 6,
        DOUBLE = 7,
        BOOL = 11,
        BFLOAT16 = 15,
        UINT16 = 16,
        UINT32 = 17,
        UINT64 = 18,
    }

    /// The kinds of nodes.
    enum OpKind: i8 {
        CALL_FUNCTION = 0,
        PLACEHOLDER = 1,
        OUTPUT = 2,
    }

    /// The kinds of inputs of a graph.
    enum InputKind: i8 {
        USER_INPUT = 0,
        PARAMETER = 1,
        BUFFER = 2,
        CONSTANT_TENSOR = 3,
    }

    /// The kinds of outputs of a graph.
    enum OutputKind: i8 {
        USER_OUTPUT = 0,
        BUFFER_MUTATION = 1,
        USER_INPUT_MUTATION = 2,
    }

    /// The kinds of values that a node makes.
    enum OutputValueKind: i8 {
        TENSOR = 0,
        TENSOR_LIST = 1,
        INT = 2,
        BOOL = 3,
        FLOAT = 4,
    }

    unions:

    /// How a tensor is quantized.
    union QuantScheme {
        1 AffineGroup,
        2 PackedQuant,
    }

    /// The kinds of arguments.
    union ArgumentValue {
        1 TensorArg,
        2 NoneArg,
        3 IntArg,
        4 FloatArg,
        5 BoolArg,
        6 StringArg,
        7 ScalarTypeArg,
        8 IntListArg,
        9 FloatListArg,
        10 BoolListArg,
        11 TensorListArg,
        12 OptionalTensorListArg,
        13 GraphArg,
    }

    tables:

    /// Quantization by groups along the last dimension: scale * ((data + quant_min) - zero_point).
    table AffineGroup {
        0 scale_data_key: &str (required),
        1 scale_dtype: ScalarType = ScalarType::BYTE,
        /// The smallest quantized value: data is stored relative to it.
        2 quant_min: i32 = 0,
        3 quant_max: i32 = 0,
        /// The elements of a group; 0 for the whole dimension.
        4 group_size: i32 = 0,
        /// Absent or empty for symmetric quantization.
        5 zero_point_data_key: &str,
        6 zero_point_dtype: ScalarType = ScalarType::BYTE,
    }

    /// A packed layout that a codec defines.
    table PackedQuant {
        0 codec: &str (required),
    }

    /// The quantization of a tensor.
    table QuantSpec {
        0 scheme: @QuantScheme,
    }

    /// The range of a dimension.
    table Dim {
        0 min: i64 = 0,
        /// Equal to `min` for a static dimension; negative for no bound.
        1 max: i64 = -1,
    }

    /// The datatype and the shape of a tensor.
    table TensorMeta {
        0 dtype: ScalarType = ScalarType::BYTE,
        1 sizes: [&Dim],
        /// The dimensions from the outermost to the innermost; absent or empty for the order of the shape.
        2 dim_order: [i32],
        /// Absent for a tensor that is not quantized.
        3 quant: &QuantSpec,
    }

    /// A value that is a tensor.
    table TensorValue {
        0 name: &str (required),
        1 meta: &TensorMeta (required),
    }

    /// A tensor, by the name of its value.
    table TensorArg {
        0 name: &str (required),
    }

    table NoneArg {}

    table IntArg {
        0 value: i64 = 0,
        /// The name of the value that has the number; it replaces `value`.
        1 r#ref: &str,
    }

    table FloatArg {
        0 value: f64 = 0.0,
        /// The name of the value that has the number; it replaces `value`.
        1 r#ref: &str,
    }

    table BoolArg {
        0 value: bool = false,
        /// The name of the value that has the bool; it replaces `value`.
        1 r#ref: &str,
    }

    table StringArg {
        0 value: &str (required),
    }

    table ScalarTypeArg {
        0 value: ScalarType = ScalarType::BYTE,
    }

    table IntListArg {
        0 values: [i64] (required),
        /// The names of the values that have the numbers; an empty name for a number of `values`.
        1 refs: [&str],
    }

    table FloatListArg {
        0 values: [f64] (required),
    }

    table BoolListArg {
        0 values: [bool] (required),
    }

    table TensorListArg {
        0 names: [&str] (required),
    }

    /// A list of tensors, some of which may be absent.
    table OptionalTensorListArg {
        0 names: [&str] (required),
        /// Whether each tensor is present.
        1 has_value: [bool] (required),
    }

    /// A graph that a higher-order operator calls.
    table GraphArg {
        /// For debugging alone.
        0 name: &str (required),
        /// The graph. Its names are separate from those of the outer graph.
        1 graph: ^Graph (required),
    }

    table Argument {
        0 value: @ArgumentValue,
    }

    /// An argument with the name of its parameter.
    table NamedArgument {
        0 name: &str,
        1 arg: &Argument (required),
        /// Whether the node writes to it.
        2 mutated: bool = false,
    }

    /// An entry of the metadata.
    table KeyValue {
        0 key: &str (required),
        1 value: &str (required),
    }

    /// A value that a node makes.
    table Output {
        0 name: &str (required),
        /// The input whose memory it shares; absent or empty for none.
        1 alias_of: &str,
        2 kind: OutputValueKind = OutputValueKind::TENSOR,
        /// The values of a list of tensors.
        3 names: [&str],
    }

    table Node {
        0 name: &str (required),
        1 op_kind: OpKind = OpKind::CALL_FUNCTION,
        /// The operator, such as `torch.ops.aten.add.Tensor`.
        2 target: &str,
        3 inputs: [&NamedArgument],
        4 outputs: [&Output],
        5 metadata: [&KeyValue],
    }

    /// The data of an input of a method.
    table NamedTensorRef {
        0 name: &str (required),
        /// The key of the named data, or of the tensor in `program.safetensors`.
        1 data_key: &str (required),
        2 meta: &TensorMeta (required),
        3 kind: InputKind = InputKind::USER_INPUT,
        /// Whether the graph writes to it.
        4 mutated: bool = false,
    }

    /// The meaning of an output of a method.
    table OutputSpec {
        0 name: &str (required),
        1 kind: OutputKind = OutputKind::USER_OUTPUT,
        /// The buffer or the input that the output is written to.
        2 target: &str,
    }

    /// A buffer without data: it begins as zeros.
    table MutableBufferSpec {
        0 name: &str (required),
        /// The name under which methods share the buffer.
        1 fqn: &str (required),
    }

    /// A graph. Its names are local: nested graphs do not see them.
    table Graph {
        /// The nodes, in the order in which they run.
        0 nodes: [&Node] (required),
        1 inputs: [&str],
        2 outputs: [&str],
        /// The tensors by the names of values.
        3 tensor_values: [&TensorValue],
    }

    table Method {
        0 name: &str (required),
        1 graph: &Graph (required),
        2 constants: [&NamedTensorRef],
        3 output_specs: [&OutputSpec],
        4 mutable_buffers: [&MutableBufferSpec],
    }

    /// The root table of a payload, and of `program.ptg` in a package.
    table Program {
        0 version: &str,
        1 methods: [&Method] (required),
    }
}
