//! Probabilistic circuits.
