//! The kernels that a study names, brought in.

use std::collections::BTreeSet;
use std::path::Path;

use warpwatt_gpu::GpuSpec;
use warpwatt_suite::{Build, Lower};

use super::counted;
use super::kernel::{From, KernelRequest, load};
use super::plan::StudyKernel;
use super::subject::{KnownKernel, Subject};
use crate::diag::{Diag, Sink, SourceId, Span};
use crate::study::{Catalogue, Placed, Variant, Workload, lowering};

/// The fault of a kernel of which nothing was counted.
pub const NOT_COUNTED: &str = "study::not_counted";

/// The kernels of a study of which all is counted: `known` says which those of a workload are. Others are faults, in `sink`.
pub fn counted_kernels(
    workloads: &[Placed<Workload>],
    known: impl Fn(&Workload) -> Option<Vec<KnownKernel>>,
    sink: &mut Sink,
    source: SourceId,
) -> Vec<StudyKernel> {
    let mut kernels: Vec<StudyKernel> = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        let named = Span {
            source,
            range: workload.range.clone(),
        };
        let Some(found) = known(&workload.value) else {
            let message = "this kernel is not among those that were counted";
            let diag = Diag::error(NOT_COUNTED, message).on(Some(&named), "");
            sink.push(diag.help("`warpwatt run` counts what happens in it"));
            continue;
        };
        for kernel in found {
            let subject = Subject::Known(Box::new(kernel));
            add(&mut kernels, subject, number, &named, sink);
        }
    }
    kernels
}

/// The kernels of a study as its GPUs run them; files are looked for in `directory`. What is wrong with them is left in `sink`.
pub fn kernels(
    (workloads, gpus): (&[Placed<Workload>], &[Variant]),
    directory: &Path,
    catalogue: &Catalogue,
    sink: &mut Sink,
    source: SourceId,
) -> Vec<StudyKernel> {
    let lowerings: BTreeSet<Lower> = gpus.iter().map(|gpu| lowering(&gpu.spec)).collect();
    let lowerings: Vec<Lower> = lowerings.into_iter().collect();
    let mut kernels: Vec<StudyKernel> = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        let named = Span {
            source,
            range: workload.range.clone(),
        };
        let request = match &workload.value {
            Workload::Counted(file) => {
                let read = counted::load(sink, file, directory, catalogue, &named);
                for kernel in read.into_iter().flatten() {
                    let subject = Subject::Counted(Box::new(kernel));
                    add(&mut kernels, subject, number, &named, sink);
                }
                continue;
            }
            Workload::Suite {
                name, case, build, ..
            } => {
                let Some(kernel) = warpwatt_suite::kernel(name) else {
                    continue;
                };
                KernelRequest {
                    from: From::Suite(kernel),
                    build: *build,
                    lower: Lower::default(),
                    ptx: None,
                    case: case.clone(),
                    registers: None,
                }
            }
            Workload::Own {
                launch, ptx, case, ..
            } => KernelRequest {
                from: From::File(directory.join(launch)),
                build: Build::default(),
                lower: Lower::default(),
                ptx: ptx.as_ref().map(|ptx| directory.join(ptx)),
                case: case.clone(),
                registers: None,
            },
        };
        if let Some(subject) = executed(&request, &lowerings, &named, sink) {
            add(&mut kernels, subject, number, &named, sink);
        }
    }
    kernels
}

/// A kernel in each of the forms that are wanted.
fn executed(
    request: &KernelRequest,
    lowerings: &[Lower],
    named: &Span,
    sink: &mut Sink,
) -> Option<Subject> {
    let (first, others) = lowerings.split_first().unwrap_or((&Lower::Ptx, &[]));
    let mut form = |lower: Lower| {
        let request = KernelRequest {
            lower,
            ..request.clone()
        };
        load(sink, &request, Some(named.clone()))
    };
    let first = Box::new(form(*first)?);
    let others = others.iter().map(|&lower| form(lower));
    Some(Subject::Executed(first, others.collect::<Option<_>>()?))
}

/// Adds a kernel to those before it; naming one twice is a fault.
fn add(
    kernels: &mut Vec<StudyKernel>,
    subject: Subject,
    workload: usize,
    named: &Span,
    sink: &mut Sink,
) {
    let same = kernels.iter().find(|known| {
        known.subject.name() == subject.name() && known.subject.hash() == subject.hash()
    });
    let Some(first) = same else {
        kernels.push(StudyKernel {
            subject,
            workload,
            range: named.range.clone(),
        });
        return;
    };
    let name = subject.name();
    let message = format!("`{}`, case `{}`, is named twice", name.name, name.case);
    sink.push(
        Diag::error("study::duplicate_value", message)
            .on(Some(named), "again here")
            .at(named.source, first.range.clone(), "first here")
            .help("remove one of them, or name another `case`"),
    );
}

/// Warns of what is not priced of kernels that another tool counted: what has no counts, and techniques.
pub fn judge_counted(
    kernels: &[StudyKernel],
    gpu: &GpuSpec,
    techniques: bool,
    sink: &mut Sink,
    source: SourceId,
) {
    let mut first = None;
    for kernel in kernels {
        if let Some(counted) = kernel.subject.counted() {
            let named = Span {
                source,
                range: kernel.range.clone(),
            };
            counted.warn(gpu, sink, &named);
            first.get_or_insert(named);
        }
    }
    if let Some(named) = first.filter(|_| techniques) {
        let message =
            "techniques are not tried on counts of another tool: they change what is counted";
        let diag = Diag::warning("counts::techniques", message);
        sink.push(diag.on(Some(&named), "priced on the plain GPU alone"));
    }
}
