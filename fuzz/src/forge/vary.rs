//! Files with more in them, and laid out in another way.

use pte::file::FileKind;
use pte::flat::write::WriterLayout;
use pte::model::{AnyPtd, Blob, FileModel, HeaderForm, PteModel, RootStruct};
use pte::{File, Limits};

use super::{data, image};
use crate::mutate::Xorshift;
use crate::smith;

/// Returns a variant of a file. It may break other rules.
pub(super) fn file(bytes: &[u8], random: &mut Xorshift) -> Option<Vec<u8>> {
    let kind = pte::file::sniff(&bytes[..bytes.len().min(64)]).ok()?;
    if kind == FileKind::Pte {
        let Ok(File::Pte(pte)) = File::read_with(bytes, &Limits::UNTRUSTED) else { return None };
        let mut model = pte.to_model().ok()?;
        program(&mut model, random);
        return image(&model);
    }
    let Ok(File::Ptd(ptd)) = File::read_with(bytes, &Limits::UNTRUSTED) else { return None };
    match ptd.to_model().ok()? {
        AnyPtd::Current(mut model) => {
            for _ in 0..random.below(4) {
                data::push(&mut model, random);
            }
            container(&mut model, random);
            image(&model)
        }
        AnyPtd::Legacy(mut model) => {
            for _ in 0..random.below(4) {
                data::push_legacy(&mut model, random);
            }
            container(&mut model, random);
            image(&model)
        }
    }
}

/// Adds methods and named data to a program, and lays it out in another way.
fn program(model: &mut PteModel<'_>, random: &mut Xorshift) {
    if random.below(4) > 0
        && let Some(own) = &mut model.root.execution_plan
        && let Some(others) = super::model(smith::apart, random)
    {
        for (nth, mut plan) in others.root.execution_plan.into_iter().flatten().enumerate() {
            plan.name = Some(format!("other_{nth}_{:x}", random.below(1 << 16)));
            own.insert(random.below(own.len() + 1), plan);
        }
    }
    if random.below(4) == 0 {
        let key = format!("blob {:x}", random.below(1 << 16));
        model.set_data(&key, data::bytes(1 + random.below(40), random).into());
    }
    container(model, random);
}

/// Changes the header, the alignments and the bytes after the segments.
fn container<R: RootStruct>(model: &mut FileModel<'_, R>, random: &mut Xorshift) {
    let is_program = R::SCHEMA.extension == "pte";
    if random.below(2) == 0 {
        let force_align = [None, None, Some(16), Some(64)][random.below(4)];
        let layout = WriterLayout::ALL[random.below(WriterLayout::ALL.len())];
        model.container.layout = WriterLayout { force_align, ..layout };
    }
    if random.below(2) == 0 {
        model.align([1, 16, 64, 128][random.below(4)]);
    }
    if is_program && random.below(2) == 0 {
        let (length, chunk) = [(32, 32), (24, 32), (40, 48), (32, 64)][random.below(4)];
        model.container.header = Some(HeaderForm::Inserted { length, chunk });
    }
    let len = random.below(24);
    model.container.trailing = Blob::from(data::bytes(len, random));
}
