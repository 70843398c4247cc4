//! Metrics of a point, by name.

use warpwatt_gpu::SECTOR_BYTES;

use super::side::{COUNTED, Side};
use super::tree::{Formula, Node};
use crate::outcome::Metric;

impl Side<'_> {
    /// The derivation of a metric of the point; `None` if it has none of the name.
    pub fn metric(&self, name: &str, unit: &str) -> Option<Node> {
        if let Some(counter) = name.strip_prefix("activity.") {
            return Some(self.count(counter));
        }
        if let Some(rest) = name.strip_prefix("structures.") {
            let (structure, figure) = rest.rsplit_once('.')?;
            return self.structure_figure(structure, figure);
        }
        if let Some(found) = self.vulnerable(name) {
            return Some(found.called(name));
        }
        let mut reported = self.outcome.metrics.iter();
        if let Some(metric) = reported.find(|metric| metric.name == name) {
            return Some(self.reported(metric, unit));
        }
        let made = self
            .priced(name)
            .or_else(|| self.heated(name))
            .or_else(|| self.performed(name))
            .or_else(|| self.shared(name))?;
        Some(made.called(name))
    }

    /// What a technique reports: the ratio of two counts where it is one, with the counters that have them, else with the counters that are its own.
    fn reported(&self, metric: &Metric, unit: &str) -> Node {
        let name = &metric.name;
        let technique = name.split('.').next().unwrap_or(name);
        let counters = self.outcome.activity.iter();
        let own = counters.filter(|(counter, _)| {
            let rest = counter.strip_prefix(technique);
            rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('_'))
        });
        let source = format!("as `{technique}` reports it: docs/techniques.md");
        if let Some([part, whole]) = metric.ratio.filter(|ratio| ratio[1] > 0) {
            let own: Vec<(&str, u64)> = own.collect();
            let term = |what: &str, count: u64| {
                let same = own.iter().filter(|(_, known)| *known == count && count > 0);
                let same: Vec<&str> = same.map(|(counter, _)| *counter).collect();
                let name = match same.len() {
                    1..=4 => same.join(" = "),
                    _ => what.to_owned(),
                };
                Node::given(&name, count as f64, "1", COUNTED)
            };
            let (part, whole) = (term("counted", part), term("of all", whole));
            return Node::quotient(name, unit, part, whole).from(&source);
        }
        let inputs = own.map(|(counter, _)| self.count(counter)).collect();
        Node::made(name, metric.value, unit, Formula::Reported, inputs).from(&source)
    }

    /// Energies, powers, areas.
    fn priced(&self, name: &str) -> Option<Node> {
        let dynamic = || self.dynamic("dynamic_energy_j", |_| true);
        let power = || Node::quotient("power_w", "W", self.energy(), self.time());
        let edp = || Node::product("edp_js", "J s", vec![self.energy(), self.time()]);
        let technology = &self.outcome.point.technology;
        Some(match name {
            "time_s" => self.time(),
            "cycles" => self.cycles(),
            "clock_hz" => self.clock(),
            "clock_period_s" => Node::quotient(
                name,
                "s",
                Node::given("one", 1.0, "1", "definition"),
                self.clock(),
            ),
            "dynamic_energy_j" => dynamic(),
            "leakage_energy_j" => self.leakage_energy(),
            "energy_j" => self.energy(),
            "area_m2" => self.area(name, |_| true),
            "leakage_w" => self.leakage_power(name, |_| true),
            "power_w" => power(),
            "dynamic_power_w" => Node::quotient(name, "W", dynamic(), self.time()),
            "peak_power_w" => return self.peak_power(),
            "edp_js" => edp(),
            "ed2p_js2" => Node::product(name, "J s2", vec![edp(), self.time()]),
            "energy_per_instruction_j" => {
                Node::quotient(name, "J", self.energy(), self.count("warp_instructions"))
            }
            "power_density_w_per_m2" => {
                Node::quotient(name, "W/m2", power(), self.area("area_m2", |_| true))
            }
            "front_end_energy_j" => self.dynamic(name, Side::is_front_end),
            "front_end_area_m2" => self.area(name, Side::is_front_end),
            "slowest_delay_s" => self.slowest(),
            "vdd_v" => Side::setting(name, technology.vdd_v, "V"),
            "temperature_k" => Side::setting(name, technology.temperature_k, "K"),
            _ => return None,
        })
    }

    /// Instructions, rates, utilisations.
    fn performed(&self, name: &str) -> Option<Node> {
        let n = |counter: &str| self.count(counter);
        let over = |upper: &str, lower: &str| Node::quotient(name, "1", n(upper), n(lower));
        let a_cycle = |counter: &str| Node::quotient(name, "1/cycle", n(counter), self.cycles());
        Some(match name {
            "warp_instructions" | "fetches" => n(name),
            "warp_ipc" => a_cycle("warp_instructions"),
            "thread_ipc" => a_cycle("thread_instructions"),
            "instructions_per_s" => {
                Node::quotient(name, "1/s", n("warp_instructions"), self.time())
            }
            "icache_hit_rate" => {
                let looked = n("icache.tag.read");
                let hits = Node::of(
                    "hits",
                    "1",
                    Formula::Difference,
                    vec![looked.clone(), n("icache_misses")],
                );
                Node::quotient(name, "1", hits, looked)
            }
            "l1_hit_rate" => over("l1_read_hits", "l1_reads"),
            "l2_hit_rate" => over("l2_read_hits", "l2_reads"),
            "dram_row_hit_rate" => {
                let all = Node::sum(
                    "requests",
                    "1",
                    vec![n("dram_row_hits"), n("dram_row_misses")],
                );
                Node::quotient(name, "1", n("dram_row_hits"), all)
            }
            "shared_passes_per_access" => over("shared_passes", "shared_accesses"),
            "operand_bank_conflict_cycles_per_instruction" => {
                over("operand_bank_conflict_cycles", "warp_instructions")
            }
            "lanes_per_instruction" => over("thread_instructions", "warp_instructions"),
            "dram_bytes_per_s" => Node::quotient(name, "B/s", self.dram_bytes(), self.time()),
            "dram_bus_utilisation" => {
                let spec = &self.gpu.spec;
                let clocks = Node::quotient(
                    "DRAM cycles a core cycle",
                    "1",
                    Side::setting("DRAM clock", f64::from(spec.dram.clock_mhz), "MHz"),
                    Side::setting("core clock", f64::from(spec.sm.clock_mhz), "MHz"),
                );
                let channels = Side::setting("channels", f64::from(spec.dram.controllers), "1");
                let all = Node::product(
                    "DRAM cycles",
                    "cycles",
                    vec![self.cycles(), clocks, channels],
                );
                Node::quotient(name, "1", n("dram_busy_cycles"), all)
            }
            _ => return None,
        })
    }

    fn dram_bytes(&self) -> Node {
        let n = |counter: &str| self.count(counter);
        if !self.gpu.spec.has_l2() {
            return Node::sum("bytes", "B", vec![n("load_bytes"), n("store_bytes")]);
        }
        let sectors = Node::sum(
            "sectors",
            "1",
            vec![n("l2_read_misses"), n("l2_write_backs")],
        );
        let bytes = Side::setting("bytes of a sector", f64::from(SECTOR_BYTES), "B");
        Node::product("bytes", "B", vec![sectors, bytes])
    }

    /// Shares of cycles.
    fn shared(&self, name: &str) -> Option<Node> {
        let spec = &self.gpu.spec;
        let sms = || Side::setting("SMs", f64::from(spec.sm.count), "1");
        if name == "achieved_occupancy" {
            let whole = Node::product("cycles of all SMs", "cycles", vec![self.cycles(), sms()]);
            let busy = Node::of(
                "cycles with warps",
                "cycles",
                Formula::Difference,
                vec![whole, self.count("idle_cycles")],
            );
            let slots = Side::setting("warp slots of an SM", f64::from(spec.warps_per_sm()), "1");
            let all = Node::product("warp slots over these cycles", "cycles", vec![busy, slots]);
            return Some(Node::quotient(
                name,
                "1",
                self.count("resident_warp_cycles"),
                all,
            ));
        }
        if let Some(kind) = name.strip_suffix("_utilisation") {
            let (_, units) = spec
                .units_by_kind()
                .into_iter()
                .find(|(known, count)| *known == kind && *count > 0)?;
            let units = Side::setting("units of an SM", f64::from(units), "1");
            let all = Node::product(
                "cycles of all units",
                "cycles",
                vec![self.cycles(), sms(), units],
            );
            return Some(Node::quotient(
                name,
                "1",
                self.count(&format!("{kind}_busy_cycles")),
                all,
            ));
        }
        let what = name.strip_suffix("_share")?;
        let what = what.strip_prefix("stall_").unwrap_or(what);
        let stalls = &self.outcome.performance.stalls;
        let part = stalls.get(what).copied().unwrap_or(0) as f64;
        let spent = stalls
            .iter()
            .map(|(what, count)| Node::given(what, *count as f64, "cycles", COUNTED));
        let whole = Node::sum("cycles of all SMs", "cycles", spent.collect());
        Some(Node::quotient(
            name,
            "1",
            Node::given(what, part, "cycles", COUNTED),
            whole,
        ))
    }
}
