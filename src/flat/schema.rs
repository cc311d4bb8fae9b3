//! `schema!`: declares enums, unions and tables once.

/// Declares a schema once.
///
/// Each reader of the declaration is a separate macro, next to the code that uses its output.
/// `desc!` emits static descriptions, `view!` typed accessors, `node!` the views as nodes for the
/// writer, and `model!` plain structs.
///
/// ```text
/// root Program b"ET12" "pte" "executorch_flatbuffer";
/// enum DataLocation: i8 { INLINE = 0, SEGMENT = 1 }
/// structs:
/// struct Tid { idx: u32 }                              // optional section: structs of one number
/// union KernelTypes { 1 Null, 2 Int }
/// union XNodeUnion { 1 XNNAdd = _XNNNode2x1 }          // a member with another name
/// table Tensor {
///     0 scalar_type: ScalarType = ScalarType::BYTE,   // a number and its default
///     2 sizes: [i32],                                 // a vector of numbers
///     6 allocation_info: &AllocationDetails,          // a table; `&str` for a string
///     9 extra_tensor_info: &ExtraTensorInfo => 0.4,   // the release that added it
/// }
/// table EValue { 0 val: @KernelTypes }                // a union: slots 0 (tag) and 1 (value)
/// table Program { 1 execution_plan: [&ExecutionPlan] } // a vector of tables
/// table GraphArg { 1 graph: ^Graph (required) }        // a recursive field, which must be present
/// table ClipNode { 2 a_min: ?Tid, 3 k: ?i32 }          // a struct; a number with the default null
/// ```
#[macro_export]
macro_rules! schema {
    ($($declaration:tt)*) => {
        $crate::desc::declare::desc! { $($declaration)* }
        $crate::view::declare::view! { $($declaration)* }
        $crate::node::declare::node! { $($declaration)* }
        $crate::model::declare::model! { $($declaration)* }
    };
}
