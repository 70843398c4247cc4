//! Reading of `[[CASE.arg]]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Entry;
use super::fields::{Fields, Unknown, integer, number};
use crate::launch::problem::nearest;
use crate::launch::rule::{Reading, Rule, read as read_rule};
use crate::launch::{
    Access, Argument, Buffer, Contents, ElementType, Home, Linear, Problem, Role, Scalar,
    Tolerance, Value,
};

const KEYS: [&str; 13] = [
    "index",
    "name",
    "kind",
    "type",
    "count",
    "init",
    "file",
    "expect_file",
    "tol_abs",
    "tol_rel",
    "value",
    "variable",
    "note",
];

/// Far more than can be simulated, which is checked for a case that is run; beyond it lie only mistakes.
const COUNT_LIMIT: i64 = 1 << 40;

const KINDS: [&str; 5] = ["in", "out", "inout", "scalar", "struct"];

/// An argument and its position in the parameter list.
pub(super) struct Placed {
    pub(super) index: Spanned<i64>,
    pub(super) argument: Argument,
}

/// Reads one argument; `position` is where it stands in the file.
pub(super) fn read(
    span: Range<usize>,
    table: &DeTable<'_>,
    position: usize,
    problems: &mut Vec<Problem>,
) -> Option<Placed> {
    let name = table.get("name").and_then(|name| name.get_ref().as_str());
    let what = match name {
        Some(name) => format!("argument `{name}`"),
        None => format!("argument {position}"),
    };
    let mut fields = Fields::new(what, span, table, problems);
    fields.check_keys(&KEYS, Unknown::Refused);
    let index_span = fields.entry("index").map_or(fields.span(), Entry::span);
    let index = fields.integer("index", 0, 255);
    let name = fields.require_string_at("name", "every argument needs a name");
    let element = element(&mut fields);
    let kind = kind(&mut fields);
    let role = match (kind.as_deref()?, element) {
        ("scalar", element) => scalar(&mut fields, element?),
        (kind, element) => buffer(&mut fields, kind, element?),
    };
    Some(Placed {
        index: Spanned::new(index_span, index.unwrap_or(position as i64)),
        argument: Argument {
            name: name?,
            element: element?,
            role: role?,
        },
    })
}

fn kind(fields: &mut Fields<'_, '_>) -> Option<String> {
    let kind = fields.require_string_at("kind", "one of in, out, inout, scalar, struct")?;
    if KINDS.contains(&kind.get_ref().as_str()) {
        return Some(kind.into_inner());
    }
    let problem = Problem::new(
        kind.span(),
        format!("`{}` is no kind of argument", kind.get_ref()),
    );
    fields.problem(problem.help(nearest(kind.get_ref(), &KINDS)));
    None
}

fn element(fields: &mut Fields<'_, '_>) -> Option<ElementType> {
    let name = fields.require_string_at(
        "type",
        "one of i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64",
    )?;
    let element = ElementType::from_name(name.get_ref());
    if element.is_none() {
        let known: Vec<_> = ElementType::ALL.iter().map(|(name, _)| *name).collect();
        let problem = Problem::new(
            name.span(),
            format!("`{}` is no element type", name.get_ref()),
        );
        fields.problem(problem.help(format!("one of {}", known.join(", "))));
    }
    element
}

fn scalar(fields: &mut Fields<'_, '_>, element: ElementType) -> Option<Role> {
    fields.refuse(
        &[
            "count",
            "init",
            "file",
            "expect_file",
            "tol_abs",
            "tol_rel",
            "variable",
        ],
        "a scalar has a `value`",
    );
    let Some(entry) = fields.entry("value") else {
        fields.missing("value", "a scalar is passed by value");
        return None;
    };
    let value = match entry.get_ref() {
        DeValue::String(text) => Linear::parse(text).map(Scalar::Linear),
        value => constant(element, value).map(Scalar::Constant),
    };
    match value {
        Ok(value) => Some(Role::Scalar(value)),
        Err(message) => {
            fields.problem(Problem::new(entry.span(), message));
            None
        }
    }
}

fn constant(element: ElementType, value: &DeValue<'_>) -> Result<Value, String> {
    let bits = match (element.integer_range(), integer(value)) {
        (None, _) => number(value).map(|number| element.bits_of_float(number)),
        (Some((low, high)), Some(integer)) if !(low..=high).contains(&integer) => {
            return Err(format!(
                "{integer} does not fit into {} ({low} to {high})",
                element.name()
            ));
        }
        (Some(_), integer) => integer.map(|integer| element.bits_of_integer(integer)),
    };
    let wanted = if element.is_float() {
        "a number"
    } else {
        "an integer"
    };
    let bits = bits.ok_or_else(|| format!("a scalar of type {} needs {wanted}", element.name()))?;
    Ok(Value { element, bits })
}

fn buffer(fields: &mut Fields<'_, '_>, kind: &str, element: ElementType) -> Option<Role> {
    fields.refuse(&["value"], "a buffer has a `count`, and `file` or `init`");
    let access = match kind {
        "in" | "struct" => Access::In,
        "out" => Access::Out,
        _ => Access::InOut,
    };
    let home = home(fields, kind);
    if !fields.has("count") {
        fields.missing("count", "the number of elements");
    }
    let count = fields
        .integer("count", 1, COUNT_LIMIT)
        .map(|count| count as u64);
    let file = fields.string_at("file");
    let expect_file = fields.string_at("expect_file");
    let (before, expected) = match access {
        Access::In => {
            fields.refuse(
                &["expect_file", "tol_abs", "tol_rel"],
                "an input does not change",
            );
            (before(fields, file, element, count), None)
        }
        Access::Out => {
            fields.refuse(
                &["expect_file"],
                "an output's `file` is what it must hold afterwards",
            );
            (before_output(fields, element, count), file)
        }
        Access::InOut => (before(fields, file, element, count), expect_file),
    };
    let tolerance = Tolerance {
        absolute: fields.magnitude("tol_abs").unwrap_or(0.0),
        relative: fields.magnitude("tol_rel").unwrap_or(0.0),
    };
    Some(Role::Buffer(Buffer {
        home,
        count: count?,
        access,
        before: before?,
        expected,
        tolerance,
    }))
}

/// Where a buffer lies.
fn home(fields: &mut Fields<'_, '_>, kind: &str) -> Home {
    if kind == "struct" {
        fields.refuse(&["variable"], "a structure is passed by value");
        return Home::Parameter;
    }
    let variable = fields.string_at("variable");
    variable.map_or(Home::Memory, Home::Variable)
}

/// What an input holds: its file, or else its rule.
fn before(
    fields: &mut Fields<'_, '_>,
    file: Option<Spanned<String>>,
    element: ElementType,
    count: Option<u64>,
) -> Option<Contents> {
    if let Some(file) = file {
        return Some(Contents::File(file));
    }
    if fields.has("init") {
        return rule(fields, element, count);
    }
    if !fields.has("file") {
        fields.missing(
            "file",
            "or an `init` rule such as \"zeros()\" or \"range_f32(seed=1, lo=0, hi=1)\"",
        );
    }
    None
}

/// What an output holds before it is written.
fn before_output(
    fields: &mut Fields<'_, '_>,
    element: ElementType,
    count: Option<u64>,
) -> Option<Contents> {
    if fields.has("init") {
        return rule(fields, element, count);
    }
    Some(Contents::Rule(Rule::PoisonBytes(0xCD)))
}

/// The contents that an `init` text stands for.
fn rule(fields: &mut Fields<'_, '_>, element: ElementType, count: Option<u64>) -> Option<Contents> {
    let text = fields.string_at("init")?;
    let objection = match read_rule(text.get_ref()) {
        Reading::Rule(rule) => {
            let objection = count.and_then(|count| rule.objection(element, count));
            let Some(message) = objection else {
                return Some(Contents::Rule(rule));
            };
            Problem::new(text.span(), message)
        }
        Reading::Wrong { message, help } => Problem {
            span: text.span(),
            message,
            help,
        },
        Reading::Note => return Some(Contents::Note(text)),
    };
    fields.problem(objection);
    None
}
