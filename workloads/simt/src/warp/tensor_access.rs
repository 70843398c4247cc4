//! Copies between registers and tensor memory: each warp of a warpgroup reaches a quarter of the lanes.

use std::ops::Range;

use warpwatt_ptx::program::{Inst, Matrix, TENSOR_LANES, TensorAccess, TensorShape, WARPGROUP};

use super::Warp;
use super::matrix::GROUP;
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::registers::full;
use crate::tensor_memory::{Place, TensorMemory};
use crate::trace::LaneMask;

/// Lanes of a warp.
const OWN: u32 = TENSOR_LANES / WARPGROUP;

impl<const W: usize> Warp<W> {
    /// What `tcgen05...sync.aligned` demands.
    pub(super) fn all_execute(executed: LaneMask) -> Result<(), BadAccess> {
        match executed == full::<W>() {
            true => Ok(()),
            false => Err(BadAccess {
                lane: executed.trailing_zeros(),
                cause: Cause::PartialWarp,
            }),
        }
    }

    /// `tcgen05.ld`.
    pub(super) fn tensor_load(
        &mut self,
        how: &TensorAccess,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        if executed == 0 {
            return Ok(());
        }
        Self::all_execute(executed)?;
        let mut values = vec![[0u32; W]; matrix.dst.len()];
        for group in 0..W / GROUP {
            let first = group * GROUP;
            self.each_place(
                how,
                group,
                inst,
                memories.own_tensor(),
                |thread, register, row| {
                    values[register][first + thread] = match row {
                        [low, high] => *low & 0xffff | *high << 16,
                        [word] => *word,
                        _ => 0,
                    };
                },
            )?;
        }
        for (&slot, values) in matrix.dst.iter().zip(&values) {
            self.registers.set_word(slot, executed, values);
        }
        Ok(())
    }

    /// `tcgen05.st`.
    pub(super) fn tensor_store(
        &mut self,
        how: &TensorAccess,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        if executed == 0 {
            return Ok(());
        }
        Self::all_execute(executed)?;
        for group in 0..W / GROUP {
            let first = group * GROUP;
            self.each_place(
                how,
                group,
                inst,
                memories.own_tensor(),
                |thread, register, row| {
                    let value = self.registers.word(matrix.src[register])[first + thread];
                    match row {
                        [low, high] => (*low, *high) = (value & 0xffff, value >> 16),
                        [word] => *word = value,
                        _ => {}
                    }
                },
            )?;
        }
        Ok(())
    }

    /// Calls `each` with every thread of a group, every register and the columns that it is of: one, or two if registers are packed.
    fn each_place(
        &self,
        how: &TensorAccess,
        group: usize,
        inst: &Inst,
        memory: &mut TensorMemory,
        mut each: impl FnMut(usize, usize, &mut [u32]),
    ) -> Result<(), BadAccess> {
        let fault = |why| BadAccess {
            lane: (group * GROUP) as u32,
            cause: Cause::TensorMemory(why),
        };
        let address = self.registers.word(inst.src[0])[group * GROUP];
        let at = Place::of(address, how.offset);
        let warp = self.place.warp * (W / GROUP) as u32 + group as u32;
        let own = warp % WARPGROUP * OWN..(warp % WARPGROUP + 1) * OWN;
        within(at, how.shape, &own).map_err(fault)?;
        let columns = if how.packed { 2 } else { 1 };
        for thread in 0..GROUP as u32 {
            let further = match how.shape {
                TensorShape::Twice { apart } if thread >= OWN / 2 => u32::from(apart),
                _ => 0,
            };
            for register in 0..u32::from(how.registers) {
                let [lane, column] = how.shape.place(thread, register);
                let place = Place {
                    lane: at.lane + lane,
                    column: at.column + further + column * columns,
                };
                let row = memory.row(place, columns).map_err(fault)?;
                each(thread as usize, register as usize, row);
            }
        }
        Ok(())
    }
}

/// What is wrong with lanes that are not those of the warp.
fn within(at: Place, shape: TensorShape, own: &Range<u32>) -> Result<(), String> {
    let lanes = match shape {
        TensorShape::Lanes32 => OWN,
        _ => OWN / 2,
    };
    if own.start <= at.lane && at.lane + lanes <= own.end {
        return Ok(());
    }
    Err(format!(
        "{lanes} lanes from {} on are not among those of the warp, which are {} to {}",
        at.lane,
        own.start,
        own.end - 1
    ))
}
