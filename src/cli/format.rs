//! The formats of a verb's output, and the arguments that choose one.

use clap::{Args, ValueEnum};

use super::output::Content;

/// The formats that a verb can write.
pub(super) trait Formats: ValueEnum + Copy + Eq + Send + Sync + 'static {
    /// The name of the format without arguments. A name, since clap keeps a typed default in a static that all
    /// formats would share.
    const DEFAULT: &'static str = "text";
    /// The format of `--json`.
    const JSON: Self;
}

/// The format of most verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    Text,
    Json,
}

impl Formats for TextOrJson {
    const JSON: Self = Self::Json;
}

/// The arguments that choose one of the formats `F`.
#[derive(Debug, Args)]
pub(super) struct Format<F: Formats = TextOrJson> {
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = F::DEFAULT)]
    format: F,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl<F: Formats> Format<F> {
    /// Returns the chosen format.
    pub(super) fn chosen(&self) -> F {
        if self.json { F::JSON } else { self.format }
    }

    /// Returns whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.chosen() == F::JSON
    }

    /// Returns the kind of content: text for people, or for programs.
    pub(super) fn content(&self) -> Content {
        let value = self.chosen().to_possible_value();
        let is_text = value.is_some_and(|value| value.get_name() == "text");
        if is_text { Content::Text } else { Content::Plain }
    }
}
