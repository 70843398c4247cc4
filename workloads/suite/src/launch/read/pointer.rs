//! Reading of addresses: arguments that point into a buffer, and fields of structures and buffers that do.

use toml::Spanned;

use super::argument::{OF_BUFFERS, element, scalar};
use super::case::Arguments;
use super::fields::{Fields, Unknown};
use super::tensor_map::PendingMap;
use crate::launch::form::Constants;
use crate::launch::{
    Buffer, Field, FieldContent, Form, Home, Pointer, Problem, Role, Scalar, Value,
};

const FIELD_KEYS: [&str; 7] = [
    "offset",
    "buffer",
    "plus",
    "type",
    "value",
    "tensor_map",
    "note",
];

/// What an argument says of other arguments, which may stand behind it.
#[derive(Default)]
pub(super) struct Pending {
    /// The buffer that a pointer points into.
    buffer: Option<Spanned<String>>,
    pub(super) fields: Vec<PendingField>,
    /// What a tensor map describes.
    pub(super) map: Option<PendingMap>,
}

/// What stands within a buffer.
pub(super) struct PendingField {
    offset: u64,
    content: PendingContent,
}

enum PendingContent {
    Address(Spanned<String>, i64),
    Value(Value),
    /// The tensor map that an argument is.
    Map(Spanned<String>),
}

/// Reads a pointer.
pub(super) fn read(
    fields: &mut Fields<'_, '_>,
    constants: &Constants,
    pending: &mut Pending,
) -> Option<Role> {
    fields.refuse(&OF_BUFFERS, "a pointer has a `buffer`");
    fields.refuse(&["value", "type"], "a pointer has a `buffer`");
    pending.buffer = fields.require_string_at("buffer", "the argument that it points into");
    let plus = match fields.has("plus") {
        true => fields.form("plus", constants)?,
        false => Form::Constant(0.0),
    };
    Some(Role::Pointer(Pointer { buffer: None, plus }))
}

/// Reads the `fields` of a buffer.
pub(super) fn read_fields(fields: &mut Fields<'_, '_>, constants: &Constants) -> Vec<PendingField> {
    let mut found = Vec::new();
    for (number, (span, table)) in fields.tables("fields").into_iter().enumerate() {
        let what = format!("field {number} of {}", fields.what());
        let mut inner = Fields::new(what, span, table, fields.problems());
        inner.check_keys(&FIELD_KEYS, Unknown::Refused);
        if !inner.has("offset") {
            inner.missing("offset", "its first byte");
        }
        let offset = inner.whole("offset", 0, 1 << 40, constants);
        if let (Some(offset), Some(content)) = (offset, content(&mut inner, constants)) {
            let offset = offset as u64;
            found.push(PendingField { offset, content });
        }
    }
    found
}

/// A number, the address of a buffer, or a tensor map.
fn content(fields: &mut Fields<'_, '_>, constants: &Constants) -> Option<PendingContent> {
    if let Some(map) = fields.string_at("tensor_map") {
        let reason = "the field is the `tensor_map`";
        fields.refuse(&["buffer", "plus", "type", "value"], reason);
        return Some(PendingContent::Map(map));
    }
    if fields.has("value") {
        fields.refuse(&["buffer", "plus"], "the field has a `value`");
        let element = element(fields);
        return match scalar(fields, element?, constants)? {
            Role::Scalar(Scalar::Constant(value)) => Some(PendingContent::Value(value)),
            _ => {
                let message =
                    "a field is written once, before the first launch: it follows no loop";
                fields.problem(Problem::new(fields.span(), message));
                None
            }
        };
    }
    fields.refuse(&["type"], "an address has no type; a number has a `value`");
    let help = "the argument whose address it is; or `type` and `value`; or `tensor_map`";
    let buffer = fields.require_string_at("buffer", help);
    let plus = match fields.has("plus") {
        true => fields.whole("plus", 0, 1 << 40, constants),
        false => Some(0),
    };
    Some(PendingContent::Address(buffer?, plus?))
}

/// Finds the buffers and tensor maps that an argument names; returns those. What tensor maps describe is known already.
pub(super) fn resolve(
    arguments: &mut Arguments,
    argument: usize,
    pending: &Pending,
    problems: &mut Vec<Problem>,
) -> Vec<usize> {
    let mut named = Vec::new();
    if let Some(name) = &pending.buffer {
        let target = target(arguments, name, None, problems);
        if let Role::Pointer(pointer) = &mut arguments.list[argument].role {
            pointer.buffer = target;
        }
        named.extend(target);
    }
    for field in &pending.fields {
        let content = match &field.content {
            PendingContent::Value(value) => FieldContent::Value(*value),
            PendingContent::Map(name) => {
                let Some((argument, content)) = map_of(arguments, name, problems) else {
                    continue;
                };
                named.push(argument);
                content
            }
            PendingContent::Address(name, plus) => {
                let Some(target) = target(arguments, name, Some(*plus), problems) else {
                    continue;
                };
                named.push(target);
                FieldContent::Address {
                    buffer: target,
                    plus: *plus as u64,
                }
            }
        };
        if let Role::Buffer(buffer) = &mut arguments.list[argument].role {
            let offset = field.offset;
            buffer.fields.push(Field { offset, content });
        }
    }
    named
}

/// The tensor map that the argument called `name` is.
fn map_of(
    arguments: &Arguments,
    name: &Spanned<String>,
    problems: &mut Vec<Problem>,
) -> Option<(usize, FieldContent)> {
    let found = arguments.position(name, problems)?;
    let Role::Buffer(buffer) = &arguments.list[found].role else {
        problems.push(no_map(name));
        return None;
    };
    match buffer.fields.as_slice() {
        [Field { content, .. }] if matches!(content, FieldContent::TensorMap { .. }) => {
            Some((found, content.clone()))
        }
        _ => {
            problems.push(no_map(name));
            None
        }
    }
}

fn no_map(name: &Spanned<String>) -> Problem {
    let message = format!("`{}` is no tensor map", name.get_ref());
    Problem::new(name.span(), message).help("an argument with kind = \"tensor_map\"")
}

/// Gives a tensor map the buffer that it describes; returns that.
pub(super) fn resolve_map(
    arguments: &mut Arguments,
    argument: usize,
    pending: &Pending,
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let pending = pending.map.as_ref()?;
    let target = target(arguments, &pending.buffer, None, problems)?;
    let holder = &arguments.list[target];
    let Role::Buffer(Buffer { count, .. }) = holder.role else {
        return None;
    };
    match pending.finish(holder, count) {
        Ok((map, plus)) => {
            let content = FieldContent::TensorMap {
                buffer: target,
                plus,
                map: Box::new(map),
            };
            if let Role::Buffer(buffer) = &mut arguments.list[argument].role {
                buffer.fields.push(Field { offset: 0, content });
            }
        }
        Err(message) => problems.push(Problem::new(pending.buffer.span(), message)),
    }
    Some(target)
}

/// The buffer called `name`, if an address can point at that element of it.
fn target(
    arguments: &Arguments,
    name: &Spanned<String>,
    plus: Option<i64>,
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let target = arguments.position(name, problems)?;
    let called = name.get_ref();
    let objection = match &arguments.list[target].role {
        Role::Buffer(buffer) if matches!(buffer.home, Home::Parameter) => {
            Some(format!("`{called}` is passed by value: it has no address"))
        }
        Role::Buffer(buffer) => plus.filter(|plus| *plus as u64 > buffer.count).map(|plus| {
            format!(
                "`plus` leads to element {plus}, but `{called}` has {}",
                buffer.count
            )
        }),
        _ => Some(format!("`{called}` is no buffer: it has no address")),
    };
    match objection {
        None => Some(target),
        Some(message) => {
            problems.push(Problem::new(name.span(), message));
            None
        }
    }
}
