//! Reading of `[[CASE.arg]]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Entry;
use super::fields::{Fields, Unknown, integer, number, unknown_name};
use super::pointer::{self, Pending};
use super::tensor_map::{self, OF_TENSOR_MAPS};
use crate::launch::form::{Constants, MISSING};
use crate::launch::problem::nearest;
use crate::launch::rule::{Reading, Rule, read as read_rule};
use crate::launch::{
    Access, Argument, Buffer, Contents, ElementType, Form, Home, Pointer, Problem, Role, Scalar,
    Tolerance, Value,
};

const KEYS: [&str; 26] = [
    "index",
    "name",
    "kind",
    "type",
    "count",
    "init",
    "file",
    "expect_file",
    "expect",
    "space",
    "tol_abs",
    "tol_rel",
    "value",
    "variable",
    "buffer",
    "plus",
    "fields",
    "sizes",
    "strides",
    "box",
    "im2col",
    "steps",
    "swizzle",
    "fill",
    "passed",
    "note",
];

/// Far more than can be simulated, which is checked for a case that is run; beyond it lie only mistakes.
const COUNT_LIMIT: i64 = 1 << 40;

const KINDS: [&str; 8] = [
    "in",
    "out",
    "inout",
    "scalar",
    "struct",
    "pointer",
    "null",
    "tensor_map",
];

/// An argument and its position in the parameter list.
pub(super) struct Placed {
    pub(super) index: Spanned<i64>,
    pub(super) argument: Argument,
    /// Whether launches pass it unless they say otherwise, where the file says that.
    pub(super) passed: Option<bool>,
    /// Buffers that it names.
    pub(super) pending: Pending,
}

/// Reads one argument; `position` is where it stands in the file.
pub(super) fn read(
    span: Range<usize>,
    table: &DeTable<'_>,
    position: usize,
    (constants, problems): (&Constants, &mut Vec<Problem>),
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
    let kind = kind(&mut fields);
    let element = match kind.as_deref() {
        // An address has no type of its own; bytes that hold addresses need none.
        Some("pointer" | "null") => Some(ElementType::U64),
        // Its `type` is that of the tensor's elements.
        Some("tensor_map") => Some(ElementType::U8),
        Some("struct") if !fields.has("type") && fields.has("fields") => Some(ElementType::U8),
        _ => element(&mut fields),
    };
    if kind.as_deref() != Some("tensor_map") {
        fields.refuse(&OF_TENSOR_MAPS, "only a tensor map has it");
    }
    let mut pending = Pending::default();
    let role = match (kind.as_deref()?, element?) {
        ("scalar", element) => {
            fields.refuse(&OF_BUFFERS, "a scalar has a `value`");
            fields.refuse(&["buffer", "plus"], "a scalar has a `value`");
            scalar(&mut fields, element, constants)
        }
        ("pointer", _) => pointer::read(&mut fields, constants, &mut pending),
        ("null", _) => null(&mut fields),
        ("tensor_map", _) => {
            space(&mut fields);
            tensor_map::read(&mut fields, constants).map(|(role, map)| {
                pending.map = Some(map);
                role
            })
        }
        (kind, element) => {
            let mut reader = Reader {
                fields: &mut fields,
                element,
                constants,
            };
            let role = reader.buffer(kind);
            pending.fields = pointer::read_fields(&mut fields, constants);
            role
        }
    };
    Some(Placed {
        index: Spanned::new(index_span, index.unwrap_or(position as i64)),
        passed: fields.boolean("passed"),
        argument: Argument {
            name: name?,
            element: element?,
            role: role?,
        },
        pending,
    })
}

fn kind(fields: &mut Fields<'_, '_>) -> Option<String> {
    let help = format!("one of {}", KINDS.join(", "));
    let kind = fields.require_string_at("kind", &help)?;
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

/// Keys that only buffers have.
pub(super) const OF_BUFFERS: [&str; 10] = [
    "count",
    "init",
    "file",
    "expect_file",
    "expect",
    "space",
    "tol_abs",
    "tol_rel",
    "variable",
    "fields",
];

/// An address that points nowhere.
fn null(fields: &mut Fields<'_, '_>) -> Option<Role> {
    let reason = "a null pointer has nothing but a name";
    fields.refuse(&OF_BUFFERS, reason);
    fields.refuse(&["value", "buffer", "plus", "type"], reason);
    Some(Role::Pointer(Pointer {
        buffer: None,
        plus: Form::Constant(0.0),
    }))
}

pub(super) fn element(fields: &mut Fields<'_, '_>) -> Option<ElementType> {
    let known: Vec<_> = ElementType::ALL.iter().map(|(name, _)| *name).collect();
    let name = fields.require_string_at("type", &format!("one of {}", known.join(", ")))?;
    let element = ElementType::from_name(name.get_ref());
    if element.is_none() {
        let problem = Problem::new(
            name.span(),
            format!("`{}` is no element type", name.get_ref()),
        );
        fields.problem(problem.help(format!("one of {}", known.join(", "))));
    }
    element
}

/// The `value` of a number that is passed or written.
pub(super) fn scalar(
    fields: &mut Fields<'_, '_>,
    element: ElementType,
    constants: &Constants,
) -> Option<Role> {
    let Some(entry) = fields.entry("value") else {
        fields.missing("value", "a scalar is passed by value");
        return None;
    };
    let value = match entry.get_ref() {
        DeValue::String(text) => scalar_form(element, text, entry.span(), constants),
        value => constant(element, value)
            .map(Scalar::Constant)
            .map_err(|message| Problem::new(entry.span(), message)),
    };
    value
        .map(Role::Scalar)
        .map_err(|problem| fields.problem(problem))
        .ok()
}

/// A scalar that is an expression.
fn scalar_form(
    element: ElementType,
    text: &str,
    span: Range<usize>,
    constants: &Constants,
) -> Result<Scalar, Problem> {
    let form = Form::parse(text, span.clone(), constants)?;
    if form.free().contains(&MISSING) {
        let problem = unknown_name(MISSING, std::iter::empty());
        return Err(Problem { span, ..problem });
    }
    let Form::Constant(number) = form else {
        return Ok(Scalar::Varying(form));
    };
    let bits = match element.integer_range() {
        None => Ok(element.bits_of_float(number)),
        Some((low, high)) => Form::Constant(number)
            .integer(crate::launch::Variables::NONE)
            .map(i128::from)
            .and_then(|value| match (low..=high).contains(&value) {
                true => Ok(element.bits_of_integer(value)),
                false => Err(format!(
                    "{value} does not fit into {} ({low} to {high})",
                    element.name()
                )),
            }),
    };
    match bits {
        Ok(bits) => Ok(Scalar::Constant(Value { element, bits })),
        Err(message) => Err(Problem::new(span, message)),
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

/// A buffer under reading.
struct Reader<'r, 'f, 't> {
    fields: &'r mut Fields<'f, 't>,
    element: ElementType,
    constants: &'r Constants,
}

/// Where the pointer to a buffer says that it points: an address in either case.
fn space(fields: &mut Fields<'_, '_>) {
    const SPACES: [&str; 2] = ["constant", "global"];
    let Some(space) = fields.string_at("space") else {
        return;
    };
    if !SPACES.contains(&space.get_ref().as_str()) {
        let message = format!("`{}` is no space that a buffer can be in", space.get_ref());
        let help = nearest(space.get_ref(), &SPACES);
        fields.problem(Problem::new(space.span(), message).help(help));
    }
}

impl Reader<'_, '_, '_> {
    fn buffer(&mut self, kind: &str) -> Option<Role> {
        let fields = &mut *self.fields;
        fields.refuse(&["value"], "a buffer has a `count`, and `file` or `init`");
        let reason = "the kind of what points into another buffer is \"pointer\"";
        fields.refuse(&["buffer", "plus"], reason);
        let access = match kind {
            "in" | "struct" => Access::In,
            "out" => Access::Out,
            _ => Access::InOut,
        };
        let home = home(fields, kind);
        if !fields.has("count") {
            fields.missing("count", "the number of elements");
        }
        let count = fields.whole("count", 1, COUNT_LIMIT, self.constants);
        let count = count.map(|count| count as u64);
        let file = fields.string_at("file");
        if fields.has("expect_file") {
            fields.refuse(&["expect"], "`expect_file` says the same");
        }
        let expect_file = fields.string_at("expect_file");
        let expect_file = expect_file.or_else(|| fields.string_at("expect"));
        space(fields);
        let (before, expected) = match access {
            Access::In => {
                self.fields.refuse(
                    &["expect_file", "expect", "tol_abs", "tol_rel"],
                    "an input does not change",
                );
                (self.before(file, count), None)
            }
            Access::Out => {
                self.fields.refuse(
                    &["expect_file", "expect"],
                    "an output's `file` is what it must hold afterwards",
                );
                (self.before_output(count), file)
            }
            Access::InOut => (self.before(file, count), expect_file),
        };
        let fields = &mut *self.fields;
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
            fields: Vec::new(),
        }))
    }

    /// What an input holds: its file, or else its rule; or nothing but addresses.
    fn before(&mut self, file: Option<Spanned<String>>, count: Option<u64>) -> Option<Contents> {
        if let Some(file) = file {
            return Some(Contents::File(file));
        }
        if self.fields.has("init") {
            return self.rule(count);
        }
        if self.fields.has("fields") {
            return Some(Contents::Rule(Rule::Zeros));
        }
        if !self.fields.has("file") {
            self.fields.missing(
                "file",
                "or an `init` rule such as \"zeros()\" or \"range_f32(seed=1, lo=0, hi=1)\"",
            );
        }
        None
    }

    /// What an output holds before it is written.
    fn before_output(&mut self, count: Option<u64>) -> Option<Contents> {
        if self.fields.has("init") {
            return self.rule(count);
        }
        Some(Contents::Rule(Rule::PoisonBytes(0xCD)))
    }

    /// The contents that an `init` text stands for.
    fn rule(&mut self, count: Option<u64>) -> Option<Contents> {
        let text = self.fields.string_at("init")?;
        let objection = match read_rule(text.get_ref()) {
            Reading::Rule(rule) => {
                let objection = count.and_then(|count| rule.objection(self.element, count));
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
            Reading::Note if text.get_ref() == MISSING => {
                let message = format!("the contents are still to be filled in: `{MISSING}`");
                let help = "a rule such as \"zeros()\" or \"range_f32(seed=1, lo=0, hi=1)\"; or `file` instead";
                Problem::new(text.span(), message).help(help)
            }
            Reading::Note => return Some(Contents::Note(text)),
        };
        self.fields.problem(objection);
        None
    }
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
