//! The module in pages of reports: it prices as the crate that it was made of.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use warpwatt::diag::Sink;
use warpwatt::run::again::Counts;
use warpwatt::run::{catalogue, kept, parameters, resolve_text, run_all};
use warpwatt_page::{MODULE, Outcome, Session};
use wasmi::{Engine, Instance, Linker, Memory, Module, Store};

const STUDY: &str = r#"
[study]
title = "Turned"
[gpu]
preset = "tesla-16sm"
node = "16nm"
[workloads]
kernels = "vector_add"
[[technique]]
name = "filter_cache"
[[technique]]
name = "power_gating"
[uncertainty]
samples = 40
"#;

/// The module as a browser has it.
struct Browser {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
}

impl Browser {
    fn new() -> Self {
        let mut bytes = Vec::new();
        GzDecoder::new(MODULE).read_to_end(&mut bytes).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, &bytes).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module);
        let instance = instance.unwrap();
        let memory = instance.get_memory(&store, "memory").unwrap();
        Self {
            store,
            instance,
            memory,
        }
    }

    fn call(&mut self, name: &str, given: &str) -> String {
        let input = self
            .instance
            .get_typed_func::<i32, i32>(&self.store, "input");
        let at = input.unwrap().call(&mut self.store, given.len() as i32);
        let at = at.unwrap() as usize;
        self.memory
            .write(&mut self.store, at, given.as_bytes())
            .unwrap();
        let out = self.number(name) as usize;
        let mut bytes = vec![0; self.number("length") as usize];
        self.memory.read(&self.store, out, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn number(&mut self, name: &str) -> i32 {
        let function = self.instance.get_typed_func::<(), i32>(&self.store, name);
        function.unwrap().call(&mut self.store, ()).unwrap()
    }
}

/// What was counted of the study, as its page carries it.
fn counts() -> String {
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", STUDY, Path::new(""), &mut sink).unwrap();
    let outcomes = run_all(&resolved, &sink.sources, None, |_| ()).unwrap();
    let manifest = kept::manifest(&resolved, &sink.sources, parameters(&resolved.plan));
    let counts = Counts::of(&manifest, &outcomes, &catalogue()).unwrap();
    serde_json::to_string(&counts).unwrap()
}

#[test]
fn the_module_prices_as_the_crate_that_it_was_made_of() {
    let counts = counts();
    let native = Session::open(&counts).unwrap();
    let mut browser = Browser::new();
    assert_eq!(browser.call("open", &counts), "");
    let studies = [
        STUDY.to_owned(),
        STUDY.replace("16nm", "5nm"),
        STUDY.replace("node", "vdd = \"0.71 V\"\ntemperature = \"317.5 K\"\nnode"),
        STUDY.replace("filter_cache\"", "filter_cache\"\nentries = 64"),
        STUDY.replace("preset", "preser"),
        STUDY.replace("\"vector_add\"", "[\"vector_add\", \"hotspot\"]"),
    ];
    for study in &studies {
        let own = native.reply(study);
        assert!(
            browser.call("price", study) == own.json(),
            "estimator/page/module/build.sh makes the module again; it differs for:\n{study}"
        );
    }
    let outcome = |study: &str| native.reply(study).outcome;
    assert!(matches!(outcome(&studies[2]), Outcome::Page(_)));
    assert!(matches!(outcome(&studies[3]), Outcome::Missing(_)));
    assert!(matches!(outcome(&studies[4]), Outcome::Faults(_)));
    let kernel = "the kernel \"hotspot\"".to_owned();
    assert_eq!(outcome(&studies[5]), Outcome::Missing(vec![kernel]));
}

#[test]
fn counts_that_are_none_are_told() {
    assert_ne!(Browser::new().call("open", "{}"), "");
}
