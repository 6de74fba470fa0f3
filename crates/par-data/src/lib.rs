//! From a raw table to codes and back.
