//! The service over real connections: with good, careless and hostile clients.

mod abandoned;
mod access;
mod answers;
mod client;
mod ending;
mod hostile;
mod kserve;
mod limits;
mod observed;
mod pages;
mod regression;
mod reload;
mod running;
mod stream_faults;
mod streams;
mod values;
mod wire;
