// Made by `npm run types` from the documents of the files in tests/data. Do not edit.

/** The documents, by the verb that prints each with --json. */
export interface Documents {
  check: {
    schema: "pte.check/1";
    files: Array<{
      path: string;
      kind: string;
      verdict: string;
      findings: Array<{
        rule: string;
        severity: string;
        message: string;
        offset: number;
        path: string;
        why: string;
        help: string;
      }>;
      omitted: number;
      missing?: {
        count: number;
        keys: Array<string>;
      };
    }>;
  };
  diff: {
    schema: "pte.diff/1";
    before: string;
    after: string;
    verdict: string;
    count: number;
    counts: {
      "named-data"?: number;
      header?: number;
      instructions?: number;
      "memory-plan"?: number;
      signature?: number;
      values?: number;
      unused?: number;
      constants?: number;
      methods?: number;
      delegates?: number;
      names?: number;
    };
    differences: Array<{
      class: string;
      change: string;
      method: null | string;
      place: string;
      what: string;
      before: null | {
        text: string;
        sha256?: string;
      };
      after: null | {
        text: string;
        sha256?: string;
      };
    }>;
    written: Array<{
      what: string;
      before: string;
      after: string;
    }>;
  };
  explain: {
    schema: "pte.explain/1";
    rule: {
      id: string;
      subject: string;
      severity: string;
      what: string;
      why: string;
      runtime: string;
      help: string;
      sections: Array<string>;
      page: string;
    };
  };
  graph: {
    schema: "pte.graph/1";
    path: string;
    methods: Array<{
      name: string;
      nodes: Array<{
        id: string;
        kind: string;
        value?: number;
        text?: string;
        name?: string;
        chain?: number;
        instruction?: number;
        args?: Array<number>;
        arguments?: Array<null | string>;
        payload?: number;
      }>;
      edges: Array<{
        from: string;
        to: string;
        kind: string;
        value?: number;
        text?: string;
      }>;
    }>;
    payloads: Array<{
      offset: number;
      bytes: number;
      nodes: Array<{
        id: string;
        kind: string;
        value?: number;
        argument?: number;
        text?: string;
        name?: string;
        inputs?: Array<number>;
        outputs?: Array<number>;
        attributes?: Array<{
          name: string;
          value: string;
        }>;
      }>;
      edges: Array<{
        from: string;
        to: string;
        value: number;
        text?: string;
      }>;
    }>;
  };
  info: {
    schema: "pte.info/1";
    files: Array<{
      path: string;
      kind: string;
      bytes: number;
      header: null | {
        length: number;
        program_size?: number;
        segment_base_offset: number;
        segment_data_size?: number;
        flatbuffer_offset?: number;
        flatbuffer_size?: number;
      };
      parts: {
        flatbuffer: number;
        padding: number;
        segments: number;
        trailing: number;
      };
      version?: number;
      executions?: number;
      events?: number;
      values?: number;
      instructions?: number;
      methods?: Array<{
        name: string;
        time?: {
          count: number;
          total: number;
          shortest: number;
          longest: number;
        };
        inputs?: Array<{
          type: string;
          dtype?: string;
          sizes?: Array<number>;
          dynamism?: string;
        }>;
        outputs?: Array<{
          type: string;
          dtype?: string;
          sizes?: Array<number>;
          dynamism?: string;
          value?: boolean | number | string;
        }>;
        input_count?: number;
        output_count?: number;
        values?: number;
        instructions?: number;
        delegates?: number;
        arenas?: Array<number>;
      }>;
      findings: {
        "segment-misaligned"?: number;
        "key-empty"?: number;
        "key-nul"?: number;
        "old-generation"?: number;
        "operator-unknown"?: number;
        "backend-unknown"?: number;
        "external-not-judged"?: number;
        "arena-unused"?: number;
        "chains-several"?: number;
        "int-list-type"?: number;
        "loop-endless"?: number;
        "planned-out-of-bounds"?: number;
        "tensor-unbound"?: number;
        "use-after-free"?: number;
        "constants-overlap"?: number;
        "output-dtype"?: number;
        "constants-inline"?: number;
        "empty-vector-misaligned"?: number;
      };
      bundle?: {
        bytes: number;
        program_offset: number;
      };
      method_count?: number;
      operators?: Array<{
        name: string;
        calls: number;
      }>;
      libraries?: Array<{
        name: string;
        target: string;
      }>;
      unknown_operators?: Array<string>;
      delegate_calls?: number;
      backends?: Array<{
        id: string;
        delegates: number;
        bytes: number;
        graphs: null | {
          read: number;
          unreadable: number;
          nodes: number;
          operators: Array<{
            name: string;
            calls: number;
          }>;
          datatypes: null | Array<{
            datatype: string;
            quantization: null | string;
            values: number;
          }>;
          constants: null | {
            count: number;
            bytes: number;
          };
          weights: null | Array<{
            datatype: string;
            quantization: null | string;
            count: number;
            bytes: number;
          }>;
          external: null | {
            count: number;
            bytes: number;
          };
        };
        sections?: {
          read: number;
          unreadable: number;
          versions: Array<string>;
          targets: Array<string>;
          scratch: null | number;
          sections: Array<{
            name: string;
            count: number;
            bytes: number;
          }>;
          scratch_peak?: number;
          macs_estimate?: number;
        };
      }>;
      constants?: {
        count: number;
        bytes: number;
      };
      mutable?: {
        count: number;
        bytes: number;
      };
      external?: {
        count: number;
        bytes: number;
      };
      named_data?: {
        count: number;
        bytes: number;
      };
      load_memory?: {
        total: number;
        flatbuffer: number;
        arenas: number;
        unplanned: number;
        constants: number;
        payloads: number;
        named_data: number;
        external: number;
      };
      segments?: number;
      stack_traces?: number;
      generation?: number;
      tensors?: number;
      blobs?: number;
      dtypes?: Array<{
        dtype: string;
        tensors: number;
        bytes: number;
      }>;
      largest?: Array<{
        key: string;
        bytes: number;
      }>;
    }>;
  };
  map: {
    schema: "pte.map/1";
    path: string;
    bytes: number;
    parts: Array<{
      begin: number;
      end: number;
      bytes: number;
      name: string;
      parts?: Array<{
        begin: number;
        end: number;
        bytes: number;
        name: string;
        kinds?: Array<{
          name: string;
          what?: string;
          count: number;
          bytes: number;
        }>;
        parts?: Array<{
          begin: number;
          end: number;
          bytes: number;
          name: string;
          what?: string;
          parts?: Array<{
            begin: number;
            end: number;
            bytes: number;
            name: string;
            what?: string;
            part?: Array<string>;
            parts?: Array<{
              begin: number;
              end: number;
              bytes: number;
              name: string;
              what?: string;
              kinds?: Array<{
                name: string;
                what?: string;
                count: number;
                bytes: number;
              }>;
            }>;
            kinds?: Array<{
              name: string;
              what?: string;
              count: number;
              bytes: number;
            }>;
            count?: number;
          }>;
          part?: Array<string>;
          count?: number;
          kinds?: Array<{
            name: string;
            count: number;
            bytes: number;
            what?: string;
          }>;
        }>;
      }>;
      count?: number;
      kinds?: Array<{
        name: string;
        count: number;
        bytes: number;
        what?: string;
      }>;
    }>;
  };
  mapAt: {
    schema: "pte.map/1";
    path: string;
    bytes: number;
    byte: {
      offset: number;
      part: Array<string>;
      begin: number;
      end: number;
      segment: null | number;
      path: null | string;
      role: string;
      role_begin: number;
      role_end: number;
      text: string;
      value?: number;
      program?: number;
      to?: number;
      value_name?: string;
    };
  };
  memory: {
    schema: "pte.memory/1";
    path: string;
    kind: string;
    method_count: number;
    named_data: number;
    methods: Array<{
      name: string;
      instructions: number;
      planned: number;
      arenas: Array<{
        id: number;
        planned: number;
        reach: number;
        peak: number;
        peak_at: null | {
          chain: number;
          instruction: number;
          does: string;
        };
        slack: null | number;
        fragmentation: number;
        gaps: number;
        tensors: Array<{
          value: number;
          dtype: string;
          sizes: Array<number>;
          bytes: number;
          offset: number;
          role: string;
          lives?: {
            first: null | {
              chain: number;
              instruction: number;
            };
            last: null | {
              chain: number;
              instruction: number;
            };
          };
          name?: string;
          view?: boolean;
        }>;
        device?: {
          kind: string;
          index: number;
        };
      }>;
      unplanned: Array<{
        value: number;
        dtype: string;
        sizes: Array<number>;
        bytes: number;
        end: boolean;
        unbounded: boolean;
      }>;
      outside: {
        constants: number;
        external: number;
        payloads: number;
        scratch: number;
      };
      pools: Array<{
        runtime: string;
        bits: number;
        method: {
          bytes: number;
          exact: boolean;
          parts: Array<{
            name: string;
            bytes: null | number;
            bound?: boolean;
          }>;
        };
        without_temporary: number;
        temporary: {
          bytes: number;
          exact: boolean;
          parts: Array<{
            name: string;
            bytes: null | number;
          }>;
        };
      }>;
    }>;
  };
  ops: {
    schema: "pte.ops/1";
    files: Array<{
      path: string;
      method_count: number;
      methods: Array<{
        name: string;
        operators: Array<{
          name: string;
          library: null | string;
          calls: number;
          dtypes: Array<string>;
        }>;
        backends: Array<{
          id: string;
          delegates: number;
          calls: number;
        }>;
      }>;
    }>;
    operators: Array<{
      name: string;
      library: null | string;
      calls: number;
      dtypes: Array<string>;
      kernels: Array<string>;
    }>;
    backends: Array<{
      id: string;
      delegates: number;
      calls: number;
    }>;
    nodes: Array<{
      backend: string;
      operator: string;
      nodes: number;
      datatypes: Array<string>;
    }>;
    missing: null;
    missing_dtypes: null;
  };
  profile: {
    schema: "pte.profile/1";
    path: string;
    version: number;
    runs: number;
    events: number;
    values: number;
    methods: Array<{
      name: string;
      time: {
        count: number;
        total: number;
        shortest: number;
        longest: number;
      };
    }>;
    instructions: Array<{
      chain: number;
      instruction: number;
      name: string;
      delegate: boolean;
      time: {
        count: number;
        total: number;
        shortest: number;
        longest: number;
      };
      events: Array<{
        name: string;
        time: {
          count: number;
          total: number;
          shortest: number;
          longest: number;
        };
      }>;
    }>;
  };
  rules: {
    schema: "pte.rules/1";
    rules: Array<{
      id: string;
      subject: string;
      severity: string;
      what: string;
      why: string;
      runtime: string;
      help: string;
      sections: Array<string>;
      page: string;
    }>;
  };
  size: {
    schema: "pte.size/1";
    files: Array<{
      path: string;
      bytes: number;
      parts: Array<{
        name: string;
        bytes: number;
        parts?: Array<{
          name: string;
          bytes: number;
          parts?: Array<{
            name: string;
            bytes: number;
            parts?: Array<{
              name: string;
              bytes: number;
              parts?: Array<{
                name: string;
                bytes: number;
                parts?: Array<{
                  name: string;
                  bytes: number;
                }>;
              }>;
            }>;
          }>;
        }>;
      }>;
    }>;
    duplicates?: {
      saved: number;
      saved_within_files: number;
      groups: Array<unknown>;
    };
  };
  tensors: {
    schema: "pte.tensors/1";
    path: string;
    program_offset?: number;
    tensors: Array<{
      method?: string;
      index?: number;
      key: null | string;
      dtype?: null | number | string;
      sizes?: null | Array<number>;
      dim_order?: null | Array<number>;
      bytes: null | number;
      storage: string;
      offset: null | number;
      memory_id?: number;
      memory_offset?: number;
      delegate?: number;
      value?: number;
      name?: string;
      node?: number;
      operator?: null | string;
      input?: null | string;
      quantization?: null | {
        kind: string;
        scale: number;
        zero_point: number;
      };
      backend?: string;
    }>;
  };
}

/** A file that was judged. */
export type CheckedFile = Documents["check"]["files"][number];
