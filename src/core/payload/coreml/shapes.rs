//! The messages of Core ML's specification that are read: the numbers of their fields, and what is in each.
//!
//! Messages of models that are not ML Programs are not in the list, so their contents are not proven.

use crate::payload::wire::Kind::{Doubles, Message, Text, Varints, Words};
use crate::payload::wire::Shape;

/// `Model`.
pub(super) static MODEL: Shape = Shape(&[(2, Message(&DESCRIPTION)), (502, Message(&PROGRAM))]);

static DESCRIPTION: Shape = Shape(&[
    (20, Message(&FUNCTION_DESCRIPTION)),
    (21, Text),
    (100, Message(&METADATA)),
    (1, Message(&FEATURE)),
    (10, Message(&FEATURE)),
    (13, Message(&FEATURE)),
]);
static FUNCTION_DESCRIPTION: Shape =
    Shape(&[(1, Text), (2, Message(&FEATURE)), (3, Message(&FEATURE)), (6, Message(&FEATURE))]);
static FEATURE: Shape = Shape(&[(1, Text), (2, Text), (3, Message(&FEATURE_TYPE))]);
static FEATURE_TYPE: Shape = Shape(&[
    (1, Message(&SCALAR)),
    (2, Message(&SCALAR)),
    (3, Message(&SCALAR)),
    (5, Message(&ARRAY)),
    (8, Message(&STATE)),
]);
static STATE: Shape = Shape(&[(1, Message(&ARRAY))]);
static ARRAY: Shape = Shape(&[(1, Varints), (21, Message(&SHAPES)), (31, Message(&RANGES))]);
static SHAPES: Shape = Shape(&[(1, Message(&INTEGERS))]);
static RANGES: Shape = Shape(&[(1, Message(&SCALAR))]);
static METADATA: Shape =
    Shape(&[(1, Text), (2, Text), (3, Text), (4, Text), (100, Message(&TEXT_ENTRY))]);
static TEXT_ENTRY: Shape = Shape(&[(1, Text), (2, Text)]);

static PROGRAM: Shape =
    Shape(&[(2, Message(&FUNCTION_ENTRY)), (3, Text), (4, Message(&VALUE_ENTRY))]);
static FUNCTION_ENTRY: Shape = Shape(&[(1, Text), (2, Message(&FUNCTION))]);
static FUNCTION: Shape = Shape(&[
    (1, Message(&NAMED_TYPE)),
    (2, Text),
    (3, Message(&BLOCK_ENTRY)),
    (4, Message(&VALUE_ENTRY)),
]);
static BLOCK_ENTRY: Shape = Shape(&[(1, Text), (2, Message(&BLOCK))]);
static BLOCK: Shape = Shape(&[
    (1, Message(&NAMED_TYPE)),
    (2, Text),
    (3, Message(&OPERATION)),
    (4, Message(&VALUE_ENTRY)),
]);
static OPERATION: Shape = Shape(&[
    (1, Text),
    (2, Message(&ARGUMENT_ENTRY)),
    (3, Message(&NAMED_TYPE)),
    (4, Message(&BLOCK)),
    (5, Message(&VALUE_ENTRY)),
]);
static ARGUMENT_ENTRY: Shape = Shape(&[(1, Text), (2, Message(&ARGUMENT))]);
static ARGUMENT: Shape = Shape(&[(1, Message(&BINDING))]);
static BINDING: Shape = Shape(&[(1, Text), (2, Message(&VALUE))]);

static NAMED_TYPE: Shape = Shape(&[(1, Text), (2, Message(&TYPE))]);
static TYPE: Shape = Shape(&[
    (1, Message(&TENSOR_TYPE)),
    (2, Message(&LIST_TYPE)),
    (3, Message(&TUPLE_TYPE)),
    (4, Message(&DICTIONARY_TYPE)),
    (5, Message(&STATE_TYPE)),
]);
static TENSOR_TYPE: Shape = Shape(&[(3, Message(&DIMENSION)), (4, Message(&VALUE_ENTRY))]);
static LIST_TYPE: Shape = Shape(&[(1, Message(&TYPE)), (2, Message(&DIMENSION))]);
static TUPLE_TYPE: Shape = Shape(&[(1, Message(&TYPE))]);
static DICTIONARY_TYPE: Shape = Shape(&[(1, Message(&TYPE)), (2, Message(&TYPE))]);
static STATE_TYPE: Shape = Shape(&[(1, Message(&TYPE))]);
static DIMENSION: Shape = Shape(&[(1, Message(&SCALAR)), (2, Message(&SCALAR))]);
/// A message of numbers alone.
static SCALAR: Shape = Shape(&[]);

static VALUE_ENTRY: Shape = Shape(&[(1, Text), (2, Message(&VALUE))]);
static VALUE: Shape =
    Shape(&[(1, Text), (2, Message(&TYPE)), (3, Message(&IMMEDIATE)), (5, Message(&BLOB))]);
static BLOB: Shape = Shape(&[(1, Text)]);
static IMMEDIATE: Shape = Shape(&[
    (1, Message(&TENSOR)),
    (2, Message(&VALUES)),
    (3, Message(&VALUES)),
    (4, Message(&DICTIONARY)),
]);
static VALUES: Shape = Shape(&[(1, Message(&VALUE))]);
static DICTIONARY: Shape = Shape(&[(1, Message(&PAIR))]);
static PAIR: Shape = Shape(&[(1, Message(&VALUE)), (2, Message(&VALUE))]);
static TENSOR: Shape = Shape(&[
    (1, Message(&WORDS)),
    (2, Message(&INTEGERS)),
    (3, Message(&INTEGERS)),
    (4, Message(&TEXTS)),
    (5, Message(&INTEGERS)),
    (6, Message(&NUMBERS)),
    (7, Message(&SCALAR)),
]);
static WORDS: Shape = Shape(&[(1, Words)]);
static INTEGERS: Shape = Shape(&[(1, Varints)]);
static NUMBERS: Shape = Shape(&[(1, Doubles)]);
static TEXTS: Shape = Shape(&[(1, Text)]);
