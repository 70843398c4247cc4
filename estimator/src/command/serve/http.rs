//! The door: requests of one browser on this machine, and nobody else's.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Served, running};

/// Bytes that a request's head may have.
const MOST_HEAD: usize = 16 << 10;
/// Bytes that a study may have.
const MOST_BODY: usize = 1 << 20;
/// Requests at one time: a browser has six.
const MOST_AT_ONCE: usize = 8;
/// How long a request may take to come, and a part of a reply to go.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a page may do: its own scripts, the models, and its server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src blob: data:; connect-src 'self'";

/// Who comes in: whoever names this machine and the token.
pub struct Door {
    host: String,
    token: String,
}

impl Door {
    /// One at `address`, with a token of its own.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new(address: SocketAddr) -> Result<Self, getrandom::Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let token = random.iter().fold(String::new(), |mut token, byte| {
            let _ = write!(token, "{byte:02x}");
            token
        });
        Ok(Self {
            host: address.to_string(),
            token,
        })
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://{}/?token={}", self.host, self.token)
    }

    /// Where studies are run.
    fn run(&self) -> String {
        format!("/run?token={}", self.token)
    }
}

/// A request as far as it matters.
struct Request {
    method: String,
    target: String,
    host: String,
    body: Vec<u8>,
}

/// Why a request is not answered.
type Refusal = (&'static str, &'static str);

/// Answers until the process ends.
pub fn answer(listener: &TcpListener, door: &Door, served: &Served) {
    let busy = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in listener.incoming().flatten() {
            if busy.fetch_add(1, Ordering::Relaxed) >= MOST_AT_ONCE {
                busy.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let busy = &busy;
            scope.spawn(move || {
                // Who does not listen to the end has gone.
                let _ = one(stream, door, served);
                busy.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn one(mut stream: TcpStream, door: &Door, served: &Served) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = match read(&mut stream)? {
        Ok(request) => request,
        Err(refusal) => return refuse(&mut stream, refusal),
    };
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    // Another site may have a name of its own for this machine, but not the name itself.
    if request.host != door.host || query != format!("token={}", door.token) {
        let why = "open the address that `warpwatt serve` printed";
        return refuse(&mut stream, ("403 Forbidden", why));
    }
    match (request.method.as_str(), path) {
        ("GET", "/") => {
            let page = served.page(&door.run());
            head(&mut stream, "200 OK", "text/html; charset=utf-8")?;
            stream.write_all(page.as_bytes())
        }
        ("POST", "/run") => match String::from_utf8(request.body) {
            Ok(study) => running::run(&mut stream, served, &study),
            Err(_) => refuse(&mut stream, ("400 Bad Request", "the study is not UTF-8")),
        },
        (_, "/" | "/run") => refuse(&mut stream, ("405 Method Not Allowed", "")),
        _ => refuse(&mut stream, ("404 Not Found", "")),
    }
}

/// The first lines of a reply that ends with its connection.
pub fn head(stream: &mut TcpStream, status: &str, kind: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {POLICY}\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\r\n"
    )
}

pub fn refuse(stream: &mut TcpStream, (status, why): Refusal) -> io::Result<()> {
    head(stream, status, "text/plain; charset=utf-8")?;
    writeln!(stream, "{why}")
}

/// A request, read to its end.
fn read(stream: &mut TcpStream) -> io::Result<Result<Request, Refusal>> {
    let mut bytes = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&bytes) {
            Ok(httparse::Status::Complete(start)) => {
                let header = |name: &str| {
                    let mut headers = parsed.headers.iter();
                    let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
                    std::str::from_utf8(found.value).ok()
                };
                let length = match header("content-length").map(str::parse::<usize>) {
                    None => 0,
                    Some(Ok(length)) if length <= MOST_BODY => length,
                    Some(Ok(_)) => {
                        return Ok(Err(("413 Content Too Large", "a study has 1 MiB at most")));
                    }
                    Some(Err(_)) => return Ok(Err(("400 Bad Request", ""))),
                };
                let mut request = Request {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    target: parsed.path.unwrap_or_default().to_owned(),
                    host: header("host").unwrap_or_default().to_owned(),
                    body: bytes[start..].to_vec(),
                };
                let left = length.saturating_sub(request.body.len()) as u64;
                stream.take(left).read_to_end(&mut request.body)?;
                return Ok(match request.body.len() {
                    read if read == length => Ok(request),
                    _ => Err(("400 Bad Request", "")),
                });
            }
            Ok(httparse::Status::Partial) if bytes.len() < MOST_HEAD => {}
            Ok(httparse::Status::Partial) => {
                return Ok(Err(("431 Request Header Fields Too Large", "")));
            }
            Err(_) => return Ok(Err(("400 Bad Request", ""))),
        }
        let mut part = [0; 4096];
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Ok(Err(("400 Bad Request", "")));
        }
        bytes.extend_from_slice(&part[..read]);
    }
}
