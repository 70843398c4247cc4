//! What is found once for a structure, whatever it runs at: what searches decide, what documents say of it, which gates it is made of.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use warpwatt_techlib::published::{Memory, Row};

use crate::CircuitError;
use crate::array::{Array, CamArray, Limits};
use crate::logic::Switching;
use crate::units::Published;

/// One finding.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Array(Box<Array>, Limits),
    Cam(Box<CamArray>),
    /// Which of several candidates.
    Circuit(usize),
    /// The rows that gates stand in.
    Row(Row),
    /// The gates of a block of logic.
    Gates(Arc<Switching>),
    /// Published figures of functional units.
    Units(Arc<Published>),
    /// Published figures of memory devices.
    Memories(Arc<Vec<Memory>>),
}

/// Findings in the order in which pricing the structure asks for them. Where it is laid out they are made; where it is evaluated again, the list is read from its
/// beginning.
#[derive(Debug)]
pub(crate) enum Choices<'l> {
    Made(RefCell<Vec<Choice>>),
    Again {
        made: &'l [Choice],
        /// The place of the next.
        next: Cell<usize>,
    },
}

impl<'l> Choices<'l> {
    /// Findings are made.
    pub(crate) fn make() -> Self {
        Self::Made(RefCell::default())
    }

    /// Those that were `made` are read.
    pub(crate) fn again(made: &'l [Choice]) -> Self {
        Self::Again {
            made,
            next: Cell::new(0),
        }
    }

    /// What was made.
    pub(crate) fn into_made(self) -> Vec<Choice> {
        match self {
            Self::Made(made) => made.into_inner(),
            Self::Again { made, .. } => made.to_vec(),
        }
    }

    /// The finding that was made at this place before, or else that of `find`.
    fn once<T: Clone>(
        &self,
        (keep, read): (impl FnOnce(T) -> Choice, impl FnOnce(&Choice) -> Option<T>),
        find: impl FnOnce() -> Result<T, CircuitError>,
    ) -> Result<T, CircuitError> {
        match self {
            Self::Made(made) => {
                let found = find()?;
                made.borrow_mut().push(keep(found.clone()));
                Ok(found)
            }
            Self::Again { made, next } => {
                let before = made.get(next.get()).and_then(read);
                next.set(next.get() + 1);
                before.map_or_else(find, Ok)
            }
        }
    }

    /// An organisation of an array.
    pub(crate) fn array(
        &self,
        search: impl FnOnce() -> Option<(Array, Limits)>,
    ) -> Result<(Array, Limits), CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Array(array, limits) => Some((**array, *limits)),
            _ => None,
        };
        self.once(
            (
                |(array, limits)| Choice::Array(Box::new(array), limits),
                read,
            ),
            || search().ok_or(CircuitError::Deviations),
        )
    }

    /// An organisation of an associative array.
    pub(crate) fn cam(
        &self,
        search: impl FnOnce() -> Option<CamArray>,
    ) -> Result<CamArray, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Cam(array) => Some((**array).clone()),
            _ => None,
        };
        self.once((|array| Choice::Cam(Box::new(array)), read), || {
            search().ok_or(CircuitError::Deviations)
        })
    }

    /// One of several circuits.
    pub(crate) fn circuit(
        &self,
        search: impl FnOnce() -> Option<usize>,
    ) -> Result<usize, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Circuit(which) => Some(*which),
            _ => None,
        };
        self.once((Choice::Circuit, read), || {
            search().ok_or(CircuitError::Deviations)
        })
    }

    /// The rows that gates stand in.
    pub(crate) fn row(
        &self,
        read_file: impl FnOnce() -> Result<Row, CircuitError>,
    ) -> Result<Row, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Row(row) => Some(row.clone()),
            _ => None,
        };
        self.once((Choice::Row, read), read_file)
    }

    /// The gates of a block.
    pub(crate) fn gates(
        &self,
        connect: impl FnOnce() -> Switching,
    ) -> Result<Arc<Switching>, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Gates(gates) => Some(Arc::clone(gates)),
            _ => None,
        };
        self.once((Choice::Gates, read), || Ok(Arc::new(connect())))
    }

    /// Published figures of functional units.
    pub(crate) fn units(&self) -> Result<Arc<Published>, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Units(units) => Some(Arc::clone(units)),
            _ => None,
        };
        self.once((Choice::Units, read), || Ok(Arc::new(Published::read()?)))
    }

    /// Published figures of memory devices.
    pub(crate) fn memories(&self) -> Result<Arc<Vec<Memory>>, CircuitError> {
        let read = |choice: &Choice| match choice {
            Choice::Memories(memories) => Some(Arc::clone(memories)),
            _ => None,
        };
        self.once((Choice::Memories, read), || {
            Ok(Arc::new(warpwatt_techlib::published::memories()?))
        })
    }
}
