//! Tensors of the symbolic evaluation: constants, and expressions over the inputs.

use std::rc::Rc;

use crate::error::Error;
use crate::lower::affine::AffineForm;
use crate::proto::TensorProto;

/// Largest number of elements of a tensor.
const ELEMENTS: usize = 1 << 24;
/// Largest number of axes of a tensor.
pub(crate) const AXES: usize = 16;

/// A tensor for one row.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) kind: ElementKind,
    /// In row-major order.
    pub(crate) elements: Vec<Element>,
}

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementKind {
    Single,
    Double,
    Integer,
    Boolean,
    Text,
}

/// One element of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Element {
    /// A constant number.
    Number(f64),
    /// A constant text.
    Text(Rc<str>),
    /// A text input.
    TextInput(Rc<TextInput>),
    /// A function of one input, by its position among the sources.
    Source(u32),
    /// A weighted sum of sources, hidden units or trees.
    Form(Rc<AffineForm>),
    /// The sigmoid of a sum. It becomes a hidden unit only if another operator than the last one needs it.
    Probability(Rc<AffineForm>),
    /// The logarithm of the sigmoid of a sum.
    LogProbability(Rc<AffineForm>),
    /// The sum of the sigmoids of more than two sums, which divides each of them where classes are one against the
    /// rest. It becomes a sum of hidden units if another operator needs it.
    Total(Rc<[Rc<AffineForm>]>),
    /// The probability of one of more than two classes. Only the end of a graph may use it.
    Share(Share),
}

/// The probability of one of several classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    /// The scores of all classes.
    pub(crate) scores: Rc<[Rc<AffineForm>]>,
    /// The class, a position in them.
    pub(crate) class: usize,
    pub(crate) kind: ShareKind,
    /// Whether it is the logarithm of the probability.
    pub(crate) is_logarithm: bool,
}

/// How scores become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareKind {
    Softmax,
    /// The sigmoid of each, divided by the sum.
    OneVsRest,
}

impl Share {
    /// The probability of each of the classes with these scores.
    pub(crate) fn all(scores: Vec<Rc<AffineForm>>, kind: ShareKind, is_logarithm: bool) -> Vec<Element> {
        let scores: Rc<[Rc<AffineForm>]> = scores.into();
        let share = |class| Self { scores: Rc::clone(&scores), class, kind, is_logarithm };
        (0..scores.len()).map(|class| Element::Share(share(class))).collect()
    }

    /// Whether the elements are the probabilities of all classes of one classifier, which add up to one.
    pub(crate) fn are_all(elements: &[Element]) -> bool {
        let Some(Element::Share(first)) = elements.first() else { return false };
        let is_next = |(class, element): (usize, &Element)| {
            matches!(element, Element::Share(own) if own.class == class && !own.is_logarithm
                && Rc::ptr_eq(&own.scores, &first.scores))
        };
        elements.len() == first.scores.len() && elements.iter().enumerate().all(is_next)
    }
}

/// A text input, some of whose texts are replaced by others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextInput {
    pub(crate) input: usize,
    pub(crate) renamed: Vec<(Rc<str>, Rc<str>)>,
    /// The replacement of all other texts; `None` keeps them.
    pub(crate) other: Option<Rc<str>>,
}

impl ElementKind {
    /// The kind for an element type of the file.
    pub(crate) fn of(data_type: i32) -> Option<Self> {
        Some(match data_type {
            1 => Self::Single,
            11 => Self::Double,
            2..=7 | 12 | 13 => Self::Integer,
            9 => Self::Boolean,
            8 => Self::Text,
            _ => return None,
        })
    }

    /// A number rounded to this kind.
    pub(crate) fn round(self, number: f64) -> f64 {
        match self {
            Self::Single => f64::from(number as f32),
            Self::Integer => number.trunc(),
            Self::Boolean => f64::from(u8::from(number != 0.0)),
            Self::Double | Self::Text => number,
        }
    }
}

impl Element {
    /// The constant, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Its description in errors.
    pub(crate) fn description(&self) -> &'static str {
        match self {
            Self::Number(_) => "a constant",
            Self::Text(_) => "a constant text",
            Self::TextInput(_) => "a text input",
            Self::Source(_) => "a function of one input",
            Self::Form(_) | Self::Total(_) => "a sum of several numbers",
            Self::Probability(_) | Self::LogProbability(_) => "a probability",
            Self::Share(_) => "a probability of more than two classes",
        }
    }
}

impl Tensor {
    /// A tensor of numbers.
    pub(crate) fn numbers(
        shape: Vec<usize>,
        kind: ElementKind,
        numbers: impl IntoIterator<Item = f64>,
    ) -> Self {
        Self { shape, kind, elements: numbers.into_iter().map(Element::Number).collect() }
    }

    /// Steps that a walk over its axes takes, even if one of them is empty.
    pub(crate) fn volume(&self) -> usize {
        self.shape.iter().fold(1, |volume, &size| volume.saturating_mul(size.max(1)))
    }

    /// The numbers, if all are constant.
    pub(crate) fn constants(&self) -> Option<Vec<f64>> {
        self.elements.iter().map(Element::number).collect()
    }

    /// Reads a constant tensor of the file.
    pub(crate) fn read(proto: &TensorProto) -> Result<Self, Error> {
        let error = |found: String, expected: &str| Error::Tensor {
            tensor: proto.name.clone(),
            found,
            expected: expected.into(),
        };
        if proto.data_location != 0 {
            let expected = "it inside\nhint: export with the weights in the same file";
            return Err(error("its data in another file".into(), expected));
        }
        let kind = ElementKind::of(proto.data_type);
        let types = "float, double, int64, int32, bool or string";
        let kind = kind.ok_or_else(|| error(format!("elements of type {}", proto.data_type), types))?;
        let sizes = proto.dims.iter().map(|&size| usize::try_from(size).ok());
        let shape: Option<Vec<usize>> = sizes.collect();
        let shape = shape.ok_or_else(|| error(format!("the shape {:?}", proto.dims), "sizes from 0"))?;
        let raw = &proto.raw_data;
        let elements: Vec<Element> = match proto.data_type {
            1 if raw.is_empty() => numbers(proto.float_data.iter().map(|&x| f64::from(x))),
            1 => numbers(words(raw).map(|word| f64::from(f32::from_le_bytes(word)))),
            11 if raw.is_empty() => numbers(proto.double_data.iter().copied()),
            11 => numbers(words(raw).map(f64::from_le_bytes)),
            7 if raw.is_empty() => numbers(proto.int64_data.iter().map(|&x| x as f64)),
            7 => numbers(words(raw).map(|word| i64::from_le_bytes(word) as f64)),
            6 | 9 if raw.is_empty() => numbers(proto.int32_data.iter().map(|&x| f64::from(x))),
            6 => numbers(words(raw).map(|word| f64::from(i32::from_le_bytes(word)))),
            9 => numbers(raw.iter().map(|&x| f64::from(x))),
            8 => {
                let texts = proto.string_data.iter().map(|bytes| std::str::from_utf8(bytes));
                let texts: Result<Vec<_>, _> = texts.collect();
                let texts = texts.map_err(|_| error("texts that are no UTF-8".into(), "UTF-8"))?;
                texts.into_iter().map(|text| Element::Text(text.into())).collect()
            }
            other => return Err(error(format!("elements of type {other}"), types)),
        };
        let count = size(&shape)?;
        let bytes = match proto.data_type {
            9 => 1,
            1 | 6 => 4,
            _ => 8,
        };
        let is_whole = raw.len().is_multiple_of(bytes);
        if elements.len() != count || !is_whole {
            let expected = format!("{count}, as its shape {shape:?} says");
            let found = format!("{} elements{}", elements.len(), if is_whole { "" } else { " and a part" });
            return Err(error(found, &expected));
        }
        Ok(Self { shape, kind, elements })
    }
}

fn numbers(numbers: impl Iterator<Item = f64>) -> Vec<Element> {
    numbers.map(Element::Number).collect()
}

fn words<const N: usize>(raw: &[u8]) -> impl Iterator<Item = [u8; N]> {
    raw.chunks_exact(N).map(|chunk| chunk.try_into().expect("a chunk of that size"))
}

/// Number of elements of a shape. It is limited without the zeros among the sizes too, so that every part of
/// it is.
pub(crate) fn size(shape: &[usize]) -> Result<usize, Error> {
    if shape.len() > AXES {
        return Err(Error::TooLarge { what: "axes of a tensor".into(), limit: AXES });
    }
    let most = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size.max(1)));
    match most {
        Some(most) if most <= ELEMENTS => Ok(if shape.contains(&0) { 0 } else { most }),
        _ => Err(Error::TooLarge { what: "elements in a tensor".into(), limit: ELEMENTS }),
    }
}

/// The shape to which two tensors are broadcast, aligned at the last axis.
pub(crate) fn broadcast(left: &[usize], right: &[usize]) -> Option<Vec<usize>> {
    let rank = left.len().max(right.len());
    let at =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    (0..rank)
        .map(|axis| match (at(left, axis), at(right, axis)) {
            (left, right) if left == right || right == 1 => Some(left),
            (1, right) => Some(right),
            _ => None,
        })
        .collect()
}

/// For every element of a broadcast shape, the position of its element in `shape`.
pub(crate) fn stretched(shape: &[usize], into: &[usize]) -> Vec<usize> {
    let missing = into.len() - shape.len();
    let mut places = vec![0];
    for (axis, &size) in into.iter().enumerate() {
        let own = if axis < missing { 1 } else { shape[axis - missing] };
        let step = |place: usize| (0..size).map(move |i| place * own + if own == 1 { 0 } else { i });
        places = places.into_iter().flat_map(step).collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stretch_from_the_last_dimension() {
        assert_eq!(broadcast(&[3, 1], &[4]), Some(vec![3, 4]));
        assert_eq!(broadcast(&[], &[2]), Some(vec![2]));
        assert_eq!(broadcast(&[2], &[3]), None);
        assert_eq!(broadcast(&[1], &[0]), Some(vec![0]));
        assert_eq!(stretched(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(stretched(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn tensors_are_read_from_raw_and_from_typed_data() {
        let raw = [1.5_f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let tensor = TensorProto { dims: vec![2], data_type: 1, raw_data: raw, ..Default::default() };
        assert_eq!(Tensor::read(&tensor).expect("floats").constants(), Some(vec![1.5, -2.0]));
        let tensor = TensorProto { data_type: 7, int64_data: vec![i64::MIN], ..Default::default() };
        assert_eq!(Tensor::read(&tensor).expect("one").constants(), Some(vec![i64::MIN as f64]));
        let tensor = TensorProto { dims: vec![1], data_type: 9, raw_data: vec![1], ..Default::default() };
        assert_eq!(Tensor::read(&tensor).expect("truth").constants(), Some(vec![1.0]));
    }

    #[test]
    fn unsupported_tensors_are_refused_with_the_reason() {
        let named = |tensor: TensorProto| {
            Tensor::read(&TensorProto { name: "w".into(), ..tensor }).expect_err("refused").to_string()
        };
        let short = TensorProto { dims: vec![2], data_type: 1, raw_data: vec![0; 5], ..Default::default() };
        assert_eq!(
            named(TensorProto { dims: vec![3], ..short.clone() }),
            "the tensor `w` has 1 elements and a part, expected 3, as its shape [3] says"
        );
        assert_eq!(
            named(TensorProto { data_type: 10, ..short.clone() }),
            "the tensor `w` has elements of type 10, expected float, double, int64, int32, bool or string"
        );
        assert_eq!(
            named(TensorProto { data_location: 1, ..short.clone() }),
            "the tensor `w` has its data in another file, expected it inside\n\
             hint: export with the weights in the same file"
        );
        let dims = vec![1 << 40, 1 << 40];
        let large = Tensor::read(&TensorProto { dims, ..short }).expect_err("refused");
        assert_eq!(large, Error::TooLarge { what: "elements in a tensor".into(), limit: ELEMENTS });
    }
}
