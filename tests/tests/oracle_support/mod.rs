//! Rows of the oracle files as specifications and settings, and errors against them.

use std::collections::BTreeMap;
use std::path::Path;

use warpwatt_circuit::{
    Access, CacheSpec, CircuitError, Cost, Layer, Objective, OperatingPoint, Organisation, Ports,
    Profile, Projection, RamSpec, Settings, Signalling, Spec, Weights, WireChoice, cost_with,
};
use warpwatt_techlib::quantity::{Length, Temperature};
use warpwatt_techlib::{Flavour, Library, Technology};

/// Units of the oracle's columns.
pub const NANO: f64 = 1e9;
pub const MILLI: f64 = 1e3;
pub const SQUARE_MILLI: f64 = 1e6;

/// Every run of a file with our answer to it.
#[allow(
    dead_code,
    reason = "shared by test binaries that each use a part of it"
)]
pub fn runs(file: &str, profile: Profile) -> Vec<(Row, Cost)> {
    let library = Library::itrs().unwrap();
    let path = format!("{}/data/oracle/{file}", env!("CARGO_MANIFEST_DIR"));
    let rows = Row::all(Path::new(&path)).into_iter();
    rows.map(|row| {
        let cost = row.cost(&library, profile).unwrap();
        (row, cost)
    })
    .collect()
}

/// One run of the tool, by column.
pub struct Row(BTreeMap<String, String>);

impl Row {
    pub fn all(path: &Path) -> Vec<Self> {
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
            single_ended_read: self.count("se_r_ports") as u32,
            ..Ports::NONE
        };
        let banks = self.count("banks").max(1) as u32;
        let out_bits = Some(self.count("out_width_bits"));
        if !self.is_cache() {
            return Spec::Ram(RamSpec {
                words: size.div_ceil(block),
                bits: block * 8,
                out_bits,
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
            out_bits,
            ports,
            access: match self.text("access_mode") {
                "fast" => Access::Fast,
                "sequential" => Access::Sequential,
                _ => Access::Normal,
            },
            banks,
        })
    }

    /// The tool's settings; where a file leaves a column out, those of the profile.
    pub fn settings(&self, profile: Profile) -> Settings {
        let default = profile.settings();
        let values = |prefix: &str, or: Weights| {
            let value =
                |name: &str, or: f64| self.number(&format!("{prefix}_{name}")).unwrap_or(or);
            Weights {
                delay: value("delay", or.delay),
                dynamic: value("dyn", or.dynamic),
                leakage: value("leak", or.leakage),
                cycle: value("cycle", or.cycle),
                area: value("area", or.area),
            }
        };
        let layer = |column: &str, or: Layer| match self.text(column) {
            "" => or,
            "global" => Layer::Global,
            _ => Layer::SemiGlobal,
        };
        Settings {
            profile,
            objective: match self.text("optimize") {
                "" => default.objective,
                "ED" => Objective::EnergyDelay,
                "ED^2" => Objective::EnergyDelaySquared,
                _ => Objective::Weighted,
            },
            weights: values("wt", default.weights),
            deviations: values("dev", default.deviations),
            wires: WireChoice {
                inside: layer("wire_inside", default.wires.inside),
                outside: layer("wire_outside", default.wires.outside),
                projection: match self.text("ic_proj") {
                    "aggressive" => Projection::Aggressive,
                    _ => Projection::Conservative,
                },
                signalling: match self.text("wire_signaling") {
                    "" => default.wires.signalling,
                    "Global" => Signalling::Global,
                    "Global_5" => Signalling::Global5,
                    "Global_10" => Signalling::Global10,
                    "Global_20" => Signalling::Global20,
                    "Global_30" => Signalling::Global30,
                    "lowswing" => Signalling::LowSwing,
                    "fullswing" => Signalling::FullSwing,
                    _ => Signalling::Any,
                },
            },
            ecc: self.text("ecc") == "1",
            ..default
        }
    }

    fn technology(&self, library: &Library, column: &str) -> Result<Technology, CircuitError> {
        let flavour: Flavour = self
            .text(column)
            .trim_start_matches("itrs-")
            .parse()
            .unwrap_or_default();
        let node = Length::from_um(self.number("node_um").unwrap());
        Ok(library.at(node, flavour)?)
    }

    pub fn cost(&self, library: &Library, profile: Profile) -> Result<Cost, CircuitError> {
        let cell = self.technology(library, "cell_type")?;
        let periphery = if self.text("peri_type").is_empty() {
            cell.clone()
        } else {
            self.technology(library, "peri_type")?
        };
        let at = OperatingPoint::at(Temperature::from_k(self.number("temp_k").unwrap()));
        cost_with(
            &cell,
            &periphery,
            &at,
            &self.settings(profile),
            &self.spec(),
        )
    }

    /// Whether both sides are organised as the tool organised them, as far as it says.
    pub fn same_organisation(&self, cost: &Cost) -> bool {
        let side = |side: &str, organisation: Option<Organisation>| {
            organisation.is_none_or(|ours| {
                let same = |name: &str, ours: f64| {
                    self.number(&format!("{side}_{name}"))
                        .is_none_or(|theirs| (theirs - ours).abs() <= 1e-5 * theirs)
                };
                same("ndwl", ours.ndwl.into())
                    && same("ndbl", ours.ndbl.into())
                    && same("nspd", ours.nspd)
                    && same("ndcm", ours.ndcm.into())
                    && same("ndsam1", ours.ndsam1.into())
                    && same("ndsam2", ours.ndsam2.into())
            })
        };
        let tag = cost.tag.as_ref().and_then(|tag| tag.organisation);
        side("data", cost.organisation) && side("tag", tag)
    }
}

/// Figures of a whole, as the oracle's columns have them: name, ours, theirs.
#[allow(
    dead_code,
    reason = "shared by test binaries that each use a part of it"
)]
pub fn figures(row: &Row, cost: &Cost) -> Vec<(&'static str, f64, Option<f64>)> {
    let banks = row.number("banks").unwrap_or(1.0);
    // CACTI 6.5's page gives the leakage of one bank with the routing between banks.
    let leakage = row
        .number("leak_total_mw")
        .or_else(|| (banks == 1.0).then(|| row.number("leak_bank_mw"))?);
    vec![
        (
            "access",
            cost.access_time.si() * NANO,
            row.number("access_ns"),
        ),
        ("cycle", cost.cycle_time.si() * NANO, row.number("cycle_ns")),
        ("read", cost.read_energy.si() * NANO, row.number("read_nj")),
        (
            "write",
            cost.write_energy.si() * NANO,
            row.number("write_nj"),
        ),
        ("leakage", cost.leakage.si() * MILLI, leakage),
        (
            "gate leakage",
            cost.gate_leakage.si() * MILLI,
            row.number("gate_leak_total_mw"),
        ),
        (
            "area",
            cost.area.si() * SQUARE_MILLI,
            row.number("area_mm2"),
        ),
    ]
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

    /// All figures of a whole.
    #[allow(
        dead_code,
        reason = "shared by test binaries that each use a part of it"
    )]
    pub fn add_all(&mut self, row: &Row, cost: &Cost) {
        for (figure, ours, theirs) in figures(row, cost) {
            self.add(figure, ours, theirs);
        }
    }

    /// Median, 95th percentile and largest of the absolute errors.
    pub fn of(&self, figure: &str) -> Option<(f64, f64, f64)> {
        let mut errors = self.by_figure.get(figure)?.clone();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        Some((at(0.5), at(0.95), at(1.0)))
    }

    /// Prints all and checks each against (figure, bound on the median, bound on the 95th percentile).
    #[allow(
        dead_code,
        reason = "shared by test binaries that each use a part of it"
    )]
    pub fn check(&self, what: &str, bounds: &[(&str, f64, f64)]) {
        for (figure, median, late) in bounds {
            let (m, p, worst) = self.of(figure).unwrap();
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
