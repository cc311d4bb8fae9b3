// Every field of a program, once: the sum of its numbers, and of the lengths and first bytes of its
// texts. It compiles over the views of this package and over what flatc makes for Rust, but for the
// unions, and for a name that flatc changes (`value`, `instruction` and `segment`).

fn program(program: Program<'_>) -> u64 {
    u64::from(program.version())
        + each(program.execution_plan(), plan)
        + each(program.constant_buffer(), |it: Buffer<'_>| bytes(it.storage()))
        + each(program.backend_delegate_data(), |it: BackendDelegateInlineData<'_>| bytes(it.data()))
        + each(program.segments(), segment)
        + program.constant_segment().map_or(0, offsets)
        + each(program.mutable_data_segments(), offsets)
        + each(program.named_data(), |it: NamedData<'_>| {
            text(it.key()) + u64::from(it.segment_index())
        })
}

fn plan(plan: ExecutionPlan<'_>) -> u64 {
    let pytree = |it: ContainerMetadata<'_>| text(it.encoded_inp_str()) + text(it.encoded_out_str());
    text(plan.name())
        + plan.container_meta_type().map_or(0, pytree)
        + each(plan.values(), value)
        + each(plan.inputs(), i32_)
        + each(plan.outputs(), i32_)
        + each(plan.chains(), chain)
        + each(plan.operators(), |it: Operator<'_>| text(it.name()) + text(it.overload()))
        + each(plan.delegates(), delegate)
        + each(plan.non_const_buffer_sizes(), i64_)
}

fn chain(chain: Chain<'_>) -> u64 {
    let frames = |it: FrameList<'_>| each(it.items(), frame);
    each(chain.inputs(), i32_)
        + each(chain.outputs(), i32_)
        + each(chain.instructions(), instruction)
        + each(chain.stacktrace(), frames)
}

fn frame(frame: Frame<'_>) -> u64 {
    text(frame.filename()) + i32_(frame.lineno()) + text(frame.name()) + text(frame.context())
}

fn delegate(delegate: BackendDelegate<'_>) -> u64 {
    let reference =
        |it: BackendDelegateDataReference<'_>| i8_(it.location().0) + u64::from(it.index());
    text(delegate.id())
        + delegate.processed().map_or(0, reference)
        + each(delegate.compile_specs(), |it: CompileSpec<'_>| text(it.key()) + bytes(it.value()))
}

fn tensor(tensor: Tensor<'_>) -> u64 {
    let place = |it: AllocationDetails<'_>| {
        let offset = [it.memory_offset_low(), it.memory_offset_high()].map(u64::from);
        u64::from(it.memory_id()) + offset[0] + offset[1]
    };
    let extra = |it: ExtraTensorInfo<'_>| {
        it.mutable_data_segments_idx()
            + text(it.fully_qualified_name())
            + i8_(it.location().0)
            + i8_(it.device_type().0)
            + i8_(it.device_index())
    };
    i8_(tensor.scalar_type().0)
        + i32_(tensor.storage_offset())
        + each(tensor.sizes(), i32_)
        + each(tensor.dim_order(), u64::from)
        + u64::from(tensor.requires_grad())
        + u64::from(tensor.data_buffer_idx())
        + tensor.allocation_info().map_or(0, place)
        + i8_(tensor.layout())
        + i8_(tensor.shape_dynamism().0)
        + tensor.extra_tensor_info().map_or(0, extra)
}

fn offsets(list: SubsegmentOffsets<'_>) -> u64 {
    u64::from(list.segment_index()) + each(list.offsets(), |offset: u64| offset)
}

fn kernel_call(call: KernelCall<'_>) -> u64 {
    i32_(call.op_index()) + each(call.args(), i32_)
}

fn delegate_call(call: DelegateCall<'_>) -> u64 {
    i32_(call.delegate_index()) + each(call.args(), i32_)
}

fn move_call(call: MoveCall<'_>) -> u64 {
    i32_(call.move_from()) + i32_(call.move_to())
}

fn jump(call: JumpFalseCall<'_>) -> u64 {
    i32_(call.cond_value_index()) + i32_(call.destination_instruction())
}

fn each<T>(items: Option<impl IntoIterator<Item = T>>, count: impl Fn(T) -> u64) -> u64 {
    items.into_iter().flatten().fold(0, |sum, item| sum.wrapping_add(count(item)))
}

fn text(text: Option<&str>) -> u64 {
    text.map_or(0, |text| text.len() as u64 + text.bytes().next().map_or(0, u64::from))
}

/// Of bytes, how many and the first one: what they hold is no field.
fn bytes(bytes: Option<impl IntoIterator<Item = u8, IntoIter: ExactSizeIterator>>) -> u64 {
    let Some(bytes) = bytes else { return 0 };
    let mut bytes = bytes.into_iter();
    bytes.len() as u64 + bytes.next().map_or(0, u64::from)
}

fn i8_(number: i8) -> u64 {
    number as u8 as u64
}

fn i32_(number: i32) -> u64 {
    number as u32 as u64
}

fn i64_(number: i64) -> u64 {
    number as u64
}
