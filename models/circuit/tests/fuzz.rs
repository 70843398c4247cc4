//! Any specification, under any settings, technology and operating point, gives a cost that keeps the laws or an error that says what would work: no panic, no
//! hang, no figure that is not a number, infinite or negative, no sum that its parts do not make.
//!
//! The slow job draws a million (`cargo test --release -p warpwatt-circuit --test fuzz -- --ignored`); `FUZZ_FROM` and `FUZZ_CASES` choose others. A case is a number,
//! so one that fails can be run alone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use warpwatt_circuit::logic::{LogicBlock, LogicSpec};
use warpwatt_circuit::memory::{MemoryKind, MemoryPart, MemorySpec};
use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_circuit::units::{Operation, Precision, UnitSpec};
use warpwatt_circuit::{
    Access, BitCell, BufferSpec, CacheSpec, CamSpec, CircuitError, Circuits, ComparatorSpec, Cost,
    FullyAssociativeSpec, Layer, MacroStyle, MuxSpec, Objective, OperatingPoint, Ports, Profile,
    Projection, RamSpec, SelectSpec, Settings, Signalling, Spec, TagSpec, Weights, cost_with,
};
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library, Technology};

/// A stream of numbers from a case's number (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn unit(&mut self) -> f64 {
        self.roll() as f64 / u64::MAX as f64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Mostly small, evenly spread in the logarithm; now and then at the edges of what a number can be.
    fn size(&mut self, log: f64) -> u64 {
        if self.one_in(40) {
            return self.pick(&[
                0,
                1,
                2,
                3,
                1 << 20,
                1 << 29,
                1 << 40,
                u64::MAX - 1,
                u64::MAX,
            ]);
        }
        // Large arrays take longest; one in twelve numbers may be as large as the full range.
        let log = if self.one_in(12) { log } else { log * 0.5 };
        let size = (self.unit() * log).exp2() as u64;
        if self.one_in(3) {
            size.next_power_of_two()
        } else {
            size.max(1)
        }
    }

    fn count(&mut self, log: f64) -> u32 {
        u32::try_from(self.size(log)).unwrap_or(u32::MAX)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.one_in(3) {
            Some(make(self))
        } else {
            None
        }
    }

    fn ports(&mut self) -> Ports {
        if self.one_in(3) {
            return Ports::ONE;
        }
        let few = |dice: &mut Self| {
            if dice.one_in(60) {
                dice.pick(&[63, 64, 65, u32::MAX])
            } else {
                dice.below(3) as u32
            }
        };
        let read = few(self);
        Ports {
            read_write: few(self),
            read,
            write: few(self),
            single_ended_read: if self.one_in(4) { few(self) } else { 0 },
            search: if self.one_in(2) { few(self) } else { 0 },
        }
    }

    fn banks(&mut self) -> u32 {
        if self.one_in(30) {
            self.pick(&[0, 3, 1 << 20, u32::MAX])
        } else {
            1 << self.below(4)
        }
    }

    fn cache(&mut self) -> CacheSpec {
        CacheSpec {
            sets: self.size(9.0),
            ways: if self.one_in(10) {
                self.count(8.0)
            } else {
                1 << self.below(5)
            },
            line_bits: self.size(9.0),
            tag_bits: self.maybe(|dice| dice.count(6.0)),
            out_bits: self.maybe(|dice| dice.size(8.0)),
            ports: self.ports(),
            access: self.pick(&[Access::Normal, Access::Sequential, Access::Fast]),
            banks: self.banks(),
        }
    }

    fn logic(&mut self) -> LogicSpec {
        let (bits, inputs) = (self.size(7.0), self.size(6.0));
        let block = match self.below(8) {
            0 => LogicBlock::Parity { bits, stages: 1 },
            1 => LogicBlock::Equality { bits },
            2 => LogicBlock::PriorityEncoder { inputs },
            3 => LogicBlock::Multiplexer { inputs, bits },
            4 => LogicBlock::Shifter { bits },
            5 => LogicBlock::Register { bits },
            6 => LogicBlock::FreeList {
                entries: inputs,
                ports: self.size(2.0),
            },
            _ => LogicBlock::Magnitude { bits },
        };
        LogicSpec {
            block,
            activity: self.below(256) as u8,
        }
    }

    fn unit_spec(&mut self) -> UnitSpec {
        UnitSpec {
            operation: self.pick(&[
                Operation::Add,
                Operation::Mul,
                Operation::Mad,
                Operation::Fma,
                Operation::Sfu,
                Operation::Mma,
                Operation::Address,
            ]),
            precision: self.pick(&[
                Precision::Int8,
                Precision::Int16,
                Precision::Int32,
                Precision::Int64,
                Precision::Fp16,
                Precision::Bf16,
                Precision::Fp32,
                Precision::Fp64,
            ]),
            macs: self.count(8.0),
        }
    }

    fn noc(&mut self) -> NocSpec {
        let block = match self.below(4) {
            0 => NocBlock::Crossbar {
                inputs: self.size(6.0),
                outputs: self.size(6.0),
                bits: self.size(9.0),
            },
            1 => NocBlock::Link {
                bits: self.size(9.0),
                micrometres: self.size(15.0),
            },
            2 => NocBlock::Router {
                ports: self.size(3.0),
                bits: self.size(8.0),
                channels: self.size(3.0),
                depth: self.size(4.0),
            },
            _ => NocBlock::Clock {
                sinks: self.size(18.0),
                square_micrometres: self.size(24.0),
            },
        };
        NocSpec {
            block,
            activity: self.below(256) as u8,
        }
    }

    fn memory(&mut self) -> MemorySpec {
        MemorySpec {
            kind: self.pick(MemoryKind::ALL),
            bits: self.size(12.0),
            row_hits: self.below(256) as u8,
            part: self.pick(&[MemoryPart::Access, MemoryPart::Row]),
        }
    }

    fn spec(&mut self) -> Spec {
        match self.below(20) {
            14 => return Spec::Unit(self.unit_spec()),
            15 => return Spec::Datapath(self.unit_spec()),
            16 | 17 => return Spec::Noc(self.noc()),
            18 => return Spec::Memory(self.memory()),
            _ => {}
        }
        match self.below(14) {
            0..=3 => Spec::Ram(RamSpec {
                words: self.size(16.0),
                bits: self.size(11.0),
                out_bits: self.maybe(|dice| dice.size(9.0)),
                ports: self.ports(),
                banks: self.banks(),
            }),
            4 => Spec::Cache(self.cache()),
            5 => Spec::CacheData(self.cache()),
            6 => Spec::Tags(TagSpec {
                sets: self.size(10.0),
                ways: self.count(4.0),
                tag_bits: self.count(6.0),
                ports: self.ports(),
            }),
            7 | 8 => Spec::Cam(CamSpec {
                entries: self.size(12.0),
                bits: self.size(8.0),
                ports: self.ports(),
                banks: self.banks(),
            }),
            9 => Spec::FullyAssociative(FullyAssociativeSpec {
                entries: self.size(11.0),
                line_bits: self.size(10.0),
                tag_bits: self.maybe(|dice| dice.count(6.0)),
                out_bits: self.maybe(|dice| dice.size(9.0)),
                ports: self.ports(),
                banks: self.banks(),
            }),
            10 => Spec::Buffer(BufferSpec {
                entries: self.size(8.0),
                bits: self.size(8.0),
                ports: self.ports(),
            }),
            11 => Spec::Logic(self.logic()),
            12 => Spec::Mux(MuxSpec {
                bits: self.size(12.0),
            }),
            _ if self.one_in(2) => Spec::Select(SelectSpec {
                inputs: self.size(12.0),
            }),
            _ => Spec::Comparator(ComparatorSpec {
                bits: self.size(12.0),
            }),
        }
    }

    fn weights(&mut self) -> Weights {
        let mut one = || match self.below(5) {
            0 => 0.0,
            1 => 100.0,
            2 => 100_000.0,
            _ => self.unit() * 100.0,
        };
        Weights {
            delay: one(),
            dynamic: one(),
            leakage: one(),
            cycle: one(),
            area: one(),
        }
    }

    fn settings(&mut self) -> Settings {
        let profile = self.pick(&[Profile::Cacti65, Profile::Cacti7, Profile::Silicon]);
        let mut settings = profile.settings();
        if self.one_in(2) {
            return settings;
        }
        settings.objective = self.pick(&[
            Objective::EnergyDelay,
            Objective::EnergyDelaySquared,
            Objective::Weighted,
        ]);
        if self.one_in(2) {
            settings.weights = self.weights();
            settings.deviations = self.weights();
        }
        let layers = [Layer::SemiGlobal, Layer::Global];
        settings.wires.inside = self.pick(&layers);
        settings.wires.outside = self.pick(&layers);
        settings.wires.projection = self.pick(&[Projection::Aggressive, Projection::Conservative]);
        settings.wires.signalling = self.pick(&[
            Signalling::Global,
            Signalling::Global5,
            Signalling::Global10,
            Signalling::Global20,
            Signalling::Global30,
            Signalling::LowSwing,
            Signalling::Any,
        ]);
        settings.ecc = self.one_in(3);
        settings.style = self.pick(&[
            MacroStyle::Array,
            MacroStyle::Synchronous,
            MacroStyle::Compiled,
        ]);
        settings.cell = self.pick(&[BitCell::HighDensity, BitCell::HighCurrent]);
        settings.circuits = self.pick(&[Circuits::Any, Circuits::Sram]);
        settings
    }

    fn point(&mut self, nominal: Voltage) -> OperatingPoint {
        let kelvin = match self.below(20) {
            0 => self.pick(&[0.0, 1.0, 299.9, 400.1, 1e9]),
            _ => 300.0 + 100.0 * self.unit(),
        };
        OperatingPoint {
            temperature: Temperature::from_k(kelvin),
            vdd: self.maybe(|dice| nominal * (0.3 + 1.2 * dice.unit())),
        }
    }
}

/// Every node and flavour of both libraries, and some nodes in between.
fn technologies() -> Vec<Technology> {
    let mut all = Vec::new();
    for library in [Library::itrs().unwrap(), Library::silicon().unwrap()] {
        let mut nodes: Vec<Length> = library.nodes().collect();
        nodes.extend([80.0, 50.0, 40.0, 28.0, 25.0].map(Length::from_nm));
        for node in nodes {
            for flavour in Flavour::ALL {
                all.extend(library.at(node, flavour));
            }
        }
    }
    assert!(all.len() > 20);
    all
}

fn positive(what: &str, value: f64) {
    assert!(value.is_finite() && value > 0.0, "{what} is {value}");
}

fn no_less_than_nothing(what: &str, value: f64) {
    assert!(value.is_finite() && value >= 0.0, "{what} is {value}");
}

fn sums(what: &str, parts: impl Iterator<Item = f64>, total: f64) {
    let parts: f64 = parts.sum();
    assert!(
        (parts - total).abs() <= 1e-9 * total.abs(),
        "{what}: parts {parts}, total {total}"
    );
}

fn keeps_the_laws(spec: &Spec, cost: &Cost) {
    // Published operations and devices have no area or time where none is published; what never changes takes no energy.
    let known = match spec {
        Spec::Unit(_) | Spec::Datapath(_) | Spec::Memory(_) | Spec::Noc(_) | Spec::Logic(_) => {
            no_less_than_nothing
        }
        _ => positive,
    };
    known("area", cost.area.si());
    known("height", cost.height.si());
    known("width", cost.width.si());
    known("access time", cost.access_time.si());
    known("cycle time", cost.cycle_time.si());
    known("leakage", cost.leakage.si());
    known("read energy", cost.read_energy.si());
    no_less_than_nothing("write energy", cost.write_energy.si());
    no_less_than_nothing("gate leakage", cost.gate_leakage.si());
    let parts = &cost.breakdown;
    sums(
        "read energy",
        parts.iter().map(|part| part.read_energy.si()),
        cost.read_energy.si(),
    );
    sums(
        "leakage",
        parts.iter().map(|part| part.leakage.si()),
        cost.leakage.si(),
    );
    sums(
        "area",
        parts.iter().map(|part| part.area.si()),
        cost.area.si(),
    );
    if let Some(search) = cost.search_energy {
        positive("search energy", search.si());
        let shares = parts.iter().filter_map(|part| part.search_energy);
        sums("search energy", shares.map(|share| share.si()), search.si());
    }
    let box_area = (cost.width * cost.height).si();
    assert!(
        box_area >= cost.area.si() * (1.0 - 1e-9),
        "box {box_area} of {}",
        cost.area
    );
    if let Some(organisation) = &cost.organisation {
        assert!(organisation.rows > 0 && organisation.cols > 0);
    }
    let sure = &cost.uncertainty;
    for share in [sure.area, sure.delay, sure.energy, sure.leakage] {
        no_less_than_nothing("uncertainty", share);
    }
}

/// A refused size with the value that the error names in its place.
fn instead(spec: &Spec, what: &str, value: u64) -> Option<Spec> {
    let mut json = serde_json::to_value(spec).ok()?;
    let fields = json.as_object_mut()?.values_mut().next()?.as_object_mut()?;
    let field = fields.get_mut(what)?;
    *field = value.into();
    serde_json::from_value(json).ok()
}

/// The error names the constraint; with the nearest value that it names, that constraint holds.
fn says_what_would_do(
    error: &CircuitError,
    spec: &Spec,
    again: impl Fn(&Spec) -> Result<Cost, CircuitError>,
) {
    assert!(!error.to_string().is_empty());
    let CircuitError::Size {
        what, nearest, got, ..
    } = error
    else {
        return;
    };
    assert_ne!(nearest, got, "{error}: {spec:?}");
    let Some(other) = instead(spec, what, *nearest) else {
        return;
    };
    if let Err(CircuitError::Size { what: still, .. }) = again(&other) {
        assert_ne!(still, *what, "{error}; with it: {:?}", again(&other));
    }
}

fn case(number: u64, technologies: &[Technology]) -> Result<(), String> {
    let mut dice = Dice(number);
    let periphery = &technologies[dice.below(technologies.len() as u64) as usize];
    let cell = if dice.one_in(8) {
        &technologies[dice.below(technologies.len() as u64) as usize]
    } else {
        periphery
    };
    let (spec, settings) = (dice.spec(), dice.settings());
    let point = dice.point(periphery.device.vdd.value);
    let price = |spec: &Spec| cost_with(cell, periphery, &point, &settings, spec);
    let outcome = catch_unwind(AssertUnwindSafe(|| match price(&spec) {
        Ok(cost) => keeps_the_laws(&spec, &cost),
        Err(error) => says_what_would_do(&error, &spec, price),
    }));
    outcome.map_err(|_| {
        let label = periphery.label();
        format!("case {number}: {spec:?} at {point:?} in {label} under {settings:?}")
    })
}

fn run(from: u64, cases: u64) {
    let technologies = technologies();
    let failed: Vec<String> = (from..from + cases)
        .filter_map(|number| case(number, &technologies).err())
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn any_specification_is_priced_or_refused() {
    run(0, 3000);
}

#[test]
#[ignore = "the slow job"]
fn a_million_specifications_are_priced_or_refused() {
    let asked = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    run(asked("FUZZ_FROM", 0), asked("FUZZ_CASES", 1_000_000));
}
