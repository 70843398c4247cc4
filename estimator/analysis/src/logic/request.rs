//! What was asked for: words of the command line to a specification and a technology, with everything that is wrong said at once.

use std::path::Path;
use std::str::FromStr;

use warpwatt_circuit::registry::{self, Block};
use warpwatt_circuit::{Cost, OperatingPoint, Profile, Settings, Spec, cost_with};
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library, TechError, Technology};

use crate::diag::{Diag, Rejection, Sink, did_you_mean};
use crate::study::technology;

const COMMON: [&str; 7] = [
    "node",
    "library",
    "flavour",
    "temperature",
    "vdd",
    "set",
    "json",
];
const LIBRARIES: [&str; 2] = ["silicon", "itrs"];

/// What the words ask for.
pub enum Wanted {
    /// All blocks.
    List {
        /// As data.
        json: bool,
    },
    /// One block's parameters.
    Help(&'static Block),
    /// One block's cost.
    Price(Box<Request>),
}

/// A block on a technology.
pub struct Request {
    /// The block.
    pub block: &'static Block,
    /// The block with its parameters.
    pub spec: Spec,
    /// What it is made in.
    pub technology: Technology,
    /// How it runs.
    pub at: OperatingPoint,
    /// The equations that go with the library.
    pub settings: Settings,
    /// Whether the answer is wanted as data.
    pub json: bool,
}

/// What came out.
pub struct Priced {
    /// The cost.
    pub cost: Cost,
    /// Where its numbers are from.
    pub sources: Vec<String>,
}

/// Options as they were given.
struct Options {
    node: String,
    library: String,
    flavour: String,
    temperature: String,
    vdd: Option<String>,
    json: bool,
    help: bool,
    settings: Vec<(String, String)>,
}

/// Whether errors are wanted as data, before anything is read.
pub fn wants_json(words: &[String]) -> bool {
    words.iter().any(|word| word == "--json")
}

/// Reads the words of `warpwatt logic`.
///
/// # Errors
/// Everything that is wrong with them.
pub fn read(words: &[String]) -> Result<Wanted, Rejection> {
    let (name, rest) = match words.split_first() {
        Some((name, rest)) if !name.starts_with('-') => (Some(name.as_str()), rest),
        _ => (None, words),
    };
    let mut sink = Sink::default();
    let options = options(rest, &mut sink);
    let Some(name) = name else {
        return sink.finish(Some(Wanted::List { json: options.json }));
    };
    let Some(block) = registry::find(name) else {
        let names: Vec<&str> = registry::blocks().map(|block| block.name).collect();
        let help = did_you_mean(name, names);
        sink.push(Diag::error("logic::block", format!("there is no block `{name}`")).help(help));
        return Err(Rejection(sink));
    };
    if options.help {
        return sink.finish(Some(Wanted::Help(block)));
    }
    let request = request(block, &options, &mut sink);
    sink.finish(request.map(Box::new).map(Wanted::Price))
}

fn options(words: &[String], sink: &mut Sink) -> Options {
    let mut options = Options {
        node: "40nm".to_owned(),
        library: LIBRARIES[0].to_owned(),
        flavour: "hp".to_owned(),
        temperature: "350K".to_owned(),
        vdd: None,
        json: false,
        help: false,
        settings: Vec::new(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(option) =
            word.strip_prefix("--")
                .or(if word == "-h" { Some("help") } else { None })
        else {
            let help = "options are written --name value, or --set name=value";
            sink.push(Diag::error("logic::word", format!("`{word}` is not an option")).help(help));
            continue;
        };
        match option {
            "json" => options.json = true,
            "help" => options.help = true,
            _ => {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (option, words.next().cloned()),
                };
                match value {
                    Some(value) => set(&mut options, name, value, sink),
                    None => sink.push(
                        Diag::error("logic::value", format!("--{name} needs a value"))
                            .help(format!("write `--{name} VALUE`")),
                    ),
                }
            }
        }
    }
    options
}

fn set(options: &mut Options, name: &str, value: String, sink: &mut Sink) {
    match name {
        "node" => options.node = value,
        "library" => options.library = value,
        "flavour" => options.flavour = value,
        "temperature" => options.temperature = value,
        "vdd" => options.vdd = Some(value),
        "set" => match value.split_once('=') {
            Some((key, value)) => options.settings.push((key.to_owned(), value.to_owned())),
            None => sink.push(
                Diag::error("logic::set", format!("--set {value} has no `=`"))
                    .help("write --set width=32"),
            ),
        },
        other => options.settings.push((other.to_owned(), value)),
    }
}

fn request(block: &'static Block, options: &Options, sink: &mut Sink) -> Option<Request> {
    let spec = block.spec(&options.settings).map_err(|problems| {
        for problem in problems {
            let help = match &problem {
                registry::SettingError::Unknown { name, .. } => {
                    let own = block.parameters.iter().map(|parameter| parameter.name);
                    Some(did_you_mean(name, own.chain(COMMON)))
                }
                registry::SettingError::Value { .. } => None,
            };
            sink.push(Diag::error("logic::parameter", problem.to_string()).maybe_help(help));
        }
    });
    let technology = technology(options, sink);
    let temperature = quantity::<Temperature>("temperature", &options.temperature, sink);
    let vdd = options
        .vdd
        .as_ref()
        .map(|text| quantity::<Voltage>("vdd", text, sink));
    let vdd = match vdd {
        Some(given) => Some(given?),
        None => None,
    };
    Some(Request {
        block,
        spec: spec.ok()?,
        technology: technology?,
        at: OperatingPoint {
            temperature: temperature?,
            vdd,
        },
        settings: profile(&options.library).settings(),
        json: options.json,
    })
}

/// The equations that go with a library: those of CACTI 7 with its tables.
fn profile(library: &str) -> Profile {
    if library == "itrs" {
        Profile::Cacti7
    } else {
        Profile::Silicon
    }
}

fn technology(options: &Options, sink: &mut Sink) -> Option<Technology> {
    let flavour = Flavour::from_str(&options.flavour)
        .map_err(|error| sink.push(Diag::error("logic::flavour", error.to_string())));
    if technology::is_file(&options.node) {
        let node = technology::read_node(sink, Path::new(""), &options.node, None)?;
        let technology = node.technology(flavour.ok()?);
        return technology
            .map_err(|error| sink.push(Diag::error("logic::node", error.to_string())))
            .ok();
    }
    let library = library(&options.library, sink)?;
    let technology = library.node(&options.node, flavour.ok()?);
    technology
        .map_err(|error| sink.push(Diag::error("logic::node", error.to_string())))
        .ok()
}

fn library(name: &str, sink: &mut Sink) -> Option<Library> {
    let library: Result<Library, TechError> = match name {
        "silicon" => Library::silicon(),
        "itrs" => Library::itrs(),
        _ => {
            let known = format!("the libraries are {}", LIBRARIES.join(", "));
            sink.push(
                Diag::error(
                    "logic::library",
                    format!("there is no technology library `{name}`"),
                )
                .help(known),
            );
            return None;
        }
    };
    library
        .map_err(|error| sink.push(Diag::error("techlib::defect", error.to_string())))
        .ok()
}

fn quantity<T: FromStr>(name: &str, text: &str, sink: &mut Sink) -> Option<T>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error| sink.push(Diag::error("logic::quantity", format!("--{name}: {error}"))))
        .ok()
}

impl Request {
    /// The cost and where its numbers are from.
    ///
    /// # Errors
    /// No circuit model can build it.
    pub fn priced(&self) -> Result<Priced, Rejection> {
        let refused = |error: warpwatt_circuit::CircuitError| {
            Diag::error("logic::refused", format!("{}: {error}", self.block.name))
        };
        let cost = cost_with(
            &self.technology,
            &self.technology,
            &self.at,
            &self.settings,
            &self.spec,
        )
        .map_err(refused)?;
        let sources = registry::sources(&self.technology, &self.at, &self.settings, &self.spec)
            .map_err(refused)?;
        Ok(Priced { cost, sources })
    }
}
