//! The order of nodes, and the copies between them.

use serde_json::{Value, json};

use super::{hold, is_broken, judge};
use crate::support::xnnpack::{Constant, Inner, Input, Output, Role, Tensor, graph, node};

/// The planner of the backend takes the order of nodes as it is.
#[test]
fn each_value_has_one_producer_before_its_readers() {
    let values: [Tensor<'_>; 4] = [
        (Input, "fp32", &[2, 2]),
        (Constant, "fp32", &[2, 2]),
        (Inner, "fp32", &[2, 2]),
        (Output, "fp32", &[2, 2]),
    ];
    let nodes = [
        node("XNNBatchMatrixMultiply", json!({"input1_id": 0, "input2_id": 1, "output_id": 2})),
        node("XNNSigmoid", json!({"input_id": 2, "output_id": 3})),
    ];
    hold(
        &graph(&values, &nodes),
        r#"
        n0/output_id = 1 => xnnpack-order: the node writes value 1, which is a constant
        n0/output_id = 0 => xnnpack-order: the node writes value 0, which is an input
        n0/output_id = 3; n1/input_id = 0 => xnnpack-order: value 3, which is written before
        n0/output_id = 3 => xnnpack-order: the node reads value 2, which no node before it
        n0/input1_id = 3 => xnnpack-order: the node reads value 3, which no node before it
        n1/input_id = 3 => xnnpack-order: the node reads value 3, which no node before it
        n1/output_id = 2 => xnnpack-order: value 2, which is written before
        -g/xnodes/1 => xnnpack-order: no node writes this output of the graph
        g/xnodes = [] => xnnpack-order: no node writes this output of the graph
    "#,
    );
}

/// The description of a graph, its values, its nodes, and a part of the finding if there is one.
type Graph<'g> = (&'g str, &'g [Role], &'g [Value], Option<&'g str>);

/// The backend removes copies that one node reads, and replaces the first of the node's inputs alone.
#[test]
fn no_node_reads_a_copy_twice() {
    let one = |operator, input: u32, output: u32| {
        node(operator, json!({"input_id": input, "output_id": output}))
    };
    let two = |operator, inputs: [u32; 2], output: u32| {
        let ids = json!({"input1_id": inputs[0], "input2_id": inputs[1], "output_id": output});
        node(operator, ids)
    };
    let tensor = |role| -> Tensor<'static> { (role, "fp32", &[2]) };
    let values = |roles: &[Role]| roles.iter().map(|&role| tensor(role)).collect::<Vec<_>>();
    let rows: &[Graph<'_>] = &[
        (
            "a node divides a copy by itself",
            &[Input, Inner, Output],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 1], 2)],
            Some("the node reads value 1 twice, and node 0 copies value 0 to it"),
        ),
        (
            "what copies is another operator",
            &[Input, Inner, Output],
            &[one("XNNAbs", 0, 1), two("XNNDiv", [1, 1], 2)],
            None,
        ),
        (
            "a node reads a copy once",
            &[Input, Inner, Output],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 0], 2)],
            None,
        ),
        (
            "two nodes read the copy",
            &[Input, Inner, Output, Output],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 1], 2), one("XNNAbs", 1, 3)],
            None,
        ),
        (
            "no one reads what the second of two nodes writes",
            &[Input, Inner, Output, Inner],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 1], 2), one("XNNAbs", 1, 3)],
            Some("the node reads value 1 twice"),
        ),
        (
            "the copy is an output too",
            &[Input, Output, Output],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 1], 2)],
            None,
        ),
        (
            "what is copied is read in between",
            &[Input, Inner, Output, Output],
            &[one("XNNCopy", 0, 1), one("XNNAbs", 0, 3), two("XNNDiv", [1, 1], 2)],
            None,
        ),
        (
            "what is copied is read after both",
            &[Input, Inner, Output, Output],
            &[one("XNNCopy", 0, 1), two("XNNDiv", [1, 1], 2), one("XNNAbs", 0, 3)],
            Some("the node reads value 1 twice"),
        ),
        (
            "the node before writes the copy",
            &[Input, Inner, Inner, Output],
            &[one("XNNAbs", 0, 1), one("XNNCopy", 1, 2), two("XNNDiv", [2, 2], 3)],
            None,
        ),
        (
            "the copy is listed before what it copies",
            &[Input, Inner, Inner, Output],
            &[one("XNNAbs", 0, 2), one("XNNCopy", 2, 1), two("XNNDiv", [1, 1], 3)],
            Some("the node reads value 1 twice, and node 1 copies value 2 to it"),
        ),
        (
            "a copy of a copy",
            &[Input, Inner, Inner, Output],
            &[one("XNNCopy", 0, 1), one("XNNCopy", 1, 2), two("XNNDiv", [2, 2], 3)],
            Some("the node reads value 2 twice, and node 0 copies value 0 to it"),
        ),
        (
            "a copy of a copy is listed first",
            &[Input, Inner, Inner, Output],
            &[one("XNNCopy", 0, 2), one("XNNCopy", 2, 1), two("XNNDiv", [1, 1], 3)],
            Some("the node reads value 1 twice, and node 1 copies value 2 to it"),
        ),
        (
            "the copy is written by a node that reads before the copied value is read",
            &[Input, Inner, Inner, Output, Output],
            &[
                one("XNNAbs", 0, 1),
                one("XNNAbs", 1, 4),
                one("XNNCopy", 1, 2),
                two("XNNDiv", [2, 2], 3),
            ],
            Some("the node reads value 2 twice, and node 2 copies value 1 to it"),
        ),
    ];
    for (about, roles, nodes, wanted) in rows {
        let program = graph(&values(roles), nodes);
        let found = judge(&program);
        match wanted {
            Some(part) => is_broken(&found, "xnnpack-order", part, about),
            None => assert!(found.is_empty(), "{about}: {found:?}"),
        }
    }
}
