//! Sets of dtypes that kernels accept or refuse.

use pte_schema::scalar::ScalarType;

/// Dtypes that have no common dtype with any other (`promoteTypes`). The same holds for [`OPAQUE`].
pub(super) const ALONE: &[ScalarType] = &[
    ScalarType::FLOAT8E5M2,
    ScalarType::FLOAT8E4M3FN,
    ScalarType::FLOAT8E5M2FNUZ,
    ScalarType::FLOAT8E4M3FNUZ,
    ScalarType::UINT16,
    ScalarType::UINT32,
    ScalarType::UINT64,
];

/// Quantized dtypes, and bits without a meaning.
pub(super) const OPAQUE: &[ScalarType] = &[
    ScalarType::QINT8,
    ScalarType::QUINT8,
    ScalarType::QINT32,
    ScalarType::QUINT4X2,
    ScalarType::QUINT2X4,
    ScalarType::BITS1X8,
    ScalarType::BITS2X4,
    ScalarType::BITS4X2,
    ScalarType::BITS8,
    ScalarType::BITS16,
];

/// Complex numbers whose parts have 16, 32 and 64 bits.
pub(super) const COMPLEX: &[ScalarType] =
    &[ScalarType::COMPLEX_HALF, ScalarType::COMPLEX_FLOAT, ScalarType::COMPLEX_DOUBLE];

/// Dtypes that are complex or have a complex counterpart (`toComplexType`).
pub(super) const COMPLEXIBLE: &[ScalarType] = &[
    ScalarType::HALF,
    ScalarType::BFLOAT16,
    ScalarType::FLOAT,
    ScalarType::DOUBLE,
    ScalarType::COMPLEX_HALF,
    ScalarType::COMPLEX_FLOAT,
    ScalarType::COMPLEX_DOUBLE,
];

pub(super) const REAL_OR_BOOL: &[ScalarType] = &[
    ScalarType::BYTE,
    ScalarType::CHAR,
    ScalarType::SHORT,
    ScalarType::INT,
    ScalarType::LONG,
    ScalarType::HALF,
    ScalarType::FLOAT,
    ScalarType::DOUBLE,
    ScalarType::BOOL,
    ScalarType::BFLOAT16,
];
pub(super) const INTEGERS: &[ScalarType] =
    &[ScalarType::BYTE, ScalarType::CHAR, ScalarType::SHORT, ScalarType::INT, ScalarType::LONG];
pub(super) const QUANTIZED: &[ScalarType] = &[
    ScalarType::BYTE,
    ScalarType::CHAR,
    ScalarType::BITS16,
    ScalarType::UINT16,
    ScalarType::SHORT,
    ScalarType::INT,
];
/// Floats that kernels quantize, or give.
pub(super) const DEQUANTIZED: &[ScalarType] =
    &[ScalarType::HALF, ScalarType::FLOAT, ScalarType::DOUBLE];
pub(super) const EMBEDDED: &[ScalarType] =
    &[ScalarType::FLOAT, ScalarType::HALF, ScalarType::BFLOAT16];
pub(super) const SCALES: &[ScalarType] = &[ScalarType::DOUBLE, ScalarType::FLOAT];
pub(super) const INDICES: &[ScalarType] = &[ScalarType::LONG, ScalarType::INT];
pub(super) const BOOL: &[ScalarType] = &[ScalarType::BOOL];
pub(super) const BYTES: &[ScalarType] = &[ScalarType::BYTE, ScalarType::CHAR];
pub(super) const BYTE: &[ScalarType] = &[ScalarType::BYTE];
pub(super) const CHAR: &[ScalarType] = &[ScalarType::CHAR];
pub(super) const LONG: &[ScalarType] = &[ScalarType::LONG];
pub(super) const FLOAT: &[ScalarType] = &[ScalarType::FLOAT];
pub(super) const DOUBLE: &[ScalarType] = &[ScalarType::DOUBLE];
