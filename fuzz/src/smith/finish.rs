//! The parts that all methods share: constants, states, named data and the container.

use arbitrary::Result;
use pte::flat::write::WriterLayout;
use pte::model::{Blob, HeaderForm, PteModel};
use pte::schema::program::model;

use super::{Calls, Smith};

impl Smith<'_, '_> {
    /// Adds the parts that all methods share, and returns the program.
    pub(super) fn finish(mut self) -> Result<PteModel<'static>> {
        let swarm = self.swarm;
        if swarm.constants_inline() {
            self.file.root.constant_buffer = Some(vec![model::Buffer::default()]);
        }
        // Without a list of them, today's runtimes look for constants in the old place, and refuse it.
        if self.constants.len() > 1 || self.calls != Calls::Valid {
            let set = self.file.set_constants(self.constants);
            set.unwrap_or_else(|error| panic!("constants in memory: {error}"));
        }
        if self.states.len() > 1 {
            let mut offsets = Vec::new();
            let mut data = Vec::new();
            for state in &self.states {
                offsets.push(data.len() as u64);
                data.extend_from_slice(state);
            }
            let segment_index = self.file.add_segment(data.into());
            let states = model::SubsegmentOffsets { segment_index, offsets: Some(offsets) };
            self.file.root.mutable_data_segments = Some(vec![states]);
        }
        if swarm.named_data() {
            for nth in 0..self.random.int_in_range(0..=3)? {
                let len: u8 = self.random.int_in_range(0..=40)?;
                let data = vec![nth; len.into()];
                self.file.set_data(&format!("key {nth}"), data.into());
            }
        }
        let alignment = [128, 1, 16, 4096][usize::from(swarm.alignment())];
        let force_align = [None, None, Some(32), Some(64)][usize::from(swarm.force_align())];
        let layout = WriterLayout::ALL[usize::from(swarm.layout())];
        self.file.container.layout = WriterLayout { force_align, ..layout };
        self.file.align(alignment);
        if let Some(header) = &mut self.file.container.header {
            let (length, chunk) =
                [(32, 32), (24, 32), (40, 48), (32, 64)][usize::from(swarm.header())];
            *header = HeaderForm::Inserted { length, chunk };
        }
        // The runtime asks for 64 bytes before anything else; a writer adds what is missing.
        if swarm.trailing() {
            self.file.container.trailing = Blob::from(vec![7; 5]);
        }
        Ok(self.file)
    }
}
