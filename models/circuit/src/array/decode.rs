//! Predecoders and decoders (CACTI 5.1 TR, section 4.2; Amrutur and Horowitz, "Fast low-power decoders for RAMs", 2001).

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Resistance, Time};
use warpwatt_techlib::rules;

use crate::Profile;
use crate::gate::{Chain, Drive, Kind, Link};
use crate::process::Process;

/// A decoder's output stage: a NAND of predecoded lines and the chain that drives a wordline or a select line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    /// Absent if the predecoder drives the line itself.
    pub(super) chain: Option<Chain>,
    load: Capacitance,
    r_wire: Resistance,
}

/// What a predecoder drives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Wire capacitance of one predecoded line.
    pub(super) c: Capacitance,
    /// Its resistance.
    pub(super) r: Resistance,
    /// Decoders of one output along it.
    pub(super) decoders: f64,
}

/// Costs of a predecoder with its drivers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Predecode {
    pub(super) delay: Time,
    pub(super) ramp: Time,
    pub(super) energy: Energy,
    pub(super) leakage: Power,
    pub(super) gate_leakage: Power,
    pub(super) area: Area,
    /// Address bits of the two blocks.
    pub(super) bits: (u32, u32),
}

/// How a block of so many address bits is built from NAND2 and NAND3 gates and, from four bits on, a second level.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// NAND2 gates of the first level, how many switch at once, address buffers that drive them, and gates each buffer drives.
    two: Option<First>,
    /// The same for NAND3.
    three: Option<First>,
    /// Inputs and number of the gates of the second level.
    second: Option<(u32, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    gates: f64,
    active: f64,
    buffers: f64,
    fanout: f64,
    /// Second-level gates that each drives.
    branch: f64,
}

/// One block, sized.
#[derive(Clone, Copy, Debug)]
struct Block {
    plan: Plan,
    two: Option<Chain>,
    three: Option<Chain>,
    second: Option<Chain>,
    buffer_two: Option<Chain>,
    buffer_three: Option<Chain>,
}

/// The transitions through one block.
#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    two: Drive,
    three: Drive,
    energy_buffers: Energy,
    energy_two: Energy,
    energy_three: Energy,
    energy_second: Energy,
}

impl Decoder {
    /// A decoder among `2^bits` lines. `gated` by a way-select signal, it exists even for few lines and has one input more.
    pub(super) fn new(
        process: &Process,
        bits: u32,
        gated: bool,
        tall: Length,
        load: Capacitance,
        r_wire: Resistance,
    ) -> Self {
        let inputs = match (bits >= 4, gated) {
            (true, true) => Some(3),
            (true, false) | (false, true) => Some(2),
            (false, false) => None,
        };
        let link = Link {
            load,
            wire: r_wire * load / 2.0,
        };
        let chain = inputs.map(|inputs| Chain::new(process, Kind::Nand(inputs), tall, link));
        Self {
            chain,
            load,
            r_wire,
        }
    }

    /// Sends the decoded signal on to the end of its line.
    pub(super) fn drive(&self, process: &Process, ramp: Time) -> Drive {
        match &self.chain {
            Some(chain) => chain.drive(
                process,
                Drive {
                    ramp,
                    ..Drive::default()
                },
            ),
            // The predecoder has driven the line already.
            None => Drive {
                ramp,
                ..Drive::default()
            },
        }
    }

    /// The same for a wordline, which swings to the supply of the cells.
    pub(super) fn wordline(&self, process: &Process, ramp: Time) -> Drive {
        let mut drive = self.drive(process, ramp);
        if self.chain.is_some() {
            drive.energy += process.cells().full_swing(self.load) - process.full_swing(self.load);
        }
        drive
    }

    /// Sub-threshold and gate leakage of one output.
    pub(super) fn leakage(&self, process: &Process) -> (Power, Power) {
        self.chain.map_or((Power::ZERO, Power::ZERO), |chain| {
            let (sub, gate) = chain.leakage(process, Kind::Inverter);
            match process.profile {
                Profile::Silicon => (sub, gate),
                Profile::Cacti65 | Profile::Cacti7 => (sub, chain.last_gate_leakage(process)),
            }
        })
    }

    /// Layout area of one output.
    pub(super) fn area(&self, process: &Process) -> Area {
        self.chain.map_or(Area::ZERO, |chain| chain.area(process))
    }

    /// Time for the line to fall back (CACTI 7, mat.cc).
    pub(super) fn reset(&self, process: &Process) -> Option<Time> {
        let chain = self.chain.as_ref()?;
        let r = crate::gate::r_n(process, chain.last_n(), 1);
        let tau = r * (chain.last_own(process) + self.load) + self.r_wire * self.load / 2.0;
        Some(crate::gate::stage(process, Time::ZERO, tau))
    }
}

impl Predecode {
    /// The predecoder in front of `decoder` for `bits` address bits.
    pub(super) fn new(process: &Process, bits: u32, decoder: &Decoder, lines: Lines) -> Self {
        if bits == 0 {
            return Self::default();
        }
        let tall = process.f(rules::CELL_HEIGHT);
        if bits < 4 {
            let link = Link {
                load: decoder.load,
                wire: decoder.r_wire * decoder.load / 2.0,
            };
            let block = Block::new(process, bits, tall, link);
            return Self::from_blocks(process, (bits, 0), &block, None);
        }
        let (upper, lower) = (bits.div_ceil(2), bits / 2);
        let gate = decoder
            .chain
            .map_or(Capacitance::ZERO, |chain| chain.input(process))
            * lines.decoders;
        let link = |others: u32| {
            let load = gate * f64::from(1_u32 << others) + lines.c;
            Link {
                load,
                wire: lines.r * load / 2.0,
            }
        };
        let first = Block::new(process, upper, tall, link(lower));
        let second = Block::new(process, lower, tall, link(upper));
        Self::from_blocks(process, (upper, lower), &first, Some(&second))
    }

    pub(super) fn stage(&self) -> super::Stage {
        super::Stage {
            delay: self.delay,
            energy: self.energy,
            leakage: self.leakage,
            gate_leakage: self.gate_leakage,
        }
    }

    fn from_blocks(
        process: &Process,
        bits: (u32, u32),
        first: &Block,
        second: Option<&Block>,
    ) -> Self {
        let a = first.pass(process);
        let b = second.map(|block| block.pass(process)).unwrap_or_default();
        let slowest =
            [a.two, a.three, b.two, b.three]
                .into_iter()
                .fold(Drive::default(), |slowest, path| {
                    if path.delay > slowest.delay {
                        path
                    } else {
                        slowest
                    }
                });
        // CACTI 6.5 counts one active first-level gate of each kind whatever their number.
        let active = |first: Option<First>| match process.profile {
            Profile::Cacti65 => first.map_or(0.0, |_| 1.0),
            Profile::Cacti7 | Profile::Silicon => first.map_or(0.0, |first| first.active),
        };
        let blocks = |p: &Passage, counted: &Block| {
            p.energy_two * active(counted.plan.two)
                + p.energy_three * active(counted.plan.three)
                + p.energy_second
        };
        // CACTI 7 counts the active gates of the second block by those of the first (decoder.cc, Predec::compute_delays).
        let counted = second
            .filter(|_| process.profile != Profile::Cacti7)
            .unwrap_or(first);
        let (mut leakage, mut gate_leakage) = first.leakage(process);
        let mut area = first.area(process);
        if let Some(second) = second {
            let (sub, gate) = second.leakage(process);
            leakage += sub;
            gate_leakage += gate;
            area += second.area(process);
        }
        Self {
            delay: slowest.delay,
            ramp: slowest.ramp,
            energy: a.energy_buffers + b.energy_buffers + blocks(&a, first) + blocks(&b, counted),
            leakage,
            gate_leakage,
            area,
            bits,
        }
    }
}

impl Block {
    fn new(process: &Process, bits: u32, tall: Length, link: Link) -> Self {
        let plan = plan(bits);
        // CACTI 6.5 leaves the effort of a predecoder's own gates out of its sizing.
        let whole = process.profile != Profile::Cacti65;
        let second = plan
            .second
            .map(|(inputs, _)| Chain::sized(process, Kind::Nand(inputs), tall, link, whole));
        let chain = |first: Option<First>, kind| {
            first.map(|first| {
                let link = second.map_or(link, |second| Link {
                    load: second.input(process) * first.branch,
                    wire: Time::ZERO,
                });
                Chain::sized(process, kind, tall, link, whole || second.is_some())
            })
        };
        let (two, three) = (
            chain(plan.two, Kind::Nand(2)),
            chain(plan.three, Kind::Nand(3)),
        );
        let buffer = |first: Option<First>, chain: Option<Chain>| {
            let (first, chain) = (first?, chain?);
            let load = chain.input(process) * first.fanout;
            Some(Chain::new(
                process,
                Kind::Inverter,
                tall,
                Link {
                    load,
                    wire: Time::ZERO,
                },
            ))
        };
        Self {
            plan,
            two,
            three,
            second,
            buffer_two: buffer(plan.two, two),
            buffer_three: buffer(plan.three, three),
        }
    }

    fn pass(&self, process: &Process) -> Passage {
        let mut passage = Passage::default();
        let mut path = |buffer: Option<Chain>, chain: Option<Chain>, first: Option<First>| {
            let (Some(buffer), Some(chain), Some(first)) = (buffer, chain, first) else {
                return (Drive::default(), Energy::ZERO);
            };
            let buffered = buffer.drive(process, Drive::default());
            // Half the address bits toggle.
            passage.energy_buffers += buffered.energy * (0.5 * first.buffers);
            let out = chain.drive(
                process,
                Drive {
                    energy: Energy::ZERO,
                    ..buffered
                },
            );
            (out, out.energy)
        };
        let (two, energy_two) = path(self.buffer_two, self.two, self.plan.two);
        let (three, energy_three) = path(self.buffer_three, self.three, self.plan.three);
        passage.energy_two = energy_two;
        passage.energy_three = energy_three;
        (passage.two, passage.three) = (two, three);
        if let (Some(second), Some((inputs, _))) = (self.second, self.plan.second) {
            // Only the path that ends in the same kind of gate sees that gate's delay; both see the inverters (decoder.cc).
            let whole = |drive| second.drive(process, drive);
            let inverters = |drive| second.drive_inverters(process, drive);
            let (two, three) = if inputs == 2 {
                (whole(two), inverters(three))
            } else {
                (inverters(two), whole(three))
            };
            passage.energy_second = second.drive(process, Drive::default()).energy;
            (passage.two, passage.three) = (two, three);
        }
        passage
    }

    /// Gates of each kind that stand in the block, as chains and counts; whether the first gate counts too; what the other gates leak as.
    fn parts(&self, profile: Profile) -> [(Option<Chain>, f64, bool, Kind); 5] {
        let gates = |first: Option<First>| first.map_or(0.0, |first| first.gates);
        let buffers = |first: Option<First>| first.map_or(0.0, |first| first.buffers);
        // Where both kinds occur CACTI forgets the first NAND3 gates (decoder.cc, PredecBlk::compute_area).
        let three_counts = self.plan.two.is_none() || profile == Profile::Silicon;
        [
            (self.two, gates(self.plan.two), true, Kind::Nand(2)),
            (
                self.three,
                gates(self.plan.three),
                three_counts,
                Kind::Nand(3),
            ),
            (
                self.second,
                self.plan.second.map_or(0.0, |(_, count)| count),
                true,
                Kind::Inverter,
            ),
            (
                self.buffer_two,
                buffers(self.plan.two),
                true,
                Kind::Inverter,
            ),
            (
                self.buffer_three,
                buffers(self.plan.three),
                true,
                Kind::Inverter,
            ),
        ]
    }

    fn leakage(&self, process: &Process) -> (Power, Power) {
        let mut total = (Power::ZERO, Power::ZERO);
        for (chain, count, whole, others) in self.parts(process.profile) {
            let Some(chain) = chain else { continue };
            let (sub, gate) = if whole {
                chain.leakage(process, others)
            } else {
                chain.inverter_leakage(process, others)
            };
            total = (total.0 + sub * count, total.1 + gate * count);
        }
        total
    }

    fn area(&self, process: &Process) -> Area {
        let part = |(chain, count, whole, _): (Option<Chain>, f64, bool, Kind)| {
            let area = chain.map_or(Area::ZERO, |chain| {
                if whole {
                    chain.area(process)
                } else {
                    chain.inverter_area(process)
                }
            });
            area * count
        };
        self.parts(process.profile).into_iter().map(part).sum()
    }
}

/// The table of predecode blocks (CACTI 5.1 TR, section 4.2): one to three bits in one level of NAND2 or NAND3, up to nine bits in two levels.
fn plan(bits: u32) -> Plan {
    let first = |gates: f64, active: f64, buffers: f64, fanout: f64, branch: f64| {
        Some(First {
            gates,
            active,
            buffers,
            fanout,
            branch,
        })
    };
    let (two, three, second) = match bits {
        0 | 1 => (first(2.0, 1.0, 1.0, 2.0, 1.0), None, None),
        2 => (first(4.0, 1.0, 2.0, 4.0, 1.0), None, None),
        3 => (None, first(8.0, 1.0, 3.0, 8.0, 1.0), None),
        4 => (first(8.0, 2.0, 4.0, 4.0, 4.0), None, Some((2, 16.0))),
        5 => (
            first(4.0, 1.0, 2.0, 4.0, 8.0),
            first(8.0, 1.0, 3.0, 8.0, 4.0),
            Some((2, 32.0)),
        ),
        6 => (None, first(16.0, 2.0, 6.0, 8.0, 8.0), Some((2, 64.0))),
        7 => (
            first(8.0, 2.0, 4.0, 4.0, 32.0),
            first(8.0, 1.0, 3.0, 8.0, 16.0),
            Some((3, 128.0)),
        ),
        8 => (
            first(4.0, 2.0, 2.0, 4.0, 64.0),
            first(16.0, 2.0, 6.0, 8.0, 32.0),
            Some((3, 256.0)),
        ),
        _ => (None, first(24.0, 3.0, 9.0, 8.0, 64.0), Some((3, 512.0))),
    };
    Plan { two, three, second }
}
