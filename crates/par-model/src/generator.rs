//! The generator: predicts in one pass how likely each code of each feature is in a recourse.
//!
//! | part      | takes                             | gives                                  |
//! |-----------|-----------------------------------|----------------------------------------|
//! | encoder   | the nearest accepted rows         | the neighbourhood embedding            |
//! | inputs    | a factual and what may change     | the inputs of the network              |

mod config;
mod encoder;
mod inputs;

pub use config::{Conditioning, GeneratorConfig, LossConfig};
pub use encoder::{DESCRIPTOR, Encoder, EncoderTrace};
pub use inputs::{GeneratorShape, Scale};

use par_data::Mask;
use rand::Rng;

use crate::network::{Network, Trace, count_parameters};
use crate::pool::{AcceptedPool, NeighbourSearch};

/// Neighbourhood encoder and recourse generator: from a factual and its accepted neighbours to logits over
/// the codes of all features. Logits of codes that a mask forbids have no meaning.
///
/// # Paper
/// E and G of "Phase II: Amortized Recourse Generation".
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    shape: GeneratorShape,
    encoder: Encoder,
    network: Network,
}

/// Memory for [`Generator::logits`].
#[derive(Clone, Debug, Default)]
pub struct GeneratorScratch {
    search: NeighbourSearch,
    encoder: EncoderTrace,
    network: Trace,
    logits: Vec<f64>,
}

impl Generator {
    /// A generator with random parameters.
    pub fn untrained(shape: GeneratorShape, rng: &mut impl Rng) -> Self {
        let encoder = Encoder::new(shape.encoder, shape.embedding, rng);
        let network = Network::new(&shape.widths(), rng);
        Self { shape, encoder, network }
    }

    /// A stored generator; `None` when the shape is invalid or the parameters do not fit it.
    pub fn from_parts(shape: GeneratorShape, parameters: &[f32]) -> Option<Self> {
        if !shape.is_sound() || parameters.iter().any(|parameter| !parameter.is_finite()) {
            return None;
        }
        let [describe, project] = Encoder::widths(shape.encoder, shape.embedding);
        let mut rest = parameters;
        let mut take = |widths: &[usize]| {
            let (own, others) = rest.split_at_checked(count_parameters(widths)?)?;
            rest = others;
            Network::from_parameters(widths, own.to_vec())
        };
        let encoder = Encoder { describe: take(&describe)?, project: take(&project)? };
        let network = take(&shape.widths())?;
        rest.is_empty().then_some(Self { shape, encoder, network })
    }

    /// Everything except the parameters.
    pub fn shape(&self) -> &GeneratorShape {
        &self.shape
    }

    /// The neighbourhood encoder, E.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The network after the encoder, G.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// All parameters, those of the encoder first.
    pub fn parameters(&self) -> Vec<f32> {
        [&self.encoder.describe, &self.encoder.project, &self.network].map(Network::parameters).concat()
    }

    /// The networks in the order of [`Generator::parameters`].
    pub fn networks_mut(&mut self) -> [&mut Network; 3] {
        [&mut self.encoder.describe, &mut self.encoder.project, &mut self.network]
    }

    /// The logits of all codes of all features for the factual of `mask`, whose log p⁺ is `log_likelihood`.
    ///
    /// # Panics
    /// When the mask or the pool has other features.
    pub fn logits<'s>(
        &self,
        pool: &AcceptedPool,
        mask: &Mask,
        log_likelihood: f64,
        scratch: &'s mut GeneratorScratch,
    ) -> &'s [f64] {
        let GeneratorScratch { search, encoder, network, logits } = scratch;
        let neighbours = pool.nearest(mask.factual(), pool.neighbours(), search);
        self.shape.write_descriptors(pool, neighbours, encoder.descriptors());
        let embedding = self.encoder.forward(1, neighbours.len(), encoder);
        let inputs = network.inputs();
        self.shape.write_inputs(mask, log_likelihood, inputs);
        inputs.extend_from_slice(embedding);
        logits.clear();
        logits.extend(self.network.forward(network).iter().map(|&output| f64::from(output)));
        self.shape.favour_own(mask, logits);
        logits
    }
}
