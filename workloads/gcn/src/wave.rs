//! A wavefront: its registers, and the loop that executes its instructions.

use warpwatt_simt::trace::WarpRecorder;

use crate::decode::{Inst, Place};
use crate::error::Cause;
use crate::exec::World;
use crate::exec::float::Mode;
use crate::op::{Form, Op};
use crate::program::{NOWHERE, Program};

/// Lanes of a wavefront.
pub(crate) const LANES: usize = 64;

/// Vector registers that instructions can name.
pub(crate) const VECTORS: usize = 256;

/// A value a lane.
pub(crate) type Words = [u32; LANES];

/// A value of 64 bits a lane.
pub(crate) type Longs = [u64; LANES];

/// A wavefront.
#[derive(Clone, Debug)]
pub(crate) struct Wave {
    /// Scalar registers; VCC, M0 and EXEC among them by their numbers.
    pub scalars: [u32; 128],
    pub vectors: Box<[Words; VECTORS]>,
    /// Vector registers that may hold something, from the first one on.
    touched: usize,
    pub scc: bool,
    pub mode: Mode,
    /// The next instruction.
    pub at: u32,
    pub counts: Counts,
    /// Where its part of the scratch memory begins.
    pub scratch: u64,
    pub recorder: Option<WarpRecorder>,
}

/// What a wavefront executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub instructions: u64,
    pub lanes: u64,
}

/// Why a wavefront stopped for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Exit,
    Barrier,
    Slice,
}

/// A fault, and the lane that it is of.
#[derive(Debug)]
pub(crate) struct WaveFault {
    pub cause: Cause,
    pub lane: Option<u32>,
}

impl From<Cause> for WaveFault {
    fn from(cause: Cause) -> Self {
        Self { cause, lane: None }
    }
}

/// Where control goes behind an instruction.
pub(crate) enum Flow {
    Next,
    To(u32),
    Stop(Stop),
}

impl Wave {
    pub fn new(mode: Mode, record: bool) -> Self {
        Self {
            scalars: [0; 128],
            vectors: vec![[0; LANES]; VECTORS]
                .try_into()
                .unwrap_or_else(|_| unreachable!("so many were made")),
            touched: 0,
            scc: false,
            mode,
            at: 0,
            counts: Counts::default(),
            scratch: 0,
            recorder: record.then(WarpRecorder::default),
        }
    }

    /// Makes all vector registers zero, for code that can reach `vectors` of them.
    pub fn clear_vectors(&mut self, vectors: usize) {
        let beyond = &self.vectors[self.touched..];
        debug_assert!(beyond.iter().all(|register| *register == [0; LANES]));
        self.vectors[..self.touched].fill([0; LANES]);
        self.touched = vectors;
    }

    /// Something else than the code may write any vector register.
    pub fn touch_all_vectors(&mut self) {
        self.touched = VECTORS;
    }

    /// Lanes that execute.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.pair(Place::EXEC.0)
    }

    #[inline]
    pub fn set_exec(&mut self, mask: u64) {
        self.set_pair(Place::EXEC.0, mask);
    }

    #[inline]
    pub fn pair(&self, first: u16) -> u64 {
        let first = usize::from(first);
        u64::from(self.scalars[(first + 1) & 127]) << 32 | u64::from(self.scalars[first & 127])
    }

    #[inline]
    pub fn set_pair(&mut self, first: u16, value: u64) {
        let first = usize::from(first);
        self.scalars[first & 127] = value as u32;
        self.scalars[(first + 1) & 127] = (value >> 32) as u32;
    }

    /// A scalar, or a constant.
    #[inline]
    pub fn scalar(&self, inst: &Inst, at: usize) -> u32 {
        self.scalar_at(inst, inst.sources[at])
    }

    pub fn scalar_at(&self, inst: &Inst, place: Place) -> u32 {
        match place.0 {
            place @ 0..128 => self.scalars[usize::from(place)],
            place @ 128..=192 => u32::from(place) - 128,
            place @ 193..=208 => 192u32.wrapping_sub(u32::from(place)),
            place @ 240..=247 => FLOATS[usize::from(place - 240)],
            251 => u32::from(self.pair(Place::VCC.0) == 0),
            252 => u32::from(self.exec() == 0),
            253 => u32::from(self.scc),
            255 => inst.literal,
            _ => 0,
        }
    }

    /// A scalar pair, or a constant; `literal` says what a literal stands for.
    pub fn scalar_pair(&self, inst: &Inst, at: usize, literal: fn(u32) -> u64) -> u64 {
        match inst.sources[at].0 {
            place @ 0..128 => self.pair(place),
            place @ 240..=247 => {
                f64::from(f32::from_bits(FLOATS[usize::from(place - 240)])).to_bits()
            }
            255 => literal(inst.literal),
            _ => i64::from(self.scalar(inst, at) as i32) as u64,
        }
    }

    /// A source in every lane, without its modifiers: the register as it is, or a scalar that is spread into `space`.
    #[inline]
    pub fn source<'s>(&'s self, inst: &Inst, at: usize, space: &'s mut Option<Words>) -> &'s Words {
        match inst.sources[at].vector() {
            Some(vector) => &self.vectors[usize::from(vector)],
            None => space.insert([self.scalar(inst, at); LANES]),
        }
    }

    /// A copy of it.
    #[inline]
    pub fn words(&self, inst: &Inst, at: usize) -> Words {
        *self.source(inst, at, &mut None)
    }

    /// A source of 64 bits in every lane.
    pub fn longs(&self, inst: &Inst, at: usize, literal: fn(u32) -> u64) -> Longs {
        match inst.sources[at].vector() {
            Some(vector) => {
                let low = &self.vectors[usize::from(vector)];
                let high = &self.vectors[usize::from(vector.wrapping_add(1))];
                std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]))
            }
            None => [self.scalar_pair(inst, at, literal); LANES],
        }
    }

    /// Writes a vector register in the lanes that execute.
    #[inline]
    pub fn write(&mut self, result: Place, values: &Words) {
        let exec = self.exec();
        let register = &mut self.vectors[usize::from(result.0 & 0xff)];
        if exec == u64::MAX {
            *register = *values;
            return;
        }
        choose(exec, values, register);
    }

    /// Writes two vector registers.
    pub fn write_longs(&mut self, result: Place, values: &Longs) {
        self.write(result, &std::array::from_fn(|lane| values[lane] as u32));
        self.write(
            Place::of_vector(u32::from(result.0) + 1),
            &std::array::from_fn(|lane| (values[lane] >> 32) as u32),
        );
    }

    /// Executes until the wavefront stops, at most `slice` instructions.
    pub fn run(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        slice: u64,
    ) -> Result<Stop, WaveFault> {
        for _ in 0..slice {
            let placed = &program.code[self.at as usize];
            let inst = placed.inst.map_err(Cause::Refused)?;
            match self.step(&inst, program, world)? {
                Flow::Next => self.at += 1,
                Flow::To(NOWHERE) => {
                    return Err(Cause::Jump(program.address_behind(self.at)).into());
                }
                Flow::To(target) => self.at = target,
                Flow::Stop(stop) => {
                    self.at += 1;
                    return Ok(stop);
                }
            }
            if self.at as usize >= program.code.len() {
                return Err(
                    Cause::Jump(program.address_behind(program.code.len() as u32 - 1)).into(),
                );
            }
        }
        Ok(Stop::Slice)
    }

    #[inline]
    pub fn step(
        &mut self,
        inst: &Inst,
        program: &Program,
        world: &mut World<'_>,
    ) -> Result<Flow, WaveFault> {
        let target = program.code[self.at as usize].target;
        self.step_to(inst, program, (world, target))
    }

    /// An instruction, which goes to `target` if it is a branch that is taken.
    #[inline]
    pub fn step_to(
        &mut self,
        inst: &Inst,
        program: &Program,
        (world, target): (&mut World<'_>, u32),
    ) -> Result<Flow, WaveFault> {
        self.counts.instructions += 1;
        match inst.op.row().form {
            Form::Vop1 | Form::Vop2 | Form::Vop3 | Form::Vopc => {
                self.record_vector();
                self.vector(inst)?;
            }
            Form::Sop1 | Form::Sop2 | Form::Sopc | Form::Sopk => {
                self.record_scalar();
                return self.scalar_computation(inst, program);
            }
            Form::Sopp => {
                self.record_scalar();
                return self.control(inst, target);
            }
            Form::Smrd => self.scalar_read(inst, world)?,
            Form::Ds => self.share(inst, world)?,
            Form::Mubuf | Form::Mtbuf => self.buffer(inst, world)?,
        }
        Ok(Flow::Next)
    }

    /// A scalar instruction is the work of one lane.
    #[inline]
    fn record_scalar(&mut self) {
        self.counts.lanes += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.step(self.at, 1, 1);
        }
    }

    #[inline]
    fn record_vector(&mut self) {
        let exec = self.exec();
        self.counts.lanes += u64::from(exec.count_ones());
        if let Some(recorder) = &mut self.recorder {
            recorder.step(self.at, exec.max(1), exec);
        }
    }

    /// Without a lane that executes, one stands for the wavefront and does nothing.
    pub fn record_access(&mut self, executed: u64, addresses: &Longs) {
        self.counts.lanes += u64::from(executed.count_ones());
        if let Some(recorder) = &mut self.recorder {
            recorder.access(self.at, executed.max(1), executed, addresses);
        }
    }

    fn control(&mut self, inst: &Inst, target: u32) -> Result<Flow, WaveFault> {
        let vcc = self.pair(Place::VCC.0);
        let taken = match inst.op {
            Op::SEndpgm => return Ok(Flow::Stop(Stop::Exit)),
            Op::SBarrier => return Ok(Flow::Stop(Stop::Barrier)),
            Op::SBranch => true,
            Op::SCbranchScc0 => !self.scc,
            Op::SCbranchScc1 => self.scc,
            Op::SCbranchVccz => vcc == 0,
            Op::SCbranchVccnz => vcc != 0,
            Op::SCbranchExecz => self.exec() == 0,
            Op::SCbranchExecnz => self.exec() != 0,
            Op::SSendmsg | Op::SSendmsghalt | Op::STrap => {
                return Err(Cause::Unsupported("messages and traps are not supported").into());
            }
            _ => false,
        };
        Ok(if taken { Flow::To(target) } else { Flow::Next })
    }
}

/// Puts values into the lanes of a mask. Halves of it and a bit a lane need no shifts that differ by lane, which vector units of hosts may not have.
#[inline]
pub(crate) fn choose(mask: u64, values: &Words, into: &mut Words) {
    const BITS: [u32; 32] = {
        let mut bits = [0; 32];
        let mut at = 0;
        while at < 32 {
            bits[at] = 1 << at;
            at += 1;
        }
        bits
    };
    for half in 0..2 {
        let mask = (mask >> (32 * half)) as u32;
        let lanes = 32 * half..32 * (half + 1);
        for ((old, new), bit) in into[lanes.clone()].iter_mut().zip(&values[lanes]).zip(BITS) {
            *old = if mask & bit != 0 { *new } else { *old };
        }
    }
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4.
const FLOATS: [u32; 8] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
];
