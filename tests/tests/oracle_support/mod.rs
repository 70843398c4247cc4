//! Rows of the oracle files as specifications, and errors against them.

use std::collections::BTreeMap;

use warpwatt_circuit::{
    Access, CacheSpec, Cost, OperatingPoint, Ports, Profile, RamSpec, Spec, cost,
};
use warpwatt_techlib::quantity::{Length, Temperature};
use warpwatt_techlib::{Flavour, Library};

/// Units of the oracle's columns.
pub const NANO: f64 = 1e9;
pub const MILLI: f64 = 1e3;
pub const SQUARE_MILLI: f64 = 1e6;

/// Every run of a file with our answer to it.
pub fn runs(file: &str, profile: Profile) -> Vec<(Row, Cost)> {
    let library = Library::itrs().unwrap();
    let rows = Row::all(file).into_iter();
    rows.map(|row| {
        let cost = row.cost(&library, profile);
        (row, cost)
    })
    .collect()
}

/// One run of the tool, by column.
pub struct Row(BTreeMap<String, String>);

impl Row {
    pub fn all(file: &str) -> Vec<Self> {
        let path = format!("{}/data/oracle/{file}", env!("CARGO_MANIFEST_DIR"));
        let mut reader = csv::Reader::from_path(path).unwrap();
        reader.deserialize().map(|row| Self(row.unwrap())).collect()
    }

    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    fn count(&self, column: &str) -> u64 {
        self.number(column).unwrap_or(0.0) as u64
    }

    pub fn is_cache(&self) -> bool {
        self.text("mem_type") == "cache"
    }

    pub fn spec(&self) -> Spec {
        let (size, block, ways) = (
            self.count("size_bytes"),
            self.count("block_bytes"),
            self.count("assoc").max(1),
        );
        let ports = Ports {
            read_write: self.count("rw_ports") as u32,
            read: self.count("r_ports") as u32,
            write: self.count("w_ports") as u32,
            ..Ports::NONE
        };
        if !self.is_cache() {
            let banks = self.count("banks").max(1) as u32;
            return Spec::Ram(RamSpec {
                words: size / block,
                bits: block * 8,
                out_bits: None,
                ports,
                banks,
            });
        }
        let given = self.count("tag_bits") as u32;
        Spec::Cache(CacheSpec {
            sets: size / block / ways,
            ways: ways as u32,
            line_bits: block * 8,
            tag_bits: (given > 0).then_some(given),
            out_bits: Some(self.count("out_width_bits")),
            ports,
            access: match self.text("access_mode") {
                "fast" => Access::Fast,
                "sequential" => Access::Sequential,
                _ => Access::Normal,
            },
            banks: 1,
        })
    }

    pub fn cost(&self, library: &Library, profile: Profile) -> Cost {
        let flavour: Flavour = self
            .text("cell_type")
            .trim_start_matches("itrs-")
            .parse()
            .unwrap_or_default();
        let node = Length::from_um(self.number("node_um").unwrap());
        let technology = library.at(node, flavour).unwrap();
        let at = OperatingPoint::at(Temperature::from_k(self.number("temp_k").unwrap()));
        cost(&technology, &at, profile, &self.spec()).unwrap()
    }

    /// Whether the data side (or the memory) is organised as the tool organised it.
    pub fn same_organisation(&self, cost: &Cost) -> bool {
        let ours = cost.organisation.unwrap();
        let n = |column: &str| self.number(column).unwrap();
        f64::from(ours.ndwl) == n("data_ndwl")
            && f64::from(ours.ndbl) == n("data_ndbl")
            && ours.nspd == n("data_nspd")
            && f64::from(ours.ndcm) == n("data_ndcm")
            && f64::from(ours.ndsam1) == n("data_ndsam1")
            && f64::from(ours.ndsam2) == n("data_ndsam2")
    }
}

/// Relative errors of one figure.
#[derive(Default)]
pub struct Errors {
    by_figure: BTreeMap<&'static str, Vec<f64>>,
}

impl Errors {
    pub fn add(&mut self, figure: &'static str, ours: f64, theirs: Option<f64>) {
        if let Some(theirs) = theirs {
            self.by_figure
                .entry(figure)
                .or_default()
                .push((ours / theirs - 1.0).abs());
        }
    }

    /// Median, 95th percentile and largest of the absolute errors.
    pub fn of(&self, figure: &str) -> (f64, f64, f64) {
        let mut errors = self.by_figure[figure].clone();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        (at(0.5), at(0.95), at(1.0))
    }

    /// Prints all and checks each against (figure, bound on the median, bound on the 95th percentile).
    pub fn check(&self, what: &str, bounds: &[(&str, f64, f64)]) {
        for (figure, median, late) in bounds {
            let (m, p, worst) = self.of(figure);
            println!(
                "{what}: {figure}: median {:.3} %, 95 % within {:.2} %, worst {:.1} %",
                m * 100.0,
                p * 100.0,
                worst * 100.0
            );
            assert!(m <= *median, "{what}: median error of {figure} is {m}");
            assert!(p <= *late, "{what}: 95th percentile of {figure} is {p}");
        }
    }
}
