//! Removes parts that a program does not need to run.

use super::PteModel;
use pte_schema::program::TensorDataLocation;
use pte_schema::program::model::ExtraTensorInfo;

impl PteModel<'_> {
    /// Removes the stack traces, which map instructions to the model's source, and returns their
    /// number. No runtime reads them.
    pub fn strip_stacktraces(&mut self) -> usize {
        let plans = self.root.execution_plan.iter_mut().flatten();
        let chains = plans.flat_map(|plan| plan.chains.iter_mut().flatten());
        let traces = chains.filter_map(|chain| chain.stacktrace.take());
        let frames =
            traces.flatten().filter(|list| list.items.as_ref().is_some_and(|i| !i.is_empty()));
        let count = frames.count();
        self.container.segment_base_offset = None;
        count
    }

    /// Removes the names of parameters and buffers, and returns their number. No runtime reads
    /// these names. A tensor with data in a `.ptd` keeps its name, since it is the key of the data.
    pub fn strip_names(&mut self) -> usize {
        let mut count = 0usize;
        for tensor in self.tensors() {
            let Some(extra) = &mut tensor.extra_tensor_info else { continue };
            if extra.location == TensorDataLocation::EXTERNAL {
                continue;
            }
            count = count.saturating_add(extra.fully_qualified_name.take().into_iter().count());
            if *extra == ExtraTensorInfo::default() {
                tensor.extra_tensor_info = None;
            }
        }
        self.container.segment_base_offset = None;
        count
    }
}
