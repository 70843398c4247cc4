//! What a report says about the technology behind its figures.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Defect, How, Technology};

use super::NodeCircuits;
use crate::digest::digest;
use crate::outcome::{Note, NoteKind, Provenance, TechnologyName};

/// A technology with what reports say of it, which takes as long to find as pricing a point: operating points share it, and clones are cheap.
#[derive(Clone, Debug)]
pub struct Described(Arc<Description>);

#[derive(Debug)]
struct Description {
    technology: Arc<Technology>,
    provenance: Provenance,
    library: Arc<str>,
    node: Arc<str>,
    flavour: Arc<str>,
    interpolation: Option<Arc<str>>,
    sources: Arc<Vec<String>>,
    content: OnceLock<[u8; 32]>,
}

impl From<Technology> for Described {
    fn from(technology: Technology) -> Self {
        Self(Arc::new(Description {
            provenance: provenance(&technology),
            library: Arc::from(technology.library.to_string()),
            node: Arc::from(format!("{:.0}nm", technology.feature.as_nm())),
            flavour: Arc::from(technology.flavour.to_string()),
            interpolation: interpolation(&technology).map(Arc::from),
            sources: Arc::new(sources(&technology)),
            technology: Arc::new(technology),
            content: OnceLock::new(),
        }))
    }
}

impl Described {
    /// The technology.
    pub fn technology(&self) -> &Technology {
        &self.0.technology
    }

    /// The technology, to be kept.
    pub fn shared(&self) -> &Arc<Technology> {
        &self.0.technology
    }

    /// SHA-256 of every value of it.
    pub fn content(&self) -> &[u8; 32] {
        let text = || format!("{:?}", self.technology());
        self.0.content.get_or_init(|| digest([text().as_bytes()]))
    }
}

/// The technology, profile and operating point of `circuits`, by name.
pub fn technology_name(circuits: &NodeCircuits) -> TechnologyName {
    let known = &circuits.described().0;
    let point = circuits.operating_point();
    TechnologyName {
        library: Arc::clone(&known.library),
        node: Arc::clone(&known.node),
        flavour: Arc::clone(&known.flavour),
        profile: Arc::from(circuits.profile().to_string()),
        temperature_k: point.temperature.si(),
        vdd_v: point.vdd.unwrap_or(known.technology.device.vdd.value).si(),
        interpolation: known.interpolation.clone(),
        provenance: known.provenance,
        sources: Arc::clone(&known.sources),
    }
}

fn interpolation(technology: &Technology) -> Option<String> {
    technology.interpolation.as_ref().map(|between| {
        format!(
            "{:.1} % of {:.0} nm and the rest of {:.0} nm, {}",
            100.0 * between.share_of_larger,
            between.larger.as_nm(),
            between.smaller.as_nm(),
            between.rule
        )
    })
}

/// What a reader must know about the technology: an interpolated node, faults of the source tables at this temperature, what a user's own node
/// changes.
pub fn technology_notes(circuits: &NodeCircuits) -> Vec<Note> {
    let technology = circuits.technology();
    let interpolated = interpolation(technology).map(|rule| Note {
        kind: NoteKind::Interpolation,
        text: format!("{} has no table of its own: {rule}", technology.label()).into(),
    });
    let temperature = circuits.operating_point().temperature;
    let defects = technology
        .defects
        .iter()
        .filter(|defect| is_touched(defect, technology, temperature))
        .map(|defect| Note {
            kind: NoteKind::TableDefect,
            text: format!("source table, {}: {}", defect.name, defect.note).into(),
        });
    let own = circuits.notes().iter().cloned();
    interpolated.into_iter().chain(defects).chain(own).collect()
}

/// Rows of the leakage tables are 10 K apart, and a value between two rows depends on both.
const ROW_DISTANCE_K: f64 = 10.0;

fn is_touched(defect: &Defect, technology: &Technology, temperature: Temperature) -> bool {
    let of_flavour = defect
        .name
        .split_once('.')
        .is_none_or(|(flavour, _)| flavour == technology.flavour.name());
    let rows: Vec<f64> = defect
        .at
        .iter()
        .filter_map(|at| at.parse::<Temperature>().ok())
        .map(Temperature::si)
        .collect();
    let low = rows.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let at = temperature.si();
    of_flavour && (rows.is_empty() || (low - ROW_DISTANCE_K < at && at < high + ROW_DISTANCE_K))
}

fn provenance(technology: &Technology) -> Provenance {
    let mut counts = Provenance::default();
    for pedigree in technology.pedigrees() {
        let count = match pedigree.how {
            How::Published => &mut counts.published,
            How::Measured => &mut counts.measured,
            How::Scaled { .. } => &mut counts.scaled,
            How::Fitted { .. } => &mut counts.fitted,
            How::Assumed { .. } => &mut counts.assumed,
        };
        *count += 1;
    }
    counts
}

/// The documents behind the values, without line numbers, in alphabetical order.
fn sources(technology: &Technology) -> Vec<String> {
    let mut documents = BTreeSet::new();
    for pedigree in technology.pedigrees() {
        // Places in several files, `32nm.dat:12 and technology.cc:7`; other sources have the word within themselves.
        let mut rest = pedigree.source;
        while let Some((place, others)) = rest.split_once(" and ") {
            let Some(document) = without_line(place) else {
                break;
            };
            documents.insert(document);
            rest = others;
        }
        documents.insert(without_line(rest).unwrap_or(rest));
    }
    documents.into_iter().map(str::to_owned).collect()
}

/// The document of a place in one, if a text is such a place.
fn without_line(place: &str) -> Option<&str> {
    let (document, line) = place.rsplit_once(':')?;
    let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    is_line.then_some(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_circuit::{OperatingPoint, Profile};
    use warpwatt_techlib::{Flavour, Library};

    fn circuits(node: &str, kelvin: f64) -> NodeCircuits {
        let technology = Library::itrs().unwrap().node(node, Flavour::Hp).unwrap();
        let point = OperatingPoint::at(Temperature::from_k(kelvin));
        NodeCircuits::new(technology, point, Profile::Cacti65)
    }

    #[test]
    fn sources_are_whole() {
        let of = |library: Library, node| {
            let technology = library.node(node, Flavour::Hp).unwrap();
            sources(&technology)
        };
        let silicon = of(Library::silicon().unwrap(), "7nm");
        let written: String = silicon.concat();
        assert_eq!(
            written.matches('(').count(),
            written.matches(')').count(),
            "{silicon:?}"
        );
        assert!(silicon.iter().any(|source| source.contains(" and ")));
        for source in of(Library::itrs().unwrap(), "32nm") {
            let line = source.rsplit(':').next().unwrap();
            assert!(line.parse::<u32>().is_err(), "{source}");
        }
        let place = "32nm.dat:12";
        assert_eq!(without_line(place), Some("32nm.dat"));
        assert_eq!(without_line("PTM (Zhao"), None);
    }

    #[test]
    fn a_defect_is_noted_only_where_its_rows_are_used() {
        let kinds = |kelvin| -> Vec<NoteKind> {
            technology_notes(&circuits("32nm", kelvin))
                .iter()
                .map(|note| note.kind)
                .collect()
        };
        assert_eq!(kinds(350.0), []);
        assert_eq!(kinds(385.0), [NoteKind::TableDefect]);
    }

    #[test]
    fn an_interpolated_node_says_so() {
        let name = technology_name(&circuits("28nm", 350.0));
        let rule = name.interpolation.unwrap();
        assert!(
            rule.starts_with("60.0 % of 32 nm and the rest of 22 nm, linear"),
            "{rule}"
        );
        assert!(name.provenance.scaled > name.provenance.published);
        assert_eq!(
            technology_name(&circuits("32nm", 350.0)).interpolation,
            None
        );
    }

    #[test]
    fn sources_are_documents_without_line_numbers() {
        let name = technology_name(&circuits("32nm", 350.0));
        assert!(!name.sources.is_empty());
        assert!(
            name.sources
                .iter()
                .all(|source| !source.ends_with(|c: char| c.is_ascii_digit())
                    || !source.contains(':')),
            "{:?}",
            name.sources
        );
    }
}
