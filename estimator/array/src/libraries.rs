//! Technologies by library, node and flavour, each read once.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use warpwatt_circuit::Profile;
use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Flavour, Library, TechError, Technology};

use super::Refusal;
use crate::diag::did_you_mean;

/// A technology library that ships.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LibraryName {
    /// Published silicon.
    #[default]
    Silicon,
    /// The ITRS projections that CACTI and McPAT use.
    Itrs,
}

impl LibraryName {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Silicon, Self::Itrs];

    /// As written: `silicon`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Silicon => "silicon",
            Self::Itrs => "itrs",
        }
    }

    /// The library itself.
    ///
    /// # Errors
    /// A defect of its data.
    pub fn open(self) -> Result<Library, TechError> {
        match self {
            Self::Silicon => Library::silicon(),
            Self::Itrs => Library::itrs(),
        }
    }

    /// Library and profile from what was said of each: `silicon` goes with its own profile, CACTI's profiles go with CACTI's tables and these with CACTI 7.
    pub fn with_profile(library: Option<Self>, profile: Option<Profile>) -> (Self, Profile) {
        match (library, profile) {
            (Some(library), Some(profile)) => (library, profile),
            (Some(Self::Silicon), None) | (None, None | Some(Profile::Silicon)) => {
                (Self::Silicon, Profile::Silicon)
            }
            (Some(Self::Itrs), None) => (Self::Itrs, Profile::Cacti7),
            (None, Some(profile)) => (Self::Itrs, profile),
        }
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LibraryName {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|library| library.name() == text);
        found.ok_or_else(|| {
            Refusal::new(format!("no technology library is called `{text}`"))
                .help(did_you_mean(text, Self::ALL.map(Self::name)))
        })
    }
}

/// The bits of a node's length stand for it, so that it can be looked up.
type Key = (LibraryName, u64, Flavour);

/// Technologies that have been read. Reading happens beforehand, so that any number of threads may look.
#[derive(Clone, Debug, Default)]
pub struct Libraries {
    known: BTreeMap<Key, Result<Technology, TechError>>,
}

impl Libraries {
    /// Reads a technology, if it has not been.
    pub fn read(&mut self, library: LibraryName, node: Length, flavour: Flavour) {
        self.known
            .entry((library, node.si().to_bits(), flavour))
            .or_insert_with(|| library.open()?.at(node, flavour));
    }

    /// A technology.
    ///
    /// # Errors
    /// The library does not have it.
    pub fn get(
        &self,
        library: LibraryName,
        node: Length,
        flavour: Flavour,
    ) -> Result<&Technology, Refusal> {
        match self.known.get(&(library, node.si().to_bits(), flavour)) {
            Some(Ok(technology)) => Ok(technology),
            Some(Err(error)) => Err(refused(library, error)),
            None => Err(Refusal::new(format!(
                "{library} {node} {flavour} has not been read"
            ))),
        }
    }
}

fn refused(library: LibraryName, error: &TechError) -> Refusal {
    let refusal = Refusal::new(error.to_string());
    match (library, error) {
        (LibraryName::Itrs, TechError::NodeOutOfRange { .. }) => {
            refusal.help("the library silicon reaches from 180 nm to 2 nm: --library silicon")
        }
        _ => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_choose_their_library_and_the_other_way_round() {
        use LibraryName::{Itrs, Silicon};
        let pair = LibraryName::with_profile;
        assert_eq!(pair(None, None), (Silicon, Profile::Silicon));
        assert_eq!(pair(Some(Itrs), None), (Itrs, Profile::Cacti7));
        assert_eq!(pair(None, Some(Profile::Cacti65)), (Itrs, Profile::Cacti65));
        assert_eq!(
            pair(Some(Silicon), Some(Profile::Cacti7)),
            (Silicon, Profile::Cacti7)
        );
        assert_eq!("itrs".parse(), Ok(Itrs));
        assert!(
            "irts"
                .parse::<LibraryName>()
                .unwrap_err()
                .line()
                .contains("did you mean `itrs`")
        );
    }

    #[test]
    fn a_node_that_itrs_does_not_have_is_refused_with_the_library_that_has_it() {
        let mut libraries = Libraries::default();
        let node = Length::from_nm(7.0);
        libraries.read(LibraryName::Itrs, node, Flavour::Hp);
        libraries.read(LibraryName::Silicon, node, Flavour::Hp);
        let refusal = libraries
            .get(LibraryName::Itrs, node, Flavour::Hp)
            .unwrap_err();
        assert!(refusal.line().contains("--library silicon"), "{refusal}");
        assert!(
            libraries
                .get(LibraryName::Silicon, node, Flavour::Hp)
                .is_ok()
        );
    }
}
