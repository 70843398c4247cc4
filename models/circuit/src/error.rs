//! Why a structure cannot be priced.

use warpwatt_techlib::TechError;

/// A structure that the models refuse, with the constraint that binds and the nearest one that would do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CircuitError {
    /// A size is outside what the models accept.
    #[error("{what} is {got}, but {constraint}; nearest that works: {nearest}")]
    Size {
        /// Which size.
        what: &'static str,
        /// What was asked for.
        got: u64,
        /// The rule it breaks.
        constraint: &'static str,
        /// The nearest value that satisfies it.
        nearest: u64,
    },
    /// No port can do what the structure is for.
    #[error(
        "{what} has no port that can {action}; give it at least one read_write or {action} port"
    )]
    NoPort {
        /// Which structure.
        what: &'static str,
        /// `read` or `write`.
        action: &'static str,
    },
    /// A parameter of power gating is outside its range.
    #[error("{what} of the power gating is {got}, but must be above {low} and at most {high}")]
    Gating {
        /// Which parameter.
        what: &'static str,
        /// What was asked for.
        got: f64,
        /// It must be above this.
        low: f64,
        /// It must not be above this.
        high: f64,
    },
    /// A structure without subarrays cannot be gated by subarrays or rows.
    #[error("a {model} has no subarrays or rows to gate; gate the whole of it")]
    Granularity {
        /// Which structure.
        model: String,
    },
    /// Each organisation is further from the best in one figure than the settings allow. Sizes that have no organisation at all are refused before.
    #[error(
        "no organisation keeps within all deviations of the settings at once; larger deviations work"
    )]
    Deviations,
    /// There is no model of this yet.
    #[error("a {what} is not modelled yet")]
    NotModelled {
        /// What was asked for.
        what: &'static str,
    },
    /// Cells and periphery must stand on one chip.
    #[error("cells of {cell} and periphery of {periphery} are not of one node")]
    Mixed {
        /// Node of the cells.
        cell: warpwatt_techlib::quantity::Length,
        /// Node of the periphery.
        periphery: warpwatt_techlib::quantity::Length,
    },
    /// The technology has no value for this.
    #[error(transparent)]
    Technology(#[from] TechError),
}

/// Checks that every model shares.
pub(crate) mod check {
    use super::CircuitError;
    use crate::Ports;

    /// Largest capacity: 64 MiB.
    const MOST_BITS: u64 = 64 * 1024 * 1024 * 8;
    /// Most ports.
    const MOST_PORTS: u64 = 64;
    /// Most entries of a bank of an associative array.
    const MOST_ENTRIES: u64 = 512 << 18;
    /// Most ways.
    const MOST_WAYS: u64 = 64;

    pub(crate) fn count(what: &'static str, got: u64) -> Result<(), CircuitError> {
        if got >= 1 {
            return Ok(());
        }
        Err(CircuitError::Size {
            what,
            got,
            constraint: "it must be at least 1",
            nearest: 1,
        })
    }

    pub(crate) fn at_most(what: &'static str, got: u64, most: u64) -> Result<(), CircuitError> {
        count(what, got)?;
        if got <= most {
            return Ok(());
        }
        Err(CircuitError::Size {
            what,
            got,
            constraint: "that is more than this model covers",
            nearest: most,
        })
    }

    /// A percentage.
    pub(crate) fn share(what: &'static str, got: u64) -> Result<(), CircuitError> {
        if got <= 100 {
            return Ok(());
        }
        Err(CircuitError::Size {
            what,
            got,
            constraint: "it is a percentage",
            nearest: 100,
        })
    }

    pub(crate) fn capacity(words: u64, bits: u64) -> Result<(), CircuitError> {
        let got = words.saturating_mul(bits);
        if got <= MOST_BITS {
            return Ok(());
        }
        Err(CircuitError::Size {
            what: "capacity in bits",
            got,
            constraint: "arrays end at 64 MiB; split it into several",
            nearest: MOST_BITS,
        })
    }

    /// Banks of so many words, of which there are some.
    pub(crate) fn banks(banks: u32, words: u64) -> Result<(), CircuitError> {
        let got = u64::from(banks);
        // Each bank needs a word, too.
        let most = 1 << words.max(1).ilog2();
        if !banks.is_power_of_two() {
            let nearest = got.max(1).next_power_of_two().min(most);
            return Err(CircuitError::Size {
                what: "banks",
                got,
                constraint: "it must be a power of two",
                nearest,
            });
        }
        if got <= words {
            return Ok(());
        }
        Err(CircuitError::Size {
            what: "banks",
            got,
            constraint: "each bank needs a word",
            nearest: most,
        })
    }

    pub(crate) fn ways(ways: u32) -> Result<(), CircuitError> {
        at_most("ways", u64::from(ways), MOST_WAYS)
    }

    pub(crate) fn out_bits(out: u64, line: u64) -> Result<(), CircuitError> {
        if (1..=line).contains(&out) {
            return Ok(());
        }
        Err(CircuitError::Size {
            what: "out_bits",
            got: out,
            constraint: "an access returns from 1 bit to line_bits",
            nearest: out.clamp(1, line.max(1)),
        })
    }

    pub(crate) fn ports(what: &'static str, ports: Ports) -> Result<(), CircuitError> {
        if ports.readers() == 0 {
            return Err(CircuitError::NoPort {
                what,
                action: "read",
            });
        }
        if ports.writers() == 0 {
            return Err(CircuitError::NoPort {
                what,
                action: "write",
            });
        }
        if ports.single_ended_read > ports.read {
            return Err(CircuitError::Size {
                what: "single-ended read ports",
                got: u64::from(ports.single_ended_read),
                constraint: "they are some of the read ports",
                nearest: u64::from(ports.read),
            });
        }
        let total = u64::from(ports.read_write) + u64::from(ports.read) + u64::from(ports.write);
        at_most("ports", total, MOST_PORTS)
    }

    /// Ports of an associative array: the others as in any array, and those that search.
    pub(crate) fn search_ports(what: &'static str, all: Ports) -> Result<(), CircuitError> {
        ports(what, all)?;
        if all.search == 0 {
            return Ok(());
        }
        at_most("search ports", u64::from(all.search), MOST_PORTS)
    }

    /// Entries of one bank of an associative array, which is divided into 512 subarrays at most.
    pub(crate) fn entries(entries: u64) -> Result<(), CircuitError> {
        if entries <= MOST_ENTRIES {
            return Ok(());
        }
        Err(CircuitError::Size {
            what: "entries of a bank",
            got: entries,
            constraint: "512 subarrays of 262144 rows hold no more",
            nearest: MOST_ENTRIES,
        })
    }
}
