//! Many clients on one thread, each of which asks again as soon as it is answered.

use std::error::Error;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use par_data::german_credit;
use par_model::Model;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// A number of connections, for a time.
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// The outcome of a load.
#[derive(Default)]
pub(crate) struct Took {
    /// How long each answer took, in microseconds, the quickest first.
    pub(crate) answered: Vec<u32>,
    /// How many were refused.
    pub(crate) refused: usize,
    pub(crate) seconds: f64,
}

impl Took {
    /// A percentile of how long answers took, in milliseconds.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let place = (share * self.answered.len() as f64) as usize;
        self.answered
            .get(place.min(self.answered.len().saturating_sub(1)))
            .map_or(f64::NAN, |&micros| f64::from(micros) / 1e3)
    }
}

/// The questions of the denied people of German Credit, as rows of JSON.
pub(crate) fn denied(model: &Model) -> Result<Vec<Value>, Box<dyn Error>> {
    let table = german_credit::table();
    let columns = model.schema().columns(table.origin(), table.columns())?;
    let batch = table.batches(1_000).next().ok_or("an empty table")??;
    let mut rows = Vec::new();
    for row in 0..batch.rows() {
        let cells: Vec<&str> = columns.cells(&batch, row);
        if model.score(&cells)? < model.threshold() {
            let mut object = Map::new();
            for (feature, cell) in model.schema().features().iter().zip(cells) {
                let number = serde_json::from_str(cell).ok().filter(|_| feature.kind.is_numeric());
                object.insert(feature.name.clone(), number.unwrap_or_else(|| cell.into()));
            }
            rows.push(Value::Object(object));
        }
    }
    Ok(rows)
}

/// The same as requests, ready to be sent.
pub(crate) fn questions(model: &Model) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let request = |row: Value| {
        let body = json!({"row": row}).to_string();
        let head = format!(
            "POST /v1/recourse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes()
    };
    Ok(denied(model)?.into_iter().map(request).collect())
}

impl Load {
    /// Sends the questions in turn.
    pub(crate) fn run(&self, questions: &[Vec<u8>]) -> Result<Took, Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (address, connections) = (self.address, self.connections);
        let begun = Instant::now();
        let end = begun + self.time;
        let mut all = runtime.block_on(async {
            let mut clients = JoinSet::new();
            for number in 0..connections {
                let mut mine: Vec<Vec<u8>> = questions.to_vec();
                let middle = number * mine.len() / connections;
                mine.rotate_left(middle);
                clients
                    .spawn(async move { ask(address, &mine, end).await.map_err(|error| error.to_string()) });
            }
            let mut all = Took::default();
            while let Some(took) = clients.join_next().await {
                let took = took.map_err(|error| error.to_string())??;
                all.answered.extend(took.answered);
                all.refused += took.refused;
            }
            Ok::<_, String>(all)
        })?;
        all.seconds = begun.elapsed().as_secs_f64();
        all.answered.sort_unstable();
        Ok(all)
    }
}

/// One client.
async fn ask(address: SocketAddr, questions: &[Vec<u8>], end: Instant) -> Result<Took, Box<dyn Error>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut took = Took::default();
    let mut buffer = vec![0; 64 << 10];
    for question in questions.iter().cycle() {
        let asked = Instant::now();
        if asked >= end {
            break;
        }
        write_all(&stream, question).await?;
        match answered(&stream, &mut buffer).await? {
            200 => took.answered.push(asked.elapsed().as_micros() as u32),
            503 => took.refused += 1,
            other => return Err(format!("status {other}").into()),
        }
    }
    Ok(took)
}

/// Sends all of it.
pub(crate) async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads some bytes.
pub(crate) async fn read(stream: &TcpStream, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.try_read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => stream.readable().await?,
            other => return other,
        }
    }
}

/// Reads a response and returns its status.
async fn answered(stream: &TcpStream, buffer: &mut [u8]) -> Result<u16, Box<dyn Error>> {
    let mut filled = 0;
    let mut whole = None;
    while whole.is_none_or(|whole| filled < whole) {
        filled += read(stream, &mut buffer[filled..]).await?;
        if whole.is_none()
            && let Some(head) = buffer[..filled].windows(4).position(|bytes| bytes == b"\r\n\r\n")
        {
            let text = std::str::from_utf8(&buffer[..head])?;
            let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            whole = Some(head + 4 + length.ok_or("no length")?.parse::<usize>()?);
        }
    }
    Ok(std::str::from_utf8(&buffer[9..12])?.parse()?)
}
