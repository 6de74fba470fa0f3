//! Operators that turn sums into scores: probabilities of both classes.

use std::rc::Rc;

use crate::classifier::{Activation, Step};
use crate::error::Error;
use crate::lower::Lowering;
use crate::lower::affine::{AffineForm, SumBasis};
use crate::node::Node;
use crate::tensor::{Element, ElementKind, Share, ShareKind, Tensor};

/// The attributes of LinearClassifier.
pub(super) const CLASSIFIER: &[&str] = &[
    "classlabels_ints",
    "classlabels_strings",
    "coefficients",
    "intercepts",
    "multi_class",
    "post_transform",
];

impl Lowering {
    pub(super) fn linear_classifier(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let sums = self.linear(node, node.floats("intercepts").len())?;
        let labels = node.integers("classlabels_ints").len() + node.texts("classlabels_strings")?.len();
        if labels < 2 || labels != sums.len() && (labels, sums.len()) != (2, 1) {
            return Err(
                node.operand(&format!("{labels} classes and {} scores", sums.len()), "a score a class")
            );
        }
        let post_transform = node.text("post_transform", "NONE")?;
        let [score] = &sums[..] else { return self.transformed(node, post_transform, sums) };
        // onnxruntime gives the other class one minus the score, even if the score is not a probability.
        let score = if post_transform == "LOGISTIC" { self.sigmoid(node, score)? } else { score.clone() };
        let rest = self.apply(node, &Step::SubtractFrom(1.0), &score, ElementKind::Single)?;
        self.transformed(
            node,
            if post_transform == "SOFTMAX" { "NONE" } else { post_transform },
            vec![rest, score],
        )
    }

    pub(super) fn linear_regressor(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let targets = usize::try_from(node.integer("targets", 1)).unwrap_or(0);
        let sums = self.linear(node, targets)?;
        self.transformed(node, node.text("post_transform", "NONE")?, sums)
    }

    /// Scores after the `post_transform` of an `ai.onnx.ml` operator. onnxruntime ignores the transform of a
    /// single score, so that other transforms than none are refused.
    pub(super) fn transformed(
        &mut self,
        node: &Node<'_>,
        post_transform: &str,
        scores: Vec<Element>,
    ) -> Result<Tensor, Error> {
        let elements = match (post_transform, scores.len()) {
            ("NONE", _) => scores,
            ("LOGISTIC", 2..) => {
                let settled = |own: &Element| matches!(own, Element::Probability(_));
                let sigmoid =
                    |own: &Element| if settled(own) { Ok(own.clone()) } else { self.sigmoid(node, own) };
                scores.iter().map(sigmoid).collect::<Result<_, _>>()?
            }
            ("SOFTMAX", 2..) => self.softmax_of(node, &scores, false)?,
            ("LOGISTIC" | "SOFTMAX", _) => {
                return Err(node.refuse("post_transform", post_transform, "`NONE` for one output"));
            }
            _ => {
                return Err(node.refuse("post_transform", post_transform, "`NONE`, `LOGISTIC` or `SOFTMAX`"));
            }
        };
        Ok(Tensor { shape: vec![1, elements.len()], kind: ElementKind::Single, elements })
    }

    pub(super) fn sigmoid(&mut self, node: &Node<'_>, element: &Element) -> Result<Element, Error> {
        Ok(match element {
            Element::Number(number) => Element::Number(Activation::Sigmoid.value(*number)),
            _ => Element::Probability(self.form(node, element)?),
        })
    }

    /// Softmax, or its logarithm.
    pub(super) fn softmax(&mut self, node: &Node<'_>, is_logarithm: bool) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let axis =
            node.axis(node.integer("axis", if node.version < 13 { 1 } else { -1 }), tensor.shape.len())?;
        if tensor.elements.len() < 2 || tensor.shape[axis] != tensor.elements.len() {
            return Err(node.shape(&tensor.shape, "two or more scores of a row along the axis"));
        }
        let elements = self.softmax_of(node, &tensor.elements, is_logarithm)?;
        Ok(Tensor { elements, ..tensor.clone() })
    }

    /// The softmax of two scores depends on their difference only.
    fn softmax_of(
        &mut self,
        node: &Node<'_>,
        scores: &[Element],
        is_logarithm: bool,
    ) -> Result<Vec<Element>, Error> {
        if scores.len() > 2 {
            return Ok(Share::all(self.forms(node, scores)?, ShareKind::Softmax, is_logarithm));
        }
        let wrap = if is_logarithm { Element::LogProbability } else { Element::Probability };
        let difference = self.weighted(node, scores, &[-1.0, 1.0])?;
        let difference = self.form(node, &difference)?;
        Ok(vec![wrap(Rc::new(difference.scaled(-1.0, 0.0))), wrap(difference)])
    }

    fn forms(&mut self, node: &Node<'_>, scores: &[Element]) -> Result<Vec<Rc<AffineForm>>, Error> {
        scores.iter().map(|score| self.form(node, score)).collect()
    }

    /// Normalizes two probabilities, which add up to one already, or one sigmoid for each of several classes; other
    /// elements are refused.
    pub(super) fn normalizer(&mut self, node: &Node<'_>) -> Result<Tensor, Error> {
        let tensor = node.input(0)?;
        let sigmoids: Option<Vec<Rc<AffineForm>>> = (tensor.elements.iter())
            .map(|element| match element {
                Element::Probability(score) => Some(Rc::clone(score)),
                _ => None,
            })
            .collect();
        if let (Some(scores), 3.., "L1") = (sigmoids, tensor.elements.len(), node.text("norm", "MAX")?) {
            let elements = Share::all(scores, ShareKind::OneVsRest, false);
            return Ok(Tensor { elements, ..tensor.clone() });
        }
        let add_up = match &tensor.elements[..] {
            [Element::Probability(one), Element::Probability(other)] => one.adds_up_to(other, 0.0),
            [Element::Form(one), Element::Form(other)] => {
                one.basis == SumBasis::Trees && one.adds_up_to(other, 1.0)
            }
            elements => Share::are_all(elements),
        };
        match (add_up, node.text("norm", "MAX")?) {
            (true, "L1") => Ok(tensor.clone()),
            (true, other) => Err(node.refuse("norm", other, "`L1`")),
            (false, _) => Err(node.operand(
                "numbers that all depend on each other once they are normalized",
                "probabilities that add up to one, or a sigmoid a class",
            )),
        }
    }
}
