//! What a command works on: a kernel, and a GPU to time it on.

use std::path::{Path, PathBuf};

use clap::Args;
use warpwatt_gpu::{GpuSpec, presets};
use warpwatt_ptx::Lower;
use warpwatt_suite::Build;

use crate::diag::{Diag, Sink, did_you_mean};
use crate::run::kernel::{From, KernelRequest};
use crate::run::recorded::{is_recording, needless};
use crate::single::spec;
use crate::study::{lowered, lowering};

/// A kernel.
#[derive(Debug, Args)]
pub struct KernelChoice {
    /// A launch file (TOML), or a kernel of the suite by name
    #[arg(value_name = "LAUNCH.toml|KERNEL")]
    pub launch: String,
    /// The case of the launch file [default: its first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// The most registers a thread may have; values beyond them go to local memory [default: the launch file's, or 255]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Which program of a kernel of the suite: a compiler of today's, as those of the papers' time made it (addresses of 32 bits, loops unrolled), or machine code of Southern Islands, which six kernels have
    #[arg(long, value_name = "BUILD", default_value = "today", conflicts_with = "ptx", value_parser = build_named)]
    pub build: Build,
    /// What is executed, counted and timed: instructions of PTX (ptx), or about those that ptxas makes of them for Volta and later (sass-like: docs/machine-code.md) [default: as the preset says]
    #[arg(long, value_name = "HOW", conflicts_with = "code", value_parser = lower_named)]
    pub lower: Option<Lower>,
    /// PTX to run instead of the launch file's own
    #[arg(long, value_name = "FILE")]
    pub ptx: Option<PathBuf>,
    /// Machine code of AMD's Southern Islands (gfx600, gfx601) to run: an ELF object, linked or not
    #[arg(long, value_name = "FILE", conflicts_with = "ptx")]
    pub code: Option<PathBuf>,
}

/// A GPU.
#[derive(Debug, Args)]
pub struct GpuChoice {
    /// The GPU [default: tesla-16sm]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A setting of the GPU that differs from the preset's, such as sm.threads=512 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// A build by its name.
fn build_named(name: &str) -> Result<Build, String> {
    let found = Build::ALL.into_iter().find(|build| build.name() == name);
    found.ok_or_else(|| "choose `today`, `papers` or `gfx600`".to_owned())
}

/// How PTX is lowered, by name.
fn lower_named(name: &str) -> Result<Lower, String> {
    let found = Lower::ALL.into_iter().find(|lower| lower.name() == name);
    found.ok_or_else(|| "choose `ptx` or `sass-like`".to_owned())
}

impl KernelChoice {
    /// The GPU that `choice` asks for, which runs PTX as is asked here.
    pub fn gpu(
        &self,
        choice: &GpuChoice,
        warp_width: Option<&str>,
        sink: &mut Sink,
    ) -> Option<GpuSpec> {
        let width = warp_width.map(|width| format!("sm.warp_width={width}"));
        let settings: Vec<String> = choice.set.iter().cloned().chain(width).collect();
        spec(choice.name(), self.lower.map(lowered), &settings, sink)
    }

    /// The kernel that is asked for, as `gpu` runs it.
    pub fn request(&self, gpu: Option<&GpuSpec>, sink: &mut Sink) -> Option<KernelRequest> {
        let path = Path::new(&self.launch);
        let asked = [
            ("--build", self.build != Build::default()),
            ("--lower", self.lower.is_some()),
        ];
        if is_recording(path) {
            let needless = needless(path, "machine code", &asked);
            if !needless.is_empty() {
                needless.into_iter().for_each(|diag| sink.push(diag));
                return None;
            }
        }
        let request = request(
            &self.launch,
            self.code.as_deref().or(self.ptx.as_deref()),
            self.case.as_deref(),
            sink,
        );
        request.map(|request| KernelRequest {
            registers: self.registers,
            build: self.build,
            lower: gpu.map(lowering).unwrap_or_default(),
            ..request
        })
    }
}

impl GpuChoice {
    /// The preset's name.
    pub fn name(&self) -> &str {
        self.preset.as_deref().unwrap_or(presets()[0].name)
    }

    /// The same on `preset`, unless another one is asked for.
    pub fn or(&self, preset: Option<&str>) -> Self {
        Self {
            preset: self.preset.clone().or_else(|| preset.map(str::to_owned)),
            set: self.set.clone(),
        }
    }

    /// Nothing was said about it.
    pub fn is_default(&self) -> bool {
        self.preset.is_none() && self.set.is_empty()
    }
}

/// The kernel that is asked for: a file if there is one of that name, else a kernel of the suite.
pub fn request(
    named: &str,
    ptx: Option<&Path>,
    case: Option<&str>,
    sink: &mut Sink,
) -> Option<KernelRequest> {
    let path = Path::new(named);
    let from = match warpwatt_suite::kernel(named) {
        Some(kernel) if !path.is_file() => From::Suite(kernel),
        None if !path.exists() && path.extension().is_none() && path.components().count() == 1 => {
            let kernels = warpwatt_suite::kernels().iter().map(|kernel| kernel.name);
            let help = did_you_mean(named, kernels);
            let message = format!("`{named}` is neither a launch file nor a kernel of the suite");
            sink.push(Diag::error("kernel::unknown", message).help(help));
            return None;
        }
        _ => From::File(path.to_path_buf()),
    };
    Some(KernelRequest {
        from,
        build: Build::default(),
        lower: Lower::default(),
        ptx: ptx.map(Path::to_path_buf),
        case: case.map(str::to_owned),
        registers: None,
    })
}
