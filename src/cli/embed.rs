//! `pte embed`: a program as source code of a firmware, and whether it fits a board.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::File;
use pte::check::Checker;
use pte::firmware::{Board, Fit, Requirements, identifier};
use pte::quoted::UntrustedString;

use self::source::{Code, Source};
use super::Common;
use super::input::{self, Input, Readable};
use super::output::{Content, Output};
use super::problem::{Problem, Status, bad_news};
use super::text::wide;

mod asm;
mod board;
mod c;
mod header;
mod rust;
mod show;
mod source;

/// Write a program as source code for firmware, or compare it with a board
///
/// The source has the bytes of the file, aligned as its runtime and its segments ask for. The header has
/// its size, its methods with the bytes of each arena, input and output, and the operators, dtypes and
/// backends to register. A file with an Error is refused, and nothing is written for a board that it does
/// not fit.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte embed model.pte                              what a firmware needs of it
  pte embed model.pte -o model.c                   or .cpp, .S (with .incbin), .rs
  pte embed model.pte -o model.h                   the header of .c, .cpp and .S
  pte embed model.pte --section network_model_sec -o model.c
  pte embed model.pte --format yaml -o selected_operators.yaml
  pte embed model.pte --board board.toml           exit status 1 if it does not fit
  pte embed --json model.pte | jq '.methods[].arenas'

A board is a TOML file:
  name = \"My board\"                    and source = \"…\", where its numbers come from
  flash = { size = \"2 MiB\", reserved = \"256 KiB\" }
  sram = { size = \"512 KiB\", reserved = \"64 KiB\" }
  regions.dtcm = { size = \"128 KiB\", memory_ids = [2] }
  operators = [\"portable\", \"aten::add.out\", \"selected_operators.yaml\"]
  backends = [\"EthosUBackend\"]
  loads = \"all\"                        or \"one\" method at a time
Needed are name, flash and sram. Arenas without a region are in sram. The firmware itself takes
what is reserved. Without operators or backends these are not judged.

JSON, \"schema\": \"pte.embed/1\":
  bytes, sha256, alignment, alignment_reason (runtime, segments or tables)
  external   bytes of constants that lie in a .ptd
  methods    name, identifier, arenas (id, bytes, peak), inputs and outputs (as in pte info, with
             bytes), unplanned (bytes of inputs and outputs outside of arenas), method_allocator,
             temporary_allocator (bytes, as in pte memory, for pointers of 32 bits)
  operators, backends   as in pte ops
  board      null without --board; name, source, fits, regions (name, bytes, reserved, needed, over,
             uses), missing, missing_dtypes, missing_backends, advice

Exit status: 0 written, 1 broken, with an Error, or too large for the board, 2 usage, 3 not readable or
writable")]
pub(super) struct Embed {
    /// A program, or - for standard input.
    file: PathBuf,
    /// Output format. The default is that of the output's name, or text.
    #[arg(long, value_name = "FORMAT")]
    format: Option<EmbedFormat>,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The identifier of the bytes. The default is the file's name, such as `model_pte`.
    #[arg(long, value_name = "IDENTIFIER", value_parser = plain_identifier)]
    name: Option<String>,
    /// The linker's section for the bytes.
    #[arg(long, value_name = "SECTION", value_parser = section)]
    section: Option<String>,
    /// A larger alignment than the file asks for: a power of two.
    #[arg(long, value_name = "BYTES", value_parser = super::edit::power_of_two)]
    align: Option<u64>,
    /// Fail if the program does not fit this board, a TOML file.
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Write a file that has an Error, or does not fit the board.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EmbedFormat {
    Text,
    Json,
    /// C source.
    C,
    /// C++ source.
    Cpp,
    /// The header of C, C++ and assembler source.
    Header,
    /// Source for the GNU assembler, with .incbin.
    Asm,
    /// A Rust module.
    Rust,
    /// The `selected_operators.yaml` of a selective build.
    Yaml,
}

impl Embed {
    /// Whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.json || self.format == Some(EmbedFormat::Json)
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let format = self.format(common)?;
        let inputs: Vec<_> = [&self.file].into_iter().chain(&self.board).cloned().collect();
        input::once(&inputs)?;
        let board = self.board.as_deref().map(board::read).transpose()?;
        let limits = common.limits();
        let input = Input::open(&self.file, &limits)?;
        self.refuse_errors(&input, common)?;
        let needs = Requirements::read(input.name.clone(), &input.opened, &limits);
        let needs = needs.map_err(|error| Problem::open(&input.name, error))?;
        if needs.method_count > wide(needs.methods.len()) {
            let message = format!("{} methods exceed the limit of 1,024", needs.method_count);
            return Err(input.absent(message));
        }
        let fit = board.as_ref().map(|board| (board, needs.fit(board)));
        let fit = fit.as_ref().map(|(board, fit)| (*board, fit));
        let fits = fit.is_none_or(|(_, fit)| fit.fits());
        let is_report = matches!(format, EmbedFormat::Text | EmbedFormat::Json);
        let status = if fits { Status::Good } else { Status::BadNews };
        if !fits && !is_report {
            let lines = fit.into_iter().flat_map(|(board, fit)| show::problems(board, fit));
            lines.for_each(|line| bad_news(&format!("{}: {line}", input.name)));
            if !self.force {
                return Ok(status);
            }
        }
        let content = if format == EmbedFormat::Text { Content::Text } else { Content::Plain };
        let out = Output::beside(common.output.as_deref(), content, &inputs)?.with_answer();
        out.finish_with(|out| self.write(format, (&input, &needs), fit, out))?;
        Ok(status)
    }

    /// Returns the format from the arguments, or from the output's name.
    fn format(&self, common: &Common) -> Result<EmbedFormat, Problem> {
        let output = common.output.as_deref().filter(|path| path.as_os_str() != "-");
        match (self.json, self.format, output) {
            (true, ..) => Ok(EmbedFormat::Json),
            (_, Some(format), _) => Ok(format),
            (_, _, None) => Ok(EmbedFormat::Text),
            (_, _, Some(path)) => EmbedFormat::of(path).ok_or_else(|| {
                let message = "the output's name ends in none of .c, .cpp, .h, .S, .rs, .yaml, .json and .txt: \
                               give --format";
                Problem::Usage(message.into())
            }),
        }
    }

    fn refuse_errors(&self, input: &Input, common: &Common) -> Result<(), Problem> {
        if self.force {
            return Ok(());
        }
        let report = Checker::new().limits(common.limits()).check(&input.opened);
        let report = report.map_err(|error| Problem::open(&input.name, error))?;
        let Some(id) = report.errors().next().map(|rule| rule.id) else { return Ok(()) };
        Err(input.absent(format!(
            "the file has an Error, {id}: nothing is written (see pte explain {id}; --force writes it)"
        )))
    }

    fn write(
        &self,
        format: EmbedFormat,
        (input, needs): (&Input, &Requirements),
        fit: Option<(&Board, &Fit<'_>)>,
        out: &mut Output,
    ) -> Result<(), Problem> {
        if format == EmbedFormat::Yaml {
            let File::Pte(_) = input.opened.file() else {
                return Err(input.absent("this is a .ptd, which has no operators".into()));
            };
            return out.bytes(needs.usage.to_yaml().as_bytes());
        }
        let sha256 = input.sha256(0..input.opened.file_len())?;
        let alignment = needs.alignment.bytes.max(self.align.unwrap_or(1));
        let symbol = self.name.clone().unwrap_or_else(|| symbol_of(&self.file));
        let source = Source {
            file: file_name(&self.file),
            prefix: symbol.to_ascii_uppercase(),
            symbol,
            needs,
            sha256: &sha256,
            alignment,
            section: self.section.as_deref(),
        };
        let code = match format {
            EmbedFormat::Text => {
                return out.bytes(show::text(&input.name, &source, fit).as_bytes());
            }
            EmbedFormat::Json => return out.json(&needs.document(&input.name, &sha256, fit)),
            EmbedFormat::C => c::code(&source, c::Language::C),
            EmbedFormat::Cpp => c::code(&source, c::Language::Cpp),
            EmbedFormat::Header => Code { before: header::text(&source), ..Code::default() },
            EmbedFormat::Rust => rust::code(&source),
            EmbedFormat::Asm => {
                let start = input.bundle.as_ref().map_or(0, |bundle| bundle.program.start);
                asm::code(&source, self.on_disk()?, start)
            }
            EmbedFormat::Yaml => return Ok(()),
        };
        code.write(input, out)
    }

    /// Returns the path for an assembler, which reads the file itself.
    fn on_disk(&self) -> Result<&Path, Problem> {
        match self.file.is_file() && !input::is_stream(&self.file) {
            true => Ok(&self.file),
            false => {
                Err(Problem::Usage("assembler source needs the path of a file on this disk".into()))
            }
        }
    }
}

impl EmbedFormat {
    /// Returns the format that a file's name ends in.
    fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "c" => Self::C,
            "cc" | "cpp" | "cxx" => Self::Cpp,
            "h" | "hpp" => Self::Header,
            "s" => Self::Asm,
            "rs" => Self::Rust,
            "yaml" | "yml" => Self::Yaml,
            "json" => Self::Json,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

/// Returns the last part of a path, which does not depend on the folder of the build.
fn file_name(path: &Path) -> UntrustedString {
    match path.file_name().filter(|_| path.as_os_str() != "-") {
        Some(name) => name.into(),
        None => "standard input".into(),
    }
}

/// Returns the identifier for the bytes of a file, such as `linear_pte`.
fn symbol_of(path: &Path) -> String {
    let name = path.file_name().and_then(|name| identifier(name.to_str()?));
    match name {
        Some(name) if name.starts_with(|c: char| c.is_ascii_digit()) => format!("model_{name}"),
        // `int.pte` has the word `int`, which is none.
        Some(name) if name.contains('_') && !is_keyword(&name) => name,
        Some(name) => format!("{name}_pte"),
        None => "model_pte".into(),
    }
}

/// Parses the name of a variable.
fn plain_identifier(text: &str) -> Result<String, String> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_plain = text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    match begins && is_plain {
        true if is_keyword(text) => {
            Err("expected no keyword of C or C++ and no name that compilers define".into())
        }
        true => Ok(text.into()),
        false => Err("expected letters, digits and underscores, such as model_pte".into()),
    }
}

/// Returns whether compilers of C or C++ refuse an array of this name.
fn is_keyword(name: &str) -> bool {
    KEYWORDS.split_ascii_whitespace().any(|keyword| keyword == name)
}

/// The keywords of C23 and C++23, and the names that compilers define.
const KEYWORDS: &str = "
    _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn
    _Pragma _Static_assert _Thread_local alignas alignof and and_eq asm auto bitand bitor bool break case catch char
    char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false float for
    friend goto if inline int linux long main mutable namespace new noexcept not not_eq nullptr operator or or_eq
    private protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof
    typeof_unqual union unix unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Parses the name of a linker's section. Other characters would end the name in one of the languages.
fn section(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|c| c.is_ascii_alphanumeric() || b"._$".contains(&c));
    match is_plain && !text.is_empty() {
        true => Ok(text.into()),
        false => Err(
            "expected letters, digits, dots, dollar signs and underscores, such as .rodata.model"
                .into(),
        ),
    }
}
