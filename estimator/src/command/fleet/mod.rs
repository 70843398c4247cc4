//! A study shared by machines that see one directory: `plan`, `work`, `status`, `merge`, `slurm`.

mod arguments;
mod merge;
mod plan;
mod slurm;
mod status;
mod work;

use std::path::{Path, PathBuf};

pub use arguments::{PlanArguments, SlurmArguments, StatusArguments, WorkArguments};
pub use merge::{Into, merge, queue_of};
pub use plan::run as plan;
pub use slurm::run as slurm;
pub use status::run as status;
pub use work::run as work;

use crate::diag::{Diag, Sink};
use crate::run::fleet::{Laid, Queue, Sheet};
use crate::run::{Resolved, resolve};

/// A queue with its study, as it is read here.
struct Known {
    queue: Queue,
    resolved: Resolved,
}

impl Known {
    /// The queue in `directory`; every reason why there is none is in `sink`.
    fn open(directory: &Path, sink: &mut Sink) -> Option<Self> {
        let queue = match Queue::open(directory) {
            Ok(queue) => queue,
            Err(diag) => {
                sink.push(diag);
                return None;
            }
        };
        let resolved = resolve(&queue.sheet.study, sink)?;
        Some(Self { queue, resolved })
    }
}

/// The sheet of a study that was read from `path`.
fn sheet(path: &Path, resolved: &Resolved, lease_s: u32) -> Result<Sheet, Diag> {
    let path = absolute(path)?;
    let study = &resolved.study;
    Ok(Sheet::of(path, &study.title, &resolved.plan, lease_s))
}

/// The name under which all machines know what this one calls `path`.
fn absolute(path: &Path) -> Result<PathBuf, Diag> {
    std::path::absolute(path).map_err(|error| {
        let message = format!("cannot tell where `{}` is: {error}", path.display());
        Diag::error("fleet::unusable", message).help("give its whole path")
    })
}

/// What laying out a queue came to, in words.
fn laid_text(directory: &Path, laid: Laid) -> String {
    let place = directory.display();
    match laid {
        Laid::New => format!(
            "the queue is in {place}: `warpwatt work {place}` does what is in it, on any machine\n"
        ),
        Laid::Again(0) => {
            format!("the queue in {place} is of this study already, and nothing in it has failed\n")
        }
        Laid::Again(units) => format!(
            "{units} units of the queue in {place} had failed or were damaged, and are to be done again\n"
        ),
    }
}
