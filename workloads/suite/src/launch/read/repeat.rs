//! Reading of `loop`.

use toml::Spanned;

use super::case::Arguments;
use super::fields::{Fields, Unknown, unknown_name};
use super::step::check_names;
use crate::launch::repeat::is_name;
use crate::launch::{Comparison, Condition, Form, Home, Problem, Repeat, Role, Stride, Variables};

const KEYS: [&str; 11] = [
    "variable",
    "from",
    "to",
    "step",
    "times",
    "divide",
    "while",
    "until",
    "while_nonzero",
    "reset",
    "max",
];
const COUNTING: [&str; 5] = ["from", "to", "step", "times", "divide"];
const CONDITIONS: [&str; 3] = ["while", "until", "while_nonzero"];

/// Numbers of a loop that are written as integers.
const LIMIT: i64 = 1 << 31;
/// Rounds of a loop that runs on a condition.
const ROUNDS: i64 = 65_536;

/// Reads one loop; `scope` has the variables of the loops around it.
pub(super) fn read(
    fields: &mut Fields<'_, '_>,
    arguments: &Arguments,
    scope: &[String],
) -> Option<Repeat> {
    fields.check_keys(&KEYS, Unknown::Refused);
    match CONDITIONS.iter().find(|key| fields.has(key)) {
        Some(key) => read_while(fields, key, arguments, scope),
        None => read_count(fields, arguments, scope),
    }
}

/// The name of a loop's variable.
fn variable(fields: &mut Fields<'_, '_>, scope: &[String]) -> Option<String> {
    let name = fields.string_at("variable")?;
    let objection = match name.get_ref() {
        text if !is_name(text) => format!("`{text}` cannot name a variable"),
        text if scope.contains(text) => format!("a loop around has the variable `{text}` already"),
        _ => return Some(name.into_inner()),
    };
    fields.problem(Problem::new(name.span(), objection));
    None
}

fn read_count(
    fields: &mut Fields<'_, '_>,
    arguments: &Arguments,
    scope: &[String],
) -> Option<Repeat> {
    fields.refuse(
        &["reset", "max"],
        "they belong to `while`, `until` and `while_nonzero`",
    );
    if !fields.has("variable") {
        let help = "a loop counts a `variable`, or runs on a `while`, `until` or `while_nonzero`";
        fields.missing("variable", help);
    }
    let variable = variable(fields, scope)?;
    for key in ["from", "to"] {
        if !fields.has(key) {
            fields.missing(
                key,
                "a counting loop runs `from` a value `to` another, both included",
            );
        }
    }
    let from = bound(fields, "from", arguments, scope);
    let to = bound(fields, "to", arguments, scope);
    let stride = stride(fields);
    let (from, to, stride) = (from?, to?, stride?);
    let repeat = Repeat::Count {
        variable,
        from,
        to,
        stride,
    };
    if let Some((from, to, how)) = never(&repeat) {
        let message = format!("a loop from {from} to {to} in steps of {how} has no rounds");
        fields.problem(Problem::new(fields.span(), message));
        return None;
    }
    Some(repeat)
}

fn bound(
    fields: &mut Fields<'_, '_>,
    key: &str,
    arguments: &Arguments,
    scope: &[String],
) -> Option<Form> {
    let entry = fields.entry(key)?;
    if entry.get_ref().as_str().is_none() {
        let value = fields.integer(key, -LIMIT, LIMIT)?;
        return Some(Form::Constant(value as f64));
    }
    let form = fields.form(key, &arguments.constants)?;
    match check_names(&form, scope, &arguments.constants) {
        Ok(()) => Some(form),
        Err(problem) => {
            fields.problem(problem);
            None
        }
    }
}

fn stride(fields: &mut Fields<'_, '_>) -> Option<Stride> {
    let given = ["step", "times", "divide"].into_iter();
    let given: Vec<&str> = given.filter(|key| fields.has(key)).collect();
    match given[..] {
        [] => Some(Stride::Add(1)),
        ["step"] => match fields.integer("step", -LIMIT, LIMIT)? {
            0 => {
                fields.problem(Problem::new(
                    fields.span(),
                    "a `step` of zero leads nowhere",
                ));
                None
            }
            step => Some(Stride::Add(step)),
        },
        ["times"] => fields.integer("times", 2, LIMIT).map(Stride::Times),
        ["divide"] => fields.integer("divide", 2, LIMIT).map(Stride::Divide),
        _ => {
            let message = "a loop has one of `step`, `times` and `divide`";
            fields.problem(Problem::new(fields.span(), message));
            None
        }
    }
}

/// A loop between constants that runs no round, with what it does to its variable.
fn never(repeat: &Repeat) -> Option<(i64, i64, String)> {
    let Repeat::Count {
        from, to, stride, ..
    } = repeat
    else {
        return None;
    };
    let (from, to) = (from.constant()?, to.constant()?);
    let first = repeat.value(0, Variables::NONE);
    let how = match stride {
        Stride::Add(step) => step.to_string(),
        Stride::Times(factor) => format!("times {factor}"),
        Stride::Divide(by) => format!("a division by {by}"),
    };
    (first == Ok(None)).then_some((from, to, how))
}

fn read_while(
    fields: &mut Fields<'_, '_>,
    key: &str,
    arguments: &Arguments,
    scope: &[String],
) -> Option<Repeat> {
    let rest: Vec<&str> = CONDITIONS
        .into_iter()
        .filter(|other| *other != key)
        .collect();
    fields.refuse(&rest, "a loop has one condition");
    fields.refuse(&COUNTING, &format!("the loop runs on `{key}`"));
    if !fields.has("max") {
        fields.missing("max", "more rounds than this mean that something is wrong");
    }
    let max = fields.integer("max", 1, ROUNDS);
    let variable = match fields.has("variable") {
        true => Some(variable(fields, scope)?),
        false => None,
    };
    let written = fields.string_at(key)?;
    let (condition, reset) = match key {
        "while_nonzero" => {
            let buffer = buffer(&written, arguments, fields.problems())?;
            let reset = fields.boolean("reset").unwrap_or(false);
            (Condition::Nonzero(buffer), reset.then_some(buffer))
        }
        _ => {
            let mut scope = scope.to_vec();
            scope.extend(variable.clone());
            let comparison = comparison(fields, &written, arguments, &scope)?;
            let reset = match fields.string_at("reset") {
                Some(name) => Some(buffer(&name, arguments, fields.problems())?),
                None => None,
            };
            let condition = match key {
                "while" => Condition::Holds(comparison),
                _ => Condition::Until(comparison),
            };
            (condition, reset)
        }
    };
    Some(Repeat::While {
        condition,
        variable,
        reset,
        max: max? as u32,
    })
}

/// A buffer that kernels can change.
fn buffer(
    name: &Spanned<String>,
    arguments: &Arguments,
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let at = arguments.position(name, problems)?;
    let objection = match &arguments.list[at].role {
        Role::Buffer(buffer) if !matches!(buffer.home, Home::Parameter) => return Some(at),
        Role::Scalar(_) => format!("`{}` is a scalar: kernels cannot change it", name.get_ref()),
        _ => format!("`{}` is no buffer in memory", name.get_ref()),
    };
    problems.push(Problem::new(name.span(), objection));
    None
}

fn comparison(
    fields: &mut Fields<'_, '_>,
    written: &Spanned<String>,
    arguments: &Arguments,
    scope: &[String],
) -> Option<Comparison> {
    let constants = &arguments.constants;
    let comparison = Comparison::parse(written.get_ref(), written.span(), constants);
    let comparison = comparison.map_err(|problem| fields.problem(problem)).ok()?;
    let stranger = comparison.free().into_iter();
    let mut stranger = stranger.filter(|name| !scope.iter().any(|known| known == name));
    if let Some(name) = stranger.next() {
        let is_argument = arguments
            .list
            .iter()
            .any(|known| known.name.get_ref() == name);
        let mut problem = unknown_name(
            name,
            scope.iter().chain(constants.keys()).map(String::as_str),
        );
        if is_argument {
            problem = problem.help(format!("an element of the buffer is `{name}[0]`"));
        }
        fields.problem(Problem {
            span: written.span(),
            ..problem
        });
        return None;
    }
    for list in comparison.lists() {
        let name = Spanned::new(written.span(), list.to_owned());
        buffer(&name, arguments, fields.problems())?;
    }
    Some(comparison)
}
