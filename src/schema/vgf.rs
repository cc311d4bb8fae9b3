//! The schema of VGF, Arm's container for its extensions of Vulkan: `schema/vgf.fbs` of Arm's library, version 0.5.
//!
//! A payload has a FlatBuffer for each of the modules, the sequence and the resources, without identifiers.

use pte_flat::schema;

schema! {
    views;
    root ModuleTable b"\0\0\0\0" "vgf" "VGF";

    enums:

    /// The kinds of modules and of segments.
    enum ModuleType: u8 {
        COMPUTE = 0,
        GRAPH = 1,
    }

    /// The uses of a resource.
    enum ResourceCategory: u8 {
        INPUT = 0,
        OUTPUT = 1,
        INTERMEDIATE = 2,
        CONSTANT = 3,
    }

    unions:

    /// The languages of modules.
    union ModuleCode {
        1 SPIRV,
        2 GLSL,
        3 HLSL,
    }

    /// More about a resource.
    union ExtraConfig {
        1 SamplerConfig,
    }

    tables:

    /// Code that a driver reads.
    table SPIRV {
        0 words: [u32],
    }

    table GLSL {
        0 code: &str,
    }

    table HLSL {
        0 code: &str,
    }

    /// The code of a graph or of a shader.
    table Module {
        0 r#type: ModuleType = ModuleType::COMPUTE,
        1 name: &str,
        2 entry_point: &str,
        3 code: @ModuleCode,
    }

    /// The root table of the modules.
    table ModuleTable {
        0 modules: [&Module],
    }

    /// The shape of a resource; strides are absent or empty for a contiguous one.
    table Description {
        0 shape: [i64],
        1 strides: [i64],
    }

    table SamplerConfig {
        0 min_filter: u32 = 0,
        1 mag_filter: u32 = 0,
        2 address_mode_u: u32 = 0,
        3 address_mode_v: u32 = 0,
        4 border_color: u32 = 0,
    }

    table ModelResourceTableEntry {
        /// A `VkDescriptorType`; 4294967295 for none.
        0 vk_descriptor_type: u32 = 0,
        /// A `VkFormat`.
        1 vk_format: u32 = 0,
        2 category: ResourceCategory = ResourceCategory::INPUT,
        3 description: &Description,
        4 extra_config: @ExtraConfig,
        /// The group of resources that share memory; 4294967295 for none.
        6 alias_group_id: u32 = 0xffff_ffff,
    }

    /// The root table of the resources.
    table ModelResourceTable {
        0 mrt_entry: [&ModelResourceTableEntry],
    }

    /// A resource with the number by which a module names it.
    table BindingSlot {
        0 binding: u32 = 0,
        1 mrt_index: u32 = 0,
    }

    table DescriptorSetInfo {
        0 bindings: [&BindingSlot],
        /// 4294967295 for its position in the list.
        1 set_index: u32 = 0xffff_ffff,
    }

    table PushConstantRange {
        0 stage_flags: u32 = 0,
        1 offset: u32 = 0,
        2 size: u32 = 0,
    }

    /// A constant with the number by which a module names it.
    table GraphConstantBinding {
        0 graph_constant_id: u32 = 0,
        1 constant_table_index: u32 = 0,
    }

    /// A run of a module.
    table SegmentInfo {
        0 r#type: ModuleType = ModuleType::COMPUTE,
        1 name: &str,
        2 module_index: u32 = 0,
        3 set_infos: [&DescriptorSetInfo],
        4 inputs: [&BindingSlot],
        5 outputs: [&BindingSlot],
        /// The indices of constants.
        6 constants: [u32],
        7 dispatch_shape: [u32],
        8 push_constant_ranges: [&PushConstantRange],
        9 constant_bindings: [&GraphConstantBinding],
    }

    /// A constant, before version 0.4.
    table ConstantData {
        0 mrt_index: u32 = 0,
        /// -1 for a constant that is not sparse.
        1 sparsity_dimension: i64 = 0,
        2 raw: [u8 align 8],
    }

    /// The root table of the constants, before version 0.4. Later ones have no FlatBuffer.
    table ConstantSection {
        0 data: [&ConstantData],
    }

    /// The root table of the sequence.
    table ModelSequenceTable {
        0 segments: [&SegmentInfo],
        1 inputs: [&BindingSlot],
        2 outputs: [&BindingSlot],
        3 input_names: [&str],
        4 output_names: [&str],
    }
}
