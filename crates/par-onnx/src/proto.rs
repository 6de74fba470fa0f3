//! The messages of an ONNX file, as far as they are needed, and an estimate of their memory.
//!
//! Field numbers are those of `onnx.proto`. Unsupported parts (subgraphs, sparse tensors) stay bytes.

use prost::Message;

use crate::error::Error;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelProto {
    #[prost(message, optional, tag = "7")]
    pub(crate) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) opset_import: Vec<OperatorSetProto>,
    #[prost(message, repeated, tag = "25")]
    pub(crate) functions: Vec<FunctionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSetProto {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FunctionProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "10")]
    pub(crate) domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) output: Vec<ValueInfoProto>,
    #[prost(bytes = "vec", repeated, tag = "15")]
    pub(crate) sparse_initializer: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(crate) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(string, tag = "4")]
    pub(crate) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub(crate) domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(float, tag = "2")]
    pub(crate) f: f32,
    #[prost(int64, tag = "3")]
    pub(crate) i: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(crate) s: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub(crate) t: Option<TensorProto>,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub(crate) g: Option<Vec<u8>>,
    #[prost(float, repeated, tag = "7")]
    pub(crate) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(crate) ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub(crate) strings: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub(crate) graphs: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(crate) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(crate) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) int32_data: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(crate) string_data: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    pub(crate) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(crate) name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub(crate) raw_data: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub(crate) double_data: Vec<f64>,
    #[prost(int32, tag = "14")]
    pub(crate) data_location: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) r#type: Option<TypeProto>,
}

/// Sequences and maps are only told apart from tensors.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(crate) tensor_type: Option<TensorTypeProto>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(crate) sequence_type: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub(crate) map_type: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorTypeProto {
    #[prost(int32, tag = "1")]
    pub(crate) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) shape: Option<ShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) dim: Vec<DimensionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DimensionProto {
    #[prost(int64, optional, tag = "1")]
    pub(crate) dim_value: Option<i64>,
}

/// Largest size of a file in bytes.
const FILE: usize = 256 << 20;
/// Largest size of a decoded file in bytes.
const MEMORY: usize = 1 << 30;

/// Decodes a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<ModelProto, Error> {
    let damaged = || Error::NotOnnx { reason: "its messages are damaged or cut off".into() };
    if bytes.len() > FILE {
        return Err(Error::TooLarge { what: "bytes of the file".into(), limit: FILE });
    }
    if memory(bytes, MessageKind::Model).ok_or_else(damaged)? > MEMORY {
        return Err(Error::TooLarge { what: "bytes in memory".into(), limit: MEMORY });
    }
    ModelProto::decode(bytes).map_err(|_| damaged())
}

/// The messages whose fields are counted.
#[derive(Clone, Copy)]
enum MessageKind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    ValueInfo,
    Small,
}

impl MessageKind {
    /// The message in a field.
    fn field(self, tag: usize) -> Option<Self> {
        Some(match (self, tag) {
            (Self::Model, 7) => Self::Graph,
            (Self::Model, 8 | 25) => Self::Small,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 5) | (Self::Attribute, 5) => Self::Tensor,
            (Self::Graph, 11 | 12) => Self::ValueInfo,
            (Self::Node, 5) => Self::Attribute,
            _ => return None,
        })
    }

    /// Bytes of memory for one byte of a field, at most: an integer of eight bytes may be packed into one,
    /// and so may the dimensions of a type.
    fn growth(self, tag: usize) -> usize {
        match (self, tag) {
            (Self::Attribute, 8) | (Self::Tensor, 1 | 5 | 7) => 8,
            (Self::ValueInfo, 2) => 16,
            _ => 1,
        }
    }
}

/// Bytes of memory for a message, about. Computed before decoding: a file of empty messages would take a
/// hundred times its size.
fn memory(mut bytes: &[u8], part: MessageKind) -> Option<usize> {
    let mut total = 0_usize;
    while !bytes.is_empty() {
        let key = prost::decode_length_delimiter(&mut bytes).ok()?;
        let (tag, wire) = (key >> 3, key & 7);
        let length = match wire {
            0 => {
                prost::decode_length_delimiter(&mut bytes).ok()?;
                0
            }
            1 => 8,
            2 => prost::decode_length_delimiter(&mut bytes).ok()?,
            5 => 4,
            _ => return None,
        };
        let inside = bytes.get(..length)?;
        bytes = &bytes[length..];
        total += match part.field(tag) {
            Some(inner) if wire == 2 => 400 + memory(inside, inner)?,
            _ => 32 + length.saturating_mul(part.growth(tag)),
        };
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_that_would_fill_the_memory_is_refused() {
        let empty_nodes: Vec<u8> = [0x0a, 0].repeat(3 << 20);
        let mut file = vec![0x3a];
        prost::encode_length_delimiter(empty_nodes.len(), &mut file).expect("a vector grows");
        file.extend(empty_nodes);
        let error = decode(&file).expect_err("three million nodes");
        assert_eq!(error.to_string(), "there are more than 1073741824 bytes in memory, which is the limit");
    }
}
