//! Tables of arrays, CACTI's configurations, counts of other tools, records of studies.

use warpwatt::array::LibraryName;
use warpwatt::array::batch::{Batch, Model};
use warpwatt::array::{Libraries, cfg as cacti};
use warpwatt::diag::Sink;
use warpwatt::foreign::{Format, Map, counts as counted, read, shipped};
use warpwatt::store::Record;
use warpwatt_circuit::Profile;

use super::super::seeds;
use super::{Check, judge, of_text};

const MODEL: Model = Model {
    library: LibraryName::Itrs,
    profile: Profile::Cacti7,
};

/// A table of arrays, and the figures of its first few lines.
pub fn batch() -> (Vec<Vec<u8>>, Check) {
    const MOST_ROWS: usize = 3;
    let texts = [
        "name,capacity,word,node,vdd\na,4KiB,128b,32nm,0.9 V\n",
        "kind,capacity,line,ways,node,temperature,ports\ncache,32KiB,64B,4,45nm,350K,1rw\n",
        "kind,rows,word,node,flavour,optimise\ncam,64,32b,65nm,hp,ed2\n",
    ];
    let check = Box::new(|input: &[u8]| {
        let mut sink = Sink::default();
        let batch = Batch::read(&mut sink, "arrays.csv", input);
        judge(&sink, batch.is_some());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        if let (Some(batch), Ok(pool)) = (batch, pool)
            && batch.rows() <= MOST_ROWS
        {
            let _ = batch.price(MODEL, &pool);
        }
    });
    (seeds::texts(&texts), check)
}

/// A configuration of CACTI, and what it asks for.
pub fn cfg() -> (Vec<Vec<u8>>, Check) {
    let text = "-size (bytes) 8192\n-block size (bytes) 32\n-associativity 2\n-read-write port 1\n-exclusive read port 0\n-UCA bank count 1\n\
        -technology (u) 0.032\n-cache type \"cache\"\n-output/input bus width 256\n-operating temperature (K) 350\n\
        -access mode (normal, sequential, fast) - \"normal\"\n-design objective (weight delay, dynamic power, leakage power, cycle time, area) 0:0:0:100:0\n\
        -deviate (delay, dynamic power, leakage power, cycle time, area) 20:100000:100000:100000:100000\n-Optimize ED or ED^2 (ED, ED^2, NONE): \"ED^2\"\n";
    let check = of_text(|text| {
        let mut sink = Sink::default();
        let source = sink.sources.add("cache.cfg", text);
        let query = cacti::read(&mut sink, source, MODEL);
        judge(&sink, query.is_some());
        if let Some(query) = query {
            let mut libraries = Libraries::default();
            query.read_into(&mut libraries);
            let _ = query.answer(&libraries);
        }
    });
    (seeds::texts(&[text]), check)
}

/// Counts of every format.
pub fn counts() -> (Vec<Vec<u8>>, Check) {
    let texts = [
        "kernel,counter,value\nbfs,cycles,1200\nbfs,warp_instructions,5e3\n\"a,b\",clock_hz,1e9\n",
        "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"k\",\"sm__cycles_elapsed.max\",\"cycle\",\"1,200\"\n",
        "ID,Kernel Name,sm__cycles_elapsed.max\n,,cycle\n0,k,\"1,200\"\n",
        "kernel_name = k \ngpu_sim_cycle = 1200\ngpu_tot_sim_insn = 5000\nL1D_total_cache_accesses = 12\n",
        "kernel,cycles,instructions\nk,1200,4000\n",
    ];
    let neutral = Map::neutral(["cycles", "warp_instructions"].into_iter());
    let formats = [
        Format::Neutral,
        Format::Ncu,
        Format::Table {
            kernel: vec!["kernel".to_owned()],
        },
        Format::GpgpuSim {
            per_kernel: vec!["gpu_sim_cycle".to_owned()],
        },
    ];
    let check = of_text(move |text| {
        for format in &formats {
            match read(text, format) {
                Ok(launches) => {
                    let _ = counted(&launches, &neutral);
                }
                Err(problems) => assert!(!problems.is_empty(), "refused without a reason"),
            }
        }
    });
    (seeds::texts(&texts), check)
}

/// Maps from other tools' names.
pub fn map() -> (Vec<Vec<u8>>, Check) {
    let texts: Vec<&str> = shipped().map(|(_, text)| text).collect();
    let check = of_text(|text| {
        let mut sink = Sink::default();
        let source = sink.sources.add("map.toml", text);
        let map = Map::read(
            &mut sink,
            source,
            ["cycles", "warp_instructions"].into_iter(),
        );
        judge(&sink, map.is_some());
    });
    (seeds::texts(&texts), check)
}

/// What a study leaves beside its results.
pub fn record() -> (Vec<Vec<u8>>, Check) {
    let digest = "0".repeat(64);
    let text = format!(
        "{{\"format\": 1, \"manifest\": {{\"title\": \"t\", \"study\": \"[study]\\n\", \"version\": \"0.1.0\", \"inputs\": {{\"kernel bfs\": \"{digest}\"}}, \
         \"budget\": {{\"area_overhead\": 0.05, \"slowdown\": null, \"limits\": [{{\"metric\": \"energy_j\", \"bound\": \"at_most\", \"limit\": 1e-3}}]}}, \
         \"pareto\": [{{\"metric\": \"energy_j\", \"maximise\": false}}], \"parameters\": [\"gpu.node\"], \"points\": []}}, \
         \"results\": \"{digest}\", \"outcomes\": [\"{digest}\"], \"files\": {{\"points.csv\": \"{digest}\"}}}}"
    );
    let check = of_text(|text| {
        if let Ok(record) = Record::parse(text) {
            let _ = record.text();
        }
    });
    (seeds::texts(&[&text]), check)
}
