// NumPy's file format, which `extract` writes: the dtype, the sizes and the elements.

export type Elements =
  | Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
  | Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/** The elements of a tensor. Of a dtype without a typed array, such as float16, `data` is its bytes. */
export interface Tensor {
  /** NumPy's name of the dtype, such as `<f4`. */
  dtype: string;
  sizes: number[];
  data: Elements;
}

const ARRAYS: Record<string, new (buffer: ArrayBuffer) => Elements> = {
  f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array,
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array, b1: Uint8Array,
};

/** Reads a file of NumPy's format. */
export function readNpy(bytes: Uint8Array): Tensor {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = view.getUint8(6) > 1;
  const start = (wide ? 12 : 10) + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder().decode(bytes.subarray(wide ? 12 : 10, start));
  const dtype = /'descr': *'([^']*)'/.exec(header)?.[1] ?? "|V1";
  const sizes = (/'shape': *\(([^)]*)\)/.exec(header)?.[1] ?? "").split(",").filter((size) => size.trim()).map(Number);
  const data = bytes.slice(start);
  const Typed = ARRAYS[dtype.slice(1)] ?? Uint8Array;
  return { dtype, sizes, data: new Typed(data.buffer) };
}
