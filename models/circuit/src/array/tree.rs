//! H-trees between mats and between banks (CACTI 6.0 TR, section 2.3; CACTI 7, htree2.cc).

use warpwatt_techlib::quantity::{Current, Energy, Length, Power, Time};
use warpwatt_techlib::rules;

use crate::Profile;
use crate::gate::{self, Kind};
use crate::process::Process;
use crate::repeater::Channel;

/// A tree over leaves of equal size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaves {
    pub(super) width: Length,
    pub(super) height: Length,
    /// Leaves side by side and one above the other.
    pub(super) across: u32,
    pub(super) down: u32,
}

/// Bits that run over a tree, by what they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    pub(super) address: f64,
    pub(super) data_in: f64,
    pub(super) data_out: f64,
}

/// What the tree connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Mats of a bank: gates at every node.
    Mats,
    /// Banks: wires alone.
    Banks,
}

/// Which way the signal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the leaves: a NAND at every split.
    In,
    /// From them: a tri-state buffer at every merge.
    Out,
}

/// Size of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box {
    pub(super) width: Length,
    pub(super) height: Length,
}

/// What one direction of a tree costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tree {
    pub(super) delay: Time,
    /// Of one bit on one path.
    pub(super) energy: Energy,
    pub(super) leakage: Power,
    /// Of the wires alone.
    pub(super) gate_leakage: Power,
    /// Delay and energy in the wires, without the gates between them.
    pub(super) wires: (Time, Energy),
}

/// The links of a path from the root to a leaf.
struct Path<'a> {
    process: &'a Process,
    level: Level,
    direction: Direction,
    /// Wires of the link at hand.
    wires: f64,
    /// Reach of the last horizontal and of the last vertical link.
    wide: Length,
    tall: Length,
    /// How much taller the leaves may be, where a bound is wanted.
    taller: f64,
    /// Whether gates are left out.
    bare: bool,
    /// Delay of a gate over its time constant, behind a step.
    threshold: f64,
    /// The last gate, as many are alike: size, size of the next, reach of the wire behind it.
    last: Option<((f64, f64, Length), Gate)>,
    tree: Tree,
}

/// What all gates on a path cost, without the wires between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gates {
    pub(super) delay: Time,
    pub(super) energy: Energy,
}

/// A gate at a node.
#[derive(Clone, Copy, Debug)]
struct Gate {
    delay: Time,
    energy: Energy,
    /// Of one wire; nothing if no wires are counted.
    leakage: Power,
}

impl Leaves {
    /// Size of the area with the wires (CACTI 7, htree2.cc:257-300): the wires of each level take their pitch.
    pub(super) fn around(&self, process: &Process, bits: Bits, level: Level) -> Box {
        let (across, down) = (f64::from(self.across), f64::from(self.down));
        let (h, v) = (f64::from(self.across.ilog2()), f64::from(self.down.ilog2()));
        // Sum of 1, 1/2, 1/4 ... over the levels of a tree over so many leaves.
        let halves = |leaves: f64| 2.0 * (1.0 - 1.0 / leaves);
        let (tall, wide);
        match level {
            Level::Banks => {
                let all = bits.address + bits.data_in + bits.data_out;
                (tall, wide) = (all * halves(across), all * halves(down));
            }
            Level::Mats => {
                let data = bits.data_in + bits.data_out;
                if h >= v {
                    // Behind the links in excess stand so many balanced trees side by side, each with its share of the data. CACTI multiplies where they share
                    // (htree2.cc:282, the sign of an exponent), so that a wide array of two rows of mats is several times as large as one of a single row.
                    let skew = across / down;
                    let each = match process.profile {
                        Profile::Cacti65 | Profile::Cacti7 => skew * v,
                        Profile::Silicon => v / skew,
                    };
                    let skewed = if h > v { halves(skew) + each } else { h };
                    tall = bits.address * ((down - 1.0) + (h - v)) + data * skewed;
                    wide = bits.address * (across - 1.0) + data * v;
                } else {
                    let address = bits.address * ((across - 1.0) + (v - h));
                    tall = address + data * h;
                    wide = address + data * (h + halves(down / across));
                }
            }
        }
        let pitch = process.wire_outside.pitch;
        Box {
            height: self.height * down + pitch * tall,
            width: self.width * across + pitch * wide,
        }
    }
}

impl Tree {
    /// The tree of `wires` wires over `leaves` in an area of `size`: first the horizontal links in excess, then pairs of a horizontal and a vertical
    /// link, then the vertical links in excess.
    pub(super) fn new(
        process: &Process,
        leaves: &Leaves,
        size: Box,
        wires: f64,
        level: Level,
        direction: Direction,
    ) -> Self {
        let path = Path::new(process, level, direction, size);
        Path { wires, ..path }.grown(leaves, size)
    }

    /// Delay and energy of the wires between mats.
    pub(super) fn wires(process: &Process, leaves: &Leaves, size: Box) -> (Time, Energy) {
        match &process.repeaters.chosen {
            // Half of the area, then a quarter, and so on; vertical links begin from a half of it.
            Channel::Repeated(wire) => {
                let reach = |length: Length, leaves: u32| length * (1.0 - 1.0 / f64::from(leaves));
                let across = reach(size.width, leaves.across);
                let down = reach(size.height / 2.0, leaves.down);
                let wires = wire.stretch(across + down);
                (wires.delay, wires.energy)
            }
            // What a wire without repeaters costs is not in proportion to its length.
            Channel::LowSwing(_) => {
                let path = Path::new(process, Level::Mats, Direction::In, size);
                Path { bare: true, ..path }.grown(leaves, size).wires
            }
        }
    }
}

impl<'a> Path<'a> {
    fn new(process: &'a Process, level: Level, direction: Direction, size: Box) -> Self {
        Self {
            process,
            level,
            direction,
            wires: 0.0,
            wide: size.width / 2.0,
            tall: size.height / 2.0,
            taller: 1.0,
            bare: level == Level::Banks,
            threshold: -libm::log(process.tree_threshold()),
            last: None,
            tree: Tree::default(),
        }
    }

    fn grown(mut self, leaves: &Leaves, size: Box) -> Tree {
        let path = &mut self;
        let (mut h, mut v) = (leaves.across.ilog2(), leaves.down.ilog2());
        let (mut next_wide, mut next_tall) = (size.width / 2.0, size.height / 4.0);
        while h > 0 || v > 0 {
            if h > 0 {
                path.wide = next_wide;
                next_wide = next_wide / 2.0;
            }
            let paired = h <= v;
            if paired {
                path.tall = next_tall;
                next_tall = next_tall / 2.0;
            }
            match (h > 0, paired) {
                (true, true) => path.pair(),
                (true, false) => path.horizontal(),
                (false, _) => path.vertical(),
            }
            v -= u32::from(paired);
            h -= u32::from(h > 0);
        }
        path.tree
    }
}

/// How much larger leaves may be than those that a tree is drawn over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Larger {
    pub(super) wider: f64,
    pub(super) taller: f64,
}

impl Tree {
    /// A bound on trees over larger leaves. Wires grow with them; gates need not: folding makes some of the larger ones cheaper, wider leaves drive with
    /// larger gates, and links beyond the spacing of repeaters are sized by another rule, so that gates that may come to follow it are left out.
    pub(super) fn least(
        process: &Process,
        leaves: &Leaves,
        size: Box,
        larger: Larger,
        direction: Direction,
    ) -> Self {
        /// What folding leaves of the delay and the energy of gates, at least.
        const FOLDED: f64 = 0.8;
        let path = Path::new(process, Level::Mats, direction, size);
        let taller = larger.taller;
        let tree = Path { taller, ..path }.grown(leaves, size);
        let (delay, energy) = tree.wires;
        let drive = larger.wider * larger.wider;
        Self {
            delay: delay + (tree.delay - delay) * (FOLDED / drive),
            energy: energy + (tree.energy - energy) * FOLDED,
            ..tree
        }
    }
}

impl Tree {
    pub(super) fn gates(&self) -> Gates {
        Gates {
            delay: self.delay - self.wires.0,
            energy: self.energy - self.wires.1,
        }
    }
}

impl Path<'_> {
    fn horizontal(&mut self) {
        self.wire(self.wide, 1.0);
        self.first_gate(self.wide, self.wide / 2.0);
    }

    fn vertical(&mut self) {
        self.wire(self.tall, 1.0);
        self.branch();
        self.first_gate(self.tall, self.tall / 2.0);
    }

    fn pair(&mut self) {
        self.wire(self.wide, 1.0);
        let next = self.first_gate(self.wide, self.tall);
        // Both vertical branches leak.
        self.wire(self.tall, 2.0);
        self.branch();
        let after = self.wide / 2.0;
        let spacing = self.channel().spacing(after);
        self.gate(next, self.size(self.tall, after), self.tall.min(spacing));
    }

    /// A stretch of wire, of which `leaking` leak.
    fn wire(&mut self, length: Length, leaking: f64) {
        let stretch = self.channel().stretch(self.process, length);
        self.tree.delay += stretch.delay;
        self.tree.energy += stretch.energy;
        self.tree.wires.0 += stretch.delay;
        self.tree.wires.1 += stretch.energy;
        if self.wires == 0.0 {
            return;
        }
        self.tree.leakage += stretch.leakage * (self.wires * leaking);
        self.tree.gate_leakage += stretch.gate_leakage * (self.wires * leaking);
    }

    /// Vertical branches double the wires.
    fn branch(&mut self) {
        if self.level == Level::Mats {
            self.wires *= 2.0;
        }
    }

    /// Size of the repeater on a `wire` at the end of a link: smaller if the link is shorter than the spacing. CACTI scales by the horizontal reach in
    /// all cases.
    fn size(&self, reach: Length, wire: Length) -> f64 {
        let channel = self.channel();
        let spacing = channel.spacing(wire);
        if reach > spacing {
            channel.size()
        } else if self.process.profile == Profile::Silicon {
            reach / spacing * channel.size()
        } else {
            self.wide / spacing * channel.size()
        }
    }

    /// The gate between a wire of length `before` and one of length `after`.
    fn first_gate(&mut self, before: Length, after: Length) -> f64 {
        let next = self.size(self.tall, after);
        let spacing = self.channel().spacing(before);
        self.gate(self.size(self.wide, before), next, self.wide.min(spacing));
        next
    }

    fn channel(&self) -> Channel {
        match self.level {
            Level::Mats => self.process.repeaters.chosen,
            Level::Banks => self.process.repeaters.between_banks,
        }
    }

    fn gate(&mut self, size: f64, next: f64, reach: Length) {
        if self.bare {
            return;
        }
        let spacing = self.channel().spacing(self.tall);
        if self.tall <= spacing && self.tall * self.taller > spacing {
            return;
        }
        let key = (size, next, reach);
        let gate = match self.last {
            Some((last, gate)) if last == key => gate,
            _ => match self.direction {
                Direction::In => self.nand(size, next),
                Direction::Out => self.buffer(size, next, reach),
            },
        };
        self.last = Some((key, gate));
        self.tree.delay += gate.delay;
        self.tree.energy += gate.energy;
        self.tree.leakage += gate.leakage * self.wires;
    }

    fn switch(&self, tau: Time) -> Time {
        let ramp = self.channel().ramp();
        if ramp == Time::ZERO {
            tau * self.threshold
        } else {
            let at = self.process.tree_threshold();
            gate::rising(ramp, tau, at, at)
        }
    }

    fn nand(&self, size: f64, next: f64) -> Gate {
        let p = self.process;
        let (min_n, min_p) = (p.min_nmos(), p.min_pmos());
        let tall = p.f(rules::CELL_HEIGHT);
        let ratio = p.p_to_n;
        let n = (size * (1.0 + ratio) / (2.0 + ratio)).max(1.0);
        let after = gate::gate_c(p, (min_n + min_p) * next) * 2.0;
        let drain = gate::drain_n(p, min_n * n, 1, tall);
        let tau = gate::r_n(p, min_n * n, 2) * (drain * 2.0 + after);
        let delay = self.switch(tau);
        let c = gate::drain_p(p, min_p * (ratio * n), tall) * 2.0 + drain + after;
        let energy = p.full_swing(c) * 0.5;
        if self.wires == 0.0 {
            return Gate {
                delay,
                energy,
                leakage: Power::ZERO,
            };
        }
        Gate {
            delay,
            energy,
            leakage: p.power(leak(p, Kind::Nand(2), 2.0 * n)),
        }
    }

    fn buffer(&self, size: f64, next: f64, reach: Length) -> Gate {
        let p = self.process;
        let (min_n, min_p) = (p.min_nmos(), p.min_pmos());
        let tall = p.f(rules::CELL_HEIGHT);
        let ratio = p.p_to_n;
        let gate_size = (size * (1.0 + ratio) / (3.0 + 3.0 * ratio)).max(1.0);
        let inverter = |times: f64| gate::gate_c(p, (min_n + min_p) * times);
        let effort = (inverter(next) + p.repeaters.bare * reach) / inverter(next);
        let pass = inverter(size) / 2.0 / (gate::gate_c(p, min_p) * effort);
        let drain = |times: f64| {
            (
                gate::drain_n(p, min_n * times, 1, tall),
                gate::drain_p(p, min_p * times, tall),
            )
        };
        let (gate_n, gate_p) = drain(gate_size);
        let (pass_n, pass_p) = drain(pass);
        let r_nor = gate::r_p(p, min_p * gate_size) * 2.0;
        let r_pass = gate::r_n(p, min_n * pass, 1);
        let nand_out = gate_n + gate_p * 2.0 + gate::gate_c(p, min_p * pass);
        let pass_out = (pass_p + pass_n) * 2.0 + inverter(size);
        let tau = r_nor * nand_out + (r_nor + r_pass) * pass_out;
        let delay = self.switch(tau);
        let inverter_out = gate_p + gate_n + inverter(gate_size);
        let nor_out = gate_p + gate_n * 2.0 + inverter(pass);
        let energy = p.full_swing(nand_out + inverter_out + nor_out + pass_out) * 0.5;
        if self.wires == 0.0 {
            return Gate {
                delay,
                energy,
                leakage: Power::ZERO,
            };
        }
        let gates = leak(p, Kind::Inverter, 2.0 * pass)
            + leak(p, Kind::Nand(2), 3.0 * gate_size)
            + leak(p, Kind::Nor(2), 3.0 * gate_size);
        Gate {
            delay,
            energy,
            leakage: p.power(gates),
        }
    }
}

/// Leakage of gates of `width` smallest transistors of each kind. CACTI 6.5 lets all of them leak.
fn leak(p: &Process, kind: Kind, width: f64) -> Current {
    let (n, pm) = (p.min_nmos() * width, p.min_pmos() * width);
    match p.profile {
        Profile::Cacti65 => p.i_off * (n + pm),
        Profile::Cacti7 | Profile::Silicon => gate::leak(p, kind, n, pm),
    }
}
