//! Static instructions in a trace file.

use std::sync::Arc;

use super::TraceFileError;
use super::blocks::{BlockReader, BlockWriter};
use crate::trace::{
    Asynchronous, Flow, LatencyClass, Malformed, Marks, MemoryOp, MemoryOpKind, Need, Needs,
    Outstanding, Register, RegisterKind, Release, Results, Role, Space, Split, StaticInst, Unit,
    ValueRead, ValueWrite,
};

/// A kind of something, told by a number.
trait Numbered: Copy + PartialEq + 'static {
    /// All kinds; the number of a kind is its place.
    const ALL: &'static [Self];

    fn number(self) -> u8 {
        let place = Self::ALL.iter().position(|kind| *kind == self);
        place.map_or(u8::MAX, |place| place as u8)
    }

    fn read(reader: &mut BlockReader<'_>) -> Result<Self, TraceFileError> {
        Self::of(reader.byte()?)
    }

    fn of(number: u8) -> Result<Self, TraceFileError> {
        let kind = Self::ALL.get(usize::from(number)).copied();
        kind.ok_or_else(|| Malformed("an instruction is of no known kind").into())
    }
}

/// Lists all kinds. One that is missing does not compile.
macro_rules! numbered {
    ($name:ident: $($kind:ident),*) => {
        impl Numbered for $name {
            const ALL: &'static [Self] = &[$($name::$kind),*];
        }
        const _: fn($name) = |kind| match kind {
            $($name::$kind => ()),*
        };
    };
}

numbered!(Unit: Int, Fp32, Fp64, Sfu, Memory, Control, Barrier, Fence, Matrix, Scalar);
numbered!(LatencyClass: Add, MinMax, Mul, Mad, Div, Special, Shuffle, Simple);
numbered!(RegisterKind: Word, Double, Predicate);
numbered!(Space: Global, Shared, Local, Const, Param, Generic);
numbered!(MemoryOpKind: Load, Store, Atomic, Texture);
numbered!(Flow: Branch, Call, Return, Exit);
numbered!(Results: FromSources, Same, PerLane);

/// Roles by number; the distance of a shift follows its own.
const ROLES: [Role; 9] = [
    Role::Always,
    Role::Guard,
    Role::Address,
    Role::Stored,
    Role::Whole,
    Role::Bitwise,
    Role::NotAbove,
    Role::BitwiseOfLanes,
    Role::OfLanes,
];
const SHIFTED: u8 = ROLES.len() as u8;

/// With the number of what an access does: it passes the first level by.
const PAST_L1: u8 = 0x80;

/// Stands for "none" in front of an optional value, whose number otherwise follows plus one.
const NONE: u8 = 0;

pub(super) fn write(writer: &mut BlockWriter, code: &[StaticInst]) {
    writer.unsigned(code.len() as u64);
    for inst in code {
        let flow = inst.flow.map_or(NONE, |flow| flow as u8 + 1);
        writer.bytes(&[
            inst.unit.number(),
            inst.latency.number(),
            flow,
            inst.results.number(),
            u8::from(inst.uniform),
            inst.bytes,
        ]);
        write_registers(writer, &inst.sources);
        write_registers(writer, &inst.destinations);
        match inst.memory {
            None => writer.bytes(&[NONE]),
            Some(op) => {
                let kind = op.kind.number() | if op.past_l1 { PAST_L1 } else { 0 };
                writer.bytes(&[op.space.number() + 1, kind, op.bytes]);
            }
        }
        writer.unsigned(u64::from(inst.multiply_adds));
        writer.bytes(&[inst.element_bits]);
        writer.unsigned(u64::from(inst.line));
        write_release(writer, &inst.release);
        write_marks(writer, &inst.marks);
        write_needs(writer, &inst.needs);
        write_split(writer, inst.split);
        write_asynchronous(writer, inst.asynchronous);
    }
}

fn write_asynchronous(writer: &mut BlockWriter, asynchronous: Option<Asynchronous>) {
    match asynchronous {
        None => writer.bytes(&[NONE]),
        Some(Asynchronous::Product { shared_bytes }) => {
            writer.bytes(&[1]);
            writer.unsigned(u64::from(shared_bytes));
        }
        Some(Asynchronous::Commit) => writer.bytes(&[2]),
        Some(Asynchronous::Tensor) => writer.bytes(&[5]),
        Some(Asynchronous::Completes) => writer.bytes(&[6]),
        Some(Asynchronous::Wait(groups)) => {
            writer.bytes(&[3]);
            writer.unsigned(u64::from(groups));
        }
        Some(Asynchronous::Outstanding(Outstanding { vector, near })) => {
            writer.bytes(&[4, vector, near]);
        }
    }
}

fn read_asynchronous(reader: &mut BlockReader<'_>) -> Result<Option<Asynchronous>, TraceFileError> {
    Ok(match reader.byte()? {
        NONE => None,
        1 => Some(Asynchronous::Product {
            shared_bytes: reader.number()?,
        }),
        2 => Some(Asynchronous::Commit),
        5 => Some(Asynchronous::Tensor),
        6 => Some(Asynchronous::Completes),
        3 => Some(Asynchronous::Wait(reader.number()?)),
        4 => Some(Asynchronous::Outstanding(Outstanding {
            vector: reader.byte()?,
            near: reader.byte()?,
        })),
        _ => return Err(Malformed("an instruction begins nothing that is known").into()),
    })
}

fn write_needs(writer: &mut BlockWriter, needs: &Needs) {
    writer.bytes(&[u8::from(needs.opaque)]);
    writer.unsigned(needs.sources.len() as u64);
    for need in &needs.sources {
        match need.role {
            Role::Shifted(by) => writer.bytes(&[SHIFTED, by as u8]),
            role => writer.bytes(&[ROLES.iter().position(|it| *it == role).unwrap_or(0) as u8]),
        }
        // Mostly all bits, which are few digits this way.
        writer.unsigned(!need.bits);
    }
}

fn write_split(writer: &mut BlockWriter, split: Option<Split>) {
    writer.bytes(&[u8::from(split.is_some())]);
    if let Some(split) = split {
        writer.unsigned(u64::from(split.target));
        writer.unsigned(u64::from(split.meets));
    }
}

fn read_split(reader: &mut BlockReader<'_>) -> Result<Option<Split>, TraceFileError> {
    if !read_flag(reader)? {
        return Ok(None);
    }
    Ok(Some(Split {
        target: reader.number()?,
        meets: reader.number()?,
    }))
}

fn read_needs(reader: &mut BlockReader<'_>) -> Result<Needs, TraceFileError> {
    let opaque = read_flag(reader)?;
    let count = reader.unsigned()?;
    let mut sources = reader.list(count, 2)?;
    for _ in 0..count {
        let role = match reader.byte()? {
            SHIFTED => Role::Shifted(reader.byte()? as i8),
            number => *ROLES
                .get(usize::from(number))
                .ok_or(Malformed("a source is used for no known purpose"))?,
        };
        let bits = !reader.unsigned()?;
        sources.push(Need { role, bits });
    }
    Ok(Needs { sources, opaque })
}

fn write_marks(writer: &mut BlockWriter, marks: &Marks) {
    writer.bytes(&[u8::from(marks.begins)]);
    writer.unsigned(marks.reads.len() as u64);
    for read in &marks.reads {
        writer.unsigned(u64::from(read.word));
        writer.unsigned(u64::from(read.value));
    }
    writer.unsigned(marks.writes.len() as u64);
    for write in &marks.writes {
        writer.unsigned(u64::from(write.word));
        writer.unsigned(u64::from(write.value));
        writer.bytes(&[u8::from(write.outlives)]);
    }
}

fn write_release(writer: &mut BlockWriter, release: &Release) {
    writer.bytes(&[u8::from(release.leader)]);
    write_registers(writer, &release.sources);
    writer.unsigned(release.meeting.len() as u64);
    for &number in &release.meeting {
        writer.unsigned(u64::from(number));
    }
}

fn write_registers(writer: &mut BlockWriter, registers: &[Register]) {
    writer.unsigned(registers.len() as u64);
    for register in registers {
        writer.bytes(&[register.kind.number()]);
        writer.unsigned(u64::from(register.number));
    }
}

pub(super) fn read(reader: &mut BlockReader<'_>) -> Result<Arc<[StaticInst]>, TraceFileError> {
    let count = reader.unsigned()?;
    let mut code = reader.list(count, 20)?;
    for _ in 0..count {
        code.push(read_inst(reader)?);
    }
    Ok(Arc::from(code))
}

fn read_flag(reader: &mut BlockReader<'_>) -> Result<bool, TraceFileError> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed("a flag is neither set nor clear").into()),
    }
}

fn read_inst(reader: &mut BlockReader<'_>) -> Result<StaticInst, TraceFileError> {
    let unit = Unit::read(reader)?;
    let latency = LatencyClass::read(reader)?;
    let flow = match reader.byte()? {
        NONE => None,
        number => Some(Flow::of(number - 1)?),
    };
    Ok(StaticInst {
        unit,
        latency,
        flow,
        results: Results::read(reader)?,
        uniform: read_flag(reader)?,
        bytes: reader.byte()?,
        sources: read_registers(reader)?,
        destinations: read_registers(reader)?,
        memory: read_memory(reader)?,
        multiply_adds: reader.number()?,
        element_bits: reader.byte()?,
        line: reader.number()?,
        release: read_release(reader)?,
        marks: read_marks(reader)?,
        needs: read_needs(reader)?,
        split: read_split(reader)?,
        asynchronous: read_asynchronous(reader)?,
    })
}

fn read_marks(reader: &mut BlockReader<'_>) -> Result<Marks, TraceFileError> {
    let begins = read_flag(reader)?;
    let count = reader.unsigned()?;
    let mut reads = reader.list(count, 2)?;
    for _ in 0..count {
        reads.push(ValueRead {
            word: register_number(reader)?,
            value: reader.number()?,
        });
    }
    let count = reader.unsigned()?;
    let mut writes = reader.list(count, 3)?;
    for _ in 0..count {
        writes.push(ValueWrite {
            word: register_number(reader)?,
            value: reader.number()?,
            outlives: read_flag(reader)?,
        });
    }
    Ok(Marks {
        begins,
        reads,
        writes,
    })
}

fn read_release(reader: &mut BlockReader<'_>) -> Result<Release, TraceFileError> {
    let leader = reader.byte()? != 0;
    let sources = read_registers(reader)?;
    let count = reader.unsigned()?;
    let mut meeting = reader.list(count, 1)?;
    for _ in 0..count {
        meeting.push(register_number(reader)?);
    }
    Ok(Release {
        leader,
        sources,
        meeting,
    })
}

fn register_number(reader: &mut BlockReader<'_>) -> Result<u16, TraceFileError> {
    let number = u16::try_from(reader.unsigned()?);
    number.map_err(|_| Malformed("a register has an impossible number").into())
}

fn read_memory(reader: &mut BlockReader<'_>) -> Result<Option<MemoryOp>, TraceFileError> {
    let space = match reader.byte()? {
        NONE => return Ok(None),
        number => <Space as Numbered>::of(number - 1)?,
    };
    let number = reader.byte()?;
    let kind = <MemoryOpKind as Numbered>::of(number & !PAST_L1)?;
    let past_l1 = number & PAST_L1 != 0;
    match reader.byte()? {
        0 => Err(Malformed("an access moves no bytes").into()),
        bytes => Ok(Some(MemoryOp {
            past_l1,
            ..MemoryOp::new(space, kind, bytes)
        })),
    }
}

fn read_registers(reader: &mut BlockReader<'_>) -> Result<Vec<Register>, TraceFileError> {
    let count = reader.unsigned()?;
    let mut registers = reader.list(count, 2)?;
    for _ in 0..count {
        let kind = RegisterKind::read(reader)?;
        registers.push(Register {
            kind,
            number: register_number(reader)?,
        });
    }
    Ok(registers)
}
