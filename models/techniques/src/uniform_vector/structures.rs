//! What the designs add to an SM, and whether it fits the clock.

use warpwatt_circuit::logic::{LogicBlock, LogicSpec};
use warpwatt_circuit::{
    BufferSpec, CamSpec, CircuitError, ComparatorSpec, MuxSpec, Ports, RamSpec, Spec,
};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::Structure as Storage;
use warpwatt_techlib::quantity::Time;

use super::{Design, Mode, UniformVector};
use crate::{Circuits, Fit, Path, Structure};

/// Sources of an instruction.
const SOURCES: u32 = 3;
/// Bits of an opcode, and of the age of an entry (section 4).
const OPCODE_BITS: u64 = 8;

impl UniformVector {
    /// Warp-wide registers of an SM.
    fn registers(gpu: &GpuSpec) -> u32 {
        gpu.sm.registers_bytes / (4 * gpu.sm.warp_width)
    }

    /// Scalar registers; as many as there are vectors if they are not limited.
    fn scalars(&self, gpu: &GpuSpec) -> u32 {
        self.srf_entries.unwrap_or_else(|| Self::registers(gpu))
    }

    pub(super) fn structures_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let mut found = match self.design {
            Design::Token => vec![Structure::added("uniform_vector.tokens", tokens(gpu))],
            Design::Srf => vec![
                Structure::added("uniform_vector.renaming", self.renaming(gpu)),
                Structure::added("uniform_vector.free_list", self.free_list(gpu)),
                Structure::added("uniform_vector.srf", self.srf(gpu)),
            ],
        };
        found.push(Structure::added("uniform_vector.broadcast", broadcast(gpu)));
        if self.mode != Mode::Intra {
            found.push(Structure::added("uniform_vector.irb.tag", self.irb_tag()));
            found.push(Structure::added("uniform_vector.irb.data", self.irb_data()));
        }
        if self.parity {
            let circuits = Structure::added("uniform_vector.parity", VALUE_PARITY);
            found.push(circuits.per_sm(SOURCES + 1));
            found.push(Structure::added(
                "uniform_vector.parity_bits",
                parity_bits(gpu),
            ));
        }
        if self.reliability {
            found.push(Structure::added("uniform_vector.checker", CHECKER));
            if self.mode != Mode::Intra {
                found.push(Structure::added("uniform_vector.irb.parity", self.parity()));
            }
        }
        found
    }

    /// Storage whose needed bits are followed, in an SM. Tokens and the free list are not.
    pub(super) fn storage_of(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        let mut found = Vec::new();
        if self.mode != Mode::Intra {
            let bits = u64::from(self.irb_entries) * self.reuse_entry_bits();
            found.push((Storage::InstructionReuseBuffer, bits));
        }
        if self.design == Design::Srf {
            let scalars = u64::from(self.scalars(gpu));
            let entries = u64::from(Self::registers(gpu));
            found.push((Storage::ScalarRegisterFile, 32 * scalars));
            let bits = u64::from(self.renamed_bits(gpu));
            found.push((Storage::RenamingTable, entries * bits));
        }
        found
    }

    /// Bits of the number of a scalar register.
    pub(super) fn renamed_bits(&self, gpu: &GpuSpec) -> u32 {
        bits(self.scalars(gpu))
    }

    /// Bits of an entry of the reuse buffer with its tag.
    pub(super) fn reuse_entry_bits(&self) -> u64 {
        u64::from(self.irb_tag_bits) + self.entry_bits()
    }

    /// One scalar register a word: three sources and one result at a time.
    fn srf(&self, gpu: &GpuSpec) -> Spec {
        Spec::Ram(RamSpec {
            words: u64::from(self.scalars(gpu)),
            bits: 32,
            out_bits: None,
            ports: Ports {
                read: SOURCES,
                write: 1,
                ..Ports::NONE
            },
            banks: 1,
        })
    }

    /// For each vector register the scalar register that stands for it, or none: the paper's 512 words of 7 bits.
    fn renaming(&self, gpu: &GpuSpec) -> Spec {
        Spec::Ram(RamSpec {
            words: u64::from(Self::registers(gpu)),
            bits: u64::from(self.renamed_bits(gpu)),
            out_bits: None,
            ports: Ports {
                read: SOURCES + 1,
                write: 1,
                ..Ports::NONE
            },
            banks: 1,
        })
    }

    fn free_list(&self, gpu: &GpuSpec) -> Spec {
        Spec::Ram(RamSpec {
            words: u64::from(self.scalars(gpu)),
            bits: u64::from(self.renamed_bits(gpu)),
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        })
    }

    fn irb_tag(&self) -> Spec {
        Spec::Cam(CamSpec {
            entries: u64::from(self.irb_entries),
            bits: u64::from(self.irb_tag_bits),
            ports: Ports {
                search: 1,
                ..Ports::ONE
            },
            banks: 1,
        })
    }

    /// Bits of an entry beside its tag: values, opcode, age, and a parity bit.
    fn entry_bits(&self) -> u64 {
        let values = u64::from(self.irb_value_bits) * u64::from(SOURCES + 1);
        values + OPCODE_BITS + u64::from(bits(self.irb_entries)) + u64::from(self.reliability)
    }

    fn irb_data(&self) -> Spec {
        Spec::Buffer(BufferSpec {
            entries: u64::from(self.irb_entries),
            bits: self.entry_bits(),
            ports: Ports::READ_AND_WRITE,
        })
    }

    fn parity(&self) -> Spec {
        Spec::Logic(LogicSpec {
            block: LogicBlock::Parity {
                bits: self.entry_bits() - 1,
                stages: 1,
            },
            activity: 50,
        })
    }

    /// The token or renaming look-up in decode, the multiplexer before the lanes, and the reuse buffer in register read; each against the clock period. The
    /// SRF design's renaming has a stage of its own, whatever the look-up takes (section 3.1.2).
    pub(super) fn fit_of(
        &self,
        gpu: &mut GpuSpec,
        circuits: &dyn Circuits,
    ) -> Result<Fit, CircuitError> {
        let delay = |spec: &Spec| circuits.cost(spec).map(|cost| cost.access_time);
        let mut paths = vec![Path {
            name: "broadcast into the operands",
            parts: vec![("multiplexer", delay(&broadcast(gpu))?)],
        }];
        match self.design {
            Design::Token => paths.push(Path {
                name: "detection in decode",
                parts: vec![("tokens", delay(&tokens(gpu))?)],
            }),
            Design::Srf => paths.push(Path {
                name: "renaming",
                parts: vec![
                    ("renaming table", delay(&self.renaming(gpu))?),
                    ("free list", delay(&self.free_list(gpu))?),
                ],
            }),
        }
        if self.mode != Mode::Intra {
            let compare = Spec::Comparator(ComparatorSpec {
                bits: u64::from(self.irb_value_bits * SOURCES),
            });
            paths.push(Path {
                name: "reuse buffer in register read",
                parts: vec![
                    ("tags", delay(&self.irb_tag())?),
                    ("entry", delay(&self.irb_data())?),
                    ("comparison", delay(&compare)?),
                ],
            });
        }
        let period = Time::from_ps(1e6 / f64::from(gpu.sm.clock_mhz));
        let notes = paths
            .iter()
            .map(|path| path.against(period, "uniform_vector"));
        let notes = notes.collect();
        Ok(Fit {
            paths,
            notes,
            ..Fit::default()
        })
    }
}

/// A bit a vector register; one look-up reads those of a warp.
fn tokens(gpu: &GpuSpec) -> Spec {
    let warps = u64::from(gpu.warps_per_sm());
    Spec::Ram(RamSpec {
        words: warps,
        bits: u64::from(UniformVector::registers(gpu)).div_ceil(warps),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: 1,
    })
}

/// Chooses between a lane's own operand and the broadcast one.
fn broadcast(gpu: &GpuSpec) -> Spec {
    Spec::Mux(MuxSpec {
        bits: u64::from(32 * gpu.units.sp.lanes),
    })
}

/// A bit for either copy of the value of a vector register, read and written with it.
fn parity_bits(gpu: &GpuSpec) -> Spec {
    Spec::Ram(RamSpec {
        words: u64::from(UniformVector::registers(gpu)),
        bits: 2,
        out_bits: None,
        ports: Ports {
            read: SOURCES,
            write: 1,
            ..Ports::NONE
        },
        banks: 1,
    })
}

/// Made of a result, or checked for a source.
const VALUE_PARITY: Spec = Spec::Logic(LogicSpec {
    block: LogicBlock::Parity {
        bits: 33,
        stages: 1,
    },
    activity: 50,
});

const CHECKER: Spec = Spec::Comparator(ComparatorSpec { bits: 32 });

/// Bits that number so many things.
fn bits(count: u32) -> u32 {
    count.next_power_of_two().trailing_zeros().max(1)
}
