//! The schema of MLX's graphs: `backends/mlx/serialization/schema.fbs`.
//!
//! Its FlatBuffers have no identifier: the header of the payload is known by one.

use pte_flat::schema;

schema! {
    views;
    root MLXGraph b"\0\0\0\0" "mlx" "mlx_delegate";

    enums:

    /// The kinds of slots.
    enum SlotType: i8 {
        TensorSlot = 0,
        IntValueSlot = 1,
        FloatValueSlot = 2,
        BoolValueSlot = 3,
    }

    structs:

    /// The index of a tensor.
    struct Tid { idx: u32 }

    /// The index of a value.
    struct Vid { idx: u32 }

    unions:

    /// The instructions.
    union OpNode {
        1 NoopNode,
        2 IdCopyNode,
        3 AddmmNode,
        4 ItemIntNode,
        5 ExpandDimsNode,
        6 TileNode,
        7 TakeAlongAxisNode,
        8 TakeNode,
        9 RMSNormNode,
        10 LayerNormNode,
        11 RopeNode,
        12 SdpaNode,
        13 AddNode,
        14 AddIntNode,
        15 SubtractIntNode,
        16 MultiplyIntNode,
        17 FloorDivideIntNode,
        18 SymSizeNode,
        19 MultiplyNode,
        20 DivideNode,
        21 SubtractNode,
        22 Conv1DNode,
        23 Conv2DNode,
        24 Conv3DNode,
        25 GeluNode,
        26 ARangeNode,
        27 SiluNode,
        28 SigmoidNode,
        29 TanhNode,
        30 SqueezeNode,
        31 SplitNode,
        32 RsqrtNode,
        33 MaximumNode,
        34 MinimumNode,
        35 LogNode,
        36 SoftmaxNode,
        37 BroadcastToNode,
        38 PadNode,
        39 WhereNode,
        40 ReshapeNode,
        41 TransposeNode,
        42 AsStridedNode,
        43 ContiguousNode,
        44 GatherNode,
        45 SliceNode,
        46 AsTypeNode,
        47 ConcatenateNode,
        48 FullNode,
        49 FullLikeNode,
        50 ArgmaxNode,
        51 SliceUpdateNode,
        52 IndexCopyNode,
        53 DequantizeNode,
        54 LessNode,
        55 LessEqualNode,
        56 GreaterNode,
        57 GreaterEqualNode,
        58 EqualNode,
        59 NotEqualNode,
        60 LogicalNotNode,
        61 LogicalAndNode,
        62 LogicalOrNode,
        63 TriNode,
        64 TrilNode,
        65 TriuNode,
        66 FloorNode,
        67 CeilNode,
        68 SquareNode,
        69 ExpNode,
        70 SinNode,
        71 CosNode,
        72 TanNode,
        73 ArcsinNode,
        74 ArccosNode,
        75 ArctanNode,
        76 SinhNode,
        77 CoshNode,
        78 ArcsinhNode,
        79 ArccoshNode,
        80 ArctanhNode,
        81 Log2Node,
        82 Log10Node,
        83 Log1pNode,
        84 ErfNode,
        85 Expm1Node,
        86 RoundNode,
        87 ReciprocalNode,
        88 SqrtNode,
        89 AbsNode,
        90 NegNode,
        91 Atan2Node,
        92 LogAddExpNode,
        93 FloorDivideNode,
        94 PowerNode,
        95 LogSumExpNode,
        96 SumNode,
        97 MeanNode,
        98 VarNode,
        99 StdNode,
        100 ProdNode,
        101 MaxNode,
        102 MinNode,
        103 ArgminNode,
        104 MedianNode,
        105 ModIntNode,
        106 RemainderNode,
        107 ConvTranspose1DNode,
        108 ConvTranspose2DNode,
        109 ConvTranspose3DNode,
        110 ClipNode,
        111 CumsumNode,
        112 StackNode,
        113 SignNode,
        114 AnyNode,
        115 AllNode,
        116 RepeatNode,
        117 SortNode,
        118 ArgsortNode,
        119 PartitionNode,
        120 ArgPartitionNode,
        121 QuantizedMatmulNode,
        122 ScatterAddNode,
        123 GatherMmNode,
        124 GatherQmmNode,
        125 ScanNode,
        126 MetalKernelNode,
        127 BitwiseInvertNode,
        128 RollNode,
        129 BitwiseAndNode,
        130 BitwiseOrNode,
        131 BitwiseXorNode,
        132 IfNode,
        133 RandomBitsNode,
        134 UpdateAndAttendNode,
        135 TruncNode,
        136 FlipNode,
    }

    tables:

    /// An integer literal, or the id of the value that holds the integer.
    table IntOrVid {
        0 literal: i64 = 0,
        1 vid: ?Vid,
        2 is_vid: bool = false,
    }

    /// A floating-point number, or the value that has it.
    table FloatOrVid {
        0 literal: f64 = 0.0,
        1 vid: ?Vid,
        2 is_vid: bool = false,
    }

    /// A value or a tensor.
    table VidOrTid {
        0 vid: ?Vid,
        1 tid: ?Tid,
        2 is_vid: bool = false,
    }

    /// An integer, or the value or tensor that has it.
    table IntOrVidOrTid {
        0 literal: i64 = 0,
        1 vid: ?Vid,
        2 tid: ?Tid,
        /// 0 for the literal, 1 for the value, 2 for the tensor.
        3 kind: u8 = 0,
    }

    /// No instruction.
    table NoopNode {}

    table IdCopyNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
    } also SiluNode, SigmoidNode, TanhNode, RsqrtNode, LogNode, ContiguousNode, LogicalNotNode,
        BitwiseInvertNode, SignNode, FloorNode, CeilNode, SquareNode, ExpNode, SinNode, CosNode,
        TanNode, ArcsinNode, ArccosNode, ArctanNode, SinhNode, CoshNode, ArcsinhNode, ArccoshNode,
        ArctanhNode, Log2Node, Log10Node, Log1pNode, ErfNode, Expm1Node, ReciprocalNode, SqrtNode,
        AbsNode, NegNode, TruncNode;

    table AddmmNode {
        0 mat1: ?Tid (required),
        1 mat2: ?Tid (required),
        2 out: ?Tid (required),
        3 bias: ?Tid,
        4 alpha: f32 = 1.0,
        5 beta: f32 = 1.0,
    }

    table ItemIntNode {
        0 x: ?Tid (required),
        1 out: ?Vid (required),
    }

    table ExpandDimsNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axis: i32 = 0,
    } also SortNode, ArgsortNode;

    table TileNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 reps: [&IntOrVid] (required),
    }

    table TakeAlongAxisNode {
        0 x: ?Tid (required),
        1 indices: ?Tid (required),
        2 out: ?Tid (required),
        3 axis: i32 = 0,
    }

    table TakeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 index: &IntOrVidOrTid (required),
        3 axis: i32 = 0,
    }

    table RMSNormNode {
        0 x: ?Tid (required),
        1 weight: ?Tid,
        2 out: ?Tid (required),
        3 eps: f32 = 0.0,
    }

    table LayerNormNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 weight: ?Tid,
        3 bias: ?Tid,
        4 eps: f32 = 0.0,
    }

    table RopeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 dims: i32 = 0,
        3 offset: &VidOrTid (required),
        4 freqs: ?Tid,
        5 traditional: bool = false,
        6 base: f32 = 500_000.0,
        7 scale: f32 = 1.0,
    }

    table SdpaNode {
        0 q: ?Tid (required),
        1 k: ?Tid (required),
        2 v: ?Tid (required),
        3 out: ?Tid (required),
        4 scale: f32 = 0.0,
        5 mask: ?Tid,
        6 causal: bool = false,
    }

    table UpdateAndAttendNode {
        0 q: ?Tid (required),
        1 k: ?Tid (required),
        2 v: ?Tid (required),
        3 position: ?Tid (required),
        4 out: ?Tid (required),
        /// Must be present.
        5 layer_id: ?i32,
        6 scale: ?f32,
        7 out_dtype: ?i8,
    }

    table AddNode {
        0 a: ?Tid (required),
        1 b: ?Tid (required),
        2 out: ?Tid (required),
    } also MultiplyNode, DivideNode, SubtractNode, MaximumNode, MinimumNode, LessNode,
        LessEqualNode, GreaterNode, GreaterEqualNode, EqualNode, NotEqualNode, LogicalAndNode,
        LogicalOrNode, BitwiseAndNode, BitwiseOrNode, BitwiseXorNode, Atan2Node, LogAddExpNode,
        FloorDivideNode, RemainderNode, PowerNode;

    table AddIntNode {
        0 a: &IntOrVid (required),
        1 b: &IntOrVid (required),
        2 out: ?Vid (required),
    } also SubtractIntNode, MultiplyIntNode, FloorDivideIntNode, ModIntNode;

    table SymSizeNode {
        0 a: ?Tid (required),
        1 dim: i32 = 0,
        2 out: ?Vid (required),
    }

    table Conv1DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride: i32 = 1,
        4 padding: i32 = 0,
        5 dilation: i32 = 1,
        6 groups: i32 = 1,
    }

    table Conv2DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride_h: i32 = 1,
        4 stride_w: i32 = 1,
        5 padding_h: i32 = 0,
        6 padding_w: i32 = 0,
        7 dilation_h: i32 = 1,
        8 dilation_w: i32 = 1,
        9 groups: i32 = 1,
    }

    table Conv3DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride_d: i32 = 1,
        4 stride_h: i32 = 1,
        5 stride_w: i32 = 1,
        6 padding_d: i32 = 0,
        7 padding_h: i32 = 0,
        8 padding_w: i32 = 0,
        9 dilation_d: i32 = 1,
        10 dilation_h: i32 = 1,
        11 dilation_w: i32 = 1,
        12 groups: i32 = 1,
    }

    table ConvTranspose1DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride: i32 = 1,
        4 padding: i32 = 0,
        5 dilation: i32 = 1,
        6 output_padding: i32 = 0,
        7 groups: i32 = 1,
    }

    table ConvTranspose2DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride_h: i32 = 1,
        4 stride_w: i32 = 1,
        5 padding_h: i32 = 0,
        6 padding_w: i32 = 0,
        7 dilation_h: i32 = 1,
        8 dilation_w: i32 = 1,
        9 output_padding_h: i32 = 0,
        10 output_padding_w: i32 = 0,
        11 groups: i32 = 1,
    }

    table ConvTranspose3DNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 out: ?Tid (required),
        3 stride_d: i32 = 1,
        4 stride_h: i32 = 1,
        5 stride_w: i32 = 1,
        6 padding_d: i32 = 0,
        7 padding_h: i32 = 0,
        8 padding_w: i32 = 0,
        9 dilation_d: i32 = 1,
        10 dilation_h: i32 = 1,
        11 dilation_w: i32 = 1,
        12 output_padding_d: i32 = 0,
        13 output_padding_h: i32 = 0,
        14 output_padding_w: i32 = 0,
        15 groups: i32 = 1,
    }

    table GeluNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 approximate: &str (required),
    }

    table ARangeNode {
        0 out: ?Tid (required),
        1 start: &IntOrVid (required),
        2 stop: &IntOrVid (required),
        3 step: &IntOrVid (required),
        4 scalar_type: ?i8,
    }

    table SqueezeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 dims: [i32],
    }

    table SplitNode {
        0 x: ?Tid (required),
        1 outs: [Tid] (required),
        2 sizes: [&IntOrVid] (required),
        3 axis: i32 = 0,
    }

    table SoftmaxNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axis: i32 = 0,
        3 precise: bool = false,
    }

    table BroadcastToNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 shape: [&IntOrVid] (required),
    } also ReshapeNode;

    table PadNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 pad_width: [&IntOrVid] (required),
        3 mode: &str (required),
        4 constant_value: f32 = 0.0,
    }

    table WhereNode {
        0 condition: ?Tid (required),
        1 x: ?Tid (required),
        2 y: ?Tid (required),
        3 out: ?Tid (required),
    }

    table TransposeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 perm: [i32] (required),
    }

    table AsStridedNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 shape: [&IntOrVid] (required),
        3 strides: [&IntOrVid] (required),
        4 offset: u64 = 0,
    }

    table GatherNode {
        0 x: ?Tid (required),
        1 indices: [Tid] (required),
        2 out: ?Tid (required),
        3 axes: [i32] (required),
        4 slice_sizes: [i32] (required),
    }

    table SliceNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axis: &IntOrVid (required),
        3 start: &IntOrVid (required),
        4 stop: &IntOrVid (required),
        5 step: i32 = 1,
    }

    table AsTypeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 scalar_type: i8 = 0,
    }

    table QuantizedMatmulNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 scales: ?Tid (required),
        3 out: ?Tid (required),
        4 biases: ?Tid,
        5 group_size: i32 = 0,
        6 bits: i32 = 0,
        7 mode: &str (required),
        8 transpose: bool = true,
    }

    table ScatterAddNode {
        0 x: ?Tid (required),
        1 indices: ?Tid (required),
        2 updates: ?Tid (required),
        3 out: ?Tid (required),
        4 axis: i32 = 0,
    }

    table ConcatenateNode {
        0 tensors: [Tid] (required),
        1 out: ?Tid (required),
        2 axis: i32 = 0,
    } also StackNode;

    table FullNode {
        0 out: ?Tid (required),
        1 shape: [&IntOrVid] (required),
        2 v: &FloatOrVid (required),
        3 scalar_type: i8 = 0,
    }

    table FullLikeNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 v: &FloatOrVid (required),
        3 scalar_type: ?i8,
    }

    table ArgmaxNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axis: i32 = 0,
        3 keepdims: bool = false,
    } also ArgminNode;

    table SliceUpdateNode {
        0 dst: ?Tid (required),
        1 update: ?Tid (required),
        2 out: ?Tid (required),
        3 axis: &IntOrVid (required),
        4 start: &IntOrVid (required),
        5 stop: &IntOrVid (required),
        6 step: i32 = 1,
    }

    table IndexCopyNode {
        0 dst: ?Tid (required),
        1 update: ?Tid (required),
        2 indices: ?Tid (required),
        3 out: ?Tid (required),
        4 axis: i32 = 0,
    }

    table DequantizeNode {
        0 w: ?Tid (required),
        1 scales: ?Tid (required),
        2 out: ?Tid (required),
        3 biases: ?Tid,
        4 group_size: i32 = 0,
        5 bits: i32 = 0,
        6 mode: &str (required),
        7 global_scale: ?Tid,
        8 dtype: ?i8,
    }

    table TriNode {
        0 out: ?Tid (required),
        1 n: &IntOrVid (required),
        2 m: &IntOrVid (required),
        3 k: i32 = 0,
        4 scalar_type: i8 = 0,
    }

    table TrilNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 k: i32 = 0,
    } also TriuNode;

    table ClipNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 a_min: ?Tid,
        3 a_max: ?Tid,
    }

    table CumsumNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axis: i32 = 0,
        3 reverse: bool = false,
        4 inclusive: bool = true,
    }

    table AnyNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axes: [i32],
        3 keepdims: bool = false,
    } also AllNode, LogSumExpNode, SumNode, MeanNode, ProdNode, MaxNode, MinNode, MedianNode;

    table RepeatNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 repeats: &IntOrVid (required),
        3 axis: i32 = 0,
    }

    table PartitionNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 kth: &IntOrVid (required),
        3 axis: i32 = 0,
    } also ArgPartitionNode;

    table RollNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 shift: [&IntOrVid] (required),
        3 axes: [i32] (required),
    }

    table RoundNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 decimals: i32 = 0,
    }

    table VarNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axes: [i32],
        3 keepdims: bool = false,
        4 ddof: i32 = 0,
    } also StdNode;

    table GatherMmNode {
        0 a: ?Tid (required),
        1 b: ?Tid (required),
        2 out: ?Tid (required),
        3 lhs_indices: ?Tid,
        4 rhs_indices: ?Tid,
        5 sorted_indices: bool = false,
        6 sorted_indices_flag: &IntOrVid,
    }

    table GatherQmmNode {
        0 x: ?Tid (required),
        1 w: ?Tid (required),
        2 scales: ?Tid (required),
        3 out: ?Tid (required),
        4 mode: &str (required),
        5 biases: ?Tid,
        6 lhs_indices: ?Tid,
        7 rhs_indices: ?Tid,
        8 transpose: bool = true,
        9 group_size: i32 = 0,
        10 bits: i32 = 0,
        11 sorted_indices: bool = false,
        12 sorted_indices_flag: &IntOrVid,
    }

    table ScanNode {
        0 originals: [Tid] (required),
        1 sliced: [Tid] (required),
        2 outputs: [Tid] (required),
        3 carry: [Tid] (required),
        4 body_chain_idx: i32 = 0,
        5 scan_axis: i32 = 1,
    }

    table IfNode {
        0 cond: &IntOrVid (required),
        1 then_chain_idx: u32 = 0,
        2 else_chain_idx: u32 = 0,
    }

    table RandomBitsNode {
        0 out: ?Tid (required),
        1 shape: [&IntOrVid] (required),
        2 seed: ?Vid,
        3 width: i32 = 4,
    }

    table MetalKernelNode {
        0 name: &str (required),
        1 source: &str (required),
        2 inputs: [Tid] (required),
        3 outputs: [Tid] (required),
        4 grid: [&IntOrVid] (required),
        5 threadgroup: [&IntOrVid] (required),
        6 header: &str,
        7 input_names: [&str],
        8 output_names: [&str],
        9 ensure_row_contiguous: bool = true,
        10 atomic_outputs: bool = false,
        11 output_shapes_flat: [&IntOrVid],
        12 output_shape_lengths: [i32],
        13 output_dtypes: [i8],
        14 template_arg_names: [&str],
        15 template_arg_kinds: [i8],
        16 template_arg_values: [i32],
        17 init_value: ?f32,
    }

    table FlipNode {
        0 x: ?Tid (required),
        1 out: ?Tid (required),
        2 axes: [i32] (required),
    }

    table Instruction {
        0 op: @OpNode (required),
    }

    /// Instructions in the order in which they run.
    table InstructionChain {
        0 instructions: [&Instruction] (required),
    }

    /// The size of a dimension, or its range.
    table ShapeDim {
        /// The size; −1 for a size in the range.
        0 value: i32 = -1,
        1 min_value: i32 = 0,
        /// −1 for no bound.
        2 max_value: i32 = -1,
    }

    /// The datatype and the shape of a tensor.
    table TensorMeta {
        0 shape: [&ShapeDim] (required),
        /// The number of a datatype of programs.
        1 scalar_type: i8 = 0,
        2 dim_order: [u8],
    }

    /// An index with the kind of its slot.
    table SlotVariant {
        0 idx: u32 = 0,
        1 slot_type: SlotType = SlotType::TensorSlot,
    }

    /// A slot with the key of its data, or its name.
    table NamedSlot {
        0 name: &str (required),
        1 slot: &SlotVariant (required),
    }

    /// The root table of a payload.
    table MLXGraph {
        0 version: &str,
        1 num_constant_tensors: u32 = 0,
        2 num_input_tensors: u32 = 0,
        3 num_output_tensors: u32 = 0,
        4 num_mutable_buffer_tensors: u32 = 0,
        5 num_temp_tensors: u32 = 0,
        6 num_values: u32 = 0,
        7 instruction_chains: [&InstructionChain] (required),
        /// The chain that runs at each call.
        8 main_chain_idx: u32 = 0,
        /// The chain that runs once; negative for none.
        9 init_chain_idx: i32 = -1,
        10 input_map: [&SlotVariant],
        11 output_map: [&SlotVariant],
        12 mutable_buffer_map: [&SlotVariant],
        /// Constants by the keys of named data, and the names of other slots.
        13 named_slots: [&NamedSlot],
        /// The metadata of each tensor, by its index. Temporary tensors have none.
        14 tensor_meta: [&TensorMeta],
    }
}
