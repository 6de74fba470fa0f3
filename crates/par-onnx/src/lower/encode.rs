//! Encodings of categories: codes, one-hot columns, embeddings and imputed values.

use std::rc::Rc;

use crate::classifier::Step;
use crate::error::Error;
use crate::lower::Lowering;
use crate::node::Node;
use crate::tensor::{Element, ElementKind, Tensor, TextInput, broadcast, size, stretched};

/// The attributes of Imputer.
pub(super) const IMPUTER: &[&str] =
    &["imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"];

/// The attributes of LabelEncoder in all its versions.
pub(super) const LABEL_ENCODER: &[&str] = &[
    "classes_strings",
    "default_float",
    "default_int64",
    "default_string",
    "default_tensor",
    "keys_floats",
    "keys_int64s",
    "keys_strings",
    "keys_tensor",
    "values_floats",
    "values_int64s",
    "values_strings",
    "values_tensor",
];

impl Lowering {
    /// Looks a text up in a table of numbers.
    pub(super) fn look_up(
        &mut self,
        node: &Node<'_>,
        pairs: &[(Rc<str>, f32)],
        other: f32,
        element: &Element,
    ) -> Result<Element, Error> {
        if let Element::TextInput(word) = element {
            self.multiply(word.renamed.len().saturating_mul(pairs.len()))?;
        }
        let number =
            |text: &str| pairs.iter().find(|(own, _)| **own == *text).map_or(other, |(_, number)| *number);
        let word = match element {
            Element::Text(text) => return Ok(Element::Number(f64::from(number(text)))),
            Element::TextInput(word) => word,
            _ => return Err(node.operand(element.description(), "texts")),
        };
        let renamed = word.renamed.iter().map(|(from, to)| (from.to_string(), number(to)));
        let step = match (&word.other, &word.renamed[..], pairs) {
            (None, [], [(own, 1.0)]) if other == 0.0 => Step::EqualsText(own.to_string()),
            (None, ..) => {
                let pairs = pairs.iter().map(|(own, number)| (own.to_string(), *number));
                Step::LookupText(renamed.chain(pairs).collect(), other)
            }
            (Some(rest), ..) => Step::LookupText(renamed.collect(), number(rest)),
        };
        let input = self.sources.input(word.input);
        self.apply(node, &step, &input, ElementKind::Single)
    }

    /// One number for each category: one if the element is that category, otherwise zero.
    pub(super) fn one_hot(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let (categories, axis) = if node.proto.op_type == "OneHot" {
            let depth = node.constants(1)?.first().copied().unwrap_or(0.0);
            let values = node.constants(2)?;
            let [off, on] = values[..] else {
                return Err(node.operand("other values", "one for off and one for on"));
            };
            let axis = node.axis(node.integer("axis", -1), tensor.shape.len() + 1)?;
            let depth = size(&[depth.max(0.0) as usize])?;
            let codes = (0..depth).map(|code| {
                // A negative index counts from the end.
                let pairs = [code as f32, code as f32 - depth as f32].map(|code| (code, on as f32));
                Step::Lookup(pairs.to_vec(), off as f32)
            });
            (Ok(codes.collect::<Vec<_>>()), axis)
        } else {
            let (numbers, texts) = (node.integers("cats_int64s"), node.texts("cats_strings")?);
            let categories = if texts.is_empty() {
                let steps = numbers.iter().map(|&own| Ok(Step::Equals(whole(node, own)?)));
                Ok(steps.collect::<Result<Vec<_>, Error>>()?)
            } else {
                Err(texts)
            };
            (categories, tensor.shape.len())
        };
        let width = match &categories {
            Ok(steps) => steps.len(),
            Err(texts) => texts.len(),
        };
        let mut shape = tensor.shape.clone();
        shape.insert(axis, width);
        self.spend(size(&shape)?)?;
        let inner = size(&tensor.shape[axis..])?;
        let mut elements = vec![Element::Number(0.0); size(&shape)?];
        for (place, element) in tensor.elements.iter().enumerate() {
            let element = match tensor.kind {
                ElementKind::Single | ElementKind::Double if categories.is_ok() => {
                    self.apply(node, &Step::Truncate, element, tensor.kind)?
                }
                _ => element.clone(),
            };
            for code in 0..width {
                elements[(place / inner * width + code) * inner + place % inner] = match &categories {
                    Ok(steps) => self.apply(node, &steps[code], &element, ElementKind::Single)?,
                    Err(texts) => self.look_up(node, &[(Rc::clone(&texts[code]), 1.0)], 0.0, &element)?,
                };
            }
        }
        Ok(Tensor { shape, kind: ElementKind::Single, elements })
    }

    /// The rows of a table that are indexed by elements.
    pub(super) fn embed(
        &mut self,
        node: &Node<'_>,
        table: &Tensor,
        own: &Tensor,
        axis: usize,
    ) -> Result<Tensor, Error> {
        let (Some(numbers), 0) = (table.constants(), axis) else {
            return Err(node.operand("computed indices", "constants, or a constant table along axis 0"));
        };
        let (rows, columns) = (table.shape[0], size(&table.shape[1..])?);
        let shape = [&own.shape[..], &table.shape[1..]].concat();
        self.spend(size(&shape)?)?;
        let mut elements = Vec::with_capacity(size(&shape)?);
        for element in &own.elements {
            for column in 0..columns {
                let row = |row: usize| (row, numbers[row * columns + column] as f32);
                let from_front = (0..rows).map(|index| (index as f32, row(index).1));
                let from_end = (0..rows).map(|index| (index as f32 - rows as f32, row(index).1));
                self.spend(2 * rows)?;
                let step = Step::Lookup(from_front.chain(from_end).collect(), f32::NAN);
                elements.push(self.apply(node, &step, element, ElementKind::Single)?);
            }
        }
        Ok(Tensor { shape, kind: table.kind, elements })
    }

    pub(super) fn label_encoder(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let codes = node.texts("classes_strings")?;
        let (keys, values) = if codes.is_empty() {
            (Labels::read(node, "keys")?, Labels::read(node, "values")?)
        } else {
            let numbers = Labels::Numbers((0..codes.len()).map(|code| code as f32).collect());
            match tensor.kind {
                ElementKind::Text => (Labels::Texts(codes), numbers),
                _ => (numbers, Labels::Texts(codes)),
            }
        };
        if keys.len() != values.len() {
            let found = format!("{} keys and {} values", keys.len(), values.len());
            return Err(node.operand(&found, "as many of each"));
        }
        let values_kind = node.tensor("values_tensor").map(Tensor::read).transpose()?.map(|own| own.kind);
        let is_whole = node.attribute("values_int64s").is_some()
            || values_kind == Some(ElementKind::Integer)
            || !node.texts("classes_strings")?.is_empty();
        let default = match node.tensor("default_tensor").map(Tensor::read).transpose()? {
            Some(default) => default.constants().and_then(|own| own.first().copied()).unwrap_or(0.0) as f32,
            None if is_whole => node.integer("default_int64", -1) as f32,
            None => node.float("default_float", -0.0),
        };
        let unknown: Rc<str> = node.text("default_string", "_Unused")?.into();
        let kind = match values {
            Labels::Texts(_) => ElementKind::Text,
            Labels::Numbers(_) if is_whole => ElementKind::Integer,
            Labels::Numbers(_) => ElementKind::Single,
        };
        let mut elements = Vec::with_capacity(tensor.elements.len());
        for element in &tensor.elements {
            self.spend(keys.len())?;
            elements.push(match (&keys, &values, element) {
                (Labels::Texts(keys), Labels::Numbers(values), _) => {
                    let pairs: Vec<(Rc<str>, f32)> =
                        keys.iter().cloned().zip(values.iter().copied()).collect();
                    self.look_up(node, &pairs, default, element)?
                }
                (Labels::Numbers(keys), Labels::Numbers(values), _) => {
                    let pairs = keys.iter().copied().zip(values.iter().copied()).collect();
                    self.apply(node, &Step::Lookup(pairs, default), element, kind)?
                }
                (Labels::Texts(keys), Labels::Texts(values), Element::TextInput(word)) => {
                    self.multiply(word.renamed.len().saturating_mul(keys.len()))?;
                    let new = |text: &str| {
                        keys.iter().position(|key| **key == *text).map(|i| Rc::clone(&values[i]))
                    };
                    let old = word.renamed.iter();
                    let old = old
                        .map(|(from, to)| (Rc::clone(from), new(to).unwrap_or_else(|| Rc::clone(&unknown))));
                    let (renamed, other) = match &word.other {
                        None => (
                            old.chain(keys.iter().cloned().zip(values.iter().cloned())).collect(),
                            unknown.clone(),
                        ),
                        Some(rest) => (old.collect(), new(rest).unwrap_or_else(|| Rc::clone(&unknown))),
                    };
                    Element::TextInput(Rc::new(TextInput { input: word.input, renamed, other: Some(other) }))
                }
                (Labels::Numbers(keys), Labels::Texts(values), Element::Number(number)) => {
                    let place = keys.iter().position(|&key| f64::from(key) == *number);
                    Element::Text(
                        place.map_or_else(|| Rc::clone(&unknown), |place| Rc::clone(&values[place])),
                    )
                }
                _ => return Err(node.operand(element.description(), "texts, or numbers that become numbers")),
            });
        }
        Ok(Tensor { shape: tensor.shape.clone(), kind, elements })
    }

    /// `Where`, with constants, or to replace one value of an input by another.
    pub(super) fn choose(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensors = [node.input(0)?, node.input(1)?, node.input(2)?];
        let error = || node.shape(&tensors[0].shape, "three shapes that fit together");
        let shape = broadcast(&tensors[1].shape, &tensors[2].shape).ok_or_else(error)?;
        let shape = broadcast(&tensors[0].shape, &shape).ok_or_else(error)?;
        self.spend(3 * size(&shape)?)?;
        let [condition, yes, no] = tensors.map(|tensor| {
            let places = stretched(&tensor.shape, &shape).into_iter();
            places.map(|place| &tensor.elements[place])
        });
        let mut elements = Vec::new();
        for ((condition, yes), no) in condition.zip(yes).zip(no) {
            elements.push(match (condition, yes, no) {
                (Element::Number(condition), ..) => if *condition == 0.0 { no } else { yes }.clone(),
                (_, Element::Number(yes), Element::Number(no)) => self.apply(
                    node,
                    &Step::Lookup(vec![(0.0, *no as f32)], *yes as f32),
                    condition,
                    tensors[1].kind,
                )?,
                (Element::Source(condition), Element::Number(to), Element::Source(kept)) => {
                    let (kept, step) = (*kept, self.replacement(*condition, *kept, *to as f32, false));
                    let step = step.ok_or_else(|| unlike(node))?;
                    self.apply(node, &step, &Element::Source(kept), tensors[1].kind)?
                }
                (Element::Source(condition), Element::Source(kept), Element::Number(to)) => {
                    let (kept, step) = (*kept, self.replacement(*condition, *kept, *to as f32, true));
                    let step = step.ok_or_else(|| unlike(node))?;
                    self.apply(node, &step, &Element::Source(kept), tensors[1].kind)?
                }
                (Element::Source(condition), Element::Text(to), Element::TextInput(kept)) => {
                    let word = self.renamed(*condition, kept, to).ok_or_else(|| unlike(node))?;
                    Element::TextInput(Rc::new(word))
                }
                _ => return Err(unlike(node)),
            });
        }
        Ok(Tensor { shape, kind: tensors[1].kind, elements })
    }

    /// The step that replaces `kept` by `to` if `condition`, a condition on the same number, holds; if it does
    /// not, when `negated`.
    fn replacement(&self, condition: u32, kept: u32, to: f32, negated: bool) -> Option<Step> {
        let condition = match (negated, self.sources.last(condition)) {
            (false, _) => condition,
            (true, Some((condition, Step::SubtractFrom(1.0)))) => condition,
            _ => return None,
        };
        match self.sources.last(condition)? {
            (own, Step::IsMissing) if own == kept => Some(Step::Replace(f32::NAN, to)),
            (own, Step::Equals(from)) if own == kept => Some(Step::Replace(*from, to)),
            _ => None,
        }
    }

    /// `kept` with the text `to` wherever `condition`, a table over the same input, is not zero.
    fn renamed(&self, condition: u32, kept: &TextInput, to: &Rc<str>) -> Option<TextInput> {
        let source = self.sources.source(condition);
        let is_same = source.input == kept.input && kept.renamed.is_empty() && kept.other.is_none();
        let own: Vec<&str> = match source.steps.first()? {
            Step::EqualsText(text) => vec![text],
            Step::LookupText(pairs, _) => pairs.iter().map(|(text, _)| text.as_str()).collect(),
            _ => return None,
        };
        let holds = |text: &str| source.number(crate::classifier::Value::Text(text)) != 0.0;
        // A text that is in no table, since it is longer than all of them.
        let longest = own.iter().map(|text| text.len()).max().unwrap_or(0);
        let holds_for_others = holds(&"?".repeat(longest + 1));
        let renamed = own.into_iter().filter(|text| holds(text)).map(|text| (text.into(), Rc::clone(to)));
        (is_same && !holds_for_others).then(|| TextInput {
            input: kept.input,
            renamed: renamed.collect(),
            other: None,
        })
    }
}

fn unlike(node: &Node<'_>) -> Error {
    node.operand("a choice between computed numbers", "constants, or a value of an input that is replaced")
}

/// The keys or the values of a label encoder.
enum Labels {
    Numbers(Vec<f32>),
    Texts(Vec<Rc<str>>),
}

/// A category that is an integer, if single precision represents it exactly.
fn whole(node: &Node<'_>, category: i64) -> Result<f32, Error> {
    const MOST: u64 = 1 << 24;
    if category.unsigned_abs() > MOST {
        return Err(node.operand(&format!("the category {category}"), "whole numbers up to 16777216"));
    }
    Ok(category as f32)
}

impl Labels {
    fn read(node: &Node<'_>, name: &str) -> Result<Self, Error> {
        if let Some(tensor) = node.tensor(&format!("{name}_tensor")) {
            let tensor = Tensor::read(tensor)?;
            if let Some(numbers) = tensor.constants() {
                return Ok(Self::Numbers(numbers.into_iter().map(|number| number as f32).collect()));
            }
            let text = |element: &Element| match element {
                Element::Text(text) => Some(Rc::clone(text)),
                _ => None,
            };
            return Ok(Self::Texts(tensor.elements.iter().filter_map(text).collect()));
        }
        let texts = node.texts(&format!("{name}_strings"))?;
        if !texts.is_empty() {
            return Ok(Self::Texts(texts));
        }
        let integers = node.integers(&format!("{name}_int64s"));
        let mut numbers = integers.iter().map(|&own| whole(node, own)).collect::<Result<Vec<f32>, _>>()?;
        numbers.extend_from_slice(node.floats(&format!("{name}_floats")));
        Ok(Self::Numbers(numbers))
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}
