//! What the compiler asked for: registers of resident CTAs from launch to end, and their fixed places where nothing is renamed.

use crate::registers_over_time::RegistersOverTime;

/// The resident CTAs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    /// Registers of a warp's frame, whole units.
    size: u32,
    warps_per_cta: u32,
    taken: Vec<bool>,
    ctas: Vec<Cta>,
    reserved: u64,
    most: u64,
    cycles: u64,
    now: u64,
    /// Who wants to know it over time.
    log: Option<RegistersOverTime>,
}

/// A CTA keeps everything until all of its warps have finished.
#[derive(Clone, Debug, Default)]
struct Cta {
    number: u32,
    placed: u32,
    finished: u32,
    frames: Vec<usize>,
    held: Vec<u16>,
}

impl Frames {
    /// Tells it over time.
    pub fn tell(&mut self, log: RegistersOverTime) {
        self.log = Some(log);
    }

    /// A launch begins whose warps take frames of `size` registers, of which there are `count`.
    pub fn begin(&mut self, size: u32, count: u32, warps_per_cta: u32) {
        self.size = size;
        self.warps_per_cta = warps_per_cta;
        self.taken = vec![false; count as usize];
    }

    /// A warp of a CTA starts with so many registers.
    pub fn reserve(&mut self, cycle: u64, cta: u32, registers: u32) {
        self.advance(cycle);
        self.reserved += u64::from(registers);
        self.most = self.most.max(self.reserved);
        self.cta(cta).placed += 1;
    }

    /// The first register of a free frame.
    pub fn place(&mut self, cta: u32) -> Option<u32> {
        let frame = self.taken.iter().position(|taken| !taken)?;
        self.taken[frame] = true;
        self.cta(cta).frames.push(frame);
        Some(frame as u32 * self.size)
    }

    /// The CTA keeps a physical register.
    pub fn holds(&mut self, cta: u32, register: u16) {
        self.cta(cta).held.push(register);
    }

    /// A warp of a CTA has finished; what the CTA kept, if it was the last one.
    pub fn finish(&mut self, cycle: u64, cta: u32, registers: u32) -> Vec<u16> {
        self.advance(cycle);
        let warps = self.warps_per_cta;
        let slot = self.cta(cta);
        slot.finished += 1;
        if slot.finished < warps {
            return Vec::new();
        }
        let slot = std::mem::take(slot);
        self.ctas.retain(|other| other.placed > 0);
        for frame in slot.frames {
            self.taken[frame] = false;
        }
        self.reserved -= u64::from(registers) * u64::from(slot.placed);
        slot.held
    }

    /// Most registers reserved at once.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Registers reserved, summed over cycles.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    fn cta(&mut self, number: u32) -> &mut Cta {
        let known = self
            .ctas
            .iter()
            .position(|cta| cta.number == number && cta.placed > 0);
        let at = known.unwrap_or_else(|| {
            self.ctas.push(Cta {
                number,
                ..Cta::default()
            });
            self.ctas.len() - 1
        });
        &mut self.ctas[at]
    }

    /// What is reserved is summed up to `cycle`.
    pub fn advance(&mut self, cycle: u64) {
        if let Some(log) = &self.log {
            log.pass(self.now, cycle, |row, cycles| {
                row.reserved += cycles * self.reserved;
            });
        }
        self.cycles += cycle.saturating_sub(self.now) * self.reserved;
        self.now = self.now.max(cycle);
    }
}
