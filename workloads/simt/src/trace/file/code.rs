//! Static instructions in a trace file.

use std::sync::Arc;

use super::TraceFileError;
use super::blocks::{BlockReader, BlockWriter};
use crate::trace::{
    Flow, LatencyClass, Malformed, MemoryOp, MemoryOpKind, Register, RegisterKind, Results, Space,
    StaticInst, Unit,
};

// A value's place in its table is its number in the file; it is also its discriminant.
const UNITS: [Unit; 9] = [
    Unit::Int,
    Unit::Fp32,
    Unit::Fp64,
    Unit::Sfu,
    Unit::Memory,
    Unit::Control,
    Unit::Barrier,
    Unit::Fence,
    Unit::Matrix,
];
const LATENCIES: [LatencyClass; 8] = [
    LatencyClass::Add,
    LatencyClass::MinMax,
    LatencyClass::Mul,
    LatencyClass::Mad,
    LatencyClass::Div,
    LatencyClass::Special,
    LatencyClass::Shuffle,
    LatencyClass::Simple,
];
const REGISTERS: [RegisterKind; 3] = [
    RegisterKind::Word,
    RegisterKind::Double,
    RegisterKind::Predicate,
];
const SPACES: [Space; 6] = [
    Space::Global,
    Space::Shared,
    Space::Local,
    Space::Const,
    Space::Param,
    Space::Generic,
];
const KINDS: [MemoryOpKind; 3] = [
    MemoryOpKind::Load,
    MemoryOpKind::Store,
    MemoryOpKind::Atomic,
];
const FLOWS: [Flow; 4] = [Flow::Branch, Flow::Call, Flow::Return, Flow::Exit];
const RESULTS: [Results; 3] = [Results::FromSources, Results::Same, Results::PerLane];

/// Stands for "none" in front of an optional value, whose number otherwise follows plus one.
const NONE: u8 = 0;

pub(super) fn write(writer: &mut BlockWriter, code: &[StaticInst]) {
    writer.unsigned(code.len() as u64);
    for inst in code {
        let flow = inst.flow.map_or(NONE, |flow| flow as u8 + 1);
        writer.bytes(&[
            inst.unit as u8,
            inst.latency as u8,
            flow,
            inst.results as u8,
        ]);
        write_registers(writer, &inst.sources);
        write_registers(writer, &inst.destinations);
        match inst.memory {
            None => writer.bytes(&[NONE]),
            Some(op) => writer.bytes(&[op.space as u8 + 1, op.kind as u8, op.bytes]),
        }
        writer.unsigned(u64::from(inst.line));
    }
}

fn write_registers(writer: &mut BlockWriter, registers: &[Register]) {
    writer.unsigned(registers.len() as u64);
    for register in registers {
        writer.bytes(&[register.kind as u8]);
        writer.unsigned(u64::from(register.number));
    }
}

pub(super) fn read(reader: &mut BlockReader<'_>) -> Result<Arc<[StaticInst]>, TraceFileError> {
    let count = reader.unsigned()?;
    let mut code = reader.list(count, 8)?;
    for _ in 0..count {
        code.push(read_inst(reader)?);
    }
    Ok(Arc::from(code))
}

fn read_inst(reader: &mut BlockReader<'_>) -> Result<StaticInst, TraceFileError> {
    let unit = one_of(&UNITS, reader)?;
    let latency = one_of(&LATENCIES, reader)?;
    let flow = match reader.byte()? {
        NONE => None,
        number => Some(pick(&FLOWS, number - 1)?),
    };
    Ok(StaticInst {
        unit,
        latency,
        flow,
        results: one_of(&RESULTS, reader)?,
        sources: read_registers(reader)?,
        destinations: read_registers(reader)?,
        memory: read_memory(reader)?,
        line: reader.number()?,
    })
}

fn read_memory(reader: &mut BlockReader<'_>) -> Result<Option<MemoryOp>, TraceFileError> {
    let space = match reader.byte()? {
        NONE => return Ok(None),
        number => pick(&SPACES, number - 1)?,
    };
    let kind = one_of(&KINDS, reader)?;
    match reader.byte()? {
        0 => Err(Malformed("an access moves no bytes").into()),
        bytes => Ok(Some(MemoryOp { space, kind, bytes })),
    }
}

fn read_registers(reader: &mut BlockReader<'_>) -> Result<Vec<Register>, TraceFileError> {
    let count = reader.unsigned()?;
    let mut registers = reader.list(count, 2)?;
    for _ in 0..count {
        let kind = one_of(&REGISTERS, reader)?;
        let number = u16::try_from(reader.unsigned()?);
        let number = number.map_err(|_| Malformed("a register has an impossible number"))?;
        registers.push(Register { kind, number });
    }
    Ok(registers)
}

fn one_of<T: Copy>(table: &[T], reader: &mut BlockReader<'_>) -> Result<T, TraceFileError> {
    pick(table, reader.byte()?)
}

fn pick<T: Copy>(table: &[T], number: u8) -> Result<T, TraceFileError> {
    let value = table.get(usize::from(number)).copied();
    value.ok_or_else(|| Malformed("an instruction is of no known kind").into())
}
