//! Bytes of a file that are not what was written.

/// The unit of the database's file.
pub const PAGE: usize = 4096;

/// A change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Bits of the byte at a place are others.
    Flip {
        /// The place.
        at: usize,
        /// The bits.
        mask: u8,
    },
    /// A page is all zero.
    Zero(usize),
    /// A page and the one after it have changed places.
    Swap(usize),
}

impl Damage {
    /// The page that it is done to, or the first one.
    pub fn page(self) -> usize {
        match self {
            Self::Flip { at, .. } => at / PAGE,
            Self::Zero(page) | Self::Swap(page) => page,
        }
    }

    /// Does it to a file; says whether that is another file now.
    pub fn apply(self, bytes: &mut [u8]) -> bool {
        let page = |page: usize| page * PAGE..(page + 1) * PAGE;
        match self {
            Self::Flip { at, mask } => {
                bytes[at] ^= mask;
                mask != 0
            }
            Self::Zero(number) => {
                let page = &mut bytes[page(number)];
                let differs = page.iter().any(|byte| *byte != 0);
                page.fill(0);
                differs
            }
            Self::Swap(number) => {
                let (one, other) = bytes[number * PAGE..].split_at_mut(PAGE);
                let other = &mut other[..PAGE];
                let differs = one != other;
                one.swap_with_slice(other);
                differs
            }
        }
    }
}

/// Every page of a file damaged in each way: zeroed, in the place of the next, and with a bit flipped at `flips` places spread over it.
pub fn damages(bytes: &[u8], flips: usize) -> Vec<Damage> {
    let pages = bytes.len() / PAGE;
    let mut all = Vec::new();
    for page in 0..pages {
        all.push(Damage::Zero(page));
        if page + 1 < pages {
            all.push(Damage::Swap(page));
        }
        // An odd step, so that pages are hit at other places each.
        let places = (0..flips).map(|flip| (flip * PAGE / flips + page * 37) % PAGE);
        all.extend(places.map(|place| Damage::Flip {
            at: page * PAGE + place,
            mask: 1 << (place % 8),
        }));
    }
    all
}
