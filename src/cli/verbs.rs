//! The verbs, each declared once: its arguments, its memory, and what it shares with other verbs.

use clap::Subcommand;

use super::problem::{Problem, Status};
#[cfg(feature = "scan")]
use super::scan;
use super::{Common, check, diff, dump, extract, graph, info};
#[cfg(not(target_family = "wasm"))]
use super::{build, complete, convert, edit, embed, man, view};
use super::{map, memory, ops, profile, rules, schema, size, tensors};

/// Common arguments that have an effect on some verbs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// The limits on the work for a FlatBuffer.
    Limits,
    /// The limit on what is read from a stream.
    Stream,
    /// The limit on findings.
    Findings,
    /// The options of remote files.
    Remote,
}

impl Group {
    /// Returns the group of a common argument; `None` if the argument has an effect on all verbs.
    fn of(argument: &str) -> Option<Self> {
        match argument {
            "limits" | "max_amplification" | "max_program" => Some(Self::Limits),
            "max_stream" => Some(Self::Stream),
            "max_findings" => Some(Self::Findings),
            "max_remote_bytes" | "max_requests" | "timeout" | "offline" | "allow_http"
            | "allow_private" | "verbose" => Some(Self::Remote),
            _ => None,
        }
    }
}

/// Declares the verbs, in the order of the help: for each its name, its arguments, the groups of
/// common arguments that have an effect, and its memory factor. `json` says whether a verb reports a
/// failure in JSON. `dump` never does: its JSON has the form of the schema.
///
/// The memory factor is the maximum number of bytes of memory for each byte of the FlatBuffer (for
/// `build`: of the JSON). Before a verb begins, the command checks that this memory is available. The
/// benchmark `hostile` compares its measurements with the factors.
macro_rules! verbs {
    ($(
        $(#[$attribute:meta])*
        $verb:ident: $Verb:ident($Arguments:ty) takes [$($group:ident)*], memory $factor:expr
        $(, json $json:expr)?;
    )*) => {
        #[derive(Debug, Subcommand)]
        pub(super) enum Verb {
            $( $(#[$attribute])* #[command(name = stringify!($verb))] $Verb($Arguments), )*
        }

        /// The groups of common arguments that have an effect, by the name of the verb.
        const GROUPS: &[(&str, &[Group])] = &[
            $( $(#[$attribute])* (stringify!($verb), &[$( Group::$group ),*]), )*
        ];

        impl Verb {
            /// Returns the memory factor.
            #[allow(unused_variables, reason = "the factor of most verbs is constant")]
            pub(super) fn memory_factor(&self) -> u64 {
                match self {
                    $( $(#[$attribute])* Self::$Verb($verb) => $factor, )*
                }
            }

            /// Returns whether a failure of the verb is reported in JSON.
            #[allow(unused_variables, reason = "some verbs have no JSON")]
            pub(super) fn is_json(&self) -> bool {
                match self {
                    $( $(#[$attribute])* Self::$Verb($verb) => verbs!(@ $($json)?), )*
                }
            }

            pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
                match self {
                    $( $(#[$attribute])* Self::$Verb(verb) => verb.run(common), )*
                }
            }
        }
    };
    (@) => { false };
    (@ $json:expr) => { $json };
}

verbs! {
    info: Info(info::Info) takes [Limits Stream Remote], memory 24, json info.format.is_json();
    check: Check(check::Check) takes [Limits Stream Findings Remote], memory 16, json check.format.is_json();
    #[cfg(feature = "scan")]
    scan: Scan(scan::ScanFiles) takes [Limits Remote], memory 16;
    dump: Dump(dump::Dump) takes [Limits Stream Remote], memory if dump.container { 24 } else { 6 };
    #[cfg(not(target_family = "wasm"))]
    build: Build(build::Build) takes [Limits Stream], memory 36;
    tensors: Tensors(tensors::Tensors) takes [Limits Stream Remote], memory 24, json tensors.format.is_json();
    size: Size(size::Size) takes [Limits Stream Remote], memory 24, json size.format.is_json();
    memory: Memory(memory::Memory) takes [Limits Stream Remote], memory 32, json memory.format.is_json();
    profile: Profile(profile::ShowProfile) takes [Limits Stream], memory 24, json profile.format.is_json();
    map: Map(map::MapFile) takes [Limits Stream Remote], memory if map.is_page() { 40 } else { 32 }, json map.format.is_json();
    ops: Ops(ops::Ops) takes [Limits Stream Remote], memory 24, json ops.format.is_json();
    graph: Graph(graph::Graph) takes [Limits Stream Remote],
        memory if graph.is_explorer() { 128 } else { 16 }, json graph.format.is_json();
    diff: Diff(diff::Diff) takes [Limits Stream Remote], memory 24, json diff.format.is_json();
    extract: Extract(extract::Extract) takes [Limits Stream Remote], memory 24;
    #[cfg(not(target_family = "wasm"))]
    edit: Edit(edit::Edit) takes [Limits Stream], memory if edit.externalizes() { 48 } else { 36 };
    #[cfg(not(target_family = "wasm"))]
    embed: Embed(embed::Embed) takes [Limits Stream Remote], memory 24, json embed.is_json();
    #[cfg(not(target_family = "wasm"))]
    convert: Convert(convert::Convert) takes [Limits Stream], memory 36;
    #[cfg(not(target_family = "wasm"))]
    view: View(view::View) takes [Limits Findings], memory 1;
    explain: Explain(rules::Explain) takes [], memory 1;
    rules: Rules(rules::Rules) takes [], memory 1;
    schema: Schema(schema::Schema) takes [], memory 1;
    #[cfg(not(target_family = "wasm"))]
    completions: Completions(complete::Completions) takes [], memory 1;
    #[cfg(not(target_family = "wasm"))]
    man: Man(man::Man) takes [], memory 1;
}

impl Verb {
    /// Returns whether the common argument `argument` has an effect on the verb `name`.
    pub(super) fn takes(name: &str, argument: &str) -> bool {
        let groups = GROUPS.iter().find(|(verb, _)| *verb == name);
        let group = Group::of(argument);
        group.is_none_or(|group| groups.is_some_and(|(_, groups)| groups.contains(&group)))
    }
}
