//! Circuits as bytes and as text. Both carry a checksum, so that a file that was cut or edited is refused.

use std::fmt::Write as _;

use crate::error::FormatError;
use crate::{Circuit, Node, NodeId};

/// The first bytes of the binary form.
const MAGIC: &str = "PARCIRCT";

/// The first words of the text form.
const TEXT_MAGIC: &str = "par circuit text";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

const LEAF: u8 = 0;
const PRODUCT: u8 = 1;
const SUM: u8 = 2;

impl Circuit {
    /// The binary form: magic, version, cardinalities, nodes, checksum; numbers little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend(VERSION.to_le_bytes());
        put_length(&mut bytes, self.cardinalities().len());
        self.cardinalities().iter().for_each(|&cardinality| put_length(&mut bytes, cardinality));
        put_length(&mut bytes, self.nodes().len());
        for node in self.nodes() {
            match node {
                Node::Leaf { variable, probabilities } => {
                    bytes.push(LEAF);
                    put_length(&mut bytes, *variable);
                    put_numbers(&mut bytes, probabilities);
                }
                Node::Product { children } => {
                    bytes.push(PRODUCT);
                    put_children(&mut bytes, children);
                }
                Node::Sum { children, weights } => {
                    bytes.push(SUM);
                    put_children(&mut bytes, children);
                    put_numbers(&mut bytes, weights);
                }
            }
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the binary form. A length is checked against the bytes that follow before anything is allocated
    /// for it.
    ///
    /// # Errors
    /// When the bytes are of another kind or version, cut, edited, or not a circuit.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(FormatError::Magic { expected: MAGIC });
        }
        let mut reader = ByteReader { rest: &bytes[MAGIC.len()..] };
        let found = reader.u32()?;
        if found != VERSION {
            return Err(FormatError::Version { found, supported: VERSION });
        }
        let cardinalities = reader.many(4, ByteReader::length)?;
        let count = reader.length()?;
        let mut nodes = Vec::new();
        for index in 0..count {
            nodes.push(reader.node(NodeId(index as u32))?);
        }
        let end = bytes.len() - reader.rest.len();
        let expected = reader.u32()?;
        if !reader.rest.is_empty() {
            return Err(FormatError::TrailingBytes { found: reader.rest.len() });
        }
        check(expected, &bytes[..end])?;
        Ok(Self::new(cardinalities, nodes)?)
    }

    /// The text form, one line a node, for people and for `diff`.
    ///
    /// Numbers are written with as many digits as reading back the same bits needs.
    pub fn to_text(&self) -> String {
        let mut text = format!("{TEXT_MAGIC} {VERSION}\ncardinalities");
        self.cardinalities().iter().for_each(|cardinality| put(&mut text, cardinality));
        for node in self.nodes() {
            match node {
                Node::Leaf { variable, probabilities } => {
                    text.push_str("\nleaf");
                    put(&mut text, variable);
                    probabilities.iter().for_each(|probability| put(&mut text, probability));
                }
                Node::Product { children } => {
                    text.push_str("\nproduct");
                    children.iter().for_each(|child| put(&mut text, child));
                }
                Node::Sum { children, weights } => {
                    text.push_str("\nsum");
                    for (child, weight) in children.iter().zip(weights) {
                        put(&mut text, child);
                        put(&mut text, weight);
                    }
                }
            }
        }
        text.push('\n');
        let checksum = crc32fast::hash(text.as_bytes());
        text.push_str(&format!("checksum {checksum:08x}\n"));
        text
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// When the text is of another kind or version, cut, edited, or not a circuit.
    pub fn from_text(text: &str) -> Result<Self, FormatError> {
        let version = text.strip_prefix(TEXT_MAGIC).ok_or(FormatError::Magic { expected: TEXT_MAGIC })?;
        let version = version.lines().next().and_then(|version| version.trim().parse().ok());
        if version != Some(VERSION) {
            return Err(FormatError::Version { found: version.unwrap_or(0), supported: VERSION });
        }
        let start = text.rfind("checksum ").ok_or(FormatError::Truncated { expected: 18, found: 0 })?;
        let (body, stored) = text.split_at(start);
        let line = |line: usize, what: &str| FormatError::Line { line: line + 1, what: what.to_owned() };
        let stored = stored["checksum ".len()..].strip_suffix('\n').unwrap_or("");
        let stored = if stored.bytes().all(|digit| digit.is_ascii_hexdigit()) { stored } else { "" };
        let last = body.lines().count();
        let expected = u32::from_str_radix(stored, 16).map_err(|_| {
            line(last, "expected a checksum of eight hexadecimal digits, and nothing after it")
        })?;
        check(expected, body.as_bytes())?;
        let mut lines = body.lines().enumerate().skip(1);
        let first = lines.next().map_or("", |(_, first)| first);
        let cardinalities = first.strip_prefix("cardinalities ");
        let cardinalities =
            cardinalities.ok_or_else(|| line(1, "expected `cardinalities` and their numbers"))?;
        let cardinalities = numbers(cardinalities).ok_or_else(|| line(1, "expected whole numbers"))?;
        let nodes: Result<Vec<Node>, FormatError> = lines
            .map(|(number, text)| {
                text_node(text)
                    .ok_or_else(|| line(number, "expected `leaf`, `product` or `sum` and its numbers"))
            })
            .collect();
        Ok(Self::new(cardinalities, nodes?)?)
    }
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u32).to_le_bytes());
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: &[f64]) {
    put_length(bytes, numbers.len());
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

fn put_children(bytes: &mut Vec<u8>, children: &[NodeId]) {
    put_length(bytes, children.len());
    children.iter().for_each(|child| bytes.extend(child.0.to_le_bytes()));
}

fn put(text: &mut String, number: &impl std::fmt::Display) {
    write!(text, " {number}").expect("writing to a string does not fail");
}

fn check(expected: u32, bytes: &[u8]) -> Result<(), FormatError> {
    let found = crc32fast::hash(bytes);
    if found == expected { Ok(()) } else { Err(FormatError::Checksum { expected, found }) }
}

/// Reads numbers from the front of some bytes.
struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (first, rest) = self.rest.split_first_chunk().ok_or_else(|| self.truncated(N as u64))?;
        self.rest = rest;
        Ok(*first)
    }

    fn truncated(&self, expected: u64) -> FormatError {
        FormatError::Truncated { expected, found: self.rest.len() as u64 }
    }

    fn u32(&mut self) -> Result<u32, FormatError> {
        self.take().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, FormatError> {
        self.u32().map(|length| length as usize)
    }

    fn number(&mut self) -> Result<f64, FormatError> {
        self.take().map(f64::from_le_bytes)
    }

    /// A length, then that many items of `size` bytes; checks that they are there before it allocates.
    fn many<T>(
        &mut self,
        size: u64,
        item: impl Fn(&mut Self) -> Result<T, FormatError>,
    ) -> Result<Vec<T>, FormatError> {
        let count = self.length()?;
        if count as u64 * size > self.rest.len() as u64 {
            return Err(self.truncated(count as u64 * size));
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn children(&mut self) -> Result<Box<[NodeId]>, FormatError> {
        Ok(self.many(4, |reader| reader.u32().map(NodeId))?.into())
    }

    fn node(&mut self, node: NodeId) -> Result<Node, FormatError> {
        let [kind] = self.take()?;
        Ok(match kind {
            LEAF => {
                let variable = self.length()?;
                Node::Leaf { variable, probabilities: self.many(8, Self::number)?.into() }
            }
            PRODUCT => Node::Product { children: self.children()? },
            SUM => Node::Sum { children: self.children()?, weights: self.many(8, Self::number)?.into() },
            found => return Err(FormatError::Kind { node, found }),
        })
    }
}

fn numbers<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

fn text_node(text: &str) -> Option<Node> {
    let (kind, rest) = text.split_once(' ')?;
    Some(match kind {
        "leaf" => {
            let (variable, probabilities) = rest.split_once(' ')?;
            Node::Leaf { variable: variable.parse().ok()?, probabilities: numbers(probabilities)?.into() }
        }
        "product" => Node::Product { children: numbers(rest)?.into_iter().map(NodeId).collect() },
        "sum" => {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let children: Option<Vec<u32>> =
                fields.iter().step_by(2).map(|child| child.parse().ok()).collect();
            let weights: Option<Vec<f64>> =
                fields.iter().skip(1).step_by(2).map(|weight| weight.parse().ok()).collect();
            Node::Sum { children: children?.into_iter().map(NodeId).collect(), weights: weights?.into() }
        }
        _ => return None,
    })
}
