//! Tests through the exported functions: what a call reserves is enough for any file.
#![allow(unsafe_code, reason = "the functions of C")]

use core::ptr;
use core::sync::atomic::Ordering;
use std::thread;

use pte_tests::hostile::families;

use crate::abi::pte_refusal;
use crate::abi::pte_status::{PTE_OK, PTE_REFUSED};
use crate::ffi::file::*;
use crate::ffi::report::*;
use crate::ffi::*;
use crate::memory::arena::GROWN;

/// An allocation beyond what was reserved may fail, and then ends the process.
#[test]
fn no_hostile_file_needs_more_memory_than_a_call_reserves() {
    let size = if cfg!(debug_assertions) { 1 << 15 } else { 1 << 20 };
    // What grows in one thread, the other may report too.
    let judge = |half| {
        let mut wrong = Vec::new();
        for family in families().into_iter().skip(half).step_by(2) {
            let [bytes, _] = family.of_size(size);
            let before = GROWN.load(Ordering::Relaxed);
            use_all(&bytes);
            let grown = GROWN.load(Ordering::Relaxed).saturating_sub(before);
            if grown > 0 {
                wrong.push(format!("{}: {grown} times", family.name));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    };
    thread::scope(|scope| {
        scope.spawn(|| judge(0));
        judge(1);
    });
}

#[test]
fn a_refusal_has_the_rule_and_the_offset() {
    let mut refusal = pte_refusal::NONE;
    let cut = &include_bytes!("../../tests/data/pte/linear.pte")[..900];
    let mut verify = |bytes: &[u8]| {
        // SAFETY: the arguments are as the header asks for.
        let status =
            unsafe { pte_verify_refusal(bytes.as_ptr().cast(), bytes.len(), &mut refusal) };
        let rule = refusal.rule.iter().take_while(|&&byte| byte != 0);
        let rule = rule.map(|byte| char::from(byte.to_ne_bytes()[0])).collect::<String>();
        (status, rule, refusal.offset)
    };
    assert_eq!(verify(cut), (PTE_REFUSED, "flatbuffer-truncated".into(), 16));
    assert_eq!(
        verify(include_bytes!("../../tests/data/pte/linear.pte")),
        (PTE_OK, String::new(), 0)
    );
    assert_eq!(verify(&[]), (PTE_REFUSED, "other-format".into(), 0));
}

#[test]
fn every_rule_of_the_structure_fits_a_refusal() {
    for code in pte_core::ErrorKind::CODES {
        assert!(code.id.len() < pte_refusal::NONE.rule.len(), "{}", code.id);
    }
}

/// Calls everything that allocates, with a file.
fn use_all(bytes: &[u8]) {
    let (mut report, mut file, mut text) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let (data, size) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the arguments are as the header asks for.
    unsafe {
        assert_eq!(pte_check(data, size, ptr::null(), &mut report), PTE_OK);
        for document in [pte_report_json, pte_report_sarif] {
            assert_eq!(document(report, &mut text, ptr::null_mut()), PTE_OK);
            pte_text_free(text);
        }
        pte_report_free(report);
        if pte_file_open(data, size, ptr::null(), &mut file) == PTE_OK {
            assert_eq!(pte_file_summary_json(file, &mut text, ptr::null_mut()), PTE_OK);
            pte_text_free(text);
            pte_file_free(file);
        }
    }
}
