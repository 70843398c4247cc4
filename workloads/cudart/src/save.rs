//! Launches as launch files, which `warpwatt kernel` runs again.
//!
//! The first launch of each kernel and shape is kept: its PTX, its arguments, and the memory that they point to, before and after. Addresses inside that memory
//! are not followed: a kernel that follows them itself cannot be run again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use warpwatt_ptx::program::{ModuleVariable, Param};

use crate::channel::say;
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::request::Request;

/// The characters of a kernel's name that its folder has.
const NAME: usize = 60;

/// A launch that is being kept.
#[derive(Debug)]
pub struct Saving {
    folder: PathBuf,
    /// Buffers by their address: their number and their size.
    buffers: BTreeMap<u64, (usize, u64)>,
}

impl Gpu {
    /// Begins to keep a launch, if launches are to be kept and none like it was.
    pub fn save(&mut self, request: &Request) -> Option<Saving> {
        let root = PathBuf::from(self.setup.save.clone()?);
        let kernel = self.registry.kernel(request.kernel).ok()?;
        let key = (kernel.unit, kernel.name, request.grid, request.block);
        if self.saved.contains(&key) {
            return None;
        }
        self.saved.insert(key.clone());
        let (unit, name, ..) = key;
        if !self.textures.is_empty() {
            say(&format!(
                "a launch of `{name}` is not saved: there are textures"
            ));
            return None;
        }
        let short: String = name.chars().take(NAME).collect();
        let folder = root.join(format!("{short}-{}", self.saved.len()));
        let saving = self.write(folder, request, (unit, &name));
        let saving = saving.inspect_err(|why| {
            say(&format!("a launch of `{name}` is not saved: {why}"));
        });
        saving.ok()
    }

    fn write(
        &mut self,
        folder: PathBuf,
        request: &Request,
        (unit, name): (u64, &str),
    ) -> Result<Saving, String> {
        let told = |error: io::Error| error.to_string();
        fs::create_dir_all(&folder).map_err(told)?;
        let (module, text) = self.registry.module(unit).ok_or("it was not read")?;
        let entry = module.entry(name).ok_or("it is not there")?;
        let (params, variables) = (entry.params.clone(), module.variables.clone());
        fs::write(folder.join("kernel.ptx"), text).map_err(told)?;
        let mut saving = Saving {
            folder,
            buffers: BTreeMap::new(),
        };
        let mut file = head(name, request);
        for (index, param) in params.iter().enumerate() {
            let start = param.offset as usize;
            let bytes = &request.params[start..start + param.bytes as usize];
            file += &saving.argument(index, param, bytes, &mut self.memory)?;
        }
        for (address, (number, bytes)) in saving.buffers.clone() {
            let contents = self
                .memory
                .contents(address, bytes)
                .ok_or("memory is gone")?;
            saving.keep(&format!("buffer{number}.bin"), &contents)?;
            file += &buffer(number, bytes);
        }
        for variable in &variables {
            let place = self
                .registry
                .variable_named(unit, &variable.name, &mut self.memory);
            let place = place.map_err(|_| "a variable is gone")?;
            let contents = crate::foreign::bytes_at(place.host, place.bytes as usize);
            saving.keep(&format!("{}.variable.bin", variable.name), &contents)?;
            file += &of_variable(variable);
        }
        saving.keep("launch.toml", file.as_bytes())?;
        Ok(saving)
    }

    /// Keeps what the launch left.
    pub fn save_after(&mut self, saving: &Saving) {
        for (&address, &(number, bytes)) in &saving.buffers {
            let contents = self.memory.contents(address, bytes).unwrap_or_default();
            if let Err(why) = saving.keep(&format!("buffer{number}.after.bin"), &contents) {
                say(&format!("what a launch left is not saved: {why}"));
            }
        }
    }
}

fn head(name: &str, request: &Request) -> String {
    let Request {
        grid,
        block,
        shared,
        ..
    } = request;
    let mut text = format!(
        "name = \"{name}\"\n\n[build]\nptx = \"kernel.ptx\"\n\n[saved]\nkernel = \"{name}\"\ngrid = {grid:?}\nblock = {block:?}\n"
    );
    if *shared > 0 {
        let _ = writeln!(text, "dynamic_shared = {shared}");
    }
    if let Some(cluster) = request.cluster {
        let _ = writeln!(text, "cluster = {cluster:?}");
    }
    text
}

fn buffer(number: usize, bytes: u64) -> String {
    format!(
        "\n[[saved.arg]]\nname = \"buffer{number}\"\nkind = \"inout\"\ntype = \"u8\"\ncount = {bytes}\nfile = \"buffer{number}.bin\"\nexpect_file = \"buffer{number}.after.bin\"\npassed = false\n"
    )
}

fn of_variable(variable: &ModuleVariable) -> String {
    let ModuleVariable { name, bytes, .. } = variable;
    format!(
        "\n[[saved.arg]]\nname = \"{name}\"\nkind = \"{}\"\ntype = \"u8\"\ncount = {bytes}\nfile = \"{name}.variable.bin\"\nvariable = \"{name}\"\n",
        if variable.constant { "in" } else { "inout" }
    )
}

/// The type of a scalar in launch files.
fn scalar(param: &Param, bytes: &[u8]) -> Option<(String, String)> {
    let long = |bytes: &[u8]| {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(whole)
    };
    let bits = 8 * bytes.len();
    Some(match (param.element.as_str(), bytes.len()) {
        ("f32", 4) => (
            "f32".to_owned(),
            float(f64::from(f32::from_bits(long(bytes) as u32)))?,
        ),
        ("f64", 8) => ("f64".to_owned(), float(f64::from_bits(long(bytes)))?),
        (element, 1 | 2 | 4 | 8) if element.starts_with('s') => {
            let shift = 64 - bits;
            let value = (long(bytes) << shift) as i64 >> shift;
            (format!("i{bits}"), value.to_string())
        }
        (element, 1 | 2 | 4 | 8) if element.starts_with(['u', 'b']) => {
            let value = long(bytes);
            // Numbers of TOML end at 2^63.
            i64::try_from(value).ok()?;
            (format!("u{bits}"), value.to_string())
        }
        _ => return None,
    })
}

fn float(value: f64) -> Option<String> {
    value.is_finite().then(|| format!("{value:?}"))
}

impl Saving {
    fn keep(&self, name: &str, contents: &[u8]) -> Result<(), String> {
        let path: &Path = &self.folder;
        fs::write(path.join(name), contents).map_err(|error| error.to_string())
    }

    /// What a number points to: the buffer's number, and how far behind its beginning.
    fn pointed(&mut self, address: u64, memory: &mut Memory) -> Option<(usize, u64)> {
        let (start, bytes) = memory.allocation(address)?;
        let number = self.buffers.len();
        let (number, _) = *self.buffers.entry(start).or_insert((number, bytes));
        Some((number, address - start))
    }

    fn argument(
        &mut self,
        index: usize,
        param: &Param,
        bytes: &[u8],
        memory: &mut Memory,
    ) -> Result<String, String> {
        let begin = format!("\n[[saved.arg]]\nindex = {index}\nname = \"p{index}\"\n");
        if let Ok(address) = <[u8; 8]>::try_from(bytes)
            && let Some((number, plus)) = self.pointed(u64::from_le_bytes(address), memory)
        {
            return Ok(format!(
                "{begin}kind = \"pointer\"\nbuffer = \"buffer{number}\"\nplus = {plus}\n"
            ));
        }
        if let Some((kind, value)) =
            scalar(param, bytes).filter(|_| param.element != "b8" || bytes.len() == 1)
        {
            return Ok(format!(
                "{begin}kind = \"scalar\"\ntype = \"{kind}\"\nvalue = {value}\n"
            ));
        }
        let words = bytes.chunks_exact(8).enumerate();
        let mut fields = String::new();
        for (at, word) in words {
            let address = u64::from_le_bytes(*word.first_chunk().unwrap_or(&[0; 8]));
            if let Some((number, plus)) = self.pointed(address, memory) {
                let _ = writeln!(
                    fields,
                    "  {{ offset = {}, buffer = \"buffer{number}\", plus = {plus} }},",
                    8 * at
                );
            }
        }
        let name = format!("p{index}.bin");
        self.keep(&name, bytes)?;
        let fields = match fields.is_empty() {
            true => String::new(),
            false => format!("fields = [\n{fields}]\n"),
        };
        Ok(format!(
            "{begin}kind = \"struct\"\ntype = \"u8\"\ncount = {}\nfile = \"{name}\"\n{fields}",
            bytes.len()
        ))
    }
}
