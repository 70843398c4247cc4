//! A CTA's tensor memory (PTX ISA 8.7, section 9.7.16): lanes of columns of 32 bits, of which a program allocates some.

use std::ops::Range;

use warpwatt_ptx::program::{TENSOR_COLUMNS, TENSOR_LANES};

/// Columns are allocated by so many.
const UNIT: u32 = 32;

/// What is in it; nothing has been allocated at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorMemory {
    /// Lane by lane; empty before the first allocation.
    words: Vec<u32>,
    /// What is allocated.
    allocated: Vec<Range<u32>>,
    relinquished: bool,
}

/// Where something lies: lane and column, as the halves of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub lane: u32,
    pub column: u32,
}

impl Place {
    /// The place of an address and what is added to it.
    pub fn of(address: u32, offset: i32) -> Self {
        let address = address.wrapping_add_signed(offset);
        Self {
            lane: address >> 16,
            column: address & 0xffff,
        }
    }
}

impl TensorMemory {
    /// A CTA begins: what it allocates holds zeros.
    pub fn clear(&mut self) {
        self.words.clear();
        self.allocated.clear();
        self.relinquished = false;
    }

    /// The first of so many columns, if they are free now; why they can never be.
    pub fn allocate(&mut self, columns: u32) -> Result<Option<u32>, String> {
        if !columns.is_power_of_two() || !(UNIT..=TENSOR_COLUMNS).contains(&columns) {
            return Err(format!(
                "{columns} columns cannot be allocated: a power of two from {UNIT} to {TENSOR_COLUMNS} can"
            ));
        }
        if self.relinquished {
            return Err("columns cannot be allocated after `relinquish_alloc_permit`".to_owned());
        }
        let free = |first: &u32| {
            let wanted = *first..*first + columns;
            let apart = |other: &Range<u32>| other.end <= wanted.start || wanted.end <= other.start;
            self.allocated.iter().all(apart)
        };
        let mut firsts = (0..=TENSOR_COLUMNS - columns).step_by(UNIT as usize);
        let Some(first) = firsts.find(free) else {
            return Ok(None);
        };
        self.allocated.push(first..first + columns);
        self.words
            .resize((TENSOR_LANES * TENSOR_COLUMNS) as usize, 0);
        Ok(Some(first))
    }

    /// Frees what was allocated at an address.
    pub fn free(&mut self, address: u32, columns: u32) -> Result<(), String> {
        let found = self
            .allocated
            .iter()
            .position(|it| *it == (address..address.saturating_add(columns)));
        let place = found.ok_or_else(|| {
            format!(
                "{columns} columns at {address:#x} were not allocated together, and cannot be freed"
            )
        })?;
        self.allocated.swap_remove(place);
        Ok(())
    }

    /// Nothing is allocated any more.
    pub fn relinquish(&mut self) {
        self.relinquished = true;
    }

    /// So many columns of a lane.
    pub fn row(&mut self, at: Place, columns: u32) -> Result<&mut [u32], String> {
        let Place { lane, column } = at;
        let end = column.saturating_add(columns);
        let inside = |it: &Range<u32>| it.start <= column && end <= it.end;
        if lane >= TENSOR_LANES || !self.allocated.iter().any(inside) {
            return Err(format!(
                "lane {lane} has no columns {column} to {} that were allocated together",
                end.saturating_sub(1)
            ));
        }
        let start = (lane * TENSOR_COLUMNS) as usize;
        Ok(&mut self.words[start + column as usize..start + end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_taken_where_they_are_free() {
        let mut memory = TensorMemory::default();
        assert_eq!(memory.allocate(256), Ok(Some(0)));
        assert_eq!(memory.allocate(128), Ok(Some(256)));
        assert_eq!(memory.allocate(256), Ok(None));
        assert_eq!(memory.free(0, 256), Ok(()));
        assert_eq!(memory.allocate(32), Ok(Some(0)));
        assert_eq!(memory.allocate(128), Ok(Some(32)));
        assert_eq!(memory.allocate(128), Ok(Some(384)));
        assert!(memory.free(0, 64).is_err() && memory.free(32, 64).is_err());
        for columns in [0, 16, 48, 1024] {
            assert!(memory.allocate(columns).is_err(), "{columns}");
        }
        memory.relinquish();
        assert!(memory.allocate(32).is_err());
    }

    #[test]
    fn only_what_is_allocated_is_reached() {
        let mut memory = TensorMemory::default();
        memory.allocate(64).unwrap();
        let row = |memory: &mut TensorMemory, lane, column, columns| {
            memory
                .row(Place { lane, column }, columns)
                .map(|row| row.len())
        };
        assert_eq!(row(&mut memory, 127, 0, 64), Ok(64));
        assert!(row(&mut memory, 128, 0, 1).is_err());
        assert!(row(&mut memory, 0, 32, 33).is_err());
        assert!(row(&mut memory, 0, u32::from(u16::MAX), 1).is_err());
        // Neighbours that were allocated apart are no one's to reach over.
        memory.allocate(64).unwrap();
        assert!(row(&mut memory, 0, 32, 64).is_err());
    }
}
