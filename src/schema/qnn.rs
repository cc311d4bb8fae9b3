//! The schema of the options of QNN, Qualcomm's backend: `backends/qualcomm/serialization/qc_compiler_spec.fbs`, as
//! releases since 1.2 have it. They are the value of the compile spec `qnn_compile_spec`.
//!
//! `qnn_legacy.rs` has the options of older releases.

use pte_flat::schema;

schema! {
    views;
    root QnnExecuTorchOptions b"\0\0\0\0" "qnn" "qc_compiler_spec";

    enums:

    /// The architectures of the HTP, Qualcomm's neural processor.
    enum HtpArch: i32 {
        NONE = 0,
        V68 = 68,
        V69 = 69,
        V73 = 73,
        V75 = 75,
        V79 = 79,
        V81 = 81,
    }

    /// The versions of the LPAI, Qualcomm's low-power processor.
    enum LpaiHardwareVersion: i32 {
        NONE = 0,
        V6 = 6,
        V7 = 7,
    }

    /// The systems on a chip.
    enum QcomChipset: i32 {
        UNKNOWN_SM = 0,
        SA8295 = 39,
        SA8797 = 72,
        SC8380XP = 60 => 1.5,
        SM8350 = 30,
        SM8450 = 36,
        SM8475 = 42,
        SM8550 = 43,
        SM8650 = 57,
        SM8750 = 69,
        SM8850 = 87,
        SSG2115P = 46,
        SSG2125P = 58,
        SXR1230P = 45,
        SXR2230P = 53,
        SXR2330P = 75,
        QCS9100 = 77,
        SAR2230P = 95,
        SA8255 = 52,
        SW6100 = 96,
        QCM6490 = 93,
        SM8845 = 97,
    }

    /// Whether the GPU saves time or power.
    enum QnnExecuTorchGpuPerformanceMode: i32 {
        kGpuPerfHintHigh = 0,
        kGpuPerfHintNormal = 1,
        kGpuPerfHintLow = 2,
    }

    /// The precision on the GPU.
    enum QnnExecuTorchGpuPrecision: i32 {
        kGpuPrecisionFp32 = 0,
        kGpuPrecisionFp16 = 1,
        kGpuPrecisionHybrid = 2,
        kGpuPrecisionUserProvided = 3,
    }

    /// Whether the HTP saves time or power.
    enum QnnExecuTorchHtpPerformanceMode: i32 {
        kHtpDefault = 0,
        kHtpSustainedHighPerformance = 1,
        kHtpBurst = 2,
        kHtpHighPerformance = 3,
        kHtpPowerSaver = 4,
        kHtpLowPowerSaver = 5,
        kHtpHighPowerSaver = 6,
        kHtpLowBalanced = 7,
        kHtpBalanced = 8,
    }

    /// The precision on the HTP.
    enum QnnExecuTorchHtpPrecision: i32 {
        kHtpQuantized = 0,
        kHtpFp16 = 1,
    }

    /// The processors.
    enum QnnExecuTorchBackendType: i32 {
        kUndefinedBackend = 0,
        kGpuBackend = 1,
        kHtpBackend = 2,
        kDspBackend = 3,
        kLpaiBackend = 4,
    }

    /// The protection domain of the HTP.
    enum QnnExecuTorchHtpPdSession: i32 {
        kHtpUnsignedPd = 0,
        kHtpSignedPd = 1,
    }

    /// Whether results are needed in real time.
    enum QnnExecuTorchLpaiClientPerf: i32 {
        kUndefined = 0,
        kRealTime = 1,
        kNonRealTime = 2,
    }

    /// How firmly work stays on its cores.
    enum QnnExecuTorchLpaiCoreAffinity: i32 {
        kUndefined = 0,
        kSoft = 1,
        kHard = 2,
    }

    /// The environment that the LPAI runs in.
    enum QnnExecuTorchLpaiTargetEnv: i32 {
        kX86 = 0,
        kArm = 1,
        kAdsp = 2,
    }

    /// How much is logged.
    enum QnnExecuTorchLogLevel: i32 {
        kLogOff = 0,
        kLogLevelError = 1,
        kLogLevelWarn = 2,
        kLogLevelInfo = 3,
        kLogLevelVerbose = 4,
        kLogLevelDebug = 5,
    }

    /// How much is profiled.
    enum QnnExecuTorchProfileLevel: i32 {
        kProfileOff = 0,
        kProfileBasic = 1,
        kProfileDetailed = 2,
        kProfileOptrace = 3,
    }

    /// The processor of an op package.
    enum QnnExecuTorchOpPackageTarget: i32 {
        UNKNOWN = 0,
        CPU = 1,
        HTP = 2,
    }

    /// The platform of an op package.
    enum QnnExecuTorchOpPackagePlatform: i32 {
        UNKNOWN = 0,
        X86_64 = 1,
        AARCH64_ANDROID = 2,
    }

    unions:

    tables:

    /// The HTP of a chip.
    table HtpInfo {
        0 htp_arch: HtpArch = HtpArch::NONE,
        /// The size of its memory, in MiB.
        1 vtcm_size_in_mb: u32 = 0,
    }

    /// The LPAI of a chip.
    table LpaiInfo {
        0 lpai_hardware_version: LpaiHardwareVersion = LpaiHardwareVersion::NONE,
    }

    /// The chip that the program was lowered for.
    table SocInfo {
        0 soc_model: QcomChipset = QcomChipset::UNKNOWN_SM,
        1 htp_info: &HtpInfo,
        2 lpai_info: &LpaiInfo,
    }

    /// The options of the GPU.
    table QnnExecuTorchGpuBackendOptions {
        0 performance_mode: QnnExecuTorchGpuPerformanceMode = QnnExecuTorchGpuPerformanceMode::kGpuPerfHintHigh,
        1 precision: QnnExecuTorchGpuPrecision = QnnExecuTorchGpuPrecision::kGpuPrecisionFp32,
        2 use_memory_optimizations: bool = false,
        3 use_node_optimizations: bool = false,
        4 use_queue_recording: bool = false,
        5 use_weight_sharing: bool = false,
    }

    /// The options of the HTP.
    table QnnExecuTorchHtpBackendOptions {
        0 max_sf_buf_size: i32 = 0,
        1 performance_mode: QnnExecuTorchHtpPerformanceMode = QnnExecuTorchHtpPerformanceMode::kHtpDefault,
        2 precision: QnnExecuTorchHtpPrecision = QnnExecuTorchHtpPrecision::kHtpQuantized,
        3 pd_session: QnnExecuTorchHtpPdSession = QnnExecuTorchHtpPdSession::kHtpUnsignedPd,
        4 use_conv_hmx: bool = false,
        5 use_dlbc: bool = false,
        6 use_fold_relu: bool = false,
        7 use_multi_contexts: bool = false,
        8 use_weight_sharing: bool = false,
        9 use_slc_allocator: bool = false,
    }

    /// The options of the LPAI.
    table QnnExecuTorchLpaiBackendOptions {
        0 fps: i32 = 0,
        1 ftrt_ratio: i32 = 0,
        2 client_perf_type: QnnExecuTorchLpaiClientPerf = QnnExecuTorchLpaiClientPerf::kUndefined,
        3 affinity: QnnExecuTorchLpaiCoreAffinity = QnnExecuTorchLpaiCoreAffinity::kUndefined,
        4 core_selection: u32 = 0,
        5 target_env: QnnExecuTorchLpaiTargetEnv = QnnExecuTorchLpaiTargetEnv::kX86,
    }

    /// A library of operators.
    table QnnExecuTorchOpPackageInfo {
        0 op_package_name: &str,
        /// The library that is loaded.
        1 op_package_path: &str,
        2 interface_provider: &str,
        3 target: QnnExecuTorchOpPackageTarget = QnnExecuTorchOpPackageTarget::UNKNOWN,
        4 custom_op_name: &str,
        5 qnn_op_type_name: &str,
        6 platform: QnnExecuTorchOpPackagePlatform = QnnExecuTorchOpPackagePlatform::UNKNOWN,
    }

    /// The libraries of operators.
    table QnnExecuTorchOpPackageOptions {
        0 op_package_infos: [&QnnExecuTorchOpPackageInfo],
    }

    /// The processor, and its options.
    table QnnExecuTorchBackendOptions {
        0 backend_type: QnnExecuTorchBackendType = QnnExecuTorchBackendType::kUndefinedBackend,
        1 htp_options: &QnnExecuTorchHtpBackendOptions,
        2 gpu_options: &QnnExecuTorchGpuBackendOptions,
        3 lpai_options: &QnnExecuTorchLpaiBackendOptions,
    }

    /// The options of a delegate.
    table QnnExecuTorchOptions {
        0 soc_info: &SocInfo,
        1 backend_options: &QnnExecuTorchBackendOptions,
        /// The library that the backend loads; empty for its own choice.
        2 library_path: &str,
        3 log_level: QnnExecuTorchLogLevel = QnnExecuTorchLogLevel::kLogOff,
        4 online_prepare: bool = false,
        5 dump_intermediate_outputs: bool = false,
        6 profile_level: QnnExecuTorchProfileLevel = QnnExecuTorchProfileLevel::kProfileOff,
        7 shared_buffer: bool = false,
        8 is_from_context_binary: bool = false,
        9 saver: bool = false,
        10 saver_output_dir: &str,
        11 op_package_options: &QnnExecuTorchOpPackageOptions,
        12 use_mha2sha: bool = false,
    }
}
