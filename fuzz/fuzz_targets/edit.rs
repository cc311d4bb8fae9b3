//! The target `edit`: searched by libFuzzer, or replayed on the files that it is given.
#![allow(unexpected_cfgs, reason = "cargo-fuzz sets cfg(fuzzing)")]
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pte_fuzz::edit(bytes));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    pte_fuzz::replay::main(pte_fuzz::edit)
}
