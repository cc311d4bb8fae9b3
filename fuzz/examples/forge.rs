//! Files of a class for fuzzing, the same for the same seed: `--help`, and docs/fuzzing.md.
//!
//! An example, since `cargo fuzz` takes each program of the package for a fuzz target.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, thread};

use pte_fuzz::forge::tar::Archive;
use pte_fuzz::forge::{
    Class, ELSEWHERE, Sample, make, manifest, rules_of_files, rules_of_pairs, set_programs,
};

const HELP: &str = "\
Makes files of a class for fuzzing a runtime or a parser.

The same class, seed and number give the same bytes. A file does not depend on the count.

Usage: forge --class CLASS --count N --seed S --out FOLDER
       forge --class CLASS --count N --seed S --out FILE.tar
       forge --rules

  --class CLASS  what the files are:
                   sound     programs that break no rule of severity Error
                   runnable  sound programs that need no backend and no data of another file
                   broken    files that break one rule of severity Error and no other
                   damaged   files with damaged bytes; some are still sound
                   data      sound data files (.ptd) of all four generations
                   pairs     a program with its data files: every second pair is sound,
                             the others break one rule together
                   mixed     sound files for campaigns against a runtime
                   calls     sound programs with one call of any operator
                   refused   programs whose only Errors are of rules about kernels
                   tangled   sound programs with one call whose arguments alias each other
                   graphs    sound programs with one call of a graph of XNNPACK's backend
                   graphs-broken  the same, with one to three changes that break no rule
                             of severity Error
                   rewired   genuine programs with other operands, moves, frees and jumps, which
                             break no rule of severity Error
  --count N      the number of samples [1000]
  --first N      the number of the first sample [0]
  --seed S       the seed, a number below 2^64 [1]
  --programs P   the folder of the programs that rewired changes [tests/data/pte]
  --out PATH     the folder to write to, or the archive if the name ends with .tar
  --rules        print the rules that the classes broken and pairs break, and those that no file breaks
  --help         print this text

Beside the files lies manifest.jsonl, with a JSON document a line: class, seed, number, the rule that
the sample breaks, the release that the rule is about, all rules of severity Error that the library
finds, the name, SHA-256 and size of each file, and a place for the runtime's verdict.
";

struct Order {
    class: Class,
    first: u64,
    count: u64,
    seed: u64,
    out: PathBuf,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "--rules") {
        rules_of_files().iter().for_each(|id| println!("broken {id}"));
        rules_of_pairs().iter().for_each(|id| println!("pairs {id}"));
        ELSEWHERE.iter().for_each(|(id, reason)| println!("none {id}: {reason}"));
        return ExitCode::SUCCESS;
    }
    let order = match order(&args) {
        Ok(order) => order,
        Err(message) => {
            eprintln!("error: {message}\nFor the options, try --help.");
            return ExitCode::from(2);
        }
    };
    match write(&order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {}: {message}", order.out.display());
            ExitCode::from(3)
        }
    }
}

fn order(args: &[String]) -> Result<Order, String> {
    let (mut class, mut out) = (None, None);
    let (mut first, mut count, mut seed) = (0, 1000, 1);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let value = args.next().ok_or_else(|| format!("{name} has no value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} {value}: not a number"));
        match name.as_str() {
            "--class" => {
                class = Some(Class::named(value).ok_or_else(|| format!("no class {value}"))?);
            }
            "--count" => count = number()?,
            "--first" => first = number()?,
            "--seed" => seed = number()?,
            "--programs" => {
                set_programs(Path::new(value)).map_err(|error| format!("{value}: {error}"))?;
            }
            "--out" => out = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let class = class.ok_or("--class is missing")?;
    let out = out.ok_or("--out is missing")?;
    first.checked_add(count).ok_or("--first and --count are too large")?;
    Ok(Order { class, first, count, seed, out })
}

/// The place of the files.
enum Out {
    Folder(PathBuf),
    Archive(Archive<BufWriter<File>>),
}

impl Out {
    fn new(path: &Path) -> io::Result<Self> {
        if path.extension().is_some_and(|extension| extension == "tar") {
            return Ok(Self::Archive(Archive::new(BufWriter::new(File::create(path)?))));
        }
        fs::create_dir_all(path)?;
        Ok(Self::Folder(path.to_owned()))
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Folder(folder) => fs::write(folder.join(name), bytes),
            Self::Archive(archive) => archive.add(name, bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Archive(archive) => archive.finish().map(drop),
        }
    }
}

/// Samples that are made before any is written.
const BATCH: u64 = 1024;

fn write(order: &Order) -> Result<(), String> {
    let fail = |error: io::Error| error.to_string();
    let mut out = Out::new(&order.out).map_err(fail)?;
    let mut lines = String::new();
    let mut distinct = BTreeSet::new();
    let end = order.first + order.count;
    let mut next = order.first;
    while next < end {
        let until = end.min(next.saturating_add(BATCH));
        for (number, sample) in (next..until).zip(batch(order, next, until)) {
            let sample = sample?;
            let names = manifest::names(order.class, number, &sample);
            let contents = [&sample.file].into_iter().chain(&sample.data);
            for (name, bytes) in names.iter().zip(contents) {
                out.add(name, bytes).map_err(fail)?;
            }
            lines.push_str(&manifest::line(order.class, order.seed, number, &sample));
            lines.push('\n');
            distinct.insert((sample.file, sample.data));
        }
        next = until;
    }
    out.add("manifest.jsonl", lines.as_bytes()).map_err(fail)?;
    out.finish().map_err(fail)?;
    eprintln!("{} samples, {} of them distinct", order.count, distinct.len());
    Ok(())
}

/// Makes the samples from `begin` to `end`, on all cores.
fn batch(order: &Order, begin: u64, end: u64) -> Vec<Result<Sample, String>> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let each = (end - begin).div_ceil(threads).max(1);
    thread::scope(|scope| {
        let starts = (begin..end).step_by(usize::try_from(each).unwrap_or(1));
        let parts: Vec<_> = starts
            .map(|from| {
                scope.spawn(move || {
                    let numbers = from..end.min(from + each);
                    let made = numbers.map(|number| make(order.class, order.seed, number));
                    made.map(|made| made.map_err(|error| error.to_string())).collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = parts.into_iter().map(|part| part.join());
        joined
            .flat_map(|part| part.unwrap_or_else(|_| vec![Err("a thread failed".into())]))
            .collect()
    })
}
