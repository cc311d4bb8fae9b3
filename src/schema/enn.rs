//! The schema of the options of ENN, Samsung's backend: `backends/samsung/serialization/compile_options_def.fbs`. They
//! are the value of the compile spec `enn_compile_options`.

use pte_flat::schema;

schema! {
    views;
    root EnnExecuTorchOptions b"EETO" "eeto" "enn_option";

    enums:

    /// Whether the chip saves time or power.
    enum PerformanceMode: i8 {
        DEFAULT = 0 => 1.5,
        HIGH_PERFORMANCE = 1 => 1.5,
    }

    unions:

    tables:

    /// The options of a delegate.
    table EnnExecuTorchOptions {
        /// The number of the Exynos chip that the program was lowered for.
        0 chipset: i32 = 0,
        1 perf_mode: PerformanceMode = PerformanceMode::DEFAULT => 1.5,
    }
}
