//! Tests that the cost of all rules grows at most as n log n with the size of the FlatBuffer.

use std::collections::BTreeSet;
use std::fs;

use pte::check::{Check, Checker, Policy, RULES, RuntimeBuild};
use pte::flat::cost;
use pte::map::{ByteInfo, Map, Nesting};
use pte::operators::selected::SelectedOperators;
use pte::payload::PayloadContents;
use pte::{File, Handle, Limits, Ptd};

use crate::support::archive::{Member, archive, torch};
use crate::support::hostile::{Made, families};
use crate::support::mapped::ask_rows;

mod explorer;
mod graph;
mod memory;
mod tensors;

/// The limits of costs that grow with the size of a file.
pub(crate) struct GrowthLimits {
    /// The maximum number of steps for each byte, divided by the binary logarithm of the size.
    pub(crate) most_steps: f64,
    /// The maximum growth of the steps, divided by the growth of the bytes.
    pub(crate) most_growth: f64,
    /// The number of steps for each byte, divided as above, below which any growth is allowed:
    /// constant costs dominate.
    pub(crate) few_steps: f64,
}

impl GrowthLimits {
    /// Adds a line to `wrong` for each size at which a family of files exceeds the limits. `costs`
    /// are the steps and the bytes by size, from the smallest on; `None` if there is no such file.
    pub(crate) fn compare(
        &self,
        name: &str,
        costs: &[Option<(f64, f64)>],
        wrong: &mut Vec<String>,
    ) {
        for pair in costs.windows(2) {
            let [Some((few, less)), Some((many, more))] = pair else { continue };
            let (growth, each) = ((many / few) / (more / less), many / (more * more.log2()));
            if each > self.most_steps || growth > self.most_growth && each > self.few_steps {
                wrong.push(format!("{name}: {each:.2} steps, growing {growth:.2} times"));
            }
        }
    }
}

/// The cost of judging a file, and the findings.
struct Cost {
    bytes: usize,
    steps: u64,
    /// For each broken rule, its subject and the number of its findings.
    broken: Vec<(&'static str, u64)>,
}

impl Cost {
    /// Runs every kind of check on a file, and counts the cost.
    fn of(Made(file, data): &Made) -> Self {
        let limits = Limits::UNTRUSTED;
        let opened = Handle::open(&file[..], &limits).unwrap();
        let data: Vec<_> = data.iter().map(|data| Ptd::read(data).unwrap()).collect();
        let file = opened.file();
        let region = file.region_range();
        let own = (region.end - region.start) as usize;
        let bytes = own + data.iter().map(|data| data.region().len()).sum::<usize>();
        cost::taken();
        // A build of the runtime without kernels and backends lacks all.
        let (kernels, backends) = (SelectedOperators::read("").ok(), Some(BTreeSet::new()));
        let build = RuntimeBuild { kernels, backends };
        let policy = Policy::new().runtime((0, 1)).max_memory(0);
        let checker = Checker::new().data(&data).policy(policy).build(&build);
        let mut reports = vec![checker.check(&opened).unwrap()];
        reports.extend(data.iter().map(Check::check));
        // The cost of a map counts too, and must keep to the same limits as the rules.
        let payloads = PayloadContents::all_with_parts(&opened, &limits).unwrap();
        let map = Map::in_detail_with_payloads(&file, &payloads);
        ask_rows(map.ranges(Nesting { depth: 9, most: 16 }).rows(), 0..file.file_len());
        drop(ByteInfo::of(&file, region.end / 2));
        data.into_iter().for_each(|data| drop(Map::of(&File::Ptd(data))));
        let steps = cost::taken();
        let counts = reports.iter().flat_map(pte::check::Report::counts);
        let broken = counts.map(|(rule, count)| (rule.subject, count)).collect();
        Self { bytes, steps, broken }
    }

    /// Returns the cost per byte, divided by the binary logarithm of the size.
    fn each(&self) -> f64 {
        self.steps as f64 / (self.bytes as f64 * f64::from(self.bytes.ilog2()))
    }
}

#[test]
fn no_file_makes_a_rule_take_more_than_n_log_n_steps() {
    let mut wrong = Vec::new();
    let mut reached = BTreeSet::new();
    for family in families() {
        let name = &family.name;
        let costs = SIZES.map(|n| {
            let cost = Cost::of(&family.make(n));
            for subject in family.subjects {
                let most =
                    cost.broken.iter().filter(|(of, _)| of == subject).map(|(_, n)| *n).max();
                if most < Some(n as u64 / 16) {
                    wrong.push(format!("{name}: {subject} is broken {most:?} times of {n}"));
                }
            }
            cost
        });
        reached.extend(family.subjects.iter().copied());
        let growth = costs.windows(2).map(|pair| {
            let (steps, bytes) = (
                pair[1].steps as f64 / pair[0].steps as f64,
                pair[1].bytes as f64 / pair[0].bytes as f64,
            );
            steps / bytes
        });
        let growth = growth.fold(0.0, f64::max);
        let each = costs.iter().map(Cost::each).fold(0.0, f64::max);
        if growth > MOST_GROWTH || each > MOST_STEPS {
            wrong
                .push(format!("{name}: {each:.2} steps, growing {growth:.2} times with the bytes"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let subjects = RULES.iter().map(|rules| rules[0].subject);
    // A file has at most one finding on its kind, and records are no programs: see below.
    let is_attacked = |subject: &&str| !["kind", "record"].contains(subject);
    let subjects: BTreeSet<_> = subjects.filter(is_attacked).collect();
    assert_eq!(reached, subjects, "every subject is attacked");
}

/// Records are judged without a program.
#[test]
fn no_record_takes_more_than_n_log_n_steps() {
    type Make = fn(usize) -> Vec<u8>;
    let families: [(&str, &str, Make); 4] = [
        ("n storages in an archive", "x_state_dict", |n| {
            let names: Vec<_> = (0..n).map(|nth| format!("a/data/{nth}")).collect();
            torch(&names.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>())
        }),
        ("an archive with a long name", "x_state_dict", |n| {
            torch(&[(&format!("a/{}", "n".repeat(n)), b"")])
        }),
        ("n open arrays", "x", |n| vec![b'['; n]),
        ("n numbers", "x", |n| [b"[", &b"1,".repeat(n)[..]].concat()),
    ];
    let limits = GrowthLimits { most_steps: MOST_STEPS, most_growth: MOST_GROWTH, few_steps: 0.5 };
    let mut wrong = Vec::new();
    for (family, name, make) in families {
        let costs = SIZES.map(|n| {
            let attack = make(n);
            // The directory of a record has at most 65,536 bytes.
            let names: Vec<_> = (0..64).map(|nth| format!("{nth}{name}")).collect();
            let names = names.iter().flat_map(|name| [name.trim_end_matches("_state_dict"), name]);
            let names: BTreeSet<_> = names.collect();
            let mut members: Vec<Member<'_>> = vec![("ETRECORD_V0", b"", 0)];
            members.extend(names.into_iter().map(|name| -> Member<'_> { (name, &attack, 0) }));
            let file = archive(&members);
            cost::taken();
            let report = Checker::new().check_payload(&file).unwrap();
            assert!(report.counts().any(|(rule, _)| rule.subject == "record"), "{family}");
            Some((cost::taken() as f64, file.len() as f64))
        });
        limits.compare(family, &costs, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn genuine_files_take_few_steps() {
    for folder in ["tests/data/pte", "tests/data/ptd"] {
        for entry in fs::read_dir(crate::support::files::path(folder)).unwrap() {
            let path = entry.unwrap().path();
            let file = fs::read(&path).unwrap();
            let len = file.len() as u64;
            let steps = Cost::of(&Made(file, vec![])).steps;
            let most = len * MOST_STEPS_OF_GENUINE;
            assert!(0 < steps && steps <= most, "{}: {steps} steps", path.display());
        }
    }
}

/// The sizes `n` that a file of each family is made with.
pub(crate) const SIZES: [usize; 2] = [256, 1024];
/// The largest growth of the cost relative to the size when `n` is four times as large. n log n needs 1.25, and n² 4.
pub(crate) const MOST_GROWTH: f64 = 1.4;
/// The largest allowed cost per byte, divided by the binary logarithm of the size.
const MOST_STEPS: f64 = 5.0;
/// The largest allowed cost per byte of a genuine file.
const MOST_STEPS_OF_GENUINE: u64 = 8;
