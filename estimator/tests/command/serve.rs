//! `warpwatt serve` through its door.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::{Scratch, stderr, warpwatt};

/// A server, which ends with the test.
struct Server {
    child: Child,
    host: String,
    token: String,
}

impl Server {
    fn start(here: &Path, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpwatt"));
        command.arg("serve").args(words).arg("--no-cache");
        let command = command.current_dir(here).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();
        Self {
            child,
            host: host.to_owned(),
            token: token.to_owned(),
        }
    }

    /// What comes back for these bytes.
    fn say(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // It need not listen to all of what is too long.
        let _ = stream.write_all(bytes.as_bytes());
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8(reply).unwrap()
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        self.ask_as(
            &self.host,
            method,
            &format!("{path}?token={}", self.token),
            body,
        )
    }

    fn ask_as(&self, host: &str, method: &str, target: &str, body: &str) -> String {
        let length = body.len();
        self.say(&format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(reply: &str) -> &str {
    reply.split(' ').nth(1).unwrap_or_default()
}

/// The counts in a page.
fn counts(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"counts\">").unwrap();
    let (counts, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(counts).unwrap()
}

fn runs(counts: &Value) -> usize {
    counts["runs"].as_object().unwrap().len()
}

fn lines(reply: &str) -> Vec<Value> {
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    let lines = body.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_was_not_counted_is_run_and_added() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let server = Server::start(&here, &["-k", "vector_add", "-t", "filter_cache"]);
    let page = server.ask("GET", "/", "");
    assert_eq!(status(&page), "200");
    let before = counts(&page);
    assert_eq!(runs(&before), 2, "with and without");
    let study = before["studies"][0]["text"].as_str().unwrap();
    let other = study.replace(
        "name = \"filter_cache\"",
        "name = \"filter_cache\"\nentries = [8, 32]",
    );
    assert_ne!(study, other);
    let told = lines(&server.ask("POST", "/run", &other));
    let after = &told.last().unwrap()["counts"];
    assert_eq!(
        told[told.len() - 2]["points"],
        1,
        "only 8 entries are new: {told:?}"
    );
    assert_eq!(runs(after), 3);
    assert_eq!(counts(&server.ask("GET", "/", "")), *after, "it stays");
    assert_eq!(
        fs::read_dir(&here).unwrap().count(),
        0,
        "nothing is written"
    );
}

#[test]
fn faults_of_a_study_come_back_with_their_places() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.path(""), &["-k", "vector_add"]);
    let told = lines(&server.ask("POST", "/run", "[gpu]\npreset = \"none\"\n"));
    let faults = told[0]["faults"].as_str().unwrap();
    assert!(faults.contains("study.toml:2:10"), "{faults}");
    let followed = "[study]\ntitle = \"a\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\n[workloads]\nkernels = \"vector_add\"\n[reliability]\n";
    let told = lines(&server.ask("POST", "/run", followed));
    let faults = told.last().unwrap()["faults"].as_str().unwrap();
    insta::assert_snapshot!("serve_no_counts", faults);
    let many = "[study]\ntitle = \"a\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\ntemperature = { from = \"300 K\", to = \"399 K\", count = 300 }\n[workloads]\nkernels = \"vector_add\"\n";
    let told = lines(&server.ask("POST", "/run", many));
    let faults = told.last().unwrap()["faults"].as_str().unwrap();
    insta::assert_snapshot!("serve_too_many", faults);
}

/// Nobody would find the page.
#[test]
#[cfg(target_os = "linux")]
fn an_address_that_cannot_be_told_ends_it() {
    let scratch = Scratch::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpwatt"));
    let command =
        command
            .current_dir(scratch.path(""))
            .args(["serve", "-k", "vector_add", "--no-cache"]);
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn nobody_else_comes_in() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.path(""), &["-k", "vector_add"]);
    let own = format!("/?token={}", server.token);
    let refused = |host: &str, target: &str| server.ask_as(host, "GET", target, "");
    assert_eq!(status(&refused(&server.host, "/")), "403");
    assert_eq!(status(&refused(&server.host, "/?token=0")), "403");
    assert_eq!(
        status(&refused("evil.example", &own)),
        "403",
        "a name for this machine"
    );
    let port = server.host.rsplit(':').next().unwrap();
    assert!(
        server.host == format!("127.0.0.1:{port}"),
        "{}",
        server.host
    );
    assert_eq!(status(&server.ask("GET", "/../etc/passwd", "")), "404");
    assert_eq!(status(&server.ask("DELETE", "/", "")), "405");
    assert_eq!(status(&server.say("nonsense\r\n\r\n")), "400");
    assert_eq!(
        status(&server.say("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")),
        "400"
    );
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(20_000));
    assert_eq!(status(&server.say(&long)), "431");
    let target = format!("/run?token={}", server.token);
    let much = format!(
        "POST {target} HTTP/1.1\r\nHost: {}\r\nContent-Length: 2000000\r\n\r\n",
        server.host
    );
    assert_eq!(status(&server.say(&much)), "413");
    let cut = TcpStream::connect(&server.host).unwrap();
    cut.shutdown(Shutdown::Both).unwrap();
    assert_eq!(
        status(&server.ask("GET", "/", "")),
        "200",
        "it is there still"
    );
}

#[test]
fn a_run_that_nobody_waits_for_ends() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.path(""), &["-k", "vector_add"]);
    // Minutes of work.
    let long = "[study]\ntitle = \"long\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\nsm.threads = [256, 512, 768, 1024]\n[workloads]\nkernels = \"paper:filter_cache\"\n";
    let mut stream = TcpStream::connect(&server.host).unwrap();
    let request = format!(
        "POST /run?token={} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{long}",
        server.token,
        server.host,
        long.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 15];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let meanwhile = server.ask("POST", "/run", long);
    assert_eq!(status(&meanwhile), "409");
    drop(stream);
    let short = "[study]\ntitle = \"short\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"5nm\"\n[workloads]\nkernels = \"vector_add\"\n";
    // It is let in as soon as the other has ended.
    let in_time = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        status(&server.ask("POST", "/run", short)) == "200"
    });
    assert!(in_time);
}

#[test]
fn results_are_served_as_their_report_shows_them() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let study = "[study]\ntitle = \"served\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\n[workloads]\nkernels = \"vector_add\"\n[[technique]]\nname = \"power_gating\"\n";
    scratch.write("study.toml", study);
    let ran = warpwatt(&here, &["run", "study.toml", "--quiet", "--no-cache"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let server = Server::start(&here, &["results"]);
    let page = server.ask("GET", "/", "");
    let (_, page) = page.split_once("\r\n\r\n").unwrap();
    let served = page.replace(&format!("/run?token={}", server.token), "");
    let written = fs::read_to_string(here.join("results/report.html")).unwrap();
    assert!(served == written);
    let none = warpwatt(&here, &["serve", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
    let port = server.host.rsplit(':').next().unwrap();
    let taken = warpwatt(&here, &["serve", "results", "--port", port]);
    assert_eq!(taken.status.code(), Some(2));
    insta::assert_snapshot!("serve_port", stderr(&taken).replace(port, "8000"));
}
