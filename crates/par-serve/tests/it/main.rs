//! The service as clients meet it, over real connections: good ones, careless ones and hostile ones.

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
mod reload;
mod running;
mod stream_faults;
mod streams;
mod values;
mod wire;
