//! Tables of measurements and of counts, read into rates of events.

mod table;
mod units;

pub use table::{MOST_BYTES, Table};

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_gpu::GpuSpec;

use crate::channel::{CHANNELS, Channel};
use crate::facts::Facts;
use crate::map::{Basis, Map, Operands, Term};

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// Peaks that a share may be above, since counters are not read in one run.
const MOST: f64 = 1.25;
/// Times a documented peak that events a second may be: some units start several instructions a cycle. What is above has another unit or another time.
const MOST_OF_A_RATE: f64 = 8.0;

/// What a board did, and what it drew.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name. Rows of one name are the same work at several clocks.
    pub name: String,
    /// The line of the table.
    pub line: u64,
    /// Measured watts, if they are given.
    pub power_w: Option<f64>,
    /// Core clock over the board's.
    pub core: f64,
    /// Memory clock over the board's.
    pub memory: f64,
    /// Events a second: at the board's default clocks where `by_share`, at the row's own else.
    pub rates: [f64; CHANNELS],
    /// Share of SMs with work.
    pub active: f64,
    /// How much of its operands changes.
    pub operands: Change,
    /// Shares of documented peaks, if the rates came as such: the largest of those of the core clock, and that of DRAM.
    pub shares: Option<(f64, f64)>,
    /// Supply over that at the default clock, where it is not what the board's law says.
    pub supply: Option<f64>,
    /// Temperature of the GPU in kelvin, if it is known.
    pub temperature_k: Option<f64>,
    /// Kinds of events of which the table says nothing in this row.
    pub unknown: Vec<Channel>,
}

/// How much of a row's operands changes as random ones do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// So large a share.
    Share(f64),
    /// What is left after loops computed on what they loaded: so many words for each operation.
    Words(f64),
}

/// A row that is not used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: u64,
    /// Why, in a sentence.
    pub why: String,
}

/// Rows of a table, in its order.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Those that can be used.
    pub used: Vec<Row>,
    /// Those that cannot.
    pub refused: Vec<Refused>,
    /// Columns that are neither in the map nor named as ignored.
    pub unread: Vec<String>,
    /// What the table does not say, and what is taken instead: sentences.
    pub assumed: Vec<String>,
    /// Columns of which one holds watts.
    pub watts: Vec<String>,
}

/// The names of `rows` in alphabetical order, each once.
pub fn names(rows: &[Row]) -> Vec<&str> {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.into_iter().collect()
}

impl Rows {
    /// The rows of `table` on a board, by `map`; `operands` where the caller knows better than the map.
    pub fn of(table: &Table, map: &Map, board: (&Facts, &GpuSpec), operands: Operands) -> Self {
        let (units, first_is_of_units) = units::of(table, &map.columns.name);
        let reader = Reader {
            table,
            map,
            facts: board.0,
            gpu: board.1,
            operands,
            units,
        };
        let mut rows = Self {
            unread: reader.unread(),
            assumed: reader.assumed(),
            watts: map.columns.power_w.clone(),
            ..Self::default()
        };
        for number in usize::from(first_is_of_units)..table.rows.len() {
            match reader.row(number) {
                Ok(row) => rows.used.push(row),
                Err(refused) => rows.refused.push(refused),
            }
        }
        rows
    }
}

struct Reader<'a> {
    table: &'a Table,
    map: &'a Map,
    facts: &'a Facts,
    gpu: &'a GpuSpec,
    operands: Operands,
    /// What numbers of columns are multiplied by.
    units: BTreeMap<String, f64>,
}

impl Reader<'_> {
    fn has(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.table.header.contains(name))
    }

    /// The number of a row in the first of these columns that has one, in the units of the map.
    fn number(&self, row: usize, names: &[String]) -> Result<Option<f64>, String> {
        for name in names {
            if let Some(number) = self.table.number(row, std::slice::from_ref(name))? {
                return Ok(Some(number * self.units.get(name).unwrap_or(&1.0)));
            }
        }
        Ok(None)
    }

    /// What the table has no column for, where that matters.
    fn assumed(&self) -> Vec<String> {
        let columns = &self.map.columns;
        let or = |names: &[String]| format!("`{}`", names.join("` or `"));
        let mut found = Vec::new();
        if !self.has(&columns.name) {
            found.push(format!(
                "no column {}: each line is a case of its own",
                or(&columns.name)
            ));
        }
        if !self.has(&columns.core_mhz) && self.repeats() {
            found.push(format!(
                "no column {}: all rows are taken to be at {} MHz, though names come again",
                or(&columns.core_mhz),
                self.facts.core_mhz
            ));
        }
        if self.map.basis == Basis::Utilisation {
            return found;
        }
        let cycles = self.has(&columns.active_cycles) && self.has(&columns.elapsed_cycles);
        if !(self.has(&columns.idle_sms) || self.has(&columns.active_share) || cycles) {
            found
                .push("no column says how many SMs have work: all of them are taken to".to_owned());
        }
        if self.map.basis == Basis::Counts && !self.has(&columns.launches) {
            found.push(format!(
                "no column {}: counts are taken to be of all that ran in the row's seconds",
                or(&columns.launches)
            ));
        }
        found
    }

    /// Whether a name stands in several rows.
    fn repeats(&self) -> bool {
        let names = (0..self.table.rows.len()).filter_map(|row| self.name(row));
        let mut names: Vec<&str> = names.collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() < all
    }

    fn name(&self, row: usize) -> Option<&str> {
        self.table.text(row, &self.map.columns.name)
    }

    /// Whether the table counts events, but none of this row, though something ran.
    fn is_uncounted(&self, row: usize) -> Result<bool, String> {
        let terms = self.map.term.iter().filter(|term| self.has(&term.columns));
        let cells: Vec<Option<f64>> = terms
            .map(|term| self.number(row, &term.columns))
            .collect::<Result<_, String>>()?;
        let ran = self.number(row, &self.map.columns.launches)? != Some(0.0);
        let idle = self
            .name(row)
            .unwrap_or_default()
            .to_lowercase()
            .contains("idle");
        Ok(!cells.is_empty() && cells.iter().all(Option::is_none) && ran && !idle)
    }

    fn unread(&self) -> Vec<String> {
        let known: Vec<&str> = self.map.known().collect();
        let header = self.table.header.iter();
        header
            .filter(|name| !known.contains(&name.as_str()))
            .cloned()
            .collect()
    }

    fn row(&self, number: usize) -> Result<Row, Refused> {
        let columns = &self.map.columns;
        let line = self.table.lines[number];
        let name = match self.has(&columns.name) {
            true => self.name(number).unwrap_or_default().to_owned(),
            false => format!("line {line}"),
        };
        let refused = |why: String| Refused {
            name: name.clone(),
            line,
            why,
        };
        let number_of = |names: &[String]| self.number(number, names).map_err(&refused);
        let core = number_of(&columns.core_mhz)?.unwrap_or(self.facts.core_mhz);
        let memory = number_of(&columns.memory_mhz)?.unwrap_or(self.facts.memory_mhz);
        let power_w = number_of(&columns.power_w)?;
        if self.is_uncounted(number).map_err(&refused)? {
            return Err(refused("it has no counts".to_owned()));
        }
        let (rates, unknown) = self.rates(number).map_err(&refused)?;
        if self.map.basis != Basis::Utilisation {
            self.possible(&rates, core / self.facts.core_mhz)
                .map_err(&refused)?;
        }
        let idle = rates.iter().all(|rate| *rate == 0.0);
        let row = Row {
            name: name.clone(),
            line,
            power_w,
            core: core / self.facts.core_mhz,
            memory: memory / self.facts.memory_mhz,
            active: match self.active(number).map_err(&refused)? {
                Some(share) => share,
                None if idle => 0.0,
                None => 1.0,
            },
            operands: self.change(number, &rates).map_err(&refused)?,
            rates,
            supply: None,
            shares: self.shares(number).map_err(&refused)?,
            temperature_k: number_of(&columns.temperature_c)?.map(|celsius| celsius + 273.15),
            unknown,
        };
        let limited = self
            .table
            .text(number, &columns.limited)
            .unwrap_or_default();
        match fault(&row, limited) {
            None => Ok(row),
            Some(why) => Err(refused(why)),
        }
    }

    /// Share of SMs with work, if the row says it.
    fn active(&self, number: usize) -> Result<Option<f64>, String> {
        let columns = &self.map.columns;
        let cell = |names: &[String]| self.number(number, names);
        let sms = f64::from(self.gpu.sm.count);
        let share = if let Some(idle) = cell(&columns.idle_sms)? {
            1.0 - idle / sms
        } else if let Some(share) = cell(&columns.active_share)? {
            share
        } else if let (Some(active), Some(elapsed)) = (
            cell(&columns.active_cycles)?,
            cell(&columns.elapsed_cycles)?,
        ) {
            active / elapsed
        } else {
            return Ok(None);
        };
        if (-0.05..=1.05).contains(&share) {
            Ok(Some(share.clamp(0.0, 1.0)))
        } else {
            Err(format!("{:.0} % of the SMs would have work", 100.0 * share))
        }
    }

    /// Events a second, and kinds that the table has columns for but no number here.
    fn rates(&self, number: usize) -> Result<([f64; CHANNELS], Vec<Channel>), String> {
        let mut rates = [0.0; CHANNELS];
        let mut unknown = Vec::new();
        let scale = self.scale(number)?;
        for term in &self.map.term {
            let Some(channel) = Channel::named(&term.channel) else {
                continue;
            };
            match self.value(number, term)? {
                Some(value) if self.map.basis == Basis::Utilisation => {
                    rates[channel as usize] += value * scale * self.peak(channel);
                }
                Some(value) => rates[channel as usize] += value * scale,
                None if self.map.basis == Basis::Utilisation || unknown.contains(&channel) => {}
                None => unknown.push(channel),
            }
        }
        if self.map.basis == Basis::Utilisation {
            self.issued(&mut rates);
        }
        Ok((rates, unknown))
    }

    fn shares(&self, number: usize) -> Result<Option<(f64, f64)>, String> {
        if self.map.basis != Basis::Utilisation {
            return Ok(None);
        }
        let mut shares = (0.0_f64, 0.0);
        for term in &self.map.term {
            let share = self.value(number, term)?.unwrap_or(0.0);
            if Channel::named(&term.channel) == Some(Channel::Dram) {
                shares.1 = share;
            } else {
                shares.0 = shares.0.max(share);
            }
        }
        Ok(Some(shares))
    }

    /// Whether a chip at so many times its clock can do as much.
    fn possible(&self, rates: &[f64; CHANNELS], core: f64) -> Result<(), String> {
        for channel in Channel::ALL {
            let clock = if channel == Channel::Dram { 1.0 } else { core };
            let times = rates[channel as usize] / (self.peak(channel) * clock);
            if times.is_finite() && times > MOST_OF_A_RATE {
                let key = channel.key();
                return Err(format!(
                    "its events of the kind `{key}` are {times:.0} times what the chip can do in a second: look at units and times"
                ));
            }
        }
        Ok(())
    }

    fn value(&self, number: usize, term: &Term) -> Result<Option<f64>, String> {
        let Some(value) = self.number(number, &term.columns)? else {
            return Ok(None);
        };
        let less = match &term.less {
            Some(less) => self.number(number, &less.columns)?.unwrap_or(0.0) * less.times,
            None => 0.0,
        };
        if value < 0.0 {
            return Err(format!(
                "`{}` is {value}; events are not negative",
                term.columns[0]
            ));
        }
        if self.map.basis == Basis::Utilisation && value > MOST {
            return Err(format!(
                "`{}` is {value}; a share of a peak is at most 1",
                term.columns[0]
            ));
        }
        Ok(Some((value - less).max(0.0) * term.times))
    }

    /// What a number is multiplied by.
    fn scale(&self, number: usize) -> Result<f64, String> {
        if self.map.basis != Basis::Counts {
            return Ok(self.map.per_second);
        }
        let columns = &self.map.columns;
        let seconds = self.number(number, &columns.seconds)?;
        let launches = self.number(number, &columns.launches)?;
        match seconds {
            Some(seconds) if seconds > 0.0 => Ok(launches.unwrap_or(1.0) / seconds),
            _ => Err(format!(
                "no time: counts need a column `{}`",
                columns.seconds.join("` or `")
            )),
        }
    }

    /// Documented peak of a kind at the default clocks, in events a second; none of a unit that the chip lacks.
    fn peak(&self, channel: Channel) -> f64 {
        let chip = &self.gpu.chip;
        let cycles = 1e6 * self.facts.core_mhz;
        let lanes = |lanes: u32| f64::from(lanes * self.gpu.sm.count) * cycles;
        match channel {
            Channel::Fp32 => lanes(chip.fp32_lanes),
            // Without lanes of their own, whole numbers go through those of single precision.
            Channel::Int | Channel::IntMul if chip.int_lanes == 0 => lanes(chip.fp32_lanes),
            Channel::Int | Channel::IntMul => lanes(chip.int_lanes),
            Channel::Fp64 => lanes(chip.fp64_lanes),
            Channel::Sfu => lanes(chip.sfu_lanes),
            Channel::Tensor => lanes(chip.tensor_macs),
            Channel::L1 | Channel::Texture => lanes(4),
            Channel::Issue | Channel::Shared | Channel::Constant => lanes(1),
            Channel::L2 => self.facts.l2_bytes_per_cycle * cycles / SECTOR,
            Channel::Dram => self.facts.dram_bytes_per_s / SECTOR,
        }
    }

    /// Shares of peaks do not tell how many instructions issue: a warp's for each operation of its lanes, each pass and each four sectors.
    fn issued(&self, rates: &mut [f64; CHANNELS]) {
        let at = |channel: Channel| rates[channel as usize];
        let computed: f64 = Channel::ALL
            .into_iter()
            .filter(|channel| channel.computes() && *channel != Channel::Tensor)
            .map(at)
            .sum();
        let more = computed / 32.0 + at(Channel::Shared) + at(Channel::L2) / 4.0;
        rates[Channel::Issue as usize] += more;
        // What comes from the second level goes through the first.
        if rates[Channel::L1 as usize] == 0.0 {
            rates[Channel::L1 as usize] = rates[Channel::L2 as usize];
        }
    }

    /// On what a row computes: as it says itself, or as all do.
    fn operands(&self, number: usize) -> Result<Operands, String> {
        let Some(said) = self.table.text(number, &self.map.columns.operands) else {
            return Ok(self.operands);
        };
        let known = Operands::NAMES.into_iter().find(|(name, _)| *name == said);
        let names = || Operands::NAMES.map(|(name, _)| name).join(", ");
        known.map_or_else(
            || Err(format!("it computes on `{said}`; there are {}", names())),
            |(_, operands)| Ok(operands),
        )
    }

    /// In loops, by the words that come from the second level or from shared memory for each operation.
    fn change(&self, number: usize, rates: &[f64; CHANNELS]) -> Result<Change, String> {
        let computed = Channel::ALL
            .into_iter()
            .filter(|channel| channel.computes());
        let operations: f64 = computed.map(|channel| rates[channel as usize]).sum();
        let loaded = 8.0 * rates[Channel::L2 as usize] + 32.0 * rates[Channel::Shared as usize];
        Ok(match self.operands(number)? {
            Operands::Random => Change::Share(self.map.changing),
            Operands::Still if operations > 0.0 => Change::Words(loaded / operations),
            Operands::Still => Change::Share(1.0),
            Operands::Zeros => Change::Words(0.0),
        })
    }
}

/// Why a row cannot be used.
fn fault(row: &Row, limited: &str) -> Option<String> {
    if row.name.is_empty() {
        return Some("it has no name".to_owned());
    }
    if let Some(watts) = row.power_w
        && !(watts.is_finite() && watts > 0.0)
    {
        return Some(format!("its power is {watts} W"));
    }
    for (what, ratio) in [("core", row.core), ("memory", row.memory)] {
        if !(0.02..=5.0).contains(&ratio) {
            return Some(format!("its {what} clock is {ratio:.3} of the board's"));
        }
    }
    let free = ["", "none", "0", "idle", "gpu_idle", "application_clocks"];
    let limited = limited.trim().to_lowercase();
    (!free.contains(&limited.as_str()))
        .then(|| format!("its clocks were kept down by {limited}: it says what the board did, not what the work needs"))
}
