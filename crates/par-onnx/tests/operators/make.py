"""Makes small graphs, at least one for every operator that par-onnx supports, with the scores that onnxruntime gives them.

    pip install numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1
    python make.py

`operators.json` holds a graph a line: its name, the ONNX file in hexadecimal, and the rest as beside the fixtures.
"""

import json
import math
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ML = "ai.onnx.ml"
ROWS = 8
RANDOM = np.random.default_rng(5)
LINES = []

# ---- graphs ----------------------------------------------------------------------------------------------------


def floats(*shape):
    """Weights, on a grid so that the file stays small."""
    return (np.round(RANDOM.normal(size=shape) * 64) / 64).astype(np.float32)


def whole(*values):
    return np.array(values, dtype=np.int64)


def numbers(width, missing=False, low=-6.0):
    """Rows of numbers, whole ones among them, on which thresholds lie."""
    rows = np.round(np.maximum(RANDOM.normal(0, 2, size=(ROWS, width)), low) * 4) / 4
    rows = np.where(RANDOM.random(rows.shape) < 0.5, np.round(rows), rows)
    return [[None if missing and RANDOM.random() < 0.25 else float(value) for value in row] for row in rows]


def codes(width, low=-3, high=4):
    return RANDOM.integers(low, high, size=(ROWS, width)).tolist()


def texts(width):
    return RANDOM.choice(["a", "b", "c", "", "é"], size=(ROWS, width)).tolist()


def node(operator, inputs, outputs, domain="", **attributes):
    return helper.make_node(operator, inputs.split(","), outputs.split(","), domain=domain, **attributes)


def case(name, nodes, rows=None, inputs=None, accepted=1, scale="probability", versions=(17, 3), shape=None, **constants):
    """Adds a graph from the inputs, `x` of four numbers unless told, to `out`."""
    inputs = inputs or {"x": (TensorProto.FLOAT, 4)}
    kinds = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.INT64: np.int64, TensorProto.BOOL: bool, TensorProto.STRING: object}
    given = [helper.make_tensor_value_info(key, kind, shape or [None, width]) for key, (kind, width) in inputs.items()]
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()]
    kind = TensorProto.DOUBLE if (TensorProto.DOUBLE, 4) in inputs.values() else TensorProto.FLOAT
    graph = helper.make_graph(nodes, name, given, [helper.make_tensor_value_info("out", kind, None)], tensors)
    sets = [helper.make_opsetid("", versions[0]), helper.make_opsetid(ML, versions[1])]
    file = helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()
    session = onnxruntime.InferenceSession(file)
    rows = rows or numbers(sum(width for _, width in inputs.values()))
    scores = []
    for row in rows:
        tensors, start = {}, 0
        for key, (kind, width) in inputs.items():
            part = [math.nan if value is None else value for value in row[start : start + width]]
            tensors[key] = np.array([part], dtype=kinds[kind]).reshape([1, *(shape or [None, width])[1:]])
            start += width
        found = np.asarray(session.run(["out"], tensors)[0], dtype=np.float64).ravel()
        if len(found) == 2:
            scores.append(found[accepted])
        else:
            scores.append(found[0] if accepted else 1 - found[0] if scale == "probability" else -found[0])
    assert np.isfinite(scores).all() and np.std(scores) > 1e-3, (name, scores)
    told = {"widths": [width for _, width in inputs.values()], "accepted": accepted, "scale": scale, "rows": rows}
    LINES.append(json.dumps({"name": name, "graph": file.hex(), **told, "scores": [round(float(score), 8) for score in scores]}))


LAST = [node("MatMul", "a,v", "z"), node("Sigmoid", "z", "out")]


def hidden(name, *nodes, versions=(17, 3), **constants):
    """A network of one hidden layer with nodes from `h` to `a` in the middle."""
    first = [node("MatMul", "x,w", "p"), node("Add", "p,b", "h")]
    case(name, [*first, *nodes, *LAST], versions=versions, w=floats(4, 5), b=floats(5), v=floats(5, 1), **constants)


def sources(name, *nodes, rows=None, width=4, versions=(17, 3), kind=TensorProto.FLOAT, **constants):
    """A sum over what nodes make of `x` in `a`."""
    inputs = {"x": (kind, len(rows[0]) if rows else 4)}
    case(name, [*nodes, *LAST], rows, inputs, versions=versions, v=floats(width, 1), **constants)


def ends(name, *nodes, columns=2, scale="probability", versions=(17, 3), **constants):
    """A network whose scores `z` go through nodes, for either class."""
    weights = {"w": floats(5, 4), "b": floats(1, 5), "v": floats(5, columns), "c": floats(columns)}
    first = [node("Gemm", "x,w,b", "h", transB=1, alpha=0.5, beta=2.0), node("Relu", "h", "a"), node("Gemm", "a,v,c", "z")]
    for accepted in (0, 1):
        case(f"{name}_{accepted}", [*first, *nodes], accepted=accepted, scale=scale, versions=versions, **weights, **constants)


# ---- activations -----------------------------------------------------------------------------------------------

for operator in ("Relu", "Tanh", "Sigmoid", "Softplus", "Elu", "LeakyRelu", "Selu", "Celu", "HardSigmoid", "Clip", "Identity", "Dropout", "Neg"):
    hidden(operator, node(operator, "h", "a"))
hidden("Elu_steep", node("Elu", "h", "a", alpha=2.5))
hidden("LeakyRelu_told", node("LeakyRelu", "h", "a", alpha=0.4))
hidden("Selu_told", node("Selu", "h", "a", alpha=1.0, gamma=0.7))
hidden("Celu_told", node("Celu", "h", "a", alpha=0.5))
hidden("HardSigmoid_told", node("HardSigmoid", "h", "a", alpha=0.5, beta=0.1))
hidden("Clip_both", node("Clip", "h,l,u", "a"), l=np.float32(-0.5), u=np.float32(1.25))
hidden("Clip_low", node("Clip", "h,l", "a"), l=np.float32(0))
hidden("Clip_high", node("Clip", "h,,u", "a"), u=np.float32(0.25))
hidden("Clip_attributes", node("Clip", "h", "a", min=0.0, max=6.0), versions=(10, 1))
hidden("PRelu", node("PRelu", "h,s", "a"), s=np.array([0.25], np.float32))
hidden("Max_Min", node("Max", "h,l", "m"), node("Min", "u,m", "a"), l=np.float32(0), u=np.float32(2))
hidden("Sigmoid_from_one", node("Sigmoid", "h", "s"), node("Sub", "one,s", "a"), one=np.float32(1))
hidden("Sigmoid_scaled", node("Sigmoid", "h", "s"), node("Mul", "s,two", "a"), two=np.float32(2))
hidden("Sigmoid_logarithm", node("Sigmoid", "h", "s"), node("Log", "s", "a"))

# ---- sums ------------------------------------------------------------------------------------------------------

learned = {"s": floats(5), "t": floats(5), "m": floats(5), "q": np.abs(floats(5))}
hidden("BatchNormalization", node("BatchNormalization", "h,s,t,m,q", "n", epsilon=1e-3), node("Relu", "n", "a"), **learned)
hidden("ReduceMean", node("ReduceMean", "h", "m", axes=[1]), node("Sub", "h,m", "d"), node("Relu", "d", "a"))
hidden("ReduceSum", node("ReduceSum", "h,i", "m", keepdims=0), node("Unsqueeze", "m,i", "u"), node("Add", "h,u", "d"), node("Tanh", "d", "a"), i=whole(1))
hidden("Div", node("Div", "h,q", "d"), node("Tanh", "d", "a"), q=floats(5) + 4)
case("MatMul_left", [node("Transpose", "x", "t"), node("MatMul", "w,t", "h"), node("Relu", "h", "a"), node("Gemm", "a,v", "z", transA=1), node("Sigmoid", "z", "out")], w=floats(5, 4), v=floats(5, 1))
case("MatMul_vector", [node("MatMul", "x,v", "z"), node("Sigmoid", "z", "out")], v=floats(4))
case("MatMul_twice", [node("MatMul", "x,w", "y"), node("MatMul", "y,v", "z"), node("Sigmoid", "z", "out")], w=floats(4, 6), v=floats(6, 1))
case("MatMul_of_three_axes", [node("MatMul", "x,w", "h"), node("Relu", "h", "a"), node("MatMul", "a,v", "z"), node("Sigmoid", "z", "out")], shape=[None, 1, 4], w=floats(4, 5), v=floats(5, 1))

# ---- places ----------------------------------------------------------------------------------------------------

hidden("Split", node("Split", "h,s", "p1,p2", axis=1), node("Relu", "p1", "r1"), node("Relu", "p2", "r2"), node("Concat", "r2,r1", "a", axis=-1), s=whole(2, 3))
hidden("Split_and_Sum", node("Split", "h", "p1,p2,p3,p4,p5", axis=1), node("Sum", "p1,p2,p3", "s"), node("Concat", "s,p2,p3,p4,p5", "c", axis=1), node("Relu", "c", "a"))
hidden("Split_unequal", node("Split", "h", "p1,p2", axis=1, num_outputs=2), node("Concat", "p2,p1", "c", axis=1), node("Relu", "c", "a"), versions=(18, 3))
hidden("Slice", node("Slice", "h,s1,e1,i,k", "p1"), node("Slice", "h,s2,e2,i", "p2"), node("Concat", "p1,p2", "c", axis=1), node("Relu", "c", "a"), s1=whole(0), e1=whole(2**63 - 1), i=whole(1), k=whole(2), s2=whole(-2), e2=whole(2**31))
hidden("Slice_attributes", node("Slice", "h", "p1", axes=[1], starts=[1], ends=[5]), node("Slice", "h", "p2", axes=[1], starts=[0], ends=[1]), node("Concat", "p1,p2", "c", axis=1), node("Relu", "c", "a"), versions=(9, 1))
hidden("Gather", node("Gather", "h,i", "g", axis=1), node("Relu", "g", "a"), i=whole(4, -2, 0, 0, 1))
hidden("Reshape_Transpose_Flatten", node("Reshape", "h,s", "r"), node("Transpose", "r", "t", perm=[0, 2, 1]), node("Flatten", "t", "f"), node("Relu", "f", "a"), s=whole(0, 5, -1))
hidden("Shape", node("Shape", "h", "s"), node("Gather", "s,n", "g"), node("Unsqueeze", "g,o", "u"), node("Concat", "u,m", "k", axis=0), node("Reshape", "h,k", "r"), node("Relu", "r", "a"), n=np.int64(0), o=whole(0), m=whole(-1))
hidden("Squeeze_and_Unsqueeze", node("Unsqueeze", "h", "u", axes=[0]), node("Squeeze", "u", "s", axes=[0]), node("Relu", "s", "a"), versions=(11, 1))
hidden("Expand", node("Expand", "e,s", "k"), node("Add", "h,k", "r"), node("Relu", "r", "a"), e=floats(1), s=whole(1, 5))
hidden("ConstantOfShape", node("ConstantOfShape", "s", "k", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0.5])), node("Add", "h,k", "r"), node("Relu", "r", "a"), s=whole(1, 5))
hidden("Constant", helper.make_node("Constant", [], ["k"], value_floats=[1.0, 2.0, -1.0, 0.0, 0.5]), node("Add", "h,k", "r"), node("Relu", "r", "a"))
sources("ArrayFeatureExtractor", node("ArrayFeatureExtractor", "x,i", "a", ML), i=whole(3, 1, 0, 1))
sources("FeatureVectorizer", node("ArrayFeatureExtractor", "x,i", "p", ML), node("ArrayFeatureExtractor", "x,j", "q", ML), node("FeatureVectorizer", "q,p", "a", ML, inputdimensions=[2, 2]), i=whole(3, 1), j=whole(0, 2))
case("Concat_of_inputs", [node("Concat", "y,x", "a", axis=1), *LAST], inputs={"x": (TensorProto.FLOAT, 2), "y": (TensorProto.FLOAT, 3)}, v=floats(5, 1))

# ---- single inputs ---------------------------------------------------------------------------------------------

sources("Scaler", node("Scaler", "x", "a", ML, offset=[1.0, 2.0, 0.5, 0.0], scale=[0.1, 0.2, 3.0, 1.0]))
sources("Scaler_of_all", node("Scaler", "x", "a", ML, offset=[1.0], scale=[0.3]))
sources("Imputer", node("Imputer", "x", "a", ML, imputed_value_floats=[1.0, 2.0, 0.5, 0.0], replaced_value_float=math.nan), rows=numbers(4, missing=True))
sources("Binarizer", node("Binarizer", "x", "a", ML, threshold=0.5))
sources("IsNaN_Where", node("IsNaN", "x", "m"), node("Where", "m,k,x", "a"), rows=numbers(4, missing=True), k=floats(4))
sources("IsNaN_Not_Where", node("IsNaN", "x", "m"), node("Not", "m", "n"), node("Where", "n,x,k", "a"), rows=numbers(4, missing=True), k=floats(1))
sources("IsNaN_Cast", node("IsNaN", "x", "m"), node("Cast", "m", "a", to=1), rows=numbers(4, missing=True))
for operator in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"):
    levels = np.array([0, 1, -1, 2], np.float32)
    sources(operator, node(operator, "x,k", "m"), node("Cast", "m", "a", to=1), rows=numbers(4, missing=True), k=levels)
    sources(f"{operator}_of_constant", node(operator, "k,x", "m"), node("Where", "m,p,q", "a"), rows=numbers(4, missing=True), k=levels, p=floats(4), q=floats(1))
sources("Abs_Log", node("Abs", "x", "p"), node("Add", "p,one", "q"), node("Log", "q", "a"), one=np.float32(1))
sources("Sqrt", node("Abs", "x", "p"), node("Sqrt", "p", "a"))
sources("Exp", node("Exp", "x", "a"))
sources("Cast_to_whole", node("Cast", "x", "i", to=7), node("Cast", "i", "a", to=1))
sources("Cast_to_truth", node("Cast", "x", "i", to=9), node("Cast", "i", "a", to=1))
sources("Tanh_of_inputs", node("Tanh", "x", "p"), node("Sigmoid", "p", "q"), node("Mul", "q,k", "a"), k=floats(4))
sources("Sub_from", node("Sub", "k,x", "p"), node("Div", "p,d", "a"), k=floats(4), d=floats(4) + 4)
sources("BatchNormalization_of_inputs", node("BatchNormalization", "x,s,t,m,q", "a"), s=floats(4), t=floats(4), m=floats(4), q=np.abs(floats(4)))
sources("whole", node("Cast", "x", "a", to=1), rows=codes(4), kind=TensorProto.INT64)
sources("whole_Imputer", node("Imputer", "x", "i", ML, imputed_value_int64s=[7], replaced_value_int64=-1), node("Cast", "i", "a", to=1), rows=codes(4), kind=TensorProto.INT64)
sources("whole_Div", node("Div", "x,k", "i"), node("Cast", "i", "a", to=1), rows=codes(4, -20, 20), kind=TensorProto.INT64, k=whole(3))
sources("truth", node("Cast", "x", "a", to=1), rows=codes(4, 0, 2), kind=TensorProto.BOOL)
case("double", [node("Sub", "x,m", "p"), node("Div", "p,d", "a"), *LAST], inputs={"x": (TensorProto.DOUBLE, 4)}, m=RANDOM.normal(size=4), d=RANDOM.normal(size=4) + 3, v=RANDOM.normal(size=(4, 1)))
case("one_input", [node("Gather", "x,i", "g", axis=1), node("Mul", "g,v", "z"), node("Sigmoid", "z", "out")], i=whole(1), v=floats(1))

# ---- categories ------------------------------------------------------------------------------------------------

sources("OneHotEncoder_of_numbers", node("Gather", "x,i", "g", axis=1), node("OneHotEncoder", "g", "o", ML, cats_int64s=[0, 1, 2, -1]), node("Reshape", "o,s", "a"), rows=numbers(4, missing=True), i=whole(0), s=whole(-1, 4))
sources("OneHot", node("Gather", "x,i", "g", axis=1), node("Cast", "g", "c", to=7), node("OneHot", "c,d,u", "o", axis=1), node("Flatten", "o", "a"), i=np.int64(0), d=np.int64(4), u=np.array([-0.5, 2.0], np.float32))
sources("Gather_of_table", node("Gather", "x,i", "c", axis=1), node("Gather", "e,c", "a"), rows=codes(4, -3, 3), kind=TensorProto.INT64, i=np.int64(0), e=floats(3, 4))
sources("LabelEncoder_of_numbers", node("LabelEncoder", "x", "a", ML, keys_floats=[-1.0, 0.0, 1.0, 2.0], values_floats=[0.5, 0.6, 0.7, 0.8], default_float=-0.5), rows=numbers(4, missing=True))
STRING = TensorProto.STRING
sources("OneHotEncoder", node("OneHotEncoder", "x", "o", ML, cats_strings=["a", "é"], zeros=1), node("Reshape", "o,s", "a"), rows=texts(4), kind=STRING, width=8, s=whole(-1, 8))
sources("LabelEncoder", node("LabelEncoder", "x", "i", ML, keys_strings=["a", "b", "c"], values_int64s=[3, 1, 0], default_int64=-2), node("Cast", "i", "a", to=1), rows=texts(4), kind=STRING)
sources("LabelEncoder_first_version", node("LabelEncoder", "x", "i", ML, classes_strings=["a", "b", "c"], default_int64=-2), node("Cast", "i", "a", to=1), rows=texts(4), kind=STRING, versions=(17, 1))
tables = {"keys_tensor": helper.make_tensor("k", STRING, [2], ["a", "b"]), "values_tensor": helper.make_tensor("v", TensorProto.FLOAT, [2], [3.0, 1.0]), "default_tensor": helper.make_tensor("d", TensorProto.FLOAT, [1], [0.25])}
sources("LabelEncoder_of_tensors", node("LabelEncoder", "x", "a", ML, **tables), rows=texts(4), kind=STRING, versions=(17, 4))
rename = node("LabelEncoder", "x", "r", ML, keys_strings=["a", "b", ""], values_strings=["b", "c", "a"], default_string="c")
again = node("LabelEncoder", "r", "t", ML, keys_strings=["a", "b"], values_strings=["q", "a"], default_string="z")
sources("LabelEncoder_renames", rename, again, node("LabelEncoder", "t", "a", ML, keys_strings=["a", "q"], values_floats=[1.0, 2.0], default_float=3.0), rows=texts(4), kind=STRING)
sources("Equal_of_texts", node("Equal", "x,k", "m"), node("Cast", "m", "a", to=1), rows=texts(4), kind=STRING, versions=(19, 3), k=np.array(["a", "b", "c", ""], object))
missing = [node("LabelEncoder", "x", "i", ML, keys_strings=[""], values_int64s=[1], default_int64=0), node("Cast", "i", "m", to=9), node("Where", "m,k,x", "r")]
sources("Where_replaces_texts", *missing, node("OneHotEncoder", "r", "o", ML, cats_strings=["a", "b"], zeros=1), node("Reshape", "o,s", "a"), rows=texts(4), kind=STRING, width=8, s=whole(-1, 8), k=np.array(["a"], object))

# ---- ends ------------------------------------------------------------------------------------------------------

complement = [node("Sigmoid", "z", "p"), node("Sub", "one,p", "q"), node("Concat", "q,p", "t", axis=1)]
one = {"one": np.float32(1)}
ends("Softmax", node("Softmax", "z", "out"))
ends("Softmax_of_version_11", node("Softmax", "z", "out"), versions=(11, 1))
ends("LogSoftmax_Exp", node("LogSoftmax", "z", "l"), node("Exp", "l", "out"))
ends("sigmoid", node("Sigmoid", "z", "out"), columns=1)
ends("squeezed", node("Sigmoid", "z", "p"), node("Squeeze", "p,i", "out"), columns=1, i=whole(1))
ends("complement", *complement, node("Cast", "t", "out", to=1), columns=1, **one)
ends("Normalizer", *complement, node("Normalizer", "t", "out", ML, norm="L1"), columns=1, **one)
both = [node("Neg", "z", "y"), node("Concat", "y,z", "s", axis=1), node("Sigmoid", "s", "t"), node("Abs", "t", "u")]
ends("normalized_by_hand", *both, node("ReduceSum", "u,i", "n"), node("Div", "t,n", "out"), columns=1, i=whole(1))
ends("logit", node("Identity", "z", "out"), columns=1, scale="log-odds")
linear = {"coefficients": [0.5, -0.2, -0.5, 0.7], "intercepts": [0.1, 0.2]}
for transform in ("LOGISTIC", "SOFTMAX"):
    ends(f"LinearClassifier_{transform}", node("LinearClassifier", "z", "l,out", ML, classlabels_ints=[0, 1], post_transform=transform, **linear))
ends("LinearClassifier_of_one", node("LinearClassifier", "z", "l,out", ML, classlabels_strings=["a", "b"], post_transform="LOGISTIC", coefficients=[0.5, -0.2], intercepts=[0.1]))
ends("LinearRegressor", node("LinearRegressor", "z", "r", ML, coefficients=[0.5, -0.2], intercepts=[0.1]), node("Sigmoid", "r", "out"))

# ---- trees -----------------------------------------------------------------------------------------------------


def tree(modes, depth):
    """A random tree as rows of mode, feature, threshold, children, and whether a missing number takes the first."""
    nodes = []

    def grow(left):
        place = len(nodes)
        nodes.append(("LEAF", 0, 0.0, 0, 0, 0))
        if left == 0 or (nodes[1:] and RANDOM.random() < 0.15):
            return place
        mode, feature, tracks = str(RANDOM.choice(modes)), int(RANDOM.integers(3)), int(RANDOM.random() < 0.3)
        # As LightGBM's exporter writes that a number is one of several: a node each, with one child for all.
        values = RANDOM.choice(np.arange(-4, 5), 3, replace=False) if mode == "ANY" else RANDOM.integers(-3, 4, 1)
        truth, own = grow(left - 1), place
        for count, value in enumerate(values, 1):
            falsehood = grow(left - 1) if count == len(values) else len(nodes)
            if count < len(values):
                nodes.append(None)
            nodes[own] = ("BRANCH_EQ" if mode == "ANY" else f"BRANCH_{mode}", feature, float(value), truth, falsehood, tracks)
            own = falsehood
        return place

    grow(depth)
    return nodes


def trees(name, modes, leaf, classes=(0,), regressor=False, scale="probability", tail=None, accepted=1, **attributes):
    """An ensemble of three trees."""
    of = "target" if regressor else "class"
    lists = ["nodes_modes", "nodes_featureids", "nodes_values", "nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"]
    found = {key: [] for key in [*lists, "nodes_treeids", "nodes_nodeids", f"{of}_treeids", f"{of}_nodeids", f"{of}_ids", f"{of}_weights"]}
    for number in range(3):
        for place, parts in enumerate(tree(modes, 3)):
            for key, part in zip(lists, parts):
                found[key].append(part)
            found["nodes_treeids"].append(number)
            found["nodes_nodeids"].append(place)
            for column in classes if parts[0] == "LEAF" else ():
                for key, part in zip(("treeids", "nodeids", "ids", "weights"), (number, place, column, round(leaf() * 64) / 64)):
                    found[f"{of}_{key}"].append(part)
    if regressor:
        nodes = [node("TreeEnsembleRegressor", "x", "t" if tail else "out", ML, n_targets=len(classes), **found, **attributes), *(tail or [])]
    else:
        nodes = [node("TreeEnsembleClassifier", "x", "l,out", ML, classlabels_int64s=[0, 1], **found, **attributes)]
    case(name, nodes, numbers(3, missing=True), {"x": (TensorProto.FLOAT, 3)}, accepted, scale, **({"two": np.float32(2)} if tail else {}))


signed, positive = (lambda: RANDOM.normal()), (lambda: RANDOM.random() / 3)
EVERY = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "ANY"]
for modes in [*([mode] for mode in EVERY), EVERY]:
    trees(f"trees_{'_'.join(modes)}", modes, signed, post_transform="LOGISTIC", base_values=[0.25])
for accepted in (0, 1):
    trees(f"trees_votes_{accepted}", EVERY, positive, accepted=accepted, post_transform="NONE")
    trees(f"trees_votes_softmax_{accepted}", EVERY, positive, accepted=accepted, post_transform="SOFTMAX")
    trees(f"trees_positive_{accepted}", EVERY, positive, accepted=accepted, post_transform="LOGISTIC", base_values=[-0.5])
    trees(f"trees_raw_{accepted}", EVERY, signed, accepted=accepted, post_transform="NONE", scale="log-odds")
    for transform in ("LOGISTIC", "SOFTMAX"):
        for bases in ([], [0.25], [0.25, 0.5]):
            name = f"trees_two_classes_{transform}_{len(bases)}_{accepted}"
            trees(name, EVERY, signed, (0, 1), accepted=accepted, post_transform=transform, **({"base_values": bases} if bases else {}))
trees("trees_second_class", EVERY, signed, (1,), post_transform="LOGISTIC", base_values=[0.25])
for aggregate in ("SUM", "AVERAGE"):
    tail = [node("Mul", "t,two", "z"), node("Sigmoid", "z", "out")]
    trees(f"trees_regressor_{aggregate}", EVERY, signed, regressor=True, tail=tail, aggregate_function=aggregate, base_values=[0.25])
    trees(f"trees_two_targets_{aggregate}", EVERY, signed, (0, 1), regressor=True, aggregate_function=aggregate, post_transform="SOFTMAX", base_values=[0.25, 0.5])

path = Path(__file__).parent / "operators.json"
path.write_text("[\n" + ",\n".join(LINES) + "\n]\n", encoding="utf-8")
print(f"{len(LINES)} graphs, {path.stat().st_size} bytes")
