//! The grammar of the command line: which common arguments each verb shows, and which values shells
//! offer.

use clap::{Arg, Command, CommandFactory};
#[cfg(not(target_family = "wasm"))]
use clap_complete::{ArgValueCandidates, CompletionCandidate};

#[cfg(not(target_family = "wasm"))]
use super::complete;
use super::{Arguments, Verb};

/// Returns the whole command. Each verb hides the common arguments that have no effect on it.
pub(super) fn command() -> Command {
    let mut command = Arguments::command();
    let common: Vec<Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().into()).collect();
    for name in verbs {
        let others = common.iter().filter(|arg| !Verb::takes(&name, arg.get_id().as_str()));
        let mut own: Vec<_> = others.map(|arg| arg.clone().hide(true)).collect();
        if name == "scan" {
            let output = common.iter().find(|arg| arg.get_id() == "output");
            let help = "The folder for the rows";
            own.extend(output.map(|arg| arg.clone().value_name("FOLDER").help(help)));
        }
        command = command.mut_subcommand(name, |verb| complete(verb.args(own)));
    }
    command
}

#[cfg(target_family = "wasm")]
fn complete(verb: Command) -> Command {
    verb
}

/// A function that returns the values that a shell offers.
#[cfg(not(target_family = "wasm"))]
type Candidates = fn() -> Vec<CompletionCandidate>;

/// Adds the values that shells offer for the arguments of a verb.
#[cfg(not(target_family = "wasm"))]
fn complete(verb: Command) -> Command {
    let values: [(&str, Candidates); 6] = [
        ("allow", complete::rules),
        ("deny", complete::rules),
        ("rule", complete::rules),
        ("preset", complete::presets),
        ("verb", names),
        ("method", complete::methods),
    ];
    values.into_iter().fold(verb, |verb, (id, candidates)| {
        let has = verb.get_arguments().any(|arg| arg.get_id() == id);
        match has {
            true => verb.mut_arg(id, |arg| arg.add(ArgValueCandidates::new(candidates))),
            false => verb,
        }
    })
}

#[cfg(not(target_family = "wasm"))]
fn names() -> Vec<CompletionCandidate> {
    let command = Arguments::command();
    command.get_subcommands().map(|verb| CompletionCandidate::new(verb.get_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn verbs_that_read_no_file_show_no_limits() {
        let mut command = command();
        command.build();
        for (verb, shown, hidden) in [
            ("explain", &["color", "output"][..], &["limits", "max_stream"][..]),
            ("check", &["limits", "max_findings"], &[]),
            ("build", &["max_program"], &["max_findings"]),
            ("info", &["max_stream"], &["max_findings"]),
            #[cfg(feature = "remote")]
            ("explain", &[], &["offline"]),
            #[cfg(feature = "remote")]
            ("check", &["offline"], &[]),
            #[cfg(feature = "remote")]
            ("build", &[], &["max_requests"]),
            #[cfg(feature = "remote")]
            ("info", &["max_requests"], &[]),
        ] {
            let verb = command.find_subcommand(verb).unwrap();
            let of = |id: &str| verb.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            for id in shown {
                assert!(!of(id).is_hide_set(), "{} {id}", verb.get_name());
            }
            for id in hidden {
                assert!(of(id).is_hide_set(), "{} {id}", verb.get_name());
            }
        }
        command.debug_assert();
    }
}
