//! A row buffer before the I-cache.
//!
//! A. Lashgar, A. Baniasadi, A. Khonsari, "Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs", section 3.3: "Row buffer stores the last accessed
//! I-Cache block (row) and serves fetch requests for blocks residing in the buffer." The paper names it beside the filter cache and evaluates only that.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("row_buffer").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"rows = 2".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "row_buffer(rows=2)");
//! # Ok(())
//! # }
//! ```

use warpwatt_activity::Activity;
use warpwatt_circuit::logic::LogicBlock;
use warpwatt_circuit::{BufferSpec, CircuitError, MuxSpec, Ports, Spec};
use warpwatt_gpu::{FetchFilter, GpuSpec, Hooks, Run};

use crate::fetch_store::{self, FetchStore};
use crate::parameter::{Count, CountOr, count, count_or};
use crate::protection::logic;
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "row_buffer",
    summary: "the last blocks read from the I-cache of each SM, which serve fetches before it",
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", section 3.3",
    parameters: &[ROWS.declared(), ROW_BYTES.declared()],
    counters: &[
        (
            "row_buffer.tag.read",
            "numbers of rows compared: one a fetch and row",
        ),
        ("row_buffer.tag.write", "numbers of rows written"),
        ("row_buffer.data.read", "instructions read: one a hit"),
        (
            "row_buffer.data.write",
            "instructions written: those of a row for each that is brought",
        ),
        (
            "row_buffer.mux.read",
            "selections between a row's and the I-cache's word: one a fetch",
        ),
        (
            "row_buffer_hits",
            "fetches that a row served; equals filtered_fetches",
        ),
    ],
    metrics: &[Judged::headline("hit_rate")],
    configure: |values| {
        Ok(Box::new(RowBuffer {
            rows: values.get(&ROWS),
            row_bytes: values.get(&ROW_BYTES),
            label: values.label(),
        }))
    },
};

const ROWS: Count = count(
    "rows",
    1,
    1..=64,
    "rows that it holds; the least recently used one makes way",
);
const ROW_BYTES: CountOr = count_or(
    "row_bytes",
    None,
    1..=4096,
    "line",
    "bytes of a row, rounded up to a power of two and to a word of the I-cache, no more than a line; \"line\": a line. A row of several words is read in as many accesses of the I-cache",
);

/// A configured row buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBuffer {
    rows: u32,
    row_bytes: Option<u32>,
    label: String,
}

impl RowBuffer {
    /// Bytes of a row: whole words, and no more than a line.
    fn row(&self, gpu: &GpuSpec) -> u32 {
        let (word, line) = (gpu.icache.word_bytes, gpu.icache.line_bytes);
        let asked = self.row_bytes.unwrap_or(line).min(line);
        asked.next_multiple_of(word).next_power_of_two().min(line)
    }

    fn tag_bits(&self, gpu: &GpuSpec) -> u64 {
        let offset = self.row(gpu).ilog2();
        u64::from(gpu.icache.address_bits.saturating_sub(offset).max(1))
    }

    fn data(&self, gpu: &GpuSpec) -> Spec {
        let instructions = self.rows * self.row(gpu) / gpu.fetch.instruction_bytes;
        Spec::Buffer(BufferSpec {
            entries: u64::from(instructions.max(1)),
            bits: 8 * u64::from(gpu.fetch.instruction_bytes),
            ports: Ports::READ_AND_WRITE,
        })
    }

    fn compare(&self, gpu: &GpuSpec) -> Spec {
        logic(LogicBlock::Equality {
            bits: self.tag_bits(gpu),
        })
    }

    fn mux(gpu: &GpuSpec) -> Spec {
        Spec::Mux(MuxSpec {
            bits: 8 * u64::from(gpu.fetch.instruction_bytes),
        })
    }
}

impl Technique for RowBuffer {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let store = FetchStore {
            name: "row buffer",
            paths: ["row-buffer hit", "row-buffer miss"],
            check: ("comparison with the rows", self.compare(gpu)),
            data: ("row", self.data(gpu)),
            mux: Self::mux(gpu),
        };
        fetch_store::fit(&store, gpu, circuits)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (row, rows) = (self.row(gpu), self.rows as usize);
        let words = row / gpu.icache.word_bytes;
        let instructions = row / gpu.fetch.instruction_bytes;
        hooks.fetch_filter = Some(Box::new(move |_| {
            Box::new(Rows {
                shift: row.ilog2(),
                most: rows,
                words: u64::from(words.max(1)),
                instructions: u64::from(instructions.max(1)),
                held: Vec::with_capacity(rows + 1),
                lookups: 0,
                hits: 0,
                brought: 0,
            })
        }));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let of = |name, spec| Structure::front_end(name, spec);
        let numbers = Spec::Buffer(BufferSpec {
            entries: u64::from(self.rows),
            bits: self.tag_bits(gpu),
            ports: Ports::READ_AND_WRITE,
        });
        vec![
            of("row_buffer.tag", numbers),
            of("row_buffer.compare", self.compare(gpu))
                .per_sm(self.rows)
                .charged(warpwatt_structures::Charge::each(
                    "read",
                    "row_buffer.tag.read",
                )),
            of("row_buffer.data", self.data(gpu)),
            of("row_buffer.mux", Self::mux(gpu)),
        ]
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        vec![Metric::ratio(
            "row_buffer.hit_rate",
            count("row_buffer_hits"),
            count("row_buffer.mux.read"),
        )]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::FetchFilter]
    }
}

/// The rows of one SM.
struct Rows {
    shift: u32,
    most: usize,
    /// Words of the I-cache, and instructions, of a row.
    words: u64,
    instructions: u64,
    /// Most recently used first.
    held: Vec<u64>,
    lookups: u64,
    hits: u64,
    brought: u64,
}

impl FetchFilter for Rows {
    fn lookup(&mut self, pc: u64) -> bool {
        self.lookups += 1;
        let row = pc >> self.shift;
        let Some(place) = self.held.iter().position(|held| *held == row) else {
            return false;
        };
        self.held[..=place].rotate_right(1);
        self.hits += 1;
        true
    }

    /// The row of what the I-cache delivers is read from it whole.
    fn fill(&mut self, pc: u64) {
        let row = pc >> self.shift;
        if self.held.contains(&row) {
            return;
        }
        self.held.insert(0, row);
        self.held.truncate(self.most);
        self.brought += 1;
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("row_buffer.tag.read", self.lookups * self.most as u64);
        activity.add("row_buffer.tag.write", self.brought);
        activity.add("row_buffer.data.read", self.hits);
        activity.add("row_buffer.data.write", self.brought * self.instructions);
        activity.add("row_buffer.mux.read", self.lookups);
        activity.add("row_buffer_hits", self.hits);
        // The word that is fetched is counted already.
        activity.add("icache.data.read", self.brought * (self.words - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(most: usize) -> Rows {
        Rows {
            shift: 8,
            most,
            words: 16,
            instructions: 32,
            held: Vec::new(),
            lookups: 0,
            hits: 0,
            brought: 0,
        }
    }

    /// Two blocks in turn: with one row each pushes the other out, with two both stay.
    #[test]
    fn the_last_blocks_serve_fetches() {
        let hits = |most| {
            let mut rows = rows(most);
            for pc in [0, 8, 256, 16, 264] {
                if !rows.lookup(pc) {
                    rows.fill(pc);
                }
            }
            let mut activity = Activity::new();
            rows.report(&mut activity);
            let of = |name: &str| activity.get(name);
            assert_eq!(of("icache.data.read"), 15 * of("row_buffer.tag.write"));
            assert_eq!(of("row_buffer.tag.read"), 5 * most as u64);
            (of("row_buffer_hits"), of("row_buffer.data.write"))
        };
        assert_eq!(hits(1), (1, 4 * 32));
        assert_eq!(hits(2), (3, 2 * 32));
    }

    /// A line of the paper's I-cache is 32 instructions of 8 bytes; a physical row of its array two.
    #[test]
    fn a_row_is_a_line_unless_it_is_said() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let entries = |text: &str| {
            let technique = DEFINITION.parse(&text.parse().unwrap()).unwrap();
            let structures = technique.structures(&gpu);
            let data = structures.iter().find(|it| it.name == "row_buffer.data");
            match &data.unwrap().spec {
                Spec::Buffer(buffer) => (buffer.entries, buffer.bits),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(entries(""), (32, 64));
        assert_eq!(entries("row_bytes = 16\nrows = 4"), (8, 64));
    }
}
