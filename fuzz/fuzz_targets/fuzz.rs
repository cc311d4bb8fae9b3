//! Every fuzz target in one program: searched by libFuzzer, or replayed on the files that it is given.
//!
//! `FUZZER=verify` picks the target, else the program's own file name does (OSS-Fuzz has a copy for
//! each).
#![allow(unexpected_cfgs, reason = "cargo-fuzz sets cfg(fuzzing)")]
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static ORACLE: std::sync::LazyLock<pte_fuzz::Oracle> =
        std::sync::LazyLock::new(pte_fuzz::replay::chosen);
    ORACLE(bytes);
});

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    pte_fuzz::replay::main(pte_fuzz::replay::chosen())
}
