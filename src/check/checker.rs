//! The checker: the settings of a check, and how it runs.

use alloc::borrow::Cow;
use alloc::string::ToString;
use core::convert::Infallible;
use core::ops::Range;

use super::constants::Constants;
use super::external::ExternalTensors;
use super::linked::{self, RuntimeBuild};
use super::payloads::{self, NamedSizes, judges_payloads_of};
use super::policy::Policy;
use super::report::{Findings, Report};
use super::{contents, external, kind, memory, release, tables};
use pte_core::handle::ReadVec;
use pte_core::payload::Unreadable;
use pte_core::{File, ForeignFormat, Handle, Limits, OpenError, PastEnd, Ptd, Pte, Source};

/// Returns what documents call the files of a format that [`Checker::check_other`] judges; `None` for other formats.
#[must_use]
pub fn judged_kind(format: ForeignFormat) -> Option<&'static str> {
    Some(match format {
        ForeignFormat::Payload(_) => "payload",
        ForeignFormat::EtDump => "etdump",
        ForeignFormat::EtRecord => "etrecord",
        ForeignFormat::Ptn => "ptn",
        _ => return None,
    })
}

/// Judges files. Its settings say what is judged and how, and each check returns one report.
///
/// ```
/// use pte::check::{Checker, Policy};
/// use pte::{Handle, Limits};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program: &[u8] = include_bytes!("../../tests/data/pte/external_all.pte");
/// # let data = include_bytes!(
/// #     "../../tests/data/ptd/external_all.default_external_constant.ptd"
/// # );
/// let data = [pte::Ptd::read(data)?];
/// let handle = Handle::open(program, &Limits::UNTRUSTED)?;
/// let checker = Checker::new().data(&data).policy(Policy::new().runtime((1, 5)));
/// assert!(checker.check(&handle)?.findings().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Checker<'d> {
    limits: Limits,
    policy: Policy,
    data: Option<&'d [Ptd<'d>]>,
    build: Option<&'d RuntimeBuild>,
    reads_constants: bool,
    scans: bool,
    /// The start of the program in its bundled program.
    bundled: Option<u64>,
}

impl Default for Checker<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'d> Checker<'d> {
    /// Creates a checker of all rules, with the limits for untrusted files and the rules' own
    /// severities.
    pub fn new() -> Self {
        Self {
            limits: Limits::UNTRUSTED,
            policy: Policy::new(),
            data: None,
            build: None,
            reads_constants: true,
            scans: false,
            bundled: None,
        }
    }

    /// Sets how much work a file may cause, and how many findings of each rule are kept.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the policy: the severities of findings, and the release to judge for.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Sets the `.ptd` files that programs are judged with. The `.ptd` files themselves are not
    /// judged. Without this call external data is not judged, and a Note names the data that is
    /// needed.
    #[must_use]
    pub fn data(self, data: &'d [Ptd<'d>]) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Sets the build of the runtime that programs are judged for: what a method needs and the build lacks is an
    /// Error. Without this call no build is assumed.
    #[must_use]
    pub fn build(self, build: &'d RuntimeBuild) -> Self {
        Self { build: Some(build), ..self }
    }

    /// Sets whether to read constants that kernels may use as numbers, indices, zero points, or
    /// ranges to quantize. By default they are read. Other constants, such as most weights, are
    /// never read.
    #[must_use]
    pub fn constants(self, reads_constants: bool) -> Self {
        Self { reads_constants, ..self }
    }

    /// Sets the start of the program in its bundled program, if it is in one. A Note then says that
    /// only the program is judged, and that offsets count from its start.
    #[must_use]
    pub fn bundled(self, start: Option<u64>) -> Self {
        Self { bundled: start, ..self }
    }

    /// Sets whether to search all bytes after the FlatBuffer for executable content. A search reads
    /// the whole file. By default, only the beginning of each segment and payload is read.
    #[must_use]
    pub fn scan(self, scans: bool) -> Self {
        Self { scans, ..self }
    }

    /// Judges a file whose segments are read from its source.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if there is no memory for a part of the file that
    /// is read. Other failed allocations end the process.
    pub fn check<S: Source>(&self, handle: &Handle<S>) -> Result<Report, OpenError<S::Error>> {
        self.check_with_progress(handle, |_| {})
    }

    /// Judges a file as [`check`](Self::check) does. Calls `progress` with the number of bytes of
    /// each read of a [scan](Self::scan).
    pub fn check_with_progress<S: Source>(
        &self,
        handle: &Handle<S>,
        progress: impl FnMut(u64),
    ) -> Result<Report, OpenError<S::Error>> {
        self.judge_all(&handle.file(), handle.source(), progress)
    }

    /// Proves and judges a whole file in memory.
    ///
    /// # Errors
    ///
    /// [`OpenError::Refused`] with the first place that breaks a rule of the structure, or [`OpenError::Memory`] if
    /// there is no memory for a part of the file that is read. Other failed allocations end the process.
    pub fn check_bytes(&self, bytes: &[u8]) -> Result<Report, OpenError<PastEnd>> {
        self.judge_all(&File::read_with(bytes, &self.limits)?, &bytes, |_| {})
    }

    /// Judges a standalone payload, `.ptn` package, profile (ETDump) or ETRecord, and adds a Note
    /// on its kind. For payloads of a backend that has rules, the header, the graph and the constants are
    /// judged, but named data and calls are not. Of an ETRecord the members are judged. For all other files, only the
    /// structure is proven.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if the structure is broken or the format is unknown.
    pub fn check_payload(&self, bytes: &[u8]) -> Result<Report, Unreadable> {
        let mut out = Findings::new(&self.limits);
        payloads::judge_alone(bytes, (&self.limits, self.policy.release()), &mut out)?;
        kind::report(|| ForeignFormat::of_ends(bytes, bytes).to_string(), &mut out);
        let mut report = out.report(&self.policy);
        report.sort();
        Ok(report)
    }

    /// Judges a file of `format`, which [`ForeignFormat::of_ends`] gives, as [`check_payload`](Self::check_payload)
    /// does. Returns `None` if [`judged_kind`] has no name for it, and for a payload in an unknown form of a backend
    /// without rules.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if the structure is broken.
    pub fn check_other(
        &self,
        bytes: &[u8],
        format: ForeignFormat,
    ) -> Result<Option<Report>, Unreadable> {
        if judged_kind(format).is_none() {
            return Ok(None);
        }
        let has_rules = matches!(format, ForeignFormat::Payload(of) if judges_payloads_of(of));
        match self.check_payload(bytes) {
            Err(Unreadable::Magic { .. }) if !has_rules => Ok(None),
            report => report.map(Some),
        }
    }

    /// Judges the tables of a file, and the payloads that are in memory. No other segment is read.
    pub fn check_tables(&self, file: &File<'_>) -> Report {
        let mut out = Findings::new(&self.limits);
        let externals = self.judge_tables(file, &Constants::default(), &mut out);
        if let File::Pte(pte) = file {
            let read = |range| Ok::<_, Infallible>(pte.bytes(range).map(Cow::Borrowed));
            match self.judge_payloads(pte, &externals, read, &mut out) {
                Ok(()) => {}
                Err(never) => match never {},
            }
        }
        out.report(&self.policy)
    }

    fn judge_tables<'a>(
        &self,
        file: &File<'a>,
        constants: &Constants,
        out: &mut Findings,
    ) -> ExternalTensors<'a> {
        let externals = tables::judge(file, constants, out);
        if let Some(version) = self.policy.release() {
            release::judge(file, version, out);
        }
        if let (Some(build), File::Pte(pte)) = (self.build, file) {
            linked::judge(pte, build, self.policy.release(), out);
        }
        if let (Some(most), File::Pte(pte)) = (self.policy.most_memory(), file) {
            memory::check_limit(pte, most, out);
        }
        externals
    }

    /// Judges the payloads of a program, and its external data if the caller gave `.ptd` files.
    fn judge_payloads<'b, E>(
        &self,
        pte: &Pte<'_>,
        externals: &ExternalTensors<'_>,
        read: impl FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
        out: &mut Findings,
    ) -> Result<(), E> {
        let named = NamedSizes::new(pte, self.data);
        let requested =
            payloads::judge(pte, &named, (&self.limits, self.policy.release()), read, out)?;
        match self.data {
            Some(data) => external::judge(pte, data, &requested, out),
            None => external::report_unknown(pte, externals, &named, &requested, out),
        }
        Ok(())
    }

    /// Judges `file`, whose bytes are in `source`.
    fn judge_all<S: Source>(
        &self,
        file: &File<'_>,
        source: &S,
        progress: impl FnMut(u64),
    ) -> Result<Report, OpenError<S::Error>> {
        let mut out = Findings::new(&self.limits);
        if let Some(start) = self.bundled {
            let judged = || {
                format!(
                    "a bundled program: only the program is judged, and offsets count from its start at {start:#x}"
                )
            };
            kind::report(judged, &mut out);
        }
        contents::judge(file, source, &mut out)?;
        let constants = match self.reads_constants {
            true => Constants::read(file, source, &mut out)?,
            false => Constants::default(),
        };
        if self.scans {
            contents::scan(file, source, progress, &mut out)?;
            #[cfg(feature = "sha2")]
            contents::judge_digests(file, source, &self.limits, &mut out)?;
        }
        let externals = self.judge_tables(file, &constants, &mut out);
        if let File::Pte(pte) = file {
            let read = |range| source.read_vec(range).map(|bytes| Some(Cow::Owned(bytes)));
            self.judge_payloads(pte, &externals, read, &mut out)?;
        }
        let mut report = out.report(&self.policy);
        report.sort();
        Ok(report)
    }
}
