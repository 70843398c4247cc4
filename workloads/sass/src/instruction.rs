//! From a line to what timing needs to know of an instruction.

use warpwatt_simt::trace::{
    BarrierUse, Flow, MemoryOp, MemoryOpKind, Register, Space, StaticInst, Unit,
};

use crate::fault::{Fault, quoted};
use crate::header::Header;
use crate::line::{Line, Names};
use crate::opcode::{Does, Opcode};
use crate::registers::Name;

/// Bytes of local memory of a thread that a trace can name.
const LOCAL_WINDOW: u64 = 1 << 24;
/// Barriers of a thread block.
const BARRIERS: u64 = 16;

/// What stands where nothing was recorded.
pub(crate) fn nothing() -> StaticInst {
    StaticInst::bare(Unit::Int)
}

/// The instruction of a line whose addresses lie in `space`.
pub(crate) fn instruction(line: &Line<'_>, space: Option<Space>) -> Result<StaticInst, Fault> {
    let opcode = Opcode::new(line.opcode);
    let Some(does) = opcode.does() else {
        let message = format!("{} is no instruction that is known", quoted(line.opcode));
        return Err(Fault::new(message).help("please report it, with the compute capability"));
    };
    if does == Does::Texture {
        let message = format!(
            "{} accesses a texture or a surface, whose addresses the tracer does not write down",
            quoted(line.opcode)
        );
        return Err(Fault::new(message));
    }
    let (mut unit, latency) = does.unit();
    let memory = match (does, space) {
        (Does::Accesses(kind, _), Some(space)) => Some(MemoryOp {
            past_l1: opcode.has("BYPASS"),
            ..MemoryOp::new(space, kind, opcode.bytes())
        }),
        _ => None,
    };
    if unit == Unit::Memory && memory.is_none() {
        // Constants by a register: the tracer has no addresses of them.
        unit = Unit::Int;
    }
    let shape = match does {
        Does::Product => opcode.shape(),
        _ => None,
    };
    let counts = Counts::of(opcode, does, line);
    Ok(StaticInst {
        unit,
        latency,
        sources: registers(&line.sources, |place| counts.source(place)),
        destinations: registers(&line.destinations, |_| counts.destination),
        memory,
        flow: match does {
            Does::Goes(flow) => Some(flow),
            _ => None,
        },
        results: does.results(),
        uniform: matches!(does, Does::Uniform(_)),
        multiply_adds: shape.map_or(0, |shape| shape.multiply_adds()),
        element_bits: shape.map_or(0, |shape| shape.bits),
        ..nothing()
    })
}

/// The space in which the lanes of a line access memory; none if it does not, or not at known addresses.
pub(crate) fn space(line: &Line<'_>, header: &Header) -> Option<Space> {
    let Some(Does::Accesses(_, space)) = Opcode::new(line.opcode).does() else {
        return None;
    };
    if !line.accesses {
        return None;
    }
    if space != Space::Generic {
        return Some(space);
    }
    let lane = line.executed.trailing_zeros() as usize;
    let Some(first) = line.addresses.as_ref().and_then(|all| all.get(lane)) else {
        // No lane executes it; nobody asks where.
        return Some(Space::Global);
    };
    let within = |base: u64| base != 0 && (base..base.saturating_add(LOCAL_WINDOW)).contains(first);
    Some(if within(header.shared_base) {
        Space::Shared
    } else if within(header.local_base) {
        Space::Local
    } else {
        Space::Global
    })
}

/// An address within its space: shared and local memory begin at 0 where the tracer has them in the generic window.
pub(crate) fn within(space: Space, address: u64, header: &Header) -> u64 {
    let base = match space {
        Space::Shared => header.shared_base,
        Space::Local => header.local_base,
        _ => 0,
    };
    let address = if base != 0 && address >= base {
        address - base
    } else {
        address
    };
    match space {
        Space::Shared | Space::Local => address % LOCAL_WINDOW,
        _ => address,
    }
}

/// What a warp does at the barrier of a line. The tracer tells number and threads since its version 4; with values since version 6, where a register holds the
/// number the first immediate tells the threads.
pub(crate) fn barrier(line: &Line<'_>, header: &Header) -> Result<BarrierUse, Fault> {
    let waits = !Opcode::new(line.opcode).has("ARV");
    if header.version < 4 {
        return Ok(BarrierUse {
            waits,
            ..BarrierUse::PLAIN
        });
    }
    let (number, threads) = match (line.immediates(), line.first_value()) {
        ([threads, 0], Some(number)) if !line.destinations.is_empty() => (number, threads),
        ([number, threads], _) => (number, threads),
    };
    if number >= BARRIERS {
        return Err(Fault::new(format!("there is no barrier {number}")));
    }
    Ok(BarrierUse {
        number: number as u8,
        threads: u32::try_from(threads).ok().filter(|threads| *threads > 0),
        waits,
    })
}

fn registers(names: &Names, count: impl Fn(usize) -> u8) -> Vec<Register> {
    let names = names.iter().enumerate();
    let mut found: Vec<Register> = names
        .flat_map(|(place, name)| name.registers(count(place)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Neighbouring registers that operands are: the tracer names the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    destination: u8,
    /// By their places; what lies behind is as the last.
    sources: [u8; 4],
}

impl Counts {
    const WORDS: Self = Self {
        destination: 1,
        sources: [1; 4],
    };

    fn source(self, place: usize) -> u8 {
        self.sources[place.min(self.sources.len() - 1)]
    }

    fn of(opcode: Opcode<'_>, does: Does, line: &Line<'_>) -> Self {
        let words = |bytes: u8| bytes.div_ceil(4);
        let three = line.sources.len() >= 3;
        match does {
            Does::Accesses(kind, space) => {
                // Addresses of 64 bits are two registers, but on a uniform base.
                let has_base = line.sources.iter().any(|it| matches!(it, Name::Uniform(_)));
                let wide = matches!(space, Space::Global | Space::Generic) && !has_base;
                let address = if wide && opcode.has("E") { 2 } else { 1 };
                let data = words(opcode.bytes());
                match kind {
                    MemoryOpKind::Store => Self {
                        destination: 1,
                        sources: [address, data, 1, 1],
                    },
                    MemoryOpKind::Atomic => Self {
                        destination: data,
                        sources: [address, data, data, 1],
                    },
                    // What goes to shared memory has an address there instead of a result.
                    _ if opcode.name == "LDGSTS" => Self {
                        destination: 0,
                        sources: [1, address, 1, 1],
                    },
                    _ => Self {
                        destination: data * matrices(opcode),
                        sources: [address, 1, 1, 1],
                    },
                }
            }
            Does::Product => product(opcode),
            Does::Computes(Unit::Fp64, _) => Self {
                destination: 2,
                sources: [2; 4],
            },
            // A product of 64 bits and what is added to it.
            _ if opcode.name == "IMAD" && opcode.has("WIDE") => Self {
                destination: 2,
                sources: [1, 1, if three { 2 } else { 1 }, 1],
            },
            _ if opcode.name == "F2F" || opcode.name == "I2F" => {
                // `F2F.F64.F32`: to, then from.
                let mut types = opcode.modifiers().filter(|part| part.len() <= 3);
                let (to, from) = (types.next(), types.next());
                let count = |of: Option<&str>| 1 + u8::from(of == Some("F64"));
                Self {
                    destination: count(to),
                    sources: [count(from); 4],
                }
            }
            _ if opcode.name == "F2I" && opcode.has("F64") => Self {
                destination: 1,
                sources: [2; 4],
            },
            _ => Self::WORDS,
        }
    }
}

/// Matrices that an instruction loads: `LDSM.16.M88.4`.
fn matrices(opcode: Opcode<'_>) -> u8 {
    let count = opcode.modifiers().last().filter(|_| opcode.name == "LDSM");
    count
        .and_then(|count| count.parse().ok())
        .filter(|count| matches!(count, 2 | 4))
        .unwrap_or(1)
}

/// Registers of the fragments of a product, a lane's share of them.
fn product(opcode: Opcode<'_>) -> Counts {
    let Some(shape) = opcode.shape() else {
        return Counts::WORDS;
    };
    const LANES: u32 = 32;
    let words = |elements: u32, bits: u32| (elements * bits).div_ceil(LANES * 32).max(1) as u8;
    let bits = u32::from(shape.bits);
    let sum = match opcode.name {
        "DMMA" => 64,
        "HMMA" if opcode.has("F16") && !opcode.has("F32") => 16,
        _ => 32,
    };
    let added = words(shape.rows * shape.columns, sum)
        .div_ceil(shape.steps as u8)
        .max(1);
    Counts {
        destination: added,
        sources: [
            words(shape.rows * shape.depth, bits),
            words(
                shape.depth * shape.columns * if shape.steps > 1 { 4 } else { 1 },
                bits,
            ),
            added,
            1,
        ],
    }
}

/// Whether behind an instruction another one may follow than the next.
pub(crate) fn ends_block(inst: &StaticInst) -> bool {
    matches!(
        inst.flow,
        Some(Flow::Branch | Flow::Call | Flow::Return | Flow::Exit)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_simt::trace::{LatencyClass, RegisterKind};

    fn of(text: &str) -> StaticInst {
        let header = Header {
            version: 4,
            ..Header::default()
        };
        let line = Line::parse(text, &header).unwrap();
        instruction(&line, space(&line, &header)).unwrap()
    }

    fn numbers(registers: &[Register]) -> Vec<u16> {
        registers.iter().map(|register| register.number).collect()
    }

    #[test]
    fn wide_operands_are_several_registers() {
        let load = of("0 1 1 R4 LDG.E.128.SYS 1 R2 16 0 0x7f0000000000 0");
        assert_eq!(numbers(&load.destinations), [4, 5, 6, 7]);
        assert_eq!(numbers(&load.sources), [2, 3]);
        let store = of("0 1 0 STG.E.64.SYS 2 R2 R8 8 0 0x7f0000000000 0");
        assert_eq!(numbers(&store.sources), [2, 3, 8, 9]);
        let wide = of("0 1 1 R2 IMAD.WIDE 3 R0 R5 R6 0 0");
        assert_eq!(numbers(&wide.destinations), [2, 3]);
        assert_eq!(numbers(&wide.sources), [0, 5, 6, 7]);
        let double = of("0 1 1 R2 DFMA 3 R4 R6 R8 0 0");
        assert_eq!(numbers(&double.sources), [4, 5, 6, 7, 8, 9]);
        let product = of("0 1 1 R4 HMMA.16816.F32 3 R8 R12 R4 0 0");
        assert_eq!(numbers(&product.destinations), [4, 5, 6, 7]);
        assert_eq!(
            numbers(&product.sources),
            [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
        );
        // Volta: two registers each, eight sums of a lane in four steps.
        let volta = of("0 1 1 R4 HMMA.884.F32.F32.STEP0 3 R20 R24 R4 0 0");
        assert_eq!(numbers(&volta.destinations), [4, 5]);
        assert_eq!(numbers(&volta.sources), [4, 5, 20, 21, 24, 25]);
    }

    #[test]
    fn a_copy_to_shared_memory_has_no_result() {
        let copy = of("0 1 1 R4 LDGSTS.E.BYPASS.128 2 R4 R2 16 0 0x7f0000000000 0");
        assert!(copy.destinations.is_empty());
        assert_eq!(numbers(&copy.sources), [2, 3, 4]);
        let access = copy.memory.unwrap();
        assert_eq!((access.space, access.past_l1), (Space::Global, true));
    }

    #[test]
    fn what_has_no_address_accesses_nothing() {
        let constant = of("0 1 1 R4 LDC 1 R2 0 0");
        assert_eq!((constant.unit, constant.memory), (Unit::Int, None));
        let uniform = of("0 1 1 UR4 ULDC.64 0 0 0");
        assert_eq!(uniform.unit, Unit::Scalar);
        assert_eq!(uniform.destinations[0].kind, RegisterKind::Predicate);
        assert!(uniform.uniform);
    }

    #[test]
    fn units() {
        assert_eq!(of("0 1 1 R4 FFMA 3 R1 R2 R3 0 0").unit, Unit::Fp32);
        assert_eq!(
            of("0 1 1 R4 MUFU.RCP 1 R1 0 0").latency,
            LatencyClass::Special
        );
        assert_eq!(of("0 1 0 EXIT 0 0 0").flow, Some(Flow::Exit));
        assert_eq!(of("0 1 0 BRA 0 0 0").unit, Unit::Control);
    }

    #[test]
    fn generic_addresses_lie_in_a_window_or_in_global_memory() {
        let header = Header {
            version: 4,
            shared_base: 0x7f5d_5300_0000,
            local_base: 0x7f5d_5100_0000,
            ..Header::default()
        };
        let space_of = |address: &str| {
            let text = format!("0 2 1 R4 LD.E.SYS 1 R2 4 0 {address} 0");
            let line = Line::parse(&text, &header).unwrap();
            space(&line, &header)
        };
        assert_eq!(space_of("0x7f5d53000010"), Some(Space::Shared));
        assert_eq!(space_of("0x7f5d51000010"), Some(Space::Local));
        assert_eq!(space_of("0x7f5d60000010"), Some(Space::Global));
        assert_eq!(within(Space::Shared, 0x7f5d_5300_0010, &header), 0x10);
        assert_eq!(within(Space::Shared, 0x10, &header), 0x10);
    }

    #[test]
    fn barriers_by_version() {
        let at = |version, text| {
            let header = Header {
                version,
                ..Header::default()
            };
            barrier(&Line::parse(text, &header).unwrap(), &header)
        };
        assert_eq!(at(3, "0 1 0 BAR.SYNC 0 0").unwrap(), BarrierUse::PLAIN);
        let second = at(4, "0 1 0 BAR.SYNC 0 0 1").unwrap();
        assert_eq!((second.number, second.threads), (1, None));
        let arrives = at(6, "0 1 0 BAR.ARV 0 0 2 128 NoVal").unwrap();
        assert_eq!(
            (arrives.number, arrives.threads, arrives.waits),
            (2, Some(128), false)
        );
        let valued = at(6, "0 1 1 R4 BAR.ARV 0 0 256 0 Val 1 0x3").unwrap();
        assert_eq!((valued.number, valued.threads), (3, Some(256)));
        assert!(at(6, "0 1 0 BAR.SYNC 0 0 99 0 NoVal").is_err());
    }
}
