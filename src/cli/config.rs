//! `pte.toml`: the settings of a team for `check`, `size` and `memory`.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Common;
use super::input;
use super::output::Output;
use super::problem::{Problem, Status, note};
use super::text::name_of;

/// Where the settings come from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(super) struct ConfigArguments {
    /// Take the settings of this file. The default is the nearest pte.toml: in the current folder or
    /// above it, up to the root of the repository.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Take the settings of no file.
    #[arg(long)]
    no_config: bool,
}

/// The settings of a file, with a section for each verb. Arguments of the command line extend the
/// file's lists, and replace its single values.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    pub(super) check: CheckConfig,
    pub(super) size: SizeConfig,
    pub(super) memory: MemoryConfig,
    /// The path of the file. Paths in the file are relative to its folder.
    #[serde(skip)]
    path: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CheckConfig {
    pub(super) preset: Option<String>,
    pub(super) runtime: Option<String>,
    pub(super) allow: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) baseline: Option<PathBuf>,
    pub(super) require_data: bool,
    pub(super) max_memory: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SizeConfig {
    pub(super) budget: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MemoryConfig {
    pub(super) budget: Vec<String>,
}

impl ConfigArguments {
    /// Reads the settings, and reports on standard error which file was found.
    pub(crate) fn read(&self, common: &Common) -> Result<Config, Problem> {
        if self.no_config {
            return Ok(Config::default());
        }
        let found = if self.config.is_some() { None } else { nearest() };
        if let Some(path) = found.as_deref().filter(|_| !common.quiet) {
            note(&format!("settings of {}", name_of(path)));
        }
        let Some(path) = self.config.as_deref().or(found.as_deref()) else {
            return Ok(Config::default());
        };
        Output::refuse_input(common.output.as_deref(), path)?;
        Config::read(path)
    }
}

impl Config {
    fn read(path: &Path) -> Result<Self, Problem> {
        let mut config: Self = read_toml(path)?;
        config.path = Some(path.into());
        Ok(config)
    }

    /// Returns the path of the baseline.
    pub(super) fn baseline(&self) -> Option<PathBuf> {
        let folder = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        Some(folder.join(self.check.baseline.as_ref()?))
    }
}

/// Reads a TOML file.
pub(super) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let no_text = |no_text| Problem::no_text(path, no_text, Status::Usage);
    let text = input::read_text(path)?.map_err(no_text)?;
    toml::from_str(&text).map_err(|error| invalid(path, &text, &error))
}

/// Returns the problem of an invalid file, with the line and the column of the error.
fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    Problem::Text {
        file: name_of(path),
        error: error.message().into(),
        place: format!("line {line}, column {column}").into(),
        help: None,
        status: Status::Usage,
    }
}

/// Returns the nearest `pte.toml`, in the current folder or above it. The search ends at the root of a
/// repository.
fn nearest() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    for (depth, folder) in here.ancestors().enumerate() {
        if folder.join(NAME).is_file() {
            // The path is relative, as the user would write it.
            let up: PathBuf = core::iter::repeat_n("..", depth).collect();
            return Some(up.join(NAME));
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

const NAME: &str = "pte.toml";
