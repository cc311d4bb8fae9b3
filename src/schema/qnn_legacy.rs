//! The schemas of the options of QNN before release 1.2: up to 0.6, and from 0.7 to 1.1.
//!
//! Upstream moved fields to other slots, and there is no identifier: `qnn.rs` has the current options. Enums are
//! numbers here, since the old options are recognized and not shown.

use pte_flat::schema;

schema! {
    views;
    root Options b"\0\0\0\0" "qnn-legacy" "qc_compiler_spec";

    enums:

    unions:

    tables:

    /// The HTP of a chip.
    table HtpInfo {
        0 htp_arch: i32 = 0,
        1 vtcm_size_in_mb: u32 = 0,
    }

    /// The chip that the program was lowered for.
    table SocInfo {
        0 soc_model: i32 = 0,
        1 htp_info: &HtpInfo,
    }

    /// The options of the HTP.
    table HtpOptions {
        0 max_sf_buf_size: i32 = 0,
        1 performance_mode: i32 = 0,
        2 precision: i32 = 0,
        3 pd_session: i32 = 0,
        4 skel_library_dir: &str,
        5 use_conv_hmx: bool = false,
        6 use_dlbc: bool = false,
        7 use_fold_relu: bool = false,
        8 use_multi_contexts: bool = false,
        9 use_weight_sharing: bool = false,
    }

    /// The processor, and its options.
    table BackendOptions {
        0 backend_type: i32 = 0,
        1 htp_options: &HtpOptions,
    }

    /// The options of releases up to 0.6. Slot 6 was a string in 0.2.
    table FirstOptions {
        0 soc_info: &SocInfo,
        1 backend_options: &BackendOptions,
        2 graph_name: &str,
        3 library_path: &str,
        4 log_level: i32 = 0,
        5 online_prepare: bool = false,
    }

    /// The options of releases from 0.7 to 1.1.
    table Options {
        0 soc_info: &SocInfo,
        1 backend_options: &BackendOptions,
        2 graph_name: [&str],
        3 library_path: &str,
        4 log_level: i32 = 0,
        5 online_prepare: bool = false,
        6 dump_intermediate_outputs: bool = false,
        7 profile_level: i32 = 0,
        8 shared_buffer: bool = false,
        9 is_from_context_binary: bool = false,
        10 saver: bool = false,
        11 saver_output_dir: &str,
    }
}
