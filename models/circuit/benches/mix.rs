//! Optimised arrays a second on one core over `mix.csv`: inputs of every tenth run of the grids of CACTI 7 and 6.5 that the models were compared with,
//! ordered by kind, wires, objective and size, so that sizes and settings stand in it as often as in the grids. Associative arrays are left out.
// The macros below write functions without documentation.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpwatt_circuit::{
    Access, CacheSpec, Layer, Objective, OperatingPoint, Ports, Profile, Projection, RamSpec,
    Settings, Signalling, Spec, Weights, WireChoice, cost_with,
};
use warpwatt_techlib::quantity::{Length, Temperature};
use warpwatt_techlib::{Flavour, Library, Technology};

struct Row(BTreeMap<String, String>);

impl Row {
    fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(0.0)
    }

    fn count(&self, column: &str) -> u32 {
        self.number(column) as u32
    }

    fn is_cache(&self) -> bool {
        self.text("mem_type") == "cache"
    }

    fn spec(&self) -> Spec {
        let size = u64::from(self.count("size_bytes"));
        let block = u64::from(self.count("block_bytes"));
        let ways = self.count("assoc").max(1);
        let banks = self.count("banks").max(1);
        let out_bits = Some(u64::from(self.count("out_width_bits")));
        let ports = Ports {
            read_write: self.count("rw_ports"),
            read: self.count("r_ports"),
            write: self.count("w_ports"),
            single_ended_read: self.count("se_r_ports"),
            ..Ports::default()
        };
        if !self.is_cache() {
            return Spec::Ram(RamSpec {
                words: size / block,
                bits: block * 8,
                out_bits,
                ports,
                banks,
            });
        }
        let tag_bits = self.count("tag_bits");
        Spec::Cache(CacheSpec {
            sets: size / block / u64::from(ways),
            ways,
            line_bits: block * 8,
            tag_bits: (tag_bits > 0).then_some(tag_bits),
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

    fn settings(&self, profile: Profile) -> Settings {
        let five = |prefix: &str| {
            let of = |figure: &str| self.number(&format!("{prefix}_{figure}"));
            Weights {
                delay: of("delay"),
                dynamic: of("dyn"),
                leakage: of("leak"),
                cycle: of("cycle"),
                area: of("area"),
            }
        };
        let layer = |column| match self.text(column) {
            "global" => Layer::Global,
            _ => Layer::SemiGlobal,
        };
        Settings {
            objective: match self.text("optimize") {
                "ED^2" => Objective::EnergyDelaySquared,
                "ED" => Objective::EnergyDelay,
                _ => Objective::Weighted,
            },
            weights: five("wt"),
            deviations: five("dev"),
            wires: WireChoice {
                inside: layer("wire_inside"),
                outside: layer("wire_outside"),
                projection: match self.text("ic_proj") {
                    "aggressive" => Projection::Aggressive,
                    _ => Projection::Conservative,
                },
                signalling: match self.text("wire_signaling") {
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
            ..profile.settings()
        }
    }

    fn technology(&self, library: &Library, column: &str) -> Option<Technology> {
        let flavour: Flavour = self.text(column).trim_start_matches("itrs-").parse().ok()?;
        library
            .at(Length::from_um(self.number("node_um")), flavour)
            .ok()
    }
}

fn mix(c: &mut Criterion) {
    let library = Library::itrs().expect("the tables are sound");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mix.csv");
    let mut reader = csv::Reader::from_path(path).expect("the mix is there");
    let rows = reader
        .deserialize()
        .map(|row| Row(row.expect("a row of the mix")));
    let rows: Vec<Row> = rows.collect();
    let mut group = c.benchmark_group("mix");
    for profile in [Profile::Cacti65, Profile::Cacti7] {
        let jobs: Vec<_> = rows
            .iter()
            .filter(|row| row.text("profile") == profile.to_string())
            .filter(|row| row.is_cache() || row.text("mem_type") == "ram")
            .filter_map(|row| {
                let cell = row.technology(&library, "cell_type")?;
                let periphery = row.technology(&library, "peri_type")?;
                let at = OperatingPoint::at(Temperature::from_k(row.number("temp_k")));
                Some((cell, periphery, at, row.settings(profile), row.spec()))
            })
            .collect();
        group.sample_size(10);
        group.throughput(Throughput::Elements(jobs.len() as u64));
        group.bench_function(profile.to_string(), |b| {
            b.iter(|| {
                for (cell, periphery, at, settings, spec) in &jobs {
                    let _ = black_box(cost_with(cell, periphery, at, settings, spec));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, mix);
criterion_main!(benches);
