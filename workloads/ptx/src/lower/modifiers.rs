//! Reading an instruction's modifiers: each is asked for by name, and what nobody asked for is an error.

use crate::ast::{Instruction, Name};
use crate::error::PtxError;
use crate::program::{Float, Rounding};
use crate::types::{Space, Type};

/// Modifiers that steer caches and compilers and change no result.
const HINTS: [&str; 36] = [
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "weak",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "nc",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_last",
    "L1::evict_first",
    "L1::no_allocate",
    "L1::evict_unchanged",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::cache_hint",
    "L2::evict_unchanged",
    "L2::no_allocate",
    "unified",
    "deprecated",
];

pub(super) struct Modifiers<'a, 's> {
    instruction: &'a Instruction<'s>,
    used: u64,
}

impl<'a, 's> Modifiers<'a, 's> {
    pub fn new(instruction: &'a Instruction<'s>) -> Self {
        Self {
            instruction,
            used: 0,
        }
    }

    fn unused(&self) -> impl Iterator<Item = (usize, &'a Name<'s>)> + use<'a, 's> {
        let used = self.used;
        let list = self.instruction.modifiers.iter().enumerate();
        list.filter(move |&(at, _)| at < 64 && used >> at & 1 == 0)
    }

    /// Takes the first unused modifier that `read` understands.
    pub fn find<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (at, found) = self
            .unused()
            .find_map(|(at, name)| Some((at, read(name.text)?)))?;
        self.used |= 1 << at;
        Some(found)
    }

    pub fn take(&mut self, name: &str) -> bool {
        self.find(|text| (text == name).then_some(())).is_some()
    }

    /// The next type modifier, in order of writing.
    pub fn element(&mut self) -> Result<Type, PtxError> {
        self.find(Type::of).ok_or_else(|| {
            let opcode = &self.instruction.opcode;
            let first = self.unused().last().map(|(_, name)| name);
            let (span, named) = match first {
                Some(name) => (name.span.clone(), format!(" (`.{}` is not one of them)", name.text)),
                None => (opcode.span.clone(), String::new()),
            };
            PtxError::new(
                span,
                format!("`{}` needs a type that is supported here{named}", opcode.text),
            )
            .with_help("supported: .b8 .. .b64, .u8 .. .u64, .s8 .. .s64, .f32, .f64, .pred; .f16 in conversions")
        })
    }

    pub fn space(&mut self) -> Option<Space> {
        self.find(|text| {
            Some(match text {
                "global" => Space::Global,
                "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
                "local" => Space::Local,
                "const" => Space::Const,
                "param" | "param::entry" | "param::func" => Space::Param,
                _ => return None,
            })
        })
    }

    pub fn rounding(&mut self) -> Option<Rounding> {
        self.find(|text| {
            Some(match text {
                "rn" => Rounding::Nearest,
                "rz" => Rounding::Zero,
                "rm" => Rounding::Down,
                "rp" => Rounding::Up,
                _ => return None,
            })
        })
    }

    pub fn integral_rounding(&mut self) -> Option<Rounding> {
        self.find(|text| {
            Some(match text {
                "rni" => Rounding::Nearest,
                "rzi" => Rounding::Zero,
                "rmi" => Rounding::Down,
                "rpi" => Rounding::Up,
                _ => return None,
            })
        })
    }

    /// Rounding (to nearest by default), `.ftz`, `.sat`.
    pub fn float(&mut self) -> Float {
        Float {
            rounding: self.rounding().unwrap_or(Rounding::Nearest),
            flush: self.take("ftz"),
            saturate: self.take("sat"),
        }
    }

    pub fn skip_hints(&mut self) {
        while self
            .find(|text| HINTS.contains(&text).then_some(()))
            .is_some()
        {}
    }

    /// Refuses the first modifier that nothing asked for.
    pub fn finish(&self) -> Result<(), PtxError> {
        match self.unused().next() {
            None if self.instruction.modifiers.len() <= 64 => Ok(()),
            None => Err(PtxError::new(
                self.instruction.span.clone(),
                "an instruction with more than 64 modifiers does not exist",
            )),
            Some((_, name)) => Err(PtxError::new(
                name.span.clone(),
                format!(
                    "`.{}` is not supported on `{}`",
                    name.text, self.instruction.opcode.text
                ),
            )),
        }
    }
}
