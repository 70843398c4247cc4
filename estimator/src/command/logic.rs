//! `warpwatt logic`: blocks of logic, functional units, interconnect and memory devices by name.

use serde_json::{Value, json};
use warpwatt_analysis::logic::{self, Request, Wanted};
use warpwatt_circuit::registry::{self, Block};

use super::arguments::LogicArguments;
use super::console::{Exit, out, out_json, reject};

/// Lists the blocks, or prices one.
pub fn run(arguments: &LogicArguments) -> Exit {
    let wanted = match logic::read(&arguments.words) {
        Ok(wanted) => wanted,
        Err(rejection) => return reject(&rejection, logic::wants_json(&arguments.words)),
    };
    match wanted {
        Wanted::List { json: true } => {
            out_json(&Value::Array(registry::blocks().map(listed).collect()))
        }
        Wanted::List { json: false } => out(&logic::list()),
        Wanted::Help(block) => out(&logic::parameters(block)),
        Wanted::Price(request) => return price(&request),
    }
    Exit::Done
}

fn price(request: &Request) -> Exit {
    match request.priced() {
        Ok(priced) if request.json => out_json(&logic::json(request, &priced)),
        Ok(priced) => out(&logic::text(request, &priced)),
        Err(rejection) => return reject(&rejection, request.json),
    }
    Exit::Done
}

fn listed(block: &Block) -> Value {
    let parameters: Vec<Value> = block
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "default": parameter.default, "allowed": parameter.allowed.text(), "meaning": parameter.meaning }))
        .collect();
    json!({ "name": block.name, "summary": block.summary, "operation": block.operation, "parameters": parameters })
}
