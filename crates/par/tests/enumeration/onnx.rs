//! Writes small ONNX files: a network, or trees, over one input `x`.

/// A message of protocol buffers, field by field.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn integer(mut self, field: u64, number: i64) -> Self {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    fn floats(self, field: u64, numbers: &[f32]) -> Self {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.bytes(field, &bytes)
    }

    fn integers(self, field: u64, numbers: &[i64]) -> Self {
        let mut packed = Self::default();
        numbers.iter().for_each(|&number| packed.varint(number as u64));
        self.bytes(field, &packed.0)
    }
}

fn value(name: &str, sizes: &[Option<i64>]) -> Message {
    let shape = sizes.iter().fold(Message::default(), |shape, size| {
        let size =
            size.map_or_else(|| Message::default().text(2, "N"), |size| Message::default().integer(1, size));
        shape.message(1, &size)
    });
    let tensor = Message::default().integer(1, 1).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

fn node(operator: &str, domain: &str, inputs: &[&str], output: &str, attributes: &[Message]) -> Message {
    let inputs = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    let node = inputs.text(2, output).text(4, operator).text(7, domain);
    attributes.iter().fold(node, |node, attribute| node.message(5, attribute))
}

fn constant(name: &str, sizes: &[i64], numbers: &[f32]) -> Message {
    Message::default().integers(1, sizes).integer(2, 1).floats(4, numbers).text(8, name)
}

fn file(width: usize, nodes: &[Message], constants: &[Message]) -> Vec<u8> {
    let graph = nodes.iter().fold(Message::default(), |graph, node| graph.message(1, node)).text(2, "g");
    let graph = constants.iter().fold(graph, |graph, constant| graph.message(5, constant));
    let graph = graph
        .message(11, &value("x", &[None, Some(width as i64)]))
        .message(12, &value("out", &[None, Some(1)]));
    let opset = |domain: &str, version: i64| Message::default().text(1, domain).integer(2, version);
    let model = Message::default().integer(1, 8).message(7, &graph);
    model.message(8, &opset("", 13)).message(8, &opset("ai.onnx.ml", 3)).0
}

/// Two layers, the first with its weights `[input][unit]` and biases, and the operators after each.
pub(crate) fn network(
    width: usize,
    [first, biases]: [&[f32]; 2],
    second: &[f32],
    last: &[f32],
    [activation, end]: [&str; 2],
) -> Vec<u8> {
    let (units, outputs) = (biases.len() as i64, last.len() as i64);
    let nodes = [
        node("Gemm", "", &["x", "w", "b"], "h", &[]),
        node(activation, "", &["h"], "a", &[]),
        node("Gemm", "", &["a", "v", "c"], "s", &[]),
        node(end, "", &["s"], "out", &[]),
    ];
    let constants = [
        constant("w", &[width as i64, units], first),
        constant("b", &[units], biases),
        constant("v", &[units, outputs], second),
        constant("c", &[outputs], last),
    ];
    file(width, &nodes, &constants)
}

/// A classifier by trees, whose first output, the label, nobody reads.
fn classifier_node(attributes: &[Message]) -> Message {
    let node = Message::default().text(1, "x").text(2, "label").text(2, "out");
    let node = node.text(4, "TreeEnsembleClassifier").text(7, "ai.onnx.ml");
    attributes.iter().fold(node, |node, attribute| node.message(5, attribute))
}

/// A node of a tree: whether an input is at most a number, with the nodes for yes and no; or a weight.
pub(crate) enum TreeNode {
    Branch { input: usize, at_most: f32, yes: usize, no: usize },
    Leaf(f32),
}

/// The sum of trees, which are log-odds or a number; of several classes, the softmax of a sum for each of them.
pub(crate) fn trees(width: usize, trees: &[Vec<TreeNode>], classes: usize) -> Vec<u8> {
    let ints =
        |name: &str, numbers: &[i64]| Message::default().text(1, name).integers(8, numbers).integer(20, 7);
    let floats =
        |name: &str, numbers: &[f32]| Message::default().text(1, name).floats(7, numbers).integer(20, 6);
    let [mut tree_ids, mut node_ids, mut inputs, mut yes_ids, mut no_ids] = [const { Vec::<i64>::new() }; 5];
    let (mut numbers, mut modes) = (Vec::new(), Vec::new());
    let (mut leaf_trees, mut leaf_nodes, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (tree, nodes) in trees.iter().enumerate() {
        for (place, one) in nodes.iter().enumerate() {
            tree_ids.push(tree as i64);
            node_ids.push(place as i64);
            let (mode, input, number, yes, no) = match *one {
                TreeNode::Branch { input, at_most, yes, no } => ("BRANCH_LEQ", input, at_most, yes, no),
                TreeNode::Leaf(weight) => {
                    leaf_trees.push(tree as i64);
                    leaf_nodes.push(place as i64);
                    weights.push(weight);
                    ("LEAF", 0, 0.0, 0, 0)
                }
            };
            modes.push(mode);
            inputs.push(input as i64);
            numbers.push(number);
            yes_ids.push(yes as i64);
            no_ids.push(no as i64);
        }
    }
    let modes =
        modes.iter().fold(Message::default().text(1, "nodes_modes"), |modes, mode| modes.text(9, mode));
    let attributes = [
        ints("nodes_treeids", &tree_ids),
        ints("nodes_nodeids", &node_ids),
        ints("nodes_featureids", &inputs),
        ints("nodes_truenodeids", &yes_ids),
        ints("nodes_falsenodeids", &no_ids),
        floats("nodes_values", &numbers),
        modes.integer(20, 8),
    ];
    let of_classes: Vec<i64> = leaf_trees.iter().map(|tree| tree % classes as i64).collect();
    let of = |kind: &str| {
        [
            ints(&format!("{kind}_treeids"), &leaf_trees),
            ints(&format!("{kind}_nodeids"), &leaf_nodes),
            ints(&format!("{kind}_ids"), &of_classes),
            floats(&format!("{kind}_weights"), &weights),
        ]
    };
    let mut all = Vec::from(attributes);
    if classes == 1 {
        all.extend(of("target"));
        all.push(Message::default().text(1, "n_targets").integer(3, 1).integer(20, 2));
        return file(width, &[node("TreeEnsembleRegressor", "ai.onnx.ml", &["x"], "out", &all)], &[]);
    }
    all.extend(of("class"));
    all.push(ints("classlabels_int64s", &(0..classes as i64).collect::<Vec<_>>()));
    all.push(Message::default().text(1, "post_transform").text(4, "SOFTMAX").integer(20, 3));
    file(width, &[classifier_node(&all)], &[])
}
