//! The dtypes of both formats, `schema/scalar_type.fbs` (format.md §5).

use pte_flat::schema;

schema! {
    enums:

    /// The dtype of a tensor's elements: upstream's `ScalarType`.
    ///
    /// Codes 8 to 10 and 18 to 21 have no name in the schema, but the runtime accepts them: see
    /// [`ScalarType::runtime_name`].
    enum ScalarType: i8 {
        /// uint8.
        BYTE = 0,
        /// int8.
        CHAR = 1,
        /// int16.
        SHORT = 2,
        /// int32.
        INT = 3,
        /// int64.
        LONG = 4,
        /// float16.
        HALF = 5 => 0.2,
        /// float32.
        FLOAT = 6,
        /// float64.
        DOUBLE = 7,
        /// A boolean in one byte.
        BOOL = 11,
        /// Quantized int8.
        QINT8 = 12,
        /// Quantized uint8.
        QUINT8 = 13,
        /// Quantized int32.
        QINT32 = 14,
        /// bfloat16. The runtime had it before the schema did.
        BFLOAT16 = 15 => 1.2,
        /// Two values of 4 bits.
        QUINT4X2 = 16,
        /// Four values of 2 bits.
        QUINT2X4 = 17,
        /// 16 bits without a meaning.
        BITS16 = 22 => 0.5,
        /// An 8-bit float with 5 exponent bits and 2 mantissa bits.
        FLOAT8E5M2 = 23 => 0.5,
        /// An 8-bit float with 4 exponent bits and 3 mantissa bits, without infinities.
        FLOAT8E4M3FN = 24 => 0.5,
        /// An 8-bit float like FLOAT8E5M2, without infinities and without negative zero.
        FLOAT8E5M2FNUZ = 25 => 0.5,
        /// An 8-bit float like FLOAT8E4M3FN, without negative zero.
        FLOAT8E4M3FNUZ = 26 => 0.5,
        UINT16 = 27 => 0.5,
        UINT32 = 28 => 0.5,
        UINT64 = 29 => 0.5
    }

    unions:

    tables:
}

/// Codes that have no name in the schema and that the runtime accepts, under the runtime's names.
impl ScalarType {
    /// Two float16: the real and the imaginary part.
    pub const COMPLEX_HALF: Self = Self(8);
    /// Two float32.
    pub const COMPLEX_FLOAT: Self = Self(9);
    /// Two float64.
    pub const COMPLEX_DOUBLE: Self = Self(10);
    /// Eight values of 1 bit.
    pub const BITS1X8: Self = Self(18);
    /// Four values of 2 bits.
    pub const BITS2X4: Self = Self(19);
    /// Two values of 4 bits.
    pub const BITS4X2: Self = Self(20);
    /// 8 bits without a meaning.
    pub const BITS8: Self = Self(21);
}

impl ScalarType {
    /// Returns the runtime's name (`runtime/core/portable_type/scalar_type.h`); `None` for a code
    /// that the runtime refuses.
    pub fn runtime_name(self) -> Option<&'static str> {
        self.runtime().map(|(name, ..)| name)
    }

    /// Returns PyTorch's name, such as `float32`; `None` for a code that the runtime refuses.
    pub fn torch_name(self) -> Option<&'static str> {
        self.runtime().map(|(_, name, _)| name)
    }

    /// Returns the bytes of an element as ExecuTorch counts them (`elementSize`): one byte for each
    /// *element* of a packed dtype. `None` for a code that the runtime refuses.
    pub fn element_size(self) -> Option<u64> {
        self.runtime().map(|(.., size)| size)
    }

    /// Returns the runtime's name, PyTorch's name, and the element size.
    fn runtime(self) -> Option<(&'static str, &'static str, u64)> {
        Some(match self.0 {
            0 => ("Byte", "uint8", 1),
            1 => ("Char", "int8", 1),
            2 => ("Short", "int16", 2),
            3 => ("Int", "int32", 4),
            4 => ("Long", "int64", 8),
            5 => ("Half", "float16", 2),
            6 => ("Float", "float32", 4),
            7 => ("Double", "float64", 8),
            8 => ("ComplexHalf", "complex32", 4),
            9 => ("ComplexFloat", "complex64", 8),
            10 => ("ComplexDouble", "complex128", 16),
            11 => ("Bool", "bool", 1),
            12 => ("QInt8", "qint8", 1),
            13 => ("QUInt8", "quint8", 1),
            14 => ("QInt32", "qint32", 4),
            15 => ("BFloat16", "bfloat16", 2),
            16 => ("QUInt4x2", "quint4x2", 1),
            17 => ("QUInt2x4", "quint2x4", 1),
            18 => ("Bits1x8", "bits1x8", 1),
            19 => ("Bits2x4", "bits2x4", 1),
            20 => ("Bits4x2", "bits4x2", 1),
            21 => ("Bits8", "bits8", 1),
            22 => ("Bits16", "bits16", 2),
            23 => ("Float8_e5m2", "float8_e5m2", 1),
            24 => ("Float8_e4m3fn", "float8_e4m3fn", 1),
            25 => ("Float8_e5m2fnuz", "float8_e5m2fnuz", 1),
            26 => ("Float8_e4m3fnuz", "float8_e4m3fnuz", 1),
            27 => ("UInt16", "uint16", 2),
            28 => ("UInt32", "uint32", 4),
            29 => ("UInt64", "uint64", 8),
            _ => return None,
        })
    }

    /// Returns the bytes of a dense tensor of these sizes: the product of the sizes times
    /// [`element_size`](Self::element_size).
    ///
    /// `None` if a size is negative, the dtype is unknown, the number of elements exceeds a signed
    /// or the number of bytes an unsigned number of 64 bits. Like the runtime, it multiplies in
    /// order: after a size of 0 nothing overflows, but an overflow before it counts.
    pub fn nbytes(self, sizes: impl IntoIterator<Item = i32>) -> Option<u64> {
        let mut elements = 1i64;
        for size in sizes {
            elements = elements.checked_mul(i64::from(size)).filter(|_| size >= 0)?;
        }
        u64::try_from(elements).ok()?.checked_mul(self.element_size()?)
    }
}
