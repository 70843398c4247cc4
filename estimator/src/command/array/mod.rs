//! `warpwatt array`: one array, a table of arrays, or a configuration file of CACTI.

mod arguments;
mod batch;

use std::io::ErrorKind;
use std::path::Path;

pub use arguments::ArrayArguments;
use warpwatt_techlib::OwnNode;

use super::console::{Exit, out, out_json, reject, show};
use crate::array::batch::Model;
use crate::array::{Answer, Libraries, LibraryName, Query, Refusal, cfg, parse_profile};
use crate::diag::{Diag, Rejection, Sink};
use crate::input;
use crate::technology;

/// Does what the options say.
pub fn run(arguments: &ArrayArguments) -> Exit {
    let mut sink = Sink::default();
    let done = model(arguments, &mut sink).and_then(|model| {
        if !sorted_out(arguments, &mut sink) {
            return None;
        }
        if let Some(table) = &arguments.batch {
            return batch::run(arguments, table, model, &mut sink);
        }
        let answer = answer(arguments, model, &mut sink)?;
        show(&sink);
        if arguments.json {
            out_json(&answer.json());
        } else {
            out(&answer.table());
        }
        Some(Exit::Done)
    });
    done.unwrap_or_else(|| reject(&Rejection(sink), arguments.json))
}

/// Library and profile.
fn model(arguments: &ArrayArguments, sink: &mut Sink) -> Option<Model> {
    let mut faults = Vec::new();
    let library = arguments
        .library
        .as_ref()
        .map(|text| text.parse::<LibraryName>());
    let library = library.transpose().map_err(|fault| faults.push(fault)).ok();
    let profile = arguments.profile.as_deref().map(parse_profile);
    let profile = profile.transpose().map_err(|fault| faults.push(fault)).ok();
    faults.into_iter().for_each(|fault| push(sink, fault));
    let profile = match (profile?, library?) {
        // A configuration of CACTI is a question to CACTI.
        (None, None) if arguments.cacti.is_some() => Some(warpwatt_circuit::Profile::Cacti7),
        (profile, _) => profile,
    };
    let (library, profile) = LibraryName::with_profile(library?, profile);
    Some(Model { library, profile })
}

/// Whether the options are of one of the three ways to ask.
fn sorted_out(arguments: &ArrayArguments, sink: &mut Sink) -> bool {
    let given = arguments.request.given();
    let way = match (&arguments.batch, &arguments.cacti) {
        (Some(_), _) => "--batch",
        (None, Some(_)) => "--cacti",
        (None, None) => {
            let stray = [
                ("--out", arguments.out.is_some()),
                ("--jobs", arguments.jobs.is_some()),
            ];
            for (name, _) in stray.into_iter().filter(|(_, given)| *given) {
                let message = format!("{name} is about tables");
                push(
                    sink,
                    Refusal::new(message).help("use it with `--batch specs.csv`"),
                );
            }
            return !sink.has_errors();
        }
    };
    if !given.is_empty() {
        let message = format!(
            "{} cannot be given with {way}: the file says it",
            given.join(", ")
        );
        push(
            sink,
            Refusal::new(message).help("leave them out, or put them into the file"),
        );
    }
    if way == "--batch" && arguments.json && arguments.out.is_none() {
        push(
            sink,
            Refusal::new("--json and the table cannot both go to standard output")
                .help("write the table to a file: --out results.csv"),
        );
    }
    !sink.has_errors()
}

/// One array.
fn answer(arguments: &ArrayArguments, model: Model, sink: &mut Sink) -> Option<Answer> {
    if let Some(path) = &arguments.cacti {
        let query = read_cfg(path, model, sink)?;
        return priced(query, sink);
    }
    let file = arguments
        .request
        .node
        .as_deref()
        .filter(|node| technology::is_file(node));
    let Some(file) = file else {
        let query = arguments.request.query(model);
        let query = query.map_err(|faults| faults.into_iter().for_each(|fault| push(sink, fault)));
        return priced(query.ok()?, sink);
    };
    // Everything but the node is as always.
    let mut request = arguments.request.clone();
    request.node = Some(STAND_IN.to_owned());
    let query = request.query(model);
    let query = query.map_err(|faults| faults.into_iter().for_each(|fault| push(sink, fault)));
    let node = load(file, sink);
    let (query, node) = (query.ok()?, node?);
    let of = |flavour| {
        node.technology(flavour)
            .map_err(|error| Refusal::new(error.to_string()))
    };
    let flavours = query.flavours;
    let answer = of(flavours.cell)
        .and_then(|cell| Ok((cell, of(flavours.periphery)?)))
        .and_then(|(cell, periphery)| query.answer_in(&cell, &periphery));
    answer.map_err(|refusal| push(sink, refusal)).ok()
}

/// A user's own node. Its texts come behind those that are in `sink` already, which are none.
fn load(file: &str, sink: &mut Sink) -> Option<OwnNode> {
    match technology::load_file(Path::new(file)) {
        Ok(node) => Some(node),
        Err(rejection) => {
            let options = std::mem::replace(sink, rejection.0);
            sink.diags.extend(options.diags);
            None
        }
    }
}

/// A node that every library has, in the place of a file's own.
const STAND_IN: &str = "32nm";

fn priced(query: Query, sink: &mut Sink) -> Option<Answer> {
    let mut libraries = Libraries::default();
    query.read_into(&mut libraries);
    let answer = query.answer(&libraries);
    answer.map_err(|refusal| push(sink, refusal)).ok()
}

fn read_cfg(path: &Path, model: Model, sink: &mut Sink) -> Option<Query> {
    let bytes = read(path, cfg::MOST_BYTES, "the configuration", sink)?;
    match String::from_utf8(bytes) {
        Ok(text) => {
            let source = sink.sources.add(path.display().to_string(), text);
            cfg::read(sink, source, model)
        }
        Err(_) => {
            let message = format!("`{}` is not UTF-8 text", path.display());
            sink.push(
                Diag::error("cfg::not_utf8", message).help("is it a configuration file of CACTI?"),
            );
            None
        }
    }
}

/// The bytes of a file that is not larger than `most`.
fn read(path: &Path, most: u64, what: &str, sink: &mut Sink) -> Option<Vec<u8>> {
    let shown = path.display();
    let diag = match input::bytes(path, most) {
        Ok(bytes) => return Some(bytes),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let message =
                format!("`{shown}` has more than {most} bytes, the most that {what} may have");
            Diag::error("input::too_large", message).help("split it into several files")
        }
        Err(error) => {
            let message = format!("cannot read {what} `{shown}`: {error}");
            Diag::error("input::unreadable", message)
                .help("name a file that exists and is readable")
        }
    };
    sink.push(diag);
    None
}

fn push(sink: &mut Sink, refusal: Refusal) {
    sink.push(Diag::error("array::refused", refusal.message).maybe_help(refusal.help));
}
