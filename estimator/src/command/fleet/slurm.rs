//! `warpwatt slurm`: the scripts with which SLURM works on a queue.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::console::{Exit, out, out_json, reject, show};
use super::super::files::write_all;
use super::{SlurmArguments, absolute, laid_text, sheet};
use crate::diag::{Rejection, Sink};
use crate::run::fleet::{Laid, Queue, Sheet};
use crate::run::resolve;

/// The scripts, in the order in which they are written.
const NAMES: [&str; 3] = ["array.sh", "merge.sh", "submit.sh"];

/// Writes the queue and its scripts.
pub fn run(arguments: &SlurmArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(resolved) = resolve(&arguments.study, &mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    let sheet = sheet(&arguments.study, &resolved, arguments.lease);
    let written = sheet
        .map_err(Rejection::from)
        .and_then(|sheet| written(arguments, sheet));
    match written {
        Ok(laid) => {
            told(arguments, laid);
            Exit::Done
        }
        Err(rejection) => reject(&rejection, arguments.json),
    }
}

fn told(arguments: &SlurmArguments, laid: Laid) {
    let place = |name: &str| arguments.out.join(name);
    if arguments.json {
        out_json(&json!({
            "queue": arguments.out,
            "array": place(NAMES[0]),
            "merge": place(NAMES[1]),
            "submit": place(NAMES[2]),
        }));
        return;
    }
    out(&format!(
        "{}hand it in: sh {}\n",
        laid_text(&arguments.out, laid),
        place(NAMES[2]).display()
    ));
}

fn written(arguments: &SlurmArguments, sheet: Sheet) -> Result<Laid, Rejection> {
    let (_, laid) = Queue::lay(&arguments.out, sheet)?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("warpwatt"));
    let program = quoted(&program);
    let queue = absolute(&arguments.out)?;
    let scripts = [
        array(arguments, &program, &queue),
        merge(&program, &queue),
        submit(&queue),
    ];
    let files = NAMES.iter().map(|name| (*name).to_owned()).zip(scripts);
    write_all(&arguments.out, &files.collect::<Vec<_>>())?;
    Ok(laid)
}

/// A worker a task. What one leaves when it is killed, another does; so tasks need not be started again.
fn array(arguments: &SlurmArguments, program: &str, queue: &Path) -> String {
    let SlurmArguments {
        nodes, time, cpus, ..
    } = arguments;
    format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=warpwatt\n\
         #SBATCH --array=1-{nodes}\n\
         #SBATCH --nodes=1\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task={cpus}\n\
         #SBATCH --time={time}\n\
         exec {program} work {} --jobs {cpus}\n",
        quoted(queue)
    )
}

fn merge(program: &str, queue: &Path) -> String {
    format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=warpwatt-merge\n\
         #SBATCH --nodes=1\n\
         #SBATCH --ntasks=1\n\
         exec {program} merge {}\n",
        quoted(queue)
    )
}

/// The merge waits for the end of all workers, however they end: whether the study is done the queue tells, and not whether one of them was killed.
fn submit(queue: &Path) -> String {
    let script = |name: &str| quoted(&queue.join(name));
    let log = |name: &str| quoted(&queue.join(name));
    format!(
        "#!/bin/sh\n\
         # Options for sbatch may stand behind the name of this script.\n\
         set -e\n\
         job=$(sbatch --parsable --output={} \"$@\" {})\n\
         job=${{job%%;*}}\n\
         merge=$(sbatch --parsable --output={} --dependency=afterany:\"$job\" \"$@\" {})\n\
         echo \"workers: job $job, merge: job ${{merge%%;*}}\"\n",
        log("worker-%a.log"),
        script(NAMES[0]),
        log("merge.log"),
        script(NAMES[1]),
    )
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// A time as SLURM takes it: hours, minutes and seconds, perhaps behind days.
///
/// # Errors
/// It is none.
pub(super) fn time(text: &str) -> Result<String, String> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let parts: Vec<&str> = clock.split(':').collect();
    let number = |text: &str| -> Option<u32> {
        let digits =
            (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let known = match (number(days), &parts[..]) {
        (Some(days), [hours, minutes, seconds]) => {
            let minute = |text: &str| number(text).filter(|number| *number < 60);
            match (number(hours), minute(minutes), minute(seconds)) {
                (Some(hours), Some(minutes), Some(seconds)) => days + hours + minutes + seconds > 0,
                _ => false,
            }
        }
        _ => false,
    };
    match known {
        true => Ok(text.to_owned()),
        false => Err(
            "write hours, minutes and seconds, `04:00:00`, or days before them, `2-00:00:00`"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm() {
        for right in ["04:00:00", "00:00:01", "100:59:59", "2-00:00:00"] {
            assert_eq!(time(right).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "4",
            "4:00",
            "00:00:00",
            "1:60:00",
            "1:00:60",
            "a:00:00",
            "-1:00:00",
            "1:00:00;x",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(quoted(Path::new("a b'c")), "'a b'\\''c'");
    }
}
