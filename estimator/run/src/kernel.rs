//! Kernels brought in: from the suite, or from the user's launch file and PTX.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use warpwatt_gcn::{Code, Object};
use warpwatt_ptx::{Lower, MAX_REGISTERS, Module, PtxError};
use warpwatt_suite::launch::{Files, Prepared};
use warpwatt_suite::machine_code::host_view;
use warpwatt_suite::{Build, Case, Kernel, LaunchFile, Problem};

use crate::diag::{Diag, Sink, SourceId, Span, did_you_mean};
use crate::digest::hex;
use crate::input;
use crate::outcome::KernelName;
use crate::recorded::{Recording, is_recording, needless};

/// Where a kernel comes from.
#[derive(Clone, Debug)]
pub struct KernelRequest {
    /// The kernel of the suite, or the launch file.
    pub from: From,
    /// Which program of a kernel of the suite.
    pub build: Build,
    /// How near its PTX is brought to machine code.
    pub lower: Lower,
    /// PTX or a code object to use instead of the kernel's own.
    pub ptx: Option<PathBuf>,
    /// The case; the first one if none is named.
    pub case: Option<String>,
    /// The most registers a thread may have, instead of what the launch file says.
    pub registers: Option<u32>,
}

/// The suite or a file.
#[derive(Clone, Debug)]
pub enum From {
    /// A kernel of the suite.
    Suite(&'static Kernel),
    /// A launch file, or launches that were recorded elsewhere.
    File(PathBuf),
    /// A launch file that is no file: what another language hands over.
    Memory(Arc<InMemory>),
}

/// A launch file and everything that it names, in memory.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    /// How faults call the launch file.
    pub name: String,
    /// Its text.
    pub launch: String,
    /// How faults call the program.
    pub program_name: String,
    /// The program: PTX, or a code object.
    pub program: Vec<u8>,
    /// Contents of buffers, by the names of their files.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A kernel that can be executed: PTX lowered, launches checked against their entries, buffers filled.
#[derive(Clone, Debug)]
pub struct LoadedKernel {
    /// Its name, its case, and under which abbreviations the filter-cache paper lists it.
    pub name: KernelName,
    /// The program; of machine code what a host sees of it.
    pub module: Module,
    /// How near its PTX was brought to machine code.
    pub lower: Lower,
    /// What its instructions are.
    pub form: Form,
    /// The text of the program, for faults at run time.
    pub ptx: SourceId,
    /// The launches.
    pub case: Case,
    /// The buffers, with what they must hold afterwards where that is known.
    pub prepared: Prepared,
    /// SHA-256 of everything that decides the execution: program, launch file, case, inputs.
    pub hash: String,
}

/// What a kernel's instructions are, and so who executes them.
#[derive(Clone, Debug)]
pub enum Form {
    /// PTX, lowered or not.
    Ptx,
    /// Machine code of Southern Islands.
    MachineCode(Arc<Code>),
    /// Machine code that ran elsewhere. Its module has no entries and its case no launches.
    Recorded(Arc<Recording>),
}

impl LoadedKernel {
    /// Kernel and case, for people.
    pub fn label(&self) -> String {
        format!("{}, case {}", self.name.name, self.name.case)
    }
}

/// Brings a kernel in. Every fault is left in `sink`; those that are about no text are shown at `named`, where the study names the kernel.
pub fn load(sink: &mut Sink, request: &KernelRequest, named: Option<Span>) -> Option<LoadedKernel> {
    let mut loader = Loader {
        sink,
        named,
        lower: request.lower,
    };
    match &request.from {
        From::Suite(kernel) => loader.suite(kernel, request),
        From::File(path) if is_recording(path) => loader.recorded(path, request),
        From::File(path) => loader.file(path, request),
        From::Memory(memory) => loader.memory(memory, request),
    }
}

/// How code objects begin.
const ELF: &[u8] = b"\x7fELF";

/// The paper whose measured values reports show beside ours.
const FILTER_CACHE: &str = "filter_cache";

/// A program: its text, and what that is.
struct Program {
    text: SourceId,
    form: Form,
}

impl Program {
    fn ptx(text: SourceId) -> Self {
        Self {
            text,
            form: Form::Ptx,
        }
    }
}

struct Loader<'s> {
    sink: &'s mut Sink,
    named: Option<Span>,
    lower: Lower,
}

impl Loader<'_> {
    fn suite(&mut self, kernel: &'static Kernel, request: &KernelRequest) -> Option<LoadedKernel> {
        let launch = self.sink.sources.add(
            format!("{}/launch.toml (of the suite)", kernel.name),
            kernel.launch,
        );
        let program = match &request.ptx {
            Some(path) => self.program(path)?,
            None => self.of_suite(kernel, request.build)?,
        };
        let file = kernel
            .launch_file()
            .map_err(|error| self.plain("suite::defect", error.to_string(), None))
            .ok()?;
        let case = self.case(&file, request)?;
        let prepared = kernel.prepare(Some(case.name.get_ref()));
        let (mut case, prepared) = prepared
            .map_err(|error| self.plain("suite::defect", error.to_string(), None))
            .ok()?;
        let mut module = self.module(&program, &mut case)?;
        let problems = case.check(&module);
        if !problems.is_empty() {
            self.problems(launch, problems);
            return None;
        }
        self.limit_registers((&mut module, &program), launch, &case, request)?;
        let here = (kernel.name, case.name.get_ref().as_str());
        let rows = kernel
            .paper_rows()
            .filter(|(paper, row)| paper.name == FILTER_CACHE && row.stands == Some(here));
        let paper = rows.map(|(_, row)| row.abbreviation.to_owned()).collect();
        let name = KernelName {
            name: kernel.name.to_owned(),
            case: case.name.get_ref().clone(),
            paper,
        };
        Some(self.loaded(name, (module, program), launch, case, prepared))
    }

    fn file(&mut self, path: &Path, request: &KernelRequest) -> Option<LoadedKernel> {
        let launch = self.text(path, "launch", input::text(path, input::KERNEL))?;
        let text = self.sink.sources.text(launch).to_owned();
        let file = LaunchFile::parse(&text)
            .map_err(|problems| self.problems(launch, problems))
            .ok()?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let ptx_path = match (&request.ptx, &file.ptx) {
            (Some(path), _) => path.clone(),
            (None, Some(name)) => directory.join(name.get_ref()),
            (None, None) => {
                let help = "add `[build]` with `ptx = \"kernel.ptx\"`, or pass `--ptx FILE`";
                self.plain(
                    "launch::no_ptx",
                    format!("`{}` names no PTX file", path.display()),
                    Some(help.to_owned()),
                );
                return None;
            }
        };
        let case = self.case(&file, request).cloned();
        let program = self.program(&ptx_path)?;
        let found = (launch, file.name, case?);
        self.prepared(found, program, Files::Directory(directory), request)
    }

    fn memory(&mut self, memory: &InMemory, request: &KernelRequest) -> Option<LoadedKernel> {
        let sources = &mut self.sink.sources;
        let launch = sources.add(memory.name.as_str(), memory.launch.as_str());
        let text = (!memory.program.starts_with(ELF))
            .then(|| String::from_utf8_lossy(&memory.program))
            .map(|text| sources.add(memory.program_name.as_str(), text));
        let file = LaunchFile::parse(&memory.launch)
            .map_err(|problems| self.problems(launch, problems))
            .ok()?;
        let case = self.case(&file, request)?.clone();
        let program = match text {
            Some(text) => Program::ptx(text),
            None => self.object(&memory.program_name, &memory.program)?,
        };
        let found = (launch, file.name, case);
        self.prepared(found, program, Files::Memory(&memory.files), request)
    }

    /// The case of a launch file with its program, checked and filled.
    fn prepared(
        &mut self,
        (launch, name, mut case): (SourceId, String, Case),
        program: Program,
        files: Files<'_>,
        request: &KernelRequest,
    ) -> Option<LoadedKernel> {
        let mut module = self.module(&program, &mut case)?;
        let prepared = case.prepare(&module, files);
        let prepared = prepared
            .map_err(|problems| self.problems(launch, problems))
            .ok()?;
        self.limit_registers((&mut module, &program), launch, &case, request)?;
        let name = KernelName {
            name,
            case: case.name.get_ref().clone(),
            paper: Vec::new(),
        };
        Some(self.loaded(name, (module, program), launch, case, prepared))
    }

    fn recorded(&mut self, path: &Path, request: &KernelRequest) -> Option<LoadedKernel> {
        let asked = [
            ("--case", request.case.is_some()),
            ("--ptx or --code", request.ptx.is_some()),
            ("--registers", request.registers.is_some()),
        ];
        let needless = needless(path, "machine code", &asked);
        let is_asked = !needless.is_empty();
        for diag in needless {
            self.sink.push(diag.on(self.named.as_ref(), "named here"));
        }
        let recording = match Recording::open(path) {
            Ok(recording) => recording,
            Err(diags) => {
                for diag in diags {
                    self.sink.push(diag.on(self.named.as_ref(), "named here"));
                }
                return None;
            }
        };
        if is_asked {
            return None;
        }
        let text = self.sink.sources.add(path.display().to_string(), "");
        Some(LoadedKernel {
            name: KernelName {
                name: recording.name.clone(),
                case: recording.case.clone(),
                paper: Vec::new(),
            },
            module: Module::default(),
            lower: Lower::Ptx,
            ptx: text,
            case: Case::recorded(&recording.case),
            prepared: Prepared::default(),
            hash: recording.hash.clone(),
            form: Form::Recorded(Arc::new(recording)),
        })
    }

    fn loaded(
        &self,
        name: KernelName,
        (module, program): (Module, Program),
        launch: SourceId,
        case: Case,
        prepared: Prepared,
    ) -> LoadedKernel {
        let Program { text: ptx, form } = program;
        let mut hash = Sha256::new();
        for part in [
            self.sink.sources.text(ptx),
            self.sink.sources.text(launch),
            &name.case,
        ] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        // The listing tells the instructions, not the constants beside them.
        if let Form::MachineCode(code) = &form {
            hash.update(&code.object().image);
        }
        // What was asked for is in none of these texts.
        let limits = module.entries.iter().map(|entry| entry.allocation.limit);
        for limit in limits.filter(|&limit| limit != MAX_REGISTERS) {
            hash.update(limit.to_le_bytes());
        }
        if self.lower != Lower::Ptx {
            hash.update(self.lower.name().as_bytes());
        }
        for buffer in prepared.buffers.iter().flatten() {
            hash.update((buffer.before.len() as u64).to_le_bytes());
            hash.update(&buffer.before);
        }
        LoadedKernel {
            name,
            module,
            lower: self.lower,
            form,
            ptx,
            case,
            prepared,
            hash: hex(&hash.finalize()),
        }
    }

    /// The case that is asked for.
    fn case<'f>(&mut self, file: &'f LaunchFile, request: &KernelRequest) -> Option<&'f Case> {
        let found = file.case(request.case.as_deref());
        found
            .map_err(|unknown| {
                let help = did_you_mean(&unknown.name, unknown.known.iter().map(String::as_str));
                let message = format!("`{}` has no case `{}`", file.name, unknown.name);
                self.plain("launch::unknown_case", message, Some(help));
            })
            .ok()
    }

    /// The lowered program, whose entries `case` gets by their own names; those that it launches must be supported throughout.
    fn module(&mut self, program: &Program, case: &mut Case) -> Option<Module> {
        let ptx = program.text;
        if let Form::MachineCode(code) = &program.form {
            return Some(host_view(code));
        }
        let module = match warpwatt_ptx::load_lowered(self.sink.sources.text(ptx), self.lower) {
            Ok(module) => module,
            Err(errors) => {
                self.ptx_errors(ptx, "ptx::invalid", errors);
                return None;
            }
        };
        case.resolve_kernels(&module);
        let mut entries: Vec<&str> = case
            .launches()
            .into_iter()
            .map(|launch| launch.kernel.get_ref().as_str())
            .collect();
        entries.sort_unstable();
        entries.dedup();
        let entries = entries.into_iter().filter_map(|name| module.entry(name));
        let unsupported: Vec<PtxError> = entries
            .flat_map(|entry| entry.unsupported.clone())
            .collect();
        if unsupported.is_empty() {
            return Some(module);
        }
        self.ptx_errors(ptx, "ptx::unsupported", unsupported);
        None
    }

    /// Keeps the limit of registers that is asked for, or that the case has.
    fn limit_registers(
        &mut self,
        (module, program): (&mut Module, &Program),
        launch: SourceId,
        case: &Case,
        request: &KernelRequest,
    ) -> Option<()> {
        let is_ptx = matches!(program.form, Form::Ptx);
        if !is_ptx && (request.registers.is_some() || case.registers.is_some()) {
            let message = "registers of machine code were allocated when it was compiled";
            self.sink.push(Diag::error("kernel::registers", message));
            return None;
        }
        let refused = match case.limit_registers(module, request.registers) {
            Ok(()) => return Some(()),
            Err(refused) => refused,
        };
        let least = refused.iter().map(|error| error.minimum).max();
        let least = least.unwrap_or_default();
        for error in refused {
            let diag = Diag::error("kernel::registers", error.to_string());
            let diag = match (&case.registers, request.registers) {
                (Some(limit), None) => diag
                    .at(launch, limit.span(), "")
                    .help(format!("write `registers = {least}` or more")),
                _ => diag.help(format!("pass `--registers {least}` or more")),
            };
            self.sink.push(diag);
        }
        None
    }

    /// A program that the suite has of a kernel.
    fn of_suite(&mut self, kernel: &'static Kernel, build: Build) -> Option<Program> {
        let Some((file, contents)) = kernel.program(build) else {
            let message = format!("`{}` has no program for `{}`", kernel.name, build.name());
            let others = warpwatt_suite::kernels().iter();
            let others = others.filter(|other| other.program(build).is_some());
            let others: Vec<String> = others.map(|other| format!("`{}`", other.name)).collect();
            let help = format!("these have: {}", others.join(", "));
            self.plain("suite::no_build", message, Some(help));
            return None;
        };
        let name = format!("{}/{file} (of the suite)", kernel.name);
        match std::str::from_utf8(contents) {
            Ok(text) => Some(Program::ptx(self.sink.sources.add(name, text))),
            Err(_) => self.object(&name, contents),
        }
    }

    /// PTX, or a code object.
    fn program(&mut self, path: &Path) -> Option<Program> {
        // What comes through a pipe can be read once.
        match input::bytes(path, input::KERNEL) {
            Ok(file) if file.starts_with(ELF) => self.object(&path.display().to_string(), &file),
            other => {
                let text = other.and_then(input::decoded);
                self.text(path, "PTX", text).map(Program::ptx)
            }
        }
    }

    /// A code object, whose text is its listing.
    fn object(&mut self, name: &str, file: &[u8]) -> Option<Program> {
        match Object::read(file) {
            Ok(object) => {
                let code = Code::new(object);
                let listing = format!("{name} (listing)");
                Some(Program {
                    text: self.sink.sources.add(listing, code.listing()),
                    form: Form::MachineCode(Arc::new(code)),
                })
            }
            Err(error) => {
                let message = format!("`{name}`: {error}");
                let help = "compile with `clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx600 -nogpulib -c`";
                self.plain("code::invalid", message, Some(help.to_owned()));
                None
            }
        }
    }

    fn text(&mut self, path: &Path, what: &str, text: std::io::Result<String>) -> Option<SourceId> {
        match text {
            Ok(text) => Some(self.sink.sources.add(path.display().to_string(), text)),
            Err(error) => {
                self.plain(
                    "input::unreadable",
                    format!("cannot read the {what} file `{}`: {error}", path.display()),
                    None,
                );
                None
            }
        }
    }

    fn problems(&mut self, launch: SourceId, problems: Vec<Problem>) {
        for problem in problems {
            self.sink.push(
                Diag::error("launch::invalid", problem.message)
                    .at(launch, problem.span, "")
                    .maybe_help(problem.help),
            );
        }
    }

    fn ptx_errors(&mut self, ptx: SourceId, code: &'static str, errors: Vec<PtxError>) {
        for error in errors {
            self.sink.push(
                Diag::error(code, error.message)
                    .at(ptx, error.span, "")
                    .maybe_help(error.help),
            );
        }
    }

    fn plain(&mut self, code: &'static str, message: String, help: Option<String>) {
        let diag = Diag::error(code, message).maybe_help(help);
        self.sink.push(diag.on(self.named.as_ref(), "named here"));
    }
}
