//! What a technique says of entries of storage that it adds to an SM.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::Structure;

/// Something happens to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where the entry lies.
    pub structure: Structure,
    /// Its number there, among the entries of all techniques.
    pub entry: u32,
    /// When.
    pub cycle: u64,
    /// What.
    pub what: What,
}

/// What happens to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It gets a new content.
    Written {
        /// Bits of what its readers get.
        bits: u32,
        /// All bits of the entry.
        all: u32,
    },
    /// The instruction that issues uses what is read: all of it is needed since it was written, if the instruction is.
    Read,
    /// It is compared for the instruction that issues, and does not match; with one bit flipped it might, and the instruction would use what is not meant for it.
    /// Which bit is not said: one is needed since the entry was written, if the instruction is.
    Compared,
    /// It says what is given back, and holds nothing any more: all of it has been needed since it was written, whoever used it.
    Freed,
}

/// The notes of an SM: the technique writes them, and the ledger of needed bits takes them when the instruction that they are about has issued. Notes about one
/// entry are in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Journal(Rc<RefCell<Vec<Note>>>);

impl Journal {
    /// Adds a note.
    pub fn note(&self, structure: Structure, entry: u32, cycle: u64, what: What) {
        self.0.borrow_mut().push(Note {
            structure,
            entry,
            cycle,
            what,
        });
    }

    /// Takes what has been noted.
    pub fn take(&self) -> Vec<Note> {
        self.0.take()
    }
}

/// The journals of a run, one an SM.
#[derive(Clone, Debug, Default)]
pub struct Journals(Rc<RefCell<BTreeMap<u32, Journal>>>);

impl Journals {
    /// That of an SM, which is the same whoever asks.
    pub fn of(&self, sm: u32) -> Journal {
        self.0.borrow_mut().entry(sm).or_default().clone()
    }
}
