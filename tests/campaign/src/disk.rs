//! Output that cannot be written: full and read-only disks, devices, readers that have gone away.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::process::Command;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, each};
use crate::program::Call;
use crate::study::{self, RUN, difference, folder};

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "disk",
    what: "full and read-only disks, /dev/full, closed descriptors",
    run,
};

/// Commands that write on standard output.
const WRITERS: &[&[&str]] = &[
    &["list", "kernels"],
    &["list", "presets", "--json"],
    &["schema", "study"],
    &["completions", "bash"],
    &["man"],
    &["tech", "show", "7nm", "--json"],
    &[
        "array",
        "--capacity",
        "4KiB",
        "--word",
        "128b",
        "--node",
        "7nm",
    ],
    &["array", "--batch", "arrays.csv"],
    &["logic", "adder"],
    &["kernel", "vector_add", "--no-cache"],
    &["ptx", "k.ptx"],
    &["trace", "vector_add", "--no-cache", "--json"],
    &["run", "study.toml", "--no-cache", "--quiet", "--json"],
    &["run", "study.toml", "--dry-run"],
];

/// Where the output of a case goes.
#[derive(Clone, Copy, Debug)]
enum Sink {
    /// Writing fails: there must be an error.
    Full,
    /// The reader has gone: the command ends quietly.
    Gone,
    /// There is no such descriptor.
    Closed,
}

/// Kilobytes of disks that are too small, and of one that is not.
const SIZES: &[u32] = &[4, 16, 64, 256, 512, 1024, 1536, 2048, 4096, 65_536];

fn run(setting: &Setting) -> Result<Tally, String> {
    let (_folder, must) = study::finished(setting)?;
    let mounts = can_mount();
    if !mounts {
        eprintln!("disk: no small disks can be mounted here, only output is attacked");
    }
    let writers = 3 * WRITERS.len();
    let disks = if mounts { 2 * SIZES.len() } else { 0 };
    let count = (writers + disks) as u64;
    Ok(each(setting, count, |number| {
        let place = number as usize;
        let done = if place < writers {
            let sink = [Sink::Full, Sink::Gone, Sink::Closed][place % 3];
            output(setting, WRITERS[place / 3], sink)
        } else {
            let place = (place - writers).min(2 * SIZES.len() - 1);
            disk(setting, SIZES[place / 2], place % 2 == 1, &must)
        };
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    }))
}

fn output(setting: &Setting, words: &[&str], sink: Sink) -> io::Result<Verdict> {
    let folder = folder()?;
    fs::write(
        folder.join("arrays.csv"),
        "size_bytes,block_bytes,node_um\n4096,32,0.032\n",
    )?;
    let ptx = crate::root().join("workloads/kernels/vector_add/kernel.ptx");
    fs::copy(ptx, folder.join("k.ptx"))?;
    let call = Call::new(&setting.program, folder.path()).args(words);
    let ended = match sink {
        Sink::Full => call.output(OpenOptions::new().write(true).open("/dev/full")?),
        Sink::Gone => call.output(gone()?),
        Sink::Closed => call.by(["sh", "-c", "exec \"$@\" >&-", "sh"]),
    }
    .run()?;
    let what = format!("{} with its output {sink:?}", words.join(" "));
    let unsaid = matches!(sink, Sink::Full) && ended.report.code == Some(0);
    let unsaid = unsaid.then(|| "exit code 0, though nothing could be written".to_owned());
    let complains = String::from_utf8_lossy(&ended.err).contains("error[");
    let loud = matches!(sink, Sink::Gone) && complains;
    let loud = loud.then(|| format!("says something{}", ended.last_words()));
    let wrong = ended.fault().or(unsaid).or(loud);
    Ok((wrong.map(|wrong| format!("{what}: {wrong}")), ended.cost()))
}

/// A pipe that nobody reads.
fn gone() -> io::Result<File> {
    let (reader, writer) = io::pipe()?;
    drop(reader);
    Ok(File::from(std::os::fd::OwnedFd::from(writer)))
}

/// A run into a disk of so many kilobytes, which is read-only or becomes full.
fn disk(
    setting: &Setting,
    kilobytes: u32,
    read_only: bool,
    must: &study::Files,
) -> io::Result<Verdict> {
    let folder = folder()?;
    fs::create_dir(folder.join("disk"))?;
    let options = if read_only { "ro" } else { "rw" };
    // What is on the disk is looked at before it goes with its namespace.
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k,{options} none disk && \"$@\"; code=$?; mkdir seen; cp disk/out/* seen 2>/dev/null; exit $code"
    );
    let call = Call::new(&setting.program, folder.path())
        .args(RUN)
        .args(["--out", "disk/out"]);
    let ended = call
        .by(["unshare", "-m", "sh", "-c", &script, "sh"])
        .run()?;
    let what = format!("a disk of {kilobytes} KiB, {options}");
    let incomplete = || {
        difference(
            &study::report(&folder.join("seen")).unwrap_or_default(),
            must,
        )
    };
    let wrong = match ended.report.code {
        Some(0) => incomplete().map(|what| format!("exit code 0, {what}")),
        _ => ended.fault(),
    };
    Ok((wrong.map(|wrong| format!("{what}: {wrong}")), ended.cost()))
}

fn can_mount() -> bool {
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", "mount -t tmpfs -o size=4k none /mnt"])
        .stderr(std::process::Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}
