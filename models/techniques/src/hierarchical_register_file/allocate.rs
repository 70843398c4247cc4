//! Which values go where: the compiler's part that depends on the sizes of the small register files.
//!
//! As section 4 of the paper: values in order of the energy that keeping them saves over the instructions for which they take an entry; the last result file
//! first; reads that come too late for an entry left to the main register file (partial ranges); values from before the strand kept from their first read
//! on (read operands). Beside it, entries are filled one after the other, each with whole values before parts of values, so that one entry more
//! takes nothing away from the others: what fits into n entries fits into n + 1.

use std::collections::BTreeMap;

use super::values::Value;

/// Energies of an access to a word in fJ, by which values are ordered: those of this project's circuits at 40 nm, 0.96 V and 350 K for the GPU of H. Jeon's work,
/// 4 KB, 18 words and 6 words a lane. Programs are compiled once, not for each node; only their ratios matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies {
    /// The main register file.
    pub main: Access,
    /// The operand register file.
    pub operand: Access,
    /// The last result file.
    pub last: Access,
}

/// Energies of an access to a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// To read it.
    pub read: f64,
    /// To write it.
    pub write: f64,
}

/// What values are ordered by.
pub const ENERGIES: Energies = Energies {
    main: Access {
        read: 3495.0,
        write: 3910.0,
    },
    operand: Access {
        read: 363.0,
        write: 590.0,
    },
    last: Access {
        read: 205.0,
        write: 303.0,
    },
};

/// Sizes of the small register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Entries a thread of the operand register file.
    pub entries: u32,
    /// Whether there is a last result file, of one entry a thread.
    pub last: bool,
}

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the main register file alone.
    Main,
    /// In the last result file.
    Last,
    /// In an entry of the operand register file, for all of its reads that can be served or for the first so many.
    Operand {
        /// The entry.
        entry: u8,
        /// Reads that it serves.
        reads: usize,
    },
}

/// Instructions for which an entry is taken, by the first of them: the end is the last read.
type Taken = BTreeMap<u32, u32>;

/// A place for each value.
pub fn allocate(values: &[Value], sizes: Sizes) -> Vec<Place> {
    let mut places = vec![Place::Main; values.len()];
    if sizes.last {
        let mut taken = Taken::new();
        for at in order(values, |value| {
            let possible = value.private && !value.writes.is_empty();
            possible.then(|| saved(value, value.served().len(), ENERGIES.last))
        }) {
            if take(&mut taken, &values[at], values[at].served().len()) {
                places[at] = Place::Last;
            }
        }
    }
    let whole = |value: &Value| saved(value, value.served().len(), ENERGIES.operand);
    let order = order(values, |value| Some(whole(value)));
    for entry in 0..sizes.entries {
        fill(values, &order, entry as u8, &mut places);
    }
    places
}

/// Fills an entry: whole values first, then what is left with the first reads of others.
fn fill(values: &[Value], order: &[usize], entry: u8, places: &mut [Place]) {
    let mut taken = Taken::new();
    for &at in order {
        let value = &values[at];
        let reads = value.served().len();
        let is_open = match places[at] {
            Place::Main => true,
            Place::Last => false,
            Place::Operand { reads: some, .. } => some < reads,
        };
        if is_open && take(&mut taken, value, reads) {
            places[at] = Place::Operand { entry, reads };
        }
    }
    for &at in order {
        let value = &values[at];
        if places[at] != Place::Main {
            continue;
        }
        let parts = (1..value.served().len()).rev();
        let mut worth = parts.filter(|&reads| saved(value, reads, ENERGIES.operand) > 0.0);
        if let Some(reads) = worth.find(|&reads| take(&mut taken, value, reads)) {
            places[at] = Place::Operand { entry, reads };
        }
    }
}

/// Values that save something, those first that save most for each instruction that they last.
fn order(values: &[Value], saved: impl Fn(&Value) -> Option<f64>) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        if let Some(saved) = saved(value).filter(|saved| *saved > 0.0) {
            let (first, last) = range(value, value.served().len());
            order.push((saved / f64::from((last - first).max(1)), at));
        }
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, at)| at).collect()
}

/// What keeping a value for its first `reads` reads saves.
fn saved(value: &Value, reads: usize, place: Access) -> f64 {
    let main = ENERGIES.main;
    let puts = value.written_for(reads).count().max(1) as f64;
    let read = reads as f64 * (main.read - place.read);
    let spared = if reads == value.served().len() {
        let spared = value.writes.iter().filter(|(_, outlives)| !outlives);
        spared.count() as f64
    } else {
        0.0
    };
    read + spared * main.write - puts * place.write
}

/// From the instruction that puts a value there to the last of its first `reads` reads: another value may be put there by that one.
fn range(value: &Value, reads: usize) -> (u32, u32) {
    (value.first(), value.served()[reads - 1])
}

/// Takes an entry for a value's first `reads` reads, if it is free.
fn take(taken: &mut Taken, value: &Value, reads: usize) -> bool {
    let (first, last) = range(value, reads);
    // Of those that begin before this one ends only the last can reach into it.
    let before = taken.range(..last.max(first + 1)).next_back();
    let free = before.is_none_or(|(_, &end)| end <= first);
    if free {
        taken.insert(first, last.max(first + 1));
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that one instruction writes and nobody needs behind the strand.
    fn value(write: u32, reads: &[u32]) -> Value {
        Value {
            writes: vec![(write, false)],
            reads: reads.to_vec(),
            word: write as u16,
            private: true,
        }
    }

    fn sizes(entries: u32, last: bool) -> Sizes {
        Sizes { entries, last }
    }

    #[test]
    fn energies_are_those_of_the_circuits() {
        use warpwatt_circuit::{BufferSpec, OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
        use warpwatt_techlib::quantity::{Length, Temperature, Voltage};
        use warpwatt_techlib::{Flavour, Library};
        let node = Length::from_nm(40.0);
        let technology = Library::itrs().unwrap().at(node, Flavour::Hp).unwrap();
        let mut at = OperatingPoint::at(Temperature::from_k(350.0));
        at.vdd = Some(Voltage::from_v(0.96));
        let file = |entries, read| {
            Spec::Buffer(BufferSpec {
                entries,
                bits: 32,
                ports: Ports {
                    read,
                    write: 1,
                    ..Ports::NONE
                },
            })
        };
        let main = Spec::Ram(RamSpec {
            words: 1024,
            bits: 32,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        });
        let all = [
            (ENERGIES.main, main),
            (ENERGIES.operand, file(18, 3)),
            (ENERGIES.last, file(6, 1)),
        ];
        for (access, spec) in all {
            let cost = cost(&technology, &at, Profile::Cacti65, &spec).unwrap();
            let circuits = [1e15 * cost.read_energy.si(), 1e15 * cost.write_energy.si()];
            for (ours, circuit) in [access.read, access.write].into_iter().zip(circuits) {
                assert!(
                    (ours / circuit - 1.0).abs() < 0.02,
                    "{ours} {circuit} {spec:?}"
                );
            }
        }
    }

    fn operand(entry: u8, reads: usize) -> Place {
        Place::Operand { entry, reads }
    }

    #[test]
    fn an_entry_is_free_for_what_its_last_reader_writes() {
        let values = [value(0, &[1]), value(1, &[2]), value(1, &[3])];
        assert_eq!(
            allocate(&values, sizes(1, false)),
            [operand(0, 1), operand(0, 1), Place::Main]
        );
    }

    #[test]
    fn what_saves_most_for_its_time_goes_first() {
        let values = [value(0, &[9]), value(1, &[2, 3]), value(4, &[5])];
        assert_eq!(
            allocate(&values, sizes(1, false)),
            [Place::Main, operand(0, 2), operand(0, 1)]
        );
        assert_eq!(allocate(&values, sizes(2, false))[0], operand(1, 1));
    }

    #[test]
    fn late_reads_are_left_to_the_main_register_file() {
        let values = [value(0, &[1, 20]), value(10, &[11])];
        assert_eq!(
            allocate(&values, sizes(1, false)),
            [operand(0, 1), operand(0, 1)]
        );
        assert_eq!(allocate(&values, sizes(2, false))[0], operand(1, 2));
    }

    /// A side of a branch whose lanes read the register only where it is left to the main register file does not touch an entry that is another value's by then.
    #[test]
    fn what_is_written_behind_the_last_read_from_an_entry_takes_none() {
        let sides = Value {
            writes: vec![(0, false), (5, false)],
            ..value(0, &[1, 9])
        };
        let of = |reads| -> Vec<u32> { sides.written_for(reads).map(|(at, _)| at).collect() };
        assert_eq!((of(1), of(2)), (vec![0], vec![0, 5]));
        let places = allocate(&[sides, value(4, &[6, 7])], sizes(1, false));
        assert_eq!(places, [operand(0, 1), operand(0, 2)]);
    }

    #[test]
    fn the_last_result_file_is_for_what_lanes_compute_themselves() {
        let shared = Value {
            private: false,
            ..value(0, &[1])
        };
        let fetched = Value {
            writes: Vec::new(),
            ..value(2, &[2, 3])
        };
        let values = [shared, fetched, value(4, &[5])];
        assert_eq!(
            allocate(&values, sizes(0, true)),
            [Place::Main, Place::Main, Place::Last]
        );
        assert_eq!(
            allocate(&values, sizes(1, true)),
            [operand(0, 1), operand(0, 1), Place::Last]
        );
    }

    /// It is read once more, which an entry saves, but has to go to the main register file all the same.
    #[test]
    fn a_value_that_outlives_its_strand_is_worth_an_entry_if_it_is_read() {
        let kept = Value {
            writes: vec![(0, true)],
            ..value(0, &[1])
        };
        let reads = ENERGIES.main.read - ENERGIES.operand.read;
        assert_eq!(
            saved(&kept, 1, ENERGIES.operand),
            reads - ENERGIES.operand.write
        );
        assert_eq!(allocate(&[kept], sizes(1, false)), [operand(0, 1)]);
    }
}
